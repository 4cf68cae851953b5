//! The gate's memory in SQLite: one group-committing writer, readers beside it.

mod approvals;
mod audit;
mod callbacks;
mod claims;
mod due;
mod flows;
mod outstanding;
mod packed;
mod prune;
mod read;
#[cfg(test)]
mod tests;
mod tokens;
mod tx;
mod verify;
mod which;
mod write;
mod writer;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use async_trait::async_trait;
use sqlx::SqlitePool;
use sqlx::error::ErrorKind;
use tokio::sync::Mutex;
use tokio::time::Instant;

pub(super) use self::audit::heads;
use self::tokens::Lookups;
pub(super) use self::verify::verify;
use self::writer::Writer;
use super::context::Context;
use super::ops::tx::Due;
use super::ops::{Transact, Work};
use super::{
    AskedFlows, Batches, Callback, Census, Changes, Checkpoint, Counts, Filter, Page, PageEnd, Prunable,
    Reads, StoreError, Stored, TakeRow, Waiting, piece,
};
use crate::contract::briefing::BriefingBody;
use crate::domain::{Claim, Flows, Outstanding, PendingAction, Timestamp};
use crate::gate::audit::{AuditHead, AuditRow, Verified};
use crate::gate::clock::Clock;
use crate::gate::token::Token;
use crate::gate::tool::Tools;
use crate::gate::which::Which;
use crate::sqlite::{self, Database, OpenError};

pub(super) const MIGRATIONS: [&str; 1] = [include_str!("../../../../assets/migrations/gate/0001_gate.sql")];

/// One database file.
#[derive(Debug)]
pub(crate) struct SqliteStore {
    database: Database,
    writer: Writer,
    tokens: Lookups,
    clock: Clock,
    tools: Arc<Tools>,
    /// When writing was last tried for its own sake or was refused, and how it failed.
    tried: Mutex<Option<(Instant, Option<String>)>>,
    /// The folder of the database.
    folder: PathBuf,
}

/// For so long it is believed how the last write went.
const TRIED: Duration = Duration::from_secs(5);
/// After a refused write there must be so much room again: a small write may find some that others do not. Bytes.
const ROOM: usize = 1 << 20;

impl SqliteStore {
    /// Opens the file, brings it up to date and starts the writer.
    pub(crate) async fn open(path: &Path, context: Context) -> Result<Self, OpenError> {
        Ok(Self::over(sqlite::open(path, &MIGRATIONS).await?, path, context))
    }

    /// Opens a file that can only be read, and writes nothing.
    pub(crate) async fn open_to_read(path: &Path, context: Context) -> Result<Self, OpenError> {
        Ok(Self::over(sqlite::open_to_read(path, &MIGRATIONS).await?, path, context))
    }

    fn over(database: Database, path: &Path, context: Context) -> Self {
        let (clock, tools) = (context.clock.clone(), Arc::clone(&context.tools));
        let writer = Writer::start(database.write.clone(), context);
        let folder =
            path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned();
        Self { database, writer, tokens: Lookups::default(), clock, tools, tried: Mutex::default(), folder }
    }

    /// Why nothing can be written now. `before` is how the last write failed: then there must be [`ROOM`], too.
    async fn why_not(&self, before: Option<String>) -> Option<String> {
        if let Err(error) = self.try_to_write().await {
            return Some(why(&error));
        }
        let (why, folder) = (before?, self.folder.clone());
        let room = tokio::task::spawn_blocking(move || {
            let mut file = tempfile::tempfile_in(folder)?;
            file.write_all(&vec![b'x'; ROOM])?;
            file.sync_all()
        });
        (!matches!(room.await, Ok(Ok(())))).then_some(why)
    }

    /// Writes something that changes nothing: the number of a version that nobody reads.
    async fn try_to_write(&self) -> Result<(), StoreError> {
        self.writer
            .run(|tx| {
                Box::pin(async move {
                    sqlx::query("PRAGMA user_version = 1").execute(tx.conn().await?).await?;
                    Ok(())
                })
            })
            .await
    }

    fn reader(&self) -> &SqlitePool {
        &self.database.read
    }
}

/// In words that a client may read.
fn why(error: &StoreError) -> String {
    match error {
        StoreError::Commit(why) => why.clone(),
        StoreError::Database(error) => sqlite::Words(error).to_string(),
        other => other.to_string(),
    }
}

/// Whether the next write may fail in the same way. A constraint, or a row that cannot be read, concerns one request only.
fn refuses_writes(error: &StoreError) -> bool {
    match error {
        StoreError::Commit(_) => true,
        StoreError::Database(error) => {
            error.as_database_error().is_some_and(|it| matches!(it.kind(), ErrorKind::Other))
        }
        _ => false,
    }
}

impl Transact for SqliteStore {
    /// Nobody has to wait for a turn: there is one writer.
    async fn transact<A, T>(&self, _: &str, given: A, work: Work<A, T>) -> Result<T, StoreError>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
    {
        let done = self.writer.run(piece::on(given, work)).await;
        if let Err(error) = &done
            && refuses_writes(error)
        {
            *self.tried.lock().await = Some((Instant::now(), Some(why(error))));
        }
        done
    }

    fn tools(&self) -> &Tools {
        &self.tools
    }

    async fn now(&self) -> Result<Timestamp, StoreError> {
        Ok(self.clock.now())
    }

    async fn due_in(&self, due: &Due) -> Result<Vec<String>, StoreError> {
        due::workspaces(self.reader(), due, self.clock.now()).await
    }
}

