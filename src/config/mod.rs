//! The configuration as the program uses it.
//!
//! A file is read as it is written and turned into what it means ([`Config`]); every mistake names its line and
//! what to do. Secrets are never in it: it says where they are ([`TokenFrom`]).

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::domain::{Effect, PreviewShape, Risk};

mod network;
mod notify;
pub mod paths;
mod raw;
pub mod secret;
mod source;

pub use network::{Network, NoNetwork};
pub use notify::{NotifyOn, NotifyRule, NotifyTo, Quiet, Webhook};
pub use raw::{ConfigError, database};
pub use secret::TokenFrom;
pub use source::{AgentsApi, Auth, Dendrux, Praxiom, ReviewKind, SourceConfig, SourceKind, Warden};

#[cfg(test)]
mod tests;

/// Everything a run of placet needs to know.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Who decides, for the journal and the screen; else the token's subject, else the login name.
    pub reviewer: Option<String>,
    /// Reasons that are often given, to be chosen with a key; one line each.
    pub reasons: Vec<String>,
    /// Empty: the embedded gate is the only source.
    pub sources: Vec<SourceConfig>,
    pub ui: Ui,
    /// At most nine have a key.
    pub filters: Vec<NamedFilter>,
    pub keys: Keys,
    pub watch: Watch,
    /// Empty: the few things that `[ui] notify` tells of.
    pub notify: Vec<NotifyRule>,
    pub gate: GateConfig,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Ui {
    pub borders: Borders,
    pub theme: ThemeChoice,
    /// After confirming, decisions wait so long before they are sent, and can be recalled; zero sends at once.
    pub hold: Duration,
    /// How the list begins.
    pub group: GroupBy,
    pub sort: SortBy,
    /// Newcomers are told the first keys.
    pub hints: bool,
    /// The wheel scrolls and a click selects; else the terminal keeps the mouse.
    pub mouse: bool,
    /// Counts in the terminal's title.
    pub title: bool,
    pub notify: Notify,
    pub keyboard: Keyboard,
    /// Nothing on the screen changes by itself every second.
    pub reduced_motion: bool,
    /// Sixteen colours, ASCII borders, five frames a second, and no preview until it is asked for.
    pub low_bandwidth: bool,
    /// What must be read to its end before it can be approved.
    pub read_before_approve: crate::domain::ReadFirst,
}

/// How a reviewer who looks elsewhere is told that something waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notify {
    /// OSC 9 where the terminal is known to take it, else the bell; both inside tmux.
    Auto,
    Osc9,
    Osc777,
    Osc99,
    Bell,
    /// A program and its arguments; the text on its standard input.
    Command(Vec<String>),
    Off,
}

/// Which way the terminal reports keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keyboard {
    /// The kitty protocol in terminals that are known to have it.
    Auto,
    Kitty,
    Legacy,
}

/// Which colours the screen has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ThemeChoice {
    /// The terminal's own sixteen.
    Terminal,
    /// `Dark` or `Light`, by the terminal's background.
    Auto,
    Dark,
    Light,
    HighContrast,
    ColourBlind,
    ColourBlindLight,
    File(PathBuf),
}

/// By what actions stand together in the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GroupBy {
    #[default]
    Batch,
    Mission,
    Checkpoint,
    Agent,
    Source,
    /// Near-identical actions.
    Shape,
}

/// What stands first in the list. The oldest does among equals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SortBy {
    /// The oldest.
    #[default]
    Age,
    /// The most harmful.
    Risk,
    /// What expires next.
    Expiry,
    Tool,
    Source,
}

/// A filter with a name, as it is written; the inbox reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFilter {
    pub name: String,
    pub text: String,
}

/// Which keys give which command; what the names mean is the screen's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keys {
    pub preset: Preset,
    /// By command name, replacing the keys that the preset has for it.
    pub bound: BTreeMap<String, Bound>,
}

/// The keys of one command, as `[keys]` has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bound {
    /// None unbinds it.
    pub keys: Vec<String>,
    /// Where that stands in the configuration file, counted from 1, for messages.
    pub line: usize,
}

/// What the keys are before `[keys]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preset {
    #[default]
    Default,
    Vim,
    Web,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Borders {
    Line,
    Ascii,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Watch {
    /// How often a source is polled where it pushes nothing, or while its stream is down.
    pub poll: Duration,
    /// No event and no tick for so long: the counts are called stale.
    pub stale_after: Duration,
    pub targets: Targets,
    pub queue_targets: QueueTargets,
    /// Who decided, and how fast, is shown where the source tells.
    pub reviewers: bool,
}

/// What a lead wants to be told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Targets {
    /// Nothing should wait for longer.
    pub age: Duration,
    /// Nothing of high risk should wait for longer.
    pub high_risk: Duration,
    /// What expires within this is told of.
    pub expiring: Duration,
    /// A queue that grew for so long is told of.
    pub growing: Duration,
    /// As [`Watch::poll`] and [`Watch::stale_after`]: when data is old.
    pub poll: Duration,
    pub stale_after: Duration,
    /// Some queue has a target of its own.
    pub by_queue: bool,
}

/// How long an action may wait, by the name of its agent, else of its tool.
pub type QueueTargets = BTreeMap<String, Duration>;

