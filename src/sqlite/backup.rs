//! Copies a database to a new file, consistently, while others write to it.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};
use tempfile::NamedTempFile;

use super::database::{OpenError, unchanged};
use super::words::Words;

const LOOK: Duration = Duration::from_millis(100);

#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    #[error("{0} is there already; a backup never replaces a file, give another name")]
    Exists(PathBuf),
    #[error("cannot read the database {path}: {}", Words(error))]
    Database { path: PathBuf, error: sqlx::Error },
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error("cannot write {path}: {error}; is the folder there and yours, and is there room?")]
    File { path: PathBuf, error: io::Error },
}

/// Copies the database at `path`, as of one moment, to the new file `to` with mode 0600. Returns its size in bytes.
///
/// Does not block readers or writers. The copy is synced before it gets its name. An existing `to` is refused. `copied`
/// receives the bytes written so far.
pub async fn backup(path: &Path, to: &Path, copied: &AtomicU64) -> Result<u64, BackupError> {
    if to.symlink_metadata().is_ok() {
        return Err(BackupError::Exists(to.to_owned()));
    }
    let failed = |error| BackupError::File { path: to.to_owned(), error };
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Removed on drop unless it gets its name.
    let part = tempfile::Builder::new().prefix(".").suffix(".part").tempfile_in(folder).map_err(failed)?;
    let ended = watched(vacuum(unchanged(path)?, part.path()), part.as_file(), copied).await;
    ended.map_err(|error| BackupError::Database { path: path.to_owned(), error })?;
    name(part, to, folder).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => BackupError::Exists(to.to_owned()),
        _ => failed(error),
    })
}

async fn watched<T>(copying: impl Future<Output = T>, file: &File, copied: &AtomicU64) -> T {
    let mut copying = std::pin::pin!(copying);
    loop {
        tokio::select! {
            ended = &mut copying => return ended,
            () = tokio::time::sleep(LOOK) => {
                copied.store(file.metadata().map_or(0, |it| it.len()), Ordering::Relaxed);
            }
        }
    }
}

/// Syncs the file, names it, then syncs its folder. Does not replace a file that appeared since the first check.
fn name(part: NamedTempFile, to: &Path, folder: &Path) -> io::Result<u64> {
    part.as_file().sync_all()?;
    let bytes = part.as_file().metadata()?.len();
    part.persist_noclobber(to)?;
    File::open(folder)?.sync_all()?;
    Ok(bytes)
}

/// Copies into an existing empty file, which SQLite accepts, so the mode is set before the content.
async fn vacuum(options: SqliteConnectOptions, into: &Path) -> Result<(), sqlx::Error> {
    let mut connection = options.connect().await?;
    let into = into.to_str().ok_or_else(|| sqlx::Error::Configuration("a path that is no UTF-8".into()))?;
    sqlx::query("VACUUM INTO ?1").bind(into).execute(&mut connection).await?;
    connection.close().await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::open;

    #[tokio::test]
    async fn a_backup_never_replaces_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let (path, to) = (folder.path().join("x.db"), folder.path().join("copy"));
        open(&path, &["CREATE TABLE t (a TEXT) STRICT"]).await.unwrap().close().await;
        std::fs::write(&to, "mine").unwrap();

        let none = &AtomicU64::new(0);
        let refused = backup(&path, &to, none).await;
        let nowhere = backup(&path, &folder.path().join("no/such/folder"), none).await;
        let nothing = backup(&folder.path().join("none.db"), &folder.path().join("new"), none).await;

        assert!(matches!(refused, Err(BackupError::Exists(_))));
        assert!(matches!(nowhere, Err(BackupError::File { .. })));
        assert!(matches!(nothing, Err(BackupError::Database { .. })));
        assert_eq!(std::fs::read_to_string(&to).unwrap(), "mine");
        let left = std::fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().file_name());
        let left: Vec<_> = left.filter(|name| !name.to_string_lossy().starts_with("x.db")).collect();
        assert_eq!(left, ["copy"]);
    }
}
