//! Opens databases and refuses those of other versions.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{AssertSqlSafe, Connection as _, SqlSafeStr as _};

use super::turn::Turn;
use super::words::Words;
use crate::fault;
use crate::private;

/// First statement of each write transaction: `pool.begin_with(sqlite::BEGIN)`.
pub const BEGIN: &str = "BEGIN IMMEDIATE";

/// Bytes to which SQLite truncates the write-ahead log when it restarts it.
const LOG_KEPT: &str = "16777216";
/// Bytes above which the log is emptied once no reader uses it.
const LOG_MAX: u64 = 64 << 20;
/// Time that a write waits for another program's lock.
const BUSY: Duration = Duration::from_secs(5);

#[derive(Clone, Debug)]
pub struct Database {
    path: PathBuf,
    /// One connection, so writers queue here and not in SQLite.
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
    #[error(
        "the database {0} has a second name (a hard link); two programs that open it by two names destroy it. Delete the other name, \
         or copy the file"
    )]
    Names(PathBuf),
    #[error("cannot open the database {path}: {}", Words(error))]
    Database { path: PathBuf, error: sqlx::Error },
    #[error(
        "the database {0} was not written by this version of placet; move it away and start again without what is in it, or run the \
         version that wrote it"
    )]
    OtherVersion(PathBuf),
    #[error(
        "the database {0} can only be read, and its log {0}-wal holds changes that are not in it yet; copy both to a folder of yours \
         and name the copy"
    )]
    Log(PathBuf),
}

