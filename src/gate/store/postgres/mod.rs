//! The gate's memory in PostgreSQL: a pool of connections, and a writer for each workspace to which something is written. Any number of
//! gates may share it.

mod approvals;
mod audit;
mod callbacks;
mod claims;
mod conn;
mod due;
mod flows;
mod gates;
mod outstanding;
mod pool;
mod prune;
mod read;
mod room;
mod server;
mod tell;
#[cfg(test)]
mod tests;
mod tokens;
mod transaction;
mod tx;
mod verify;
mod which;
mod words;
mod write;
mod writer;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use async_trait::async_trait;
use sqlx::Postgres;

use self::conn::Conn;
pub(super) use self::pool::{DURABLE, SNAPSHOT, WORK};
use self::pool::{Pool, ask};
pub use self::server::PostgresError;
pub(super) use self::server::{Found, Server};
use self::tell::Teller;
pub(super) use self::verify::verify_at;
pub(super) use self::words::{is_usual, usual};
use self::writer::Writer;
use super::context::Context;
use super::ops::tx::Due;
use super::ops::{Transact, Work};
use super::{
    AskedFlows, Batches, Callback, Census, Changes, Checkpoint, Counts, Filter, Page, PageEnd, Prunable,
    Reads, StoreError, Stored, TakeRow, Waiting,
};
use crate::config::PostgresConfig;
use crate::contract::briefing::BriefingBody;
use crate::domain::{Claim, Flows, Outstanding, PendingAction, Row, Timestamp};
use crate::gate::audit::{AuditHead, AuditRow, Verified};
use crate::gate::policies::Registered;
use crate::gate::token::Token;
use crate::gate::tool::Tools;
use crate::gate::which::Which;

/// A standby, or a server that is set up to refuse writes.
const READ_ONLY: &str =
    "SELECT pg_is_in_recovery() OR current_setting('default_transaction_read_only') = 'on'";

/// One database on a server.
#[derive(Debug)]
pub(crate) struct PostgresStore {
    pool: Pool,
    context: Context,
    writer: Arc<Writer>,
}

impl PostgresStore {
    /// Connects, brings the tables up to date and listens for what other gates do. Behind a pooler it only looks whether they are.
    pub(crate) async fn open(
        url: &str,
        config: &PostgresConfig,
        context: Context,
    ) -> Result<Self, PostgresError> {
        let server = Server::new(url, config)?;
        if config.pooler {
            server.is_up_to_date(true, true).await?;
        } else {
            server.migrate().await?;
        }
        Self::over(&server, config, context).await
    }

    /// The same for a server that may be one that only reads; the tables must be up to date.
    pub(crate) async fn open_to_read(
        url: &str,
        config: &PostgresConfig,
        context: Context,
    ) -> Result<Self, PostgresError> {
        let server = Server::new(url, config)?;
        server.is_up_to_date(config.pooler, false).await?;
        Self::over(&server, config, context).await
    }

    async fn over(server: &Server, config: &PostgresConfig, context: Context) -> Result<Self, PostgresError> {
        let options = server.options(config.pooler);
        let pool = Pool::connect(options.clone(), config).await.map_err(|error| server.failed(error))?;
        let listen = match &config.listen_url {
            Some(url) => Some(server.at(url)?.options(false)),
            None => (!config.pooler).then(|| options.clone()),
        };
        let teller = Teller::start((options, config.pooler), listen, context.events.clone());
        let writer = Arc::new(Writer::new(pool.clone(), context.clone(), teller, config.connections));
        let store = Self { pool, context, writer };
        // Before anything is judged by this gate's clock; every sweep does it again.
        store.now().await.ok();
        Ok(store)
    }

    /// By the server's clock.
    async fn moment(&self, conn: &mut Conn) -> Result<Timestamp, StoreError> {
        let asked = Instant::now();
        let now = Timestamp::from_millis(one(conn, transaction::NOW).await?);
        self.context.clock.follow(now, asked.elapsed());
        Ok(self.context.clock.of_server(now))
    }

    async fn lapsing_on(&self, conn: &mut Conn, counts: &Counts) -> Result<u64, StoreError> {
        let now = self.moment(conn).await?;
        due::lapsing(conn, counts, &self.context.tools, now).await
    }
}

