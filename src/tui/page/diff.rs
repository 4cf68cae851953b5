//! What the reviewer's edits change: field by field, line by line, and in changed lines word by word.

use similar::{ChangeTag, DiffOp, TextDiff};

use crate::domain::{Edits, Untrusted};
use crate::text::{self, Shown};
use crate::tui::model::Cached;

use super::fields::{key_of, readable};
use super::{Kind, Writer};

/// Longer texts, in bytes, are compared at their ends only: comparing costs the product of their lengths at worst.
const COMPARED: usize = 64 << 10;
/// And so are more lines than this.
const LINES: usize = 2_000;
/// Longer texts are compared by line only.
const WORDS: usize = 16 << 10;

pub(super) fn diff(writer: &mut Writer, cached: &Cached, edits: Option<&Edits>) {
    let Some(members) = edits.and_then(|edits| edits.as_json().members()) else {
        writer.ours(Kind::Dim, "No edits: what was proposed is what runs.");
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
    let kept = match kept {
        0 => "No other key".to_owned(),
        1 => "1 other key stays as proposed".to_owned(),
        more => format!("{more} other keys stay as proposed"),
    };
    writer.ours(Kind::Dim, format!("{kept}; a changed key is replaced as a whole"));
}

pub(super) fn changed(writer: &mut Writer, old: &str, new: &str) {
    let (bytes, lines) = (old.len() + new.len(), old.lines().count() + new.lines().count());
    if bytes > COMPARED || lines > LINES {
        return at_the_ends(writer, old, new);
    }
    // Both end in a line break, so that the last line is a line like any other.
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

/// One line in parts, wrapped at spaces.
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

/// Both texts without the lines they share at their ends.
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
        writer.ours(Kind::Dim, format!("    ({} the same)", text::count(lines, "line")));
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
