//! The pending-actions contract, as our gate and Praxiom speak it.
//!
//! The gate compares digests, reports changes since a revision, and pushes briefings. Praxiom does not, so its actions
//! are read again just before sending, its lists are read whole, and the outcomes of a batch are read afterwards.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use tokio::sync::mpsc;

use super::setup::Patience;
use super::{
    Abilities, EventKind, Full, OpenError, Outcomes, PagesEnd, Source, SourceError, SourceInfo, Synced,
    signals,
};
use crate::clock;
use crate::config::SourceConfig;
use crate::domain::{
    ActionId, Check, Claim, Decision, PendingAction, Revision, Row, SourceName, SubmissionBatch, Untrusted,
    merge,
};
use crate::net::sse::Limits;
use client::{Dialect, HintsAt, PendingActions};

mod abilities;
mod claims;
mod client;
mod context;
mod health_check;
mod hints;
mod orphans;
mod read;
mod settle;
mod submit;
#[cfg(test)]
mod tests;
mod wire;

#[cfg(test)]
pub(super) use tests::world;

/// Praxiom's smallest plan allows 30 requests a minute, and a reviewer needs some of them.
const PRAXIOM_POLL: Duration = Duration::from_secs(10);

pub(super) fn open(config: &SourceConfig, patience: Patience) -> Result<Arc<dyn Source>, OpenError> {
    Ok(Arc::new(PendingActions::open(config, patience)?))
}

impl SourceInfo for PendingActions {
    fn name(&self) -> &SourceName {
        &self.name
    }

    fn subject(&self) -> Option<Untrusted> {
        self.me().map(|me| me.subject)
    }

    fn claims(&self) -> Option<Vec<Claim>> {
        self.claims.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn decides_checkpoints(&self) -> bool {
        self.is_gate()
    }

    fn least_poll(&self) -> Duration {
        match self.dialect {
            Dialect::Gate => Duration::ZERO,
            Dialect::Praxiom => PRAXIOM_POLL,
        }
    }

    /// If several people must approve, the action names each of them with the input that they approved.
    fn ours(&self, action: &PendingAction, decision: &Decision, _: &str) -> Option<bool> {
        let (approvals, me) = (action.row.approvals.as_ref()?, self.subject()?);
        if !decision.kind().approves() {
            return None;
        }
        let merged = decision.edits().map(|edits| merge(&action.input, edits)).transpose().ok()?;
        let effective = action.digest_of(merged.as_ref().unwrap_or(&action.input).as_str());
        let is_given = action.approvals.iter().any(|it| it.by == me && it.effective == effective);
        // While the action is pending, our approval may still be on its way.
        (is_given || !action.row.status.is_pending() && !approvals.by.is_empty()).then_some(is_given)
    }

    fn watch(&self) -> Option<BoxStream<'static, EventKind>> {
        let http = self.http.clone();
        match self.dialect {
            // Only the counts are read.
            Dialect::Gate => {
                let path = self.path("/events", &[("batches", "none")]);
                Some(signals::signals(http, path, self.stream, false))
            }
            Dialect::Praxiom => {
                let HintsAt { path, count_at } = self.hints.clone()?;
                Some(hints::signals(http, path, Limits { pulse: None, ..self.stream }, count_at))
            }
        }
    }

    fn pushes_at_once(&self) -> bool {
        self.is_gate()
    }
}

#[async_trait]
impl Source for PendingActions {
    async fn sync(&self, since: Option<Revision>) -> Result<Synced, SourceError> {
        if let Some(since) = since.filter(|_| self.is_gate())
            && let Some(changes) = self.changes(since).await?
        {
            return Ok(changes);
        }
        self.list().await
    }

    async fn list_in_pages(&self, pages: mpsc::Sender<Vec<Row>>) -> Result<Option<PagesEnd>, SourceError> {
        // Praxiom counts requests.
        if self.is_gate() { self.list_paged(pages).await.map(Some) } else { Ok(None) }
    }

    async fn get(&self, ids: &[ActionId]) -> Result<Vec<Full>, SourceError> {
        // Needed to recognise our own decisions. After a restart, nothing has been listed yet.
        if self.is_gate() && self.me().is_none() {
            self.ask_me().await?;
        }
        let mut found = self.read(ids).await?;
        let now = clock::now();
        for action in found.iter_mut().flatten().filter(|_| !self.is_gate()) {
            if orphans::mark(&mut action.row, now) {
                action.error = Some(orphans::WHY.into());
            }
        }
        Ok(found)
    }

    async fn submit(&self, batch: &SubmissionBatch, key: &str) -> Result<Outcomes, SourceError> {
        self.send(batch, key).await
    }

    fn abilities(&self) -> Abilities<'_> {
        let history = Abilities { history: Some(self), ..Abilities::default() };
        match self.dialect {
            Dialect::Praxiom => Abilities { context: Some(self), ..history },
            Dialect::Gate => Abilities {
                timeline: Some(self),
                figures: Some(self),
                lookup: Some(self),
                resolve_unknown: Some(self),
                take_back: Some(self),
                claims: Some(self),
                ..history
            },
        }
    }

    async fn checks_before(&self) -> Result<Vec<Check>, Vec<Check>> {
        self.check_urls().await
    }

    fn check_list(&self, listed: &Result<Synced, SourceError>) -> Option<Check> {
        self.check_member(listed)
    }

    async fn checks_after(&self, listed: &Result<Synced, SourceError>) -> Vec<Check> {
        if listed.is_ok() { self.check_rights().await } else { Vec::new() }
    }
}
