//! Reading the preview: wrapping, scrolling sideways, its place next to the list, and folds in its JSON.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::domain::json;
use crate::tui::chrome::state::Focus;
use crate::tui::core::command;
use crate::tui::core::command::{Command, Direction};
use crate::tui::core::layout::Shape;
use crate::tui::core::model::Model;
use crate::tui::preview::page::made::Tab;
use crate::tui::preview::words;

use super::page::json_rows;
use super::state::PreviewPlace;
use super::update;

const SIDEWAYS: usize = 16;

pub(crate) fn wrap(model: &mut Model) {
    model.preview.wrap = !model.preview.wrap;
    model.preview.left = 0;
    if !model.preview.wrap {
        model.say(words::LONG_LINES);
    }
}

pub(crate) fn sideways(model: &mut Model, way: Direction) {
    if model.preview.wrap {
        let key = model.settings.keymap.key(Command::Wrap);
        model.say(words::lines_wrap(&key));
        return;
    }
    let text = model.layout().text;
    let (left, top) = (model.preview.left, model.preview.top);
    let right = left + usize::from(text.width);
    let more = model.preview.page.as_ref().is_some_and(|page| {
        (top..page.len()).take(usize::from(text.height)).any(|row| page.reaches(row, right))
    });
    if way == Direction::Up || more {
        model.preview.left = command::shift(left, way, SIDEWAYS);
    }
}

pub(crate) fn hide(model: &mut Model) {
    if model.preview.place == PreviewPlace::Hidden {
        model.preview.place = model.preview.shown_at;
        return;
    }
    model.preview.place = PreviewPlace::Hidden;
    (model.screen.zoom, model.screen.focus) = (false, Focus::List);
}

pub(crate) fn below(model: &mut Model) {
    if matches!(model.layout().shape, Shape::Stacked) {
        model.preview.place = model.preview.shown_at;
        model.say(words::TOO_NARROW);
        return;
    }
    let other = if model.preview.shown_at == PreviewPlace::Below {
        PreviewPlace::Beside
    } else {
        PreviewPlace::Below
    };
    (model.preview.place, model.preview.shown_at) = (other, other);
}

/// Returns true if the preview has a cursor: it has the focus and shows the Raw tab, whose JSON folds.
pub(crate) fn has_cursor(model: &Model) -> bool {
    model.sheet.is_none()
        && model.preview.tab == Tab::Raw
        && (model.screen.zoom || model.screen.focus == Focus::Preview)
}

/// Moves the preview's cursor, or scrolls its text if it has none.
pub(crate) fn step(model: &mut Model, way: Direction, by: usize) {
    if !has_cursor(model) {
        return update::scroll(model, way, by);
    }
    let height = usize::from(model.layout().text.height).max(1);
    let Some(page) = &model.preview.page else { return };
    model.preview.to_end = way == Direction::Down && by == usize::MAX && !page.is_counted();
    if model.preview.to_end {
        return;
    }
    let cursor = command::shift(model.preview.cursor, way, by).min(page.len().saturating_sub(1));
    model.preview.cursor = cursor;
    model.preview.top = model.preview.top.min(cursor).max((cursor + 1).saturating_sub(height));
}

/// Folds or unfolds the value at the cursor. In other tabs the preview takes the whole screen.
pub(crate) fn fold(model: &mut Model) {
    if !has_cursor(model) {
        return update::zoom(model, true);
    }
    let row = model.preview.cursor;
    let Some(page) = &model.preview.page else { return };
    let Some(line) = page.line_of_json(row) else { return };
    let json = raw(model).unwrap_or_default();
    let Some(at) = json_rows::at(&json, line) else {
        model.say(words::NOTHING_TO_FOLD_HERE);
        return;
    };
    set(model, at, |folds| {
        if !folds.remove(&at) {
            folds.insert(at);
        }
    });
}

pub(crate) fn fold_all(model: &mut Model, folded: bool) {
    if !has_cursor(model) {
        model.say(words::ONLY_THE_RAW_TAB_FOLDS);
        return;
    }
    let all = if folded { json_rows::all(&raw(model).unwrap_or_default()) } else { BTreeSet::new() };
    let page = model.preview.page.as_ref();
    let line = page.and_then(|page| page.line_of_json(model.preview.cursor)).unwrap_or_default();
    set(model, line, |folds| *folds = all);
}

fn raw(model: &Model) -> Option<String> {
    let cached = model.preview.cached(model.preview.shown.as_ref()?)?;
    Some(json::pretty(cached.action.input.as_str()))
}

fn set(model: &mut Model, line: usize, change: impl FnOnce(&mut BTreeSet<usize>)) {
    let Some(of) = model.preview.page.as_ref().map(|page| &page.of) else { return };
    let (key, digest) = (of.key.clone(), of.digest);
    let mut folds = (*model.preview.folds(&key, &digest)).clone();
    change(&mut folds);
    model.preview.folds = Some((key, digest, Arc::new(folds)));
    update::make_page(model);
    update::go_to_line(model, line);
}