impl Default for Targets {
    fn default() -> Self {
        Self {
            age: Duration::from_hours(1),
            high_risk: Duration::from_mins(15),
            expiring: Duration::from_mins(10),
            growing: Duration::from_mins(15),
            poll: Duration::from_secs(10),
            stale_after: Duration::from_secs(45),
            by_queue: false,
        }
    }
}

/// The gate, embedded or served.
#[derive(Clone, Debug, PartialEq)]
pub struct GateConfig {
    /// The configuration file, for messages.
    pub file: PathBuf,
    /// The embedded gate takes the next free port when this one is taken; `gate serve` does not.
    pub listen: SocketAddr,
    pub database: PathBuf,
    /// The workspace that the first tokens belong to.
    pub workspace: String,
    pub limits: Limits,
    /// Tools whose proposals are refused; none of them is in `tools`.
    pub denied: BTreeSet<String>,
    /// `host` or `host:port`: where executors may send to although it is not https, or not public.
    pub allow_targets: Vec<String>,
    /// Names that callers may use for this gate, in lower case, besides its addresses and `localhost`.
    pub hosts: Vec<String>,
    /// `None`: plain HTTP.
    pub tls: Option<TlsFiles>,
    /// Something in front of the gate speaks TLS.
    pub behind_proxy: bool,
    /// How long an approval waits for an agent to claim the action, unless its tool says otherwise.
    pub approval_ttl: Duration,
    /// For how long settled actions are kept; `None`: for ever.
    pub keep_settled: Option<Duration>,
    /// Proxies of ours: each speaks for many clients.
    pub trusted_proxies: Vec<Network>,
    /// How long a gate that is told to stop waits for what runs.
    pub stop_within: Duration,
    pub tools: BTreeMap<String, ToolConfig>,
}

/// Certificate chain and private key, in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    pub cert: PathBuf,
    pub key: PathBuf,
}

/// What the gate does with one tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolConfig {
    /// Where its table begins in the configuration file, counted from 1, for messages; 0 is nowhere.
    pub line: usize,
    /// `None`: the built-in definition, else medium.
    pub risk: Option<Risk>,
    pub effect: Option<Effect>,
    /// Title template, as in `assets/tools`.
    pub title: Option<String>,
    pub executor: Executor,
    pub retry: Retry,
    /// How long one run may take.
    pub timeout: Duration,
    /// Proposals expire after so long unless they say otherwise; `None` is never.
    pub expires_after: Option<Duration>,
    /// How long an approval waits for an agent to claim the action; `None`: as the gate has it.
    pub approval_ttl: Option<Duration>,
    /// The file with the JSON Schema of its input.
    pub schema: Option<PathBuf>,
    /// `None`: the built-in one; an empty one: the proposer's own.
    pub preview: Option<PreviewShape>,
}

/// How an approved action is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Executor {
    /// The agent claims it and runs it itself.
    Pull,
    /// POST of the merged input to a fixed URL.
    Http { url: String },
    /// A fixed command; the merged input on standard input, no shell.
    Command { argv: Vec<String>, env: BTreeMap<String, String> },
}

/// What happens when an executor was lost in mid-run: a crash, a timeout, an answer 5xx.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// Running it twice does no harm: run it again, up to five times in all.
    Safe,
    /// A human decides: the action becomes `unknown`.
    Manual,
}

/// What one gate takes; a request beyond is refused with a message.
#[derive(Clone, Debug, PartialEq, Eq)]
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

impl GateConfig {
    /// A mistake in the table of `tool` that shows only when the gate starts: a file that is not there, a refused target.
    pub fn mistake(&self, tool: &str, what: &str) -> ConfigError {
        let line = self.tools.get(tool).map_or(0, |tool| tool.line);
        self.error(format!("line {line}, gate.tools.{tool}: {what}"))
    }

    /// Whether the gate may listen where it is told to: beyond this machine only when nobody on the way can read along.
    /// Fails with a sentence for the operator.
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

    /// Any other mistake that shows only then.
    pub fn error(&self, message: String) -> ConfigError {
        ConfigError::Meaning { path: self.file.clone(), message }
    }
}

/// `45s`, `90m`, `12h` or `30d`; `None` for anything else, and for no time at all.
pub fn time_span(text: &str) -> Option<Duration> {
    let (digits, seconds) = match text.char_indices().next_back()? {
        (at, 's') => (text.get(..at)?, 1),
        (at, 'm') => (text.get(..at)?, 60),
        (at, 'h') => (text.get(..at)?, 60 * 60),
        (at, 'd') => (text.get(..at)?, 24 * 60 * 60),
        _ => return None,
    };
    let number: u64 = digits.parse().ok().filter(|&number| number > 0)?;
    number.checked_mul(seconds).map(Duration::from_secs)
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

impl Default for ToolConfig {
    /// A tool without configuration: the agent runs it itself, and a crash in mid-run asks a human.
    fn default() -> Self {
        Self {
            line: 0,
            risk: None,
            effect: None,
            title: None,
            executor: Executor::Pull,
            retry: Retry::Manual,
            timeout: Duration::from_mins(1),
            expires_after: None,
            approval_ttl: None,
            schema: None,
            preview: None,
        }
    }
}
