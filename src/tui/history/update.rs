//! Opens, pages through and closes the lists of ended actions. Does not touch the queue.

use crate::domain::{ActionKey, Status};
use crate::tui::chrome::state::Focus;
use crate::tui::core::command::Command;
use crate::tui::core::model::Model;
use crate::tui::core::msg::Effect;
use crate::tui::history::words;
use crate::tui::queue::filter;

use super::state::{More, View, ViewKind, ViewPage};

const AHEAD: usize = 50;

pub(crate) fn open(model: &mut Model, kind: ViewKind) {
    let listed = model.list.sources.iter().any(|source| source.records.lists);
    if kind != ViewKind::Mine && !listed {
        let key = model.settings.keymap.key(Command::View(ViewKind::Mine));
        model.warn(words::lists_nothing(&key));
        return;
    }
    model.screen.zoom = false;
    model.screen.focus = Focus::List;
    model.history.asked += 1;
    model.history.open = Some(View::new(kind, model.history.asked));
    model.effects.push(Effect::List { number: model.history.asked, ask: kind.ask() });
}

/// Returns to the queue, which is unchanged.
pub(crate) fn close(model: &mut Model) {
    model.screen.focus = Focus::List;
    model.screen.zoom = false;
    if model.history.open.take().is_some() {
        // The queue's rows may have changed while they were hidden.
        model.decide.guard.changed(model.now);
    }
}

pub(crate) fn reload(model: &mut Model) {
    model.history.asked += 1;
    let number = model.history.asked;
    let Some(view) = &mut model.history.open else { return };
    view.renew(number);
    let ask = view.kind.ask();
    model.preview.problems.clear();
    model.reader.answers.clear();
    model.screen.message = None;
    model.effects.push(Effect::List { number, ask });
}

/// Takes a page. Pages of a list that was closed are dropped.
pub(crate) fn listed(model: &mut Model, number: u64, page: ViewPage) {
    let Some(view) = model.history.open.as_mut().filter(|view| view.number == number) else {
        return;
    };
    // An action that was cached before its status changed is read again.
    for row in &page.rows {
        let key = &row.entry.key;
        let Some(known) = model.preview.cached(key).map(|cached| &cached.action.row.status) else { continue };
        // The journal may not know the outcome.
        let goes_on = !known.is_final() || *known == Status::Unknown;
        let old = if row.own.is_some() { goes_on } else { *known != row.entry.row.status };
        if old {
            model.preview.forget(key);
        }
    }
    let keys: Vec<ActionKey> = page.rows.iter().map(|row| row.entry.key.clone()).collect();
    view.take(page);
    // Cached actions are newer than the journal.
    for key in &keys {
        learn(model, key);
    }
    filter::narrow_history(model);
}

/// Updates the row of an action that was read in full.
pub(crate) fn learn(model: &mut Model, key: &ActionKey) {
    let Some(cached) = model.preview.cached(key).cloned() else { return };
    if let Some(view) = &mut model.history.open {
        view.learn(&cached.action.row, key);
        model.screen.dirty = true;
    }
}

/// Runs after every message: requests the next page near the end, and the visible rows' actions in full.
pub(crate) fn follow(model: &mut Model) {
    let height = usize::from(model.layout_in_panes().rows.height).max(1);
    let Some(view) = &mut model.history.open else { return };
    if view.at() + height + AHEAD >= view.len()
        && let More::At(ask) = &view.more
    {
        model.effects.push(Effect::List { number: view.number, ask: ask.clone() });
        view.more = More::UnderWay;
    }
    if !view.kind.wants_all() {
        return;
    }
    let shown = (view.top..view.top + height).map_while(|nth| view.slot(nth)).map(|slot| &slot.entry.key);
    let preview = &mut model.preview;
    let unknown = |key: &&ActionKey| {
        preview.cached(key).is_none()
            && !preview.loading.contains(*key)
            && !preview.problems.contains_key(*key)
    };
    let wanted: Vec<ActionKey> = shown.filter(unknown).cloned().collect();
    if !wanted.is_empty() {
        preview.loading.extend(wanted.iter().cloned());
        model.effects.push(Effect::Load(wanted));
    }
}

/// Refuses a key that decides: this list is read-only.
pub(crate) fn refuse(model: &mut Model) {
    let keys = &model.settings.keymap;
    let (inbox, settle) = (keys.key(Command::Inbox), keys.key(Command::ResolveUnknown));
    match model.history.open.as_ref().map(|view| view.kind) {
        Some(ViewKind::Unknown) => {
            model.warn(words::read_only_resolves(&inbox, &settle));
        }
        Some(_) => model.warn(words::read_only(&inbox)),
        None => {}
    }
}
