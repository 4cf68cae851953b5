//! What a review says of the rules of its sources: what goes with a decision, and what is no whole turn.

use crate::domain::{ActionKey, Decision, Together};
use crate::text;
use crate::tui::command::Command;
use crate::tui::model::{Goes, Model, Refused};

use super::OfDraft;

/// What goes with the decisions, each rule once a source and kind of decision.
pub(super) fn goes(model: &Model, sent: &[OfDraft<'_>]) -> Vec<Goes> {
    let mut told: Vec<Goes> = Vec::new();
    for (key, staged) in sent {
        let Some(can) = model.queue.get(key).map(|slot| slot.entry.can) else { continue };
        let does = match staged.decision {
            Decision::Approve { .. } => "approving",
            Decision::Reject { .. } => "rejecting",
            Decision::Retry { .. } => "retrying",
        };
        for words in can.told_of(&staged.decision) {
            let same =
                |goes: &&mut Goes| goes.source == key.source && goes.does == does && goes.words == words;
            match told.iter_mut().find(same) {
                Some(goes) => goes.count += 1,
                None => told.push(Goes { source: key.source.clone(), does, count: 1, words }),
            }
        }
    }
    told
}

/// The first call of a refused turn that is not decided, or that decision itself.
pub(super) fn to_look_at(model: &Model, refused: &Refused) -> ActionKey {
    let slot = model.queue.get(&refused.key).filter(|slot| slot.entry.can.together != Together::Free);
    let calls = slot.map(|slot| model.queue.calls(&slot.entry.batch())).unwrap_or_default();
    let undecided = calls.iter().find(|call| model.draft.get(&call.entry.key).is_none());
    undecided.map_or_else(|| refused.key.clone(), |call| call.entry.key.clone())
}

/// Of a turn that is decided as a whole, a call that came since makes it another one.
pub(super) fn grown(model: &Model, batch: &[OfDraft<'_>]) -> Option<String> {
    let (_, staged) = batch.first()?;
    let since = batch.iter().map(|(_, staged)| staged.at).max()?;
    let held = model.queue.held_pending().filter(|entry| entry.batch() == staged.batch).count();
    let calls = model.queue.calls(&staged.batch);
    let open = calls.iter().filter(|call| model.draft.get(&call.entry.key).is_none());
    let came =
        open.filter(|call| call.fresh && call.came.unwrap_or(call.entry.row.created_at) >= since).count();
    let new = text::count(held + came, "new call");
    let key = model.settings.keymap.key(Command::Reload);
    (held + came > 0).then(|| {
        format!("its turn changed since you decided it: {new}; {key} shows what is new, then decide it again")
    })
}
