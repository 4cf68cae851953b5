//! Configuration errors, and checks shared by several tables.

use std::path::PathBuf;
use std::time::Duration;

use super::paths::Paths;
use crate::domain::time::time_span;

pub(super) const DAY: u64 = 24 * 60 * 60;

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("cannot read the configuration {path}: {error}")]
    Read { path: PathBuf, error: std::io::Error },
    /// The message names the line and, for an unknown key, the nearest known one.
    #[error("the configuration {path} has a mistake:\n{message}")]
    Parse { path: PathBuf, message: String },
    #[error("the configuration {path} has a mistake: {message}")]
    Meaning { path: PathBuf, message: String },
    #[error("the configuration {path} has {} mistakes:\n{}", mistakes.len(), listed(mistakes))]
    Several { path: PathBuf, mistakes: Vec<String> },
}

/// Mistakes found so far. Wrong parts are left out, so that checking continues.
#[derive(Debug, Default)]
pub(super) struct Mistakes(pub(super) Vec<String>);

impl Mistakes {
    pub(super) fn take<T>(&mut self, result: Result<T, String>) -> Option<T> {
        result.map_err(|mistake| self.0.push(mistake)).ok()
    }
}

/// Lists one mistake per line; further lines of a mistake are indented.
fn listed(mistakes: &[String]) -> String {
    let one = |mistake: &String| format!("- {}", mistake.trim_end().replace('\n', "\n  "));
    mistakes.iter().map(one).collect::<Vec<_>>().join("\n")
}

impl ConfigError {
    pub fn into_message(self) -> String {
        match self {
            Self::Parse { message, .. } | Self::Meaning { message, .. } => message,
            other => other.to_string(),
        }
    }

    pub fn of(mut mistakes: Vec<String>, paths: &Paths) -> Self {
        let path = paths.config.clone();
        if mistakes.len() > 1 {
            return Self::Several { path, mistakes };
        }
        let message = mistakes.pop().unwrap_or_default();
        if message.contains('\n') { Self::Parse { path, message } } else { Self::Meaning { path, message } }
    }
}

/// Parses a time like `7d`, between `least` seconds and ten years.
pub(super) fn span(key: &str, given: &str, least: u64) -> Result<Duration, String> {
    let span = time_span(given)
        .ok_or_else(|| format!("{key} {given:?} is not a time; write it like \"12h\" or \"30d\""))?;
    match span.as_secs() {
        short if short < least => {
            Err(format!("{key} is {given}; the least is {}", if least < DAY { "1m" } else { "1d" }))
        }
        long if long > 3_650 * DAY => Err(format!("{key} is {given}; the most is 3650d")),
        _ => Ok(span),
    }
}

/// Checks a number of seconds between 1 and `most`.
pub(super) fn seconds(key: &str, given: u64, most: u64) -> Result<Duration, String> {
    match given {
        0 => Err(format!("{key} is 0; the least is 1")),
        given if given > most => Err(format!("{key} is {given}; the most is {most}")),
        given => Ok(Duration::from_secs(given)),
    }
}

/// The line (from 1) of the byte `at`.
pub(super) fn line_of(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}

/// Returns the most similar known word, if one is similar enough.
pub(super) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let scored = known.into_iter().map(|known| (strsim::jaro_winkler(word, known), known));
    let (score, nearest) = scored.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (score > 0.6).then_some(nearest)
}

/// Returns user, host and port of an http or https URL; `None` without a host.
pub(super) fn authority(url: &str) -> Option<&str> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    rest.split(['/', '?', '#']).next().filter(|authority| !authority.is_empty())
}

/// Finds a key that another kind of the same table takes. `keys`: key, whether it is set, the kinds that take it, and
/// their names.
pub(super) fn misplaced<K: PartialEq>(
    keys: &[(&'static str, bool, &[K], &'static str)],
    kind: &K,
) -> Option<(&'static str, &'static str)> {
    let found = keys.iter().find(|(_, set, kinds, _)| *set && !kinds.contains(kind));
    found.map(|(key, _, _, kinds)| (*key, *kinds))
}
