//! Folds in pretty-printed JSON. It works line by line: an opening bracket ends its line, and its closing bracket
//! begins another one.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::contract::tool::Language;
use crate::text;
use crate::text::Shown;

use super::long_text::Long;
use crate::tui::preview::page::line::{Kind, PageLine};
use crate::tui::preview::page::writer::{Block, Writer};

struct Folded {
    end: usize,
    members: usize,
    lines: usize,
}

pub(crate) fn raw(writer: &mut Writer, json: &Arc<String>, folds: &BTreeSet<usize>) {
    let colours = writer.colours;
    let part = |range| Block::Long(Long::new(Arc::clone(json), range, 0, Kind::Plain).json(colours));
    let mut at = 0;
    for &fold in folds {
        if fold < at {
            continue;
        }
        let Some(folded) = folded(json, fold) else { continue };
        if at < fold {
            writer.block(part(at..fold - 1));
        }
        let line = line(writer, json, fold, &folded);
        writer.block(Block::Fold(fold, line));
        at = folded.end;
    }
    if at < json.len() || json.is_empty() {
        writer.block(part(at..json.len()));
    }
}

/// Returns a fold's line: `"key": [ 12 elements in 140 lines ],`.
fn line(writer: &Writer, json: &str, start: usize, folded: &Folded) -> PageLine {
    let first = line_at(json, start);
    let last = json.get(start..folded.end).unwrap_or_default().trim_end_matches('\n');
    let last = last.rsplit('\n').next().unwrap_or_default().trim_start();
    let what = if first.ends_with('{') { "member" } else { "element" };
    let inside =
        format!(" … {} in {} … ", text::count(folded.members, what), text::count(folded.lines, "line"));
    let left = writer.width.saturating_sub(inside.len() + last.len());
    let mut parts = writer.painted(Some(Language::Json), Kind::Plain, text::part(first).cut(left));
    parts.extend([(Kind::Dim, Shown::ours(inside)), (Kind::Plain, text::part(last))]);
    PageLine { parts }
}

/// Returns the start of the value that folding at a line applies to: the one that opens there, or the innermost around
/// it.
pub(crate) fn at(json: &str, start: usize) -> Option<usize> {
    if opens(line_at(json, start)) {
        return Some(start);
    }
    let (mut end, mut depth) = (start.checked_sub(1)?, 0_usize);
    loop {
        let before = json.get(..end)?;
        let start = before.rfind('\n').map_or(0, |lf| lf + 1);
        let line = json.get(start..end)?;
        // A line that closes a value opens no other.
        if opens(line) {
            match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return Some(start),
            }
        } else if closes(line) {
            depth += 1;
        }
        end = start.checked_sub(1)?;
    }
}

/// Returns everything that can be folded except the outermost value, unless that is the only one.
pub(crate) fn all(json: &str) -> BTreeSet<usize> {
    let mut at = 0;
    let mut starts: BTreeSet<usize> = json
        .split_inclusive('\n')
        .filter_map(|line| {
            let start = at;
            at += line.len();
            opens(line.trim_end_matches('\n')).then_some(start)
        })
        .collect();
    if starts.len() > 1 {
        starts.remove(&0);
    }
    starts
}

fn folded(json: &str, start: usize) -> Option<Folded> {
    let (mut at, mut depth, mut members, mut lines) = (start, 0_usize, 0, 0);
    for line in json.get(start..)?.split_inclusive('\n') {
        at += line.len();
        let line = line.trim_end_matches('\n');
        if closes(line) {
            depth = depth.checked_sub(1)?;
        } else {
            members += usize::from(depth == 1);
        }
        if opens(line) {
            depth += 1;
        }
        if depth == 0 {
            return (lines > 0).then(|| Folded { end: at, members, lines: lines - 1 });
        }
        lines += 1;
    }
    None
}

fn line_at(json: &str, start: usize) -> &str {
    json.get(start..).unwrap_or_default().split('\n').next().unwrap_or_default()
}

fn opens(line: &str) -> bool {
    line.ends_with(['{', '['])
}

fn closes(line: &str) -> bool {
    line.trim_start().starts_with(['}', ']'])
}

#[cfg(test)]
mod tests {
    use crate::domain::json::pretty;

    use super::*;

    fn json() -> String {
        pretty(r#"{"a":[1,{"b":"{","c":[]}],"d":{"e":{"f":1}},"g":"["}"#)
    }

    fn start_of(json: &str, line: &str) -> usize {
        json.find(line).map(|at| json[..at].rfind('\n').map_or(0, |lf| lf + 1)).unwrap()
    }

    #[test]
    fn line_folds_the_value_it_opens_or_is_in() {
        let json = json();
        let at = |line: &str| at(&json, start_of(&json, line)).map(|at| line_at(&json, at).trim());

        assert_eq!(at("\"a\""), Some("\"a\": ["));
        assert_eq!(at("\"b\""), Some("{"));
        assert_eq!(at("\"g\""), Some("{"));
        assert_eq!(at("\"f\""), Some("\"e\": {"));
        assert_eq!(super::at("1", 0), None);
        assert_eq!(super::at("", 0), None);
    }

    #[test]
    fn fold_ends_at_its_bracket_and_counts_members() {
        let json = json();
        let folded = folded(&json, start_of(&json, "\"a\"")).unwrap();

        assert_eq!((folded.members, folded.lines), (2, 5));
        assert!(json[folded.end..].starts_with("  \"d\""), "{}", &json[folded.end..]);
        assert!(super::folded(&json, start_of(&json, "\"b\"")).is_none());
        assert_eq!(all(&json).len(), 4);
        assert_eq!(all("[\n  1\n]"), BTreeSet::from([0]));
    }
}
