//! The edit form: the draft as fields or as text, and at every moment what it would send.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use tui_textarea::TextArea;

use crate::domain::{ActionKey, EditError, Untrusted};
use crate::text::{self, Shown};
use crate::tui::command::Command;
use crate::tui::layout::{Form, sheet_text};
use crate::tui::model::{EditField, EditForm, Kind, Model, hidden, place_of, wrapped};
use crate::tui::theme;

use super::frame::{frame, open};
use super::pen::Pen;

mod bulk;
mod fields;

/// Returns where the caret is.
pub(super) fn draw(model: &Model, form: &EditForm, area: Rect, buf: &mut Buffer) -> Option<Position> {
    if form.lists() {
        bulk::draw(model, form, area, buf);
        return None;
    }
    let (outer, parts) = form.layout(area);
    ratatui::widgets::Widget::render(ratatui::widgets::Clear, outer, buf);
    let note = "nothing is sent from here; closing keeps your text";
    frame(model, outer, "Edit before approving", note, theme::PLAIN, buf);
    head(model, form, &parts, buf);
    let caret = if form.is_raw() {
        area_of(&form.area, parts.editor, form.field == EditField::Text, buf)
    } else {
        fields::draw(model, form, &parts, buf)
    };
    will_be_sent(model, form, parts.foot, buf);
    buttons(model, form, parts.foot, buf);
    caret
}

/// The content of an action is on its way.
pub(super) fn soon(model: &Model, keys: usize, area: Rect, buf: &mut Buffer) {
    let body = open(model, area, (44.min(area.width), 5), "Edit before approving", "", buf);
    let what = text::count(keys, "action");
    Pen::new(buf, body, 1).ours(&format!("Reading {what} …"), theme::DIM);
}

fn head(model: &Model, form: &EditForm, parts: &Form, buf: &mut Buffer) {
    let mut pen = Pen::new(buf, parts.head, 0);
    if let Some(bulk) = &form.bulk {
        let more = format!("{} marked actions; the first: ", bulk.keys.len());
        pen.ours(&more, theme::BOLD);
    }
    title(model, &form.key, &mut pen);
}

pub(super) fn title(model: &Model, key: &ActionKey, pen: &mut Pen<'_>) {
    if let Some(slot) = model.queue.get(key) {
        pen.shown(&text::identifier(&slot.entry.row.tool), theme::BOLD).ours("   ", theme::PLAIN);
        pen.shown(&text::line(&slot.entry.row.title), theme::PLAIN);
    }
}

