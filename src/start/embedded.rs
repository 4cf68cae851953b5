//! The embedded gate. The first placet to open a database serves its gate, and later ones attach. When the serving process
//! ends, an attached inbox takes over on the same address.

use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use tokio::net::{TcpListener, TcpSocket};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::cli;
use crate::config::{Config, GateConfig, SourceConfig, SourceKind, TokenFrom};
use crate::gate::{Gate, Stop};
use crate::net::http::{Ask, Http};
use crate::private;

use super::signals::EndSignals;

/// Time for a started gate to publish its address.
const ATTACH_LIMIT: Duration = Duration::from_secs(10);
/// Interval at which an attached placet checks whether the gate ended.
const SUCCESSION: Duration = Duration::from_millis(500);
/// Time limit for the gate to exit after its running actions have finished.
const CLOSE_LIMIT: Duration = Duration::from_secs(15);
/// Waiting time after which running actions are reported.
const SILENT: Duration = Duration::from_secs(1);
/// Interval at which a new placet checks whether a stopping gate has ended.
const LOOK: Duration = Duration::from_millis(100);
const PORTS: u16 = 20;

/// The gate, served by this or another process.
#[derive(Debug)]
pub(super) struct Embedded {
    pub(super) note: Note,
    /// Whether this process serves it. An attached process may take over later.
    serving: Arc<AtomicBool>,
    stop: Stop,
    stop_within: Duration,
    task: JoinHandle<()>,
}

/// `gate.json` next to the database: the address of the serving gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Note {
    pub(super) url: String,
    pub(super) pid: u32,
    pub(super) token_file: PathBuf,
    pub(super) agent_token_file: PathBuf,
    /// Served by `placet gate serve` with an operator's configuration. Not taken over by others.
    pub(super) is_operators: bool,
    /// Whether the gate is stopping and finishing its running actions. A new placet then waits for the lock.
    pub(super) draining: bool,
}

/// Handling of a configured port that is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PortRule {
    Next,
    /// Use only this port, because clients expect the gate there.
    Same,
    /// Report an error, for an operator's gate.
    Exact,
}

/// Behaviour of an attached placet when the gate ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OnGateEnd {
    /// Take over, unless the gate was an operator's.
    Inbox,
    /// Do nothing: a command ends soon.
    Nobody,
}

#[derive(Debug)]
pub(super) struct Served {
    pub(super) note: Note,
    pub(super) gate: Gate,
    task: JoinHandle<()>,
    note_path: PathBuf,
    /// Held while the gate serves; released by the system when the process ends.
    _lock: File,
}

impl Embedded {
    pub(super) async fn unless_configured(config: &Config, heir: OnGateEnd) -> anyhow::Result<Option<Self>> {
        if config.sources.is_empty() { Self::open(&config.gate, heir).await.map(Some) } else { Ok(None) }
    }

    pub(super) async fn open(config: &GateConfig, heir: OnGateEnd) -> anyhow::Result<Self> {
        if config.tls.is_some() {
            anyhow::bail!(
                "a gate with TLS is not run inside the inbox: start it with `placet gate serve`, and name it in a [[source]] with \
                 its url, token_file and, for a certificate of your own, ca_file"
            );
        }
        if config.server.is_some() {
            anyhow::bail!(
                "a gate on PostgreSQL is not run inside the inbox: start it with `placet gate serve`, and name it in a [[source]] with \
                 its url and token_file"
            );
        }
        let (stop, stop_within) = (Stop::default(), config.stop_within);
        let lock = lock_file(&config.database)?;
        if locked(&lock, &config.database).await? {
            let served = serve(config, lock, PortRule::Next, stop.clone()).await?;
            let serving = Arc::new(AtomicBool::new(true));
            let note = served.note.clone();
            return Ok(Self { note, serving, stop, stop_within, task: tokio::spawn(served.finish()) });
        }
        let note = attach(&config.database).await?;
        let serving = Arc::new(AtomicBool::new(false));
        let waiting = Succession { before: note.clone(), serving: Arc::clone(&serving), stop: stop.clone() };
        let task = match heir {
            OnGateEnd::Inbox if !note.is_operators => tokio::spawn(waiting.succeed(config.clone(), lock)),
            OnGateEnd::Inbox | OnGateEnd::Nobody => tokio::spawn(std::future::ready(())),
        };
        Ok(Self { note, serving, stop, stop_within, task })
    }

