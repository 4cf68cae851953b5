//! What must have been read before it can be approved: the domain's rule, asked of what this screen knows.

use crate::domain::{self, ActionKey, Lock, PendingAction, Seen, Sight};
use crate::text::Flags;
use crate::tui::core::model::Model;
use crate::tui::preview::reading_time::time_for;
use crate::tui::queue::slots::Slot;

/// Why an action must be seen in full first; `None` when it may be approved.
pub(crate) fn lock(model: &Model, slot: &Slot) -> Option<Lock> {
    let key = &slot.entry.key;
    domain::lock(Sight {
        seen: model.seen_of(slot),
        risk: &slot.entry.row.risk,
        flagged: model.flags_of(slot).any(),
        size: model.preview.cached(key).map_or(slot.entry.row.size, |cached| cached.action.bytes_to_read()),
        read_first: model.settings.read_first,
    })
}

/// How much was seen of what approving this action sends, as it was read for the review.
pub(crate) fn seen_fresh(model: &Model, key: &ActionKey, action: &PendingAction) -> Option<Seen> {
    let edits = model.decide.draft.get(key).and_then(|staged| staged.decision.edits());
    let approved = action.approved_digest().filter(|_| edits == action.approved_edits());
    model.reader.seen.of(key, &approved.unwrap_or_else(|| action.digest()))
}

/// The same of what was read for the review, where nothing has to be believed of a list: not its size, and not that nobody had
/// to look. What was opened in part and is short counts as unopened.
pub(crate) fn fresh(model: &Model, key: &ActionKey, action: &PendingAction) -> Option<Lock> {
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

/// The number of the first line that was not read, where its text is, and where the rest of it is.
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

/// Why a line is not read.
pub(super) enum Missing {
    /// It is not on screen.
    Below,
    /// It goes on beyond the right edge.
    Right,
    Time,
}
