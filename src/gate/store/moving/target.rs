//! The database on a server that a gate is moved into.

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

/// How many rows are carried in one transaction, and about how many bytes.
const ROWS: i64 = if cfg!(test) { 5 } else { 5_000 };
const BYTES: usize = 8 << 20;
/// So much is handed to the connection at once.
const PIECE: usize = 256 << 10;

/// There as long as a move is not finished, with what the source held when it began.
const MARK: &str = "CREATE TABLE moving (name TEXT PRIMARY KEY, rows BIGINT NOT NULL, digest BYTEA NOT NULL)";
/// Two moves of one source do no harm: each part is carried by one of them.
const LOCK: &str = "LOCK TABLE moving IN EXCLUSIVE MODE";
/// The next action gets the next number, as on SQLite.
const NEXT: &str = "SELECT setval(pg_get_serial_sequence('actions', 'seq'), COALESCE(MAX(seq), 1), MAX(seq) IS NOT NULL) FROM actions";

#[derive(Debug)]
pub(super) struct Target {
    server: Server,
    conn: PgConnection,
    found: Found,
}

impl Target {
    /// Connects; changes nothing yet.
    pub(super) async fn reach(url: &str, postgres: &PostgresConfig) -> Result<Self, MoveError> {
        let server = Server::new(url, postgres)?;
        let mut conn = connect(&server).await?;
        let found = server.look(&mut conn, true).await?;
        Ok(Self { server, conn, found })
    }

    /// Connects anew: what rested for as long as a large database is read may be gone.
    async fn connect_again(&mut self) -> Result<(), MoveError> {
        self.conn = connect(&self.server).await?;
        Ok(())
    }

    /// Makes the tables where they are missing. Refuses what holds a gate, before it is changed.
    pub(super) async fn prepare(&mut self) -> Result<(), MoveError> {
        if !self.found.half_moved {
            is_empty(&mut self.conn, &self.server.place).await?;
        }
        Ok(self.server.migrate_from(&mut self.conn, self.found).await?)
    }

    /// Whether the audits there go on from these heads: the gate was moved there before.
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

    /// What the source held when an earlier attempt began; empty: this is the first one.
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
        // Another version has other tables: then nothing of it fits.
        Ok(TABLES.iter().map(|table| of(table).unwrap_or_else(|| Summary::of_nothing(table))).collect())
    }

    /// Says that a move began. From now on no gate opens this database.
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

    /// How many rows are there.
    pub(super) async fn rows(&mut self) -> Result<u64, MoveError> {
        self.connect_again().await?;
        let mut all = 0;
        for table in &TABLES {
            all += count(&mut self.conn, table).await?;
        }
        Ok(all)
    }

    /// Carries the rest of a table.
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

    /// Carries the rows that come after the last one that is there; returns how many.
    async fn carry_part(
        &mut self,
        table: &'static Table,
        source: &mut Source,
        carried: &AtomicU64,
    ) -> Result<u64, MoveError> {
        let mut tx = self.conn.begin_with(WORK).await.map_err(MoveError::of)?;
        tx.execute(LOCK).await.map_err(MoveError::of)?;
        let after = last(&mut tx, table).await?;
        let sql = format!("COPY {} ({}) FROM STDIN (FORMAT binary)", table.name, table.columns);
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

    /// Everything is there: numbers go on where they were, and the server is told what is in its tables.
    pub(super) async fn complete(&mut self) -> Result<(), MoveError> {
        sqlx::query(NEXT).execute(&mut self.conn).await.map_err(MoveError::of)?;
        for table in &TABLES {
            let sql = sqlx::AssertSqlSafe(format!("ANALYZE {}", table.name));
            sqlx::query(sql).execute(&mut self.conn).await.map_err(MoveError::of)?;
        }
        fault::point("move.completed");
        Ok(())
    }

    /// Reads every row again.
    pub(super) async fn survey(&mut self, read: &AtomicU64) -> Result<Vec<Summary>, MoveError> {
        let mut tx = self.conn.begin_with(SNAPSHOT).await.map_err(MoveError::of)?;
        let mut found = Vec::new();
        for table in &TABLES {
            let Table { name, key, columns } = table;
            let sql = format!("COPY (SELECT {columns} FROM {name} ORDER BY {key}) TO STDOUT (FORMAT binary)");
            let mut hash = Sha256::new();
            let mut pieces = tx.copy_out_raw(&sql).await.map_err(MoveError::of)?;
            // The server sends a row at a time.
            while let Some(piece) = pieces.try_next().await.map_err(MoveError::of)? {
                hash.update(&piece);
                counted(read).await;
            }
            drop(pieces);
            let rows = count(&mut tx, table).await?;
            found.push(Summary { table: name, rows, digest: hash.finalize().into() });
        }
        // The server ends a session that rests in a transaction.
        tx.commit().await.map_err(MoveError::of)?;
        Ok(found)
    }

    /// What its audit comes to, which must contain these heads.
    pub(super) async fn audit(&self, heads: &[AuditHead], read: &AtomicU64) -> Result<Verified, MoveError> {
        Ok(kept::verify_at(&self.server, heads, read).await?)
    }

    /// It is a gate's database from now on.
    pub(super) async fn end(&mut self) -> Result<(), MoveError> {
        fault::point("move.verified");
        self.connect_again().await?;
        self.conn.execute("DROP TABLE moving").await.map_err(MoveError::of)?;
        fault::point("move.ended");
        Ok(())
    }

    pub(super) async fn close(self) {
        // Nothing is left to be done.
        self.conn.close().await.ok();
    }
}

async fn connect(server: &Server) -> Result<PgConnection, MoveError> {
    let mut conn = server.connect(false).await?;
    conn.execute(DURABLE).await.map_err(MoveError::of)?;
    Ok(conn)
}

/// No gate was here before.
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

async fn count(conn: &mut PgConnection, table: &Table) -> Result<u64, MoveError> {
    let sql = sqlx::AssertSqlSafe(format!("SELECT COUNT(*) FROM {}", table.name));
    let rows: i64 = sqlx::query_scalar(sql).fetch_one(conn).await.map_err(MoveError::of)?;
    Ok(rows.cast_unsigned())
}

/// The key of the last row that is there.
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
