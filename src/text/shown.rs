//! Text that is safe to draw.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// A run of characters drawn in one style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    pub text: String,
    /// It stands for something that would not be visible, and is drawn so that it stands out.
    pub token: bool,
}

/// Foreign text made visible. Only this room makes one.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Shown {
    pieces: Vec<Piece>,
}

impl Shown {
    pub(super) fn of_line(text: &str) -> Self {
        let mut shown = Self::default();
        for grapheme in text.graphemes(true) {
            if is_plain(grapheme) {
                shown.push(grapheme, false);
            } else {
                grapheme.chars().for_each(|c| shown.push_char(c));
            }
        }
        shown
    }

    /// Text of our own, which needs no door.
    pub fn ours(text: impl Into<String>) -> Self {
        Self { pieces: vec![Piece { text: text.into(), token: false }] }
    }

    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Columns on a terminal.
    pub fn width(&self) -> usize {
        self.pieces.iter().map(|piece| piece.text.width()).sum()
    }

    /// The text without styles.
    pub fn plain(&self) -> String {
        self.pieces.iter().map(|piece| piece.text.as_str()).collect()
    }

    /// For a column of a table: emoji made of several characters, about whose width terminals disagree, become a box of the two
    /// cells that are counted for them, so that what stands to their right stays in its column. The preview shows them.
    #[must_use]
    pub fn boxed(&self) -> Self {
        let uneven = |grapheme: &str| grapheme.contains(is_emoji_joiner);
        if !self.pieces.iter().any(|piece| uneven(&piece.text)) {
            return self.clone();
        }
        let mut boxed = Self::default();
        for piece in &self.pieces {
            for grapheme in piece.text.graphemes(true) {
                if uneven(grapheme) {
                    boxed.pieces.push(Piece { text: "[]".to_owned(), token: true });
                } else {
                    boxed.push(grapheme, piece.token);
                }
            }
        }
        boxed
    }

    /// At most `width` columns; what does not fit is replaced by `…`.
    #[must_use]
    pub fn cut(&self, width: usize) -> Self {
        if self.width() <= width {
            return self.clone();
        }
        let (mut cut, mut used) = (Self::default(), 1);
        'pieces: for piece in &self.pieces {
            for grapheme in piece.text.graphemes(true) {
                used += grapheme.width();
                if used > width {
                    break 'pieces;
                }
                cut.push(grapheme, piece.token);
            }
        }
        if width > 0 {
            cut.push("…", false);
        }
        cut
    }

    /// Without its first `columns` columns.
    #[must_use]
    pub fn right_of(&self, columns: usize) -> Self {
        let (mut rest, mut at) = (Self::default(), 0);
        for piece in &self.pieces {
            for grapheme in piece.text.graphemes(true) {
                if at >= columns {
                    rest.push(grapheme, piece.token);
                }
                at += grapheme.width();
            }
        }
        rest
    }

    /// The text before and after the byte `at` of [`Self::plain`].
    #[must_use]
    pub fn split_at(&self, at: usize) -> (Self, Self) {
        let (mut head, mut tail, mut left) = (Self::default(), Self::default(), at);
        for piece in &self.pieces {
            let (before, after) = piece.text.split_at(piece.text.floor_char_boundary(left));
            left = left.saturating_sub(piece.text.len());
            let part = |text: &str| Piece { text: text.to_owned(), token: piece.token };
            head.pieces.extend((!before.is_empty()).then(|| part(before)));
            tail.pieces.extend((!after.is_empty()).then(|| part(after)));
        }
        (head, tail)
    }

    /// Broken into rows of at most `width` columns; always at least one row. Breaks after a space where one is near, else
    /// between graphemes; tokens stay whole where they fit. No character is lost.
    pub fn wrap(&self, width: usize) -> Vec<Self> {
        let width = width.max(2);
        let (mut rows, mut row, mut used) = (Vec::new(), Self::default(), 0);
        for piece in &self.pieces {
            if piece.token && piece.text.width() <= width && used + piece.text.width() > width {
                rows.push(std::mem::take(&mut row));
                used = 0;
            }
            for grapheme in piece.text.graphemes(true) {
                let columns = grapheme.width();
                if used + columns > width {
                    let next = row.split_last_word(width);
                    used = next.width();
                    rows.push(std::mem::replace(&mut row, next));
                }
                row.push(grapheme, piece.token);
                used += columns;
            }
        }
        rows.push(row);
        rows
    }

    /// Takes the unfinished word off the end of a full row; nothing when it is longer than half a row.
    fn split_last_word(&mut self, width: usize) -> Self {
        let Some(last) = self.pieces.last_mut().filter(|piece| !piece.token) else { return Self::default() };
        let Some((head, word)) = last.text.rsplit_once(' ') else { return Self::default() };
        if word.is_empty() || word.width() > width / 2 {
            return Self::default();
        }
        let word = word.to_owned();
        last.text.truncate(head.len() + 1);
        Self { pieces: vec![Piece { text: word, token: false }] }
    }

    fn push(&mut self, text: &str, token: bool) {
        match self.pieces.last_mut() {
            Some(last) if last.token == token && !token => last.text.push_str(text),
            Some(last) if token && last.token && !text.starts_with('⟦') => last.text.push_str(text),
            _ => self.pieces.push(Piece { text: text.to_owned(), token }),
        }
    }

    fn push_char(&mut self, c: char) {
        match token(c) {
            Some(token) => self.push(&token, true),
            None => self.push(c.encode_utf8(&mut [0; 4]), false),
        }
    }
}

