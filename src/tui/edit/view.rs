//! Draws the edit form, and what it would send.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use tui_textarea::TextArea;

use crate::domain::{ActionKey, EditError, Edits, Untrusted, json};
use crate::text;
use crate::text::{Shown, hidden};
use crate::tui::chrome;
use crate::tui::chrome::pen::{Pen, frame, sheet_frame};
use crate::tui::chrome::theme;
use crate::tui::core::command::Command;
use crate::tui::core::layout::{sheet, sheet_text, wrapped};
use crate::tui::core::model::Model;
use crate::tui::edit::words;

use super::field::{Field, Kind, element_title};
use super::form::{BulkOutcome, BulkRow, EditField, EditForm, Form, cell, place_of, shown_key};

/// Draws the form. Returns the caret's position.
pub(crate) fn draw(model: &Model, form: &EditForm, area: Rect, buf: &mut Buffer) -> Option<Position> {
    if form.lists() {
        draw_bulk(model, form, area, buf);
        return None;
    }
    let (outer, parts) = form.layout(area);
    ratatui::widgets::Widget::render(ratatui::widgets::Clear, outer, buf);
    let note = words::NOT_SENT_FROM_HERE;
    frame(model, outer, words::TITLE, note, theme::PLAIN, buf);
    head(model, form, &parts, buf);
    let caret = if form.is_raw() {
        area_of(&form.area, parts.editor, form.field == EditField::Text, buf)
    } else {
        draw_fields(model, form, &parts, buf)
    };
    will_be_sent(model, form, parts.foot, buf);
    buttons(model, form, parts.foot, buf);
    caret
}

pub(crate) fn soon(model: &Model, keys: usize, area: Rect, buf: &mut Buffer) {
    let body = sheet_frame(model, area, (44.min(area.width), 5), words::TITLE, "", buf);
    let what = text::count(keys, "action");
    Pen::new(buf, body, 1).ours(&format!("Reading {what} …"), theme::DIM);
}

fn head(model: &Model, form: &EditForm, parts: &Form, buf: &mut Buffer) {
    let mut pen = Pen::new(buf, parts.head, 0);
    if let Some(bulk) = &form.bulk {
        let more = words::marked_first(bulk.keys.len());
        pen.ours(&more, theme::BOLD);
    }
    title(model, &form.key, &mut pen);
}

pub(crate) fn title(model: &Model, key: &ActionKey, pen: &mut Pen<'_>) {
    if let Some(slot) = model.queue.get(key) {
        pen.shown(&text::identifier(&slot.entry.row.tool), theme::BOLD).ours("   ", theme::PLAIN);
        pen.shown(&text::line(&model.title_of(slot)), theme::PLAIN);
    }
}

/// Draws a text area with hidden characters made visible and long lines wrapped. Returns the caret's position: the
/// terminal's cursor is put there for input methods and screen readers.
pub(crate) fn area_of(area: &TextArea<'_>, place: Rect, focused: bool, buf: &mut Buffer) -> Option<Position> {
    if place.is_empty() {
        return None;
    }
    let cursor = area.cursor();
    let (line, column) = (cursor.0, cursor.1);
    let height = usize::from(place.height);
    let text = |nth: usize| area.lines().get(nth).map(|line| wrapped(line, place.width)).unwrap_or_default();
    let (row, x) = cursor_in(&text(line), before(area, line, column));
    // Half a screen above the cursor, then as much below as fits.
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
    // A caret after a full row stays on its last column.
    let caret = Position { x: caret.x.min(place.right() - 1), ..caret };
    focused.then_some(caret)
}

fn before(area: &TextArea<'_>, line: usize, column: usize) -> usize {
    let head: String =
        area.lines().get(line).map(|text| text.chars().take(column).collect()).unwrap_or_default();
    text::lines(&head).first().map(Shown::width).unwrap_or_default()
}

/// Returns the wrapped row and column of the cursor. Wrapping loses no column.
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
    pen.ours(words::WHOLE_VALUE, theme::DIM);
    pen.right(judged(form), if form.violations.is_empty() { theme::DIM } else { theme::BAD });
    let keys = &model.settings.keymap;
    let back = keys.key(Command::FieldBack);
    let (editor, raw) = (keys.key(Command::Editor), keys.key(Command::RawJson));
    let other = if form.is_raw() { "fields" } else { "JSON" };
    let line = words::form_keys(&editor, &back, &raw, other);
    Pen::new(buf, area, 3).ours(&line, theme::DIM);
}

