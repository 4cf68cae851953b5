//! A write transaction of PostgreSQL: lock the head of the workspace, check, write, commit.

use std::collections::BTreeMap;

use sqlx::Row as _;
use sqlx::postgres::PgRow;

use super::conn::Conn;
use super::pool::Pool;
use super::write::write;
use crate::domain::Timestamp;
use crate::fault;
use crate::gate::audit::hex;
use crate::gate::clock::Clock;
use crate::gate::store::StoreError;
use crate::gate::store::ops::tx::{Head, TxState};
use crate::gate::store::rows::number;
use crate::gate::store::write_buffer::WriteBuffer;

/// Pieces of work in one transaction, one after the other.
#[derive(Debug)]
pub(super) struct PostgresTx {
    pub(super) conn: Conn,
    pub(super) state: TxState,
    clock: Clock,
    /// Heads that are locked, as the pieces before this one left them.
    pub(super) known: BTreeMap<String, Head>,
    /// What the pieces before this one left to be written.
    kept: WriteBuffer,
    /// Of this one.
    pub(super) own: WriteBuffer,
    /// This piece changed something that only the end of the transaction undoes.
    changed: bool,
}

pub(super) enum NotCommitted {
    /// A statement failed before the commit: nothing is kept.
    Written(Conn, StoreError),
    /// The commit failed. Whether it is kept is not known where the connection broke.
    Failed(StoreError),
}

impl PostgresTx {
    /// With this workspace locked, unless it is empty: then nobody knows it yet.
    pub(super) async fn begin(
        pool: &Pool,
        workspace: &str,
        state: TxState,
        clock: Clock,
    ) -> Result<Self, StoreError> {
        let lock = if workspace.is_empty() { String::new() } else { locking(workspace) };
        let (conn, row) = pool.begin_work(&lock).await?;
        let (known, kept, own) = (BTreeMap::new(), WriteBuffer::default(), WriteBuffer::default());
        let mut tx = Self { conn, state, clock, known, kept, own, changed: false };
        if let Some(row) = row.filter(|row| row.try_column("now").is_ok()) {
            tx.lock(workspace, &row)?;
        }
        Ok(tx)
    }

    /// Reads the answer to [`locking`].
    pub(super) fn lock(&mut self, workspace: &str, row: &PgRow) -> Result<Head, StoreError> {
        self.state.now = self.clock.of_server(Timestamp::from_millis(row.try_get("now")?));
        let head = Head {
            revision: number(row.try_get("revision")?),
            pending: number(row.try_get("pending")?),
            pruned: number(row.try_get("pruned")?),
            hash: row.try_get("hash")?,
            ..Head::new(workspace)
        };
        self.known.insert(workspace.to_owned(), head.clone());
        Ok(head)
    }

    /// To ask for what nothing unwritten can be part of.
    pub(super) fn ask(&mut self) -> &mut Conn {
        &mut self.conn
    }

    /// To write at once.
    pub(super) fn conn(&mut self) -> &mut Conn {
        self.changed = true;
        &mut self.conn
    }

    /// To ask for anything: all that is kept is written before.
    pub(super) async fn written(&mut self) -> Result<&mut Conn, StoreError> {
        write(&mut self.kept, &mut self.conn).await?;
        self.changed |= write(&mut self.own, &mut self.conn).await?;
        Ok(&mut self.conn)
    }

    /// To ask for something, part of which may not be written yet.
    pub(super) async fn written_if(
        &mut self,
        about: impl Fn(&WriteBuffer) -> bool,
    ) -> Result<&mut Conn, StoreError> {
        if about(&self.kept) || about(&self.own) { self.written().await } else { Ok(self.ask()) }
    }

    /// What this piece locked and changed holds for the next ones, and is forgotten where it is not kept. False where something of it is
    /// left all the same.
    pub(super) fn end_of_piece(&mut self, keep: bool) -> bool {
        let (heads, own) = (std::mem::take(&mut self.state.heads), std::mem::take(&mut self.own));
        if keep {
            self.known.extend(heads);
            self.kept.add(own);
        }
        !std::mem::take(&mut self.changed)
    }

    /// Writes what is left, and commits.
    pub(super) async fn commit(mut self) -> Result<(), NotCommitted> {
        if let Err(error) = write(&mut self.kept, &mut self.conn).await {
            return Err(NotCommitted::Written(self.conn, error));
        }
        fault::point("commit.ready");
        self.conn.commit().await.map_err(|error| NotCommitted::Failed(error.into()))
    }
}

/// The server's clock in milliseconds.
pub(super) const NOW: &str = "SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::bigint";

/// Locks the head of a workspace; the clock is read when the lock is had. No row: it has none yet. The name stands in it as digits, which mean
/// the same whatever the server is set to: `BEGIN`, with which it goes, takes no parameters.
pub(super) fn locking(workspace: &str) -> String {
    let name = hex(workspace.as_bytes());
    format!(
        "WITH head AS MATERIALIZED (SELECT revision, pending, pruned, hash FROM heads \
         WHERE workspace = convert_from(decode('{name}', 'hex'), 'UTF8') FOR UPDATE) \
         SELECT revision, pending, pruned, hash, (EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::bigint AS now FROM head"
    )
}
