//! The gate's memory in PostgreSQL: a pool of connections, each piece of work a transaction. Any number of gates may share it.

mod audit;
mod due;
mod flows;
mod outstanding;
mod prune;
mod read;
mod tell;
mod tokens;
mod tx;
mod verify;
mod which;
mod words;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use async_trait::async_trait;
use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{ConnectOptions as _, Connection as _, Executor as _, SqlSafeStr as _};

use self::tell::Teller;
use self::tx::PostgresTx;
pub(super) use self::words::{is_usual, usual};
use super::context::Context;
use super::ops::tx::{Due, TxState, put_heads};
use super::ops::{Transact, Work};
use super::{
    AskedFlows, Census, Changes, Checkpoint, Counts, Filter, Page, Prunable, Reads, Refused, StoreError,
    Stored, Waiting,
};
use crate::contract::briefing::BriefingBody;
use crate::domain::{Flows, Outstanding, PendingAction, Row, Timestamp};
use crate::fault;
use crate::gate::audit::{AuditHead, AuditRow, Verified};
use crate::gate::token::Token;
use crate::gate::tool::Tools;
use crate::gate::which::Which;

const MIGRATIONS: [&str; 1] = [include_str!("../../../../assets/migrations/gate-postgres/0001_gate.sql")];

/// How work begins, whatever the server begins with by itself: each statement sees what was committed before it, so that what is read
/// under a lock is what the last holder of the lock left.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";

/// A standby, or a server that is set up to refuse writes.
const READ_ONLY: &str = "SELECT current_setting('transaction_read_only') = 'on'";

/// What is acknowledged is on disk, also where the server is set up to acknowledge earlier.
const DURABLE: &str = "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'";

/// Where the tables are, in the database that the URL names.
const SCHEMA: &str = "placet";
/// How long a piece of work waits for a connection.
const PATIENCE: Duration = Duration::from_secs(5);
/// A connection that was idle for longer is tried before it is used.
const STALE: Duration = Duration::from_secs(1);
/// How often work is done again that other gates were in the way of, or whose connection broke before its commit.
const TRIES: u32 = 10;

/// The database cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PostgresError {
    #[error("the database URL cannot be read: {0}")]
    Url(sqlx::Error),
    #[error("cannot open the database {place}: {}", super::words(error))]
    Open { place: String, error: sqlx::Error },
    #[error("cannot bring the database {place} up to date: {error}")]
    Migration { place: String, error: MigrateError },
    #[error(
        "the database {place} was written by a newer placet (its schema has number {version}); use that one"
    )]
    Newer { place: String, version: i64 },
    #[error("an older placet wrote the database {place}; start a gate of this version on it first")]
    Older { place: String },
    #[error(
        "the database {place} has the encoding {encoding}, which cannot hold every text; create it with UTF8"
    )]
    Encoding { place: String, encoding: String },
    #[error("the database {place} only reads; name the server that writes")]
    ReadOnly { place: String },
}

/// One database on a server.
#[derive(Debug)]
pub(crate) struct PostgresStore {
    pool: PgPool,
    context: Context,
    teller: Teller,
    lapse_begun: Timestamp,
}

impl PostgresStore {
    /// Connects, brings the tables up to date and listens for what other gates do.
    pub(crate) async fn open(url: &str, context: Context) -> Result<Self, PostgresError> {
        Self::over(url, context, false).await
    }

    /// The same for a server that may be one that only reads; the tables must be up to date.
    pub(crate) async fn open_to_read(url: &str, context: Context) -> Result<Self, PostgresError> {
        Self::over(url, context, true).await
    }

