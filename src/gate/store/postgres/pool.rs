//! The connections of a gate, and its retries. A read is tried up to ten times if the connection breaks or another gate
//! is in the way. Work is retried only before its commit: a connection that breaks in `COMMIT` leaves an unknown
//! outcome, so the caller gets an error and repeats the request under its idempotency key. The pauses between tries grow
//! from 1 to 81 ms.

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgConnection, PgPoolOptions, PgRow};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, SqlSafeStr as _};

use super::conn::{Conn, Connections, PATIENCE, code, is_broken};
use crate::config::PostgresConfig;
use crate::gate::store::sql::ask::Question;
use crate::gate::store::{Refused, StoreError};

/// Set explicitly, because the server's default may differ. Each statement must see what the previous holder of the
/// lock committed.
pub(in crate::gate::store) const WORK: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";
/// All queries see one snapshot.
pub(in crate::gate::store) const SNAPSHOT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
/// Each query sees its own snapshot.
const QUESTIONS: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY";

/// An acknowledged commit is on disk, even if the server is configured to acknowledge earlier.
pub(in crate::gate::store) const DURABLE: &str = "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'";
const DURABLE_ONCE: &str =
    "SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'";

/// Settings of every session. A gate that is cut off during its work still holds the lock of a workspace, so the server
/// ends its session after 5 s. Waiting sessions give up earlier and try again: otherwise the lock would pass to the
/// next abandoned session. There is no `statement_timeout`, because a commit that is cancelled while it waits for a
/// standby is committed anyway. `bytea_output` is set because the hash of a head is read as text.
pub(super) const SETTINGS: [(&str, &str); 4] = [
    ("search_path", "placet"),
    ("bytea_output", "hex"),
    ("lock_timeout", "2s"),
    ("idle_in_transaction_session_timeout", "5s"),
];

/// Maximum time for a question or a group of work.
const SILENCE: Duration = Duration::from_secs(15);
/// A connection that was idle for longer is tested before use, for at most this long.
const STALE: Duration = Duration::from_secs(1);
/// Maximum number of tries if another gate is in the way, or the connection breaks before the commit.
const TRIES: u32 = 10;

macro_rules! ask {
    ($store:ident, $way:ident, $given:expr, |$conn:ident, $args:pat_param| $asked:expr) => {
        $store
            .pool
            .$way(&$given, |$conn, given| {
                let $args = *given;
                Box::pin($asked)
            })
            .await
    };
}
pub(super) use ask;

#[derive(Debug, Clone)]
pub(super) struct Pool {
    connections: Arc<Connections>,
    /// Behind a pooler, each transaction may be on another connection to the server.
    pooler: bool,
}

impl Pool {
    pub(super) async fn connect(
        options: PgConnectOptions,
        config: &PostgresConfig,
    ) -> Result<Self, sqlx::Error> {
        let pooler = config.pooler;
        let pool = PgPoolOptions::new()
            .max_connections(config.connections)
            .acquire_timeout(PATIENCE)
            .test_before_acquire(false)
            .after_connect(move |conn, _| {
                Box::pin(async move {
                    if !pooler {
                        conn.execute(DURABLE).await?;
                    }
                    Ok(())
                })
            })
            .before_acquire(|conn, meta| {
                Box::pin(async move {
                    if meta.idle_for > STALE {
                        answers(conn, STALE).await?;
                    }
                    Ok(true)
                })
            })
            // Pings with a timeout. The pool's own ping of released connections has none.
            .after_release(|conn, _| {
                Box::pin(async move {
                    answers(conn, PATIENCE).await?;
                    Ok(true)
                })
            })
            .connect_with(options)
            .await?;
        Ok(Self { connections: Arc::new(Connections::new(pool, config.connections)), pooler })
    }

    pub(super) async fn ask<A: Sync, T>(
        &self,
        given: &A,
        question: Question<Conn, A, T>,
    ) -> Result<T, StoreError> {
        let begin = self.pooler.then_some(QUESTIONS);
        self.asked_again(begin, given, question).await
    }

    pub(super) async fn ask_of_one_moment<A: Sync, T>(
        &self,
        given: &A,
        questions: Question<Conn, A, T>,
    ) -> Result<T, StoreError> {
        self.asked_again(Some(SNAPSHOT), given, questions).await
    }

    /// Runs statements and rolls them back; retried.
    pub(super) async fn undone<A: Sync, T>(
        &self,
        given: &A,
        tried: Question<Conn, A, T>,
    ) -> Result<T, StoreError> {
        self.asked_again(Some(WORK), given, tried).await
    }

    /// Runs several queries in one snapshot, once and without a time limit.
    pub(super) async fn read_everything<A: Sync, T>(
        &self,
        given: &A,
        questions: Question<Conn, A, T>,
    ) -> Result<T, StoreError> {
        let read = self.asked(Some(SNAPSHOT), Duration::MAX, given, questions).await;
        read.map_err(Attempt::into_error)
    }

    /// Writes one statement without retrying. For writes that may be lost.
    pub(super) async fn write_once<A: Sync, T>(
        &self,
        given: &A,
        statement: Question<Conn, A, T>,
    ) -> Result<T, StoreError> {
        let written = async {
            let mut conn = self.take().await?;
            if !self.pooler {
                let done = statement(&mut conn, given).await;
                return conn.end(done);
            }
            self.begin(&mut conn, WORK).await?;
            match statement(&mut conn, given).await {
                Ok(done) => conn.commit().await.map(|()| done).map_err(StoreError::from),
                failed => conn.end(failed),
            }
        };
        tokio::time::timeout(SILENCE, written).await.unwrap_or_else(|_| Err(silent()))
    }

