//! What must have been read before it can be approved.

use crate::domain::Seen;
use crate::tui::model::{Model, Slot};

/// An action that was never opened and is longer than this is longer than a screen.
const LONG: u64 = 2_000;

/// Why an action must be seen in full first; `None` when it may be approved.
pub(super) fn lock(model: &Model, slot: &Slot) -> Option<&'static str> {
    let seen = model.seen_of(slot);
    if seen == Some(Seen::InFull) {
        return None;
    }
    let flagged = model.preview.cached(&slot.entry.key).is_some_and(|cached| cached.flags.any());
    if slot.entry.row.risk.is_high() {
        Some("high-risk")
    } else if flagged {
        Some("flagged")
    } else if seen == Some(Seen::Opened) || slot.entry.row.size > LONG {
        Some("longer than a screen")
    } else {
        None
    }
}
