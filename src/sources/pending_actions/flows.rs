//! How actions came and went, where the gate counts it.

use std::sync::atomic::Ordering;

use super::{Dialect, LONG_LIMIT, PendingActions, answer};
use crate::contract::{flows, time};
use crate::domain::{Flows, FlowsAsked};
use crate::net::url;
use crate::sources::SourceError;

impl PendingActions {
    pub(super) fn has_flows(&self) -> bool {
        self.dialect == Dialect::Gate && self.has_flows.load(Ordering::Relaxed)
    }

    /// What the gate counted. One from before the route is not asked again.
    pub(super) async fn counted(&self, asked: &FlowsAsked) -> Result<Flows, SourceError> {
        if !self.has_flows() {
            return Err(SourceError::NotOffered);
        }
        let [since, decided] = [asked.since, asked.decided_since].map(time::write);
        let workspace = self.workspace.as_deref().map(|workspace| ("workspace_id", workspace));
        let since = [("since", since.as_str()), ("decided_since", decided.as_str())];
        let reviewers = asked.reviewers.then_some(("reviewers", "true"));
        let query: Vec<_> = workspace.into_iter().chain(since).chain(reviewers).collect();
        let reply = self.ask(format!("/api/flows{}", url::query(&query)), LONG_LIMIT).await?;
        match reply.status {
            200 => flows::read(&reply.text).ok_or_else(|| answer::nonsense("its counts are none")),
            404 | 405 => {
                self.has_flows.store(false, Ordering::Relaxed);
                Err(SourceError::NotOffered)
            }
            _ => Err(answer::refusal(&reply)),
        }
    }
}
