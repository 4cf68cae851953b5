//! The tables `[gate.tools.NAME]`: what the gate does with each tool.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use super::check::{DAY, seconds, span};
use crate::domain::{Effect, PreviewShape, Risk};

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
    /// So many different people must approve it, or more where its risk asks for more.
    pub approvals: u64,
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Retry {
    /// Running it twice does no harm: run it again, up to five times in all.
    Safe,
    /// A human decides: the action becomes `unknown`.
    #[default]
    Manual,
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
            approvals: 1,
            schema: None,
            preview: None,
        }
    }
}

/// `[gate.approvals]`: how many different people must approve an action of this risk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RiskApprovals {
    pub low: u64,
    pub medium: u64,
    pub high: u64,
    pub critical: u64,
}

impl Default for RiskApprovals {
    fn default() -> Self {
        Self { low: 1, medium: 1, high: 1, critical: 1 }
    }
}

impl RiskApprovals {
    /// An unknown word counts as high.
    pub const fn of(&self, risk: &Risk) -> u64 {
        match risk {
            Risk::Low => self.low,
            Risk::Medium => self.medium,
            Risk::High | Risk::Other(_) => self.high,
            Risk::Critical => self.critical,
        }
    }

    /// From low to critical.
    pub const fn each(&self) -> [u64; 4] {
        [self.low, self.medium, self.high, self.critical]
    }

    pub(super) fn validate(self) -> Result<Self, String> {
        for (risk, given) in ["low", "medium", "high", "critical"].iter().zip(self.each()) {
            people(given).map_err(|what| format!("gate.approvals.{risk} {what}"))?;
        }
        Ok(self)
    }
}

/// More people than this are not asked for one action.
const PEOPLE_MAX: u64 = 5;

fn people(given: u64) -> Result<u64, String> {
    if (1..=PEOPLE_MAX).contains(&given) {
        return Ok(given);
    }
    Err(format!("is {given}; it is the number of people who must approve, 1 to {PEOPLE_MAX}"))
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawTool {
    risk: Option<String>,
    effect: Option<String>,
    title: Option<String>,
    executor: RawExecutor,
    url: Option<String>,
    argv: Option<Vec<String>>,
    env: Option<BTreeMap<String, String>>,
    retry: Retry,
    timeout_seconds: Option<u64>,
    expires_after_seconds: Option<u64>,
    approval_ttl: Option<String>,
    approvals: Option<u64>,
    schema: Option<PathBuf>,
    preview: Option<RawPreview>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct RawPreview {
    fields: Vec<String>,
    items: Option<String>,
    item_fields: Vec<String>,
}

#[derive(Deserialize, Clone, Copy, Default, PartialEq)]
#[serde(rename_all = "kebab-case")]
enum RawExecutor {
    #[default]
    Pull,
    Http,
    Command,
}

impl RawTool {
    /// `line` is where its table begins; `folder` is where relative files are.
    pub(super) fn validate(self, line: usize, folder: &Path) -> Result<ToolConfig, String> {
        let executor = match (self.executor, self.url, self.argv) {
            (RawExecutor::Pull, None, None) => Executor::Pull,
            (RawExecutor::Http, Some(url), None)
                if url.starts_with("http://") || url.starts_with("https://") =>
            {
                Executor::Http { url }
            }
            (RawExecutor::Command, None, Some(argv)) if !argv.is_empty() => {
                Executor::Command { argv, env: self.env.clone().unwrap_or_default() }
            }
            (RawExecutor::Pull, ..) => return Err("executor \"pull\" takes neither url nor argv".to_owned()),
            (RawExecutor::Http, ..) => {
                return Err("executor \"http\" needs url = \"http(s)://…\" and no argv".to_owned());
            }
            (RawExecutor::Command, ..) => {
                return Err("executor \"command\" needs argv = [\"program\", …] and no url".to_owned());
            }
        };
        if self.env.is_some() && self.executor != RawExecutor::Command {
            return Err("env belongs to executor \"command\"".to_owned());
        }
        if self.effect.as_deref() == Some("read") {
            return Err("effect \"read\" is not gated; let the agent call this tool directly".to_owned());
        }
        let risk = known(self.risk.as_deref(), Risk::parse, |risk| !matches!(risk, Risk::Other(_)), "risk")?;
        let effect =
            known(self.effect.as_deref(), Effect::parse, |it| !matches!(it, Effect::Other(_)), "effect")?;
        Ok(ToolConfig {
            line,
            risk,
            effect,
            title: self.title,
            executor,
            retry: self.retry,
            timeout: match self.timeout_seconds {
                Some(given) => seconds("timeout_seconds", given, DAY)?,
                None => ToolConfig::default().timeout,
            },
            expires_after: self
                .expires_after_seconds
                .map(|given| seconds("expires_after_seconds", given, 365 * DAY))
                .transpose()?,
            approval_ttl: match self.approval_ttl {
                Some(_) if self.executor != RawExecutor::Pull => {
                    return Err(
                        "approval_ttl belongs to executor \"pull\": the gate runs the others at once"
                            .to_owned(),
                    );
                }
                Some(given) => Some(span("approval_ttl", &given, 60)?),
                None => None,
            },
            approvals: people(self.approvals.unwrap_or(1)).map_err(|what| format!("approvals {what}"))?,
            schema: self.schema.map(|path| folder.join(path)),
            preview: self.preview.map(RawPreview::validate).transpose()?,
        })
    }
}

impl RawPreview {
    fn validate(self) -> Result<PreviewShape, String> {
        let Self { fields, items, item_fields } = self;
        if items.is_none() && !item_fields.is_empty() {
            return Err("preview.item_fields needs preview.items, the array that they are in".to_owned());
        }
        Ok(PreviewShape { fields, items, item_fields })
    }
}

/// In our own configuration an unknown word is a typing mistake, not something new.
fn known<T>(
    word: Option<&str>,
    parse: fn(&str) -> T,
    is_known: fn(&T) -> bool,
    what: &str,
) -> Result<Option<T>, String> {
    match word.map(|word| (word, parse(word))) {
        None => Ok(None),
        Some((_, meaning)) if is_known(&meaning) => Ok(Some(meaning)),
        Some((word, _)) => Err(format!("{what} {word:?} is not a known word")),
    }
}