    async fn over(url: &str, context: Context, to_read: bool) -> Result<Self, PostgresError> {
        let options: PgConnectOptions = url.parse().map_err(PostgresError::Url)?;
        let options = options.application_name("placet gate").options([("search_path", SCHEMA)]);
        let place = place(&options);
        let failed = |error| PostgresError::Open { place: place.clone(), error };
        // The pool would try again and again, and then not say what was wrong.
        let first = tokio::time::timeout(PATIENCE, options.connect()).await;
        first.unwrap_or(Err(sqlx::Error::PoolTimedOut)).map_err(failed)?.close().await.ok();
        let pool = PgPoolOptions::new()
            .max_connections(16)
            .acquire_timeout(PATIENCE)
            .test_before_acquire(false)
            .after_connect(|conn, _| {
                Box::pin(async move {
                    conn.execute(DURABLE).await?;
                    Ok(())
                })
            })
            .before_acquire(|conn, meta| {
                Box::pin(async move {
                    if meta.idle_for > STALE {
                        conn.ping().await?;
                    }
                    Ok(true)
                })
            })
            .connect_with(options.clone())
            .await
            .map_err(failed)?;
        if to_read {
            is_up_to_date(&pool, &place).await?;
        } else {
            migrate(&pool, &place).await?;
        }
        let begun = sqlx::query_scalar("SELECT at FROM begun WHERE what = 'lapse'").fetch_one(&pool);
        let lapse_begun = Timestamp::from_millis(begun.await.map_err(failed)?);
        let teller = Teller::start(options, context.events.clone());
        Ok(Self { pool, context, teller, lapse_begun })
    }

    /// Does the work once, to the end of its commit.
    async fn attempt<A: Sync, T>(&self, given: &A, work: Work<A, T>) -> Result<T, Attempt> {
        fault::point("commit.before");
        let inner = self.pool.begin_with(BEGIN).await.map_err(|error| Attempt::of(error.into()))?;
        fault::point("commit.begun");
        let clock = &self.context.clock;
        let state = TxState::new(clock.now(), Arc::clone(&self.context.tools));
        let mut tx = PostgresTx { inner, state, clock: clock.clone() };
        let done = work(&mut tx, given).await.map_err(Attempt::of)?;
        put_heads(&mut tx).await.map_err(Attempt::of)?;
        fault::point("commit.ready");
        tx.inner.commit().await.map_err(|error| Attempt::in_commit(error.into()))?;
        fault::point("commit.done");
        let wakes = tx.state.wakes;
        self.context.events.committed(1, &wakes.kinds);
        self.teller.tell(wakes);
        Ok(done)
    }
}

/// A piece of work that was not done.
enum Attempt {
    /// Nothing of it is kept, and nobody but the database is to blame.
    Again(StoreError),
    Over(StoreError),
}

impl Attempt {
    fn of(error: StoreError) -> Self {
        let broke = match &error {
            StoreError::Database(sqlx::Error::Io(_)) => true,
            StoreError::Database(error) if matches!(code(error).as_deref(), Some("22021" | "22P05")) => {
                let what = "a text holds a character that this database cannot keep; leave it out";
                return Self::Over(Refused::Invalid(what.to_owned()).into());
            }
            // The server ended the connection.
            StoreError::Database(error) => code(error).is_some_and(|code| code == "57P01"),
            _ => false,
        };
        if broke { Self::Again(error) } else { Self::in_commit(error) }
    }

    /// When the connection breaks in the middle of a commit, nobody knows whether it was kept.
    fn in_commit(error: StoreError) -> Self {
        // Serialization failure, and deadlock.
        match &error {
            StoreError::Database(said) if matches!(code(said).as_deref(), Some("40001" | "40P01")) => {
                Self::Again(error)
            }
            _ => Self::Over(error),
        }
    }
}

fn code(error: &sqlx::Error) -> Option<Cow<'_, str>> {
    error.as_database_error()?.code()
}

