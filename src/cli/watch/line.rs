//! A line for a status bar.

use crate::cli::exit::Usage;
use crate::config::Targets;
use crate::domain::Look;
use crate::domain::time::limit_said;
use crate::inbox::figures::cells::Figure;
use crate::inbox::figures::{Board, words};

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Format {
    /// `None` for the default.
    parts: Option<Vec<Part>>,
}

#[derive(Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Field(&'static str),
}

type Field = fn(&Board, Targets) -> String;

/// The fields of `--format`. `missing` is the list of sources that are missing.
pub(super) const FIELDS: [(&str, Field); 18] = [
    ("state", |board, _| board.total.state.word().to_owned()),
    ("pending", |board, _| cell(board, Figure::Pending)),
    ("high", |board, _| cell(board, Figure::High)),
    ("oldest", |board, _| cell(board, Figure::Oldest)),
    ("over", |board, _| cell(board, Figure::Over)),
    ("target", |_, targets| limit_said(targets.age)),
    ("unknown", |board, _| board.total.unknown.to_string()),
    ("arrivals_now", |board, _| cell(board, Figure::InNow)),
    ("resolves_now", |board, _| cell(board, Figure::OutNow)),
    ("arrivals", |board, _| cell(board, Figure::InMean)),
    ("resolves", |board, _| cell(board, Figure::OutMean)),
    ("net", |board, _| board.total.rate.map_or_else(|| "?".to_owned(), |rate| words::net(rate.net()))),
    ("clears", |board, _| cell(board, Figure::Clears)),
    ("approved", |board, _| board.outcomes.approved.to_string()),
    ("rejected", |board, _| board.outcomes.rejected.to_string()),
    ("failed", |board, _| board.outcomes.failed.to_string()),
    ("alerts", |board, _| board.alerts.len().to_string()),
    ("missing", |_, _| String::new()),
];

fn cell(board: &Board, figure: Figure) -> String {
    figure.cell(&board.total, board.at).marked(false)
}

impl Format {
    pub(super) fn of(text: Option<&str>) -> Result<Self, Usage> {
        Ok(Self { parts: text.map(parts).transpose()? })
    }

    pub(super) fn line(&self, board: &Board, missing: &[String], targets: Targets) -> String {
        let Some(parts) = &self.parts else { return usual(board, missing, targets) };
        let mut line = String::new();
        for part in parts {
            match part {
                Part::Text(text) => line.push_str(text),
                Part::Field("missing") => line.push_str(&missing.join(", ")),
                Part::Field(name) => line.push_str(&field(name, board, targets)),
            }
        }
        if !parts.contains(&Part::Field("missing")) {
            line.push_str(&in_brackets(missing));
        }
        line
    }
}

fn parts(text: &str) -> Result<Vec<Part>, Usage> {
    let mut parts = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}', '\n', '\r', '\u{1b}']) {
        let (before, from) = rest.split_at(at);
        plain.push_str(before);
        if let Some(after) = from.strip_prefix("{{").or_else(|| from.strip_prefix("}}")) {
            plain.push_str(from.get(..1).unwrap_or_default());
            rest = after;
            continue;
        }
        let inner = from.strip_prefix('{').and_then(|inner| inner.split_once('}'));
        let Some((name, after)) = inner else {
            return Err(Usage(format!(
                "--format is one line of text with fields like {{pending}}; a brace that is text is written twice: {text:?}"
            )));
        };
        let Some((known, _)) = FIELDS.iter().find(|(known, _)| *known == name) else {
            let known = FIELDS.map(|(known, _)| known).join(", ");
            return Err(Usage(format!("--format has no field {name:?}; the fields are: {known}")));
        };
        parts.push(Part::Text(std::mem::take(&mut plain)));
        parts.push(Part::Field(known));
        rest = after;
    }
    plain.push_str(rest);
    parts.push(Part::Text(plain));
    parts.retain(|part| *part != Part::Text(String::new()));
    Ok(parts)
}

fn is_known(board: &Board) -> bool {
    board.sources.iter().any(|source| source.heard.is_some())
}

fn field(name: &str, board: &Board, targets: Targets) -> String {
    if !is_known(board) && name != "target" {
        return "?".to_owned();
    }
    let of = FIELDS.iter().find(|(known, _)| *known == name);
    of.map(|(_, of)| of(board, targets)).unwrap_or_default()
}

/// Formats `placet: 141 pending, 4 high, oldest 3 h 12!, 28 over 1 h (praxiom 2 m old)`. Leaves out zeros.
fn usual(board: &Board, missing: &[String], targets: Targets) -> String {
    format!("placet: {}{}", counts(board, targets), in_brackets(missing))
}

/// `141 pending, 4 high, oldest 3 h 12!, 28 over 1 h`.
pub(super) fn counts(board: &Board, targets: Targets) -> String {
    if !is_known(board) {
        return "no numbers".to_owned();
    }
    let total = &board.total;
    let mut said = vec![format!("{} pending", total.pending)];
    if total.high > 0 {
        said.push(format!("{} high", total.high));
    }
    if total.oldest.is_some() {
        said.push(format!("oldest {}", cell(board, Figure::Oldest)));
    }
    if total.over_target > 0 {
        said.push(format!("{} over {}", total.over_target, words::target(&targets)));
    }
    if total.unknown > 0 {
        said.push(format!("{} {}", total.unknown, Look::UNKNOWN.word));
    }
    said.join(", ")
}

fn in_brackets(missing: &[String]) -> String {
    if missing.is_empty() { String::new() } else { format!(" ({})", missing.join(", ")) }
}
