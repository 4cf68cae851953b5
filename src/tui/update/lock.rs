//! What must have been read before it can be approved: the domain's rule, asked of what this screen knows.

use crate::domain::{self, Lock, Sight};
use crate::tui::model::{Model, Slot};

/// Why an action must be seen in full first; `None` when it may be approved.
pub(in crate::tui) fn lock(model: &Model, slot: &Slot) -> Option<Lock> {
    domain::lock(Sight {
        seen: model.seen_of(slot),
        risk: &slot.entry.row.risk,
        flagged: model.preview.cached(&slot.entry.key).is_some_and(|cached| cached.flags.any()),
        size: slot.entry.row.size,
    })
}
