//! The table `[gate]`: the gate, embedded or served.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use toml::Spanned;

use super::callback::{CallbackConfig, RawCallback};
use super::check::{ConfigError, DAY, Mistakes, line_of, span};
use super::network::Network;
use super::paths::Paths;
use super::proxy::{ProxyConfig, RawProxy};
use super::secret::TokenFrom;
use super::tool::{RawTool, RiskApprovals, ToolConfig};
use crate::domain::{matches, workspace};

#[derive(Clone, Debug, PartialEq)]
pub struct GateConfig {
    pub file: PathBuf,
    pub listen: SocketAddr,
    /// `listen` is the default: if its port is taken, the embedded gate uses the next free one.
    pub may_move: bool,
    /// The database file. With a `server`, local files of the gate have this name with other extensions.
    pub database: PathBuf,
    /// URL of a PostgreSQL database, without password. `None` uses the file.
    pub server: Option<String>,
    pub postgres: PostgresConfig,
    pub workspace: String,
    pub limits: Limits,
    /// Names or patterns of tools whose proposals are refused; excluded from `tools`.
    pub denied: BTreeSet<String>,
    /// `host` or `host:port`: targets of executors that need not be https or public.
    pub allow_targets: Vec<String>,
    /// Allowed names of this gate (lower case), besides its addresses and `localhost`.
    pub hosts: Vec<String>,
    /// `None` serves plain HTTP.
    pub tls: Option<TlsFiles>,
    /// A proxy in front of the gate terminates TLS.
    pub behind_proxy: bool,
    /// Time in which an agent must claim an approved action, unless its tool has its own.
    pub approval_ttl: Duration,
    pub approvals: RiskApprovals,
    /// Retention of settled actions; `None` keeps them for ever.
    pub keep_settled: Option<Duration>,
    /// Own proxies, each of which speaks for many clients.
    pub trusted_proxies: Vec<Network>,
    /// `None`: a proxy does not identify people.
    pub proxy: Option<ProxyConfig>,
    /// Time that a stopping gate waits for running actions.
    pub stop_within: Duration,
    pub tools: BTreeMap<String, ToolConfig>,
    pub callbacks: BTreeMap<String, CallbackConfig>,
}

/// The table `[gate.postgres]`: use of a PostgreSQL server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostgresConfig {
    /// If `None`, the variables and files of PostgreSQL clients apply.
    pub password: Option<TokenFrom>,
    /// Maximum connections, besides one to notify and one to listen to other gates.
    pub connections: u32,
    /// The URL leads to a pooler that may use another connection for each transaction.
    pub pooler: bool,
    /// URL for listening to other gates, past a pooler. If `None` with a pooler, only the periodic sweep finds their
    /// changes.
    pub listen_url: Option<String>,
}

impl Default for PostgresConfig {
    fn default() -> Self {
        Self { password: None, connections: 16, pooler: false, listen_url: None }
    }
}

/// Certificate chain and private key, in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    pub cert: PathBuf,
    pub key: PathBuf,
}

/// Limits of a gate; requests beyond them are refused.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    pub pending_per_workspace: u64,
    pub proposals_per_minute: u32,
    pub proposal_burst: u32,
    pub page_rows: u32,
    pub page_bytes: u64,
    pub body_bytes: u64,
    pub streams: u32,
    pub streams_per_token: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            pending_per_workspace: 200_000,
            proposals_per_minute: 6_000,
            proposal_burst: 500,
            page_rows: 5_000,
            page_bytes: 8 << 20,
            body_bytes: 16 << 20,
            streams: 256,
            streams_per_token: 16,
        }
    }
}

impl GateConfig {
    /// Returns an error in a tool's table that is only found at start, such as a missing file or a refused target.
    pub fn mistake(&self, tool: &str, what: &str) -> ConfigError {
        let line = self.tools.get(tool).map_or(0, |tool| tool.line);
        self.error(format!("line {line}, gate.tools.{tool}: {what}"))
    }

