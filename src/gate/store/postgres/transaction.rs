//! A write transaction: lock the head of the workspace, check, write, commit.

use std::collections::BTreeMap;

use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Row as _};

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
use crate::gate::store::sql::tx::Transaction;
use crate::gate::store::write_buffer::Buffers;

/// A missing head cannot be locked, so it is inserted. A second writer waits here for the first.
const NEW_HEAD: &str =
    "INSERT INTO heads (workspace, revision, pending, pruned) VALUES ($1, 0, 0, 0) ON CONFLICT DO NOTHING";

/// Dispatches share this lock; a pause of the whole gate takes it exclusively, so no dispatch commits after an
/// acknowledged pause. The number is arbitrary.
const PAUSE_LOCK: i64 = 0x706c_6163_6574;

#[derive(Debug)]
pub(super) struct PostgresTx {
    pub(super) conn: Conn,
    pub(super) state: TxState,
    clock: Clock,
    /// Locked heads, as left by the earlier jobs.
    known: BTreeMap<String, Head>,
    buffers: Buffers,
    /// This job wrote something that only a rollback of the transaction undoes.
    changed: bool,
}

pub(super) enum NotCommitted {
    Written(Conn, StoreError),
    /// The commit failed. If the connection broke, the outcome is unknown.
    Failed(StoreError),
}

impl PostgresTx {
    /// Begins, and locks the workspace unless its name is empty; then the work locks it.
    pub(super) async fn begin(
        pool: &Pool,
        workspace: &str,
        state: TxState,
        clock: Clock,
    ) -> Result<Self, StoreError> {
        let lock = if workspace.is_empty() { String::new() } else { locking(workspace) };
        let (conn, row) = pool.begin_work(&lock).await?;
        let mut tx =
            Self { conn, state, clock, known: BTreeMap::new(), buffers: Buffers::default(), changed: false };
        if let Some(row) = row.filter(|row| row.try_column("now").is_ok()) {
            tx.lock(workspace, &row)?;
        }
        Ok(tx)
    }

    fn lock(&mut self, workspace: &str, row: &PgRow) -> Result<Head, StoreError> {
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

    /// Keeps the heads and buffered rows of this job for the next ones, or drops them. Returns false if the job wrote
    /// something that only a rollback of the transaction undoes.
    pub(super) fn end_of_piece(&mut self, keep: bool) -> bool {
        let heads = std::mem::take(&mut self.state.heads);
        if keep {
            self.known.extend(heads);
        }
        self.buffers.end_of_piece(keep);
        !std::mem::take(&mut self.changed)
    }

    pub(super) async fn commit(mut self) -> Result<(), NotCommitted> {
        if let Err(error) = write(&mut self.buffers.kept, &mut self.conn).await {
            return Err(NotCommitted::Written(self.conn, error));
        }
        fault::point("commit.ready");
        self.conn.commit().await.map_err(|error| NotCommitted::Failed(error.into()))
    }
}

impl Transaction for PostgresTx {
    type Conn = Conn;

    const ELSEWHERE: [&'static str; 2] = [
        "SELECT EXISTS (SELECT 1 FROM heads h CROSS JOIN LATERAL (SELECT 1 FROM actions a WHERE a.workspace = h.workspace \
         AND a.batch = $1 LIMIT 1) AS found) AS there",
        "SELECT EXISTS (SELECT 1 FROM heads h CROSS JOIN LATERAL (SELECT 1 FROM actions a WHERE a.workspace = h.workspace \
         AND a.checkpoint = $1 LIMIT 1) AS found) AS there",
    ];
    /// One statement, because each is a round trip while the workspace is locked.
    const BURY: &'static [&'static str] = &["WITH a AS (SELECT * FROM actions WHERE seq = $1), \
         r AS (UPDATE replies SET pruned_at = $2 FROM a WHERE replies.action = a.id), \
         c AS (INSERT INTO pruned_calls (workspace, proposer, session, tool_call, digest, pruned_at) \
         SELECT workspace, proposer, session, tool_call, digest, $2 FROM a \
         WHERE session IS NOT NULL AND tool_call IS NOT NULL AND tool_call <> '' \
         ON CONFLICT (workspace, proposer, session, tool_call) DO UPDATE SET digest = excluded.digest, pruned_at = excluded.pruned_at), \
         v AS (DELETE FROM approvals WHERE seq = $1), p AS (DELETE FROM payloads WHERE seq = $1) DELETE FROM actions WHERE seq = $1"];

    fn state(&mut self) -> &mut TxState {
        &mut self.state
    }

    fn buffers(&mut self) -> &mut Buffers {
        &mut self.buffers
    }

    fn ask(&mut self) -> &mut Conn {
        &mut self.conn
    }

    async fn conn(&mut self) -> Result<&mut Conn, StoreError> {
        self.changed = true;
        Ok(&mut self.conn)
    }

    async fn written(&mut self) -> Result<&mut Conn, StoreError> {
        write(&mut self.buffers.kept, &mut self.conn).await?;
        self.changed |= write(&mut self.buffers.own, &mut self.conn).await?;
        Ok(&mut self.conn)
    }

    async fn lock_head(&mut self, workspace: &str) -> Result<Option<Head>, StoreError> {
        if let Some(head) = self.known.get(workspace) {
            return Ok(Some(head.clone()));
        }
        let lock = || sqlx::raw_sql(AssertSqlSafe(locking(workspace)));
        let row = match lock().fetch_optional(&mut self.conn).await? {
            Some(row) => row,
            None => {
                sqlx::query(NEW_HEAD).bind(workspace).execute(self.conn().await?).await?;
                lock().fetch_one(&mut self.conn).await?
            }
        };
        self.lock(workspace, &row).map(Some)
    }

    async fn lock_pauses(&mut self, whole_gate: bool) -> Result<(), StoreError> {
        if whole_gate {
            let lock = sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(PAUSE_LOCK);
            lock.execute(self.conn().await?).await?;
        }
        Ok(())
    }

    async fn share_pauses(&mut self) -> Result<(), StoreError> {
        let lock = sqlx::query("SELECT pg_advisory_xact_lock_shared($1)").bind(PAUSE_LOCK);
        lock.execute(&mut self.conn).await?;
        Ok(())
    }
}

pub(super) const NOW: &str = "SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::bigint";

/// Returns statements that lock the head of a workspace and then read the clock. No row means that the head is missing.
/// `BEGIN` is sent with them and allows no parameters, so the name is encoded in hexadecimal.
fn locking(workspace: &str) -> String {
    let name = hex(workspace.as_bytes());
    format!(
        "WITH head AS MATERIALIZED (SELECT revision, pending, pruned, hash FROM heads \
         WHERE workspace = convert_from(decode('{name}', 'hex'), 'UTF8') FOR UPDATE) \
         SELECT revision, pending, pruned, hash, (EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::bigint AS now FROM head"
    )
}
