//! What the screen says of what is snoozed.

use crate::domain::ActionKey;
use crate::tui::chrome;
use crate::tui::core::model::Model;
use crate::tui::queue::slots::Slot;

use super::words;

/// `3 snoozed`: those that are in the list and out of sight.
pub(crate) fn count(model: &Model) -> Option<String> {
    if model.snooze.of.is_empty() {
        return None;
    }
    let here = |key: &&ActionKey| model.queue.get(key).is_some_and(Slot::is_pending);
    let count = model.snooze.of.keys().filter(here).count();
    (count > 0).then(|| words::count(count))
}

/// `snoozed until 14:30`, for its row where a filter shows it.
pub(crate) fn of_row(model: &Model, slot: &Slot) -> Option<String> {
    let snooze = model.snooze.of.get(&slot.entry.key).filter(|_| slot.away)?;
    Some(words::row(&chrome::words::moment(model, snooze.until)))
}
