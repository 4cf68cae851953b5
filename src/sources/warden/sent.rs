//! Decisions from here that are not settled yet. The engine lists a step as pending until it takes the decision.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::domain::{ActionId, DecisionKind, RawJson, Timestamp};

/// Milliseconds that a decision may wait in the engine's outbox; one to three seconds are usual.
pub(super) const TAKEN_WITHIN: i64 = 30_000;
/// Milliseconds after which a retried step does not come back, seen at revision cb46334 for every reason step.
pub(super) const BACK_WITHIN: i64 = 120_000;
const MOST: usize = 2_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sent {
    pub(super) kind: DecisionKind,
    /// `started` of the holding that was decided.
    pub(super) started: String,
    pub(super) at: Timestamp,
    /// The engine confirmed that it is queued. Otherwise it may not have arrived.
    pub(super) queued: bool,
    /// `started` of the holding whose approval or rejection has the step's one key. A retry does not change it.
    pub(super) keyed: Option<String>,
    pub(super) input: RawJson,
}

/// The last decision on each step, kept in memory only.
#[derive(Debug, Default)]
pub(super) struct Log(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    sent: HashMap<ActionId, Sent>,
    /// Listed steps without a retry left, which the list does not tell.
    spent: HashSet<ActionId>,
}

impl Log {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn note(&self, id: &ActionId, sent: Sent) {
        let log = &mut self.kept().sent;
        if log.len() >= MOST && !log.contains_key(id) {
            let oldest = log.iter().min_by_key(|(_, sent)| sent.at).map(|(id, _)| id.clone());
            oldest.map(|id| log.remove(&id));
        }
        log.insert(id.clone(), sent);
    }

    pub(super) fn queued(&self, id: &ActionId) {
        if let Some(sent) = self.kept().sent.get_mut(id) {
            sent.queued = true;
            if sent.kind != DecisionKind::Retry {
                sent.keyed = Some(sent.started.clone());
            }
        }
    }

    pub(super) fn forget(&self, id: &ActionId) {
        self.kept().sent.remove(id);
    }

    pub(super) fn get(&self, id: &ActionId) -> Option<Sent> {
        self.kept().sent.get(id).cloned()
    }

    pub(super) fn spend(&self, id: &ActionId) {
        self.kept().spent.insert(id.clone());
    }

    pub(super) fn is_spent(&self, id: &ActionId) -> bool {
        self.kept().spent.contains(id)
    }

    /// Forgets steps that are no longer listed. If one comes back, its retries start again.
    pub(super) fn keep_spent(&self, listed: &HashSet<ActionId>) {
        self.kept().spent.retain(|id| listed.contains(id));
    }
}

/// The state of a decision from here while its step is still held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waiting {
    /// Queued just now.
    Sent,
    /// Queued, but not taken for too long.
    NotTaken,
    /// A retry came first: the step is held again, and its key is used up.
    Dropped,
    /// No decision, or a retry that came back.
    No,
}

impl Sent {
    pub(super) fn waiting(sent: Option<&Self>, started: &str, now: Timestamp) -> Waiting {
        let Some(sent) = sent else { return Waiting::No };
        match sent.queued && sent.started == started {
            true if now.since(sent.at) < TAKEN_WITHIN => Waiting::Sent,
            _ if sent.is_dropped(started) => Waiting::Dropped,
            true => Waiting::NotTaken,
            false => Waiting::No,
        }
    }

    /// Returns whether the key was used for an earlier holding. The engine takes no decision on this one then.
    pub(super) fn is_dropped(&self, started: &str) -> bool {
        self.keyed.as_ref().is_some_and(|keyed| keyed != started)
    }
}
