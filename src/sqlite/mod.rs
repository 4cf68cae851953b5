//! Opening a SQLite database so that what is acknowledged is on disk: WAL, `synchronous=FULL`, one writer.
//!
//! Write transactions start with [`BEGIN`]: a deferred one that reads before it writes fails at once with code 517 when
//! another writer was faster, whatever the busy timeout says.

mod backup;
mod turn;

use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{Connection as _, SqlSafeStr as _};

pub use self::backup::{BackupError, backup};
use self::turn::Turn;
use crate::fault;
use crate::private;

/// How every write transaction begins: `pool.begin_with(sqlite::BEGIN)`.
pub const BEGIN: &str = "BEGIN IMMEDIATE";

/// Two pools on one database.
#[derive(Clone, Debug)]
pub struct Database {
    /// One connection: writers wait for each other here and not in SQLite.
    pub write: SqlitePool,
    pub read: SqlitePool,
}

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("cannot create the folder {path}: {error}")]
    Folder { path: PathBuf, error: std::io::Error },
    #[error("cannot write the database {path}: {error}; check that its folder is yours and writable")]
    File { path: PathBuf, error: std::io::Error },
    #[error("{0} is a symbolic link; a database is never opened through one")]
    Link(PathBuf),
    #[error("cannot open the database {path}: {error}")]
    Database { path: PathBuf, error: sqlx::Error },
    #[error("the database {path} is of another version, or damaged: {error}")]
    Migration { path: PathBuf, error: sqlx::migrate::MigrateError },
}

/// Opens the database at `path`, creates it with mode 0600 when it is missing, and brings it to the newest of `migrations`
/// (append-only: the first has number 1). Any number of processes may do so at once: they take turns, for at most a minute.
pub async fn open(path: &Path, migrations: &[&'static str]) -> Result<Database, OpenError> {
    folder(path)?;
    let file = |error| OpenError::File { path: path.to_owned(), error };
    let _turn = Turn::at(path).await.map_err(file)?;
    create(path).map_err(file)?;
    let failed = |error| OpenError::Database { path: path.to_owned(), error };
    let options = SqliteConnectOptions::new()
        .filename(path)
        .foreign_keys(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(Duration::from_secs(5));
    let write = SqlitePoolOptions::new()
        .max_connections(1)
        // When the disk is full SQLite rolls back by itself, and the driver then counts a transaction that is not there, for ever.
        // Such a connection is closed and replaced, so that writing goes on when there is room again.
        .before_acquire(|connection, _| {
            let usable = !connection.is_in_transaction();
            Box::pin(async move { Ok(usable) })
        })
        .connect_with(options.clone())
        .await
        .map_err(failed)?;
    fault::point("open.locked");
    let numbered = (1..).zip(migrations).map(|(version, sql)| {
        Migration::new(version, "".into(), MigrationType::Simple, sql.into_sql_str(), false)
    });
    Migrator::with_migrations(numbered.collect())
        .run(&write)
        .await
        .map_err(|error| OpenError::Migration { path: path.to_owned(), error })?;
    fault::point("open.migrated");
    let read = SqlitePoolOptions::new()
        .max_connections(4)
        .connect_with(options.read_only(true))
        .await
        .map_err(failed)?;
    Ok(Database { write, read })
}

impl Database {
    /// Closes both pools; waits for what is under way.
    pub async fn close(&self) {
        self.read.close().await;
        self.write.close().await;
    }
}

/// Creates the folder, which is its owner's alone. A link in the file's place is refused.
fn folder(path: &Path) -> Result<(), OpenError> {
    if path.is_symlink() {
        return Err(OpenError::Link(path.to_owned()));
    }
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        private::folder(folder).map_err(|error| OpenError::Folder { path: folder.to_owned(), error })?;
    }
    Ok(())
}

/// Creates the file with mode 0600 before SQLite does, since it would leave that to the umask.
///
/// A file that is there is not opened: closing it again would take SQLite's locks on it from this whole process.
fn create(path: &Path) -> std::io::Result<()> {
    match private::options().create_new(true).write(true).open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        created => created.map(drop),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const V1: &str = "CREATE TABLE t (a TEXT) STRICT";

    #[tokio::test]
    async fn a_database_is_made_private_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/x.db");

        let database = open(&path, &[V1]).await.unwrap();
        sqlx::query("INSERT INTO t VALUES ('kept')").execute(&database.write).await.unwrap();
        database.close().await;
        let database = open(&path, &[V1, "ALTER TABLE t ADD COLUMN b TEXT"]).await.unwrap();
        let kept: (String, Option<String>) =
            sqlx::query_as("SELECT a, b FROM t").fetch_one(&database.read).await.unwrap();

        assert_eq!(kept, ("kept".to_owned(), None));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            for file in ["x.db", "x.db-wal"] {
                let mode = std::fs::metadata(path.with_file_name(file)).unwrap().permissions().mode();
                assert_eq!(mode & 0o077, 0, "{file}");
            }
        }
    }

    /// Less would be faster, and lose the last commits when the power goes.
    #[tokio::test]
    async fn what_is_committed_is_on_disk() {
        let folder = tempfile::tempdir().unwrap();
        let database = open(&folder.path().join("x.db"), &[V1]).await.unwrap();

        let (mode, full): (String, i64) =
            sqlx::query_as("SELECT journal_mode, synchronous FROM pragma_journal_mode, pragma_synchronous")
                .fetch_one(&database.write)
                .await
                .unwrap();

        assert_eq!((mode.as_str(), full), ("wal", 2));
    }

    #[tokio::test]
    async fn writing_goes_on_when_a_full_disk_has_room_again() {
        let folder = tempfile::tempdir().unwrap();
        let database = open(&folder.path().join("x.db"), &[V1]).await.unwrap();
        let insert = async |size: usize| {
            let mut tx = database.write.begin_with(BEGIN).await?;
            sqlx::query("INSERT INTO t VALUES (?)").bind("x".repeat(size)).execute(&mut *tx).await?;
            tx.commit().await
        };

        sqlx::query("PRAGMA max_page_count = 10").execute(&database.write).await.unwrap();
        let full = insert(1_000_000).await;
        let again = insert(1_000_000).await;
        sqlx::query("PRAGMA max_page_count = 1000000").execute(&database.write).await.unwrap();

        assert!(full.unwrap_err().to_string().contains("full"));
        drop(again);
        insert(1_000_000).await.unwrap();
    }

    #[tokio::test]
    async fn a_link_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real.db"), folder.path().join("link.db"));
        std::fs::write(&real, "").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();

        assert!(matches!(open(&link, &[]).await, Err(OpenError::Link(_))));
    }
}
