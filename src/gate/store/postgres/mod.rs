//! The gate's memory in PostgreSQL: a pool of connections, each piece of work a transaction. Any number of gates may share it.

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
mod queues;
mod read;
mod room;
mod server;
mod tail;
mod tell;
mod tokens;
mod tx;
mod verify;
mod which;
mod words;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use async_trait::async_trait;
use sqlx::Postgres;

use self::conn::Conn;
use self::pool::{Attempt, Pool, Tries, ask};
pub(super) use self::pool::{DURABLE, SNAPSHOT, WORK};
use self::queues::Queues;
use self::room::Room;
pub use self::server::PostgresError;
pub(super) use self::server::{Found, Server};
use self::tail::Tail;
use self::tell::Teller;
use self::tx::PostgresTx;
pub(super) use self::verify::verify_at;
pub(super) use self::words::{is_usual, usual};
use super::context::Context;
use super::ops::tx::{Due, TxState, put_heads};
use super::ops::{Transact, Work};
use super::{
    AskedFlows, Batches, Callback, Census, Changes, Checkpoint, Counts, Filter, Page, Prunable, Reads,
    StoreError, Stored, Waiting,
};
use crate::config::PostgresConfig;
use crate::contract::briefing::BriefingBody;
use crate::domain::{Claim, Flows, Outstanding, PendingAction, Row, Timestamp};
use crate::fault;
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
    queues: Queues,
    context: Context,
    teller: Teller,
    room: Room,
    lapse_begun: Timestamp,
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
        let begun = pool.ask(&(), |conn, ()| Box::pin(due::lapse_begun(conn))).await;
        let lapse_begun = begun.map_err(|error| {
            server.failed(match error {
                StoreError::Database(error) => error,
                other => sqlx::Error::Configuration(Box::new(other)),
            })
        })?;
        let listen = match &config.listen_url {
            Some(url) => Some(server.at(url)?.options(false)),
            None => (!config.pooler).then(|| options.clone()),
        };
        let teller = Teller::start((options, config.pooler), listen, context.events.clone());
        let queues = Queues::new(config.connections);
        let store = Self { pool, queues, context, teller, room: Room::default(), lapse_begun };
        // Before anything is judged by this gate's clock; every sweep does it again.
        store.now().await.ok();
        Ok(store)
    }

    /// Does the work once, to the end of its commit.
    async fn attempt<A: Sync, T>(&self, given: &A, work: Work<A, T>) -> Result<T, Attempt> {
        fault::point("commit.before");
        let conn = self.pool.begin_work().await.map_err(Attempt::of)?;
        fault::point("commit.begun");
        let clock = &self.context.clock;
        let state = TxState::new(clock.now(), Arc::clone(&self.context.tools));
        let mut tx = PostgresTx { conn, state, clock: clock.clone(), tail: Tail::default() };
        let mut done = work(&mut tx, given).await;
        if done.is_ok() {
            done = put_heads(&mut tx).await.and(done);
        }
        let done = match done {
            Ok(done) => done,
            refused => return tx.conn.end(refused).map_err(Attempt::of),
        };
        fault::point("commit.ready");
        tx.conn.commit().await.map_err(|error| Attempt::in_commit(error.into()))?;
        fault::point("commit.done");
        let wakes = tx.state.wakes;
        self.context.events.committed(1, &wakes.kinds);
        self.teller.tell(wakes);
        Ok(done)
    }

    /// By the server's clock.
    async fn moment(&self, conn: &mut Conn) -> Result<Timestamp, StoreError> {
        let asked = Instant::now();
        let now = Timestamp::from_millis(one(conn, tx::NOW).await?);
        self.context.clock.follow(now, asked.elapsed());
        Ok(self.context.clock.of_server(now))
    }

    async fn lapsing_on(&self, conn: &mut Conn, counts: &Counts) -> Result<u64, StoreError> {
        let now = self.moment(conn).await?;
        due::lapsing(conn, counts, (&self.context.tools, self.lapse_begun), now).await
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
        let mut tries = Tries::default();
        loop {
            let turn = self.queues.turn(workspace).await?;
            let attempt = pool::within(self.attempt(&given, work)).await;
            drop(turn);
            match attempt {
                Ok(done) => return Ok(done),
                Err(attempt) => {
                    tries.once_more(attempt).await.inspect_err(|error| self.room.note(error))?;
                }
            }
        }
    }

    fn tools(&self) -> &Tools {
        &self.context.tools
    }

    async fn now(&self) -> Result<Timestamp, StoreError> {
        ask!(self, ask, self, |conn, store| store.moment(conn))
    }

    async fn lapse_begun(&self) -> Result<Timestamp, StoreError> {
        Ok(self.lapse_begun)
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

    async fn rows(&self, filter: &Filter) -> Result<Page<Row>, StoreError> {
        ask!(self, ask, (self, filter), |conn, (store, filter)| read::rows(conn, filter, store.tools()))
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
            Ok(BriefingBody { lapsing, ..outstanding::briefing(conn, counts, batches).await? })
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
        self.room.check(&self.pool).await
    }

    async fn beat(&self, me: &Registered) -> Result<Vec<Registered>, StoreError> {
        let beat = ask!(self, write_once, me, |conn, me| gates::beat(conn, me));
        beat.inspect_err(|error| self.room.note(error))
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

    async fn close(&self) {
        self.teller.stop().await;
        self.pool.close().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::clock::Clock;
    use crate::gate::events::Events;
    use crate::gate::store::tests::action;
    use crate::gate::store::{Actor, Writes as _};

    fn test_context() -> Context {
        Context { events: Events::default(), clock: Clock::default(), tools: Arc::new(Tools::none()) }
    }

    /// A database of its own, made by these statements; the second URL is for a role that may only do what they allow.
    async fn database(name: &str, statements: &str) -> Option<(String, String)> {
        let server = std::env::var("PLACET_TEST_DATABASE").ok()?;
        let run = async |url: &str, sql: String| {
            let options: sqlx::postgres::PgConnectOptions = url.parse().unwrap();
            let mut conn = sqlx::ConnectOptions::connect(&options).await.unwrap();
            sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&mut conn).await.unwrap();
        };
        run(&server, format!("CREATE DATABASE {name}")).await;
        run(&server, format!("DROP ROLE IF EXISTS {name}; CREATE ROLE {name} LOGIN")).await;
        let (base, _) = server.rsplit_once('/').unwrap();
        let url = format!("{base}/{name}");
        run(&url, statements.replace("ROLE", name)).await;
        Some((url.clone(), url.replace("placet@", &format!("{name}@"))))
    }

    #[tokio::test]
    async fn where_the_schema_was_made_for_a_gate_its_owner_needs_no_more_rights() {
        let unique = format!("owned_{}_{}", std::process::id(), line!());
        let Some((_, url)) = database(&unique, "CREATE SCHEMA placet AUTHORIZATION ROLE").await else {
            return;
        };

        let migrated = migrate(&url).await;

        assert!(migrated.is_ok(), "{migrated:?}");
    }

    /// As docs/gate.md tells it: a later version brings more tables, and nobody is asked again.
    #[tokio::test]
    async fn a_user_who_owns_nothing_is_given_rights_once_and_has_them_on_every_table() {
        let unique = format!("served_{}_{}", std::process::id(), line!());
        let rights = "ALTER DEFAULT PRIVILEGES GRANT USAGE ON SCHEMAS TO ROLE; \
             ALTER DEFAULT PRIVILEGES GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ROLE";
        let Some((owner, url)) = database(&unique, rights).await else { return };
        migrate(&owner).await.unwrap();

        let store = PostgresStore::open(&url, &PostgresConfig::default(), test_context()).await.unwrap();

        store.record(action("a"), 10, None).await.unwrap();
        let agent = Actor { subject: "agent".to_owned(), workspace: "w".to_owned() };
        store.withdraw("a".to_owned(), agent).await.unwrap();
        store.ping().await.unwrap();
        assert_eq!(store.verify(&[]).await.unwrap().problems, Vec::<String>::new());
        store.close().await;
    }

    #[tokio::test]
    async fn a_gate_that_may_not_make_tables_says_that_there_is_none() {
        let unique = format!("empty_{}_{}", std::process::id(), line!());
        let Some((url, _)) = database(&unique, "SELECT 1").await else { return };
        let behind = PostgresConfig { pooler: true, ..PostgresConfig::default() };

        let read = PostgresStore::open_to_read(&url, &PostgresConfig::default(), test_context()).await;
        let pooled = PostgresStore::open(&url, &behind, test_context()).await;

        for refused in [read.unwrap_err(), pooled.unwrap_err()] {
            assert!(matches!(refused, PostgresError::NoGate { .. }), "{refused}");
        }
    }

    /// As at a restart of the server, or of a firewall: nobody who asks then, or writes, is to know.
    #[tokio::test]
    async fn a_connection_that_broke_meanwhile_is_not_the_askers_concern() {
        let unique = format!("broken_{}_{}", std::process::id(), line!());
        let Some((server, _)) = database(&unique, "SELECT 1").await else { return };
        migrate(&server).await.unwrap();
        let store = PostgresStore::open(&server, &PostgresConfig::default(), test_context()).await.unwrap();
        let ask = async || store.revision("w").await;
        for _ in 0..5 {
            let (first, second, third) = tokio::join!(ask(), ask(), ask());
            assert!(first.is_ok() && second.is_ok() && third.is_ok());
            let (end, me) =
                ("pg_terminate_backend(pid)", "application_name = 'placet gate' AND pid <> pg_backend_pid()");
            let end = format!(
                "SELECT count({end}) FROM pg_stat_activity WHERE {me} AND datname = current_database()"
            );
            let options: sqlx::postgres::PgConnectOptions = server.parse().unwrap();
            let mut other = sqlx::ConnectOptions::connect(&options).await.unwrap();
            sqlx::raw_sql(sqlx::AssertSqlSafe(end)).execute(&mut other).await.unwrap();

            let paused = store.pause("w".to_owned(), true, None).await;
            let resumed = store.pause("w".to_owned(), false, None).await;

            assert!(paused.is_ok() && resumed.is_ok(), "{paused:?} {resumed:?}");
        }
        store.close().await;
    }

    /// As a server whose disk is full: what needs no room goes on.
    #[tokio::test]
    async fn a_gate_that_met_a_full_disk_is_not_ready_until_there_is_room() {
        let unique = format!("full_{}_{}", std::process::id(), line!());
        let Some((url, _)) = database(&unique, "SELECT 1").await else { return };
        migrate(&url).await.unwrap();
        let run = async |sql: &'static str| {
            let options: sqlx::postgres::PgConnectOptions = url.parse().unwrap();
            let mut conn = sqlx::ConnectOptions::connect(&options).await.unwrap();
            sqlx::raw_sql(sql).execute(&mut conn).await.unwrap();
        };
        let open =
            async || PostgresStore::open(&url, &PostgresConfig::default(), test_context()).await.unwrap();
        let (writes, reads) = (open().await, open().await);
        run("CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS \
             $$ BEGIN RAISE EXCEPTION 'no space' USING ERRCODE = '53100'; END $$; \
             CREATE TRIGGER full_disk BEFORE INSERT ON placet.audit FOR EACH ROW EXECUTE FUNCTION full_disk(); \
             CREATE TRIGGER full_disk BEFORE INSERT ON placet.gates FOR EACH ROW EXECUTE FUNCTION full_disk()")
        .await;
        assert!(writes.ping().await.is_ok() && writes.pause("w".to_owned(), true, None).await.is_err());

        for _ in 0..2 {
            let said = writes.ping().await.unwrap_err().to_string();
            assert!(said.contains("the disk of the database server is full; make room there"), "{said}");
        }

        assert!(reads.ping().await.is_ok(), "it met nothing");
        run("DROP TRIGGER full_disk ON placet.audit; DROP TRIGGER full_disk ON placet.gates").await;
        assert!(writes.ping().await.is_ok());
        let left: i64 = ask!(reads, ask, (), |conn, ()| one(conn, "SELECT count(*) FROM gates")).unwrap();
        assert_eq!(left, 0);
    }

    /// Twice would be a nuisance where somebody is asked for it.
    #[tokio::test]
    async fn a_password_command_runs_once_also_where_there_is_another_url_to_listen_at() {
        let unique = format!("asked_{}_{}", std::process::id(), line!());
        let Some((server, _)) = database(&unique, "SELECT 1").await else { return };
        migrate(&server).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let script = format!("echo >> {}/ran; echo password", folder.path().display());
        let command = crate::config::TokenFrom::Command(["sh", "-c", &script].map(str::to_owned).to_vec());
        let listen_url = Some(server.clone());
        let config = PostgresConfig { password: Some(command), listen_url, ..PostgresConfig::default() };

        let store = PostgresStore::open(&server, &config, test_context()).await.unwrap();

        store.close().await;
        assert_eq!(std::fs::read_to_string(folder.path().join("ran")).unwrap(), "\n");
    }

    #[tokio::test]
    async fn locked_workspace_leaves_connections_for_the_others() {
        let unique = format!("locked_{}_{}", std::process::id(), line!());
        let Some((server, _)) = database(&unique, "SELECT 1").await else { return };
        migrate(&server).await.unwrap();
        let config = PostgresConfig { connections: 4, ..PostgresConfig::default() };
        let store = Arc::new(PostgresStore::open(&server, &config, test_context()).await.unwrap());
        let (locked, free) = ("locked-for-a-while", "free-meanwhile");
        store.pause(locked.to_owned(), true, None).await.unwrap();
        let options: sqlx::postgres::PgConnectOptions = server.parse().unwrap();
        let mut foreign = sqlx::ConnectOptions::connect(&options).await.unwrap();
        let mut other = sqlx::ConnectOptions::connect(&options).await.unwrap();
        let lock = format!("BEGIN; SELECT 1 FROM placet.heads WHERE workspace = '{locked}' FOR UPDATE");
        sqlx::raw_sql(sqlx::AssertSqlSafe(lock)).execute(&mut foreign).await.unwrap();
        let blocked = "SELECT count(*) FROM pg_stat_activity \
                       WHERE cardinality(pg_blocking_pids(pid)) > 0 AND datname = current_database()";

        let writes: Vec<_> = (0..8)
            .map(|_| {
                let store = Arc::clone(&store);
                tokio::spawn(async move { store.pause(locked.to_owned(), false, None).await })
            })
            .collect();
        let waits = async |conn: &mut sqlx::PgConnection| -> i64 {
            sqlx::query_scalar(blocked).fetch_one(conn).await.unwrap()
        };
        let until_some_wait = async {
            while waits(&mut other).await < 2 {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(std::time::Duration::from_mins(1), until_some_wait).await.unwrap();
        let mut most = 0;
        for n in 0..20 {
            store.pause(free.to_owned(), n % 2 == 0, None).await.unwrap();
            most = most.max(waits(&mut other).await);
        }
        sqlx::raw_sql("COMMIT").execute(&mut foreign).await.unwrap();
        for write in writes {
            write.await.unwrap().unwrap();
        }
        store.close().await;

        assert!(most <= 2, "{most} of 4 connections waited for one workspace");
    }

    /// The server of the tests is set up to acknowledge before it wrote.
    #[tokio::test]
    async fn what_is_acknowledged_is_on_disk_whatever_the_server_is_set_to() {
        let unique = format!("synced_{}_{}", std::process::id(), line!());
        let Some((server, _)) = database(&unique, "SELECT 1").await else { return };
        let store = PostgresStore::open(&server, &PostgresConfig::default(), test_context()).await.unwrap();

        let set: String = ask!(store, ask, (), |conn, ()| one(conn, "SHOW synchronous_commit")).unwrap();

        store.close().await;
        assert_eq!(set, "on");
    }
}