async fn migrate(pool: &PgPool, place: &str) -> Result<(), PostgresError> {
    let failed = |error| PostgresError::Open { place: place.to_owned(), error };
    if sqlx::query_scalar(READ_ONLY).fetch_one(pool).await.map_err(failed)? {
        return Err(PostgresError::ReadOnly { place: place.to_owned() });
    }
    let encoding: String =
        sqlx::query_scalar("SHOW server_encoding").fetch_one(pool).await.map_err(failed)?;
    if encoding != "UTF8" {
        return Err(PostgresError::Encoding { place: place.to_owned(), encoding });
    }
    // Who reads and writes rows need not be the owner.
    if is_up_to_date(pool, place).await.is_ok() {
        return Ok(());
    }
    let schema: bool = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1)")
        .bind(SCHEMA)
        .fetch_one(pool)
        .await
        .map_err(failed)?;
    if !schema {
        // Another gate may be as fast.
        let create = pool.execute("CREATE SCHEMA IF NOT EXISTS placet").await;
        create.map_err(failed)?;
    }
    let numbered = (1..).zip(MIGRATIONS).map(|(version, sql)| {
        Migration::new(version, "".into(), MigrationType::Simple, sql.into_sql_str(), false)
    });
    match Migrator::with_migrations(numbered.collect()).run(pool).await {
        Ok(()) => Ok(()),
        Err(MigrateError::VersionMissing(version)) => {
            Err(PostgresError::Newer { place: place.to_owned(), version })
        }
        Err(MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _)) => Err(failed(error)),
        Err(error) => Err(PostgresError::Migration { place: place.to_owned(), error }),
    }
}

async fn is_up_to_date(pool: &PgPool, place: &str) -> Result<(), PostgresError> {
    let version: i64 = sqlx::query_scalar("SELECT MAX(version) FROM _sqlx_migrations")
        .fetch_one(pool)
        .await
        .map_err(|error| PostgresError::Open { place: place.to_owned(), error })?;
    match version.cmp(&(MIGRATIONS.len() as i64)) {
        Ordering::Equal => Ok(()),
        Ordering::Less => Err(PostgresError::Older { place: place.to_owned() }),
        Ordering::Greater => Err(PostgresError::Newer { place: place.to_owned(), version }),
    }
}

/// The database for people: never with a password.
fn place(options: &PgConnectOptions) -> String {
    let (host, port) = (options.get_host(), options.get_port());
    format!("{} on {host}:{port}", options.get_database().unwrap_or("of the user's name"))
}

impl Transact for PostgresStore {
    async fn transact<A, T>(&self, given: A, work: Work<A, T>) -> Result<T, StoreError>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
    {
        let mut tries = 0;
        loop {
            match self.attempt(&given, work).await {
                Ok(done) => return Ok(done),
                Err(Attempt::Over(error)) => return Err(error),
                Err(Attempt::Again(error)) => {
                    tries += 1;
                    if tries == TRIES {
                        return Err(error);
                    }
                    tokio::time::sleep(Duration::from_millis(u64::from(tries * tries))).await;
                }
            }
        }
    }

    fn tools(&self) -> &Tools {
        &self.context.tools
    }

    async fn now(&self) -> Result<Timestamp, StoreError> {
        let now: i64 = sqlx::query_scalar(tx::NOW).fetch_one(&self.pool).await?;
        Ok(self.context.clock.of_server(Timestamp::from_millis(now)))
    }

    async fn lapse_begun(&self) -> Result<Timestamp, StoreError> {
        Ok(self.lapse_begun)
    }

    async fn due_in(&self, due: &Due) -> Result<Vec<String>, StoreError> {
        due::workspaces(&self.pool, due, self.now().await?).await
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
        read::approved(&self.pool, (tools, full), after, limit, now).await
    }

    async fn lapsing(&self, counts: &Counts) -> Result<u64, StoreError> {
        due::lapsing(&self.pool, counts, &self.context.tools, self.now().await?).await
    }

    async fn settled(
        &self,
        workspace: &str,
        before: Timestamp,
        limit: u32,
        bytes: u64,
    ) -> Result<Vec<Prunable>, StoreError> {
        prune::settled(&self.pool, workspace, before, (limit, bytes), &self.context.tools).await
    }

    async fn get(&self, id: &str) -> Result<Option<Stored>, StoreError> {
        read::get(&self.pool, id, &self.context.tools).await
    }

    async fn was_there(&self, id: &str) -> Result<Option<String>, StoreError> {
        prune::was_there(&self.pool, id).await
    }