fn edits(form: &EditForm, pen: &mut Pen<'_>) {
    match &form.check {
        Ok(None) => drop(pen.ours(words::AS_PROPOSED, theme::DIM)),
        Ok(Some(edits)) => {
            pen.ours(words::EDITS, theme::PLAIN);
            for (nth, key) in edits.keys().into_iter().enumerate() {
                pen.ours(if nth == 0 { "" } else { ", " }, theme::PLAIN);
                pen.shown(&text::line(&Untrusted::from(key)), theme::GOOD);
            }
        }
        Err(error) => {
            pen.ours(words::CANNOT_BE_SENT, theme::BAD);
            match (error, form.refusal().filter(|_| !form.is_raw())) {
                (EditError::Json(error), None) => {
                    let (line, column) = place_of(form.area.lines(), error.at);
                    pen.ours(&words::at_line(error.what, line, column), theme::BAD);
                }
                (_, Some(why)) => drop(pen.shown(&text::line(&Untrusted::from(why)), theme::BAD)),
                (_, None) => {
                    pen.shown(&text::line(&Untrusted::from(error.to_string())), theme::BAD);
                }
            }
        }
    }
}

/// Draws the first problem. Returns false if there is none.
fn wrong(form: &EditForm, pen: &mut Pen<'_>) -> bool {
    let here = form.here().and_then(|field| form.problem(field));
    let elsewhere = || form.violations.first().map(|violation| violation.what.clone());
    if let Some(problem) = here.or_else(elsewhere) {
        pen.ours("! ", theme::BAD).shown(&text::line(&Untrusted::from(problem)), theme::BAD);
        return true;
    }
    let hidden: usize = form.area.lines().iter().map(|line| hidden(line)).sum();
    if hidden > 0 {
        let line = words::hidden_characters(&text::count(hidden, chrome::words::HIDDEN_CHARACTER));
        pen.ours(&line, theme::WARN);
    }
    hidden > 0
}

fn judged(form: &EditForm) -> &'static str {
    match (&form.check, form.schema()) {
        (Err(_), _) | (_, None) => "",
        _ if form.violations.is_empty() => words::VALID,
        _ => words::NOT_VALID,
    }
}

fn buttons(model: &Model, form: &EditForm, area: Rect, buf: &mut Buffer) {
    let style = |field| if form.field == field { theme::SELECTED } else { Style::new() };
    let mut pen = Pen::new(buf, area, area.height.saturating_sub(1));
    let approve = if form.bulk.is_some() { words::BUTTON_SHOW } else { words::BUTTON_APPROVE };
    let all = [
        (EditField::Approve, approve),
        (EditField::Revert, words::BUTTON_BACK),
        (EditField::Close, "[close]"),
    ];
    for (field, label) in all {
        pen.ours(label, style(field)).ours("  ", theme::PLAIN);
    }
    let next = model.settings.keymap.key_in_text(Command::NextField);
    let hint =
        if form.field == EditField::Text { format!("{next}: next") } else { words::ENTER_PRESSES.to_owned() };
    pen.right(&hint, theme::DIM);
}

pub(crate) fn enter(form: &EditForm) -> &'static str {
    match form.here().map(|field| &field.kind) {
        _ if form.has_lines() => words::ENTER_NEW_LINE,
        _ if form.bulk.is_some() => words::ENTER_SHOWS,
        Some(Kind::Text | Kind::Number | Kind::Choice(_) | Kind::List | Kind::Json) | None => {
            words::ENTER_APPROVES
        }
    }
}

pub(crate) fn body(outer: Rect) -> Rect {
    sheet_text(outer)
}

pub(crate) fn draw_bulk(model: &Model, form: &EditForm, area: Rect, buf: &mut Buffer) {
    let Some(bulk) = &form.bulk else { return };
    let rows = bulk.rows.as_deref().unwrap_or_default();
    let height =
        u16::try_from(rows.len()).unwrap_or(u16::MAX).saturating_add(8).min(area.height.saturating_sub(1));
    let outer = sheet(area, area.width.saturating_sub(4).min(120), height);
    ratatui::widgets::Widget::render(ratatui::widgets::Clear, outer, buf);
    let note = words::NOTHING_IS_SENT_FROM_HERE;
    frame(model, outer, words::BULK_TITLE, note, theme::PLAIN, buf);
    let inside = body(outer);
    let (applies, all) = (bulk.applies(), rows.len());
    let mut pen = Pen::new(buf, inside, 0);
    pen.ours(&words::applies_to(applies, all), theme::BOLD);
    if applies < all {
        pen.ours(&words::and_skipped(all - applies), theme::WARN);
    }
    let list = Rect { y: inside.y + 2, height: inside.height.saturating_sub(4), ..inside };
    let shown = usize::from(list.height);
    let top = bulk.top.min(rows.len().saturating_sub(shown));
    for (nth, row) in rows.iter().skip(top).take(shown).enumerate() {
        line(model, row, &mut Pen::new(buf, list, nth as u16));
    }
    let foot = inside.height.saturating_sub(1);
    let mut pen = Pen::new(buf, inside, foot);
    if applies > 0 {
        let what = text::count(applies, "approval");
        let undo = model.settings.keymap.key(Command::Undo);
        let line = words::enter_stages(&what, &undo);
        pen.ours(&line, theme::BOLD);
    }
    let back = model.settings.keymap.key_in_text(Command::Back);
    pen.ours(&words::back_to_form(&back), theme::DIM);
    if rows.len() > shown {
        pen.right(&format!("{}-{} of {}", top + 1, top + shown, rows.len()), theme::DIM);
    }
}

