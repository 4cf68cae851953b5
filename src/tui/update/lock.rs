//! What must have been read before it can be approved: the domain's rule, asked of what this screen knows.

use crate::domain::{self, ActionKey, Lock, PendingAction, Seen, Sight};
use crate::text::Flags;
use crate::tui::model::{Model, Slot};

/// Why an action must be seen in full first; `None` when it may be approved.
pub(in crate::tui) fn lock(model: &Model, slot: &Slot) -> Option<Lock> {
    domain::lock(Sight {
        seen: model.seen_of(slot),
        risk: &slot.entry.row.risk,
        flagged: model.flags_of(slot).any(),
        size: slot.entry.row.size,
        read_first: model.settings.read_first,
    })
}

/// The same of what was read for the review, where nothing has to be believed of a list: not its size, and not that nobody had
/// to look. What was opened in part and is short counts as unopened.
pub(super) fn fresh(model: &Model, key: &ActionKey, action: &PendingAction) -> Option<Lock> {
    if model.seen.of(key, &action.digest()) == Some(Seen::InFull) {
        return None;
    }
    domain::lock(Sight {
        seen: None,
        risk: &action.row.risk,
        flagged: Flags::of(action).any(),
        size: action.input.as_str().len() as u64,
        read_first: model.settings.read_first,
    })
}
