//! Writes a row of cells from left to right, within its bounds.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::widgets::{Block, Borders, Clear, Widget as _};
use unicode_width::UnicodeWidthStr;

use crate::text::{PieceKind, Shown};
use crate::tui::core::layout::{sheet, sheet_text};
use crate::tui::core::model::Model;

use super::theme;

#[derive(Debug)]
pub(crate) struct Pen<'a> {
    buf: &'a mut Buffer,
    y: u16,
    x: u16,
    end: u16,
    /// Applied under the style of everything written.
    base: Style,
}

impl<'a> Pen<'a> {
    /// Starts at the `nth` row of an area; writes nothing if there is no such row.
    pub(crate) fn new(buf: &'a mut Buffer, area: Rect, nth: u16) -> Self {
        let inside = nth < area.height && area.intersection(buf.area) == area;
        let end = if inside { area.right() } else { area.x };
        Self { buf, y: area.y.saturating_add(nth), x: area.x, end, base: Style::new() }
    }

    /// Sets the style of the whole row, including cells that are not written.
    pub(crate) fn base(mut self, style: Style) -> Self {
        let row = Rect { x: self.x, y: self.y, width: self.end.saturating_sub(self.x), height: 1 };
        if !row.is_empty() {
            self.buf.set_style(row, style);
        }
        self.base = style;
        self
    }

    pub(crate) const fn position(&self) -> Position {
        Position::new(self.x, self.y)
    }

    pub(crate) fn left(&self) -> usize {
        usize::from(self.end.saturating_sub(self.x))
    }

    /// Writes placet's own text, cut with an ellipsis if too long.
    pub(crate) fn ours(&mut self, text: &str, style: Style) -> &mut Self {
        let left = self.left();
        if left == 0 {
            return self;
        }
        if text.len() > left && text.trim_end().width() > left {
            let cut = Shown::ours(text).cut(left);
            return self.written(&cut.plain(), style);
        }
        self.written(text, style)
    }

    fn written(&mut self, text: &str, style: Style) -> &mut Self {
        let (left, style) = (self.left(), self.base.patch(style));
        let is_printable = |byte: &u8| matches!(byte, b' '..=b'~');
        if text.as_bytes().iter().all(is_printable) {
            // Skips the grapheme segmentation of `set_stringn`, which took a fifth of a frame's time.
            let start = self.buf.index_of(self.x, self.y);
            let cells = self.buf.content.iter_mut().skip(start).take(left).zip(text.chars());
            cells.for_each(|(cell, c)| {
                cell.set_char(c).set_style(style);
            });
            self.x += left.min(text.len()) as u16;
        } else {
            (self.x, _) = self.buf.set_stringn(self.x, self.y, text, left, style);
        }
        self
    }

    /// Writes escaped foreign text, cut with an ellipsis if too long.
    pub(crate) fn shown(&mut self, shown: &Shown, style: Style) -> &mut Self {
        for piece in shown.cut(self.left()).pieces() {
            let style = match piece.look {
                PieceKind::Plain => style,
                PieceKind::Blank => theme::DIM,
                PieceKind::Token => theme::TOKEN,
            };
            self.ours(&piece.text, style);
        }
        self
    }

    /// Writes foreign text in a column of fixed width.
    pub(crate) fn column(&mut self, shown: &Shown, width: usize, style: Style) -> &mut Self {
        let start = self.x;
        let width = width.min(self.left());
        let cut = shown.boxed().cut(width);
        self.shown(&cut, style);
        self.to(start.saturating_add(width as u16))
    }

    pub(crate) fn to(&mut self, x: u16) -> &mut Self {
        self.x = self.x.max(x).min(self.end);
        self
    }

    pub(crate) fn keep(&mut self, width: usize) -> &mut Self {
        let x = self.end.saturating_sub(width as u16);
        self.to(x)
    }

    /// Writes text at the right end, unless it would overlap what was written.
    pub(crate) fn right(&mut self, text: &str, style: Style) -> &mut Self {
        if text.width() < self.left() {
            self.keep(text.width()).ours(text, style);
        }
        self
    }

    /// Reserves columns at the right end, lets `rest` write before them, and moves there.
    pub(crate) fn before(&mut self, columns: usize, rest: impl FnOnce(&mut Self)) -> &mut Self {
        let end = self.end;
        rest(self.shorten(columns));
        self.end = end;
        self.keep(columns)
    }

