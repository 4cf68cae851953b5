//! What a part of a source text is, and what finding one takes in every language.

use crate::tui::preview::page::line::Kind;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Hue {
    #[default]
    Plain,
    Name,
    Value,
}

/// Where in its text a part stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Place {
    /// A line begins.
    #[default]
    Line,
    InLine,
    /// In a block of code in Markdown, which so many of this mark close.
    Fence(u8, u8),
    /// In a comment of several lines.
    Comment,
    /// It cannot be followed any more: the rest is plain.
    Lost,
}

/// One part: its hue, its bytes, and where the next one stands.
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

/// How many bytes at the beginning are of a kind.
pub(super) fn run(rest: &[u8], of: impl Fn(u8) -> bool) -> usize {
    rest.iter().position(|byte| !of(*byte)).unwrap_or(rest.len())
}

/// Bytes of the rest of the line.
pub(super) fn line(rest: &[u8]) -> usize {
    run(rest, |byte| byte != b'\n')
}

/// Bytes of a string that begins here, with both quotes; `None` where it does not end on its line.
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
