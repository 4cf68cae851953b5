//! Facts that the review shows about its approvals: their amounts, missing approvers, and duplicates.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::contract::tool::{self, Totals};
use crate::domain::{ActionKey, DecisionKind, PendingAction, RawJson, Staged, Untrusted, merge};
use crate::tui::core::model::Model;
use crate::tui::queue::same::Proposes;
use crate::tui::submit::state::SentWith;

use super::words;

pub(super) type OfDraft<'a> = (&'a ActionKey, &'a Staged);

fn edited(staged: &Staged, action: &PendingAction) -> Option<RawJson> {
    staged.decision.edits().and_then(|edits| merge(&action.input, edits).ok())
}

fn approvals<'a>(
    sent: &'a [OfDraft<'a>],
    fresh: &'a HashMap<ActionKey, PendingAction>,
) -> impl Iterator<Item = (&'a ActionKey, &'a Staged, &'a PendingAction)> {
    let approved = sent.iter().filter(|(_, staged)| staged.decision.kind().approves());
    approved.filter_map(|(key, staged)| Some((*key, *staged, fresh.get(*key)?)))
}

pub(super) fn totals(sent: &[OfDraft<'_>], fresh: &HashMap<ActionKey, PendingAction>) -> Vec<String> {
    let mut totals = Totals::default();
    for (_, staged, action) in approvals(sent, fresh) {
        let edited = edited(staged, action);
        // The agent's preview does not contain the edits.
        let preview = action.preview.as_ref().filter(|_| edited.is_none());
        totals.add(&action.row.tool, edited.as_ref().unwrap_or(&action.input), preview);
    }
    totals.unknown().map_or_else(|| totals.parts(), |why| vec![why])
}

/// Returns notes on actions that need several approvers: an approval waits for others, or replaces theirs.
pub(super) fn people(sent: &[OfDraft<'_>], fresh: &HashMap<ActionKey, PendingAction>) -> Vec<SentWith> {
    let mut told: Vec<SentWith> = Vec::new();
    for (key, staged, action) in approvals(sent, fresh) {
        let Some(needed) = action.row.approvals.as_ref().map(|approvals| approvals.needed) else { continue };
        let edited = edited(staged, action);
        let effective = action.digest_of(edited.as_ref().unwrap_or(&action.input).as_str());
        let others = action.approvals.iter().filter(|it| it.effective == effective).count() as u64;
        let words = match action.approvals.first() {
            Some(_) if others == 0 => words::OTHER_THAN_APPROVED.to_owned(),
            _ if others + 1 >= needed => continue,
            _ => words::waits_for_others(needed),
        };
        let does = staged.decision.kind().words().doing;
        let words = Cow::Owned(words);
        let same = |it: &&mut SentWith| it.source == key.source && it.does == does && it.words == words;
        match told.iter_mut().find(same) {
            Some(told) => told.count += 1,
            None => told.push(SentWith { source: key.source.clone(), does, count: 1, words }),
        }
    }
    told
}

/// Returns titles of approvals with a duplicate, and the duplicate's state. A duplicate that is being excluded is left
/// out.
pub(super) fn same(
    model: &Model,
    sent: &[OfDraft<'_>],
    fresh: &HashMap<ActionKey, PendingAction>,
) -> Vec<(Untrusted, String)> {
    let staged_kind = |key: &ActionKey| model.decide.draft.get(key).map(|staged| staged.decision.kind());
    let counts = |key: &ActionKey| staged_kind(key).is_none_or(DecisionKind::approves);
    let queue = &model.queue;
    let mut told = Vec::new();
    for (key, staged, action) in approvals(sent, fresh) {
        let edited = edited(staged, action);
        let title = edited.as_ref().map(|input| tool::titled(&action.row.tool, input));
        let as_listed = Proposes::of(key, &action.row);
        let digest = match &edited {
            Some(input) => Some(action.digest_of(input.as_str())),
            None => as_listed.digest,
        };
        let title = as_listed.title.map(|listed| title.as_ref().unwrap_or(listed));
        let proposes = Proposes { title, digest, ..as_listed };
        if let Some(same) = queue.same.find(&queue.slots, &proposes, model.now, counts) {
            let is_staged = staged_kind(&same.key).is_some();
            told.push((action.row.title.clone(), words::same(same.approved, is_staged, model.now)));
        }
    }
    told
}
