//! Remembers refused and ended actions, because the site does not report them again.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::domain::{ActionId, PendingAction};
use crate::sources::recent::Recent;

const ENDED: usize = 1_000;

#[derive(Debug)]
pub(super) struct EndedActions {
    /// Pending actions on which the site refused a decision.
    refused: Mutex<HashSet<ActionId>>,
    ended: Recent<ActionId, PendingAction>,
}

impl Default for EndedActions {
    fn default() -> Self {
        Self { refused: Mutex::default(), ended: Recent::most(ENDED) }
    }
}

impl EndedActions {
    fn refused(&self) -> MutexGuard<'_, HashSet<ActionId>> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn refuse(&self, id: &ActionId) {
        self.refused().insert(id.clone());
    }

    pub(super) fn was_refused(&self, id: &ActionId) -> bool {
        self.refused().contains(id)
    }

    /// Forgets refusals of actions that are no longer listed. `ids` is the whole list.
    pub(super) fn listed(&self, ids: &HashSet<&ActionId>) {
        self.refused().retain(|id| ids.contains(id));
    }

    pub(super) fn end(&self, action: PendingAction) {
        self.ended.put(action.row.id.clone(), action);
    }

    pub(super) fn ended(&self, id: &ActionId) -> Option<PendingAction> {
        self.ended.get(id)
    }
}
