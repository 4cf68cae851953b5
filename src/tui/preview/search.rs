//! Incremental search in the preview.

use crossterm::event::{KeyCode, KeyEvent};

use crate::tui::chrome::state::Focus;
use crate::tui::core::command::Direction;
use crate::tui::core::keymap::bare;
use crate::tui::core::model::Model;
use crate::tui::preview::page::search::Needle;
use crate::tui::preview::words;

use super::state::Search;

/// Starts a search. Unfolds everything, because a fold could hide a match.
pub(crate) fn open(model: &mut Model) {
    if model.preview.page.is_none() {
        return;
    }
    model.preview.folds = None;
    let from = model.preview.top;
    model.preview.search = Some(Search { typing: true, from, ..Search::default() });
}

pub(crate) fn is_on(model: &Model) -> bool {
    model.sheet.is_none()
        && model.preview.search.is_some()
        && (model.screen.zoom || model.screen.focus == Focus::Preview)
}

pub(crate) fn typed(model: &mut Model, key: KeyEvent) {
    let Some(search) = &mut model.preview.search else { return };
    match bare(key) {
        KeyCode::Char(c) => search.text.push(c),
        KeyCode::Backspace => drop(search.text.pop()),
        _ => return,
    }
    search.of = None;
}

pub(crate) fn pasted(model: &mut Model, text: &str) {
    if let Some(search) = &mut model.preview.search {
        search.text.extend(text.lines().next().unwrap_or_default().chars().take(200));
        search.of = None;
    }
}

/// Ends typing and keeps the matches. An empty text ends the search.
pub(crate) fn keep(model: &mut Model) {
    match &mut model.preview.search {
        Some(search) if !search.text.is_empty() => search.typing = false,
        search => *search = None,
    }
}

/// Ends the search. If it was still being typed, the preview scrolls back to where it began.
pub(crate) fn end(model: &mut Model) {
    if let Some(search) = model.preview.search.take()
        && search.typing
    {
        model.preview.top = search.from;
    }
}

pub(crate) fn next(model: &mut Model, way: Direction) {
    let Some(search) = &mut model.preview.search else { return };
    let all = search.hits.len();
    if all == 0 {
        model.say(words::NO_MATCH);
        return;
    }
    let step = if way == Direction::Down { 1 } else { all - 1 };
    search.at = (search.at + step) % all;
    show(model);
}

pub(crate) fn follow(model: &mut Model) {
    let Some(page) = &mut model.preview.page else { return };
    let Some(search) = &mut model.preview.search else { return };
    if search.of.as_ref() == Some(&page.of) {
        return;
    }
    let same_action = search.of.as_ref().is_none_or(|of| of.key == page.of.key && of.tab == page.of.tab);
    let from = if same_action { search.from } else { 0 };
    search.of = Some(page.of.clone());
    search.hits = Needle::new(&search.text).map(|needle| page.find(&needle)).unwrap_or_default();
    search.at = search.hits.iter().position(|hit| page.row_of(hit) >= from).unwrap_or_default();
    model.screen.dirty = true;
    show(model);
}

/// Scrolls to the match if it is off screen, a third of the height from the top.
fn show(model: &mut Model) {
    let height = usize::from(model.layout().text.height).max(1);
    let (Some(page), Some(search)) = (&mut model.preview.page, &model.preview.search) else { return };
    let Some(row) = search.hits.get(search.at).map(|hit| page.row_of(hit)) else { return };
    model.preview.cursor = row;
    if !(model.preview.top..model.preview.top + height).contains(&row) {
        model.preview.top = row.saturating_sub(height / 3);
    }
}