/// A text area drawn by ourselves, because what is typed over is foreign: hidden characters stay visible, long lines are
/// wrapped. Returns where the caret is: the terminal's own cursor belongs there, for input methods and screen readers.
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
        if at >= height {
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
    let caret = Position::new(place.x + x as u16, place.y + (at - top) as u16);
    // Past the last column of a full row: on it, so that it is never on the frame.
    let caret = Position { x: caret.x.min(place.right() - 1), ..caret };
    focused.then_some(caret)
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

fn will_be_sent(model: &Model, form: &EditForm, area: Rect, buf: &mut Buffer) {
    let small = area.height < 5;
    let said = wrong(form, &mut Pen::new(buf, area, 0));
    if !(small && said) {
        edits(form, &mut Pen::new(buf, area, u16::from(!small)));
    }
    if small {
        return;
    }
    let mut pen = Pen::new(buf, area, 2);
    pen.ours("a changed key replaces its whole value", theme::DIM);
    pen.right(judged(form), if form.violations.is_empty() { theme::DIM } else { theme::BAD });
    let keys = &model.settings.keymap;
    let back = keys.key(Command::FieldBack);
    let (editor, raw) = (keys.key(Command::Editor), keys.key(Command::RawJson));
    let other = if form.is_raw() { "fields" } else { "JSON" };
    let line = format!("{editor} $EDITOR  {back} back to proposed  {raw} {other}");
    Pen::new(buf, area, 3).ours(&line, theme::DIM);
}

/// Exactly what is sent, or why nothing can be.
fn edits(form: &EditForm, pen: &mut Pen<'_>) {
    match &form.check {
        Ok(None) => drop(pen.ours("as proposed: nothing would be edited", theme::DIM)),
        Ok(Some(edits)) => {
            pen.ours("will be sent as userEdits: ", theme::PLAIN).ours("{", theme::PLAIN);
            for (nth, key) in edits.keys().into_iter().enumerate() {
                pen.ours(if nth == 0 { "" } else { ", " }, theme::PLAIN);
                pen.shown(&text::line(&Untrusted::from(key)), theme::GOOD);
            }
            pen.ours("}", theme::PLAIN);
        }
        Err(error) => {
            pen.ours("cannot be sent: ", theme::BAD);
            match (error, form.refusal().filter(|_| !form.is_raw())) {
                (EditError::Json(error), None) => {
                    let (line, column) = place_of(form.area.lines(), error.at);
                    pen.ours(&format!("{}, line {line}, column {column}", error.what), theme::BAD);
                }
                (_, Some(why)) => drop(pen.shown(&text::line(&Untrusted::from(why)), theme::BAD)),
                (_, None) => {
                    pen.shown(&text::line(&Untrusted::from(error.to_string())), theme::BAD);
                }
            }
        }
    }
}

/// The first thing that is wrong, or hidden; false when nothing is.
fn wrong(form: &EditForm, pen: &mut Pen<'_>) -> bool {
    let here = form.here().and_then(|field| form.problem(field));
    let elsewhere = || form.violations.first().map(|violation| violation.what.clone());
    if let Some(problem) = here.or_else(elsewhere) {
        pen.ours("! ", theme::BAD).shown(&text::line(&Untrusted::from(problem)), theme::BAD);
        return true;
    }
    let hidden: usize = form.area.lines().iter().map(|line| hidden(line)).sum();
    if hidden > 0 {
        let line = format!("! {hidden} hidden characters in this text, shown as ⟦…⟧");
        pen.ours(&line, theme::WARN);
    }
    hidden > 0
}

fn judged(form: &EditForm) -> &'static str {
    match (&form.check, form.schema()) {
        (Err(_), _) | (_, None) => "",
        _ if form.violations.is_empty() => "valid against the tool's schema",
        _ => "not valid against the tool's schema",
    }
}

fn buttons(model: &Model, form: &EditForm, area: Rect, buf: &mut Buffer) {
    let style = |field| if form.field == field { theme::SELECTED } else { Style::new() };
    let mut pen = Pen::new(buf, area, area.height.saturating_sub(1));
    let approve = if form.bulk.is_some() { "[show what it changes]" } else { "[approve with these edits]" };
    let all = [
        (EditField::Approve, approve),
        (EditField::Revert, "[back to proposed]"),
        (EditField::Close, "[close]"),
    ];
    for (field, label) in all {
        pen.ours(label, style(field)).ours("  ", theme::PLAIN);
    }
    let next = model.settings.keymap.key_in_text(Command::NextField);
    let hint =
        if form.field == EditField::Text { format!("{next}: next") } else { "Enter presses".to_owned() };
    pen.right(&hint, theme::DIM);
}

/// What Enter does in the field.
pub(super) fn enter(form: &EditForm) -> &'static str {
    match form.here().map(|field| &field.kind) {
        _ if form.has_lines() => "Enter: new line",
        _ if form.bulk.is_some() => "Enter: show what it changes",
        Some(Kind::Text | Kind::Number | Kind::Choice(_) | Kind::List | Kind::Json) | None => {
            "Enter: approve with these edits"
        }
    }
}

/// The room inside, for those who draw into it.
pub(super) fn body(outer: Rect) -> Rect {
    sheet_text(outer)
}
