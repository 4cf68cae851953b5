//! The store on PostgreSQL, which any number of gates may share.
//!
//! Each workspace with queued work has a task (`writer.rs`) that runs up to 128 jobs in one transaction
//! (`transaction.rs`): begin and lock the head, run the jobs, write the buffer (`write.rs`), commit; a round trip each.
//! Then `tell.rs` notifies the other gates. `conn.rs` passes connections from user to user, `pool.rs` limits and retries.
//!
//! Tried before: a transaction for each job, which waits for the same head; savepoints, a round trip each; a proposal as
//! one statement, 12 to 20 % faster with four clients and a second protocol for the head; sqlx's pool, which pings twice.
//! Drawbacks: a job refused after it wrote undoes its group, which then runs one by one; retries have no jitter; clients
//! that cancel often cost new connections.

mod conn;
mod dialect;
mod gates;
mod pool;
mod room;
mod server;
mod tell;
#[cfg(test)]
mod tests;
mod transaction;
mod verify;
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
use super::sql::ask::{Ask, Question};
use super::sql::{due, read, tokens};
use super::{Filter, Page, PageEnd, Store, StoreError, TakeRow};
use crate::config::PostgresConfig;
use crate::domain::{Row, Timestamp};
use crate::gate::audit::{AuditHead, Verified};
use crate::gate::clock::Clock;
use crate::gate::policies::Registered;
use crate::gate::token::Token;
use crate::gate::tool::Tools;

/// True on a standby, or on a server configured to refuse writes.
const READ_ONLY: &str =
    "SELECT pg_is_in_recovery() OR current_setting('default_transaction_read_only') = 'on'";

#[derive(Debug)]
pub(crate) struct PostgresStore {
    pool: Pool,
    context: Context,
    writer: Arc<Writer>,
}

impl PostgresStore {
    /// Connects, migrates the tables and listens to other gates. Behind a pooler it only checks the tables.
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

    /// Opens a server that may be read-only. The tables must be up to date.
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
        // Sets this gate's clock before it is used; every sweep sets it again.
        store.now().await.ok();
        Ok(store)
    }
}

#[cfg(test)]
pub(crate) async fn migrate(url: &str) -> Result<(), PostgresError> {
    Server::new(url, &PostgresConfig::default())?.migrate().await
}

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

impl Ask for PostgresStore {
    type Conn = Conn;

    async fn ask<A: Sync, T: Send>(
        &self,
        given: &A,
        question: Question<Conn, A, T>,
    ) -> Result<T, StoreError> {
        self.pool.ask(given, question).await
    }

    async fn ask_of_one_moment<A: Sync, T: Send>(
        &self,
        given: &A,
        questions: Question<Conn, A, T>,
    ) -> Result<T, StoreError> {
        self.pool.ask_of_one_moment(given, questions).await
    }

    async fn moment(&self, conn: &mut Conn) -> Result<Timestamp, StoreError> {
        let asked = Instant::now();
        let now = Timestamp::from_millis(one(conn, transaction::NOW).await?);
        self.context.clock.follow(now, asked.elapsed());
        Ok(self.context.clock.of_server(now))
    }

    fn clock(&self) -> &Clock {
        &self.context.clock
    }
}

#[async_trait]
impl Store for PostgresStore {
    async fn rows(&self, filter: &Filter, take: &mut TakeRow<'_>) -> Result<PageEnd, StoreError> {
        let page: Page<Row> =
            ask!(self, ask, (self, filter), |conn, (store, filter)| read::rows(conn, filter, store.tools()))?;
        page.items.iter().try_for_each(take)?;
        Ok(PageEnd { next: page.next, revision: page.revision })
    }

    async fn verify_counting(&self, kept: &[AuditHead], read: &AtomicU64) -> Result<Verified, StoreError> {
        ask!(self, read_everything, (kept, read), |conn, (kept, read)| verify::verify(conn, kept, read))
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
        let found = ask!(self, ask, hash, |conn, hash| tokens::by_hash(conn, hash))?;
        Ok(found.filter(|token| token.is_live(now)))
    }

    async fn close(&self) {
        self.writer.stop().await;
    }
}
