//! Runs the gate's tests on PostgreSQL, on the server named by `PLACET_TEST_DATABASE`. Each test's folder has its own
//! database.

use std::path::Path;
use std::process::Command;

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Executor as _};

use self::server::{Pooler, Server, programs};
use crate::config::PostgresConfig;
use crate::gate::store::postgres::migrate;
use crate::rounds::skipped;

/// Also used by tests that need their own server.
#[path = "../../../tests/slow/support/postgres.rs"]
#[allow(dead_code, reason = "the drills in tests/slow use the rest")]
pub(super) mod server;

/// Tests do not survive a power failure.
const SETTINGS: [(&str, &str); 4] = [
    ("fsync", "off"),
    ("full_page_writes", "off"),
    ("synchronous_commit", "off"),
    ("max_connections", "500"),
];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Direct,
    /// Through a pooler, with a direct connection for notifications.
    Pooled,
    /// Through a pooler only; gates poll for other gates' changes.
    Deaf,
}

const ALL: &[&str] = &["gate::tests", "gate::store::postgres", "gate::store::moving"];
/// Tests that wait for changes that another gate may make.
const WAITING: &[&str] =
    &["gate::tests::streaming", "gate::tests::pulling", "gate::tests::gates", "gate::tests::seed::later"];

/// Runs the gate's tests in another process, with `gates` gates on each database.
fn again(server: &Server, gates: usize, way: Way, which: &[&str]) {
    let mut tests = Command::new(std::env::current_exe().unwrap());
    tests.args(which).args(["--test-threads", "8"]);
    tests.env("PLACET_TEST_DATABASE", server.url()).env("PLACET_TEST_GATES", gates.to_string());
    if way != Way::Direct {
        tests.env("PLACET_TEST_POOLER", Pooler::PORT.to_string());
    }
    if way == Way::Deaf {
        tests.env("PLACET_TEST_DEAF", "1");
    }
    let said = tests.output().unwrap();
    let text = String::from_utf8_lossy(&said.stdout);
    let failed = text.split_once("\nfailures:\n").map_or(&*text, |(_, failures)| failures);
    assert!(
        said.status.success(),
        "with {gates} gates, {way:?}: {failed}\nthe server's log:\n{}",
        server.last_log()
    );
    assert!(!text.contains("running 0 tests"), "{text}");
}

/// Uses two gates. `PLACET_NEEDS_POSTGRES` adds one and four, and fails without a server.
#[test]
fn everything_holds_on_postgresql() {
    if is_used() {
        return;
    }
    let needed = std::env::var_os("PLACET_NEEDS_POSTGRES").is_some();
    let Some(programs) = programs() else {
        assert!(!needed, "there is no PostgreSQL");
        return skipped("install Debian's package postgresql");
    };
    let server = Server::on_a_socket(programs, &SETTINGS);
    again(&server, 1, Way::Direct, &["gate::store::tests"]);
    for gates in if needed { [1, 2, 4].as_slice() } else { &[2] } {
        again(&server, *gates, Way::Direct, ALL);
    }
    let Some(pooler) = Pooler::program() else {
        assert!(!needed, "there is no PgBouncer");
        return skipped("all but the gate's tests behind a pooler ran; install Debian's package pgbouncer");
    };
    let _pooler = Pooler::start(&pooler, &server);
    again(&server, 2, Way::Pooled, ALL);
    again(&server, 2, Way::Deaf, WAITING);
}

/// Returns the URL of the folder's database and creates it on first use. `None` if the tests run on SQLite.
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
    let pooled = std::env::var("PLACET_TEST_POOLER").ok().map(|port| format!("{base}:{port}/{name}"));
    let (direct, is_pooled) = (url.clone(), pooled.is_some());
    let create = async move || {
        let options: PgConnectOptions = server.parse().unwrap();
        let mut conn = options.connect().await.unwrap();
        // The database exists if the gate is started again.
        drop(conn.execute(AssertSqlSafe(format!("CREATE DATABASE {name}"))).await);
        if is_pooled {
            migrate(&direct).await.unwrap();
        }
    };
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    std::thread::spawn(move || runtime().block_on(create())).join().unwrap();
    Some(pooled.unwrap_or(url))
}

pub(super) fn config_of(server: Option<&str>) -> PostgresConfig {
    let pooler = std::env::var_os("PLACET_TEST_POOLER").is_some();
    let is_deaf = std::env::var_os("PLACET_TEST_DEAF").is_some();
    let listen_url = server.filter(|_| pooler && !is_deaf).map(past_pooler);
    PostgresConfig { pooler, listen_url, ..PostgresConfig::default() }
}

pub(super) fn past_pooler(url: &str) -> String {
    let pooler = std::env::var("PLACET_TEST_POOLER").ok();
    pooler.map_or_else(|| url.to_owned(), |port| url.replace(&format!(":{port}/"), "/"))
}

/// Number of gates on each database (`PLACET_TEST_GATES`); one on SQLite.
pub(super) fn gates() -> usize {
    let named = std::env::var("PLACET_TEST_GATES").ok().filter(|_| is_used());
    named.map_or(1, |gates| gates.parse().unwrap())
}

/// Whether the tests run on PostgreSQL; tests that open SQLite's file are skipped then.
pub(super) fn is_used() -> bool {
    std::env::var_os("PLACET_TEST_DATABASE").is_some()
}