#[async_trait]
impl Reads for SqliteStore {
    async fn approved(
        &self,
        tools: &Which,
        full: &[String],
        after: i64,
        limit: u32,
        now: Timestamp,
    ) -> Result<Vec<Waiting>, StoreError> {
        read::approved(self.reader(), (tools, full), after, limit, now).await
    }

    async fn lapsing(&self, counts: &Counts) -> Result<u64, StoreError> {
        due::lapsing(self.reader(), counts, &self.tools, self.clock.now()).await
    }

    async fn settled(
        &self,
        workspace: &str,
        before: Timestamp,
        limit: u32,
        bytes: u64,
    ) -> Result<Vec<Prunable>, StoreError> {
        prune::settled(self.reader(), workspace, before, (limit, bytes), &self.tools).await
    }

    async fn get(&self, id: &str) -> Result<Option<Stored>, StoreError> {
        read::get(self.reader(), id, &self.tools).await
    }

    async fn was_there(&self, id: &str) -> Result<Option<String>, StoreError> {
        prune::was_there(self.reader(), id).await
    }

    async fn rows(&self, filter: &Filter, take: &mut TakeRow<'_>) -> Result<PageEnd, StoreError> {
        read::rows(self.reader(), filter, &self.tools, take).await
    }

    async fn actions(&self, filter: &Filter) -> Result<Page<PendingAction>, StoreError> {
        read::actions(self.reader(), filter, &self.tools).await
    }

    async fn changes(
        &self,
        workspace: &str,
        since: u64,
        limit: u32,
        bytes: u64,
    ) -> Result<Changes, StoreError> {
        read::changes(self.reader(), (workspace, since), (limit, bytes), &self.tools).await
    }

    async fn revision(&self, workspace: &str) -> Result<u64, StoreError> {
        read::revision(self.reader(), workspace).await
    }

    async fn briefing(&self, counts: &Counts, batches: Batches) -> Result<BriefingBody, StoreError> {
        let lapsing = self.lapsing(counts).await?;
        let ran_other = due::ran_other(self.reader(), counts, self.clock.now()).await?;
        Ok(BriefingBody {
            lapsing,
            ran_other,
            ..outstanding::briefing(self.reader(), counts, batches).await?
        })
    }

    async fn checkpoints(
        &self,
        workspace: &str,
        mission: Option<&str>,
    ) -> Result<Vec<Checkpoint>, StoreError> {
        outstanding::checkpoints(self.reader(), workspace, mission).await
    }

    async fn beginning(&self, prefix: &str, limit: u32) -> Result<Vec<String>, StoreError> {
        read::beginning(self.reader(), prefix, limit).await
    }

    async fn outstanding(&self, workspace: &str) -> Result<Outstanding, StoreError> {
        outstanding::totals(self.reader(), workspace).await
    }

    async fn flows(&self, asked: &AskedFlows) -> Result<Flows, StoreError> {
        flows::read(self.reader(), asked).await
    }

    async fn timeline(&self, id: &str) -> Result<Vec<AuditRow>, StoreError> {
        audit::timeline(self.reader(), id).await
    }

    async fn claims(&self, workspace: &str) -> Result<Vec<Claim>, StoreError> {
        claims::all(self.reader(), workspace, self.clock.now()).await
    }

    async fn callbacks(&self, most: u32) -> Result<Vec<Callback>, StoreError> {
        callbacks::newest(self.reader(), most).await
    }

    async fn paused(&self, workspace: &str) -> Result<Option<Timestamp>, StoreError> {
        let mut conn = self.reader().acquire().await?;
        read::paused_since(&mut conn, workspace).await
    }

    async fn audit(&self, workspace: &str, since: u64, limit: u32) -> Result<Vec<AuditRow>, StoreError> {
        audit::rows(self.reader(), workspace, since, limit).await
    }

    async fn audit_heads(&self, workspace: Option<&str>) -> Result<Vec<AuditHead>, StoreError> {
        let mut conn = self.reader().acquire().await?;
        heads(&mut conn, workspace).await
    }

    async fn verify_counting(&self, kept: &[AuditHead], read: &AtomicU64) -> Result<Verified, StoreError> {
        verify(self.reader(), kept, read).await
    }

    async fn census(&self, workspace: &str) -> Result<Census, StoreError> {
        read::census(self.reader(), workspace).await
    }

    async fn ping(&self) -> Result<(), StoreError> {
        sqlx::query("SELECT 1").execute(self.reader()).await?;
        let mut tried = self.tried.lock().await;
        let failure = match &*tried {
            Some((at, failure)) if at.elapsed() < TRIED => failure.clone(),
            before => {
                let failure = self.why_not(before.as_ref().and_then(|(_, failure)| failure.clone())).await;
                *tried = Some((Instant::now(), failure.clone()));
                failure
            }
        };
        failure.map_or(Ok(()), |why| Err(StoreError::Commit(why)))
    }

    async fn shorten_log(&self) -> Result<(), StoreError> {
        Ok(self.database.shorten_log().await?)
    }

    async fn token(&self, hash: &[u8], now: Timestamp) -> Result<Option<Token>, StoreError> {
        self.tokens.by_hash(self.reader(), hash, now).await
    }

    async fn tokens(&self) -> Result<Vec<Token>, StoreError> {
        tokens::all(self.reader()).await
    }

    async fn proxied(&self, workspace: &str) -> Result<Vec<Token>, StoreError> {
        tokens::proxied(self.reader(), workspace).await
    }

    async fn close(&self) {
        self.writer.stop().await;
        self.tokens.close().await;
        self.database.close().await;
    }
}
