//! Moves a gate from SQLite to PostgreSQL: every row of every table, compared on both sides.
//!
//! The file is only read. The rows go part by part, each in one transaction, in the order of their keys: what is there says where to go on.
//! A table `moving` marks the database from the first row to the last comparison; no gate opens it meanwhile.

mod source;
mod tables;
mod target;
#[cfg(test)]
mod tests;
mod tuple;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use self::source::Source;
use self::tables::{TABLES, Table};
use self::target::Target;
use super::StoreError;
use super::postgres::PostgresError;
use crate::config::PostgresConfig;
use crate::gate::audit::{self, AuditHead};
use crate::sqlite::OpenError;

/// Why a gate was not moved.
#[derive(Debug, thiserror::Error)]
pub enum MoveError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Postgres(#[from] PostgresError),
    #[error(
        "an older placet wrote the database {0}; run `placet gate migrate --database sqlite:{0}` first, on a copy if it must stay as it is"
    )]
    Older(PathBuf),
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
    fn of(error: sqlx::Error) -> Self {
        StoreError::from(error).into()
    }
}

impl From<StoreError> for MoveError {
    fn from(error: StoreError) -> Self {
        Self::Store(error.to_string())
    }
}

/// One part of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
enum KeyPart {
    Number(i64),
    Text(String),
}

/// Which row of its table.
type Key = Vec<KeyPart>;

/// What a table holds.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Summary {
    table: &'static str,
    rows: u64,
    /// SHA-256 of all rows, in the order of their keys, as [`tuple`] has them.
    digest: [u8; 32],
}

impl Summary {
    fn of_nothing(table: &Table) -> Self {
        Self { table: table.name, rows: 0, digest: [0; 32] }
    }
}

/// A table that was moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovedTable {
    pub name: &'static str,
    pub rows: u64,
    /// Of its rows, the same on both sides: 64 hex digits.
    pub digest: String,
}

/// What was moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    pub tables: Vec<MovedTable>,
    /// The ends of the audits' chains, the same on both sides.
    pub heads: Vec<AuditHead>,
}

/// A move from one database to the other, in steps that each count what they did.
#[derive(Debug)]
pub struct Move {
    source: Source,
    target: Target,
    tables: Vec<Summary>,
    heads: Vec<AuditHead>,
}

impl Move {
    /// Opens both, the new one not by way of a pooler. Nobody may serve the file meanwhile.
    pub async fn open(from: &Path, to: &str, postgres: &PostgresConfig) -> Result<Self, MoveError> {
        let mut source = Source::open(from).await?;
        let mut target = Target::reach(to, postgres).await?;
        match target.prepare().await {
            Err(MoveError::Occupied { table: "heads", place })
                if target.goes_on_from(&source.heads().await?).await? =>
            {
                return Err(MoveError::Done { path: source.path(), place });
            }
            prepared => prepared?,
        }
        Ok(Self { source, target, tables: Vec::new(), heads: Vec::new() })
    }

    /// Reads the old database from end to end, and refuses what could not be moved. Each row is added to `read`, those of the audit twice
    /// more. Nothing is carried yet.
    pub async fn read(&mut self, read: &AtomicU64) -> Result<(), MoveError> {
        let began_with = self.target.began_with().await?;
        self.tables = self.source.survey(read).await?;
        if let Some(table) = differing(&began_with, &self.tables) {
            return Err(MoveError::Changed { path: self.source.path(), place: self.target.place(), table });
        }
        let verified = self.source.audit(read).await?;
        if let Some(first) = verified.problems.into_iter().next() {
            return Err(MoveError::Tampered { path: self.source.path(), first });
        }
        self.heads = verified.heads;
        if began_with.is_empty() {
            self.target.begin(&self.tables).await?;
        }
        Ok(())
    }

    /// How many rows are to be moved.
    pub fn rows(&self) -> u64 {
        self.tables.iter().map(|table| table.rows).sum()
    }

    /// Carries everything that is not there yet; `carried` has all that is there.
    pub async fn carry(&mut self, carried: &AtomicU64) -> Result<(), MoveError> {
        carried.store(self.target.rows().await?, Ordering::Relaxed);
        for table in &TABLES {
            self.target.carry(table, &mut self.source, carried).await?;
        }
        self.target.complete().await
    }

    /// Compares both sides, and hands the new database over. Each row is added to `read`, those of the audit twice more.
    pub async fn verify(&mut self, read: &AtomicU64) -> Result<Moved, MoveError> {
        let there = self.target.survey(read).await?;
        if let Some(table) = differing(&there, &self.tables) {
            return Err(self.differs(format!("table {table} differs")));
        }
        let verified = self.target.audit(&self.heads, read).await?;
        if let Some(first) = verified.problems.into_iter().next() {
            return Err(self.differs(format!("its audit does not hold: {first}")));
        }
        if verified.heads != self.heads || self.source.has_changed().await? {
            return Err(self.differs("somebody wrote to the old one meanwhile".to_owned()));
        }
        self.target.end().await?;
        let tables = self.tables.iter().map(|it| MovedTable {
            name: it.table,
            rows: it.rows,
            digest: audit::hex(&it.digest),
        });
        Ok(Moved { tables: tables.collect(), heads: self.heads.clone() })
    }

    fn differs(&self, what: String) -> MoveError {
        MoveError::Differs { path: self.source.path(), place: self.target.place(), what }
    }

    /// Closes both.
    pub async fn close(self) {
        self.source.close().await;
        self.target.close().await;
    }
}

/// The first table that is not the same; there is none where one side is not known.
fn differing(one: &[Summary], other: &[Summary]) -> Option<&'static str> {
    one.iter().zip(other).find(|(one, other)| one != other).map(|(one, _)| one.table)
}

/// One more row was read. Lets others run every now and then: rows may be there faster than they are worked on.
async fn counted(rows: &AtomicU64) {
    if rows.fetch_add(1, Ordering::Relaxed).is_multiple_of(128) {
        tokio::task::yield_now().await;
    }
}