/// Brings the tables to this version, as a gate does that no pooler is before.
#[cfg(test)]
pub(crate) async fn migrate(url: &str) -> Result<(), PostgresError> {
    Server::new(url, &PostgresConfig::default())?.migrate().await
}

/// The one value that is asked for.
async fn one<T>(conn: &mut Conn, question: &'static str) -> Result<T, StoreError>
where
    T: Send + Unpin + sqlx::Type<Postgres> + for<'r> sqlx::Decode<'r, Postgres>,
{
    Ok(sqlx::query_scalar(question).fetch_one(conn).await?)
}

impl Transact for PostgresStore {
    async fn transact<A, T>(&self, workspace: &str, given: A, work: Work<A, T>) -> Result<T, StoreError>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
    {
        self.writer.run(workspace, given, work).await
    }

    fn tools(&self) -> &Tools {
        &self.context.tools
    }

    async fn now(&self) -> Result<Timestamp, StoreError> {
        ask!(self, ask, self, |conn, store| store.moment(conn))
    }

    async fn due_in(&self, due: &Due) -> Result<Vec<String>, StoreError> {
        ask!(self, ask, (self, due), |conn, (store, due)| async move {
            let now = store.moment(conn).await?;
            due::workspaces(conn, due, now).await
        })
    }
}

#[async_trait]
impl Reads for PostgresStore {
    async fn approved(
        &self,
        tools: &Which,
        full: &[String],
        after: i64,
        limit: u32,
        now: Timestamp,
    ) -> Result<Vec<Waiting>, StoreError> {
        ask!(self, ask, (tools, full, after, limit, now), |conn, (tools, full, after, limit, now)| {
            read::approved(conn, (tools, full), after, limit, now)
        })
    }

    async fn lapsing(&self, counts: &Counts) -> Result<u64, StoreError> {
        ask!(self, ask, (self, counts), |conn, (store, counts)| store.lapsing_on(conn, counts))
    }

    async fn settled(
        &self,
        workspace: &str,
        before: Timestamp,
        limit: u32,
        bytes: u64,
    ) -> Result<Vec<Prunable>, StoreError> {
        let given = (self, workspace, before, (limit, bytes));
        ask!(self, ask, given, |conn, (store, workspace, before, most)| {
            prune::settled(conn, workspace, before, most, &store.context.tools)
        })
    }

    async fn get(&self, id: &str) -> Result<Option<Stored>, StoreError> {
        ask!(self, ask, (self, id), |conn, (store, id)| read::get(conn, id, &store.context.tools))
    }

    async fn was_there(&self, id: &str) -> Result<Option<String>, StoreError> {
        ask!(self, ask, id, |conn, id| prune::was_there(conn, id))
    }

    async fn rows(&self, filter: &Filter, take: &mut TakeRow<'_>) -> Result<PageEnd, StoreError> {
        let page: Page<Row> =
            ask!(self, ask, (self, filter), |conn, (store, filter)| read::rows(conn, filter, store.tools()))?;
        page.items.iter().try_for_each(take)?;
        Ok(PageEnd { next: page.next, revision: page.revision })
    }

    async fn actions(&self, filter: &Filter) -> Result<Page<PendingAction>, StoreError> {
        ask!(self, ask, (self, filter), |conn, (store, filter)| read::actions(conn, filter, store.tools()))
    }

    async fn changes(
        &self,
        workspace: &str,
        since: u64,
        limit: u32,
        bytes: u64,
    ) -> Result<Changes, StoreError> {
        let page = (limit, bytes);
        ask!(self, ask, (self, (workspace, since), page), |conn, (it, since, page)| {
            read::changes(conn, since, page, it.tools())
        })
    }

    async fn revision(&self, workspace: &str) -> Result<u64, StoreError> {
        ask!(self, ask, workspace, |conn, workspace| read::revision(conn, workspace))
    }

    async fn briefing(&self, counts: &Counts, batches: Batches) -> Result<BriefingBody, StoreError> {
        let given = (self, counts, batches);
        ask!(self, ask_of_one_moment, given, |conn, (store, counts, batches)| async move {
            let lapsing = store.lapsing_on(conn, counts).await?;
            let now = store.moment(conn).await?;
            let ran_other = due::ran_other(conn, counts, now).await?;
            Ok(BriefingBody { lapsing, ran_other, ..outstanding::briefing(conn, counts, batches).await? })
        })
    }

    async fn checkpoints(
        &self,
        workspace: &str,
        mission: Option<&str>,
    ) -> Result<Vec<Checkpoint>, StoreError> {
        ask!(self, ask, (workspace, mission), |conn, (workspace, mission)| {
            outstanding::checkpoints(conn, workspace, mission)
        })
    }

    async fn beginning(&self, prefix: &str, limit: u32) -> Result<Vec<String>, StoreError> {
        ask!(self, ask, (prefix, limit), |conn, (prefix, limit)| read::beginning(conn, prefix, limit))
    }

    async fn outstanding(&self, workspace: &str) -> Result<Outstanding, StoreError> {
        ask!(self, ask_of_one_moment, workspace, |conn, workspace| outstanding::totals(conn, workspace))
    }

    async fn flows(&self, asked: &AskedFlows) -> Result<Flows, StoreError> {
        ask!(self, ask_of_one_moment, asked, |conn, asked| flows::read(conn, asked))
    }

    async fn timeline(&self, id: &str) -> Result<Vec<AuditRow>, StoreError> {
        ask!(self, ask, id, |conn, id| audit::timeline(conn, id))
    }

    async fn claims(&self, workspace: &str) -> Result<Vec<Claim>, StoreError> {
        // This gate's clock follows the server's.
        let now = self.context.clock.now();
        ask!(self, ask, (workspace, now), |conn, (workspace, now)| claims::all(conn, workspace, now))
    }

    async fn callbacks(&self, most: u32) -> Result<Vec<Callback>, StoreError> {
        ask!(self, ask, most, |conn, most| callbacks::newest(conn, most))
    }

    async fn paused(&self, workspace: &str) -> Result<Option<Timestamp>, StoreError> {
        ask!(self, ask, workspace, |conn, workspace| read::paused_since(conn, workspace))
    }

    async fn audit(&self, workspace: &str, since: u64, limit: u32) -> Result<Vec<AuditRow>, StoreError> {
        ask!(self, ask, (workspace, since, limit), |conn, (workspace, since, limit)| {
            audit::rows(conn, workspace, since, limit)
        })
    }

    async fn audit_heads(&self, workspace: Option<&str>) -> Result<Vec<AuditHead>, StoreError> {
        ask!(self, ask, workspace, |conn, workspace| audit::heads(conn, workspace))
    }

    async fn verify_counting(&self, kept: &[AuditHead], read: &AtomicU64) -> Result<Verified, StoreError> {
        ask!(self, read_everything, (kept, read), |conn, (kept, read)| verify::verify(conn, kept, read))
    }

    async fn census(&self, workspace: &str) -> Result<Census, StoreError> {
        ask!(self, ask, workspace, |conn, workspace| read::census(conn, workspace))
    }

    async fn ping(&self) -> Result<(), StoreError> {
        let reads_only: bool = ask!(self, ask, (), |conn, ()| one(conn, READ_ONLY))?;
        if reads_only {
            let why = "the database server only reads; name the one that writes";
            return Err(StoreError::Commit(why.to_owned()));
        }
        self.writer.room.check(&self.pool).await
    }

    async fn beat(&self, me: &Registered) -> Result<Vec<Registered>, StoreError> {
        let beat = ask!(self, write_once, me, |conn, me| gates::beat(conn, me));
        beat.inspect_err(|error| self.writer.room.note(error))
    }

    async fn leave(&self, me: &str) -> Result<(), StoreError> {
        ask!(self, write_once, me, |conn, me| gates::leave(conn, me))
    }

    async fn shorten_log(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn token(&self, hash: &[u8], now: Timestamp) -> Result<Option<Token>, StoreError> {
        ask!(self, ask, (hash, now), |conn, (hash, now)| tokens::by_hash(conn, hash, now))
    }

    async fn tokens(&self) -> Result<Vec<Token>, StoreError> {
        ask!(self, ask, (), |conn, ()| tokens::all(conn))
    }

    async fn proxied(&self, workspace: &str) -> Result<Vec<Token>, StoreError> {
        ask!(self, ask, workspace, |conn, workspace| tokens::proxied(conn, workspace))
    }

    async fn close(&self) {
        self.writer.stop().await;
    }
}
