//! The parts of a source text, and helpers that all languages share.

use crate::tui::preview::page::line::Kind;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Hue {
    #[default]
    Plain,
    Name,
    Value,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Place {
    #[default]
    Line,
    InLine,
    /// In a Markdown code block: its fence character, and how many close it.
    Fence(u8, u8),
    Comment,
    /// The text became ambiguous; the rest is plain.
    Lost,
}

/// A hue, its length in bytes, and the position after it.
pub(super) type Part = (Hue, usize, Place);

impl Hue {
    pub(super) const fn kind(self) -> Kind {
        match self {
            Self::Plain => Kind::Plain,
            Self::Name => Kind::Name,
            Self::Value => Kind::Value,
        }
    }
}

/// Returns the number of leading bytes for which `of` holds.
pub(super) fn run(rest: &[u8], of: impl Fn(u8) -> bool) -> usize {
    rest.iter().position(|byte| !of(*byte)).unwrap_or(rest.len())
}

pub(super) fn line(rest: &[u8]) -> usize {
    run(rest, |byte| byte != b'\n')
}

/// Returns the length of a string with both quotes; `None` if it does not end on its line.
pub(super) fn string(rest: &[u8], quote: u8) -> Option<usize> {
    let mut escaped = false;
    for (nth, byte) in rest.iter().enumerate().skip(1) {
        match byte {
            b'\n' => return None,
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            byte if *byte == quote => return Some(nth + 1),
            _ => {}
        }
    }
    None
}
