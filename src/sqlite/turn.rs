//! Serialises the opening of a database. SQLite's switch to WAL fails at once if another process opens the file, and
//! sqlx would run a migration twice.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::private;

/// Time to wait for another opener; a migration of a large database takes longest.
const LIMIT: Duration = Duration::from_mins(1);
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// The right to open and migrate, until dropped. The system releases it when the process ends.
///
/// A separate file, because a lock on the database file would interfere with SQLite's.
#[derive(Debug)]
pub(super) struct Turn {
    _lock: File,
}

impl Turn {
    /// Waits for the turn at the database `path`, at most a minute.
    pub(super) async fn at(path: &Path) -> io::Result<Self> {
        let lock = private::options().create(true).truncate(false).write(true).open(beside(path))?;
        let deadline = Instant::now() + LIMIT;
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(Self { _lock: lock }),
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) if Instant::now() >= deadline => {
                    return Err(io::Error::other("another process has been opening it for a minute"));
                }
                Err(TryLockError::WouldBlock) => sleep(LOOK_AGAIN).await,
            }
        }
    }
}

/// `x.db` → `x.db-open`. Never deleted: deleting a lock file breaks the lock for waiting processes.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-open");
    name.into()
}

#[cfg(test)]
mod tests {
    use futures_util::future::join_all;

    use crate::rounds::rounds;
    use crate::sqlite::{BEGIN, open};

    const ROUNDS: u32 = 20;
    const AT_ONCE: usize = 12;

    /// Running either twice would fail.
    const MIGRATIONS: [&str; 2] = [
        "CREATE TABLE t (a INTEGER) STRICT",
        "ALTER TABLE t ADD COLUMN b TEXT; INSERT INTO t VALUES (0, 'once')",
    ];

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn many_openers_share_a_new_database() {
        for _ in 0..rounds(6, ROUNDS) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("new/x.db");
            let opening = (0..AT_ONCE).map(|n| {
                let path = path.clone();
                tokio::spawn(async move {
                    // Every third one is an older version.
                    let known = if n % 3 == 0 { &MIGRATIONS[..1] } else { &MIGRATIONS[..] };
                    let database = match open(&path, known).await {
                        Err(error) if known.len() == 1 => {
                            return assert!(error.to_string().contains("this version"), "{error}");
                        }
                        opened => opened.unwrap(),
                    };
                    let mut tx = database.write.begin_with(BEGIN).await.unwrap();
                    sqlx::query("INSERT INTO t (a) VALUES (1)").execute(&mut *tx).await.unwrap();
                    tx.commit().await.unwrap();
                    database.close().await;
                })
            });
            for done in join_all(opening).await {
                done.unwrap();
            }
            let database = open(&path, &MIGRATIONS).await.unwrap();
            let (once, all): (i64, i64) =
                sqlx::query_as("SELECT COUNT(b), COUNT(*) FROM t").fetch_one(&database.read).await.unwrap();
            assert!(once == 1 && all > (AT_ONCE as i64 * 2 / 3), "{once} of {all}");
            database.close().await;
        }
    }
}