    pub(super) fn is_serving(&self) -> bool {
        self.serving.load(Ordering::Relaxed)
    }

    pub(super) fn source(&self) -> SourceConfig {
        self.note.source()
    }

    /// Stops serving. Waits for running actions up to the gate's limit, or until another Ctrl-C or SIGTERM.
    pub(super) async fn close(self) {
        self.stop.soon.cancel();
        let (within, serving) = (self.stop_within, self.is_serving());
        tokio::select! {
            _ = self.task => {}
            () = hurry(serving, within, self.stop.now) => {}
            () = tokio::time::sleep(within.saturating_add(CLOSE_LIMIT)) => {
                tracing::warn!("the gate did not finish in time; what was running is settled at the next start");
            }
        }
    }
}

/// Reports the wait, and cancels it on another signal. Never returns.
async fn hurry(serving: bool, within: Duration, now: CancellationToken) {
    if let Ok(mut signals) = EndSignals::listen() {
        if tokio::time::timeout(SILENT, signals.again()).await.is_err() {
            if serving {
                let seconds = within.as_secs();
                cli::complain(&format!(
                    "waiting up to {seconds} s for what the gate runs; Ctrl-C leaves it running"
                ));
            }
            signals.again().await;
        }
        now.cancel();
    }
    std::future::pending::<()>().await;
}

/// Returns the gate running on this machine; does not start one. A note counts only while its writer holds the lock,
/// because another program may now listen at the address of a killed gate.
pub(super) fn running(config: &GateConfig) -> Option<SourceConfig> {
    running_note(config).map(|note| note.source())
}

pub(super) fn running_for_agents(config: &GateConfig) -> Option<SourceConfig> {
    let note = running_note(config)?;
    Some(SourceConfig { token: Some(TokenFrom::File(note.agent_token_file.clone())), ..note.source() })
}

/// Returns the agent's token file if `token` is the owner's token of the gate running here.
pub(super) fn agents_token_beside(config: &GateConfig, token: Option<&TokenFrom>) -> Option<TokenFrom> {
    let Some(TokenFrom::File(path)) = token else { return None };
    let note = running_note(config).filter(|note| note.token_file == *path)?;
    Some(TokenFrom::File(note.agent_token_file))
}

fn running_note(config: &GateConfig) -> Option<Note> {
    let note = read_note(&note_path(&config.database))?;
    let lock = File::open(config.database.with_extension("lock")).ok()?;
    let held = matches!(lock.try_lock(), Err(TryLockError::WouldBlock));
    held.then_some(note)
}

impl Note {
    fn source(&self) -> SourceConfig {
        SourceConfig {
            token: Some(TokenFrom::File(self.token_file.clone())),
            ..SourceConfig::of("gate", SourceKind::Gate, self.url.clone())
        }
    }

    fn address(&self) -> Option<SocketAddr> {
        self.url.strip_prefix("http://")?.parse().ok()
    }

    /// Returns the gate's port if it differs from the configured one. `None` if equal, or if port 0 is configured.
    pub(super) fn other_port(&self, config: &GateConfig) -> Option<u16> {
        self.address().map(|it| it.port()).filter(|port| ![0, *port].contains(&config.listen.port()))
    }
}

impl Served {
    pub(super) async fn ended(&mut self) {
        // The log has the reason.
        drop((&mut self.task).await);
    }

    pub(super) async fn finish(self) {
        if !self.task.is_finished()
            && let Err(error) = self.task.await
        {
            tracing::error!(%error, "the gate ended badly");
        }
        if read_note(&self.note_path).is_some_and(|note| Note { draining: false, ..note } == self.note) {
            drop(std::fs::remove_file(&self.note_path));
        }
    }
}

