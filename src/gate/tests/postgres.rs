//! The gate's tests on PostgreSQL: the same tests, where `PLACET_TEST_DATABASE` names a server. Each test's folder has a database of its own.

use std::path::Path;

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Executor as _};

/// The URL of the database that belongs to this folder, which is made the first time; `None`: the tests run on SQLite.
pub(super) fn database_of(folder: &Path) -> Option<String> {
    let server = std::env::var("PLACET_TEST_DATABASE").ok()?;
    let name: String = folder
        .to_string_lossy()
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect::<String>()
        .to_lowercase();
    let (base, _) = server.rsplit_once('/').unwrap();
    let url = format!("{base}/{name}");
    let create = async move || {
        let options: PgConnectOptions = server.parse().unwrap();
        let mut conn = options.connect().await.unwrap();
        // It is there already when a gate is started again.
        drop(conn.execute(AssertSqlSafe(format!("CREATE DATABASE {name}"))).await);
    };
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    std::thread::spawn(move || runtime().block_on(create())).join().unwrap();
    Some(url)
}

/// Whether the tests run on PostgreSQL, for those that look into SQLite's file.
pub(super) fn is_used() -> bool {
    std::env::var_os("PLACET_TEST_DATABASE").is_some()
}
