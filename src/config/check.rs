//! Configuration errors, and checks shared by several tables.

use std::borrow::Cow;
use std::path::PathBuf;
use std::time::Duration;

use toml::de::{DeTable, DeValue};

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

    /// `text` is the whole file.
    pub fn of(mistakes: Vec<String>, text: &str, paths: &Paths) -> Self {
        let path = paths.config.clone();
        let mut mistakes = in_file_order(mistakes, text);
        if mistakes.len() > 1 {
            return Self::Several { path, mistakes };
        }
        let message = mistakes.pop().unwrap_or_default();
        if message.contains('\n') { Self::Parse { path, message } } else { Self::Meaning { path, message } }
    }
}

/// Sorts mistakes or warnings by their lines in the file, and adds the line where it is missing. Those without a line come last.
pub fn in_file_order(mistakes: Vec<String>, text: &str) -> Vec<String> {
    let (file, _) = DeTable::parse_recoverable(text);
    let with_line = |mistake: String| match named_line(&mistake) {
        Some(line) => (line, mistake),
        None => match place(&mistake, file.get_ref()).map(|at| line_of(text, at)) {
            Some(line) => (line, format!("line {line}, {mistake}")),
            None => (usize::MAX, mistake),
        },
    };
    let mut sorted: Vec<_> = mistakes.into_iter().map(with_line).collect();
    sorted.sort_by_key(|(line, _)| *line);
    sorted.into_iter().map(|(_, mistake)| mistake).collect()
}

fn named_line(mistake: &str) -> Option<usize> {
    let after = mistake.lines().next()?.split("line ").nth(1)?;
    after.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

/// Finds the key that a mistake begins with (`ui.hold_seconds must …`), or the table that it names (`source "a": url …`).
fn place(mistake: &str, table: &DeTable<'_>) -> Option<usize> {
    let at = |(key, value): (&toml::Spanned<Cow<'_, str>>, &toml::Spanned<DeValue<'_>>)| {
        let name = key.get_ref().as_ref();
        let rest = mistake.strip_prefix(name).or_else(|| mistake.strip_prefix(&format!("{name:?}")))?;
        let rest = rest.strip_prefix(['.', ':', ' '])?.trim_start();
        let inside = match value.get_ref() {
            DeValue::Table(table) => place(rest, table),
            DeValue::Array(tables) => tables.iter().find_map(|one| {
                let name = one.get_ref().get("name")?;
                let rest = rest.strip_prefix(&format!("{:?}: ", name.get_ref().as_str()?))?;
                place(rest, one.get_ref().as_table()?).or(Some(name.span().start))
            }),
            _ => None,
        };
        inside.or(Some(key.span().start))
    };
    table.iter().find_map(at)
}

/// Parses a time like `7d`, between `least` seconds and ten years.
pub(super) fn span(key: &str, given: &str, least: u64) -> Result<Duration, String> {
    let is_right = |span: &Duration| (least..=3_650 * DAY).contains(&span.as_secs());
    let from = if least < DAY { "1m" } else { "1d" };
    time_span(given).filter(is_right).ok_or_else(|| format!("{key} must be \"{from}\" to \"3650d\""))
}

/// Checks a number of seconds between 1 and `most`.
pub(super) fn seconds(key: &str, given: u64, most: u64) -> Result<Duration, String> {
    if (1..=most).contains(&given) {
        return Ok(Duration::from_secs(given));
    }
    Err(format!("{key} must be 1 to {most}"))
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

/// Formats a mistake such as `Unknown theme "drak". Did you mean "dark"? Themes: …`.
pub(super) fn unknown([one, all]: [&str; 2], word: &str, known: &[&str]) -> String {
    let hint = nearest(word, known.iter().copied()).map(|near| format!(" Did you mean {near:?}?"));
    format!("Unknown {one} {word:?}.{} {all}: {}", hint.unwrap_or_default(), known.join(", "))
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