/// Takes the lock for serving; `false` if another placet serves. Waits while its holder is stopping, and reports that.
pub(super) async fn locked(lock: &File, database: &Path) -> anyhow::Result<bool> {
    let (path, mut told) = (note_path(database), false);
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(error).context("cannot lock the gate's database"),
        }
        let Some(note) = read_note(&path).filter(|note| note.draining) else { return Ok(false) };
        if !told {
            told = true;
            let pid = note.pid;
            cli::complain(&format!("the gate of process {pid} is stopping; waiting for what it runs"));
        }
        tokio::time::sleep(LOOK).await;
    }
}

pub(super) fn lock_file(database: &Path) -> anyhow::Result<File> {
    let path = database.with_extension("lock");
    super::logging::folder_of(&path)?;
    private::options().create(true).truncate(false).write(true).open(&path).with_context(|| {
        format!("cannot write {}; set PLACET_STATE_DIR to a folder that you can write to", path.display())
    })
}

/// Opens the gate, listens, and writes the note. The caller must hold the lock.
///
/// If the port may move, the address of an earlier gate on this database is tried first, so that clients find the new gate there.
pub(super) async fn serve(
    config: &GateConfig,
    lock: File,
    rule: PortRule,
    stop: Stop,
) -> anyhow::Result<Served> {
    config.reach().map_err(anyhow::Error::msg)?;
    let note_path = note_path(&config.database);
    let earlier = read_note(&note_path).and_then(|note| note.address());
    // An old note would send clients to a stranger at that address.
    drop(std::fs::remove_file(&note_path));
    let may_move = rule == PortRule::Next && config.may_move;
    let earlier = earlier.filter(|address| may_move && address.ip() == config.listen.ip());
    let listener = match earlier.map(bind) {
        Some(Ok(listener)) => listener,
        _ => listen(config.listen, rule, may_move)?,
    };
    let address = listener.local_addr().context("cannot tell the gate's own address")?;
    let gate = Gate::open(config).await?;
    let tokens = gate.first_tokens(config.database.parent().unwrap_or(Path::new("."))).await?;
    let note = Note {
        url: url(config, address),
        pid: std::process::id(),
        token_file: tokens.owner,
        agent_token_file: tokens.agent,
        is_operators: matches!(rule, PortRule::Exact),
        draining: false,
    };
    write_note(&note_path, &note)?;
    let telling = tell_draining(note_path.clone(), note.clone(), stop.soon.clone());
    let serving = gate.clone();
    let task = tokio::spawn(async move {
        let served = tokio::select! {
            served = serving.serve(listener, stop) => served,
            () = telling => Ok(()),
        };
        if let Err(error) = served {
            tracing::error!(%error, "the gate stopped");
        }
    });
    Ok(Served { note, gate, task, note_path, _lock: lock })
}

/// Marks the note when the gate is stopping. Never returns.
async fn tell_draining(path: PathBuf, note: Note, soon: CancellationToken) {
    soon.cancelled().await;
    if let Err(error) = write_note(&path, &Note { draining: true, ..note }) {
        tracing::warn!(%error, "cannot mark the gate as stopping; a new placet will not wait for it");
    }
    std::future::pending::<()>().await;
}

/// Returns the gate's URL. With TLS it has the first configured name, because a certificate is for a name.
fn url(config: &GateConfig, address: SocketAddr) -> String {
    match (&config.tls, config.hosts.first()) {
        (None, _) => format!("http://{address}"),
        (Some(_), Some(name)) => format!("https://{name}:{}", address.port()),
        (Some(_), None) => format!("https://{address}"),
    }
}

/// Connections that may wait to be accepted. When the queue is full, a client's attempt is retried after a second.
const BACKLOG: u32 = 4_096;

