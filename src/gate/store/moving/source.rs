//! The SQLite file that is moved. Read-only, in one snapshot.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use futures_util::TryStreamExt as _;
use sha2::{Digest as _, Sha256};
use sqlx::sqlite::{SqlitePool, SqliteRow};
use sqlx::{Row as _, Sqlite, Transaction};

use super::sides::{Key, KeyPart, MoveError, Summary, counted};
use super::tables::{TABLES, Table};
use super::tuple::{self, Texts};
use crate::gate::audit::{AuditHead, Verified};
use crate::gate::store::sql::audit::heads;
use crate::gate::store::sqlite::{self as kept, MIGRATIONS};
use crate::sqlite;

const NAMED: usize = 20;

#[derive(Debug)]
pub(super) struct Source {
    path: PathBuf,
    pool: SqlitePool,
    /// Everything is read in this transaction, so all of it is one snapshot.
    snapshot: Transaction<'static, Sqlite>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'a> {
    pub(super) table: &'static Table,
    /// `None` to begin with the first row.
    pub(super) after: Option<&'a Key>,
    pub(super) rows: i64,
}

impl Source {
    pub(super) async fn open(path: &Path) -> Result<Self, MoveError> {
        let database = sqlite::open_unchanged(path).await?;
        let snapshot = database.read.begin_with("BEGIN").await.map_err(MoveError::of)?;
        let mut source = Self { path: path.to_owned(), pool: database.read.clone(), snapshot };
        source.is_a_gate().await?;
        database.is_at(&MIGRATIONS).await?;
        Ok(source)
    }

    /// Other programs' databases, and placet's other ones, have other tables.
    async fn is_a_gate(&mut self) -> Result<(), MoveError> {
        const TABLES: &str = "SELECT COUNT(*) FROM sqlite_master WHERE name IN ('_sqlx_migrations', 'heads', 'actions', 'payloads')";
        let found: i64 =
            sqlx::query_scalar(TABLES).fetch_one(&mut *self.snapshot).await.map_err(MoveError::of)?;
        if found == 4 { Ok(()) } else { Err(MoveError::NoGate(self.path.clone())) }
    }

    pub(super) fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// Reads every row, adding each to `read`. Returns a summary of each table, or an error if PostgreSQL cannot hold
    /// some text.
    pub(super) async fn survey(&mut self, read: &AtomicU64) -> Result<Vec<Summary>, MoveError> {
        let (mut found, mut odd, mut more) = (Vec::new(), Vec::new(), 0);
        for table in &TABLES {
            let (mut hash, mut count, mut bytes) = (Sha256::new_with_prefix(tuple::HEAD), 0, Vec::new());
            let sql =
                format!("SELECT {} FROM {} ORDER BY {}", self.columns(table).await?, table.name, table.key);
            let mut rows = sqlx::query(sqlx::AssertSqlSafe(sql)).fetch(&mut *self.snapshot);
            while let Some(row) = rows.try_next().await.map_err(MoveError::of)? {
                bytes.clear();
                match tuple::write(&row, &mut bytes).map_err(MoveError::of)? {
                    Texts::Fit => {}
                    Texts::Odd if odd.len() < NAMED => odd.push((table, row_key(&row, table)?)),
                    Texts::Odd => more += 1,
                }
                hash.update(&bytes);
                count += 1;
                counted(read).await;
            }
            hash.update(tuple::END);
            found.push(Summary { table: table.name, rows: count, digest: hash.finalize().into() });
        }
        if odd.is_empty() { Ok(found) } else { Err(self.odd(odd, more).await?) }
    }

    /// Returns the error that names these rows; for an action, by its id.
    async fn odd(&mut self, odd: Vec<(&Table, Key)>, more: u64) -> Result<MoveError, MoveError> {
        let mut names: Vec<String> = Vec::new();
        for (table, key) in odd {
            let name = match key.first() {
                Some(KeyPart::Number(seq)) => {
                    let id = sqlx::query_scalar("SELECT id FROM actions WHERE seq = ?").bind(seq);
                    let id: Option<String> =
                        id.fetch_optional(&mut *self.snapshot).await.map_err(MoveError::of)?;
                    format!("action {}", id.unwrap_or_else(|| format!("number {seq}")))
                }
                _ => format!("a row of {}", table.name),
            };
            if !names.contains(&name) {
                names.push(name);
            }
        }
        if more > 0 {
            names.push(format!("{more} more"));
        }
        Ok(MoveError::Odd(names.join(", ")))
    }

    /// Returns the columns of a table by name, so that their order is the same on both sides.
    pub(super) async fn columns(&mut self, table: &Table) -> Result<String, MoveError> {
        const COLUMNS: &str = "SELECT name FROM pragma_table_info(?) ORDER BY name";
        let columns = sqlx::query_scalar(COLUMNS).bind(table.name).fetch_all(&mut *self.snapshot);
        let columns: Vec<String> = columns.await.map_err(MoveError::of)?;
        Ok(columns.join(", "))
    }

    /// Passes rows to `take` until it returns false.
    pub(super) async fn rows(
        &mut self,
        part: Part<'_>,
        mut take: impl AsyncFnMut(&SqliteRow) -> Result<bool, MoveError>,
    ) -> Result<(), MoveError> {
        let (Table { name, key }, columns) = (part.table, self.columns(part.table).await?);
        let after = match part.after {
            Some(_) => format!("WHERE ({key}) > ({})", part.table.places()),
            None => String::new(),
        };
        let sql = format!("SELECT {columns} FROM {name} {after} ORDER BY {key} LIMIT ?");
        let mut query = sqlx::query(sqlx::AssertSqlSafe(sql));
        for part in part.after.into_iter().flatten() {
            query = match part {
                KeyPart::Number(number) => query.bind(number),
                KeyPart::Text(text) => query.bind(text),
            };
        }
        let mut rows = query.bind(part.rows).fetch(&mut *self.snapshot);
        while let Some(row) = rows.try_next().await.map_err(MoveError::of)? {
            if !take(&row).await? {
                break;
            }
        }
        Ok(())
    }

    pub(super) async fn heads(&mut self) -> Result<Vec<AuditHead>, MoveError> {
        Ok(heads(&mut *self.snapshot, None).await?)
    }

    pub(super) async fn audit(&self, read: &AtomicU64) -> Result<Verified, MoveError> {
        Ok(kept::verify(&self.pool, &[], read).await?)
    }

    /// Returns true if the file was written to since it was opened.
    pub(super) async fn has_changed(&mut self) -> Result<bool, MoveError> {
        let mut now = self.pool.acquire().await.map_err(MoveError::of)?;
        Ok(heads(&mut *now, None).await? != self.heads().await?)
    }

    pub(super) async fn close(self) {
        self.snapshot.rollback().await.ok();
        self.pool.close().await;
    }
}

fn row_key(row: &SqliteRow, table: &Table) -> Result<Key, MoveError> {
    let part = |column| match row.try_get::<i64, _>(column) {
        Ok(number) => Ok(KeyPart::Number(number)),
        Err(_) => row.try_get(column).map(KeyPart::Text),
    };
    table.key.split(", ").map(part).collect::<Result<_, _>>().map_err(MoveError::of)
}
