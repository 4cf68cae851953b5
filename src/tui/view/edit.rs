//! The edit form: the input as text, and at every moment what it would send.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use tui_textarea::TextArea;

use crate::domain::{ActionKey, EditError, Untrusted};
use crate::text::{self, Shown};
use crate::tui::layout::{form_parts, form_size};
use crate::tui::model::{EditField, EditForm, Model, hidden, wrapped};
use crate::tui::theme;

use super::frame::open;
use super::pen::Pen;

pub(super) fn draw(model: &Model, form: &EditForm, area: Rect, buf: &mut Buffer) -> Option<Position> {
    let size = form_size(area, form.area.lines().len());
    let note = "nothing is sent from here; closing keeps your text";
    let body = open(model, area, size, "Edit before approving", note, buf);
    let (text, foot) = form_parts(body);
    let mut pen = Pen::new(buf, body, 0);
    title(model, &form.key, &mut pen);
    let cursor = area_of(&form.area, text, form.field == EditField::Text, buf);
    will_be_sent(form, foot, buf);
    buttons(form, foot, buf);
    cursor
}

pub(super) fn title(model: &Model, key: &ActionKey, pen: &mut Pen<'_>) {
    if let Some(slot) = model.queue.get(key) {
        pen.shown(&text::line(&slot.entry.row.tool), theme::BOLD).ours("   ", theme::PLAIN);
        pen.shown(&text::line(&slot.entry.row.title), theme::PLAIN);
    }
}

/// A text area drawn by ourselves, because what is typed over is foreign: hidden characters stay visible, long lines are
/// wrapped. Returns where the terminal's own cursor is to stand while this is typed in.
pub(super) fn area_of(area: &TextArea<'_>, place: Rect, focused: bool, buf: &mut Buffer) -> Option<Position> {
    if place.is_empty() {
        return None;
    }
    let cursor = area.cursor();
    let (line, column) = (cursor.0, cursor.1);
    let height = usize::from(place.height);
    let text = |nth: usize| area.lines().get(nth).map(|line| wrapped(line, place.width)).unwrap_or_default();
    let (row, x) = cursor_in(&text(line), before(area, line, column));
    // Half a screen of what stands above the cursor, then as much below as fits.
    let mut rows = text(line);
    let mut at = row;
    for above in (0..line).rev() {
        if at >= height / 2 {
            break;
        }
        let mut more = text(above);
        at += more.len();
        more.append(&mut rows);
        rows = more;
    }
    let top = at.saturating_sub(height / 2);
    for below in line + 1..area.lines().len() {
        if rows.len() >= top + height {
            break;
        }
        rows.extend(text(below));
    }
    let top = top.min(rows.len().saturating_sub(height).max(at.saturating_sub(height - 1)));
    for (nth, row) in rows.iter().skip(top).take(height).enumerate() {
        Pen::new(buf, place, nth as u16).shown(row, theme::PLAIN);
    }
    let cursor = Position::new(place.x + x as u16, place.y + (at - top) as u16);
    // Past the last column of a full row: on it, so that it is never on the frame.
    let cursor = Position { x: cursor.x.min(place.right() - 1), ..cursor };
    focused.then_some(cursor)
}

/// Columns of the line before the cursor.
fn before(area: &TextArea<'_>, line: usize, column: usize) -> usize {
    let head: String =
        area.lines().get(line).map(|text| text.chars().take(column).collect()).unwrap_or_default();
    text::lines(&head).first().map(Shown::width).unwrap_or_default()
}

/// Which wrapped row the cursor is in, and where in it. Wrapping loses no column, so that rows can be counted off.
fn cursor_in(rows: &[Shown], before: usize) -> (usize, usize) {
    let mut left = before;
    for (nth, row) in rows.iter().enumerate() {
        if left < row.width() || nth + 1 == rows.len() {
            return (nth, left);
        }
        left -= row.width();
    }
    (0, 0)
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
