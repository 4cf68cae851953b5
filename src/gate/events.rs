//! Wakes streams and the dispatcher after a commit: a workspace has a new revision, or an action can be run.
//!
//! They carry no content. Whoever is woken reads the store, so a wake-up that is missed or doubled does no harm.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{Notify, watch};

use super::audit::WHOLE_GATE;
use super::metrics::Metrics;

/// Clones share their listeners.
#[derive(Debug, Clone, Default)]
pub(crate) struct Events {
    revisions: Arc<Mutex<HashMap<String, watch::Sender<u64>>>>,
    approved: Arc<Notify>,
    called: Arc<watch::Sender<()>>,
    claims: Arc<Mutex<HashMap<String, watch::Sender<()>>>>,
    metrics: Metrics,
}

impl Events {
    /// Nobody listens yet. What is committed is counted in `metrics`.
    pub(crate) fn new(metrics: Metrics) -> Self {
        Self { metrics, ..Self::default() }
    }

    /// Called by the store after each commit, with how many writes it carried and the words of the timeline it added.
    pub(crate) fn committed(&self, jobs: usize, kinds: &[&'static str]) {
        self.metrics.committed(jobs);
        for kind in kinds {
            self.metrics.happened(kind);
        }
    }

    /// Sees every later revision of the workspace; fast ones melt into the newest.
    pub(crate) fn watch(&self, workspace: &str) -> watch::Receiver<u64> {
        let mut revisions = self.revisions.lock().unwrap_or_else(PoisonError::into_inner);
        match revisions.get(workspace) {
            Some(sender) => sender.subscribe(),
            None => {
                let (sender, receiver) = watch::channel(0);
                revisions.insert(workspace.to_owned(), sender);
                receiver
            }
        }
    }

    /// Whether whoever listens was told of this revision.
    pub(crate) fn told(&self, workspace: &str, revision: u64) -> bool {
        let revisions = self.revisions.lock().unwrap_or_else(PoisonError::into_inner);
        revisions.get(workspace).is_none_or(|sender| *sender.borrow() == revision)
    }

    /// Called by the store after the commit, never before.
    pub(crate) fn publish(&self, workspace: &str, revision: u64) {
        let mut revisions = self.revisions.lock().unwrap_or_else(PoisonError::into_inner);
        if workspace == WHOLE_GATE {
            // What happens to the whole gate concerns everybody.
            revisions.values().for_each(|sender| sender.send_modify(|_| ()));
        }
        let Some(sender) = revisions.get(workspace) else { return };
        // The last listener is gone: forget the workspace, so that the map cannot grow for ever.
        if sender.send(revision).is_err() {
            revisions.remove(workspace);
        }
    }

    /// Something waits to be run. One waiting call is kept when nobody listens.
    pub(crate) fn approved(&self) {
        self.approved.notify_one();
    }

    /// A callback is to be told something.
    pub(crate) fn called(&self) {
        self.called.send_replace(());
    }

    /// Sees every later [`called`](Self::called); several melt into one.
    pub(crate) fn watch_called(&self) -> watch::Receiver<()> {
        self.called.subscribe()
    }

    /// Somebody in this workspace is on something, or no longer.
    pub(crate) fn claimed(&self, workspace: &str) {
        let mut claims = self.claims.lock().unwrap_or_else(PoisonError::into_inner);
        if claims.get(workspace).is_some_and(|sender| sender.send(()).is_err()) {
            claims.remove(workspace);
        }
    }

    /// Sees every later [`claimed`](Self::claimed); several melt into one.
    pub(crate) fn watch_claims(&self, workspace: &str) -> watch::Receiver<()> {
        let mut claims = self.claims.lock().unwrap_or_else(PoisonError::into_inner);
        claims.entry(workspace.to_owned()).or_insert_with(|| watch::channel(()).0).subscribe()
    }

    /// Returns after the next [`approved`](Self::approved).
    pub(crate) async fn until_approved(&self) {
        self.approved.notified().await;
    }
}
