//! A write transaction of SQLite. There is one writer at a time, so a head that was read is locked.

use std::collections::BTreeMap;

use sqlx::{Sqlite, SqliteConnection};

use super::write::write;
use crate::gate::store::StoreError;
use crate::gate::store::columns::Columns as _;
use crate::gate::store::ops::tx::{Head, TxState};
use crate::gate::store::rows::number;
use crate::gate::store::sql::tx::Transaction;
use crate::gate::store::sql::{Sql as _, Statement};
use crate::gate::store::write_buffer::Buffers;

pub(super) type Heads = BTreeMap<String, Head>;

/// A transaction that runs several jobs one after the other.
#[derive(Debug)]
pub(super) struct SqliteTx {
    inner: sqlx::Transaction<'static, Sqlite>,
    pub(super) state: TxState,
    /// Heads as left by earlier jobs of this transaction or the one before.
    known: Heads,
    buffers: Buffers,
    savepoint: Savepoint,
}

/// A savepoint that undoes a job that wrote something.
#[derive(Debug, PartialEq, Eq)]
enum Savepoint {
    None,
    /// This job has written after it.
    Open,
    /// An earlier job's, no longer needed.
    Left,
}

impl SqliteTx {
    pub(super) fn new(inner: sqlx::Transaction<'static, Sqlite>, state: TxState, known: Heads) -> Self {
        Self { inner, state, known, buffers: Buffers::default(), savepoint: Savepoint::None }
    }

    /// Keeps the heads and buffered rows of this job for the next ones, or undoes it.
    pub(super) async fn end_of_work(&mut self, keep: bool) -> Result<(), sqlx::Error> {
        let heads = std::mem::take(&mut self.state.heads);
        if keep {
            self.known.extend(heads);
        }
        self.buffers.end_of_piece(keep);
        if self.savepoint == Savepoint::Open {
            self.savepoint = Savepoint::Left;
            if !keep {
                sqlx::query("ROLLBACK TO job").execute(&mut *self.inner).await?;
            }
        }
        Ok(())
    }

    /// Writes the buffers. Returns the transaction, and the heads as of its commit.
    pub(super) async fn end(mut self) -> Result<(sqlx::Transaction<'static, Sqlite>, Heads), sqlx::Error> {
        write(&mut self.buffers.kept, &mut self.inner).await?;
        Ok((self.inner, self.known))
    }
}

impl Transaction for SqliteTx {
    type Conn = SqliteConnection;

    /// `CROSS` keeps SQLite from reading the index of all actions instead.
    const ELSEWHERE: [&'static str; 2] = [
        "SELECT EXISTS (SELECT 1 FROM heads h CROSS JOIN actions a ON a.workspace = h.workspace AND a.batch = $1) AS there",
        "SELECT EXISTS (SELECT 1 FROM heads h CROSS JOIN actions a ON a.workspace = h.workspace AND a.checkpoint = $1) AS there",
    ];
    const BURY: &'static [&'static str] = &[
        "UPDATE replies SET pruned_at = $2 WHERE action = (SELECT id FROM actions WHERE seq = $1)",
        "INSERT INTO pruned_calls (workspace, proposer, session, tool_call, digest, pruned_at) \
         SELECT workspace, proposer, session, tool_call, digest, $2 FROM actions \
         WHERE seq = $1 AND session IS NOT NULL AND tool_call IS NOT NULL AND tool_call <> '' \
         ON CONFLICT DO UPDATE SET digest = excluded.digest, pruned_at = excluded.pruned_at",
        "DELETE FROM approvals WHERE seq = $1",
        "DELETE FROM payloads WHERE seq = $1",
        "DELETE FROM actions WHERE seq = $1",
    ];

    fn state(&mut self) -> &mut TxState {
        &mut self.state
    }

    fn buffers(&mut self) -> &mut Buffers {
        &mut self.buffers
    }

    fn ask(&mut self) -> &mut SqliteConnection {
        &mut self.inner
    }

    /// Writes the buffers of earlier jobs first, so that a rollback of this job does not undo them.
    async fn conn(&mut self) -> Result<&mut SqliteConnection, StoreError> {
        if self.savepoint != Savepoint::Open {
            write(&mut self.buffers.kept, &mut self.inner).await?;
            let statement = match self.savepoint {
                Savepoint::Left => "RELEASE job; SAVEPOINT job",
                _ => "SAVEPOINT job",
            };
            sqlx::query(statement).execute(&mut *self.inner).await?;
            self.savepoint = Savepoint::Open;
        }
        Ok(&mut self.inner)
    }

    async fn written(&mut self) -> Result<&mut SqliteConnection, StoreError> {
        self.conn().await?;
        write(&mut self.buffers.own, &mut self.inner).await?;
        Ok(&mut self.inner)
    }

    async fn lock_head(&mut self, workspace: &str) -> Result<Option<Head>, StoreError> {
        if let Some(head) = self.known.get(workspace) {
            return Ok(Some(head.clone()));
        }
        let query = "SELECT revision, pending, pruned, hash FROM heads WHERE workspace = $1";
        let Some(row) = self.ask().fetch_optional(Statement::new(query).bind(workspace)).await? else {
            return Ok(None);
        };
        Ok(Some(Head {
            revision: number(row.int("revision")?),
            pending: number(row.int("pending")?),
            pruned: number(row.int("pruned")?),
            hash: row.maybe_bytes("hash")?,
            ..Head::new(workspace)
        }))
    }

    /// There is one writer.
    async fn lock_pauses(&mut self, _: bool) -> Result<(), StoreError> {
        Ok(())
    }

    async fn share_pauses(&mut self) -> Result<(), StoreError> {
        Ok(())
    }
}
