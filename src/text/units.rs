//! Splits text into the units it is drawn in. All code that shows, counts or judges foreign text uses them.

use std::borrow::Cow;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::class::{self, glyph, is_base};
use super::cluster::is_plain;

/// Spaces in a row from which they are shown as a number.
pub(super) const SPACES: usize = 32;
/// Repetitions of a hidden character from which they are shown as a number.
pub(super) const REPEATS: usize = 64;
/// Bytes searched for the end of a grapheme, which could be megabytes long.
const LONGEST: usize = 128;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    pub at: usize,
    pub bytes: usize,
    pub columns: usize,
    pub face: Face,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Face {
    Plain,
    Glyph(&'static str),
    Token(char),
    /// In an identifier: the character with its name.
    Foreign(char),
    Repeat(char, usize),
    Spaces(usize),
}

impl Face {
    /// The text drawn; `None` for the text itself.
    pub(super) fn text(self) -> Option<Cow<'static, str>> {
        Some(match self {
            Self::Plain => return None,
            Self::Glyph(glyph) => glyph.into(),
            Self::Token(c) => format!("⟦{}⟧", class::name(c)).into(),
            Self::Foreign(c) => format!("⟦{c} {}⟧", class::name(c)).into(),
            Self::Repeat(c, n) => format!("⟦{n} × {}⟧", class::name(c)).into(),
            Self::Spaces(n) => format!("⟦{n} spaces⟧").into(),
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Text,
    /// Hosts, mail addresses, tools, ids: only ASCII is drawn as it is.
    Identifier,
}

/// Returns the units that begin in `range`, within a line. Reads the text around it, because blanks depend on their
/// neighbours.
pub(super) fn units(text: &str, range: Range<usize>, mode: Mode) -> Units<'_> {
    Units { text, at: range.start, end: range.end.min(text.len()), split: 0, from: 0, mode }
}

#[derive(Debug)]
pub(super) struct Units<'a> {
    text: &'a str,
    at: usize,
    end: usize,
    /// End of a grapheme that is drawn character by character.
    split: usize,
    /// Start of that grapheme.
    from: usize,
    mode: Mode,
}

impl Iterator for Units<'_> {
    type Item = Unit;

    fn next(&mut self) -> Option<Unit> {
        if self.at >= self.end {
            return None;
        }
        let text = self.text;
        let rest = text.get(self.at..)?;
        let c = rest.chars().next()?;
        let unit = |bytes, columns, face| Unit { at: self.at, bytes, columns, face };
        let unit = if c == ' ' && rest.as_bytes().get(1) == Some(&b' ') && spaces(rest) >= SPACES {
            let n = spaces(rest);
            unit(n, 0, Face::Spaces(n))
        } else if is_alone(rest.as_bytes()) {
            unit(1, 1, Face::Plain)
        } else if self.mode == Mode::Text && self.at >= self.split {
            let cluster = cluster(rest);
            let after = rest.get(cluster.len()..).and_then(|rest| rest.chars().next());
            if is_plain(cluster, after) {
                unit(cluster.len(), cluster.width(), Face::Plain)
            } else {
                (self.from, self.split) = (self.at, self.at + cluster.len());
                self.character(rest, c)
            }
        } else {
            self.character(rest, c)
        };
        self.at += unit.bytes;
        Some(unit.measured())
    }
}

impl Units<'_> {
    fn character(&self, rest: &str, c: char) -> Unit {
        let after = rest.get(c.len_utf8()..).and_then(|rest| rest.chars().next());
        let before = self.text.get(..self.at).unwrap_or_default();
        let text = self.mode == Mode::Text;
        // Within a split grapheme, a character after a visible one would join it again when drawn.
        let joins = text
            && !c.is_ascii()
            && self.at < self.split
            && before.chars().next_back().is_some_and(is_base)
            && self.at > self.from;
        let face = match is_base(c) && !joins {
            true if text || c.is_ascii() => Face::Plain,
            true => Face::Foreign(c),
            false => match glyph(c, before, after).filter(|_| text) {
                Some(glyph) => Face::Glyph(glyph),
                None => Face::Token(c),
            },
        };
        let n = if after == Some(c) && matches!(face, Face::Token(_) | Face::Glyph(_)) {
            repeats(rest, c)
        } else {
            1
        };
        let (bytes, face) =
            if n >= REPEATS { (n * c.len_utf8(), Face::Repeat(c, n)) } else { (c.len_utf8(), face) };
        Unit { at: self.at, bytes, columns: c.width().unwrap_or_default(), face }
    }
}

impl Unit {
    fn measured(self) -> Self {
        let columns = self.face.text().map_or(self.columns, |text| text.width());
        Self { columns, ..self }
    }

    pub(super) const fn is_plain(&self) -> bool {
        matches!(self.face, Face::Plain)
    }
}

/// Whether the text begins with printable ASCII that no mark follows.
fn is_alone(rest: &[u8]) -> bool {
    let printable = |byte: &u8| (0x20..0x7f).contains(byte);
    rest.first().is_some_and(printable) && rest.get(1).is_none_or(u8::is_ascii)
}

fn spaces(rest: &str) -> usize {
    rest.bytes().take_while(|byte| *byte == b' ').count()
}

fn repeats(rest: &str, c: char) -> usize {
    rest.chars().take_while(|other| *other == c).count()
}

/// The first grapheme, or its first `LONGEST` bytes.
fn cluster(rest: &str) -> &str {
    let near = rest.get(..rest.floor_char_boundary(LONGEST)).unwrap_or(rest);
    near.graphemes(true).next().unwrap_or(near)
}
