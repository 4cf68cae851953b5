//! What was learnt of single actions, because the site will not say it again. Bounded.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Mutex, PoisonError};

use crate::domain::{ActionId, PendingAction};

/// So many actions that ended here are kept.
const ENDED: usize = 1_000;

#[derive(Debug, Default)]
pub(super) struct EndedActions(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// A decision on it was refused while it was pending.
    refused: HashSet<ActionId>,
    /// Another user created it.
    foreign: HashSet<ActionId>,
    /// As it stood when the request that decided it was answered.
    ended: HashMap<ActionId, PendingAction>,
    order: VecDeque<ActionId>,
}

impl EndedActions {
    pub(super) fn refuse(&self, id: &ActionId) {
        self.inner().refused.insert(id.clone());
    }

    pub(super) fn was_refused(&self, id: &ActionId) -> bool {
        self.inner().refused.contains(id)
    }

    pub(super) fn is_foreign(&self, id: &ActionId) -> bool {
        self.inner().foreign.contains(id)
    }

    /// How many of what was listed last another user created.
    pub(super) fn foreign(&self) -> usize {
        self.inner().foreign.len()
    }

    /// Of an action that was read by itself.
    pub(super) fn created(&self, id: &ActionId, foreign: bool) {
        let mut inner = self.inner();
        if foreign {
            inner.foreign.insert(id.clone())
        } else {
            inner.foreign.remove(id)
        };
    }

    /// All that is listed, and which of it another user created. What is listed no more is forgotten.
    pub(super) fn listed(&self, ids: &HashSet<&ActionId>, foreign: HashSet<ActionId>) {
        let mut inner = self.inner();
        inner.refused.retain(|id| ids.contains(id));
        inner.foreign = foreign;
    }

    pub(super) fn end(&self, action: PendingAction) {
        let mut inner = self.inner();
        let id = action.row.id.clone();
        if inner.ended.insert(id.clone(), action).is_none() {
            inner.order.push_back(id);
        }
        if inner.order.len() > ENDED
            && let Some(oldest) = inner.order.pop_front()
        {
            inner.ended.remove(&oldest);
        }
    }

    pub(super) fn ended(&self, id: &ActionId) -> Option<PendingAction> {
        self.inner().ended.get(id).cloned()
    }

    fn inner(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
