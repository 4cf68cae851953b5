//! Lists of what is over: opened, read page by page, and left again. The queue of what is pending is not touched.

use crate::domain::{ActionKey, Status};
use crate::tui::chrome::state::Focus;
use crate::tui::core::command::Command;
use crate::tui::core::model::Model;
use crate::tui::core::msg::Effect;
use crate::tui::history::words;
use crate::tui::preview;
use crate::tui::queue::filter;

use super::state::{More, View, ViewKind, ViewPage};

/// So many rows before the end the next page is asked for.
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

/// Back to what is pending, as it was left.
pub(crate) fn close(model: &mut Model) {
    model.screen.focus = Focus::List;
    model.screen.zoom = false;
    if model.history.open.take().is_some() {
        // Its rows may have changed while they were not on screen.
        model.decide.guard.changed(model.now);
    }
}

/// Reads the list again, from its beginning.
pub(crate) fn reload(model: &mut Model) {
    model.history.asked += 1;
    let number = model.history.asked;
    let Some(view) = &mut model.history.open else { return };
    view.renew(number);
    let ask = view.kind.ask();
    model.preview.problems.clear();
    preview::update::forget(model);
    model.screen.message = None;
    model.effects.push(Effect::List { number, ask });
}

/// A page has come; one of a list that is gone is let go of.
pub(crate) fn listed(model: &mut Model, number: u64, page: ViewPage) {
    let Some(view) = model.history.open.as_mut().filter(|view| view.number == number) else {
        return;
    };
    // What was read before an action moved on is not what there is.
    for row in &page.rows {
        let key = &row.entry.key;
        let Some(known) = model.preview.cached(key).map(|cached| &cached.action.row.status) else { continue };
        // The journal may not know how it ended.
        let goes_on = !known.is_final() || *known == Status::Unknown;
        let old = if row.own.is_some() { goes_on } else { *known != row.entry.row.status };
        if old {
            model.preview.forget(key);
        }
    }
    let keys: Vec<ActionKey> = page.rows.iter().map(|row| row.entry.key.clone()).collect();
    view.take(page);
    // A later read is newer than the journal.
    keys.iter().for_each(|key| learn(model, key));
    filter::narrow_history(model);
}

/// An action was read in full: its row in the list is as old as the list.
pub(crate) fn learn(model: &mut Model, key: &ActionKey) {
    let Some(cached) = model.preview.cached(key).cloned() else { return };
    if let Some(view) = &mut model.history.open {
        view.learn(&cached.action.row, key);
        model.screen.dirty = true;
    }
}

/// After every message: the next page when the cursor comes near the end, and what the rows on screen say in full.
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

/// A key that decides, in a list in which nothing can be decided.
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
