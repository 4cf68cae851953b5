//! Direct access to the database that bypasses triggers and constraints, and restores them afterwards.

use std::collections::HashMap;

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Error, Executor as _, SqliteConnection};

use super::{Shelf, settings};

pub(super) type Audited = (&'static str, &'static str, &'static [&'static str]);

pub(super) enum Behind {
    Sqlite(SqliteConnection),
    /// With the type of each column, by `table.column`.
    Postgres(PgConnection, HashMap<String, String>),
}

impl Behind {
    pub(super) async fn the(shelf: &Shelf) -> Self {
        let config = settings(shelf.folder.path());
        let Some(url) = config.server else {
            let url = format!("sqlite:{}", config.database.display());
            let mut conn = SqliteConnection::connect(&url).await.unwrap();
            conn.execute("PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF").await.unwrap();
            return Self::Sqlite(conn);
        };
        let options: PgConnectOptions = url.parse().unwrap();
        let mut conn = options.options([("search_path", "placet")]).connect().await.unwrap();
        let types = "SELECT table_name || '.' || column_name, data_type::text FROM information_schema.columns \
                     WHERE table_schema = 'placet'";
        let types: Vec<(String, String)> = sqlx::query_as(types).fetch_all(&mut conn).await.unwrap();
        Self::Postgres(conn, types.into_iter().collect())
    }

    pub(super) async fn run(&mut self, sql: &str) -> Result<(), Error> {
        match self {
            Self::Sqlite(conn) => {
                let guards = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'";
                let guards: Vec<(String, String)> = sqlx::query_as(guards).fetch_all(&mut *conn).await?;
                let off = guards.iter().map(|(name, _)| format!("DROP TRIGGER {name}"));
                let on = guards.iter().map(|(_, guard)| guard.clone());
                let steps: Vec<_> = off.chain([sql.to_owned()]).chain(on).collect();
                let done = conn.execute(AssertSqlSafe(format!("BEGIN; {}; COMMIT", steps.join("; ")))).await;
                if done.is_err() {
                    conn.execute("ROLLBACK").await?;
                }
                done.map(drop)
            }
            Self::Postgres(conn, _) => {
                let steps = format!("BEGIN; SET LOCAL session_replication_role = replica; {sql}; COMMIT");
                let done = sqlx::raw_sql(AssertSqlSafe(steps)).execute(&mut *conn).await;
                if done.is_err() {
                    conn.execute("ROLLBACK").await?;
                }
                done.map(drop)
            }
        }
    }

    /// Runs a statement without bypassing triggers and constraints.
    pub(super) async fn try_with_guards(&mut self, sql: &'static str) -> Result<(), Error> {
        match self {
            Self::Sqlite(conn) => conn.execute(sql).await.map(drop),
            Self::Postgres(conn, _) => conn.execute(sql).await.map(drop),
        }
    }

    /// Statements that each remove the same trigger.
    pub(super) fn ways_to_lose_a_guard(&self) -> &'static [&'static str] {
        match self {
            Self::Sqlite(_) => &["DROP TRIGGER audit_is_never_cut"],
            Self::Postgres(..) => &[
                "ALTER TABLE audit DISABLE TRIGGER audit_is_never_cut",
                "ALTER TABLE audit ENABLE REPLICA TRIGGER audit_is_never_cut",
                "DROP TRIGGER audit_is_never_cut ON audit",
            ],
        }
    }

    /// Returns the single text of a query; empty if there is none.
    pub(super) async fn text(&mut self, question: &str) -> String {
        let question = AssertSqlSafe(question.to_owned());
        let text: Option<String> = match self {
            Self::Sqlite(conn) => sqlx::query_scalar(question).fetch_one(conn).await.unwrap(),
            Self::Postgres(conn, _) => {
                sqlx::query_scalar(question).persistent(false).fetch_one(conn).await.unwrap()
            }
        };
        text.unwrap_or_default()
    }

    pub(super) async fn contents(&mut self, tables: &[Audited]) -> Vec<String> {
        let mut all = Vec::new();
        for (table, key, columns) in tables {
            let (columns, quoted) = (columns.join(", "), columns.join("), quote("));
            let question = match self {
                Self::Sqlite(_) => format!(
                    "SELECT group_concat(concat_ws(',', quote({quoted})), '|') FROM (SELECT * FROM {table} ORDER BY {key})"
                ),
                Self::Postgres(..) => format!(
                    "SELECT string_agg(ROW({columns})::text, '|') FROM (SELECT * FROM {table} ORDER BY {key}) AS t"
                ),
            };
            all.push(self.text(&question).await);
        }
        all
    }

    /// Returns an expression for this many zero bytes.
    pub(super) fn blob(&self, bytes: usize) -> String {
        match self {
            Self::Sqlite(_) => format!("zeroblob({bytes})"),
            Self::Postgres(..) => format!("decode(repeat('00', {bytes}), 'hex')"),
        }
    }

    /// Returns an expression of the column's type that differs from each cell.
    pub(super) fn other(&self, table: &str, column: &str) -> String {
        match self {
            Self::Sqlite(_) => format!(
                "CASE typeof({column}) WHEN 'integer' THEN {column} + 1 WHEN 'text' THEN {column} || ' ' \
                 WHEN 'blob' THEN x'00' ELSE NULL END"
            ),
            Self::Postgres(_, types) => match types[&format!("{table}.{column}")].as_str() {
                "bigint" => format!("{column} + 1"),
                "text" => format!("{column} || ' '"),
                "bytea" => "decode('00', 'hex')".to_owned(),
                other => panic!("{table}.{column} is {other}"),
            },
        }
    }
}
