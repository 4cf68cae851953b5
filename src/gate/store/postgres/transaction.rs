//! A write transaction of PostgreSQL, from its beginning to its commit: behind the lock of a workspace, or with a head that is foreseen.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Row as _, SqlSafeStr as _};

use super::conn::{Conn, code, is_broken};
use super::foreseen::{Moment, Seen};
use super::pool::{Pool, WORK};
use super::unwritten::{Unwritten, Wrote};
use crate::domain::Timestamp;
use crate::fault;
use crate::gate::audit::hex;
use crate::gate::clock::Clock;
use crate::gate::store::StoreError;
use crate::gate::store::ops::tx::{Head, TxState};
use crate::gate::store::rows::{integer, number};

/// Pieces of work in one transaction, one after the other.
#[derive(Debug)]
pub(super) struct PostgresTx {
    pub(super) conn: Conn,
    pub(super) state: TxState,
    clock: Clock,
    /// Heads that are locked or foreseen, as the pieces before this one left them.
    pub(super) known: BTreeMap<String, Head>,
    /// What the pieces before this one left to be written.
    kept: Unwritten,
    /// Of this one.
    pub(super) own: Unwritten,
    /// This piece changed something that only the end of the transaction undoes.
    changed: bool,
    /// The head that nobody locked yet; the transaction has then not begun.
    foreseen: Option<Head>,
    at: Option<Moment>,
    /// The head was not as it was foreseen: nothing of this holds.
    pub(super) is_wrong: bool,
}

