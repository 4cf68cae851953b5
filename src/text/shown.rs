//! [`Shown`]: foreign text without bytes that a terminal obeys and without hidden characters.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::units::{Face, Mode, SPACES, Unit, units};

/// Marks that mean something in a list.
const OUR_MARKS: [char; 16] =
    ['•', '✓', '✎', '✗', '↻', '▲', '▌', '▾', '▸', '│', '─', '━', '→', '↳', '●', '○'];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    pub text: String,
    pub look: PieceKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceKind {
    Plain,
    /// An ordinary blank, such as a tab, drawn as a sign.
    Blank,
    /// Stands for something not visible. Drawn conspicuously and never cut.
    Token,
}

/// Foreign text made visible. Only this module can make one.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Shown {
    pieces: Vec<Piece>,
    foreign: bool,
}

impl Shown {
    pub(super) fn of(text: &str, range: Range<usize>, mode: Mode) -> Self {
        let mut shown = Self::foreign();
        let mut at = range.start;
        // A unit of ASCII is one byte, but the last one may carry a combining mark.
        let ascii = text.get(range.clone()).map_or(0, |part| printable(part.as_bytes()));
        if ascii > 1 {
            at += if ascii == range.len() && text.as_bytes().get(range.end).is_none_or(u8::is_ascii) {
                ascii
            } else {
                ascii - 1
            };
            shown.push(text.get(range.start..at).unwrap_or_default(), PieceKind::Plain);
        }
        for unit in units(text, at..range.end, mode) {
            shown.push_unit(text, &unit);
        }
        shown
    }

    pub(super) fn push_unit(&mut self, text: &str, unit: &Unit) {
        match unit.face.text() {
            None => self.push(text.get(unit.at..unit.at + unit.bytes).unwrap_or_default(), PieceKind::Plain),
            Some(drawn) => self.push(&drawn, look(unit.face)),
        }
    }

    pub(super) fn foreign() -> Self {
        Self { pieces: Vec::new(), foreign: true }
    }

    pub(super) fn of_line(text: &str) -> Self {
        Self::of(text, 0..text.len(), Mode::Text)
    }

    /// Text of placet itself, which is not escaped.
    pub fn ours(text: impl Into<String>) -> Self {
        Self { pieces: vec![Piece { text: text.into(), look: PieceKind::Plain }], foreign: false }
    }

    /// Whether a part is foreign. Decides how the line is marked.
    pub const fn is_foreign(&self) -> bool {
        self.foreign
    }

    /// Words of placet for text that would not be visible.
    pub(super) fn token(text: &str) -> Self {
        Self { pieces: vec![Piece { text: format!("⟦{text}⟧"), look: PieceKind::Token }], foreign: true }
    }

    #[must_use]
    pub fn followed_by(mut self, other: Self) -> Self {
        self.pieces.extend(other.pieces);
        self.foreign |= other.foreign;
        self
    }

    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    pub fn width(&self) -> usize {
        self.pieces.iter().map(|piece| width(&piece.text)).sum()
    }

    pub fn plain(&self) -> String {
        self.pieces.iter().map(|piece| piece.text.as_str()).collect()
    }

    /// Replaces emoji of several characters by a box of two cells, because terminals disagree on their width and table
    /// columns must align. The preview shows them.
    #[must_use]
    pub fn boxed(&self) -> Self {
        let uneven = |grapheme: &str| grapheme.contains(is_emoji_joiner) && grapheme.width() == 2;
        if !self.pieces.iter().any(|piece| piece.text.contains(is_emoji_joiner)) {
            return self.clone();
        }
        let mut boxed = self.empty();
        for piece in &self.pieces {
            if piece.look != PieceKind::Plain {
                boxed.pieces.push(piece.clone());
                continue;
            }
            for grapheme in piece.text.graphemes(true) {
                if uneven(grapheme) {
                    boxed.push("[]", PieceKind::Token);
                } else {
                    boxed.push(grapheme, PieceKind::Plain);
                }
            }
        }
        boxed
    }

    /// Makes placet's own marks and runs of blanks visible as tokens, so that a value forges no mark and no column.
    #[must_use]
    pub fn in_column(&self) -> Self {
        let is_mark = |text: &str| text.contains(OUR_MARKS) || text.contains("  ");
        if !self.pieces.iter().any(|piece| piece.look == PieceKind::Plain && is_mark(&piece.text)) {
            return self.boxed();
        }
        let mut column = self.empty();
        for piece in &self.pieces {
            if piece.look != PieceKind::Plain {
                column.pieces.push(piece.clone());
                continue;
            }
            let mut rest = piece.text.as_str();
            while let Some(c) = rest.chars().next() {
                let blanks = rest.len() - rest.trim_start_matches(' ').len();
                let taken = if blanks > 1 { blanks } else { c.len_utf8() };
                let (part, after) = rest.split_at_checked(taken).unwrap_or((rest, ""));
                match part {
                    part if blanks > 1 => column.push(&format!("⟦{} blanks⟧", part.len()), PieceKind::Token),
                    part if part.contains(OUR_MARKS) => column.push(&format!("⟦{part}⟧"), PieceKind::Token),
                    part => column.push(part, PieceKind::Plain),
                }
                rest = after;
            }
        }
        column.boxed()
    }