    pub fn callback_mistake(&self, callback: &str, what: &str) -> ConfigError {
        let line = self.callbacks.get(callback).map_or(0, |callback| callback.line);
        self.error(format!("line {line}, gate.callbacks.{callback}: {what}"))
    }

    /// Checks that the gate listens beyond this machine only over TLS. The error is a sentence for the operator.
    pub fn reach(&self) -> Result<(), String> {
        if self.listen.ip().is_loopback() || self.tls.is_some() || self.behind_proxy {
            return Ok(());
        }
        Err(format!(
            "{} can be reached from other machines, and this gate would speak plain HTTP; set gate.tls_cert and gate.tls_key, \
             or let it listen on 127.0.0.1, or say --behind-proxy (gate.behind_proxy = true) when a proxy in front of it speaks TLS",
            self.listen
        ))
    }

    /// Returns the configuration past a pooler, for operations that need a session. `named`: the server was given on
    /// the command line. The error is a sentence for the operator.
    pub fn past_pooler(mut self, named: bool) -> Result<Self, String> {
        if self.server.is_some() && self.postgres.pooler {
            self.postgres.pooler = false;
            match self.postgres.listen_url.take() {
                _ if named => {}
                None => {
                    return Err(
                        "tables cannot be changed by way of a pooler; name the server itself with --database"
                            .to_owned(),
                    );
                }
                past => self.server = past,
            }
        }
        Ok(self)
    }

    pub fn error(&self, message: String) -> ConfigError {
        ConfigError::Meaning { path: self.file.clone(), message }
    }
}

/// Disables pruning.
const OFF: &str = "off";
const MINUTE: u64 = 60;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawGate {
    listen: Option<SocketAddr>,
    database: String,
    workspace: String,
    limits: Limits,
    postgres: RawPostgres,
    denied: BTreeSet<String>,
    allow_targets: Vec<String>,
    hosts: Vec<String>,
    tls_cert: Option<PathBuf>,
    tls_key: Option<PathBuf>,
    behind_proxy: bool,
    approval_ttl: String,
    approvals: RiskApprovals,
    keep_settled: String,
    trusted_proxies: Vec<String>,
    proxy: Option<RawProxy>,
    stop_seconds: u64,
    tools: BTreeMap<Spanned<String>, RawTool>,
    callbacks: BTreeMap<Spanned<String>, RawCallback>,
}