    async fn rows(&self, filter: &Filter) -> Result<Page<Row>, StoreError> {
        read::rows(&self.pool, filter).await
    }

    async fn actions(&self, filter: &Filter) -> Result<Page<PendingAction>, StoreError> {
        read::actions(&self.pool, filter, &self.context.tools).await
    }

    async fn changes(
        &self,
        workspace: &str,
        since: u64,
        limit: u32,
        bytes: u64,
    ) -> Result<Changes, StoreError> {
        read::changes(&self.pool, workspace, since, limit, bytes).await
    }

    async fn revision(&self, workspace: &str) -> Result<u64, StoreError> {
        read::revision(&self.pool, workspace).await
    }

    async fn briefing(&self, counts: &Counts) -> Result<BriefingBody, StoreError> {
        let lapsing = self.lapsing(counts).await?;
        Ok(BriefingBody { lapsing, ..outstanding::briefing(&self.pool, counts).await? })
    }

    async fn checkpoints(
        &self,
        workspace: &str,
        mission: Option<&str>,
    ) -> Result<Vec<Checkpoint>, StoreError> {
        outstanding::checkpoints(&self.pool, workspace, mission).await
    }

    async fn beginning(&self, prefix: &str, limit: u32) -> Result<Vec<String>, StoreError> {
        read::beginning(&self.pool, prefix, limit).await
    }

    async fn outstanding(&self, workspace: &str) -> Result<Outstanding, StoreError> {
        outstanding::totals(&self.pool, workspace).await
    }

    async fn flows(&self, asked: &AskedFlows) -> Result<Flows, StoreError> {
        flows::read(&self.pool, asked).await
    }

    async fn timeline(&self, id: &str) -> Result<Vec<AuditRow>, StoreError> {
        audit::timeline(&self.pool, id).await
    }

    async fn paused(&self, workspace: &str) -> Result<Option<Timestamp>, StoreError> {
        let mut conn = self.pool.acquire().await?;
        read::paused_since(&mut conn, workspace).await
    }

    async fn audit(&self, workspace: &str, since: u64, limit: u32) -> Result<Vec<AuditRow>, StoreError> {
        audit::rows(&self.pool, workspace, since, limit).await
    }

    async fn audit_heads(&self, workspace: Option<&str>) -> Result<Vec<AuditHead>, StoreError> {
        let mut conn = self.pool.acquire().await?;
        audit::heads(&mut conn, workspace).await
    }

    async fn verify_counting(&self, kept: &[AuditHead], read: &AtomicU64) -> Result<Verified, StoreError> {
        verify::verify(&self.pool, kept, read).await
    }

    async fn census(&self, workspace: &str) -> Result<Census, StoreError> {
        read::census(&self.pool, workspace).await
    }

    async fn ping(&self) -> Result<(), StoreError> {
        if sqlx::query_scalar(READ_ONLY).fetch_one(&self.pool).await? {
            let why = "the database server only reads; name the one that writes";
            return Err(StoreError::Commit(why.to_owned()));
        }
        Ok(())
    }

    async fn shorten_log(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn token(&self, hash: &[u8], now: Timestamp) -> Result<Option<Token>, StoreError> {
        tokens::by_hash(&self.pool, hash, now).await
    }

    async fn tokens(&self) -> Result<Vec<Token>, StoreError> {
        tokens::all(&self.pool).await
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

    /// The server of the tests is set up to acknowledge before it wrote.
    #[tokio::test]
    async fn what_is_acknowledged_is_on_disk_whatever_the_server_is_set_to() {
        let Ok(server) = std::env::var("PLACET_TEST_DATABASE") else { return };
        let tools = Arc::new(Tools::none());
        let context = Context { events: Events::default(), clock: Clock::default(), tools };
        let store = PostgresStore::open(&server, context).await.unwrap();

        let set: String = sqlx::query_scalar("SHOW synchronous_commit").fetch_one(&store.pool).await.unwrap();

        store.close().await;
        assert_eq!(set, "on");
    }
}