/// Draws `title   field  proposed → new`.
fn line(model: &Model, row: &BulkRow, pen: &mut Pen<'_>) {
    let title = model.queue.get(&row.key).map(|slot| text::line(&slot.entry.row.title)).unwrap_or_default();
    let width = (pen.left() / 3).max(12);
    match &row.fate {
        BulkOutcome::LeftOut(why) => {
            pen.ours("- ", theme::WARN).column(&title, width, theme::DIM).ours(words::SKIPPED, theme::WARN);
            pen.shown(&text::line(&Untrusted::from(why.as_str())), theme::DIM);
        }
        BulkOutcome::Applies(None) => {
            pen.ours("= ", theme::DIM).column(&title, width, theme::PLAIN);
            pen.ours(words::ALIKE_ALREADY, theme::DIM);
        }
        BulkOutcome::Applies(Some(edits)) => {
            pen.ours("* ", theme::GOOD).column(&title, width, theme::PLAIN);
            changes(model, row, edits, pen);
        }
    }
}

fn changes(model: &Model, row: &BulkRow, edits: &Edits, pen: &mut Pen<'_>) {
    let input = model.preview.cached(&row.key).map(|cached| cached.action.input.clone());
    let members = edits.as_json().members().unwrap_or_default();
    let each = pen.left() / members.len().max(1);
    for member in &members {
        let key = text::line(&Untrusted::from(member.key.text.as_ref()));
        let old = input.as_ref().and_then(|input| input.member(&member.key.text));
        let value = |raw: &str| cell(&json::pretty(raw)).shown;
        let old = old.map_or_else(|| Shown::ours("(none)"), value);
        let room = each.saturating_sub(key.width() + 7) / 2;
        pen.ours("  ", theme::PLAIN).shown(&key, theme::KEY).ours("  ", theme::PLAIN);
        pen.shown(&old.cut(room), theme::DIM).ours(" → ", theme::DIM);
        pen.shown(&value(member.value).cut(room), theme::GOOD);
    }
}

pub(crate) fn draw_fields(
    model: &Model,
    form: &EditForm,
    parts: &Form,
    buf: &mut Buffer,
) -> Option<Position> {
    let mut pen = Pen::new(buf, parts.columns, 0);
    let x = parts.columns.x + 2;
    let (second, third) = (x + parts.key as u16 + 2, x + (parts.key + parts.proposed) as u16 + 4);
    pen.to(x).ours("field", theme::DIM).to(second).ours("proposed", theme::DIM);
    pen.to(third).ours("yours", theme::DIM);
    let height = usize::from(parts.rows.height);
    let top = form.at.saturating_sub(height.saturating_sub(1) / 2);
    let top = top.min(form.fields.len().saturating_sub(height));
    for (nth, field) in form.fields.iter().enumerate().skip(top).take(height) {
        let pen = &mut Pen::new(buf, parts.rows, (nth - top) as u16);
        row(form, field, nth == form.at, (parts, second, third), pen);
    }
    let more = form.fields.len() - (top + height).min(form.fields.len());
    if more + top > 0 {
        Pen::new(buf, parts.columns, 0)
            .right(&format!("{} of {}", form.at + 1, form.fields.len()), theme::DIM);
    }
    let field = form.here()?;
    says(form, field, &mut Pen::new(buf, parts.says, 0));
    editor(model, form, field, parts.editor, buf)
}

fn row(
    form: &EditForm,
    field: &Field,
    here: bool,
    (parts, second, third): (&Form, u16, u16),
    pen: &mut Pen<'_>,
) {
    let style = if here { theme::BOLD } else { theme::PLAIN };
    pen.ours(if here { "> " } else { "  " }, style).column(&shown_key(field), parts.key, style);
    pen.to(second);
    match &field.proposed {
        Some(value) => value_in(value, parts.proposed, theme::PLAIN, pen),
        None => drop(pen.ours("(none)", theme::DIM)),
    }
    pen.to(third);
    let room = pen.left().saturating_sub(2);
    let bad = form.problem(field).is_some();
    match &field.value {
        _ if field.is_locked() && !field.is_changed() => drop(pen.ours("= locked", theme::DIM)),
        None if field.proposed.is_some() => drop(pen.ours("(gone) !", theme::BAD)),
        None => drop(pen.ours(words::NOT_SET, theme::DIM)),
        Some(_) if !field.is_changed() && !bad => drop(pen.ours("=", theme::DIM)),
        Some(value) => {
            value_in(value, room, if bad { theme::BAD } else { theme::GOOD }, pen);
            pen.ours(if bad { " !" } else { " *" }, if bad { theme::BAD } else { theme::BOLD });
        }
    }
}

