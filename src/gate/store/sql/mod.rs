//! SQL that both databases accept, and connections to either.
//!
//! Parameters are `$1`, `$2` and so on; sqlx binds them by number on SQLite, too. Sums are cast, because PostgreSQL
//! sums `BIGINT` to `NUMERIC`. Differences between the databases are in [`Sql`].

pub(super) mod approvals;
pub(super) mod ask;
pub(super) mod audit;
pub(super) mod callbacks;
pub(super) mod claims;
pub(super) mod due;
pub(super) mod flows;
pub(super) mod outstanding;
pub(super) mod prune;
pub(super) mod read;
pub(super) mod tokens;
pub(super) mod tx;
pub(super) mod verify;
pub(super) mod which;

use std::borrow::Cow;

use futures_util::TryStreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use sqlx::query::Query;
use sqlx::{AssertSqlSafe, Database, Encode, Type};

use super::columns::Columns;
use crate::gate::audit::hex;

pub(super) trait Sql: Send {
    type Row: Columns + Send + Sync;

    /// Prefix of a column that SQLite must not use as an index. PostgreSQL decides by its statistics.
    const UNINDEXED: &'static str;
    /// Begins an attempt of due callbacks and returns them: end of the lease, name, time, maximum number.
    const TAKE_CALLBACKS: &'static str;
    /// Names triggers that are missing or disabled, which allows changes they would refuse.
    const GUARDS_GONE: &'static str;
    /// Sorts pruned actions by id: one audit row names many, in the order they were settled.
    const SORT_PRUNED: &'static [&'static str];

    /// Suffix of a table: the index that SQLite must use.
    fn indexed_by(index: &str) -> String;
    /// The case-sensitive match operator, and this pattern in its syntax.
    fn like(pattern: &str) -> (&'static str, String);

    fn next_pruned(after: i64) -> Statement;

    fn execute(&mut self, statement: Statement) -> BoxFuture<'_, Result<u64, sqlx::Error>>;
    fn fetch(&mut self, statement: Statement) -> BoxStream<'_, Result<Self::Row, sqlx::Error>>;

    fn fetch_all(&mut self, statement: Statement) -> BoxFuture<'_, Result<Vec<Self::Row>, sqlx::Error>> {
        Box::pin(self.fetch(statement).try_collect())
    }

    /// Reads to the end, so that the connection can be used again.
    fn fetch_optional(
        &mut self,
        statement: Statement,
    ) -> BoxFuture<'_, Result<Option<Self::Row>, sqlx::Error>> {
        Box::pin(async move { Ok(self.fetch_all(statement).await?.pop()) })
    }

    fn fetch_one(&mut self, statement: Statement) -> BoxFuture<'_, Result<Self::Row, sqlx::Error>> {
        Box::pin(async move { self.fetch_optional(statement).await?.ok_or(sqlx::Error::RowNotFound) })
    }
}

/// A parameter. NULL has a type, too: the server would guess another one.
#[derive(Debug)]
pub(super) enum Value {
    Int(Option<i64>),
    Text(Option<String>),
    Bytes(Option<Vec<u8>>),
}

impl Value {
    pub(super) fn into_text(self) -> Option<String> {
        match self {
            Self::Int(number) => number.map(|number| number.to_string()),
            Self::Text(text) => text,
            Self::Bytes(bytes) => bytes.map(|bytes| hex(&bytes)),
        }
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(Some(value))
    }
}

impl From<Option<i64>> for Value {
    fn from(value: Option<i64>) -> Self {
        Self::Int(value)
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Text(Some(value))
    }
}

impl From<&String> for Value {
    fn from(value: &String) -> Self {
        Self::Text(Some(value.clone()))
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(Some(value.to_owned()))
    }
}

impl From<Option<String>> for Value {
    fn from(value: Option<String>) -> Self {
        Self::Text(value)
    }
}

impl From<Option<&str>> for Value {
    fn from(value: Option<&str>) -> Self {
        Self::Text(value.map(str::to_owned))
    }
}

impl From<&[u8]> for Value {
    fn from(value: &[u8]) -> Self {
        Self::Bytes(Some(value.to_vec()))
    }
}

impl From<Option<&[u8]>> for Value {
    fn from(value: Option<&[u8]>) -> Self {
        Self::Bytes(value.map(<[u8]>::to_vec))
    }
}

#[derive(Debug)]
pub(super) struct Statement {
    text: Cow<'static, str>,
    values: Vec<Value>,
}

impl Statement {
    pub(super) fn new(text: impl Into<Cow<'static, str>>) -> Self {
        Self { text: text.into(), values: Vec::new() }
    }

    pub(super) fn bind(mut self, value: impl Into<Value>) -> Self {
        self.values.push(value.into());
        self
    }

    pub(super) fn push(&mut self, text: &str) -> &mut Self {
        self.text.to_mut().push_str(text);
        self
    }

    pub(super) fn push_bind(&mut self, value: impl Into<Value>) -> &mut Self {
        self.values.push(value.into());
        let number = self.values.len();
        self.push("$").push(&number.to_string())
    }

    pub(super) fn push_list<V: Into<Value>>(&mut self, values: impl IntoIterator<Item = V>) -> &mut Self {
        self.push("(");
        for (nth, value) in values.into_iter().enumerate() {
            self.push(if nth == 0 { "" } else { ", " }).push_bind(value);
        }
        self.push(")")
    }

    pub(super) fn query<DB>(self) -> Query<'static, DB, <DB as Database>::Arguments>
    where
        DB: Database,
        Option<i64>: Encode<'static, DB> + Type<DB>,
        Option<String>: Encode<'static, DB> + Type<DB>,
        Option<Vec<u8>>: Encode<'static, DB> + Type<DB>,
    {
        let mut query = sqlx::query(AssertSqlSafe(self.text));
        for value in self.values {
            query = match value {
                Value::Int(value) => query.bind(value),
                Value::Text(value) => query.bind(value),
                Value::Bytes(value) => query.bind(value),
            };
        }
        query
    }

    #[cfg(test)]
    pub(super) fn text(&self) -> &str {
        &self.text
    }
}
