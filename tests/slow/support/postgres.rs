//! A temporary PostgreSQL server: in its own folder, as a user other than root, on a socket and optionally on a loopback
//! port. The gate's tests include this file, too.

use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Returns the folder of the server's programs, as installed or unpacked from Debian's packages; `None` if there is none.
pub(crate) fn programs() -> Option<PathBuf> {
    let unpacked = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/postgres/usr/lib/postgresql");
    let versions = [Path::new("/usr/lib/postgresql"), &unpacked].map(std::fs::read_dir);
    let folders =
        versions.into_iter().flatten().flatten().flatten().map(|version| version.path().join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found: Vec<_> = folders.chain(std::env::split_paths(&path)).collect();
    found.retain(|folder| folder.join("initdb").exists() && folder.join("pg_ctl").exists());
    found.into_iter().max_by_key(|folder| folder.starts_with("/usr/lib/postgresql"))
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum How {
    /// Ends connections and writes everything.
    Fast,
    /// Stops like a crash: the next start recovers.
    Immediate,
}

pub(crate) struct Server {
    programs: PathBuf,
    folder: TempDir,
    /// `None` for a socket only, which conflicts with no other server.
    port: Option<u16>,
    settings: String,
}

impl Server {
    pub(crate) fn on_a_socket(programs: PathBuf, settings: &[(&str, &str)]) -> Self {
        Self::begin(programs, None, settings)
    }

    /// Starts a server on a socket and on a free port of 127.0.0.1.
    pub(crate) fn on_a_port(programs: PathBuf, settings: &[(&str, &str)]) -> Self {
        Self::begin(programs, Some(free_port()), settings)
    }

    /// Starts a server with its data in a new folder in `data`, and its write-ahead log in the new folder `log`.
    pub(crate) fn on_disks(programs: PathBuf, data: &Path, log: &Path) -> Self {
        let folder = owned(tempfile::tempdir_in(data).unwrap());
        let server = Self { programs, folder, port: Some(free_port()), settings: String::new() };
        server.fill(&["-X", log.to_str().unwrap()])
    }

    fn begin(programs: PathBuf, port: Option<u16>, settings: &[(&str, &str)]) -> Self {
        Self { programs, folder: owned_folder(), port, settings: written(settings) }.fill(&[])
    }

    fn fill(self, arguments: &[&str]) -> Self {
        let data = self.data();
        let usual = ["-U", "placet", "--auth=trust", "-E", "UTF8", "--locale=C", "-N", "-D"];
        self.done("initdb", &[&usual, [data.to_str().unwrap()].as_slice(), arguments].concat());
        self.start();
        self
    }

    /// Starts a standby from a base backup, on its own port, with the same settings.
    pub(crate) fn standby(&self) -> Self {
        let (port, folder) = (free_port(), owned_folder());
        let standby = Self {
            folder,
            port: Some(port),
            programs: self.programs.clone(),
            settings: self.settings.clone(),
        };
        let (from, data) = (self.port.unwrap().to_string(), standby.data());
        let whence = ["-h", "127.0.0.1", "-p", &from, "-U", "placet", "-c", "fast", "-R", "-D"];
        standby.done("pg_basebackup", &[whence.as_slice(), &[data.to_str().unwrap()]].concat());
        standby.start();
        standby
    }

    /// Starts the server and waits until it takes connections.
    pub(crate) fn start(&self) {
        let started = self.try_start();
        assert!(started.status.success(), "pg_ctl start: {}", self.log());
    }

    /// Starts a server that may fail to start.
    pub(crate) fn try_start(&self) -> Output {
        let folder = self.folder.path().display();
        let listen = match self.port {
            Some(port) => format!("-c listen_addresses=127.0.0.1 -p {port}"),
            None => "-c listen_addresses=".to_owned(),
        };
        let options = format!("{listen} -k {folder} {}", self.settings);
        let (data, log) = (self.data(), self.folder.path().join("log"));
        self.said(
            "pg_ctl",
            &["-D", data.to_str().unwrap(), "-w", "-o", &options, "-l", log.to_str().unwrap(), "start"],
        )
    }

    pub(crate) fn stop(&self, how: How) {
        let how = if how == How::Fast { "fast" } else { "immediate" };
        self.said("pg_ctl", &["-D", self.data().to_str().unwrap(), "-w", "-m", how, "stop"]);
    }

    pub(crate) fn promote(&self) {
        self.done("pg_ctl", &["-D", self.data().to_str().unwrap(), "-w", "promote"]);
    }

    /// Returns a statement's result as text without headings.
    pub(crate) fn sql(&self, statement: &str) -> String {
        let host = self.folder.path().to_str().unwrap();
        let port = self.port.unwrap_or(5_432).to_string();
        let asked = [
            "-h",
            host,
            "-p",
            &port,
            "-U",
            "placet",
            "-d",
            "postgres",
            "-XAtq",
            "-v",
            "ON_ERROR_STOP=1",
            "-c",
        ];
        let said = self.command("psql").args(asked).arg(statement).output().unwrap();
        assert!(said.status.success(), "{statement}: {}", String::from_utf8_lossy(&said.stderr));
        String::from_utf8(said.stdout).unwrap().trim().to_owned()
    }

    /// Returns host and port, for a relay.
    pub(crate) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port.unwrap())
    }

    /// Returns the URL of the first database, through the socket.
    pub(crate) fn url(&self) -> String {
        let host = self.folder.path().to_string_lossy().replace('/', "%2F");
        match self.port {
            Some(port) => format!("postgres://placet@{host}:{port}/postgres"),
            None => format!("postgres://placet@{host}/postgres"),
        }
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    pub(crate) fn last_log(&self) -> String {
        let log = self.log();
        let lines: Vec<_> = log.lines().rev().take(20).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    }

    fn done(&self, program: &str, arguments: &[&str]) {
        let said = self.said(program, arguments);
        let error = String::from_utf8_lossy(&said.stderr);
        assert!(said.status.success(), "{program}: {error}\nthe server's log:\n{}", self.last_log());
    }

    fn said(&self, program: &str, arguments: &[&str]) -> Output {
        // pg_ctl would wait for a server that inherits its output.
        self.command(program).args(arguments).stdout(Stdio::null()).output().unwrap()
    }

    fn command(&self, program: &str) -> Command {
        as_owner(Command::new(self.programs.join(program)))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop(How::Immediate);
    }
}

fn as_owner(mut command: Command) -> Command {
    command.current_dir("/");
    if let Some(user) = user() {
        command.uid(user).gid(user);
    }
    command
}

/// Returns an unprivileged user id if this runs as root, because the server refuses to run as root.
pub(crate) fn user() -> Option<u32> {
    (std::fs::metadata("/proc/self").unwrap().uid() == 0).then_some(65_534)
}

/// Returns a folder owned by the server's user.
pub(crate) fn owned_folder() -> TempDir {
    owned(tempfile::tempdir().unwrap())
}

/// Gives the folder to the server's user, who must own the server's files.
fn owned(folder: TempDir) -> TempDir {
    if let Some(user) = user() {
        chown(folder.path(), Some(user), Some(user)).unwrap();
    }
    folder
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn written(settings: &[(&str, &str)]) -> String {
    settings.iter().flat_map(|(name, value)| ["-c ", name, "=", value, " "]).collect()
}

/// PgBouncer in transaction mode in front of a server.
pub(crate) struct Pooler(Child);

impl Pooler {
    pub(crate) const PORT: u16 = 6_432;
    const LIMIT: Duration = Duration::from_mins(1);

    pub(crate) fn program() -> Option<PathBuf> {
        let unpacked = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/postgres/usr/sbin/pgbouncer");
        ["/usr/sbin/pgbouncer".into(), unpacked].into_iter().find(|program: &PathBuf| program.exists())
    }

    /// Starts PgBouncer on a socket next to the server's.
    pub(crate) fn start(program: &Path, server: &Server) -> Self {
        let folder = server.folder.path();
        let (file, place) = (folder.join("pooler.ini"), folder.display());
        let settings = format!(
            "[databases]\n* = host={place} user=placet\n[pgbouncer]\nunix_socket_dir = {place}\nlisten_addr =\n\
             listen_port = {}\nauth_type = any\npool_mode = transaction\ndefault_pool_size = 4\n\
             server_idle_timeout = 1\nmax_client_conn = 4000\nlogfile = {place}/pooler.log\n",
            Self::PORT
        );
        std::fs::write(&file, settings).unwrap();
        let mut command = as_owner(Command::new(program));
        let mut pooler = Self(command.arg("--quiet").arg(file).stdin(Stdio::null()).spawn().unwrap());
        let deadline = Instant::now() + Self::LIMIT;
        while !folder.join(format!(".s.PGSQL.{}", Self::PORT)).exists() {
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
