//! Wakes streams and the dispatcher after a commit: a workspace has a new revision, or an action can run.
//!
//! Events carry no content. Listeners read the store, so a missed or repeated event does no harm.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{Notify, watch};

use super::audit::WHOLE_GATE;
use super::metrics::Metrics;

#[derive(Debug, Clone, Default)]
pub(crate) struct Events {
    revisions: Arc<Mutex<HashMap<String, watch::Sender<u64>>>>,
    approved: Arc<Notify>,
    called: Arc<watch::Sender<()>>,
    claims: Arc<Mutex<HashMap<String, watch::Sender<()>>>>,
    metrics: Metrics,
}

impl Events {
    pub(crate) fn new(metrics: Metrics) -> Self {
        Self { metrics, ..Self::default() }
    }

    /// Counts a commit: `jobs` is its number of writes, `kinds` are its new timeline entries.
    pub(crate) fn committed(&self, jobs: usize, kinds: &[&'static str]) {
        self.metrics.committed(jobs);
        for kind in kinds {
            self.metrics.happened(kind);
        }
    }

    /// Subscribes to later revisions of the workspace. A slow receiver sees only the newest.
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

    pub(crate) fn told(&self, workspace: &str, revision: u64) -> bool {
        let revisions = self.revisions.lock().unwrap_or_else(PoisonError::into_inner);
        revisions.get(workspace).is_none_or(|sender| *sender.borrow() == revision)
    }

    /// Publishes a revision. Called only after its commit.
    pub(crate) fn publish(&self, workspace: &str, revision: u64) {
        let mut revisions = self.revisions.lock().unwrap_or_else(PoisonError::into_inner);
        if workspace == WHOLE_GATE {
            revisions.values().for_each(|sender| sender.send_modify(|_| ()));
        }
        let Some(sender) = revisions.get(workspace) else { return };
        // Without listeners, removes the workspace, so that the map stays bounded.
        if sender.send(revision).is_err() {
            revisions.remove(workspace);
        }
    }

    /// Wakes the dispatcher. Keeps one event if it is not listening.
    pub(crate) fn approved(&self) {
        self.approved.notify_one();
    }

    pub(crate) fn called(&self) {
        self.called.send_replace(());
    }

    /// Merges repeated [`called`](Self::called) events.
    pub(crate) fn watch_called(&self) -> watch::Receiver<()> {
        self.called.subscribe()
    }

    pub(crate) fn claimed(&self, workspace: &str) {
        let mut claims = self.claims.lock().unwrap_or_else(PoisonError::into_inner);
        if claims.get(workspace).is_some_and(|sender| sender.send(()).is_err()) {
            claims.remove(workspace);
        }
    }

    /// Merges repeated [`claimed`](Self::claimed) events.
    pub(crate) fn watch_claims(&self, workspace: &str) -> watch::Receiver<()> {
        let mut claims = self.claims.lock().unwrap_or_else(PoisonError::into_inner);
        claims.entry(workspace.to_owned()).or_insert_with(|| watch::channel(()).0).subscribe()
    }

    pub(crate) async fn until_approved(&self) {
        self.approved.notified().await;
    }
}
