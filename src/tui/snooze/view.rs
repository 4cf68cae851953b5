//! Texts about snoozed actions.

use crate::domain::ActionKey;
use crate::tui::chrome;
use crate::tui::core::model::Model;
use crate::tui::queue::slots::Slot;

use super::words;

/// Returns `3 snoozed`, the number of listed actions that are hidden.
pub(crate) fn count(model: &Model) -> Option<String> {
    if model.snooze.of.is_empty() {
        return None;
    }
    let here = |key: &&ActionKey| model.queue.get(key).is_some_and(Slot::is_pending);
    let count = model.snooze.of.keys().filter(here).count();
    (count > 0).then(|| words::count(count))
}

/// Returns `snoozed until 14:30` for a row that a filter shows although it is snoozed.
pub(crate) fn of_row(model: &Model, slot: &Slot) -> Option<String> {
    let snooze = model.snooze.of.get(&slot.entry.key).filter(|_| slot.away)?;
    Some(words::row(&chrome::words::moment(model, snooze.until)))
}