impl Default for RawGate {
    fn default() -> Self {
        Self {
            listen: None,
            database: "sqlite:gate.db".to_owned(),
            workspace: "default".to_owned(),
            limits: Limits::default(),
            postgres: RawPostgres::default(),
            denied: BTreeSet::new(),
            allow_targets: Vec::new(),
            hosts: Vec::new(),
            tls_cert: None,
            tls_key: None,
            behind_proxy: false,
            approval_ttl: "7d".to_owned(),
            approvals: RiskApprovals::default(),
            keep_settled: OFF.to_owned(),
            trusted_proxies: Vec::new(),
            proxy: None,
            stop_seconds: 60,
            tools: BTreeMap::new(),
            callbacks: BTreeMap::new(),
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawPostgres {
    password_env: Option<String>,
    password_file: Option<PathBuf>,
    password_command: Option<Vec<String>>,
    connections: Option<u32>,
    pooler: bool,
    listen_url: Option<String>,
}

impl RawPostgres {
    fn validate(self, folder: &Path, mistakes: &mut Mistakes) -> PostgresConfig {
        let file = self.password_file.map(|path| folder.join(path));
        let several = "gate.postgres: give one of password_env, password_file and password_command";
        let password = TokenFrom::one_of(
            "gate.postgres.password",
            (self.password_env, file, self.password_command),
            several,
        );
        let connections = self.connections.unwrap_or(PostgresConfig::default().connections);
        if !(2..=1_000).contains(&connections) {
            mistakes.0.push("gate.postgres.connections is not from 2 to 1000".to_owned());
        }
        let listen_url = self.listen_url.filter(|url| {
            mistakes
                .take(server(url, folder).map_err(|why| format!("gate.postgres.listen_url: {why}")))
                .is_some()
        });
        PostgresConfig {
            password: mistakes.take(password).flatten(),
            connections,
            pooler: self.pooler,
            listen_url,
        }
    }
}

impl RawGate {
    /// `text` is the whole file, to find line numbers.
    pub(super) fn validate(self, text: &str, paths: &Paths, mistakes: &mut Mistakes) -> GateConfig {
        let denied = self.denied;
        let folder = paths.config.parent().unwrap_or(Path::new(""));
        let tools = self.tools.into_iter().filter_map(|(name, tool)| {
            let line = line_of(text, name.span().start);
            let name = name.into_inner();
            let wrong = |what: String| format!("line {line}, gate.tools.{name}: {what}");
            // A denied pattern that matches this pattern as text covers all its tools.
            if let Some(twice) = denied.iter().find(|denied| matches(denied, &name)) {
                let twice = if twice == &name {
                    "this tool is in gate.denied, too; take it out of one of the two".to_owned()
                } else {
                    format!("{twice:?} in gate.denied covers it; take one of the two out")
                };
                return mistakes.take(Err(wrong(twice)));
            }
            let tool = mistakes.take(tool.validate(line, folder).map_err(wrong))?;
            Some((name, tool))
        });
        let tools = tools.collect();
        let callbacks = callbacks(self.callbacks, text, folder, mistakes);
        if let Err(what) = workspace::check_name(&self.workspace) {
            mistakes.0.push(format!("gate.workspace: {what}"));
        }
        let tls = mistakes.take(tls(self.tls_cert, self.tls_key, folder)).flatten();
        let approval_ttl =
            mistakes.take(span("gate.approval_ttl", &self.approval_ttl, MINUTE)).unwrap_or_default();
        let keep_settled = mistakes.take(keep_settled(&self.keep_settled)).flatten();
        if self.stop_seconds > DAY {
            mistakes.0.push(format!("gate.stop_seconds must be 0 to {DAY}"));
        }
        let hosts = self.hosts.iter().filter_map(|name| mistakes.take(host(name))).collect();
        let proxies: Vec<_> =
            self.trusted_proxies.iter().filter_map(|text| mistakes.take(proxy(text))).collect();
        let proxy = self.proxy.and_then(|proxy| proxy.validate(folder, &proxies, mistakes));
        let place = mistakes.take(database(&self.database, &paths.state)).unwrap_or_default();
        GateConfig {
            file: paths.config.clone(),
            listen: self.listen.unwrap_or(SocketAddr::from(([127, 0, 0, 1], 7878))),
            may_move: self.listen.is_none(),
            database: place.file,
            server: place.server,
            postgres: self.postgres.validate(folder, mistakes),
            workspace: self.workspace,
            limits: Limits { page_rows: self.limits.page_rows.max(1), ..self.limits },
            denied,
            allow_targets: self.allow_targets,
            hosts,
            tls,
            behind_proxy: self.behind_proxy,
            approval_ttl,
            approvals: mistakes.take(self.approvals.validate()).unwrap_or_default(),
            keep_settled,
            trusted_proxies: proxies,
            proxy,
            stop_within: Duration::from_secs(self.stop_seconds),
            tools,
            callbacks,
        }
    }
}

fn keep_settled(given: &str) -> Result<Option<Duration>, String> {
    if given == OFF {
        return Ok(None);
    }
    span("gate.keep_settled", given, DAY).map(Some).map_err(|what| what + ", or \"off\"")
}

fn tls(cert: Option<PathBuf>, key: Option<PathBuf>, folder: &Path) -> Result<Option<TlsFiles>, String> {
    match (cert, key) {
        (None, None) => Ok(None),
        (Some(cert), Some(key)) => Ok(Some(TlsFiles { cert: folder.join(cert), key: folder.join(key) })),
        _ => Err("gate.tls_cert and gate.tls_key go together; give both or none".to_owned()),
    }
}

fn callbacks(
    raw: BTreeMap<Spanned<String>, RawCallback>,
    text: &str,
    folder: &Path,
    mistakes: &mut Mistakes,
) -> BTreeMap<String, CallbackConfig> {
    let callbacks = raw.into_iter().filter_map(|(name, callback)| {
        let line = line_of(text, name.span().start);
        let name = name.into_inner();
        let wrong = |what: String| format!("line {line}, gate.callbacks.{name}: {what}");
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        if name.is_empty() || name.len() > 100 || !name.bytes().all(is_plain) {
            return mistakes.take(Err(wrong("its name is 1 to 100 of A-Z, a-z, 0-9, -, _ and .".to_owned())));
        }
        let callback = mistakes.take(callback.validate(line, folder).map_err(wrong))?;
        Some((name, callback))
    });
    callbacks.collect()
}

/// Checks a name of the header `Host`, without a port.
fn host(name: &str) -> Result<String, String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    if name.is_empty() || !name.bytes().all(plain) {
        return Err(format!(
            "gate.hosts: {name:?} is no name of a host, as in \"gate.example.com\", without a port"
        ));
    }
    Ok(name.to_ascii_lowercase())
}

fn proxy(text: &str) -> Result<Network, String> {
    text.parse().map_err(|error| format!("gate.trusted_proxies: {error}"))
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DatabasePlace {
    pub file: PathBuf,
    pub server: Option<String>,
}

/// Parses `sqlite:PATH` (relative to the state folder) or `postgres://USER@HOST/NAME`.
pub fn database(text: &str, state: &Path) -> Result<DatabasePlace, String> {
    if text.starts_with("postgres://") || text.starts_with("postgresql://") {
        return server(text, state);
    }
    match text.strip_prefix("sqlite:") {
        Some("") => Err("the database sqlite: names no file".to_owned()),
        Some(path) => Ok(DatabasePlace { file: state.join(path), server: None }),
        None if text.contains('@') => {
            Err("the database is neither sqlite:PATH nor postgres://USER@HOST/NAME".to_owned())
        }
        None => Err(format!("the database {text:?} is neither sqlite:PATH nor postgres://USER@HOST/NAME")),
    }
}

/// Allowed URL options: those that locate and authenticate the server.
const OPTIONS: [&str; 6] = ["sslmode", "sslrootcert", "sslcert", "sslkey", "host", "port"];

/// Parses a PostgreSQL URL. Refuses a password, because process lists and readers of the file would show it.
fn server(text: &str, state: &Path) -> Result<DatabasePlace, String> {
    let (address, query) = text.split_once('?').unwrap_or((text, ""));
    let (_, address) = address.split_once("://").unwrap_or_default();
    let (authority, name) = address.split_once('/').unwrap_or((address, ""));
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    if user.contains(':') || query.split('&').any(|option| option.starts_with("password=")) {
        return Err("the database's URL holds a password, which others can read; put it into a file that PGPASSFILE names, \
                    and leave it out"
            .to_owned());
    }
    let unknown = query.split('&').map(|option| option.split('=').next().unwrap_or_default());
    if let Some(unknown) = unknown.filter(|key| !key.is_empty()).find(|key| !OPTIONS.contains(key)) {
        return Err(format!(
            "the database's URL has the option {unknown:?}; placet knows {}",
            OPTIONS.join(", ")
        ));
    }
    if name.is_empty() || name.contains('/') {
        return Err("the database's URL names no database, as in postgres://USER@HOST/NAME".to_owned());
    }
    let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
    let local = format!("{name}@{host}");
    let local = local.replace(|letter: char| !letter.is_ascii_alphanumeric() && letter != '@', "-");
    Ok(DatabasePlace { file: state.join(format!("{local}.db")), server: Some(text.to_owned()) })
}