fn bind(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

fn listen(wanted: SocketAddr, rule: PortRule, may_move: bool) -> anyhow::Result<TcpListener> {
    let taken = match bind(wanted) {
        Ok(listener) => return Ok(listener),
        Err(error) if error.kind() == ErrorKind::AddrInUse => error,
        Err(error) => return Err(error).with_context(|| format!("cannot listen on {wanted}")),
    };
    if !may_move {
        let how =
            if rule == PortRule::Exact { "another --listen" } else { "`listen` in [gate] another port" };
        return Err(taken).with_context(|| {
            format!("cannot listen on {wanted}: another program does; end it, or give {how}")
        });
    }
    for port in wanted.port()..wanted.port().saturating_add(PORTS) {
        if let Ok(listener) = bind(SocketAddr::new(wanted.ip(), port)) {
            return Ok(listener);
        }
    }
    bind(SocketAddr::new(wanted.ip(), 0)).context("no port is free")
}

/// Waits for the note of the lock's holder, and checks that its gate answers.
async fn attach(database: &Path) -> anyhow::Result<Note> {
    let path = note_path(database);
    let answers = async {
        loop {
            if let Some(note) = read_note(&path)
                && answers(&note.url).await
            {
                return note;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(ATTACH_LIMIT, answers).await.map_err(|_| {
        let holder = read_note(&path).map(|note| format!(" (process {})", note.pid)).unwrap_or_default();
        anyhow::anyhow!(
            "another placet{holder} holds {} and its gate does not answer; end that process and start again",
            database.display()
        )
    })
}

async fn answers(url: &str) -> bool {
    let Ok(http) = Http::new(url, None) else { return false };
    let ask = Ask { path: "/healthz".to_owned(), body: None, key: None, limit: Duration::from_secs(2) };
    http.ask(&ask).await.is_ok_and(|reply| reply.status == 200)
}

struct Succession {
    before: Note,
    serving: Arc<AtomicBool>,
    stop: Stop,
}

impl Succession {
    /// Waits for the lock, then serves on the earlier address.
    async fn succeed(self, mut config: GateConfig, lock: File) {
        if let Some(address) = self.before.address() {
            config.listen = address;
        }
        let mut lock = Some(lock);
        loop {
            tokio::select! {
                () = self.stop.soon.cancelled() => return,
                () = tokio::time::sleep(SUCCESSION) => {}
            }
            if lock.is_none() {
                lock = lock_file(&config.database).ok();
            }
            let Some(held) = lock.take_if(|file| file.try_lock().is_ok()) else { continue };
            match serve(&config, held, PortRule::Same, self.stop.clone()).await {
                Ok(served) => {
                    tracing::info!("took over the gate");
                    self.serving.store(true, Ordering::Relaxed);
                    return served.finish().await;
                }
                // The ending process may still hold the port. The failed attempt released the lock.
                Err(error) => tracing::warn!(%error, "cannot take over the gate yet"),
            }
        }
    }
}

fn note_path(database: &Path) -> PathBuf {
    database.with_extension("json")
}

fn read_note(path: &Path) -> Option<Note> {
    serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()
}

/// Writes the note to a temporary file and renames it, so that readers never see a part.
fn write_note(path: &Path, note: &Note) -> anyhow::Result<()> {
    let beside = path.with_extension(format!("json.{}", note.pid));
    let text = serde_json::to_string(note)?;
    let written = private::options()
        .create(true)
        .truncate(true)
        .write(true)
        .open(&beside)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .and_then(|()| std::fs::rename(&beside, path));
    written.with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::paths::Paths;

    #[tokio::test]
    async fn only_a_default_port_moves_when_taken() {
        let folder = tempfile::tempdir().unwrap();
        let (state, taken) = (folder.path().to_owned(), std::net::TcpListener::bind("127.0.0.1:0").unwrap());
        let (file, log, taken) =
            (state.join("c.toml"), state.join("placet.log"), taken.local_addr().map(|at| (at, taken)));
        let (address, _taken) = taken.unwrap();
        let paths = Paths { config: file, config_named: false, state, log };
        let configured = Config::parse(&format!("[gate]\nlisten = \"{address}\"\n"), &paths).unwrap().gate;

        let refused = Embedded::open(&configured, OnGateEnd::Nobody).await.unwrap_err().to_string();
        let default = GateConfig { may_move: true, ..configured.clone() };
        let moved = Embedded::open(&default, OnGateEnd::Nobody).await.unwrap();

        assert!(
            refused.starts_with(&format!("cannot listen on {address}: another program does; end it")),
            "{refused}"
        );
        let port = moved.note.address().unwrap().port();
        assert_ne!(port, address.port());
        assert_eq!(moved.note.other_port(&default), Some(port));
        assert_eq!(
            moved.note.other_port(&GateConfig { listen: moved.note.address().unwrap(), ..default }),
            None
        );
        moved.close().await;
    }
}