/// What stands for a character that a terminal would obey, hide or reorder; `None` for one that is drawn as itself.
pub(super) fn token(c: char) -> Option<Cow<'static, str>> {
    let named = match c {
        '\t' => "⟦TAB⟧",
        '\n' => "⟦LF⟧",
        '\r' => "⟦CR⟧",
        '\u{1b}' => "⟦ESC⟧",
        '\u{7}' => "⟦BEL⟧",
        '\u{8}' => "⟦BS⟧",
        '\0' => "⟦NUL⟧",
        c if is_plain(c.encode_utf8(&mut [0; 4])) => return None,
        c => return Some(format!("⟦U+{:04X}⟧", u32::from(c)).into()),
    };
    Some(named.into())
}

/// A grapheme that is drawn as itself: every character visible, of a width terminals agree on.
pub(super) fn is_plain(grapheme: &str) -> bool {
    let mut chars = grapheme.chars();
    let Some(first) = chars.next() else { return false };
    let marks = chars.clone().count();
    if matches!(first, '⟦' | '⟧') || is_hidden(first) || marks > 4 {
        return false;
    }
    let first_is_visible = grapheme.width() > 0;
    first_is_visible && chars.all(|c| !is_hidden(c) || (is_emoji_joiner(c) && grapheme.width() == 2))
}

const fn is_emoji_joiner(c: char) -> bool {
    matches!(c, '\u{200D}' | '\u{FE0F}')
}

/// Controls, format characters, fillers, private use, unassigned planes and line separators.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{A0}' | '\u{AD}' | '\u{34F}' | '\u{335}'..='\u{338}' | '\u{61C}' | '\u{115F}' | '\u{1160}'
            | '\u{1680}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}' | '\u{2000}'..='\u{200F}'
            | '\u{2024}' | '\u{2028}'..='\u{202F}' | '\u{205F}'..='\u{206F}' | '\u{2800}' | '\u{3000}'
            | '\u{3164}' | '\u{37E}' | '\u{1FEF}' | '\u{D7FC}'..='\u{D7FF}' | '\u{E000}'..='\u{F8FF}'
            | '\u{FDD0}'..='\u{FDEF}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}'
            | '\u{FFFE}' | '\u{FFFF}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}'
            | '\u{1FFFE}'..='\u{1FFFF}' | '\u{2FFFE}'..='\u{2FFFF}' | '\u{3FFFE}'..='\u{10FFFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        Shown::of_line(text).plain()
    }

    #[test]
    fn what_a_terminal_would_obey_or_hide_becomes_visible() {
        assert_eq!(plain("a\u{1b}[2Jb"), "a⟦ESC⟧[2Jb");
        assert_eq!(plain("pay\u{202e}100"), "pay⟦U+202E⟧100");
        assert_eq!(plain("1\u{200b}000\t"), "1⟦U+200B⟧000⟦TAB⟧");
        assert_eq!(plain("\u{e0041}\u{9b}"), "⟦U+E0041⟧⟦U+009B⟧");
        assert_eq!(plain("approve\rREJECT"), "approve⟦CR⟧REJECT");
    }

    #[test]
    fn a_table_has_a_box_for_what_terminals_measure_differently() {
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
    fn the_token_itself_cannot_be_faked() {
        assert_eq!(plain("⟦ESC⟧"), "⟦U+27E6⟧ESC⟦U+27E7⟧");
    }

    #[test]
    fn ordinary_text_stays_as_it_is() {
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
