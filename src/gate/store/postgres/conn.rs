//! A connection while something is asked, or done, over it. Whatever ends in the middle takes the connection with it: nobody knows what
//! the server still has to say on it, or whether the network goes on.
//!
//! Behind a pooler no statement has a name and everything is in a transaction: from one to the next the pooler may change the connection
//! to the server.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use sqlx::error::BoxDynError;
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgArguments, PgConnection, PgQueryResult, PgRow, PgStatement, PgTypeInfo};
use sqlx::{Either, Execute, Executor, Postgres, SqlStr};

use crate::gate::store::StoreError;

/// How long somebody waits for a connection.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

pub(super) struct Conn {
    /// `None` only while it is dropped.
    held: Option<PoolConnection<Postgres>>,
    named: bool,
    begun: bool,
    /// Nothing is under way on it.
    is_over: bool,
}

impl Conn {
    pub(super) fn new(held: PoolConnection<Postgres>, named: bool) -> Self {
        Self { held: Some(held), named, begun: false, is_over: false }
    }

    /// Begins a transaction with these statements.
    pub(super) async fn begin(&mut self, with: SqlStr) -> Result<(), sqlx::Error> {
        self.begun = true;
        self.raw()?.execute(with).await.map(drop)
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
        if !self.is_over {
            // The pool would wait for it.
            drop(self.held.take().map(PoolConnection::detach));
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
