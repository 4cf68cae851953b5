//! The Diff tab: the target before and after, the reviewer's edits, and changes since the content was last on screen.

use std::collections::{HashMap, HashSet};

use similar::{ChangeTag, DiffOp, TextDiff};

use crate::domain::json::Member;
use crate::domain::{Edits, Untrusted, json};
use crate::text;
use crate::text::Shown;

use super::line::{Kind, key_of, moment, readable};
use super::made::{Cached, Content, Made};
use super::writer::Writer;
use crate::tui::preview::words;

/// Width from which three texts are shown side by side. Columns.
const WIDE: usize = 96;
/// A longer value is compared line by line instead of being shown three times. Bytes.
const SHORT: usize = 4 << 10;
const LABEL: usize = 6;

pub(crate) fn compared(writer: &mut Writer, cached: &Cached, of: &Made, zone: &jiff::tz::TimeZone) {
    let edits = of.edits.as_ref();
    match &of.seen {
        Some(seen) => {
            three(writer, cached, of, seen);
            writer.blank();
            target(writer, cached, zone);
        }
        None if cached.action.before.is_some() => {
            target(writer, cached, zone);
            writer.blank();
            writer.ours(
                Kind::Key,
                if of.status.is_pending() { words::YOUR_EDITS } else { words::THE_APPROVER_EDITS },
            );
            diff(writer, cached, edits);
        }
        None => {
            diff(writer, cached, edits);
            writer.blank();
            target(writer, cached, zone);
        }
    }
}

/// Writes the target as the agent reported it and as the input leaves it. The report is not verified.
fn target(writer: &mut Writer, cached: &Cached, zone: &jiff::tz::TimeZone) {
    let Some(before) = &cached.action.before else {
        return writer.ours(Kind::Dim, words::BEFORE_UNKNOWN);
    };
    let (before, after) = (before.as_str(), cached.action.input.as_str());
    writer.ours(Kind::Key, words::BEFORE_AND_AFTER);
    writer.ours(Kind::Dim, format!("reported {}", moment(cached.action.row.created_at, zone)));
    let (Some(old), Some(new)) = (unique(before), unique(after)) else {
        return changed(writer, &json::pretty(before), &json::pretty(after));
    };
    let [was, is] = [&old, &new].map(|members| by_key(members));
    let (mut same, mut silent) = (0, Vec::new());
    for member in &new {
        match value(&was, member) {
            None => silent.push(member.key.text.clone().into_owned()),
            Some(old) if json::compact(old) == json::compact(member.value) => same += 1,
            Some(old) => {
                writer.push(vec![(Kind::Key, key_of(member))]);
                changed(writer, &readable(old), &readable(member.value));
            }
        }
    }
    if same > 0 {
        writer.ours(Kind::Dim, words::unchanged_keys(&text::count(same, "key")));
    }
    if !silent.is_empty() {
        let names = Shown::ours(words::NOT_REPORTED).followed_by(text::part(&silent.join(", ")));
        writer.wrapped(Kind::Dim, 0, &names);
    }
    for member in old.iter().filter(|member| value(&is, member).is_none()) {
        writer.wrapped(Kind::Key, 0, &key_of(member).followed_by(Shown::ours(words::BEFORE_ONLY)));
        writer.long(Kind::Plain, 2, readable(member.value));
    }
}

fn three(writer: &mut Writer, cached: &Cached, of: &Made, seen: &Content) {
    let now = cached.action.input.as_str();
    writer.ours(Kind::Warn, words::CHANGED_SINCE_SEEN);
    let Some(before) = &seen.input else {
        let why = words::SEEN_IS_LOST;
        writer.ours(Kind::Dim, why);
        writer.ours(Kind::Dim, format!("saw  {}", seen.digest));
        writer.ours(Kind::Dim, format!("now  {}", cached.digest));
        writer.blank();
        return diff(writer, cached, of.edits.as_ref());
    };
    let (old, new) = (unique(before.as_str()), unique(now));
    let (Some(old), Some(new)) = (old, new) else {
        writer.ours(Kind::Key, words::SEEN_AND_NOW);
        changed(writer, &json::pretty(before.as_str()), &json::pretty(now));
        writer.blank();
        writer.ours(Kind::Key, words::EDITS_ON_NEW);
        return diff(writer, cached, of.edits.as_ref());
    };
    let columns = (writer.width >= WIDE && !of.stacked).then(|| (writer.width - 6) / 3);
    if let Some(column) = columns {
        beside(
            writer,
            column,
            [
                &[Shown::ours(words::WHAT_YOU_SAW)],
                &[Shown::ours(words::WHAT_IT_IS_NOW)],
                &[Shown::ours(words::YOUR_EDIT)],
            ],
            [Kind::Dim; 3],
        );
    }
    let edits = of.edits.as_ref().and_then(|edits: &Edits| edits.as_json().members()).unwrap_or_default();
    let mut same = 0;
    // Indexed by key, because an input may have many thousands.
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
    writer.ours(Kind::Dim, words::unchanged_since(&text::count(same, words::OTHER_FIELD)));
}

/// Returns the members if all keys are distinct; otherwise they cannot be matched.
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

