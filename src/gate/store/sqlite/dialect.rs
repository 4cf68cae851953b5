//! The SQL that differs on SQLite.

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use sqlx::sqlite::SqliteRow;
use sqlx::{Sqlite, SqliteConnection};

use crate::gate::store::sql::{Sql, Statement};

impl Sql for SqliteConnection {
    type Row = SqliteRow;

    const UNINDEXED: &'static str = "+";
    const TAKE_CALLBACKS: &'static str = "UPDATE callbacks SET tries = tries + 1, next_at = $1 WHERE (workspace, revision) IN \
         (SELECT workspace, revision FROM callbacks WHERE name = $2 AND next_at <= $3 \
         AND NOT EXISTS (SELECT 1 FROM callbacks AS held WHERE held.name = $2 AND held.held_until > $3) ORDER BY next_at LIMIT $4) RETURNING *";

    const GUARDS_GONE: &'static str = "SELECT column1 AS name FROM (VALUES ('audit_is_never_changed'), ('audit_is_never_cut')) \
         EXCEPT SELECT name FROM sqlite_master WHERE type = 'trigger'";
    /// In a temporary table, because they may be many. The row numbers give the order.
    const SORT_PRUNED: &'static [&'static str] = &[
        "DROP TABLE IF EXISTS temp.pruned",
        "CREATE TEMP TABLE pruned AS SELECT a.workspace, a.revision, COALESCE(CAST(g.value ->> 'id' AS TEXT), '') AS id, \
         COALESCE(CAST(g.value ->> 'record' AS TEXT), '') AS record FROM audit a, \
         json_each(CASE WHEN json_valid(a.details) THEN a.details ELSE '{}' END, '$.actions') g \
         WHERE a.action IS NULL AND a.kind = 'pruned' ORDER BY id",
    ];

    fn next_pruned(after: i64) -> Statement {
        let next = "SELECT workspace, revision, id, record FROM temp.pruned WHERE rowid > $1 ORDER BY rowid LIMIT 500";
        Statement::new(next).bind(after)
    }

    fn indexed_by(index: &str) -> String {
        format!(" INDEXED BY {index}")
    }

    /// `?` and `[` are special to `GLOB`, too.
    fn like(pattern: &str) -> (&'static str, String) {
        ("GLOB", pattern.replace('[', "[[]").replace('?', "[?]"))
    }

    fn execute(&mut self, statement: Statement) -> BoxFuture<'_, Result<u64, sqlx::Error>> {
        Box::pin(async move { Ok(statement.query::<Sqlite>().execute(self).await?.rows_affected()) })
    }

    fn fetch(&mut self, statement: Statement) -> BoxStream<'_, Result<SqliteRow, sqlx::Error>> {
        statement.query::<Sqlite>().fetch(self)
    }
}
