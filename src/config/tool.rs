//! The tables `[gate.tools.NAME]`: configuration of tools at the gate.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use super::check::{DAY, seconds, span};
use crate::domain::{Effect, PreviewShape, Risk};

#[derive(Clone, Debug, PartialEq)]
pub struct ToolConfig {
    /// Line of its table in the file (from 1), for messages; 0 without a table.
    pub line: usize,
    /// If `None`, the built-in definition's, or else medium.
    pub risk: Option<Risk>,
    pub effect: Option<Effect>,
    /// Title template, as in `assets/tools`.
    pub title: Option<String>,
    pub executor: Executor,
    pub retry: Retry,
    pub timeout: Duration,
    /// Default lifetime of proposals; `None` means unlimited.
    pub expires_after: Option<Duration>,
    /// Time in which an agent must claim an approved action; `None` uses the gate's.
    pub approval_ttl: Option<Duration>,
    /// People who must approve; its risk may require more.
    pub approvals: u64,
    pub schema: Option<PathBuf>,
    /// `None` uses the built-in preview; an empty one, the proposer's.
    pub preview: Option<PreviewShape>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Executor {
    /// The agent claims the action and runs it.
    Pull,
    /// POSTs the merged input to a fixed URL.
    Http { url: String },
    /// Runs a fixed command without a shell, with the merged input on standard input.
    Command { argv: Vec<String>, env: BTreeMap<String, String> },
}

/// Handling of a run that was lost: a crash, a timeout, a 5xx answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Retry {
    /// Idempotent: run it again, up to five times in total.
    Safe,
    /// The action becomes `unknown`, for a person to settle.
    #[default]
    Manual,
}

impl Default for ToolConfig {
    /// A tool without a table: the agent runs it, and lost runs become `unknown`.
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

/// `[gate.approvals]`: number of people who must approve, by risk.
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
    /// An unknown risk counts as high.
    pub const fn of(&self, risk: &Risk) -> u64 {
        match risk {
            Risk::Low => self.low,
            Risk::Medium => self.medium,
            Risk::High | Risk::Other(_) => self.high,
            Risk::Critical => self.critical,
        }
    }

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
    /// `line` is the line of its table; relative files are in `folder`.
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
        let risk = known(self.risk.as_deref(), Risk::parse, |risk| !matches!(risk, Risk::Other(_)))
            .map_err(|word| format!("Unknown risk {word:?}: use low, medium, high or critical"))?;
        let effect = known(self.effect.as_deref(), Effect::parse, |it| !matches!(it, Effect::Other(_)))
            .map_err(|word| format!("Unknown effect {word:?}: use write, external or destructive"))?;
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

/// Parses a word. Unlike on the wire, an unknown word is an error, because it is a typing mistake.
fn known<T>(word: Option<&str>, parse: fn(&str) -> T, is_known: fn(&T) -> bool) -> Result<Option<T>, &str> {
    match word.map(|word| (word, parse(word))) {
        None => Ok(None),
        Some((_, meaning)) if is_known(&meaning) => Ok(Some(meaning)),
        Some((word, _)) => Err(word),
    }
}
