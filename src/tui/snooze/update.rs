//! Starts and ends snoozes.

use std::collections::HashMap;

use crate::domain::{ActionKey, Digest, SourceName, Timestamp};
use crate::journal::{Snooze, Write};
use crate::tui::chrome;
use crate::tui::chrome::state::{Finder, Overlay};
use crate::tui::core::model::Model;
use crate::tui::core::msg::Effect;
use crate::tui::queue::slots::Slot;

use super::state::label;
use super::{until, words};

/// Handles the snooze key: asks for a time, or ends the snooze of the action under the cursor.
pub(crate) fn key(model: &mut Model) {
    let here = model.here().map(|slot| slot.entry.key.clone());
    if let Some(key) = here.filter(|key| model.snooze.of.contains_key(key) && model.queue.marks.is_empty()) {
        wake(model, vec![key]);
        return model.say(words::back("1 action"));
    }
    match meant(model) {
        Ok(_) => model.screen.overlay = Some(Overlay::Palette(Finder::with("snooze "))),
        Err(why) => model.warn(why),
    }
}

/// Returns the marked actions, or else the one under the cursor, if all of them can be snoozed.
fn meant(model: &Model) -> Result<Vec<ActionKey>, &'static str> {
    let marked = model.queue.slots.iter().filter(|slot| slot.marked);
    let slots: Vec<&Slot> = if model.history.open.is_some() {
        Vec::new()
    } else if model.queue.marks.is_empty() {
        model.here().into_iter().collect()
    } else {
        marked.collect()
    };
    if slots.is_empty() || !slots.iter().all(|slot| slot.is_pending()) {
        return Err(words::NOT_PENDING);
    }
    if slots.iter().any(|slot| model.decide.draft.get(&slot.entry.key).is_some()) {
        return Err(words::IS_STAGED);
    }
    Ok(slots.iter().map(|slot| slot.entry.key.clone()).collect())
}

/// Handles `snooze tomorrow 9:00` from the palette or plain mode; `snooze off` ends all snoozes.
pub(crate) fn until(model: &mut Model, text: &str) {
    if text.trim().eq_ignore_ascii_case("off") {
        let all: Vec<ActionKey> = model.snooze.of.keys().cloned().collect();
        let said = if all.is_empty() { words::NONE_SNOOZED } else { words::ALL_BACK };
        wake(model, all);
        return model.say(said);
    }
    let Some(at) = until::read(text, model.now, &model.settings.zone) else {
        return model.warn(words::TAKES);
    };
    match meant(model) {
        Ok(keys) => put(model, &keys, at),
        Err(why) => model.warn(why),
    }
}

/// Snoozes each action until `at`, or until shortly before it expires.
fn put(model: &mut Model, keys: &[ActionKey], at: Timestamp) {
    let lead = i64::try_from(model.settings.targets.expiring.as_millis()).unwrap_or(i64::MAX);
    let (mut writes, mut shortened) = (Vec::new(), false);
    let mut first = at;
    for key in keys {
        let Some(row) = model.queue.get(key).map(|slot| &slot.entry.row) else { continue };
        let last = row.expires_at.map(|expires| expires.plus_millis(-lead));
        let until = last.map_or(at, |last| last.min(at));
        if until <= model.now {
            let expires = row.expires_at.unwrap_or(at);
            let at = chrome::words::moment(model, expires);
            return model.warn(words::too_soon(&at));
        }
        shortened |= until < at;
        first = first.min(until);
        let terms = model.preview.cached(key).and_then(|cached| cached.action.terms);
        let snooze = Snooze { until, label: label(row), terms };
        writes.push(Write::Snooze { key: key.clone(), snooze: Some(snooze) });
    }
    for write in &writes {
        if let Write::Snooze { key, snooze: Some(snooze) } = write {
            model.snooze.of.insert(key.clone(), *snooze);
        }
    }
    model.effects.push(Effect::Save(writes));
    read_again(model, |_, snooze| snooze.terms.is_none());
    model.queue.unmark_all();
    model.decide.guard.changed(model.now);
    put_away(model);
    let (count, at) = (chrome::words::count(keys.len(), "action"), chrome::words::moment(model, first));
    model.say(if shortened { words::before_expiry(&count, &at) } else { words::snoozed(&count, &at) });
}