    /// Cuts to `width` columns with `…`. Tokens are not split, because half of one would be another.
    #[must_use]
    pub fn cut(&self, width: usize) -> Self {
        if self.width() <= width {
            return self.clone();
        }
        let (mut cut, mut used) = (self.empty(), 1);
        for (part, look) in self.parts() {
            used += part.width();
            if used > width {
                break;
            }
            cut.push(part, look);
        }
        if width > 0 {
            cut.push("…", PieceKind::Plain);
        }
        cut
    }

    /// Removes the first `columns` columns. A token that is split there becomes `…`.
    #[must_use]
    pub fn right_of(&self, columns: usize) -> Self {
        let (mut rest, mut at) = (self.empty(), 0);
        for (part, look) in self.parts() {
            let end = at + part.width();
            if at >= columns {
                rest.push(part, look);
            } else if end > columns {
                rest.push(&format!("…{}", " ".repeat(end - columns - 1)), PieceKind::Token);
            }
            at = end;
        }
        rest
    }

    fn parts(&self) -> impl Iterator<Item = (&str, PieceKind)> {
        self.pieces.iter().flat_map(|piece| {
            let whole = (piece.look != PieceKind::Plain).then_some(piece.text.as_str());
            let parts = piece.text.graphemes(true).filter(move |_| whole.is_none());
            whole.into_iter().chain(parts).map(|part| (part, piece.look))
        })
    }

    /// Splits at byte `at` of [`Self::plain`].
    #[must_use]
    pub fn split_at(&self, at: usize) -> (Self, Self) {
        let (mut head, mut tail, mut left) = (self.empty(), self.empty(), at);
        for piece in &self.pieces {
            let (before, after) = piece.text.split_at(piece.text.floor_char_boundary(left));
            left = left.saturating_sub(piece.text.len());
            let part = |text: &str| Piece { text: text.to_owned(), look: piece.look };
            head.pieces.extend((!before.is_empty()).then(|| part(before)));
            tail.pieces.extend((!after.is_empty()).then(|| part(after)));
        }
        (head, tail)
    }

    /// Wraps into rows of at most `width` columns, at least one row. Breaks after a near space, else between graphemes;
    /// tokens stay whole if they fit. Loses no character.
    pub fn wrap(&self, width: usize) -> Vec<Self> {
        let width = width.max(2);
        let (mut rows, mut row, mut used) = (Vec::new(), self.empty(), 0);
        for piece in &self.pieces {
            let token = piece.look != PieceKind::Plain;
            if token && piece.text.width() <= width {
                if used + piece.text.width() > width {
                    rows.push(std::mem::replace(&mut row, self.empty()));
                    used = 0;
                }
                used += piece.text.width();
                row.push(&piece.text, piece.look);
                continue;
            }
            for grapheme in piece.text.graphemes(true) {
                let columns = grapheme.width();
                if used + columns > width {
                    let next = row.split_last_word(width);
                    used = next.width();
                    rows.push(std::mem::replace(&mut row, next));
                }
                row.push(grapheme, PieceKind::Plain);
                used += columns;
            }
        }
        rows.push(row);
        rows
    }

    /// Takes the unfinished word off a full row, unless it is longer than half a row.
    fn split_last_word(&mut self, width: usize) -> Self {
        let empty = self.empty();
        let Some(last) = self.pieces.last_mut().filter(|piece| piece.look == PieceKind::Plain) else {
            return empty;
        };
        let Some((head, word)) = last.text.rsplit_once(' ') else { return empty };
        if word.is_empty() || word.width() > width / 2 {
            return empty;
        }
        let word = word.to_owned();
        last.text.truncate(head.len() + 1);
        Self { pieces: vec![Piece { text: word, look: PieceKind::Plain }], ..empty }
    }

    const fn empty(&self) -> Self {
        Self { pieces: Vec::new(), foreign: self.foreign }
    }

    fn push(&mut self, text: &str, look: PieceKind) {
        match self.pieces.last_mut() {
            Some(last) if look == PieceKind::Plain && last.look == PieceKind::Plain => {
                last.text.push_str(text);
            }
            _ => self.pieces.push(Piece { text: text.to_owned(), look }),
        }
    }
}

/// Sums graphemes, because terminals fill cells so. The whole text may be narrower, where letters join.
fn width(text: &str) -> usize {
    if text.is_ascii() { text.width() } else { text.graphemes(true).map(UnicodeWidthStr::width).sum() }
}

const fn look(face: Face) -> PieceKind {
    match face {
        Face::Plain => PieceKind::Plain,
        Face::Glyph(_) => PieceKind::Blank,
        Face::Token(_) | Face::Foreign(_) | Face::Repeat(..) | Face::Spaces(_) => PieceKind::Token,
    }
}

