//! The SQL that differs on PostgreSQL.

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use sqlx::Postgres;
use sqlx::postgres::PgRow;

use super::conn::Conn;
use crate::gate::store::sql::{Sql, Statement};

impl Sql for Conn {
    type Row = PgRow;

    const UNINDEXED: &'static str = "";
    /// Skips messages that another gate takes at the same time.
    const TAKE_CALLBACKS: &'static str = "WITH due AS MATERIALIZED (SELECT workspace, revision FROM callbacks WHERE name = $2 AND next_at <= $3 \
         AND NOT EXISTS (SELECT 1 FROM callbacks AS held WHERE held.name = $2 AND held.held_until > $3) \
         ORDER BY next_at LIMIT $4 FOR UPDATE SKIP LOCKED) \
         UPDATE callbacks SET tries = callbacks.tries + 1, next_at = $1 FROM due \
         WHERE callbacks.workspace = due.workspace AND callbacks.revision = due.revision RETURNING callbacks.*";

    const GUARDS_GONE: &'static str = "SELECT guard AS name FROM (VALUES ('audit_is_never_changed'), ('audit_is_never_cut')) AS guards (guard) \
         EXCEPT SELECT tgname::text FROM pg_trigger WHERE tgrelid = 'audit'::regclass AND tgenabled = 'O'";
    /// The server spills a large sort to its disk. A read-only server has cursors, too.
    const SORT_PRUNED: &'static [&'static str] = &[
        "DECLARE pruned NO SCROLL CURSOR FOR SELECT a.workspace, a.revision, COALESCE(g.value ->> 'id', '') AS id, \
         COALESCE(g.value ->> 'record', '') AS record \
         FROM audit a, jsonb_array_elements(a.details::jsonb -> 'actions') AS g (value) \
         WHERE a.action IS NULL AND a.kind = 'pruned' ORDER BY COALESCE(g.value ->> 'id', '') COLLATE \"C\"",
    ];

    fn next_pruned(_: i64) -> Statement {
        Statement::new("FETCH 500 FROM pruned")
    }

    fn indexed_by(_: &str) -> String {
        String::new()
    }

    fn like(pattern: &str) -> (&'static str, String) {
        let plain = pattern.replace('\\', r"\\").replace('%', r"\%").replace('_', r"\_");
        ("LIKE", plain.replace('*', "%"))
    }

    fn execute(&mut self, statement: Statement) -> BoxFuture<'_, Result<u64, sqlx::Error>> {
        Box::pin(async move { Ok(statement.query::<Postgres>().execute(self).await?.rows_affected()) })
    }

    fn fetch(&mut self, statement: Statement) -> BoxStream<'_, Result<PgRow, sqlx::Error>> {
        statement.query::<Postgres>().fetch(self)
    }
}
