//! The filter of the list: written in a line of its own, followed while it is written, kept or put back.

use std::collections::HashSet;

use crossterm::event::{KeyCode, KeyEvent};

use crate::domain::{ActionKey, DecisionKind, Entry, SourceName};
use crate::inbox::filter::{Filter, Finder, Is, Subject};
use crate::tui::model::{Cursor, FilterLine, Modal, Model, Slot, State};
use crate::tui::msg::Effect;

/// So many rows are looked at between two keys: a few milliseconds.
const STRETCH: usize = 20_000;

pub(super) fn open(model: &mut Model) -> Vec<Effect> {
    let line = FilterLine::new(model.filtering.applied.as_ref(), &model.queue);
    model.modal = Some(Modal::Filter(Box::new(line)));
    Vec::new()
}

/// The whole text at once. One that cannot be read says why, in the line.
pub(super) fn write(model: &mut Model, text: &str) -> Vec<Effect> {
    let mut effects = open(model);
    if let Some(Modal::Filter(line)) = &mut model.modal {
        line.area = tui_textarea::TextArea::new(vec![text.to_owned()]);
        line.area.move_cursor(tui_textarea::CursorMove::End);
        effects.extend(changed(model));
    }
    effects.extend(keep(model));
    effects
}

/// A key in the line. Up and down move the cursor of the list.
pub(super) fn typed(model: &mut Model, key: KeyEvent) -> Vec<Effect> {
    let at = model.queue.at();
    match key.code {
        KeyCode::Down => model.queue.go_to(at.saturating_add(1)),
        KeyCode::Up => model.queue.go_to(at.saturating_sub(1)),
        _ => {
            let Some(Modal::Filter(line)) = &mut model.modal else { return Vec::new() };
            let before = line.text();
            line.area.input(key);
            if line.text() != before {
                return changed(model);
            }
        }
    }
    Vec::new()
}

pub(super) fn pasted(model: &mut Model, text: &str) -> Vec<Effect> {
    let Some(Modal::Filter(line)) = &mut model.modal else { return Vec::new() };
    line.area.insert_str(super::places::one_line(text));
    changed(model)
}

/// The text is another one. While it cannot be read, the list stays as it was.
fn changed(model: &mut Model) -> Vec<Effect> {
    let Some(Modal::Filter(line)) = &mut model.modal else { return Vec::new() };
    let names: Vec<SourceName> = model.sources.iter().map(|source| source.name.clone()).collect();
    let read = Filter::parse(&line.text());
    match read.and_then(|filter| filter.check_sources(&names).map(|()| filter)) {
        Ok(filter) => {
            line.error = None;
            let narrows = line.narrows;
            model.filtering.begin(filter, narrows, &model.queue, model.now);
            search(model)
        }
        Err(error) => {
            line.error = Some(error);
            Vec::new()
        }
    }
}

/// Enter: the filter stays. One that cannot be read says so, and the line stays open.
pub(super) fn keep(model: &mut Model) -> Vec<Effect> {
    finish(model);
    let Some(Modal::Filter(line)) = model.modal.take() else { return Vec::new() };
    if let Some(error) = &line.error {
        model.warn(error.to_string());
        model.modal = Some(Modal::Filter(line));
        return Vec::new();
    }
    if model.filtering.applied.as_ref().is_some_and(|filter| !filter.is_empty()) {
        model.message = None;
        return Vec::new();
    }
    clear(model);
    Vec::new()
}

/// Esc: everything as it was before the line was opened.
pub(super) fn put_back(model: &mut Model) -> Vec<Effect> {
    let Some(Modal::Filter(line)) = model.modal.take() else { return Vec::new() };
    let before = line.before;
    let then = before.cursor.map(|cursor| (cursor, before.top));
    if model.filtering.applied == before.filter {
        model.filtering.scan = None;
    } else if let Some(filter) = before.filter {
        model.filtering.begin(filter, false, &model.queue, model.now);
        if let Some(scan) = &mut model.filtering.scan {
            scan.then = then;
        }
        return search(model);
    } else {
        show_all(model);
    }
    restore(model, then);
    Vec::new()
}

fn restore(model: &mut Model, then: Option<(Cursor, usize)>) {
    let Some((cursor, top)) = then else { return };
    model.queue.go_to_identity(&cursor);
    model.queue.top = top;
}

fn show_all(model: &mut Model) {
    model.filtering.scan = None;
    model.filtering.applied = None;
    model.queue.filter(None);
}

/// No filter any more.
pub(super) fn clear(model: &mut Model) {
    let hidden = model.queue.slots().len().saturating_sub(model.queue.n_shown());
    show_all(model);
    model.say(format!("no filter: {hidden} more shown"));
}

