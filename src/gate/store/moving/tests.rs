//! Tests that a move leaves no table and no column behind.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::*;
use crate::gate::clock::Clock;
use crate::gate::events::Events;
use crate::gate::store::context::Context;
use crate::gate::store::postgres::{PostgresStore, Server};
use crate::gate::store::sqlite::MIGRATIONS;
use crate::gate::tests::settings;
use crate::gate::tool::Tools;
use crate::sqlite;

/// Table, column, type, and position in the primary key.
type Columns = BTreeSet<(String, String, String, i64)>;

/// A table that each side has for itself.
const SQLX: &str = "_sqlx_migrations";
/// Running gates; SQLite has one at most.
const GATES: &str = "gates";

fn carried(typed: &Columns) -> Columns {
    let mut all = Columns::new();
    for table in &TABLES {
        let key: Vec<_> = table.key.split(", ").collect();
        for (name, column, kind, _) in typed.iter().filter(|(name, ..)| name == table.name) {
            let place = key.iter().position(|it| it == column).map_or(0, |place| place as i64 + 1);
            all.insert((name.clone(), column.clone(), kind.clone(), place));
        }
    }
    all
}

async fn of_sqlite(folder: &Path) -> Columns {
    let database = sqlite::open(&folder.join("gate.db"), &MIGRATIONS).await.unwrap();
    let sql = "SELECT t.name, c.name, c.type, c.pk FROM sqlite_master t, pragma_table_info(t.name) c \
               WHERE t.type = 'table' AND t.name <> ? AND t.name NOT LIKE 'sqlite_%'";
    let rows: Vec<(String, String, String, i64)> =
        sqlx::query_as(sql).bind(SQLX).fetch_all(&database.read).await.unwrap();
    database.close().await;
    rows.into_iter().collect()
}

async fn of_postgres(url: &str) -> Columns {
    let context =
        Context { events: Events::default(), clock: Clock::default(), tools: Arc::new(Tools::none()) };
    let config = PostgresConfig::default();
    PostgresStore::open(url, &config, context).await.unwrap();
    let mut conn = Server::new(url, &config).unwrap().connect(false).await.unwrap();
    let sql = "SELECT c.table_name::text, c.column_name::text, \
               CASE c.data_type WHEN 'bigint' THEN 'INTEGER' WHEN 'bytea' THEN 'BLOB' WHEN 'text' THEN 'TEXT' \
               ELSE c.data_type END, \
               COALESCE((SELECT array_position(i.indkey::int[], c.ordinal_position::int) + 1 FROM pg_index i \
               WHERE i.indisprimary AND i.indrelid = c.table_name::regclass), 0)::bigint \
               FROM information_schema.columns c WHERE c.table_schema = 'placet' AND c.table_name <> ALL ($1)";
    let rows: Vec<(String, String, String, i64)> =
        sqlx::query_as(sql).bind([SQLX, GATES]).fetch_all(&mut conn).await.unwrap();
    rows.into_iter().collect()
}

#[tokio::test]
async fn every_table_and_column_of_both_databases_is_carried() {
    let folder = tempfile::tempdir().unwrap();
    let old = of_sqlite(folder.path()).await;

    assert_eq!(carried(&old), old);
    let past_pooler = settings(folder.path()).past_pooler(false).unwrap();
    if let Some(url) = past_pooler.server {
        assert_eq!(of_postgres(&url).await, old);
    }
}

/// The server ends a session that is idle in a transaction.
#[tokio::test]
async fn move_survives_the_end_of_its_session_during_verification() {
    let folder = tempfile::tempdir().unwrap();
    let past_pooler = settings(folder.path()).past_pooler(false).unwrap();
    let Some(url) = past_pooler.server else { return };
    let mut target = Target::reach(&url, &PostgresConfig::default()).await.unwrap();
    target.prepare().await.unwrap();
    target.survey(&AtomicU64::new(0)).await.unwrap();
    let mut other = Server::new(&url, &PostgresConfig::default()).unwrap().connect(false).await.unwrap();
    let mine = "FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'placet gate' \
                AND pid <> pg_backend_pid()";
    let ask = format!("SELECT state {mine}");

    let resting: Vec<String> =
        sqlx::query_scalar(sqlx::AssertSqlSafe(ask)).fetch_all(&mut other).await.unwrap();

    assert_eq!(resting, ["idle"]);
    let end = format!("SELECT pg_terminate_backend(pid, 10000) {mine}");
    let ended: bool = sqlx::query_scalar(sqlx::AssertSqlSafe(end)).fetch_one(&mut other).await.unwrap();
    assert!(ended && target.rows().await.is_ok());
}
