//! The edit form: the input as text, and at every moment what it would send.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use tui_textarea::TextArea;

use crate::domain::{ActionKey, EditError, Untrusted};
use crate::text::{self, Shown};
use crate::tui::model::{EditField, EditForm, Model, hidden};
use crate::tui::theme;

use super::frame::open;
use super::pen::Pen;

pub(super) fn draw(model: &Model, form: &EditForm, area: Rect, buf: &mut Buffer) {
    let size = (area.width.saturating_sub(4).min(110), area.height.saturating_sub(2));
    let note = "nothing is sent from here; closing keeps your text";
    let body = open(model, area, size, "Edit before approving", note, buf);
    let foot = 5.min(body.height);
    let mut pen = Pen::new(buf, body, 0);
    title(model, &form.key, &mut pen);
    let text = Rect { y: body.y + 2, height: body.height.saturating_sub(2 + foot), ..body };
    area_of(&form.area, text, form.field == EditField::Text, buf);
    let foot = Rect { y: body.bottom() - foot, height: foot, ..body };
    will_be_sent(form, foot, buf);
    buttons(form, foot, buf);
}

pub(super) fn title(model: &Model, key: &ActionKey, pen: &mut Pen<'_>) {
    if let Some(slot) = model.queue.get(key) {
        pen.shown(&text::line(&slot.entry.row.tool), theme::BOLD).ours("   ", theme::PLAIN);
        pen.shown(&text::line(&slot.entry.row.title), theme::PLAIN);
    }
}

/// A text area drawn by ourselves, because what is typed over is foreign: hidden characters stay visible.
pub(super) fn area_of(area: &TextArea<'_>, place: Rect, focused: bool, buf: &mut Buffer) {
    let cursor = area.cursor();
    let (row, column) = (cursor.0, cursor.1);
    let height = usize::from(place.height).max(1);
    let lines = area.lines();
    let top = row.saturating_sub(height / 2).min(lines.len().saturating_sub(height));
    let before = lines.get(row).map(|line| width_of(line, column)).unwrap_or_default();
    let width = usize::from(place.width).max(2);
    let skip = if before + 1 > width { before + 1 - width } else { 0 };
    for (nth, line) in lines.iter().skip(top).take(height).enumerate() {
        let mut pen = Pen::new(buf, place, nth as u16);
        let shown = one_line(line);
        let visible = if skip == 0 { shown } else { shown.skip(skip) };
        pen.shown(&visible, theme::PLAIN);
        if top + nth == row && focused {
            let x = place.x + (before - skip) as u16;
            cursor_at(x, place.y + nth as u16, buf);
        }
    }
}

fn cursor_at(x: u16, y: u16, buf: &mut Buffer) {
    if let Some(cell) = buf.cell_mut((x, y)) {
        cell.set_style(theme::SELECTED);
    }
}

fn one_line(line: &str) -> Shown {
    text::lines(line).into_iter().next().unwrap_or_default()
}

/// Columns of the first `chars` characters.
fn width_of(line: &str, chars: usize) -> usize {
    let head: String = line.chars().take(chars).collect();
    one_line(&head).width()
}

fn will_be_sent(form: &EditForm, area: Rect, buf: &mut Buffer) {
    let hidden: usize = form.area.lines().iter().map(|line| hidden(line)).sum();
    if hidden > 0 {
        let line = format!("! {hidden} hidden characters in this text, shown as ⟦…⟧");
        Pen::new(buf, area, 0).ours(&line, theme::WARN);
    }
    let mut pen = Pen::new(buf, area, 1);
    match &form.check {
        Ok(None) => drop(pen.ours("as proposed: nothing would be edited", theme::DIM)),
        Ok(Some(edits)) => {
            pen.ours("will be sent as userEdits: ", theme::PLAIN).ours("{", theme::PLAIN);
            for (nth, key) in edits.keys().into_iter().enumerate() {
                pen.ours(if nth == 0 { "" } else { ", " }, theme::PLAIN);
                pen.shown(&text::line(&Untrusted::from(key)), theme::GOOD);
            }
            pen.ours("}", theme::PLAIN);
            Pen::new(buf, area, 2).ours("a changed key replaces its whole value", theme::DIM);
        }
        Err(error) => {
            pen.ours("cannot be sent: ", theme::BAD)
                .shown(&text::line(&Untrusted::from(error.to_string())), theme::BAD);
            if let EditError::Json(error) = error {
                let (line, column) = place_of(form, error.at);
                Pen::new(buf, area, 2).ours(&format!("at line {line}, column {column}"), theme::BAD);
            }
        }
    }
}

/// Line and column of a byte, as people count them.
fn place_of(form: &EditForm, at: usize) -> (usize, usize) {
    let mut rest = at;
    for (nth, line) in form.area.lines().iter().enumerate() {
        if rest <= line.len() {
            let head = line.char_indices().take_while(|(index, _)| *index < rest).count();
            return (nth + 1, head + 1);
        }
        rest -= line.len() + 1;
    }
    (form.area.lines().len(), 1)
}

fn buttons(form: &EditForm, area: Rect, buf: &mut Buffer) {
    let style = |field| if form.field == field { theme::SELECTED } else { Style::new() };
    let mut pen = Pen::new(buf, area, 4);
    let all = [
        (EditField::Approve, "[approve with these edits]"),
        (EditField::Revert, "[back to proposed]"),
        (EditField::Close, "[close]"),
    ];
    for (field, label) in all {
        pen.ours(label, style(field)).ours("  ", theme::PLAIN);
    }
    let hint = if form.field == EditField::Text { "Tab: buttons  Esc: close" } else { "Enter presses" };
    pen.right(hint, theme::DIM);
}
