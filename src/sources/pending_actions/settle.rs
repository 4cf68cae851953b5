//! Outcomes of decisions, derived from the actions as they are afterwards.

use std::collections::HashMap;

use crate::contract::action::Unreadable;
use crate::domain::{ActionId, Item, Outcome, PendingAction, Timestamp};

use crate::sources::{Full, Outcomes, answer};
pub(super) const NO_TRACE: &str = "the source took the request but does not know the action any more";

#[derive(Debug)]
pub(super) struct Found(HashMap<ActionId, PendingAction>);

impl Found {
    pub(super) fn of(actions: Vec<Full>) -> Self {
        let readable = actions.into_iter().filter_map(Result::ok);
        Self(readable.map(|action| (action.row.id.clone(), action)).collect())
    }

    /// Includes unreadable actions as stand-ins, because their bytes can be compared.
    pub(super) fn with_stand_ins(actions: Vec<Full>) -> Self {
        let known = actions.iter().flatten().map(|action| action.row.id.clone());
        let known: std::collections::HashSet<ActionId> = known.collect();
        let stands_in = |bad: &Unreadable| bad.id.as_ref().is_some_and(|id| !known.contains(id));
        let of = |action: Full| match action {
            Ok(action) => Some(Ok(action)),
            Err(bad) => stands_in(&bad).then(|| Ok(bad.stand_in())),
        };
        Self::of(actions.into_iter().filter_map(of).collect())
    }

    pub(super) fn get(&self, id: &ActionId) -> Option<&PendingAction> {
        self.0.get(id)
    }
}

/// Counts of the decisions that the backend took and skipped in a request, without their ids.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) approved: Option<u64>,
    pub(super) rejected: Option<u64>,
    pub(super) skipped: u64,
}

/// Returns one outcome per item. An action in another state than decided was settled by somebody else. Of the others,
/// as many are ours as the backend counted; if it does not say which, those settled last.
pub(super) fn attribute(sent: &[&Item], found: &Found, counts: Counts) -> Outcomes {
    let mut outcomes: Outcomes =
        sent.iter().map(|item| (item.id.clone(), outcome(item, found.get(&item.id)))).collect();
    let differing = outcomes.iter().filter(|(_, outcome)| matches!(outcome, Outcome::Skipped { .. })).count();
    let mut as_asked: Vec<(bool, Timestamp, &mut Outcome, &PendingAction)> = sent
        .iter()
        .zip(&mut outcomes)
        .filter(|(_, (_, outcome))| matches!(outcome, Outcome::Approved | Outcome::Rejected))
        .filter_map(|(item, (id, outcome))| {
            let action = found.get(id)?;
            Some((may_be_ours(item, action), action.row.resolved_at.unwrap_or_default(), outcome, action))
        })
        .collect();
    as_asked.sort_by_key(|(may_be_ours, at, ..)| (*may_be_ours, *at));
    let count = |of: &Outcome| as_asked.iter().filter(|(_, _, outcome, _)| **outcome == *of).count();
    let others = |all: usize, ours: Option<u64>| Some(all.saturating_sub(usize::try_from(ours?).ok()?));
    let mut approved = others(count(&Outcome::Approved), counts.approved);
    let mut rejected = others(count(&Outcome::Rejected), counts.rejected);
    let skipped = usize::try_from(counts.skipped).unwrap_or(usize::MAX);
    let known = approved.unwrap_or_default() + rejected.unwrap_or_default();
    let mut unnamed = skipped.saturating_sub(differing).saturating_sub(known);
    for (_, _, outcome, action) in as_asked {
        let left = if *outcome == Outcome::Approved { &mut approved } else { &mut rejected };
        let left = left.as_mut().unwrap_or(&mut unnamed);
        if *left > 0 {
            *left -= 1;
            *outcome = answer::skipped(&action.row);
        }
    }
    outcomes
}

/// Returns false if another input than ours was approved.
fn may_be_ours(item: &Item, action: &PendingAction) -> bool {
    let ran = action.effective_input.as_ref().filter(|_| item.kind().approves());
    ran.is_none_or(|input| action.digest_of(input.as_str()) == item.effective)
}

fn outcome(item: &Item, action: Option<&PendingAction>) -> Outcome {
    match action {
        None => Outcome::Unknown { why: NO_TRACE.into() },
        Some(action) => {
            let row = &action.row;
            Outcome::by_status(item.kind(), &row.status, row.resolved_by.as_ref())
                .unwrap_or_else(|| answer::failed("the source left it pending"))
        }
    }
}