/// A saved filter, by its number from 1.
pub(super) fn apply_saved(model: &mut Model, number: usize) -> Vec<Effect> {
    let saved = number.checked_sub(1).and_then(|nth| model.settings.triage.filters.get(nth)).cloned();
    let Some(saved) = saved else {
        model.say(format!("there is no saved filter {number}; [[filter]] in the configuration makes one"));
        return Vec::new();
    };
    model.modal = None;
    model.filtering.begin(saved.filter, false, &model.queue, model.now);
    search(model)
}

pub(super) fn open_saved(model: &mut Model) -> Vec<Effect> {
    model.modal = Some(Modal::Saved);
    Vec::new()
}

/// A digit applies one, the key that opened the sheet clears the filter.
pub(super) fn saved_key(model: &mut Model, key: KeyEvent) -> Vec<Effect> {
    match key.code {
        KeyCode::Char(digit @ '1'..='9') => {
            apply_saved(model, digit.to_digit(10).map_or(0, |digit| digit as usize))
        }
        KeyCode::Char('\'' | '0') => {
            model.modal = None;
            if model.filtering.applied.is_some() {
                clear(model);
            }
            Vec::new()
        }
        _ => Vec::new(),
    }
}

/// Looks at the next stretch of rows, and asks to go on when it was not the last.
pub(super) fn search(model: &mut Model) -> Vec<Effect> {
    if stretch(model, STRETCH) { Vec::new() } else { vec![Effect::WakeIn(0)] }
}

/// Looks at all that is left.
pub(super) fn finish(model: &mut Model) {
    stretch(model, usize::MAX);
}

/// The list has other rows: the same filter over all of them.
pub(super) fn again(model: &mut Model) {
    let filter =
        model.filtering.scan.take().map(|scan| scan.filter).or_else(|| model.filtering.applied.clone());
    let Some(filter) = filter else { return };
    model.filtering.begin(filter, false, &model.queue, model.now);
    finish(model);
}

/// What waits to come into the list, and would not be shown there.
pub(super) fn hidden(model: &Model) -> HashSet<ActionKey> {
    let Some(filter) = &model.filtering.applied else { return HashSet::new() };
    let mut finder = Finder::default();
    let waiting = model.queue.held().map(|entry| Slot::arrived(entry.clone()));
    let hides = waiting.filter(|slot| !finder.holds(filter, &Looked { model, slot }, model.now));
    hides.map(|slot| slot.entry.key).collect()
}

/// Whether the search is over.
fn stretch(model: &mut Model, most: usize) -> bool {
    let Some(mut scan) = model.filtering.scan.take() else { return true };
    if scan.arrangement != model.queue.arrangement() {
        let then = scan.then.take();
        model.filtering.begin(scan.filter, false, &model.queue, scan.now);
        let Some(fresh) = model.filtering.scan.take() else { return true };
        scan = fresh;
        scan.then = then;
    }
    let end = scan.next.saturating_add(most).min(scan.rows.len());
    for index in scan.rows.get(scan.next..end).unwrap_or_default() {
        let Some(slot) = model.queue.slot(*index) else { continue };
        let holds = scan.finder.holds(&scan.filter, &Looked { model, slot }, scan.now);
        if let Some(shown) = scan.shown.get_mut(*index as usize) {
            *shown = holds;
        }
    }
    scan.next = end;
    if end < scan.rows.len() {
        model.filtering.scan = Some(scan);
        return false;
    }
    model.queue.filter(Some(scan.shown));
    model.filtering.applied = Some(scan.filter);
    if let Some(Modal::Filter(line)) = &mut model.modal {
        line.narrows = true;
    }
    restore(model, scan.then);
    model.dirty = true;
    true
}

/// An action as the filter looks at it.
struct Looked<'a> {
    model: &'a Model,
    slot: &'a Slot,
}

impl Subject for Looked<'_> {
    fn entry(&self) -> &Entry {
        &self.slot.entry
    }

    fn staged(&self) -> Option<DecisionKind> {
        self.model.draft.get(&self.slot.entry.key).map(|staged| staged.decision.kind())
    }

    fn is(&self, state: Is) -> bool {
        let (model, slot, key) = (self.model, self.slot, &self.slot.entry.key);
        match state {
            Is::Unopened => slot.counts_as_pending() && model.seen_of(slot).is_none(),
            Is::Opened => model.seen_of(slot).is_some(),
            Is::Staged => self.staged().is_some(),
            Is::Undecided => slot.is_pending() && model.draft.get(key).is_none(),
            Is::Marked => model.queue.marks.contains(key),
            Is::Flagged => model.flags_of(slot).any(),
            Is::High => slot.entry.row.risk.is_high(),
            Is::New => slot.fresh,
            Is::Unknown => matches!(slot.state, State::ToSettle | State::Unknown),
            Is::Stale => {
                model.sources.iter().any(|source| source.name == key.source && source.is_stale(model.now))
            }
            Is::Settled => matches!(slot.state, State::Settled(_)),
        }
    }
}
