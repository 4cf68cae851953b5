//! The PostgreSQL database that a gate is moved into.

use std::sync::atomic::AtomicU64;

use futures_util::TryStreamExt as _;
use sha2::{Digest as _, Sha256};
use sqlx::postgres::{PgConnection, PgRow};
use sqlx::{Connection as _, Executor as _, Row as _, TypeInfo as _, ValueRef as _};

use super::sides::{Key, KeyPart, MoveError, Summary, counted};
use super::source::{Part, Source};
use super::tables::{TABLES, Table};
use super::tuple;
use crate::config::PostgresConfig;
use crate::fault;
use crate::gate::audit::{AuditHead, Verified};
use crate::gate::store::postgres::{self as kept, DURABLE, Found, SNAPSHOT, Server, WORK};

/// Maximum number of rows per transaction, and about how many bytes.
const ROWS: i64 = if cfg!(test) { 5 } else { 5_000 };
const BYTES: usize = 8 << 20;
const PIECE: usize = 256 << 10;

/// Marks an unfinished move, and holds the summary of the source from its beginning.
const MARK: &str = "CREATE TABLE moving (name TEXT PRIMARY KEY, rows BIGINT NOT NULL, digest BYTEA NOT NULL)";
/// Two moves of one source are harmless: each part is copied by one of them.
const LOCK: &str = "LOCK TABLE moving IN EXCLUSIVE MODE";
/// Continues numbering actions where SQLite stopped.
const NEXT: &str = "SELECT setval(pg_get_serial_sequence('actions', 'seq'), COALESCE(MAX(seq), 1), MAX(seq) IS NOT NULL) FROM actions";

#[derive(Debug)]
pub(super) struct Target {
    server: Server,
    conn: PgConnection,
    found: Found,
}

impl Target {
    pub(super) async fn reach(url: &str, postgres: &PostgresConfig) -> Result<Self, MoveError> {
        let server = Server::new(url, postgres)?;
        let mut conn = connect(&server).await?;
        let found = server.look(&mut conn, true).await?;
        Ok(Self { server, conn, found })
    }

    /// Reconnects, because the server may have closed the connection while a large source was read.
    async fn connect_again(&mut self) -> Result<(), MoveError> {
        self.conn = connect(&self.server).await?;
        Ok(())
    }

    /// Creates missing tables. Refuses a database that holds a gate before changing it.
    pub(super) async fn prepare(&mut self) -> Result<(), MoveError> {
        if !self.found.half_moved {
            is_empty(&mut self.conn, &self.server.place).await?;
        }
        Ok(self.server.migrate_from(&mut self.conn, self.found).await?)
    }

    /// Returns true if the audits in the target contain these heads: the gate was moved there before.
    pub(super) async fn goes_on_from(&mut self, heads: &[AuditHead]) -> Result<bool, MoveError> {
        const ROW: &str = "SELECT encode(hash, 'hex') FROM audit WHERE workspace = $1 AND revision = $2";
        for head in heads.iter().filter(|head| !head.hash.is_empty()) {
            let row = sqlx::query_scalar(ROW).bind(&head.workspace).bind(head.revision.cast_signed());
            let hash: Option<String> = row.fetch_optional(&mut self.conn).await.map_err(MoveError::of)?;
            if hash.as_ref() != Some(&head.hash) {
                return Ok(false);
            }
        }
        Ok(heads.iter().any(|head| !head.hash.is_empty()))
    }

    pub(super) fn place(&self) -> String {
        self.server.place.clone()
    }

    /// Returns the summary of the source from an earlier attempt; empty if there was none.
    pub(super) async fn began_with(&mut self) -> Result<Vec<Summary>, MoveError> {
        if !self.found.half_moved {
            return Ok(Vec::new());
        }
        let rows = sqlx::query_as("SELECT name, rows, digest FROM moving").fetch_all(&mut self.conn);
        let rows: Vec<(String, i64, Vec<u8>)> = rows.await.map_err(MoveError::of)?;
        let of = |table: &Table| {
            let (_, rows, digest) = rows.iter().find(|(name, ..)| name == table.name)?;
            let digest = digest.as_slice().try_into().ok()?;
            Some(Summary { table: table.name, rows: rows.cast_unsigned(), digest })
        };
        // Another version has other tables, so its summary matches nothing.
        Ok(TABLES.iter().map(|table| of(table).unwrap_or_else(|| Summary::of_nothing(table))).collect())
    }

