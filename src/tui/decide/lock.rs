//! Applies the domain's read-first rule to what this screen knows.

use crate::domain::{self, ActionKey, Lock, PendingAction, Seen, Sight};
use crate::text::Flags;
use crate::tui::core::model::Model;
use crate::tui::preview::reading_time::time_for;
use crate::tui::queue::slots::Slot;

/// Returns why an action must be read before it can be approved; `None` if it can be approved now.
pub(crate) fn lock(model: &Model, slot: &Slot) -> Option<Lock> {
    let cached = model.preview.cached(&slot.entry.key);
    domain::lock(Sight {
        seen: model.seen_of(slot),
        risk: &slot.entry.row.risk,
        flagged: model.flags_of(slot).any(),
        size: cached.map_or(slot.entry.row.size, |cached| cached.to_read),
        read_first: model.settings.read_first,
    })
}

/// Returns how much was seen of the content that approving sends, as the review read it.
pub(crate) fn seen_fresh(model: &Model, key: &ActionKey, action: &PendingAction) -> Option<Seen> {
    let edits = model.decide.draft.get(key).and_then(|staged| staged.decision.edits());
    let approved = action.approved_digest().filter(|_| edits == action.approved_edits());
    model.reader.seen.of(key, &approved.unwrap_or_else(|| action.digest()))
}

/// Like [`lock`], for the content that the review read: it does not rely on the list's size and flags. A short action
/// that was opened in part counts as unopened.
pub(crate) fn lock_fresh(model: &Model, key: &ActionKey, action: &PendingAction) -> Option<Lock> {
    if seen_fresh(model, key, action) == Some(Seen::InFull) {
        return None;
    }
    domain::lock(Sight {
        seen: None,
        risk: &action.row.risk,
        flagged: Flags::of(action).any(),
        size: action.bytes_to_read(),
        read_first: model.settings.read_first,
    })
}

/// Returns the number of the first unread line of the page on screen, and why it is unread.
pub(super) fn next_unread(model: &Model, key: &ActionKey) -> Option<(usize, Missing)> {
    let page = model.preview.page.as_ref().filter(|page| page.of.key == *key)?;
    let height = usize::from(model.layout().text.height);
    let line = model
        .reader
        .reading
        .unread(&page.of, page.len(), time_for(page, height))
        .filter(|_| page.of.is_read())?;
    let top = model.preview.top;
    let missing = match (top..top + height).contains(&line) {
        false => Missing::Below,
        true if page.fits(line) => Missing::Time,
        true => Missing::Right,
    };
    Some((line + 1, missing))
}

pub(super) enum Missing {
    Below,
    Right,
    Time,
}