/// Returns the length of the printable ASCII prefix, up to a run of spaces that is shown as a number.
pub(super) fn printable(bytes: &[u8]) -> usize {
    let end = bytes.iter().position(|byte| !(0x20..0x7f).contains(byte)).unwrap_or(bytes.len());
    let head = bytes.get(..end).unwrap_or_default();
    // Probing every `SPACES` bytes finds each such run.
    let run = |at: usize| {
        let before =
            head.get(..at).unwrap_or_default().iter().rev().take_while(|byte| **byte == b' ').count();
        let after =
            head.get(at..).unwrap_or_default().iter().take_while(|byte| **byte == b' ').take(SPACES).count();
        (before + after >= SPACES).then_some(at - before)
    };
    let mut probes = (SPACES - 1..end).step_by(SPACES).filter(|at| head.get(*at) == Some(&b' '));
    probes.find_map(run).unwrap_or(end)
}

const fn is_emoji_joiner(c: char) -> bool {
    matches!(c, '\u{200D}' | '\u{FE0F}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        Shown::of_line(text).plain()
    }

    #[test]
    fn control_and_hidden_characters_become_visible() {
        assert_eq!(plain("a\u{1b}[2Jb"), "a⟦ESC⟧[2Jb");
        assert_eq!(plain("pay\u{202e}100"), "pay⟦U+202E⟧100");
        assert_eq!(plain("1\u{200b}000\t"), "1⟦U+200B⟧000⇥");
        assert_eq!(plain("\u{e0041}\u{9b}"), "⟦U+E0041⟧⟦U+009B⟧");
        assert_eq!(plain("approve\rREJECT"), "approve⟦CR⟧REJECT");
    }

    #[test]
    fn a_table_shows_uneven_emoji_as_boxes() {
        let boxed = |text: &str| Shown::of_line(text).boxed();

        assert_eq!(boxed("pay \u{2764}\u{fe0f} now").plain(), "pay [] now");
        assert_eq!(boxed("\u{1f469}\u{200d}\u{1f4bb} ok").plain(), "[] ok");
        for text in [
            "\u{2764}\u{fe0f}x",
            "\u{1f469}\u{200d}\u{1f4bb}",
            "世界 ok",
            "e\u{301}",
            "\u{200d}x",
            "a\u{fe0f}",
        ] {
            assert_eq!(boxed(text).width(), Shown::of_line(text).width(), "{text:?}");
        }
        assert_eq!(boxed("世界 ✓").plain(), "世界 ✓");
    }

    #[test]
    fn value_in_a_column_forges_no_mark_and_no_column() {
        let column = |text: &str| Shown::of_line(text).in_column().plain();

        assert_eq!(column("5 EUR   ✓ paid │ x"), "5 EUR⟦3 blanks⟧⟦✓⟧ paid ⟦│⟧ x");
        assert_eq!(column("a\u{1b}  b → c"), "a⟦ESC⟧⟦2 blanks⟧b ⟦→⟧ c");
        assert_eq!(column("世界 \u{2764}\u{fe0f} ok"), "世界 [] ok");
    }

    #[test]
    fn the_token_itself_cannot_be_faked() {
        assert_eq!(plain("⟦ESC⟧"), "⟦U+27E6⟧ESC⟦U+27E7⟧");
    }

    #[test]
    fn ordinary_text_is_unchanged() {
        for text in ["Grüße, 世界 — “ok”", "naïve e\u{301}", "👩‍💻 ✓ 3 €", "Привет עברית"]
        {
            assert_eq!(plain(text), text);
        }
    }

    #[test]
    fn cut_and_wrap_keep_to_the_width() {
        let shown = Shown::of_line("世界abc\u{1b}");

        assert_eq!(shown.cut(6).plain(), "世界a…");
        assert_eq!(shown.cut(12).plain(), "世界abc⟦ESC⟧");
        let rows: Vec<_> = shown.wrap(5).iter().map(Shown::plain).collect();
        assert_eq!(rows, ["世界a", "bc", "⟦ESC⟧"]);
        for width in 0..15 {
            assert!(shown.cut(width).width() <= width, "{width}");
        }
    }

    #[test]
    fn joined_letters_count_the_cells_they_fill() {
        let shown = Shown::of_line(&"\u{644}\u{627}".repeat(20));

        assert_eq!(shown.width(), 40);
        assert!(shown.cut(30).plain().ends_with('…'));
    }

    #[test]
    fn wrapping_breaks_after_spaces_and_loses_nothing() {
        let shown = Shown::of_line("three enterprise clients report errors");

        let rows: Vec<_> = shown.wrap(18).iter().map(Shown::plain).collect();

        assert_eq!(rows, ["three enterprise ", "clients report ", "errors"]);
        for width in 2..40 {
            let rows = shown.wrap(width);
            assert!(rows.iter().all(|row| row.width() <= width), "{width}");
            assert_eq!(rows.iter().map(Shown::plain).collect::<String>(), shown.plain());
        }
    }
}
