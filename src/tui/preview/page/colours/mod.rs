//! Highlights source texts in two hues. It changes no character, and nothing else depends on its result.
//!
//! A text is lexed once from its beginning, in linear time, while its rows are counted. Each row keeps the state at its
//! start, so that only visible rows are painted. An ambiguous text stays plain, because code must never look like a
//! comment.

mod code;
mod parts;
mod prose;

use std::ops::Range;

use crate::contract::tool::Language;
use crate::text::{PieceKind, Shown};

use self::parts::{Hue, Part, Place, line, run, string};
use super::line::Kind;

/// Bytes at the start of a text that are highlighted. The rest is plain.
pub(crate) const PAINTED: usize = 64 << 10;

/// The lexer's state at the start of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lex {
    left: u32,
    hue: Hue,
    place: Place,
}

impl Lex {
    /// Returns the state at the start of the next line. Parts end with their line.
    pub(crate) const fn next_line(self) -> Self {
        let place = match self.place {
            Place::Line | Place::InLine => Place::Line,
            place => place,
        };
        Self { left: 0, hue: Hue::Plain, place }
    }
}

/// Reports the highlighted parts of `range`, which lies within one line. Returns the state at its end.
pub(crate) fn lex(
    language: Language,
    mut state: Lex,
    text: &str,
    range: Range<usize>,
    told: &mut impl FnMut(Kind, Range<usize>),
) -> Lex {
    let bytes = text.as_bytes().get(..text.len().min(PAINTED)).unwrap_or_default();
    let end = range.end.min(bytes.len());
    // Adjacent parts of one hue are merged.
    let (mut kind, mut from, mut at) = (Kind::Plain, range.start, range.start);
    while at < end {
        if state.left == 0 {
            let (hue, length, place) = part(language, state.place, bytes, at);
            state = Lex { left: u32::try_from(length.max(1)).unwrap_or(1), hue, place };
        }
        let length = (end - at).min(state.left as usize);
        if state.hue.kind() != kind {
            if from < at {
                told(kind, from..at);
            }
            (kind, from) = (state.hue.kind(), at);
        }
        at += length;
        state.left = state.left.saturating_sub(length as u32);
    }
    if kind != Kind::Plain && at < range.end {
        told(kind, from..at);
        (kind, from) = (Kind::Plain, at);
    }
    if from < range.end {
        told(kind, from..range.end);
    }
    state
}

/// Splits a text that is ready to be drawn into its hues.
pub(crate) fn painted(language: Language, shown: Shown) -> Vec<(Kind, Shown)> {
    let plain = shown.plain();
    let mut tokens = Vec::new();
    let mut end = 0;
    for piece in shown.pieces() {
        end += piece.text.len();
        tokens.extend((piece.look != PieceKind::Plain).then(|| end - piece.text.len()..end));
    }
    let (mut parts, mut rest, mut gone) = (Vec::new(), shown, 0);
    lex(language, Lex::default(), &plain, 0..plain.len(), &mut |kind, range| {
        // A token that stands for a hidden character is not split.
        let cut = tokens.iter().find(|token| token.contains(&range.end)).map_or(range.end, |token| token.end);
        if cut > gone {
            let (head, tail) = std::mem::take(&mut rest).split_at(cut - gone);
            parts.push((kind, head));
            (rest, gone) = (tail, cut);
        }
    });
    parts
}

fn part(language: Language, place: Place, bytes: &[u8], at: usize) -> Part {
    let rest = bytes.get(at..).unwrap_or_default();
    match language {
        Language::Json => json(rest),
        Language::Diff => diff(rest),
        Language::Markdown => prose::markdown(place, rest),
        Language::Yaml => prose::yaml(place, rest),
        Language::Sql => code::part(&code::SQL, place, bytes, at),
        Language::Shell => code::part(&code::SHELL, place, bytes, at),
        Language::Python => code::part(&code::PYTHON, place, bytes, at),
        Language::Code => code::part(&code::LIKE_C, place, bytes, at),
    }
}

fn json(rest: &[u8]) -> Part {
    match rest.first() {
        Some(b'"') => {
            let length = string(rest, b'"').unwrap_or_else(|| line(rest));
            let after = rest.get(length..).unwrap_or_default();
            let is_key = run(after, |byte| byte == b' ');
            let is_key = after.get(is_key) == Some(&b':');
            (if is_key { Hue::Name } else { Hue::Plain }, length, Place::InLine)
        }
        Some(byte) if is_scalar(*byte) => (Hue::Value, run(rest, is_scalar), Place::InLine),
        _ => {
            let between = |byte| byte != b'"' && byte != b'\n' && !is_scalar(byte);
            (Hue::Plain, run(rest, between), Place::InLine)
        }
    }
}

fn diff(rest: &[u8]) -> Part {
    let hue = match rest {
        // File names.
        [b'-', b'-', b'-', ..] | [b'+', b'+', b'+', ..] => Hue::Plain,
        [b'-', ..] => Hue::Name,
        [b'+', ..] => Hue::Value,
        _ => Hue::Plain,
    };
    (hue, line(rest), Place::InLine)
}

const fn is_scalar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
}

#[cfg(test)]
mod tests;