fn by_line(writer: &mut Writer, was: Option<&str>, is: Option<&str>, edit: Option<&str>) {
    let [was, is, edit] = [was, is, edit].map(|value| value.map(readable));
    writer.ours(Kind::Dim, words::SEEN_AND_NOW_INDENTED);
    let is = is.unwrap_or_default();
    changed(writer, &was.unwrap_or_default(), &is);
    if let Some(edit) = edit {
        writer.ours(Kind::Dim, words::NOW_AND_EDIT);
        changed(writer, &is, &edit);
    }
}

// The reviewer's edits, compared by field, by line, and in changed lines by word.

/// Longer texts are compared at their ends only, because a diff is quadratic in the worst case. Bytes.
const COMPARED: usize = 64 << 10;
/// Texts with more lines are compared at their ends only.
const LINES: usize = 2_000;
/// Longer texts are compared by line only. Bytes.
const WORDS: usize = 16 << 10;

fn diff(writer: &mut Writer, cached: &Cached, edits: Option<&Edits>) {
    let Some(members) = edits.and_then(|edits| edits.as_json().members()) else {
        writer.ours(Kind::Dim, words::NO_EDITS);
        return;
    };
    for member in &members {
        writer.push(vec![(Kind::Key, key_of(member))]);
        match cached.action.input.member(&member.key.text) {
            Some(old) => changed(writer, &readable(old), &readable(member.value)),
            None => signed(writer, Kind::New, '+', readable(member.value).lines()),
        }
    }
    let kept = cached.action.input.members().map_or(0, |all| {
        all.iter().filter(|old| members.iter().all(|new| new.key.text != old.key.text)).count()
    });
    writer.blank();
    let others = match kept {
        0 => words::NO_OTHER_FIELD.to_owned(),
        some => words::unchanged(&text::count(some, words::OTHER_FIELD)),
    };
    writer.ours(Kind::Dim, others);
}

fn changed(writer: &mut Writer, old: &str, new: &str) {
    let (bytes, lines) = (old.len() + new.len(), old.lines().count() + new.lines().count());
    if bytes > COMPARED || lines > LINES {
        return at_the_ends(writer, old, new);
    }
    // A final line break makes the last line comparable.
    let (old, new) = (format!("{old}\n"), format!("{new}\n"));
    let diff = TextDiff::from_lines(&old, &new);
    let mut next = 0;
    for group in diff.grouped_ops(1) {
        let begins = group.first().map_or(next, |op| op.old_range().start);
        same(writer, begins.saturating_sub(next));
        for op in &group {
            next = op.old_range().end;
            by_word(writer, &diff, op, bytes <= WORDS);
        }
    }
    same(writer, old.lines().count().saturating_sub(next));
}

fn by_word<'a>(writer: &mut Writer, diff: &'a TextDiff<'a, 'a, 'a, str>, op: &DiffOp, words: bool) {
    if !words {
        for change in diff.iter_changes(op) {
            let (sign, kind, _) = looks(change.tag());
            signed(writer, kind, sign, std::iter::once(change.value().trim_end_matches('\n')));
        }
        return;
    }
    for change in diff.iter_inline_changes(op) {
        let (sign, kind, word) = looks(change.tag());
        let parts: Vec<(Kind, &str)> = change
            .values()
            .iter()
            .map(|(differs, text)| (if *differs { word } else { kind }, text.trim_end_matches('\n')))
            .collect();
        line(writer, sign, kind, &parts);
    }
}

const fn looks(tag: ChangeTag) -> (char, Kind, Kind) {
    match tag {
        ChangeTag::Equal => (' ', Kind::Dim, Kind::Dim),
        ChangeTag::Delete => ('-', Kind::Old, Kind::OldWord),
        ChangeTag::Insert => ('+', Kind::New, Kind::NewWord),
    }
}

fn line(writer: &mut Writer, sign: char, kind: Kind, parts: &[(Kind, &str)]) {
    let width = writer.width.saturating_sub(4).max(2);
    let head = |sign: char| vec![(kind, Shown::ours(format!("{sign}   ")))];
    let (mut row, mut used) = (head(sign), 0);
    let words =
        parts.iter().flat_map(|(kind, text)| text.split_inclusive(' ').map(move |word| (*kind, word)));
    for (kind, word) in words {
        for piece in text::line(&Untrusted::from(word)).wrap(width) {
            if used > 0 && used + piece.width() > width {
                writer.push(std::mem::replace(&mut row, head(' ')));
                used = 0;
            }
            used += piece.width();
            row.push((kind, piece));
        }
    }
    writer.push(row);
}

/// Writes both texts without their common first and last lines.
fn at_the_ends(writer: &mut Writer, old: &str, new: &str) {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    same(writer, head);
    signed(writer, Kind::Old, '-', old.iter().copied().take(old.len() - tail).skip(head));
    signed(writer, Kind::New, '+', new.iter().copied().take(new.len() - tail).skip(head));
    same(writer, tail);
}

fn same(writer: &mut Writer, lines: usize) {
    if lines > 0 {
        writer.ours(Kind::Dim, words::lines_same(&text::count(lines, "line")));
    }
}

fn signed<'a>(writer: &mut Writer, kind: Kind, sign: char, lines: impl Iterator<Item = &'a str>) {
    for line in lines {
        let before = writer.lines.len();
        writer.text(kind, 4, line);
        for (nth, line) in writer.lines.iter_mut().skip(before).enumerate() {
            let sign = if nth == 0 { sign } else { ' ' };
            if let Some(first) = line.parts.first_mut() {
                *first = (kind, Shown::ours(format!("{sign}   ")));
            }
        }
    }
}