/// Opens the database at `path`; if it is missing, creates it with mode 0600 and the tables of `migrations`. Concurrent
/// processes take turns, for at most a minute.
pub async fn open(path: &Path, migrations: &[&'static str]) -> Result<Database, OpenError> {
    let options = options(path);
    // Unit tests skip fsync to save time; `commits_are_synced_to_disk` and tests of the binary keep it.
    #[cfg(test)]
    let options = options.synchronous(SqliteSynchronous::Off);
    open_with(path, migrations, options).await
}

/// Tunes a read connection for lists of thousands of rows.
fn read_in_large_steps(options: SqliteConnectOptions) -> SqliteConnectOptions {
    options.row_buffer_size(1_024).pragma("cache_size", "-8192")
}

fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .foreign_keys(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .pragma("journal_size_limit", LOG_KEPT)
        .busy_timeout(BUSY)
}

async fn open_with(
    path: &Path,
    migrations: &[&'static str],
    options: SqliteConnectOptions,
) -> Result<Database, OpenError> {
    folder(path)?;
    let file = |error| OpenError::File { path: path.to_owned(), error };
    let _turn = Turn::at(path).await.map_err(file)?;
    create(path).map_err(file)?;
    let failed = |error| OpenError::Database { path: path.to_owned(), error };
    let write = SqlitePoolOptions::new()
        .max_connections(1)
        .test_before_acquire(false)
        // On a full disk SQLite rolls back by itself, but the driver still counts a transaction. Such a connection is
        // replaced, so that writing continues once there is space.
        .before_acquire(|connection, _| {
            let usable = !connection.is_in_transaction();
            Box::pin(async move { Ok(usable) })
        })
        .connect_with(options.clone().pragma("temp_store", "MEMORY"))
        .await
        .map_err(failed)?;
    fault::point("open.locked");
    migrate(path, &write, migrations).await?;
    fault::point("open.migrated");
    let read = SqlitePoolOptions::new()
        .max_connections(5)
        // There is no server that could disconnect, and each test is a round trip to the connection's thread.
        .test_before_acquire(false)
        .connect_with(read_in_large_steps(options.read_only(true)))
        .await
        .map_err(failed)?;
    Ok(Database { path: path.to_owned(), write, read })
}

/// Applies missing migrations to a database that is empty or has the first ones.
async fn migrate(path: &Path, write: &SqlitePool, migrations: &[&'static str]) -> Result<(), OpenError> {
    let failed = |error| OpenError::Database { path: path.to_owned(), error };
    let migrator = migrator(migrations);
    match applied(write).await.map_err(failed)? {
        Some(applied) if checksums(&migrator).starts_with(&applied) => {}
        _ => return Err(OpenError::OtherVersion(path.to_owned())),
    }
    migrator.run(write).await.map_err(|error| match error {
        MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => failed(error),
        _ => OpenError::OtherVersion(path.to_owned()),
    })
}

fn migrator(migrations: &[&'static str]) -> Migrator {
    let numbered = (1..).zip(migrations).map(|(version, sql)| {
        Migration::new(version, "".into(), MigrationType::Simple, sql.into_sql_str(), false)
    });
    Migrator::with_migrations(numbered.collect())
}

fn checksums(migrator: &Migrator) -> Vec<Vec<u8>> {
    migrator.iter().map(|migration| migration.checksum.to_vec()).collect()
}

/// Returns the checksums of the applied migrations; `None` if the tables belong to another program.
async fn applied(pool: &SqlitePool) -> sqlx::Result<Option<Vec<Vec<u8>>>> {
    const TABLES: &str = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*'";
    const APPLIED: &str = "SELECT checksum FROM _sqlx_migrations ORDER BY version";
    let tables: Vec<String> = sqlx::query_scalar(TABLES).fetch_all(pool).await?;
    if !tables.iter().any(|table| table == "_sqlx_migrations") {
        return Ok(tables.is_empty().then(Vec::new));
    }
    let applied: Vec<_> = sqlx::query_scalar(APPLIED).fetch_all(pool).await?;
    // A process that was killed during creation left a table without rows.
    Ok((!applied.is_empty() || tables.len() == 1).then_some(applied))
}

/// Opens a database with exactly `migrations` on read-only media. Writes nothing, not even next to it. Its log must be
/// empty.
pub async fn open_to_read(path: &Path, migrations: &[&'static str]) -> Result<Database, OpenError> {
    let database = read_with(path, unwritten(path)?).await?;
    database.is_at(migrations).await?;
    Ok(database)
}

/// Opens a database of any version without changing it. SQLite may create files next to it.
pub async fn open_unchanged(path: &Path) -> Result<Database, OpenError> {
    read_with(path, unchanged(path)?).await
}

async fn read_with(path: &Path, options: SqliteConnectOptions) -> Result<Database, OpenError> {
    let failed = |error| OpenError::Database { path: path.to_owned(), error };
    let read = SqlitePoolOptions::new().max_connections(4).connect_with(options).await.map_err(failed)?;
    Ok(Database { path: path.to_owned(), write: read.clone(), read })
}

/// Whether the database's folder is not writable, so that SQLite cannot open it as usual.
pub fn is_read_only(path: &Path) -> bool {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_err()
}

/// Options for a database without writers. Refuses a log that has changes, because they would be skipped.
fn unwritten(path: &Path) -> Result<SqliteConnectOptions, OpenError> {
    if log_length(path) > 0 {
        return Err(OpenError::Log(path.to_owned()));
    }
    Ok(SqliteConnectOptions::new().filename(path).read_only(true).immutable(true))
}

/// Options for reading a database that others may write to.
pub(super) fn unchanged(path: &Path) -> Result<SqliteConnectOptions, OpenError> {
    if is_read_only(path) {
        return unwritten(path);
    }
    Ok(SqliteConnectOptions::new().filename(path).read_only(true).busy_timeout(BUSY))
}

fn log_length(path: &Path) -> u64 {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    std::fs::metadata(log).map_or(0, |log| log.len())
}

impl Database {
    pub async fn is_at(&self, migrations: &[&'static str]) -> Result<(), OpenError> {
        let path = self.path.clone();
        match applied(&self.read).await {
            Ok(Some(applied)) if applied == checksums(&migrator(migrations)) => Ok(()),
            Ok(_) => Err(OpenError::OtherVersion(path)),
            Err(error) => Err(OpenError::Database { path, error }),
        }
    }

    /// Empties a log that is too long; SQLite does not while readers overlap. Waits for readers only briefly, the next
    /// call retries.
    pub async fn shorten_log(&self) -> Result<(), sqlx::Error> {
        if log_length(&self.path) <= LOG_MAX {
            return Ok(());
        }
        let mut connection = self.write.acquire().await?;
        sqlx::query("PRAGMA busy_timeout = 100").execute(&mut *connection).await?;
        let emptied = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut *connection).await;
        let waits = format!("PRAGMA busy_timeout = {}", BUSY.as_millis());
        sqlx::query(AssertSqlSafe(waits)).execute(&mut *connection).await?;
        emptied.map(drop)
    }

    /// Closes both pools after running statements have finished.
    pub async fn close(&self) {
        self.read.close().await;
        self.write.close().await;
    }
}

/// Creates the private folder. Refuses a symbolic link in the file's place and a file with two names.
fn folder(path: &Path) -> Result<(), OpenError> {
    if path.is_symlink() {
        return Err(OpenError::Link(path.to_owned()));
    }
    // SQLite names the log and locks after the file, so a second name would have separate ones.
    if path.metadata().is_ok_and(|file| file.nlink() > 1) {
        return Err(OpenError::Names(path.to_owned()));
    }
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        private::folder(folder).map_err(|error| OpenError::Folder { path: folder.to_owned(), error })?;
    }
    Ok(())
}

/// Creates the file with mode 0600, because SQLite would leave its mode to the umask.
///
/// Does not open an existing file: closing it would release SQLite's locks of this whole process.
fn create(path: &Path) -> std::io::Result<()> {
    match private::options().create_new(true).write(true).open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        created => created.map(drop),
    }
}

#[cfg(test)]
mod tests {
    use sqlx::ConnectOptions as _;

    use super::*;
    use crate::sqlite::is_usual;

    const V1: &str = "CREATE TABLE t (a TEXT) STRICT";

    #[tokio::test]
    async fn a_database_is_private_and_keeps_its_rows() {
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

    /// A lower `synchronous` setting is faster, but loses the last commits on a power cut.
    #[tokio::test]
    async fn commits_are_synced_to_disk() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let database = open_with(&path, &[V1], options(&path)).await.unwrap();

        let (mode, full): (String, i64) =
            sqlx::query_as("SELECT journal_mode, synchronous FROM pragma_journal_mode, pragma_synchronous")
                .fetch_one(&database.write)
                .await
                .unwrap();

        assert_eq!((mode.as_str(), full), ("wal", 2));
    }

    #[tokio::test]
    async fn writing_continues_after_a_full_disk_has_space() {
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

    #[tokio::test]
    async fn a_hard_link_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (real, other) = (folder.path().join("real.db"), folder.path().join("other.db"));
        let first = open(&real, &[V1]).await.unwrap();
        std::fs::hard_link(&real, &other).unwrap();

        let second = open(&other, &[V1]).await.unwrap_err();

        assert!(matches!(second, OpenError::Names(_)), "{second}");
        assert!(!folder.path().join("other.db-wal").exists());
        sqlx::query("INSERT INTO t VALUES ('goes on')").execute(&first.write).await.unwrap();
    }

    #[tokio::test]
    async fn a_database_of_another_version_is_refused() {
        const V2: &str = "CREATE TABLE u (a TEXT) STRICT";
        let folder = tempfile::tempdir().unwrap();
        // A later version, an edited one, one without its record, another program's, and other tables.
        for (nth, (written, sql)) in [
            (vec![V1, V2], "SELECT 1"),
            (vec!["CREATE TABLE t (a ANY) STRICT"], "SELECT 1"),
            (vec![V1], "DELETE FROM _sqlx_migrations"),
            (vec![V1], "DROP TABLE _sqlx_migrations"),
            (vec![V1], "UPDATE _sqlx_migrations SET checksum = x'00'"),
        ]
        .into_iter()
        .enumerate()
        {
            let path = folder.path().join(format!("{nth}.db"));
            let database = open(&path, &written).await.unwrap();
            sqlx::query(sql).execute(&database.write).await.unwrap();
            database.close().await;

            for refused in [open(&path, &[V1]).await, open_to_read(&path, &[V1]).await] {
                let said = refused.unwrap_err().to_string();
                assert!(
                    said.contains("not written by this version of placet; move it away and start again"),
                    "{said}"
                );
            }
            let database = open_unchanged(&path).await.unwrap();
            let tables: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM sqlite_master WHERE type = 'table'")
                .fetch_one(&database.read)
                .await
                .unwrap();
            assert_eq!(
                tables,
                if nth == 0 {
                    3
                } else if nth == 3 {
                    1
                } else {
                    2
                },
                "{nth}"
            );
        }
    }

    #[tokio::test]
    async fn an_opening_killed_before_its_tables_is_resumed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        open(&path, &[]).await.unwrap().close().await;

        open(&path, &[V1]).await.unwrap().close().await;

        open_to_read(&path, &[V1]).await.unwrap();
    }

    #[tokio::test]
    async fn a_read_only_database_is_opened_without_writes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let database = open(&path, &[V1]).await.unwrap();
        sqlx::query("INSERT INTO t VALUES ('kept')").execute(&database.write).await.unwrap();

        let unfinished = open_to_read(&path, &[V1]).await.unwrap_err();
        database.close().await;
        for entry in std::fs::read_dir(folder.path()).unwrap() {
            let entry = entry.unwrap().path();
            if entry != path {
                std::fs::remove_file(entry).unwrap();
            }
        }
        let database = open_to_read(&path, &[V1]).await.unwrap();
        let kept: String = sqlx::query_scalar("SELECT a FROM t").fetch_one(&database.read).await.unwrap();
        let refused = sqlx::query("INSERT INTO t VALUES ('new')").execute(&database.write).await.unwrap_err();

        assert!(matches!(unfinished, OpenError::Log(_)), "{unfinished}");
        assert_eq!(kept, "kept");
        assert!(Words(&refused).to_string().contains("read-only"), "{}", Words(&refused));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[tokio::test]
    async fn a_long_log_is_emptied_after_its_reader_leaves() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let database = open(&path, &[V1]).await.unwrap();
        let insert = async |megabytes: usize| {
            let long = "x".repeat(megabytes << 20);
            sqlx::query("INSERT INTO t VALUES (?)").bind(long).execute(&database.write).await.unwrap();
        };
        insert(1).await;
        let mut reader = database.read.begin_with("BEGIN").await.unwrap();
        sqlx::query("SELECT COUNT(*) FROM t").execute(&mut *reader).await.unwrap();
        for _ in 0..3 {
            insert(32).await;
        }

        database.shorten_log().await.unwrap();
        let beside_a_reader = log_length(&path);
        reader.rollback().await.unwrap();
        database.shorten_log().await.unwrap();

        assert!(beside_a_reader > LOG_MAX, "{beside_a_reader}");
        assert_eq!(log_length(&path), 0);
        insert(1).await;
    }

    #[tokio::test]
    async fn a_lock_and_a_full_disk_have_plain_messages() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let database = open(&path, &[V1]).await.unwrap();
        let mut connection = database.write.acquire().await.unwrap();
        let other = SqliteConnectOptions::new().filename(&path).connect().await;
        let mut other = other.unwrap();
        sqlx::query("BEGIN IMMEDIATE").execute(&mut other).await.unwrap();
        sqlx::query("PRAGMA busy_timeout = 0").execute(&mut *connection).await.unwrap();

        let locked = sqlx::query("INSERT INTO t VALUES ('x')").execute(&mut *connection).await.unwrap_err();
        sqlx::query("ROLLBACK").execute(&mut other).await.unwrap();
        sqlx::query("PRAGMA max_page_count = 5").execute(&mut *connection).await.unwrap();
        let long = "x".repeat(1 << 20);
        let full =
            sqlx::query("INSERT INTO t VALUES (?)").bind(long).execute(&mut *connection).await.unwrap_err();

        assert!(Words(&locked).to_string().contains("another program has locked it"), "{locked}");
        assert!(Words(&full).to_string().contains("the disk is full"), "{full}");
        assert!([&locked, &full].iter().all(|error| is_usual(&Words(error).to_string())));
    }
}
