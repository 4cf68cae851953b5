//! What expires: when its time is over here, it is offered no more.
//!
//! Sources tell when an action expires and not what time they have it: it is assumed that their clock and this computer's
//! agree to within a second or so. Where ours is ahead, an action is withheld a moment early; where it is behind, a decision
//! may be sent a moment late, and the source, whose clock counts, refuses it: the report says `skipped: expired`.

use crate::domain::{ActionKey, Status};
use crate::tui::model::{Model, Settled, State};
use crate::tui::msg::Effect;

/// From so long before on, the preview's head counts seconds.
const SECONDS_FROM: i64 = 120_000;

/// Around every message: what has run out by now stays in its place, marked as expired, and its staged decision is dropped.
/// Looks at the queue only when something is due.
pub(super) fn sweep(model: &mut Model) -> Vec<Effect> {
    if model.stats.next_expiry.is_none_or(|at| at > model.now) {
        return Vec::new();
    }
    let over = model.queue.slots().iter().filter(|slot| slot.is_pending());
    let over = over.filter(|slot| slot.entry.row.has_expired(model.now));
    let keys: Vec<ActionKey> = over.map(|slot| slot.entry.key.clone()).collect();
    let here = model.here().map(|slot| slot.entry.key.clone());
    if here.is_some_and(|here| keys.contains(&here)) {
        model.guard.changed(model.now);
    }
    for key in &keys {
        let at = model.queue.get(key).and_then(|slot| slot.entry.row.expires_at);
        let expired = Settled { status: Some(Status::Expired), by: None, at, ours: false, error: None };
        model.queue.set_state(key, State::Settled(expired));
    }
    model.recount();
    model.dirty = true;
    let settled: Vec<_> = keys.into_iter().map(|key| (key, None)).collect();
    super::queue::dropped(model, &settled)
}

/// A countdown on screen changes with every second.
pub(super) fn counts_seconds(model: &Model) -> bool {
    let at = model.here().filter(|slot| slot.is_pending()).and_then(|slot| slot.entry.row.expires_at);
    at.is_some_and(|at| (0..=SECONDS_FROM).contains(&at.since(model.now)))
}
