//! The fields of the edit form: a row each, and the one that keys go to.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use crate::domain::{Untrusted, json};
use crate::text::{self, Shown};
use crate::tui::layout::Form;
use crate::tui::model::{EditField, EditForm, Field, Kind, Model, cell, element_title, shown_key};
use crate::tui::theme;

use super::{Pen, area_of, enter};

/// Returns where the caret is.
pub(super) fn draw(model: &Model, form: &EditForm, parts: &Form, buf: &mut Buffer) -> Option<Position> {
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
        None => drop(pen.ours("(not set)", theme::DIM)),
        Some(_) if !field.is_changed() && !bad => drop(pen.ours("=", theme::DIM)),
        Some(value) => {
            value_in(value, room, if bad { theme::BAD } else { theme::GOOD }, pen);
            pen.ours(if bad { " !" } else { " *" }, if bad { theme::BAD } else { theme::BOLD });
        }
    }
}

/// A value in so many columns: its first line, and how many there are.
fn value_in(value: &str, width: usize, style: Style, pen: &mut Pen<'_>) {
    let cell = cell(value);
    if cell.whole {
        pen.shown(&cell.shown.cut(width), style);
        return;
    }
    let more = format!(" ({} lines)", cell.lines);
    pen.shown(&cell.shown.cut(width.saturating_sub(more.chars().count())), style).ours(&more, theme::DIM);
}

/// `title, string, required, at most 120 characters                 42 of 120`
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
        Kind::List => "a list, replaced as a whole",
        Kind::Json => "JSON, replaced as a whole",
    }
}

/// What the field is edited in.
fn editor(_model: &Model, form: &EditForm, field: &Field, area: Rect, buf: &mut Buffer) -> Option<Position> {
    let typing = form.field == EditField::Text;
    if field.is_locked() {
        let why = "says whose action this is: it cannot be edited";
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
            pen.ours(" >  Left and Right change it", theme::DIM);
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

/// The elements of a list: which stay, and which are dropped.
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
            pen.right("Space drops or restores   Right: as JSON", theme::DIM);
        }
    }
}