pub(super) enum NotCommitted {
    /// The head was not as it was foreseen: nothing is kept.
    Foreseen(Conn),
    /// A statement failed before the commit: nothing is kept.
    Written(Conn, StoreError),
    /// The commit failed. Whether it is kept is not known where the connection broke.
    Failed(StoreError),
    /// The connection broke after the one statement was sent, which leaves the head so: [`PostgresTx::is_kept`] tells.
    Sent(StoreError, Box<Seen>),
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
        let mut tx = Self::new(conn, state, clock);
        if let Some(row) = row.filter(|row| row.try_column("now").is_ok()) {
            tx.lock(workspace, &row)?;
        }
        Ok(tx)
    }

    /// With a head that is foreseen: it begins where something locks that head, or else never.
    pub(super) async fn foreseeing(
        pool: &Pool,
        seen: Seen,
        state: TxState,
        clock: Clock,
    ) -> Result<Self, StoreError> {
        let mut tx = Self::new(pool.take().await?, state, clock);
        tx.at = Some(seen.at);
        tx.known.insert(seen.head.workspace.clone(), seen.head.clone());
        tx.foreseen = Some(seen.head);
        Ok(tx)
    }

    fn new(conn: Conn, state: TxState, clock: Clock) -> Self {
        let (known, kept, own) = (BTreeMap::new(), Unwritten::default(), Unwritten::default());
        Self {
            conn,
            state,
            clock,
            known,
            kept,
            own,
            changed: false,
            foreseen: None,
            at: None,
            is_wrong: false,
        }
    }

    /// Reads what was answered to [`locking`].
    fn read_head(&mut self, workspace: &str, row: &PgRow) -> Result<Head, StoreError> {
        let at = Moment { server: Timestamp::from_millis(row.try_get("now")?), heard: Instant::now() };
        self.state.now = self.clock.of_server(at.server);
        self.at = Some(at);
        Ok(Head {
            revision: number(row.try_get("revision")?),
            pending: number(row.try_get("pending")?),
            pruned: number(row.try_get("pruned")?),
            hash: row.try_get("hash")?,
            ..Head::new(workspace)
        })
    }

    pub(super) fn lock(&mut self, workspace: &str, row: &PgRow) -> Result<Head, StoreError> {
        let head = self.read_head(workspace, row)?;
        self.known.insert(workspace.to_owned(), head.clone());
        Ok(head)
    }

    /// From here on the head is locked, and is as it was foreseen.
    pub(super) async fn be_sure(&mut self) -> Result<(), StoreError> {
        let Some(foreseen) = self.foreseen.take() else { return Ok(()) };
        let begin = format!("{WORK}; {}", locking(&foreseen.workspace));
        let row = self.conn.begin(AssertSqlSafe(begin).into_sql_str()).await?.pop();
        let head = row.map(|row| self.read_head(&foreseen.workspace, &row)).transpose()?;
        if head.is_some_and(|head| head.is_same(&foreseen)) {
            return Ok(());
        }
        self.is_wrong = true;
        Err(StoreError::Commit("somebody else wrote to the workspace".to_owned()))
    }

    /// To ask for what nothing unwritten can be part of.
    pub(super) fn ask(&mut self) -> &mut Conn {
        &mut self.conn
    }

    /// To write at once.
    pub(super) async fn conn(&mut self) -> Result<&mut Conn, StoreError> {
        self.be_sure().await?;
        self.changed = true;
        Ok(&mut self.conn)
    }

    /// To ask for anything: all that is kept is written before.
    pub(super) async fn written(&mut self) -> Result<&mut Conn, StoreError> {
        self.be_sure().await?;
        self.kept.write(&mut self.conn, None).await?;
        self.changed |= self.own.write(&mut self.conn, None).await? != Wrote::Nothing;
        Ok(&mut self.conn)
    }

    /// To ask for something, part of which may not be written yet.
    pub(super) async fn written_if(
        &mut self,
        about: impl Fn(&Unwritten) -> bool,
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

    /// The piece that is being done changed a head.
    pub(super) fn has_changed_head(&self) -> bool {
        self.own.has_heads()
    }

    /// Whether a statement that was to leave the head so, and was never answered, is kept. To be asked behind the lock: if the server has yet
    /// to do it, it finds the head that is committed here, and keeps nothing.
    pub(super) async fn is_kept(&mut self, head: &Head) -> Result<bool, StoreError> {
        let noted = sqlx::query_scalar("SELECT hash FROM audit WHERE workspace = $1 AND revision = $2");
        let noted = noted.bind(&head.workspace).bind(integer(head.revision));
        let noted: Option<Option<Vec<u8>>> = noted.fetch_optional(self.ask()).await?;
        Ok(noted.is_some_and(|noted| noted == head.hash))
    }

    /// What a commit leaves this workspace as.
    pub(super) fn leaves(&self, workspace: &str) -> Option<Seen> {
        Some(Seen { head: self.known.get(workspace)?.clone(), at: self.at? })
    }

    /// Writes what is left, and commits. Where it never began, the one statement is a transaction of its own.
    pub(super) async fn commit(mut self) -> Result<(), NotCommitted> {
        let Some(foreseen) = self.foreseen.take() else {
            if let Err(error) = self.kept.write(&mut self.conn, None).await {
                return Err(NotCommitted::Written(self.conn, error));
            }
            fault::point("commit.ready");
            return self.conn.commit().await.map_err(|error| NotCommitted::Failed(error.into()));
        };
        fault::point("commit.ready");
        let said = match self.kept.write(&mut self.conn, Some(&foreseen)).await {
            Ok(Wrote::NotAsForeseen) => return Err(NotCommitted::Foreseen(self.conn)),
            Ok(_) => return self.conn.end(Ok(())).map_err(NotCommitted::Failed),
            Err(StoreError::Database(said)) => said,
            Err(error) => return Err(NotCommitted::Written(self.conn, error)),
        };
        let error = StoreError::Database(Arc::clone(&said));
        Err(match self.leaves(&foreseen.workspace) {
            Some(left) if is_broken(&said) => NotCommitted::Sent(error, Box::new(left)),
            // A key that somebody else used meanwhile.
            _ if code(&said).as_deref() == Some("23505") => NotCommitted::Foreseen(self.conn),
            _ => NotCommitted::Written(self.conn, error),
        })
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
