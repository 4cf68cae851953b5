//! Moves a gate from SQLite to PostgreSQL, and compares every row of every table on both sides.
//!
//! The file is only read. Rows are copied in key order, many per transaction, so the last row in the target shows where
//! to continue. A table `moving` marks the target until the comparison is done; no gate opens it meanwhile.

mod sides;
mod source;
mod tables;
mod target;
#[cfg(test)]
mod tests;
mod tuple;

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

pub use self::sides::MoveError;
use self::sides::Summary;
use self::source::Source;
use self::tables::TABLES;
use self::target::Target;
use crate::config::PostgresConfig;
use crate::gate::audit::{self, AuditHead};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovedTable {
    pub name: &'static str,
    pub rows: u64,
    /// SHA-256 of its rows in hex, the same on both sides.
    pub digest: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    pub tables: Vec<MovedTable>,
    /// Ends of the audit chains, the same on both sides.
    pub heads: Vec<AuditHead>,
}

#[derive(Debug)]
pub struct Move {
    source: Source,
    target: Target,
    tables: Vec<Summary>,
    heads: Vec<AuditHead>,
}

impl Move {
    /// Opens both databases, the target without a pooler. No gate may serve the file meanwhile.
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

    /// Reads the whole source and refuses data that PostgreSQL cannot hold. Adds each row to `read`, audit rows three
    /// times. Copies nothing.
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

    pub fn rows(&self) -> u64 {
        self.tables.iter().map(|table| table.rows).sum()
    }

    /// Copies the rows that the target does not have. Sets `carried` to the number of rows in the target.
    pub async fn carry(&mut self, carried: &AtomicU64) -> Result<(), MoveError> {
        carried.store(self.target.rows().await?, Ordering::Relaxed);
        for table in &TABLES {
            self.target.carry(table, &mut self.source, carried).await?;
        }
        self.target.complete().await
    }

    /// Compares both sides and releases the target to gates. Adds each row to `read`, audit rows three times.
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

    pub async fn close(self) {
        self.source.close().await;
        self.target.close().await;
    }
}

/// Returns the first table that differs. `None` if all match, or if one side is empty because it is unknown.
fn differing(one: &[Summary], other: &[Summary]) -> Option<&'static str> {
    one.iter().zip(other).find(|(one, other)| one != other).map(|(one, _)| one.table)
}
