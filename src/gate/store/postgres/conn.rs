//! A connection while it is in use. A released one goes to the next user without sqlx's pool, which pings each returned
//! connection twice: four of the ten round trips of a single proposal. The pool still checks those idle for a second,
//! kept for a minute, or with an answer not read to its end.
//!
//! An interrupted use closes its connection, because unread answers may be left on it.
//!
//! Behind a pooler statements are unnamed and always in a transaction, because the pooler may switch servers in
//! between.

use std::borrow::Cow;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt as _};
use sqlx::error::BoxDynError;
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgArguments, PgConnection, PgQueryResult, PgRow, PgStatement, PgTypeInfo};
use sqlx::{Either, Execute, Executor, PgPool, Postgres, SqlStr};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::gate::store::StoreError;

/// Maximum wait for a connection.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
/// The pool checks a connection that was idle for longer.
const RESTED: Duration = Duration::from_secs(1);
/// Returned to the pool after this long, because the pool closes old connections.
const KEPT: Duration = Duration::from_mins(1);

/// The connections to the server. The last one released is the first one reused.
#[derive(Debug)]
pub(super) struct Connections {
    pool: PgPool,
    /// One permit per allowed connection.
    turns: Arc<Semaphore>,
    /// Released connections, newest last. `None` once closed.
    resting: Mutex<Option<Vec<Held>>>,
}

#[derive(Debug)]
struct Held {
    conn: PoolConnection<Postgres>,
    since: Instant,
    used: Instant,
}

impl Held {
    /// Returns true if the pool need not check it: it answered a moment ago.
    fn is_good(&self) -> bool {
        self.used.elapsed() < RESTED && self.since.elapsed() < KEPT
    }
}

impl Connections {
    pub(super) fn new(pool: PgPool, most: u32) -> Self {
        let (turns, resting) = (Semaphore::new(most as usize), Mutex::new(Some(Vec::new())));
        Self { pool, turns: Arc::new(turns), resting }
    }

    pub(super) async fn take(self: &Arc<Self>, named: bool) -> Result<Conn, sqlx::Error> {
        let taken = tokio::time::timeout(PATIENCE, self.held()).await;
        let (turn, held) = taken.unwrap_or(Err(sqlx::Error::PoolTimedOut))?;
        let of = Arc::clone(self);
        Ok(Conn { held: Some(held), of, _turn: turn, named, begun: false, is_over: false, is_read: true })
    }

    async fn held(&self) -> Result<(OwnedSemaphorePermit, Held), sqlx::Error> {
        let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(|_| sqlx::Error::PoolClosed)?;
        if let Some(held) = self.last() {
            return Ok((turn, held));
        }
        let (conn, since) = (self.pool.acquire().await?, Instant::now());
        Ok((turn, Held { conn, since, used: since }))
    }

    /// Returns the connection that was released last, and drops stale ones to the pool.
    fn last(&self) -> Option<Held> {
        let mut resting = self.resting();
        let resting = resting.as_mut()?;
        resting.retain(Held::is_good);
        resting.pop()
    }

    fn keep(&self, held: Held) {
        if let Some(resting) = self.resting().as_mut().filter(|_| held.is_good()) {
            resting.push(held);
        }
    }

    fn resting(&self) -> MutexGuard<'_, Option<Vec<Held>>> {
        self.resting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) async fn close(&self) {
        // The pool waits for all connections.
        self.resting().take();
        self.pool.close().await;
    }
}

impl Drop for Connections {
    fn drop(&mut self) {
        // Returning a connection to the pool needs a runtime, which may be gone.
        let resting = self.resting.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        resting.into_iter().flatten().for_each(|held| drop(held.conn.detach()));
    }
}

pub(in crate::gate::store) struct Conn {
    /// `None` only while it is dropped.
    held: Option<Held>,
    of: Arc<Connections>,
    /// Released after the connection.
    _turn: OwnedSemaphorePermit,
    named: bool,
    begun: bool,
    /// No statement or transaction is in progress.
    is_over: bool,
    /// The last answer was read to its end.
    is_read: bool,
}

impl Conn {
    /// Begins a transaction with these statements and returns their rows.
    pub(super) async fn begin(&mut self, with: SqlStr) -> Result<Vec<PgRow>, sqlx::Error> {
        self.begun = true;
        self.raw()?.fetch_all(with).await
    }

    pub(super) async fn commit(mut self) -> Result<(), sqlx::Error> {
        self.raw()?.execute("COMMIT").await?;
        self.is_over = true;
        Ok(())
    }

    /// Releases the connection and returns `answer`. An open transaction is rolled back in the background.
    pub(super) fn end<T>(mut self, answer: Result<T, StoreError>) -> Result<T, StoreError> {
        if matches!(&answer, Err(StoreError::Database(error)) if is_broken(error)) {
            return answer;
        }
        self.is_read &= answer.is_ok();
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
        self.held.as_mut().map(|held| &mut *held.conn).ok_or(sqlx::Error::PoolClosed)
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
        if !self.is_over {
            // The pool would wait for its answer.
            drop(held.conn.detach());
        } else if self.is_read {
            self.of.keep(Held { used: Instant::now(), ..held });
        }
    }
}

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

/// A stream of rows that notes when it was read to its end. Its reader may drop it earlier.
struct Answer<'e, T> {
    answer: BoxStream<'e, T>,
    is_read: &'e mut bool,
}

impl<T> Stream for Answer<'_, T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let next = self.answer.poll_next_unpin(cx);
        if let Poll::Ready(None) = next {
            *self.is_read = true;
        }
        next
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
        let Conn { held, named, is_read, .. } = self;
        let Some(held) = held else {
            return Box::pin(futures_util::stream::iter([Err(sqlx::Error::PoolClosed)]));
        };
        *is_read = false;
        let answer = held.conn.fetch_many(Sent { query, named: *named });
        Box::pin(Answer { answer, is_read })
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

/// Returns true if the connection is unusable: it broke, or the server ended it.
pub(super) fn is_broken(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Io(_) | sqlx::Error::Protocol(_))
        || matches!(code(error).as_deref(), Some("57P01" | "25P03"))
}

pub(super) fn code(error: &sqlx::Error) -> Option<Cow<'_, str>> {
    error.as_database_error()?.code()
}
