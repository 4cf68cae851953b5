//! The store on SQLite: one writer that commits in groups, and parallel readers.
//!
//! `writer.rs` runs up to 256 jobs in one transaction (`tx.rs`), because a commit costs one `fsync`; `write.rs` writes the
//! buffered rows at the end. A job that wrote something itself has a savepoint. If a group cannot be written, each job
//! runs alone. The heads of the last group are remembered; if another process changed one, the audit's key refuses the
//! group, and it runs again. `list.rs` reads lists as packed text, `lookups.rs` the tokens of many requests at once.
//!
//! Tried before: a statement for each row, eight for a proposal; a view whose triggers took rows of all tables, faster
//! with a few clients and hard to read. Drawback: all workspaces wait for one writer.

mod dialect;
mod list;
mod lookups;
mod packed;
#[cfg(test)]
mod tests;
mod tx;
mod verify;
mod write;
mod writer;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use async_trait::async_trait;
use sqlx::error::ErrorKind;
use sqlx::{SqliteConnection, SqlitePool};
use tokio::sync::Mutex;
use tokio::time::Instant;

use self::lookups::Lookups;
pub(super) use self::verify::verify;
use self::writer::Writer;
use super::context::Context;
use super::ops::tx::Due;
use super::ops::{Transact, Work};
use super::sql::ask::{Ask, Question};
use super::sql::due;
use super::sql::tx::Transaction as _;
use super::{Filter, PageEnd, Store, StoreError, TakeRow, piece};
use crate::domain::Timestamp;
use crate::gate::audit::{AuditHead, Verified};
use crate::gate::clock::Clock;
use crate::gate::token::Token;
use crate::gate::tool::Tools;
use crate::sqlite::{self, Database, OpenError};

pub(super) const MIGRATIONS: [&str; 1] = [include_str!("../../../../assets/migrations/gate/0001_gate.sql")];

#[derive(Debug)]
pub(crate) struct SqliteStore {
    database: Database,
    writer: Writer,
    lookups: Lookups,
    clock: Clock,
    tools: Arc<Tools>,
    tried: Mutex<Option<(Instant, Option<String>)>>,
    folder: PathBuf,
}

const TRIED: Duration = Duration::from_secs(5);
/// Free bytes required after a refused write. A small test write may still succeed on a nearly full disk.
const ROOM: usize = 1 << 20;

impl SqliteStore {
    pub(crate) async fn open(path: &Path, context: Context) -> Result<Self, OpenError> {
        Ok(Self::over(sqlite::open(path, &MIGRATIONS).await?, path, context))
    }

    pub(crate) async fn open_to_read(path: &Path, context: Context) -> Result<Self, OpenError> {
        Ok(Self::over(sqlite::open_to_read(path, &MIGRATIONS).await?, path, context))
    }

    fn over(database: Database, path: &Path, context: Context) -> Self {
        let (clock, tools) = (context.clock.clone(), Arc::clone(&context.tools));
        let writer = Writer::start(database.write.clone(), context);
        let folder =
            path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned();
        Self { database, writer, lookups: Lookups::default(), clock, tools, tried: Mutex::default(), folder }
    }

    /// Returns why writing fails now. If the last write failed (`before`), [`ROOM`] must be free, too.
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

    /// Writes an unused version number.
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

fn why(error: &StoreError) -> String {
    match error {
        StoreError::Commit(why) => why.clone(),
        StoreError::Database(error) => sqlite::Words(error).to_string(),
        other => other.to_string(),
    }
}

/// Returns true if the next write may fail in the same way. A constraint, or a corrupt row, concerns one request only.
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
    /// There is one writer for all workspaces.
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
        due::workspaces(&mut *self.reader().acquire().await?, due, self.clock.now()).await
    }
}

impl Ask for SqliteStore {
    type Conn = SqliteConnection;

    async fn ask<A: Sync, T: Send>(
        &self,
        given: &A,
        question: Question<SqliteConnection, A, T>,
    ) -> Result<T, StoreError> {
        let mut conn = self.reader().acquire().await?;
        question(&mut conn, given).await
    }

    async fn ask_of_one_moment<A: Sync, T: Send>(
        &self,
        given: &A,
        questions: Question<SqliteConnection, A, T>,
    ) -> Result<T, StoreError> {
        let mut tx = self.reader().begin_with("BEGIN").await?;
        questions(&mut tx, given).await
    }

    async fn moment(&self, _: &mut SqliteConnection) -> Result<Timestamp, StoreError> {
        Ok(self.clock.now())
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn rows(&self, filter: &Filter, take: &mut TakeRow<'_>) -> Result<PageEnd, StoreError> {
        list::rows(self.reader(), filter, &self.tools, take).await
    }

    async fn verify_counting(&self, kept: &[AuditHead], read: &AtomicU64) -> Result<Verified, StoreError> {
        verify(self.reader(), kept, read).await
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
        self.lookups.by_hash(self.reader(), hash, now).await
    }

    async fn close(&self) {
        self.writer.stop().await;
        self.lookups.close().await;
        self.database.close().await;
    }
}
