//! The configuration as it is written, and the way from there to what it means.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use super::paths::Paths;
use super::{Bound, Config, Keys, NamedFilter, Targets, Watch, time_span};

mod gate;
mod notify;
mod source;
mod tool;
mod ui;

pub use gate::database;

use self::gate::RawGate;
use self::notify::{Around, RawRule};
use self::source::RawSource;
use self::ui::RawUi;

/// In seconds.
const DAY: u64 = 24 * 60 * 60;

/// A configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("cannot read the configuration {path}: {error}")]
    Read { path: PathBuf, error: std::io::Error },
    /// The message names the line, and the nearest known key for an unknown one.
    #[error("the configuration {path} has a mistake:\n{message}")]
    Parse { path: PathBuf, message: String },
    #[error("the configuration {path} has a mistake: {message}")]
    Meaning { path: PathBuf, message: String },
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct RawConfig {
    reviewer: RawReviewer,
    source: Vec<RawSource>,
    ui: RawUi,
    filter: Vec<RawFilter>,
    keys: BTreeMap<String, toml::Spanned<Vec<String>>>,
    watch: RawWatch,
    notify: Vec<toml::Spanned<RawRule>>,
    gate: RawGate,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct RawReviewer {
    name: Option<String>,
    reasons: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFilter {
    name: String,
    text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawWatch {
    poll_seconds: u64,
    stale_seconds: u64,
    target_minutes: u64,
    high_risk_minutes: u64,
    expiring_minutes: u64,
    growing_minutes: u64,
    reviewers: bool,
}

impl Default for RawWatch {
    fn default() -> Self {
        Self {
            poll_seconds: 10,
            stale_seconds: 45,
            target_minutes: 60,
            high_risk_minutes: 15,
            expiring_minutes: 10,
            growing_minutes: 15,
            reviewers: false,
        }
    }
}

impl Config {
    /// Reads the file of `paths`. A missing file means the defaults, unless somebody named it.
    pub fn load(paths: &Paths) -> Result<Self, ConfigError> {
        match std::fs::read_to_string(&paths.config) {
            Ok(text) => Self::parse(&text, paths),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !paths.config_named => {
                Self::parse("", paths)
            }
            Err(error) => Err(ConfigError::Read { path: paths.config.clone(), error }),
        }
    }

    /// Takes the text of a configuration file; `paths` is where relative things are, and names the file in messages.
    pub fn parse(text: &str, paths: &Paths) -> Result<Self, ConfigError> {
        let path = || paths.config.clone();
        let raw: RawConfig = toml::from_str(text)
            .map_err(|error| ConfigError::Parse { path: path(), message: with_nearest(&error) })?;
        raw.meaning(text, paths).map_err(|message| ConfigError::Meaning { path: path(), message })
    }
}

impl RawConfig {
    fn meaning(self, text: &str, paths: &Paths) -> Result<Config, String> {
        let folder = paths.config.parent().unwrap_or(Path::new(""));
        let sources =
            self.source.into_iter().map(|source| source.meaning(folder)).collect::<Result<Vec<_>, _>>()?;
        for (n, source) in sources.iter().enumerate() {
            if sources.iter().skip(n + 1).any(|other| other.name == source.name) {
                return Err(format!(
                    "two sources are named {:?}; give each its own name",
                    source.name.as_str()
                ));
            }
        }
        let keys = Keys { preset: self.ui.preset(), bound: bound(self.keys, text) };
        let ui = self.ui.meaning(text, folder)?;
        let names: Vec<_> = sources.iter().map(|source| &source.name).collect();
        let around = Around { text, folder, sources: &names, way: &ui.notify };
        let notify = notify::rules(self.notify, &around)?;
        Ok(Config {
            reviewer: self.reviewer.name.filter(|name| !name.trim().is_empty()),
            reasons: reasons(self.reviewer.reasons)?,
            sources,
            keys,
            ui,
            filters: self
                .filter
                .into_iter()
                .map(|RawFilter { name, text }| NamedFilter { name, text })
                .collect(),
            watch: self.watch.meaning()?,
            notify,
            gate: self.gate.meaning(text, paths)?,
        })
    }
}

impl RawWatch {
    fn meaning(self) -> Result<Watch, String> {
        const WEEK: u64 = 7 * DAY / 60;
        let minutes = |key, given| seconds(key, given, WEEK).map(|it| it * 60);
        let poll = seconds("watch.poll_seconds", self.poll_seconds, 3_600)?;
        let stale_after = seconds("watch.stale_seconds", self.stale_seconds, DAY)?;
        let targets = Targets {
            age: minutes("watch.target_minutes", self.target_minutes)?,
            high_risk: minutes("watch.high_risk_minutes", self.high_risk_minutes)?,
            expiring: minutes("watch.expiring_minutes", self.expiring_minutes)?,
            growing: minutes("watch.growing_minutes", self.growing_minutes)?,
            poll,
            stale_after,
        };
        Ok(Watch { poll, stale_after, targets, reviewers: self.reviewers })
    }
}

/// With the line of each.
fn bound(keys: BTreeMap<String, toml::Spanned<Vec<String>>>, text: &str) -> BTreeMap<String, Bound> {
    let keys = keys.into_iter().map(|(name, keys)| {
        let line = line_of(text, keys.span().start);
        (name, Bound { keys: keys.into_inner(), line })
    });
    keys.collect()
}

/// Each is one line that says something.
fn reasons(given: Vec<String>) -> Result<Vec<String>, String> {
    match given.iter().find(|reason| reason.trim().is_empty() || reason.contains(['\n', '\r'])) {
        Some(wrong) => Err(format!("reviewer.reasons has {wrong:?}; a reason is one line of text")),
        None => Ok(given.into_iter().map(|reason| reason.trim().to_owned()).collect()),
    }
}

/// A time like `7d` that makes sense: `least` seconds at least, and ten years at most.
fn span(key: &str, given: &str, least: u64) -> Result<Duration, String> {
    let span = time_span(given)
        .ok_or_else(|| format!("{key} {given:?} is no time; write it like \"12h\" or \"30d\""))?;
    match span.as_secs() {
        short if short < least => {
            Err(format!("{key} is {given}; the least is {}", if least < DAY { "1m" } else { "1d" }))
        }
        long if long > 3_650 * DAY => Err(format!("{key} is {given}; the most is 3650d")),
        _ => Ok(span),
    }
}

/// A time that makes sense: with none at all nothing would ever end well, and one beyond `most` is a typing mistake.
fn seconds(key: &str, given: u64, most: u64) -> Result<Duration, String> {
    match given {
        0 => Err(format!("{key} is 0; the least is 1")),
        given if given > most => Err(format!("{key} is {given}; the most is {most}")),
        given => Ok(Duration::from_secs(given)),
    }
}

/// The line, counted from 1, of the byte `at`.
fn line_of(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}

/// The parser's message, which has line and column, and the nearest known key for an unknown one.
fn with_nearest(error: &toml::de::Error) -> String {
    let quoted: Vec<&str> = error.message().split('`').skip(1).step_by(2).collect();
    let nearest = match quoted.split_first() {
        Some((unknown, known)) if error.message().starts_with("unknown") => {
            let scored = known.iter().map(|key| (strsim::jaro_winkler(unknown, key), key));
            scored.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(score, _)| *score > 0.6)
        }
        _ => None,
    };
    let said = without_secrets(&error.to_string());
    match nearest {
        Some((_, key)) => format!("{said}did you mean `{key}`?"),
        None => said,
    }
}

/// The parser quotes the line that is wrong, and what stands there. Who writes a token where none belongs must not find it in
/// a log.
fn without_secrets(message: &str) -> String {
    const SECRET: [&str; 5] = ["token", "secret", "password", "authorization", "bearer"];
    let is_secret = |key: &str| SECRET.iter().any(|word| key.to_ascii_lowercase().contains(word));
    let quoted = |line: &str| line.split_once(" | ")?.1.split_once('=').map(|(key, _)| key.to_owned());
    if !message.lines().filter_map(quoted).any(|key| is_secret(&key)) {
        return message.to_owned();
    }
    let kept = |line: &str| match (line.split_once('='), line.split_once('"'), line.rsplit_once('"')) {
        (Some((before, _)), ..) if line.contains(" | ") => format!("{before}= …\n"),
        (_, Some((before, _)), Some((_, after))) => format!("{before}…{after}\n"),
        _ => format!("{line}\n"),
    };
    message.lines().map(kept).collect()
}
