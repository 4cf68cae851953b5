//! The configuration file: read, validated, and converted to a [`Config`].

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::check::{ConfigError, Mistakes, line_of, nearest};
use super::gate::{GateConfig, RawGate};
use super::mcp::{self, McpTools, RawMcp};
use super::notify::{self, Around, NotifyRule, RawRule};
use super::paths::Paths;
use super::source::{RawSource, SourceConfig};
use super::ui::{Preset, Ui};
use super::watch::{RawWatch, Watch};

/// Maximum mistakes reported; further ones usually follow from others.
const TOLD: usize = 30;

#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Name of the reviewer; by default the token's subject, then the login name.
    pub reviewer: Option<String>,
    /// Common reasons, offered by key; one line each.
    pub reasons: Vec<String>,
    /// If empty, the embedded gate is the only source.
    pub sources: Vec<SourceConfig>,
    pub ui: Ui,
    /// Only the first nine have a key.
    pub filters: Vec<NamedFilter>,
    pub keys: Keys,
    pub watch: Watch,
    /// If empty, `[ui] notify` has a few default events.
    pub notify: Vec<NotifyRule>,
    pub gate: GateConfig,
    pub mcp: BTreeMap<String, McpTools>,
}

/// A named filter; the inbox parses its text.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedFilter {
    pub name: String,
    pub text: String,
}

/// Key bindings; the screen interprets the names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keys {
    pub preset: Preset,
    /// By command name. Replaces the preset's keys of a command.
    pub bound: BTreeMap<String, Bound>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bound {
    pub keys: Vec<String>,
    /// Line in the file (from 1), for messages.
    pub line: usize,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct RawConfig {
    reviewer: RawReviewer,
    source: Vec<RawSource>,
    ui: Ui,
    filter: Vec<NamedFilter>,
    keys: BTreeMap<String, toml::Spanned<Vec<String>>>,
    watch: RawWatch,
    notify: Vec<toml::Spanned<RawRule>>,
    gate: RawGate,
    mcp: BTreeMap<String, RawMcp>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct RawReviewer {
    name: Option<String>,
    reasons: Vec<String>,
}

impl Config {
    /// Loads the file of `paths`. A missing file means the defaults, unless it was named explicitly.
    pub fn load(paths: &Paths) -> Result<Self, ConfigError> {
        Self::parse(&text(paths)?, paths)
    }

    /// Parses a configuration. `paths` resolves relative paths and names the file in messages.
    pub fn parse(text: &str, paths: &Paths) -> Result<Self, ConfigError> {
        let (config, mistakes) = Self::parse_what_is_right(text, paths);
        if mistakes.is_empty() { Ok(config) } else { Err(ConfigError::of(mistakes, text, paths)) }
    }

    pub fn source_at(&self, urls: &[String]) -> Option<&SourceConfig> {
        let has = |source: &SourceConfig, url: &String| source.urls().any(|one| one == url);
        self.sources.iter().find(|source| urls.iter().all(|url| has(source, url)))
    }

    /// Like [`load`](Self::load), but leaves out wrong parts and returns all mistakes, and the file's text.
    pub fn load_what_is_right(paths: &Paths) -> Result<(Self, Vec<String>, String), ConfigError> {
        let text = text(paths)?;
        let (config, mistakes) = Self::parse_what_is_right(&text, paths);
        Ok((config, mistakes, text))
    }

    pub(super) fn parse_what_is_right(text: &str, paths: &Paths) -> (Self, Vec<String>) {
        let mut mistakes = Mistakes::default();
        let raw = readable(text, &mut mistakes);
        let config = raw.validate(text, paths, &mut mistakes);
        (config, mistakes.0)
    }
}

fn text(paths: &Paths) -> Result<String, ConfigError> {
    match std::fs::read_to_string(&paths.config) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !paths.config_named => {
            Ok(String::new())
        }
        Err(error) => Err(ConfigError::Read { path: paths.config.clone(), error }),
    }
}

/// Parses the valid part: blanks each wrong statement and parses again.
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

/// Blanks the statement at `span` without moving lines; for the head of a table, its whole body. `None` if the rest
/// cannot be parsed.
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
                mistakes.0.push(format!("source {name:?}: two have this name; give each its own"));
            }
        }
        let keys = Keys { preset: self.ui.keymap, bound: bound(self.keys, text) };
        let ui = self.ui.validate(folder, mistakes);
        let names: Vec<_> = sources.iter().map(|source| &source.name).collect();
        let around = Around { text, folder, sources: &names, way: &ui.notify };
        let notify = notify::rules(self.notify, &around, mistakes);
        Config {
            reviewer: self.reviewer.name.filter(|name| !name.trim().is_empty()),
            reasons: mistakes.take(reasons(self.reviewer.reasons)).unwrap_or_default(),
            keys,
            ui,
            filters: self.filter,
            watch: self.watch.validate(mistakes),
            notify,
            gate: self.gate.validate(text, paths, mistakes),
            mcp: mcp::servers(self.mcp, mistakes),
            sources,
        }
    }
}

fn bound(keys: BTreeMap<String, toml::Spanned<Vec<String>>>, text: &str) -> BTreeMap<String, Bound> {
    let keys = keys.into_iter().map(|(name, keys)| {
        let line = line_of(text, keys.span().start);
        (name, Bound { keys: keys.into_inner(), line })
    });
    keys.collect()
}

fn reasons(given: Vec<String>) -> Result<Vec<String>, String> {
    match given.iter().find(|reason| reason.trim().is_empty() || reason.contains(['\n', '\r'])) {
        Some(wrong) => Err(format!("reviewer.reasons has {wrong:?}; a reason is one line of text")),
        None => Ok(given.into_iter().map(|reason| reason.trim().to_owned()).collect()),
    }
}

fn with_nearest(error: &toml::de::Error) -> String {
    let quoted: Vec<&str> = error.message().split('`').skip(1).step_by(2).collect();
    let nearest = match quoted.split_first() {
        Some((unknown, known)) if error.message().starts_with("unknown") => {
            nearest(unknown, known.iter().copied())
        }
        _ => None,
    };
    let said = without_secrets(&error.to_string());
    match nearest {
        Some(key) => format!("{said}did you mean `{key}`?"),
        None => said,
    }
}

/// Removes possible secrets from a parser message, which quotes the line, because messages are logged.
fn without_secrets(message: &str) -> String {
    const SECRET: [&str; 5] = ["token", "secret", "password", "authorization", "bearer"];
    let is_secret = |key: &str| SECRET.iter().any(|word| key.to_ascii_lowercase().contains(word));
    let quoted = |line: &str| line.split_once(" | ")?.1.split_once('=').map(|(key, _)| key.to_owned());
    // A URL may contain a password.
    let holds_login = message.contains("://") && message.contains('@');
    if !holds_login && !message.lines().filter_map(quoted).any(|key| is_secret(&key)) {
        return message.to_owned();
    }
    let kept = |line: &str| match (line.split_once('='), line.split_once('"'), line.rsplit_once('"')) {
        (Some((before, _)), ..) if line.contains(" | ") => format!("{before}= …\n"),
        (_, Some((before, _)), Some((_, after))) => format!("{before}…{after}\n"),
        _ if holds_login && line.contains('@') => "…\n".to_owned(),
        _ => format!("{line}\n"),
    };
    message.lines().map(kept).collect()
}
