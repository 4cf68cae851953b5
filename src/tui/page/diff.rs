//! What the reviewer's edits change, key by key.

use crate::domain::Edits;
use crate::tui::model::Cached;

use super::fields::{key_of, readable};
use super::{Kind, Writer};

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
    writer
        .ours(Kind::Dim, format!("{kept} other keys stay as proposed; a changed key is replaced as a whole"));
}

/// Both texts without the lines they share at their ends.
fn changed(writer: &mut Writer, old: &str, new: &str) {
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
        writer.ours(Kind::Dim, format!("    ({lines} lines as proposed)"));
    }
}

fn signed<'a>(writer: &mut Writer, kind: Kind, sign: char, lines: impl Iterator<Item = &'a str>) {
    for line in lines {
        let before = writer.lines.len();
        writer.text(kind, 4, line);
        for (nth, line) in writer.lines.iter_mut().skip(before).enumerate() {
            let sign = if nth == 0 { sign } else { ' ' };
            if let Some(first) = line.parts.first_mut() {
                *first = (kind, crate::text::Shown::ours(format!("{sign}   ")));
            }
        }
    }
}
