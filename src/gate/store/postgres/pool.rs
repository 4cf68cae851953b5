//! The connections of a gate to its server: a question is asked again, and work done again, where that changes nothing.

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgConnection, PgPoolOptions, PgRow};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, SqlSafeStr as _};

use super::conn::{Conn, Connections, PATIENCE, code, is_broken};
use crate::config::PostgresConfig;
use crate::gate::store::sql::ask::Question;
use crate::gate::store::{Refused, StoreError};

/// Each statement sees what was committed before it, so that what is read under a lock is what the last holder of the lock left;
/// whatever the server begins with by itself.
pub(in crate::gate::store) const WORK: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";
/// All questions see one moment.
pub(in crate::gate::store) const SNAPSHOT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
/// What each question sees is of its own moment.
const QUESTIONS: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY";

/// What is acknowledged is on disk, also where the server is set up to acknowledge earlier.
pub(in crate::gate::store) const DURABLE: &str = "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'";
/// The same for one transaction.
const DURABLE_ONCE: &str =
    "SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'";

/// What holds for every session. Who is cut off in the middle of its work holds the lock of a workspace, for which all others wait: the
/// server ends its connection. Others stop waiting before that, and those that are still there try again: else the lock would go to the
/// next connection that nobody is behind, and so on. No statement has a limit there: a commit that is ended while it waits for a standby
/// is acknowledged all the same. The hash of a head is read as text, too.
pub(super) const SETTINGS: [(&str, &str); 4] = [
    ("search_path", "placet"),
    ("bytea_output", "hex"),
    ("lock_timeout", "2s"),
    ("idle_in_transaction_session_timeout", "5s"),
];

/// A server, or a network, that is silent for so long in the middle is given up.
const SILENCE: Duration = Duration::from_secs(15);
/// A connection that was idle for longer is tried before it is used, and has so long to answer.
const STALE: Duration = Duration::from_secs(1);
/// How often it is tried where other gates were in the way, or the connection broke before anything was kept.
const TRIES: u32 = 10;

/// Asks in one of the ways of a [`Pool`].
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
    /// Something in front of the server gives each transaction any connection.
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
            // The pool tries each that it gets back, and would wait for ever.
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

    /// Asks a question.
    pub(super) async fn ask<A: Sync, T>(
        &self,
        given: &A,
        question: Question<Conn, A, T>,
    ) -> Result<T, StoreError> {
        let begin = self.pooler.then_some(QUESTIONS);
        self.asked_again(begin, given, question).await
    }

    /// Asks several questions about one moment.
    pub(super) async fn ask_of_one_moment<A: Sync, T>(
        &self,
        given: &A,
        questions: Question<Conn, A, T>,
    ) -> Result<T, StoreError> {
        self.asked_again(Some(SNAPSHOT), given, questions).await
    }

    /// Tries what is undone again.
    pub(super) async fn undone<A: Sync, T>(
        &self,
        given: &A,
        tried: Question<Conn, A, T>,
    ) -> Result<T, StoreError> {
        self.asked_again(Some(WORK), given, tried).await
    }

    /// The same once, however long it takes.
    pub(super) async fn read_everything<A: Sync, T>(
        &self,
        given: &A,
        questions: Question<Conn, A, T>,
    ) -> Result<T, StoreError> {
        let read = self.asked(Some(SNAPSHOT), Duration::MAX, given, questions).await;
        read.map_err(Attempt::into_error)
    }

    /// Writes one statement that no rule is about, and that nobody misses.
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

    /// Begins a piece of work, and asks this question in the same way to the server. What it answers is the last row, if it answers.
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

    /// Behind a pooler nothing is set but for one transaction.
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

/// Ends a piece of work that goes on for too long; what is sent by then is kept or not, and nobody is told.
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

/// How often something was tried.
#[derive(Default)]
pub(super) struct Tries(u32);

impl Tries {
    /// Rests before it is tried again; fails where that is of no use.
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

/// What was not done.
pub(super) enum Attempt {
    /// Nothing of it is kept, and nobody but the database is to blame.
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

    /// When the connection breaks in the middle of a commit, nobody knows whether it was kept.
    pub(super) fn in_commit(error: StoreError) -> Self {
        // Serialization failure, deadlock, and a lock that was not to be had in time.
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
