//! Frames, rules and sheets.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::{Block, Borders, Clear, Widget as _};

use crate::tui::layout::{sheet, sheet_text};
use crate::tui::model::Model;
use crate::tui::theme;

use super::pen::Pen;

/// A frame with a title in its top line and a note in its bottom line.
pub(super) fn frame(model: &Model, area: Rect, title: &str, note: &str, style: Style, buf: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    let set = theme::border(model.settings.borders);
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

/// A horizontal line over the whole row.
pub(super) fn rule(model: &Model, area: Rect, buf: &mut Buffer) {
    let line = theme::horizontal(model.settings.borders).repeat(usize::from(area.width));
    Pen::new(buf, area, 0).ours(&line, theme::DIM);
}

/// Opens a sheet in the middle; returns the room for its text, with a margin.
pub(super) fn open(
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
