//! What the reviewer saw, what it is now, and their edit: beside each other where there is room, else below each other.

use std::collections::{HashMap, HashSet};

use crate::domain::Edits;
use crate::domain::json::{self, Member};
use crate::text::{self, Shown};
use crate::tui::model::{Cached, Content};

use super::diff;
use super::fields::{key_of, readable};
use super::{Kind, Made, Writer};

/// Columns from which on three texts stand beside each other.
const WIDE: usize = 96;
/// A longer value, in bytes, is compared line by line and not shown three times.
const SHORT: usize = 4 << 10;
/// Columns for what says which of the three it is.
const LABEL: usize = 6;

pub(super) fn three(writer: &mut Writer, cached: &Cached, of: &Made, seen: &Content) {
    let now = cached.action.input.as_str();
    writer.ours(Kind::Warn, "! it changed since you saw it");
    let Some(before) = &seen.input else {
        let why = "What you saw is not at hand any more: it was longer than 256 kB, or placet was started again since.";
        writer.ours(Kind::Dim, why);
        writer.ours(Kind::Dim, format!("saw  {}", seen.digest));
        writer.ours(Kind::Dim, format!("now  {}", cached.digest));
        writer.blank();
        return diff::diff(writer, cached, of.edits.as_ref());
    };
    let (old, new) = (unique(before.as_str()), unique(now));
    let (Some(old), Some(new)) = (old, new) else {
        writer.ours(Kind::Key, "What you saw (-), and what it is now (+)");
        diff::changed(writer, &json::pretty(before.as_str()), &json::pretty(now));
        writer.blank();
        writer.ours(Kind::Key, "Your edit of what it is now");
        return diff::diff(writer, cached, of.edits.as_ref());
    };
    let columns = (writer.width >= WIDE && !of.stacked).then(|| (writer.width - 6) / 3);
    if let Some(column) = columns {
        beside(
            writer,
            column,
            [&[Shown::ours("what you saw")], &[Shown::ours("what it is now")], &[Shown::ours("your edit")]],
            [Kind::Dim; 3],
        );
    }
    let edits = of.edits.as_ref().and_then(|edits: &Edits| edits.as_json().members()).unwrap_or_default();
    let mut same = 0;
    // By key: an input may have many thousands of them.
    let [saw, has, asks] = [&old, &new, &edits].map(|members| by_key(members));
    let gone = old.iter().filter(|member| value(&has, member).is_none());
    let added = edits.iter().filter(|member| value(&has, member).is_none() && value(&saw, member).is_none());
    for member in new.iter().chain(gone).chain(added) {
        let [was, is, edit] = [&saw, &has, &asks].map(|values| value(values, member));
        if was.map(json::compact) == is.map(json::compact) && edit.is_none() {
            same += 1;
            continue;
        }
        writer.push(vec![(Kind::Key, key_of(member))]);
        let long = [was, is, edit].into_iter().flatten().any(|value| value.len() > SHORT);
        match columns {
            _ if long => by_line(writer, was, is, edit),
            Some(column) => {
                let cells = [was, is, edit].map(|value| cell(value, column));
                beside(writer, column, [&cells[0], &cells[1], &cells[2]], kinds(was, is));
            }
            None => below(writer, [was, is, edit]),
        }
    }
    writer.blank();
    writer.ours(Kind::Dim, format!("{} the same in what you saw and now", text::count(same, "other key")));
}

/// The members, when no key stands twice: else nobody knows which is which.
fn unique(text: &str) -> Option<Vec<Member<'_>>> {
    let members = json::members(text)?;
    let mut keys = HashSet::new();
    members.iter().all(|member| keys.insert(member.key.text.as_ref())).then_some(members)
}

fn by_key<'a>(members: &'a [Member<'_>]) -> HashMap<&'a str, &'a str> {
    members.iter().map(|member| (member.key.text.as_ref(), member.value)).collect()
}

fn value<'a>(values: &HashMap<&str, &'a str>, of: &Member<'_>) -> Option<&'a str> {
    values.get(of.key.text.as_ref()).copied()
}

fn kinds(was: Option<&str>, is: Option<&str>) -> [Kind; 3] {
    if was == is {
        [Kind::Dim, Kind::Dim, Kind::NewWord]
    } else {
        [Kind::Plain, Kind::NewWord, Kind::NewWord]
    }
}

fn cell(value: Option<&str>, width: usize) -> Vec<Shown> {
    let Some(value) = value else { return vec![Shown::ours("-")] };
    text::lines(&readable(value)).iter().flat_map(|line| line.wrap(width.max(text::NARROWEST))).collect()
}

/// Three texts in columns, with a line of ours between them.
fn beside(writer: &mut Writer, column: usize, cells: [&[Shown]; 3], kinds: [Kind; 3]) {
    let rows = cells.iter().map(|cell| cell.len()).max().unwrap_or_default();
    for row in 0..rows {
        let mut parts = Vec::new();
        for (cell, kind) in cells.iter().zip(kinds) {
            let text = cell.get(row).cloned().unwrap_or_default();
            let pad = column.saturating_sub(text.width());
            parts.extend([(kind, text), (Kind::Dim, Shown::ours(format!("{} \u{2502} ", " ".repeat(pad))))]);
        }
        parts.pop();
        writer.push(parts);
    }
}

fn below(writer: &mut Writer, values: [Option<&str>; 3]) {
    let width = writer.width.saturating_sub(LABEL + 2);
    let [was, is, _] = values;
    for ((name, value), kind) in ["saw", "now", "edit"].into_iter().zip(values).zip(kinds(was, is)) {
        if name == "edit" && value.is_none() {
            continue;
        }
        for (nth, line) in cell(value, width).into_iter().enumerate() {
            let label = if nth == 0 { name } else { "" };
            writer.push(vec![(Kind::Dim, Shown::ours(format!("  {label:<LABEL$}"))), (kind, line)]);
        }
    }
}

/// Long values: what differs, line by line.
fn by_line(writer: &mut Writer, was: Option<&str>, is: Option<&str>, edit: Option<&str>) {
    let text = |value: Option<&str>| value.map(readable).unwrap_or_default();
    writer.ours(Kind::Dim, "  what you saw (-), and what it is now (+)");
    diff::changed(writer, &text(was), &text(is));
    if edit.is_some() {
        writer.ours(Kind::Dim, "  what it is now (-), and your edit (+)");
        diff::changed(writer, &text(is), &text(edit));
    }
}
