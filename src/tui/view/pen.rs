//! Writes one row of cells from left to right, and never past its end.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use unicode_width::UnicodeWidthStr;

use crate::text::{Look, Shown};
use crate::tui::theme;

#[derive(Debug)]
pub(super) struct Pen<'a> {
    buf: &'a mut Buffer,
    y: u16,
    x: u16,
    end: u16,
    /// Under everything that is written.
    base: Style,
}

impl<'a> Pen<'a> {
    /// At the start of the `nth` row of an area; writes nothing when there is no such row.
    pub(super) fn new(buf: &'a mut Buffer, area: Rect, nth: u16) -> Self {
        let inside = nth < area.height && area.intersection(buf.area) == area;
        let end = if inside { area.right() } else { area.x };
        Self { buf, y: area.y.saturating_add(nth), x: area.x, end, base: Style::new() }
    }

    /// One style for the whole row, also where nothing is written.
    pub(super) fn base(mut self, style: Style) -> Self {
        let row = Rect { x: self.x, y: self.y, width: self.end.saturating_sub(self.x), height: 1 };
        if !row.is_empty() {
            self.buf.set_style(row, style);
        }
        self.base = style;
        self
    }

    /// Where the next character goes.
    pub(super) const fn position(&self) -> Position {
        Position::new(self.x, self.y)
    }

    pub(super) fn left(&self) -> usize {
        usize::from(self.end.saturating_sub(self.x))
    }

    /// Our own words.
    pub(super) fn ours(&mut self, text: &str, style: Style) -> &mut Self {
        if self.left() > 0 {
            let (x, _) = self.buf.set_stringn(self.x, self.y, text, self.left(), self.base.patch(style));
            self.x = x;
        }
        self
    }

    /// Foreign text that came through the door, cut with `…` where it does not fit.
    pub(super) fn shown(&mut self, shown: &Shown, style: Style) -> &mut Self {
        for piece in shown.cut(self.left()).pieces() {
            let style = match piece.look {
                Look::Plain => style,
                Look::Blank => theme::DIM,
                Look::Token => theme::TOKEN,
            };
            self.ours(&piece.text, style);
        }
        self
    }

    /// Foreign text in a column of its own.
    pub(super) fn column(&mut self, shown: &Shown, width: usize, style: Style) -> &mut Self {
        let start = self.x;
        let width = width.min(self.left());
        let cut = shown.boxed().cut(width);
        self.shown(&cut, style);
        self.to(start.saturating_add(width as u16))
    }

    /// On to a column of the screen.
    pub(super) fn to(&mut self, x: u16) -> &mut Self {
        self.x = self.x.max(x).min(self.end);
        self
    }

    /// On to where `width` columns are left.
    pub(super) fn keep(&mut self, width: usize) -> &mut Self {
        let x = self.end.saturating_sub(width as u16);
        self.to(x)
    }

    /// Our own words at the right end; nothing where they would run into what stands there.
    pub(super) fn right(&mut self, text: &str, style: Style) -> &mut Self {
        if text.width() < self.left() {
            self.keep(text.width()).ours(text, style);
        }
        self
    }

    /// Ends the row this many columns earlier.
    pub(super) fn shorten(&mut self, columns: usize) -> &mut Self {
        self.end = self.end.saturating_sub(columns as u16).max(self.x);
        self
    }
}

/// Without the reversal, for a cell inside a selected row that must stand out.
pub(super) const fn bold(style: Style) -> Style {
    style.add_modifier(Modifier::BOLD)
}
