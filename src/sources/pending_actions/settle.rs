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

/// Returns one outcome per item. `skipped` of them were settled by somebody else, according to the backend: those in
/// another state than decided, and if these are fewer, those settled first.
pub(super) fn attribute(sent: &[&Item], found: &Found, skipped: u64) -> Outcomes {
    let mut outcomes: Outcomes =
        sent.iter().map(|item| (item.id.clone(), outcome(item, found.get(&item.id)))).collect();
    let differing = outcomes.iter().filter(|(_, outcome)| matches!(outcome, Outcome::Skipped { .. })).count();
    let mut as_asked: Vec<(Timestamp, &mut Outcome, &PendingAction)> = outcomes
        .iter_mut()
        .filter(|(_, outcome)| matches!(outcome, Outcome::Approved | Outcome::Rejected))
        .filter_map(|(id, outcome)| {
            let action = found.get(id)?;
            Some((action.row.resolved_at.unwrap_or_default(), outcome, action))
        })
        .collect();
    as_asked.sort_by_key(|(at, ..)| *at);
    let missing = usize::try_from(skipped).unwrap_or(usize::MAX).saturating_sub(differing);
    for (_, outcome, action) in as_asked.into_iter().take(missing) {
        *outcome = answer::skipped(&action.row);
    }
    outcomes
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
