//! The gate's tests on PostgreSQL: the same tests once more, where `PLACET_TEST_DATABASE` names a server. Each test's folder has a database of
//! its own.

use std::os::unix::fs::{MetadataExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Executor as _};
use tempfile::TempDir;

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

/// The gate's tests in a process of their own, with so many gates on each database.
fn again(server: &Server, gates: usize) -> Output {
    let mut tests = Command::new(std::env::current_exe().unwrap());
    tests.args(["gate::tests", "gate::store::postgres", "--test-threads", "4"]);
    tests.env("PLACET_TEST_DATABASE", server.url()).env("PLACET_TEST_GATES", gates.to_string());
    tests.output().unwrap()
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
        let said = again(&server, *gates);
        let text = String::from_utf8_lossy(&said.stdout);
        assert!(said.status.success(), "with {gates} gates: {text}");
        assert!(!text.contains("running 0 tests"), "{text}");
    }
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

/// How many gates share each database (`PLACET_TEST_GATES`); on SQLite there is one.
pub(super) fn gates() -> usize {
    let named = std::env::var("PLACET_TEST_GATES").ok().filter(|_| is_used());
    named.map_or(1, |gates| gates.parse().unwrap())
}

/// Whether the tests run on PostgreSQL, for those that look into SQLite's file.
pub(super) fn is_used() -> bool {
    std::env::var_os("PLACET_TEST_DATABASE").is_some()
}
