//! A connection while something is asked, or done, over it. Whatever ends in the middle takes the connection with it: nobody knows what
//! the server still has to say on it, or whether the network goes on.
//!
//! Behind a pooler no statement has a name and everything is in a transaction: from one to the next the pooler may change the connection
//! to the server.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use sqlx::error::BoxDynError;
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgArguments, PgConnection, PgQueryResult, PgRow, PgStatement, PgTypeInfo};
use sqlx::{Either, Execute, Executor, PgPool, Postgres, SqlStr};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::gate::store::StoreError;

/// How long somebody waits for a connection.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// For so long a connection goes from hand to hand before the pool has a look at it.
const KEPT: Duration = Duration::from_secs(1);

/// Connections that were in use a moment ago. The pool asks each one that comes back whether it still answers, and gives out the one that
/// rested for longest; so who asks for little waits, and both processors work, for little else.
#[derive(Debug)]
pub(super) struct Kept {
    /// As many as there are connections. Each use has one.
    turns: Arc<Semaphore>,
    /// The last one back is the first to go; with the moment at which the pool gave it. `None`: nothing is kept any more.
    resting: Mutex<Option<Vec<(PoolConnection<Postgres>, Instant)>>>,
}

impl Kept {
    pub(super) fn new(connections: u32) -> Self {
        Self { turns: Arc::new(Semaphore::new(connections as usize)), resting: Mutex::new(Some(Vec::new())) }
    }

    /// One that was kept, or one of the pool.
    pub(super) async fn take(self: &Arc<Self>, pool: &PgPool, named: bool) -> Result<Conn, sqlx::Error> {
        let turn = Arc::clone(&self.turns).acquire_owned();
        let turn = tokio::time::timeout(PATIENCE, turn).await.map_err(|_| sqlx::Error::PoolTimedOut)?;
        let turn = turn.map_err(|_| sqlx::Error::PoolClosed)?;
        let (held, since) = match self.newest() {
            Some(kept) => kept,
            None => (pool.acquire().await?, Instant::now()),
        };
        Ok(Conn { held: Some(held), since, kept: Arc::clone(self), _turn: turn, named, begun: false, is_over: false })
    }

    /// What rests for too long goes to the pool.
    fn newest(&self) -> Option<(PoolConnection<Postgres>, Instant)> {
        let mut resting = self.resting.lock().unwrap_or_else(PoisonError::into_inner);
        let resting = resting.as_mut()?;
        resting.retain(|(_, since)| since.elapsed() < KEPT);
        resting.pop()
    }

    fn keep(&self, held: PoolConnection<Postgres>, since: Instant) {
        let mut resting = self.resting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(resting) = resting.as_mut().filter(|_| since.elapsed() < KEPT) {
            resting.push((held, since));
        }
    }

    /// The pool waits for all of them when it closes.
    pub(super) fn close(&self) {
        self.resting.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let resting = self.resting.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        // To give one back to the pool takes a runtime, which may be gone.
        resting.into_iter().flatten().for_each(|(held, _)| drop(held.detach()));
    }
}

pub(super) struct Conn {
    /// `None` only while it is dropped.
    held: Option<PoolConnection<Postgres>>,
    since: Instant,
    kept: Arc<Kept>,
    /// Given back after the connection is.
    _turn: OwnedSemaphorePermit,
    named: bool,
    begun: bool,
    /// Nothing is under way on it.
    is_over: bool,
}

impl Conn {
    /// Begins a transaction with these statements; returns the rows they have.
    pub(super) async fn begin(&mut self, with: SqlStr) -> Result<Vec<PgRow>, sqlx::Error> {
        self.begun = true;
        self.raw()?.fetch_all(with).await
    }

    pub(super) async fn commit(mut self) -> Result<(), sqlx::Error> {
        self.raw()?.execute("COMMIT").await?;
        self.is_over = true;
        Ok(())
    }

    /// Gives it back, with this answer; what was not committed is undone. Nobody waits for that.
    pub(super) fn end<T>(mut self, answer: Result<T, StoreError>) -> Result<T, StoreError> {
        if matches!(&answer, Err(StoreError::Database(error)) if is_broken(error)) {
            return answer;
        }
        if self.begun {
            tokio::spawn(tokio::time::timeout(PATIENCE, self.roll_back()));
        } else {
            self.is_over = true;
        }
        answer
    }

    async fn roll_back(mut self) -> Result<(), sqlx::Error> {
        self.raw()?.execute("ROLLBACK").await?;
        self.is_over = true;
        Ok(())
    }

    fn raw(&mut self) -> Result<&mut PgConnection, sqlx::Error> {
        self.held.as_deref_mut().ok_or(sqlx::Error::PoolClosed)
    }
}

impl fmt::Debug for Conn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conn").field("named", &self.named).finish_non_exhaustive()
    }
}

impl Drop for Conn {
    fn drop(&mut self) {
        let Some(held) = self.held.take() else { return };
        if self.is_over {
            self.kept.keep(held, self.since);
        } else {
            // The pool would wait for it.
            drop(held.detach());
        }
    }
}

/// A query as this connection may send it.
struct Sent<E> {
    query: E,
    named: bool,
}

impl<'q, E: Execute<'q, Postgres>> Execute<'q, Postgres> for Sent<E> {
    fn sql(self) -> SqlStr {
        self.query.sql()
    }

    fn statement(&self) -> Option<&PgStatement> {
        self.query.statement()
    }

    fn take_arguments(&mut self) -> Result<Option<PgArguments>, BoxDynError> {
        self.query.take_arguments()
    }

    fn persistent(&self) -> bool {
        self.named && self.query.persistent()
    }
}

impl<'c> Executor<'c> for &'c mut Conn {
    type Database = Postgres;

    fn fetch_many<'e, 'q: 'e, E>(
        self,
        query: E,
    ) -> BoxStream<'e, Result<Either<PgQueryResult, PgRow>, sqlx::Error>>
    where
        'c: 'e,
        E: 'q + Execute<'q, Postgres>,
    {
        let named = self.named;
        match self.raw() {
            Ok(raw) => raw.fetch_many(Sent { query, named }),
            Err(error) => Box::pin(futures_util::stream::iter([Err(error)])),
        }
    }

    fn fetch_optional<'e, 'q: 'e, E>(self, query: E) -> BoxFuture<'e, Result<Option<PgRow>, sqlx::Error>>
    where
        'c: 'e,
        E: 'q + Execute<'q, Postgres>,
    {
        let named = self.named;
        match self.raw() {
            Ok(raw) => raw.fetch_optional(Sent { query, named }),
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }
    }

    fn prepare_with<'e>(
        self,
        sql: SqlStr,
        parameters: &'e [PgTypeInfo],
    ) -> BoxFuture<'e, Result<PgStatement, sqlx::Error>>
    where
        'c: 'e,
    {
        match self.raw() {
            Ok(raw) => raw.prepare_with(sql, parameters),
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }
    }
}

/// The connection is of no more use: it broke, or the server ended it.
pub(super) fn is_broken(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Io(_) | sqlx::Error::Protocol(_))
        || matches!(code(error).as_deref(), Some("57P01" | "25P03"))
}

/// What the server calls the error.
pub(super) fn code(error: &sqlx::Error) -> Option<Cow<'_, str>> {
    error.as_database_error()?.code()
}
