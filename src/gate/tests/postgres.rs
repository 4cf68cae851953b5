//! The gate's tests on PostgreSQL: the same tests once more, where `PLACET_TEST_DATABASE` names a server. Each test's folder has a database of
//! its own.

use std::os::unix::fs::{MetadataExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Instant;

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Executor as _};
use tempfile::TempDir;

use super::support::LIMIT;
use crate::config::PostgresConfig;
use crate::gate::store::postgres::migrate;

/// A server of its own in a folder of its own, for as long as this value lives.
struct Server {
    programs: PathBuf,
    folder: TempDir,
}

/// Where Debian, and who unpacks its packages, have the server's programs; the newest version.
fn programs() -> Option<PathBuf> {
    let unpacked = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/postgres/usr/lib/postgresql");
    let versions = [Path::new("/usr/lib/postgresql"), &unpacked].map(std::fs::read_dir);
    let folders =
        versions.into_iter().flatten().flatten().flatten().map(|version| version.path().join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found: Vec<_> = folders.chain(std::env::split_paths(&path)).collect();
    found.retain(|folder| folder.join("initdb").exists() && folder.join("pg_ctl").exists());
    found.into_iter().max_by_key(|folder| folder.starts_with("/usr/lib/postgresql"))
}

impl Server {
    fn start(programs: PathBuf) -> Self {
        let server = Self { programs, folder: tempfile::tempdir().unwrap() };
        // The server refuses to run as root, and only its owner may read its files.
        if let Some(user) = Self::user() {
            chown(server.folder.path(), Some(user), Some(user)).unwrap();
        }
        server.run("initdb", &["-U", "placet", "--auth=trust", "-E", "UTF8", "--locale=C", "-N"]);
        // A socket only, so that no other server is in the way. In no test the power goes.
        let folder = server.folder.path().display();
        let options = format!(
            "-c listen_addresses= -k {folder} -c fsync=off -c full_page_writes=off \
             -c synchronous_commit=off -c max_connections=500"
        );
        let log = format!("{folder}/log");
        server.run("pg_ctl", &["-w", "-o", &options, "-l", &log, "start"]);
        server
    }

    /// Somebody else, where this is root: nobody.
    fn user() -> Option<u32> {
        (std::fs::metadata("/proc/self").unwrap().uid() == 0).then_some(65_534)
    }

    fn url(&self) -> String {
        let host = self.folder.path().to_string_lossy().replace('/', "%2F");
        format!("postgres://placet@{host}/postgres")
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        let mut command = Command::new(self.programs.join(program));
        command.arg("-D").arg(self.folder.path().join("data")).args(arguments).current_dir("/");
        if let Some(user) = Self::user() {
            command.uid(user).gid(user);
        }
        // Its own output would keep this process waiting for the server.
        let said = command.stdout(std::process::Stdio::null()).output().unwrap();
        assert!(said.status.success(), "{program}: {}", String::from_utf8_lossy(&said.stderr));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.run("pg_ctl", &["-m", "immediate", "stop"]);
    }
}

/// PgBouncer before a server, as Debian has it: each transaction gets any connection. Ends with this value.
struct Pooler(Child);

impl Pooler {
    const PORT: u16 = 6_432;

    fn program() -> Option<PathBuf> {
        let unpacked = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/postgres/usr/sbin/pgbouncer");
        ["/usr/sbin/pgbouncer".into(), unpacked].into_iter().find(|program: &PathBuf| program.exists())
    }

    fn start(program: &Path, server: &Server) -> Self {
        let folder = server.folder.path().display();
        let set_up = format!(
            "[databases]\n* = host={folder} user=placet\n[pgbouncer]\nunix_socket_dir = {folder}\nlisten_port = {}\n\
             auth_type = any\npool_mode = transaction\ndefault_pool_size = 4\nserver_idle_timeout = 1\nmax_client_conn = 4000\n\
             logfile = {folder}/pooler.log\nlisten_addr =\n",
            Self::PORT
        );
        let file = server.folder.path().join("pooler.ini");
        std::fs::write(&file, set_up).unwrap();
        let mut command = Command::new(program);
        command.arg("--quiet").arg(file).current_dir("/");
        if let Some(user) = Server::user() {
            command.uid(user).gid(user);
        }
        let mut pooler = Self(command.spawn().unwrap());
        let deadline = Instant::now() + LIMIT;
        while !server.folder.path().join(format!(".s.PGSQL.{}", Self::PORT)).exists() {
            assert!(pooler.0.try_wait().unwrap().is_none() && Instant::now() < deadline, "no pooler");
            std::thread::yield_now();
        }
        pooler
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        drop(self.0.kill().and_then(|()| self.0.wait()));
    }
}

/// The gate's tests in a process of their own, with so many gates on each database.
fn again(server: &Server, gates: usize, pooler: bool) {
    let mut tests = Command::new(std::env::current_exe().unwrap());
    tests.args(["gate::tests", "gate::store::postgres", "--test-threads", "4"]);
    tests.env("PLACET_TEST_DATABASE", server.url()).env("PLACET_TEST_GATES", gates.to_string());
    if pooler {
        tests.env("PLACET_TEST_POOLER", Pooler::PORT.to_string());
    }
    let said = tests.output().unwrap();
    let text = String::from_utf8_lossy(&said.stdout);
    assert!(said.status.success(), "with {gates} gates, pooler: {pooler}: {text}");
    assert!(!text.contains("running 0 tests"), "{text}");
}

/// Two gates by default; `PLACET_NEEDS_POSTGRES` asks for one and four as well, and for a server to be there.
#[test]
fn everything_holds_on_postgresql_too() {
    if is_used() {
        return;
    }
    let needed = std::env::var_os("PLACET_NEEDS_POSTGRES").is_some();
    let Some(programs) = programs() else {
        assert!(!needed, "there is no PostgreSQL");
        return println!("left out: the gate's tests on PostgreSQL; install Debian's package postgresql");
    };
    let server = Server::start(programs);
    for gates in if needed { [1, 2, 4].as_slice() } else { &[2] } {
        again(&server, *gates, false);
    }
    let Some(pooler) = Pooler::program() else {
        assert!(!needed, "there is no PgBouncer");
        return println!("left out: the gate's tests behind a pooler; install Debian's package pgbouncer");
    };
    let _pooler = Pooler::start(&pooler, &server);
    again(&server, 2, true);
}

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
    let pooled = std::env::var("PLACET_TEST_POOLER").ok().map(|port| format!("{base}:{port}/{name}"));
    let (direct, is_pooled) = (url.clone(), pooled.is_some());
    let create = async move || {
        let options: PgConnectOptions = server.parse().unwrap();
        let mut conn = options.connect().await.unwrap();
        // It is there already when a gate is started again.
        drop(conn.execute(AssertSqlSafe(format!("CREATE DATABASE {name}"))).await);
        if is_pooled {
            migrate(&direct).await.unwrap();
        }
    };
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    std::thread::spawn(move || runtime().block_on(create())).join().unwrap();
    Some(pooled.unwrap_or(url))
}

/// How the gates use the database of this folder.
pub(super) fn config_of(server: Option<&str>) -> PostgresConfig {
    let pooler = std::env::var("PLACET_TEST_POOLER").ok();
    let direct = pooler.as_ref().zip(server).map(|(port, url)| url.replace(&format!(":{port}/"), "/"));
    PostgresConfig { pooler: pooler.is_some(), listen_url: direct, ..PostgresConfig::default() }
}

/// How many gates share each database (`PLACET_TEST_GATES`); on SQLite there is one.
pub(super) fn gates() -> usize {
    let named = std::env::var("PLACET_TEST_GATES").ok().filter(|_| is_used());
    named.map_or(1, |gates| gates.parse().unwrap())
}

/// Whether the tests run on PostgreSQL, for those that look into SQLite's file.
pub(super) fn is_used() -> bool {
    std::env::var_os("PLACET_TEST_DATABASE").is_some()
}
