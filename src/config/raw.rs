//! Reads the configuration file, validates it and converts it to [`Config`].

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
    #[error("the configuration {path} has {} mistakes:\n{}", mistakes.len(), listed(mistakes))]
    Several { path: PathBuf, mistakes: Vec<String> },
}

/// Mistakes that are told at once; beyond, most of them follow from others.
const TOLD: usize = 30;

/// Mistakes that were found so far. What is wrong is left out, so that the next one is found, too.
#[derive(Debug, Default)]
struct Mistakes(Vec<String>);

impl Mistakes {
    fn take<T>(&mut self, result: Result<T, String>) -> Option<T> {
        result.map_err(|mistake| self.0.push(mistake)).ok()
    }
}

/// One a line; what a mistake has to say beyond a line stands under it.
fn listed(mistakes: &[String]) -> String {
    let one = |mistake: &String| format!("- {}", mistake.trim_end().replace('\n', "\n  "));
    mistakes.iter().map(one).collect::<Vec<_>>().join("\n")
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
    queue: BTreeMap<String, RawQueue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawQueue {
    target_minutes: u64,
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
            queue: BTreeMap::new(),
        }
    }
}

impl Config {
    /// Reads the file of `paths`. A missing file means the defaults, unless somebody named it.
    pub fn load(paths: &Paths) -> Result<Self, ConfigError> {
        Self::parse(&text(paths)?, paths)
    }

    /// Takes the text of a configuration file; `paths` is where relative things are, and names the file in messages.
    pub fn parse(text: &str, paths: &Paths) -> Result<Self, ConfigError> {
        let (config, mistakes) = Self::parse_what_is_right(text, paths);
        if mistakes.is_empty() { Ok(config) } else { Err(ConfigError::of(mistakes, paths)) }
    }

    /// As [`load`](Self::load), and leaves out what is wrong, so that a check can go on and tell everything at once.
    pub fn load_what_is_right(paths: &Paths) -> Result<(Self, Vec<String>), ConfigError> {
        Ok(Self::parse_what_is_right(&text(paths)?, paths))
    }

    pub(super) fn parse_what_is_right(text: &str, paths: &Paths) -> (Self, Vec<String>) {
        let mut mistakes = Mistakes::default();
        let raw = readable(text, &mut mistakes);
        let config = raw.validate(text, paths, &mut mistakes);
        (config, mistakes.0)
    }
}

impl ConfigError {
    /// What is wrong, without the file's name.
    pub fn into_message(self) -> String {
        match self {
            Self::Parse { message, .. } | Self::Meaning { message, .. } => message,
            other => other.to_string(),
        }
    }

    /// There must be one at least.
    pub fn of(mut mistakes: Vec<String>, paths: &Paths) -> Self {
        let path = paths.config.clone();
        if mistakes.len() > 1 {
            return Self::Several { path, mistakes };
        }
        let message = mistakes.pop().unwrap_or_default();
        if message.contains('\n') { Self::Parse { path, message } } else { Self::Meaning { path, message } }
    }
}

/// The text of the file. A missing file means the defaults, unless somebody named it.
fn text(paths: &Paths) -> Result<String, ConfigError> {
    match std::fs::read_to_string(&paths.config) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !paths.config_named => {
            Ok(String::new())
        }
        Err(error) => Err(ConfigError::Read { path: paths.config.clone(), error }),
    }
}

/// Reads what can be read: a statement that is wrong is blanked, and the rest is read again.
fn readable(text: &str, mistakes: &mut Mistakes) -> RawConfig {
    let mut rest = text.to_owned();
    loop {
        let error = match toml::from_str(&rest) {
            Ok(raw) => return raw,
            Err(error) => error,
        };
        mistakes.0.push(with_nearest(&error));
        let less = error.span().and_then(|span| blanked(&rest, span));
        match less.filter(|_| mistakes.0.len() < TOLD) {
            Some(less) => rest = less,
            None => return RawConfig::default(),
        }
    }
}