    async fn asked_again<A: Sync, T>(
        &self,
        begin: Option<&str>,
        given: &A,
        question: Question<Conn, A, T>,
    ) -> Result<T, StoreError> {
        let mut tries = Tries::default();
        loop {
            match self.asked(begin, SILENCE, given, question).await {
                Ok(answer) => return Ok(answer),
                Err(attempt) => tries.once_more(attempt).await?,
            }
        }
    }

    async fn asked<A: Sync, T>(
        &self,
        begin: Option<&str>,
        limit: Duration,
        given: &A,
        question: Question<Conn, A, T>,
    ) -> Result<T, Attempt> {
        let mut conn = self.take().await.map_err(Attempt::of)?;
        let asked = async {
            if let Some(begin) = begin {
                self.begin(&mut conn, begin).await?;
            }
            question(&mut conn, given).await
        };
        match tokio::time::timeout(limit, asked).await {
            Ok(answer) => conn.end(answer).map_err(Attempt::of),
            Err(_) => Err(Attempt::Over(silent())),
        }
    }

    /// Begins a transaction and runs `question` in the same round trip. Returns its last row, if it has one.
    pub(super) async fn begin_work(&self, question: &str) -> Result<(Conn, Option<PgRow>), StoreError> {
        let mut conn = self.take().await?;
        let begin = format!("{}; {question}", self.beginning(WORK));
        match conn.begin(AssertSqlSafe(begin).into_sql_str()).await {
            Ok(mut rows) => Ok((conn, rows.pop())),
            Err(error) => conn.end(Err(error.into())),
        }
    }

    pub(super) async fn take(&self) -> Result<Conn, StoreError> {
        Ok(self.connections.take(!self.pooler).await?)
    }

    /// Behind a pooler settings are only valid for one transaction.
    fn beginning(&self, begin: &str) -> String {
        let mut statements = begin.to_owned();
        if self.pooler {
            statements.extend(SETTINGS.map(|(name, value)| format!("; SET LOCAL {name} = '{value}'")));
            statements.push_str("; ");
            statements.push_str(DURABLE_ONCE);
        }
        statements
    }

    async fn begin(&self, conn: &mut Conn, begin: &str) -> Result<(), sqlx::Error> {
        conn.begin(AssertSqlSafe(self.beginning(begin)).into_sql_str()).await.map(drop)
    }

    pub(super) async fn close(&self) {
        self.connections.close().await;
    }
}

/// Limits work to [`SILENCE`]. Statements already sent may still be committed.
pub(super) async fn within<T>(work: impl Future<Output = Result<T, Attempt>>) -> Result<T, Attempt> {
    tokio::time::timeout(SILENCE, work).await.unwrap_or_else(|_| Err(Attempt::Over(silent())))
}

async fn answers(conn: &mut PgConnection, limit: Duration) -> Result<(), sqlx::Error> {
    let late = |_| sqlx::Error::Io(std::io::ErrorKind::TimedOut.into());
    tokio::time::timeout(limit, conn.ping()).await.map_err(late)?
}

fn silent() -> StoreError {
    sqlx::Error::Io(std::io::ErrorKind::TimedOut.into()).into()
}

#[derive(Default)]
pub(super) struct Tries(u32);

impl Tries {
    /// Waits before the next try, or returns the error if there is no further try.
    pub(super) async fn once_more(&mut self, attempt: Attempt) -> Result<(), StoreError> {
        let error = match attempt {
            Attempt::Again(error) if self.0 + 1 < TRIES => error,
            Attempt::Again(error) | Attempt::Over(error) => return Err(error),
        };
        self.0 += 1;
        tracing::debug!(%error, tries = self.0, "tried again");
        tokio::time::sleep(Duration::from_millis(u64::from(self.0 * self.0))).await;
        Ok(())
    }
}

pub(super) enum Attempt {
    /// Not committed, and not caused by the request.
    Again(StoreError),
    Over(StoreError),
}

impl Attempt {
    pub(super) fn of(error: StoreError) -> Self {
        match &error {
            StoreError::Database(said) if is_broken(said) => Self::Again(error),
            StoreError::Database(said) if matches!(code(said).as_deref(), Some("22021" | "22P05")) => {
                let what = "a text holds a character that this database cannot keep; leave it out";
                Self::Over(Refused::Invalid(what.to_owned()).into())
            }
            _ => Self::in_commit(error),
        }
    }

    /// Classifies an error of `COMMIT`. If the connection broke, the outcome is unknown, so it is not retried.
    pub(super) fn in_commit(error: StoreError) -> Self {
        // Serialization failure, deadlock, lock timeout.
        match &error {
            StoreError::Database(said)
                if matches!(code(said).as_deref(), Some("40001" | "40P01" | "55P03")) =>
            {
                Self::Again(error)
            }
            _ => Self::Over(error),
        }
    }

    fn into_error(self) -> StoreError {
        match self {
            Self::Again(error) | Self::Over(error) => error,
        }
    }
}