    /// Marks the target as being moved into. No gate opens it from now on.
    pub(super) async fn begin(&mut self, source: &[Summary]) -> Result<(), MoveError> {
        self.connect_again().await?;
        let mut tx = self.conn.begin_with(WORK).await.map_err(MoveError::of)?;
        tx.execute(MARK).await.map_err(MoveError::of)?;
        is_empty(&mut tx, &self.server.place).await?;
        for Summary { table, rows, digest } in source {
            let insert = sqlx::query("INSERT INTO moving VALUES ($1, $2, $3)");
            let insert = insert.bind(table).bind(rows.cast_signed()).bind(digest.as_slice());
            insert.execute(&mut *tx).await.map_err(MoveError::of)?;
        }
        tx.commit().await.map_err(MoveError::of)?;
        fault::point("move.begun");
        Ok(())
    }

    pub(super) async fn rows(&mut self) -> Result<u64, MoveError> {
        self.connect_again().await?;
        let mut all = 0;
        for table in &TABLES {
            all += count(&mut self.conn, table).await?;
        }
        Ok(all)
    }

    pub(super) async fn carry(
        &mut self,
        table: &'static Table,
        source: &mut Source,
        carried: &AtomicU64,
    ) -> Result<(), MoveError> {
        while self.carry_part(table, source, carried).await? > 0 {
            fault::point("move.carried");
        }
        Ok(())
    }

    /// Copies one part, after the last row in the target. Returns how many rows.
    async fn carry_part(
        &mut self,
        table: &'static Table,
        source: &mut Source,
        carried: &AtomicU64,
    ) -> Result<u64, MoveError> {
        let mut tx = self.conn.begin_with(WORK).await.map_err(MoveError::of)?;
        tx.execute(LOCK).await.map_err(MoveError::of)?;
        let after = last(&mut tx, table).await?;
        let columns = source.columns(table).await?;
        let sql = format!("COPY {} ({columns}) FROM STDIN (FORMAT binary)", table.name);
        let mut copy = tx.copy_in_raw(&sql).await.map_err(MoveError::of)?;
        let (mut piece, mut bytes) = (tuple::HEAD.to_vec(), 0);
        let part = Part { table, after: after.as_ref(), rows: ROWS };
        source
            .rows(part, async |row| {
                tuple::write(row, &mut piece).map_err(MoveError::of)?;
                if piece.len() >= PIECE {
                    bytes += piece.len();
                    copy.send(piece.as_slice()).await.map_err(MoveError::of)?;
                    piece.clear();
                }
                counted(carried).await;
                Ok(bytes < BYTES)
            })
            .await?;
        piece.extend_from_slice(tuple::END);
        copy.send(piece.as_slice()).await.map_err(MoveError::of)?;
        let rows = copy.finish().await.map_err(MoveError::of)?;
        tx.commit().await.map_err(MoveError::of)?;
        Ok(rows)
    }

    /// Sets the next action number, and updates the planner's statistics.
    pub(super) async fn complete(&mut self) -> Result<(), MoveError> {
        sqlx::query(NEXT).execute(&mut self.conn).await.map_err(MoveError::of)?;
        for table in &TABLES {
            let sql = sqlx::AssertSqlSafe(format!("ANALYZE {}", table.name));
            sqlx::query(sql).execute(&mut self.conn).await.map_err(MoveError::of)?;
        }
        fault::point("move.completed");
        Ok(())
    }

