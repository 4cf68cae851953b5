//! Types shared by both sides of a move.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use super::tables::Table;
use crate::gate::store::StoreError;
use crate::gate::store::postgres::PostgresError;
use crate::sqlite::OpenError;

#[derive(Debug, thiserror::Error)]
pub enum MoveError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Postgres(#[from] PostgresError),
    #[error("{0} is not the database of a gate")]
    NoGate(PathBuf),
    #[error(
        "the database {place} is not empty (its table {table} has rows); name a new one: a gate is moved to where none is"
    )]
    Occupied { place: String, table: &'static str },
    #[error("{path} was moved to the database {place} before; there is nothing left to move")]
    Done { path: PathBuf, place: String },
    #[error(
        "PostgreSQL cannot keep the character U+0000, which stands in {0}; nothing was moved. Settle these actions and prune them \
         (`placet gate prune`) before you move the gate; what is kept of them is gone 90 days later"
    )]
    Odd(String),
    #[error(
        "the audit of {path} does not hold: {first}; nothing was moved. `placet gate audit verify --database sqlite:{path}` says everything"
    )]
    Tampered { path: PathBuf, first: String },
    #[error(
        "{path} is not as it was when the move to the database {place} began (its table {table} differs); delete what is there \
         (DROP SCHEMA placet CASCADE), and start again"
    )]
    Changed { path: PathBuf, place: String, table: &'static str },
    #[error(
        "the database {place} does not hold what {path} holds: {what}; no gate will open it. Delete what is there \
         (DROP SCHEMA placet CASCADE), and start again"
    )]
    Differs { path: PathBuf, place: String, what: String },
    #[error("{0}")]
    Store(String),
}

impl MoveError {
    pub(super) fn of(error: sqlx::Error) -> Self {
        StoreError::from(error).into()
    }
}

impl From<StoreError> for MoveError {
    fn from(error: StoreError) -> Self {
        Self::Store(error.to_string())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum KeyPart {
    Number(i64),
    Text(String),
}

pub(super) type Key = Vec<KeyPart>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Summary {
    pub(super) table: &'static str,
    pub(super) rows: u64,
    /// SHA-256 of all rows in key order, as encoded by [`tuple`](super::tuple).
    pub(super) digest: [u8; 32],
}

impl Summary {
    pub(super) fn of_nothing(table: &Table) -> Self {
        Self { table: table.name, rows: 0, digest: [0; 32] }
    }
}

/// Counts a row. Yields now and then, because rows may arrive faster than they are processed.
pub(super) async fn counted(rows: &AtomicU64) {
    if rows.fetch_add(1, Ordering::Relaxed).is_multiple_of(128) {
        tokio::task::yield_now().await;
    }
}
