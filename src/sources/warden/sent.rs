//! What was sent from here and is not settled yet: the engine lists a step as pending until it took the decision.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::domain::{ActionId, DecisionKind, RawJson, Timestamp};

/// For so long a decision may wait in the engine's outbox; one to three seconds are usual.
pub(super) const TAKEN_WITHIN: i64 = 30_000;
/// A retry that is not back by then does not come back: seen at revision cb46334 for every reason step.
pub(super) const BACK_WITHIN: i64 = 120_000;
/// So many are remembered; then the oldest are forgotten.
const MOST: usize = 2_000;

/// One decision from here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sent {
    pub(super) kind: DecisionKind,
    /// Which holding of the step it was about.
    pub(super) started: String,
    pub(super) at: Timestamp,
    /// The engine said that it is queued; without it, it may not have arrived.
    pub(super) queued: bool,
    /// Which holding of the step the approval or rejection was about that has its one key. A retry leaves it as it was.
    pub(super) keyed: Option<String>,
    /// What was decided about.
    pub(super) input: RawJson,
}

/// The last decision about each step, in memory: after a restart the engine's word has to do.
#[derive(Debug, Default)]
pub(super) struct Log(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    sent: HashMap<ActionId, Sent>,
    /// Listed steps of which no retry is left: the list does not say so.
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

    /// What is listed no more comes back, if ever, with its retries counted anew.
    pub(super) fn keep_spent(&self, listed: &HashSet<ActionId>) {
        self.kept().spent.retain(|id| listed.contains(id));
    }
}

/// How a decision from here stands while its step is still held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waiting {
    /// Queued just now.
    Sent,
    /// Queued, and not taken for too long.
    NotTaken,
    /// A retry came first: the step is held anew, and its key is used up.
    Dropped,
    /// There is none, or it was a retry that came back.
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

    /// What has the key was about an earlier holding: it came too late for that one, and it is never taken for this one.
    pub(super) fn is_dropped(&self, started: &str) -> bool {
        self.keyed.as_ref().is_some_and(|keyed| keyed != started)
    }
}