    pub(super) async fn survey(&mut self, read: &AtomicU64) -> Result<Vec<Summary>, MoveError> {
        let mut tx = self.conn.begin_with(SNAPSHOT).await.map_err(MoveError::of)?;
        let mut found = Vec::new();
        for table in &TABLES {
            let (Table { name, key }, columns) = (table, columns(&mut tx, table).await?);
            let sql = format!("COPY (SELECT {columns} FROM {name} ORDER BY {key}) TO STDOUT (FORMAT binary)");
            let mut hash = Sha256::new();
            let mut pieces = tx.copy_out_raw(&sql).await.map_err(MoveError::of)?;
            // The server sends one row per message.
            while let Some(piece) = pieces.try_next().await.map_err(MoveError::of)? {
                hash.update(&piece);
                counted(read).await;
            }
            drop(pieces);
            let rows = count(&mut tx, table).await?;
            found.push(Summary { table: name, rows, digest: hash.finalize().into() });
        }
        // The server ends a session that is idle in a transaction.
        tx.commit().await.map_err(MoveError::of)?;
        Ok(found)
    }

    pub(super) async fn audit(&self, heads: &[AuditHead], read: &AtomicU64) -> Result<Verified, MoveError> {
        Ok(kept::verify_at(&self.server, heads, read).await?)
    }

    /// Removes the mark, so that gates may open the database.
    pub(super) async fn end(&mut self) -> Result<(), MoveError> {
        fault::point("move.verified");
        self.connect_again().await?;
        self.conn.execute("DROP TABLE moving").await.map_err(MoveError::of)?;
        fault::point("move.ended");
        Ok(())
    }

    pub(super) async fn close(self) {
        self.conn.close().await.ok();
    }
}

async fn connect(server: &Server) -> Result<PgConnection, MoveError> {
    let mut conn = server.connect(false).await?;
    conn.execute(DURABLE).await.map_err(MoveError::of)?;
    Ok(conn)
}

/// Refuses a database that already holds a gate.
async fn is_empty(conn: &mut PgConnection, place: &str) -> Result<(), MoveError> {
    for table in &TABLES {
        let is_there = sqlx::query_scalar("SELECT to_regclass($1) IS NOT NULL").bind(table.name);
        if !is_there.fetch_one(&mut *conn).await.map_err(MoveError::of)? {
            continue;
        }
        let sql = format!("SELECT EXISTS (SELECT 1 FROM {})", table.name);
        let holds = sqlx::query_scalar(sqlx::AssertSqlSafe(sql)).fetch_one(&mut *conn);
        if holds.await.map_err(MoveError::of)? {
            return Err(MoveError::Occupied { place: place.to_owned(), table: table.name });
        }
    }
    Ok(())
}

async fn columns(conn: &mut PgConnection, table: &Table) -> Result<String, MoveError> {
    const COLUMNS: &str = "SELECT string_agg(attname, ', ' ORDER BY attname COLLATE \"C\") FROM pg_attribute \
         WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped";
    sqlx::query_scalar(COLUMNS).bind(table.name).fetch_one(conn).await.map_err(MoveError::of)
}

async fn count(conn: &mut PgConnection, table: &Table) -> Result<u64, MoveError> {
    let sql = sqlx::AssertSqlSafe(format!("SELECT COUNT(*) FROM {}", table.name));
    let rows: i64 = sqlx::query_scalar(sql).fetch_one(conn).await.map_err(MoveError::of)?;
    Ok(rows.cast_unsigned())
}

async fn last(conn: &mut PgConnection, table: &Table) -> Result<Option<Key>, MoveError> {
    let sql = format!("SELECT {} FROM {} ORDER BY {} LIMIT 1", table.key, table.name, table.backwards());
    let row = sqlx::query(sqlx::AssertSqlSafe(sql)).fetch_optional(conn).await.map_err(MoveError::of)?;
    row.map(|row| (0..row.len()).map(|column| part(&row, column)).collect())
        .transpose()
        .map_err(MoveError::of)
}

fn part(row: &PgRow, column: usize) -> Result<KeyPart, sqlx::Error> {
    if row.try_get_raw(column)?.type_info().name() == "INT8" {
        row.try_get(column).map(KeyPart::Number)
    } else {
        row.try_get(column).map(KeyPart::Text)
    }
}
