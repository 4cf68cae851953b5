//! Reads and validates the table `[gate]`.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use toml::Spanned;

use super::tool::RawTool;
use super::{DAY, Mistakes, line_of, span};
use crate::config::paths::Paths;
use crate::config::{GateConfig, Limits, Network, TlsFiles};

/// Nothing is pruned.
const OFF: &str = "off";
/// In seconds.
const MINUTE: u64 = 60;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawGate {
    listen: SocketAddr,
    database: String,
    workspace: String,
    limits: RawLimits,
    denied: BTreeSet<String>,
    allow_targets: Vec<String>,
    hosts: Vec<String>,
    tls_cert: Option<PathBuf>,
    tls_key: Option<PathBuf>,
    behind_proxy: bool,
    approval_ttl: String,
    keep_settled: String,
    trusted_proxies: Vec<String>,
    stop_seconds: u64,
    tools: BTreeMap<Spanned<String>, RawTool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawLimits {
    pending_per_workspace: u64,
    proposals_per_minute: u32,
    proposal_burst: u32,
    page_rows: u32,
    page_bytes: u64,
    body_bytes: u64,
    streams: u32,
    streams_per_token: u32,
}

impl Default for RawGate {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 7878)),
            database: "sqlite:gate.db".to_owned(),
            workspace: "default".to_owned(),
            limits: RawLimits::default(),
            denied: BTreeSet::new(),
            allow_targets: Vec::new(),
            hosts: Vec::new(),
            tls_cert: None,
            tls_key: None,
            behind_proxy: false,
            approval_ttl: "7d".to_owned(),
            keep_settled: OFF.to_owned(),
            trusted_proxies: Vec::new(),
            stop_seconds: 60,
            tools: BTreeMap::new(),
        }
    }
}

impl Default for RawLimits {
    fn default() -> Self {
        let limits = Limits::default();
        Self {
            pending_per_workspace: limits.pending_per_workspace,
            proposals_per_minute: limits.proposals_per_minute,
            proposal_burst: limits.proposal_burst,
            page_rows: limits.page_rows,
            page_bytes: limits.page_bytes,
            body_bytes: limits.body_bytes,
            streams: limits.streams,
            streams_per_token: limits.streams_per_token,
        }
    }
}

impl RawLimits {
    fn validate(self) -> Limits {
        Limits {
            pending_per_workspace: self.pending_per_workspace,
            proposals_per_minute: self.proposals_per_minute,
            proposal_burst: self.proposal_burst,
            page_rows: self.page_rows.max(1),
            page_bytes: self.page_bytes,
            body_bytes: self.body_bytes,
            streams: self.streams,
            streams_per_token: self.streams_per_token,
        }
    }
}

impl RawGate {
    /// `text` is the whole file: it tells the line of a mistake.
    pub(super) fn validate(self, text: &str, paths: &Paths, mistakes: &mut Mistakes) -> GateConfig {
        let denied = self.denied;
        let folder = paths.config.parent().unwrap_or(Path::new(""));
        let tools = self.tools.into_iter().filter_map(|(name, tool)| {
            let line = line_of(text, name.span().start);
            let name = name.into_inner();
            let wrong = |what: String| format!("line {line}, gate.tools.{name}: {what}");
            if denied.contains(&name) {
                let twice = "this tool is in gate.denied, too; take it out of one of the two";
                return mistakes.take(Err(wrong(twice.to_owned())));
            }
            let tool = mistakes.take(tool.validate(line, folder).map_err(wrong))?;
            Some((name, tool))
        });
        let tools = tools.collect();
        if self.workspace.trim().is_empty() {
            mistakes.0.push("gate.workspace is empty".to_owned());
        }
        let tls = match (self.tls_cert, self.tls_key) {
            (None, None) => None,
            (Some(cert), Some(key)) => Some(TlsFiles { cert: folder.join(cert), key: folder.join(key) }),
            _ => {
                mistakes.0.push("gate.tls_cert and gate.tls_key go together; give both or none".to_owned());
                None
            }
        };
        let approval_ttl =
            mistakes.take(span("gate.approval_ttl", &self.approval_ttl, MINUTE)).unwrap_or_default();
        let keep_settled = match self.keep_settled.as_str() {
            OFF => None,
            given => mistakes.take(span("gate.keep_settled", given, DAY)),
        };
        if self.stop_seconds > DAY {
            mistakes.0.push(format!("gate.stop_seconds is more than a day ({DAY})"));
        }
        let hosts = self.hosts.iter().filter_map(|name| mistakes.take(host(name))).collect();
        let proxies = self.trusted_proxies.iter().filter_map(|text| mistakes.take(proxy(text))).collect();
        GateConfig {
            file: paths.config.clone(),
            listen: self.listen,
            database: mistakes.take(database(&self.database, &paths.state)).unwrap_or_default(),
            workspace: self.workspace,
            limits: self.limits.validate(),
            denied,
            allow_targets: self.allow_targets,
            hosts,
            tls,
            behind_proxy: self.behind_proxy,
            approval_ttl,
            keep_settled,
            trusted_proxies: proxies,
            stop_within: Duration::from_secs(self.stop_seconds),
            tools,
        }
    }
}

/// A name as it stands in the header `Host`, without a port.
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

/// `sqlite:PATH`; a relative path is inside the state folder.
pub fn database(text: &str, state: &Path) -> Result<PathBuf, String> {
    match text.strip_prefix("sqlite:") {
        Some("") => Err("the database sqlite: names no file".to_owned()),
        Some(path) => Ok(state.join(path)),
        None => Err(format!("the database {text:?} is not sqlite:PATH, the only kind there is")),
    }
}