/// The text without the statement at `span`; everything else stays on its line. The head of a table takes its table along. `None` where
/// that leaves nothing that can be read.
fn blanked(text: &str, span: std::ops::Range<usize>) -> Option<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let first = line_of(text, span.start) - 1;
    let is_head = |line: &&str| line.trim_start().starts_with('[');
    let mut last = line_of(text, span.end.saturating_sub(1).max(span.start)) - 1;
    if lines.get(first).is_some_and(is_head) {
        let heads = lines.iter().enumerate().skip(last + 1);
        last = heads.filter(|(_, line)| is_head(line)).map(|(n, _)| n - 1).next().unwrap_or(lines.len() - 1);
    }
    let blank =
        |line: &&str| -> String { line.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect() };
    // A value of several lines ends later.
    (last..lines.len())
        .map(|last| {
            let blanks = |(n, line): (usize, &&str)| {
                if (first..=last).contains(&n) { blank(line) } else { (*line).to_owned() }
            };
            lines.iter().enumerate().map(blanks).collect::<String>()
        })
        .find(|less| less != text && toml::from_str::<toml::Table>(less).is_ok())
}

impl RawConfig {
    fn validate(self, text: &str, paths: &Paths, mistakes: &mut Mistakes) -> Config {
        let folder = paths.config.parent().unwrap_or(Path::new(""));
        let sources = self.source.into_iter().filter_map(|source| mistakes.take(source.validate(folder)));
        let sources: Vec<_> = sources.collect();
        for (n, source) in sources.iter().enumerate() {
            if sources.iter().take(n).any(|other| other.name == source.name) {
                let name = source.name.as_str();
                mistakes.0.push(format!("two sources are named {name:?}; give each its own name"));
            }
        }
        let keys = Keys { preset: self.ui.preset(), bound: bound(self.keys, text) };
        let ui = self.ui.validate(text, folder, mistakes);
        let names: Vec<_> = sources.iter().map(|source| &source.name).collect();
        let around = Around { text, folder, sources: &names, way: &ui.notify };
        let notify = notify::rules(self.notify, &around, mistakes);
        Config {
            reviewer: self.reviewer.name.filter(|name| !name.trim().is_empty()),
            reasons: mistakes.take(reasons(self.reviewer.reasons)).unwrap_or_default(),
            keys,
            ui,
            filters: self
                .filter
                .into_iter()
                .map(|RawFilter { name, text }| NamedFilter { name, text })
                .collect(),
            watch: self.watch.validate(mistakes),
            notify,
            gate: self.gate.validate(text, paths, mistakes),
            sources,
        }
    }
}

impl RawWatch {
    fn validate(self, mistakes: &mut Mistakes) -> Watch {
        const WEEK: u64 = 7 * DAY / 60;
        let mut seconds =
            |key: &str, given, most| mistakes.take(seconds(key, given, most)).unwrap_or_default();
        let poll = seconds("watch.poll_seconds", self.poll_seconds, 3_600);
        let stale_after = seconds("watch.stale_seconds", self.stale_seconds, DAY);
        let mut minutes = |key: &str, given| seconds(key, given, WEEK) * 60;
        let targets = Targets {
            age: minutes("watch.target_minutes", self.target_minutes),
            high_risk: minutes("watch.high_risk_minutes", self.high_risk_minutes),
            expiring: minutes("watch.expiring_minutes", self.expiring_minutes),
            growing: minutes("watch.growing_minutes", self.growing_minutes),
            poll,
            stale_after,
            by_queue: !self.queue.is_empty(),
        };
        let target = |(name, queue): (String, RawQueue)| {
            let age = minutes(&format!("watch.queue.{name:?}.target_minutes"), queue.target_minutes);
            (name, age)
        };
        let queue_targets = self.queue.into_iter().map(target).collect();
        Watch { poll, stale_after, targets, queue_targets, reviewers: self.reviewers }
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
