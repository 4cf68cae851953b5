//! A text in the units it is drawn in. Everything that shows, counts or judges foreign text goes through here, so that they are
//! of one mind.

use std::borrow::Cow;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::class::{self, glyph, is_base};
use super::cluster::is_plain;

/// So many spaces in a row are told as a number.
pub(super) const SPACES: usize = 32;
/// So many of one hidden character, too.
pub(super) const REPEATS: usize = 64;
/// Bytes that are looked at to find the end of a grapheme: a longer one is no writing, and may be megabytes.
const LONGEST: usize = 128;

/// What is drawn as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    /// Where it begins in the text.
    pub at: usize,
    pub bytes: usize,
    pub columns: usize,
    pub face: Face,
}

/// How a unit is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Face {
    /// As it is.
    Plain,
    /// A blank that people write.
    Glyph(&'static str),
    /// By its name.
    Token(char),
    /// In an identifier: by itself and its name.
    Foreign(char),
    /// By its name and how often.
    Repeat(char, usize),
    Spaces(usize),
}

impl Face {
    /// What is drawn; `None` for the text itself.
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

/// The units that begin in a part of a text, which is a line or less. What is before and after that part is looked at: a blank is
/// drawn as its neighbours ask for.
pub(super) fn units(text: &str, range: Range<usize>, mode: Mode) -> Units<'_> {
    Units { text, at: range.start, end: range.end.min(text.len()), split: 0, from: 0, mode }
}

#[derive(Debug)]
pub(super) struct Units<'a> {
    text: &'a str,
    at: usize,
    end: usize,
    /// Up to here, character by character: a grapheme that is not drawn as it is.
    split: usize,
    /// Where that grapheme begins.
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
    /// One character, or many of the same one.
    fn character(&self, rest: &str, c: char) -> Unit {
        let after = rest.get(c.len_utf8()..).and_then(|rest| rest.chars().next());
        let before = self.text.get(..self.at).unwrap_or_default();
        let text = self.mode == Mode::Text;
        // Inside of what is no writing, what stands on something visible would join it again where it is drawn.
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

/// Printable ASCII that nothing can stand on, as most text is.
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

/// The first grapheme, or as much of it as matters.
fn cluster(rest: &str) -> &str {
    let near = rest.get(..rest.floor_char_boundary(LONGEST)).unwrap_or(rest);
    near.graphemes(true).next().unwrap_or(near)
}