fn value_in(value: &str, width: usize, style: Style, pen: &mut Pen<'_>) {
    let cell = cell(value);
    if cell.whole {
        pen.shown(&cell.shown.cut(width), style);
        return;
    }
    let more = format!(" ({} lines)", cell.lines);
    pen.shown(&cell.shown.cut(width.saturating_sub(more.chars().count())), style).ours(&more, theme::DIM);
}

/// Draws `title, string, required, at most 120 characters                 42 of 120`.
fn says(form: &EditForm, field: &Field, pen: &mut Pen<'_>) {
    let mut words: Vec<String> = Vec::new();
    match &field.rule {
        Some(rule) => {
            words.push(rule.types.join(" or "));
            words.push(if rule.required { "required" } else { "optional" }.to_owned());
            words.extend(rule.limits.iter().cloned());
        }
        None => words.push(kind(field).to_owned()),
    }
    let words: Vec<String> = words.into_iter().filter(|word| !word.is_empty()).collect();
    pen.shown(&shown_key(field), theme::BOLD).ours(", ", theme::DIM);
    pen.shown(&text::line(&Untrusted::from(words.join(", "))), theme::DIM);
    let most = field.rule.as_ref().and_then(|rule| rule.max_length);
    if let Some(most) = most.filter(|_| field.kind == Kind::Text) {
        let typed = field.text().chars().count();
        let style = if typed > most { theme::BAD } else { theme::DIM };
        pen.right(&format!("{typed} of {most}"), style);
    } else {
        let how = if form.field == EditField::Text { enter(form) } else { "" };
        pen.right(how, theme::DIM);
    }
}

fn kind(field: &Field) -> &'static str {
    match &field.kind {
        Kind::Text => "text",
        Kind::Number => "number",
        Kind::Choice(_) => "a choice",
        Kind::List => words::A_LIST,
        Kind::Json => words::A_JSON,
    }
}

fn editor(_model: &Model, form: &EditForm, field: &Field, area: Rect, buf: &mut Buffer) -> Option<Position> {
    let typing = form.field == EditField::Text;
    if field.is_locked() {
        let why = words::OWNER_CANNOT_CHANGE;
        Pen::new(buf, area, 0).ours(why, theme::DIM);
        return None;
    }
    match &field.kind {
        Kind::Choice(choices) => {
            let pen = &mut Pen::new(buf, area, 0);
            pen.ours("< ", theme::KEY);
            for (nth, choice) in choices.iter().enumerate() {
                let style = if field.choice() == Some(nth) { theme::SELECTED } else { theme::PLAIN };
                let word = text::line(&Untrusted::from(json::decode(choice).text.into_owned()));
                pen.ours(" ", style).shown(&word, style).ours(" ", style);
            }
            pen.ours(words::CHOICE_KEYS, theme::DIM);
            None
        }
        Kind::List => {
            elements(form, field, area, buf);
            None
        }
        Kind::Text | Kind::Number | Kind::Json => {
            let mark = Rect { width: 2.min(area.width), ..area };
            Pen::new(buf, mark, 0).ours(if typing { "> " } else { "  " }, theme::KEY);
            let place = Rect { x: area.x + 2, width: area.width.saturating_sub(2), ..area };
            area_of(&form.area, place, typing, buf)
        }
    }
}

fn elements(form: &EditForm, field: &Field, area: Rect, buf: &mut Buffer) {
    let all = field.elements();
    let height = usize::from(area.height);
    let top = form.element.saturating_sub(height / 2).min(all.len().saturating_sub(height));
    for (nth, element) in all.iter().enumerate().skip(top).take(height) {
        let pen = &mut Pen::new(buf, area, (nth - top) as u16);
        let here = nth == form.element && form.field == EditField::Text;
        let dropped = field.dropped.contains(&nth);
        let (word, style) = if dropped { ("drop  ", theme::BAD) } else { ("keep  ", theme::PLAIN) };
        pen.ours(if here { "> " } else { "  " }, theme::KEY);
        pen.ours(word, if dropped { theme::BAD } else { theme::DIM });
        pen.ours(&format!("{:<3}", nth + 1), theme::DIM);
        let title = Shown::clone(&text::line(&Untrusted::from(element_title(element).into_owned())));
        pen.shown(&title.cut(pen.left().saturating_sub(if here { 40 } else { 0 }).max(12)), style);
        if here {
            pen.right(words::ELEMENT_KEYS, theme::DIM);
        }
    }
}