    pub(crate) fn shorten(&mut self, columns: usize) -> &mut Self {
        self.end = self.end.saturating_sub(columns as u16).max(self.x);
        self
    }
}

/// Returns a style that stands out in a selected row without reversing it.
pub(crate) const fn bold(style: Style) -> Style {
    style.add_modifier(Modifier::BOLD)
}

pub(crate) fn frame(model: &Model, area: Rect, title: &str, note: &str, style: Style, buf: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    let set = theme::border(model.settings.glyphs);
    Block::new().borders(Borders::ALL).border_set(set).border_style(style).render(area, buf);
    label(area, 0, title, style, buf);
    label(area, area.height.saturating_sub(1), note, style, buf);
}

fn label(area: Rect, nth: u16, text: &str, style: Style, buf: &mut Buffer) {
    if text.is_empty() || area.width < 8 {
        return;
    }
    let row = Rect { x: area.x + 2, width: area.width - 4, ..area };
    Pen::new(buf, row, nth).ours(&format!(" {text} "), style);
}

pub(crate) fn rule(model: &Model, area: Rect, buf: &mut Buffer) {
    let line = theme::horizontal(model.settings.glyphs).repeat(usize::from(area.width));
    Pen::new(buf, area, 0).ours(&line, theme::DIM);
}

pub(crate) fn divider(model: &Model, area: Rect, buf: &mut Buffer) {
    for nth in 0..area.height.min(if area.width == 0 { 0 } else { u16::MAX }) {
        Pen::new(buf, area, nth).ours(theme::vertical(model.settings.glyphs), theme::DIM);
    }
}

/// Dims the screen behind a sheet.
pub(crate) fn recede(model: &Model, area: Rect, buf: &mut Buffer) {
    if model.settings.low_bandwidth {
        return;
    }
    for at in area.intersection(buf.area).positions() {
        if let Some(cell) = buf.cell_mut(at) {
            cell.set_style(Style::reset().patch(theme::DIM));
        }
    }
}

/// Returns a pen for a row of a list, with the bar of the cursor if it is there; `here` is true if the list has the
/// focus.
pub(crate) fn row<'a>(
    model: &Model,
    area: Rect,
    nth: u16,
    here: Option<bool>,
    buf: &'a mut Buffer,
) -> Pen<'a> {
    let base = match here {
        Some(_) if model.settings.low_bandwidth => theme::PLAIN,
        Some(true) => theme::SELECTED,
        Some(false) => theme::RAISED,
        None => theme::PLAIN,
    };
    let mut pen = Pen::new(buf, area, nth).base(base);
    let bar = if here.is_some() { theme::bar(model.settings.glyphs) } else { " " };
    pen.ours(bar, theme::KEY);
    pen
}

/// Draws a centred sheet. Returns the area for its text.
pub(crate) fn sheet_frame(
    model: &Model,
    area: Rect,
    (width, height): (u16, u16),
    title: &str,
    note: &str,
    buf: &mut Buffer,
) -> Rect {
    let outer = sheet(area, width, height);
    Clear.render(outer, buf);
    frame(model, outer, title, note, theme::PLAIN, buf);
    sheet_text(outer)
}

/// One line, in parts of different styles.
pub(crate) type Parts = Vec<(Shown, Style)>;

pub(crate) fn draw_lines(lines: &[Parts], area: Rect, buf: &mut Buffer) {
    for (nth, line) in lines.iter().take(usize::from(area.height)).enumerate() {
        let mut pen = Pen::new(buf, area, nth as u16);
        for (part, style) in line {
            pen.shown(part, *style);
        }
    }
}

pub(crate) fn ours(text: impl Into<String>, style: Style) -> (Shown, Style) {
    (Shown::ours(text), style)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pen_writes_like_ratatui() {
        let area = Rect::new(0, 0, 9, 2);
        let style = Style::new().bold();
        for text in ["", "pending", "twelve chars", "tab\tbed", "del\u{7f}ete", "naïve", "界 wide", "~ !"] {
            let (mut ours, mut theirs) = (Buffer::empty(area), Buffer::empty(area));
            let mut pen = Pen::new(&mut ours, area, 1).base(theme::SELECTED);
            let left = pen.to(3).left();
            let end = pen.written(text, style).position();
            theirs.set_style(Rect::new(0, 1, 9, 1), theme::SELECTED);
            let (x, y) = theirs.set_stringn(3, 1, text, left, theme::SELECTED.patch(style));
            assert_eq!((ours, end), (theirs, Position { x, y }), "{text:?}");
        }
    }
}