fn wake(model: &mut Model, keys: Vec<ActionKey>) {
    if keys.is_empty() {
        return;
    }
    for key in &keys {
        model.snooze.of.remove(key);
    }
    let ends = |key: ActionKey| Write::Snooze { key, snooze: None };
    model.effects.push(Effect::Save(keys.into_iter().map(ends).collect()));
    put_away(model);
}

fn put_away(model: &mut Model) {
    let keys = model.snooze.of.keys().cloned().collect();
    model.queue.put_away(keys);
    model.recount();
    model.screen.dirty = true;
}

pub(crate) fn restored(model: &mut Model, snoozes: HashMap<ActionKey, Snooze>) {
    if snoozes.is_empty() {
        return;
    }
    model.snooze.of.extend(snoozes);
    put_away(model);
    read_again(model, |_, _| true);
}

/// Checks a source's snoozed actions when it reconnects: their terms may have changed meanwhile.
pub(crate) fn connected(model: &mut Model, source: &SourceName) {
    read_again(model, |key, _| key.source == *source);
}

/// Loads these actions, because lists do not contain their terms.
fn read_again(model: &mut Model, of: impl Fn(&ActionKey, &Snooze) -> bool) {
    let wanted = model.snooze.of.iter().filter(|(key, snooze)| of(key, snooze));
    let mut wanted: Vec<ActionKey> = wanted.map(|(key, _)| key.clone()).collect();
    wanted.sort();
    if !wanted.is_empty() {
        model.effects.push(Effect::Load(wanted));
    }
}

/// Ends the snooze of a loaded action if its terms changed.
pub(crate) fn loaded(model: &mut Model, key: &ActionKey, terms: Option<Digest>) {
    let Some(terms) = terms else { return };
    let Some(snooze) = model.snooze.of.get_mut(key) else { return };
    match snooze.terms {
        Some(then) if then == terms => {}
        Some(_) => {
            wake(model, vec![key.clone()]);
            model.say(words::changed(&chrome::words::count(1, "action")));
        }
        None => {
            snooze.terms = Some(terms);
            let write = Write::Snooze { key: key.clone(), snooze: Some(*snooze) };
            model.effects.push(Effect::Save(vec![write]));
        }
    }
}

/// Runs with every message: ends snoozes that are due, and those of changed, decided or finished actions.
pub(crate) fn sweep(model: &mut Model) {
    if model.snooze.of.is_empty() {
        return;
    }
    let (mut due, mut changed, mut over) = (Vec::new(), Vec::new(), Vec::new());
    for (key, snooze) in &model.snooze.of {
        let slot = model.queue.get(key);
        let row =
            slot.map(|slot| &slot.entry.row).or_else(|| model.queue.held.get(key).map(|entry| &entry.row));
        let is_over = slot.is_some_and(|slot| !slot.is_pending());
        if is_over || model.decide.draft.get(key).is_some() {
            over.push(key.clone());
        } else if row.is_some_and(|row| label(row) != snooze.label) {
            changed.push(key.clone());
        } else if snooze.until <= model.now {
            due.push(key.clone());
        }
    }
    let here = |keys: &[ActionKey]| keys.iter().filter(|key| model.queue.get(key).is_some()).count();
    let said = match (here(&due), here(&changed)) {
        (0, 0) => None,
        (_, 1..) => Some(words::changed(&chrome::words::count(changed.len(), "action"))),
        (n, 0) => Some(words::back(&chrome::words::count(n, "action"))),
    };
    due.append(&mut changed);
    due.append(&mut over);
    wake(model, due);
    if let Some(said) = said {
        model.say(said);
    }
}
