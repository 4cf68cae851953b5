//! Warden, a saga engine: steps that are held for a human, and decisions that take effect later. Measured at revision
//! cb46334 (version 0.1.0).
//!
//! The engine answers 202 to a decision and settles it from an outbox, so a decision is `accepted` and then followed.
//! All decisions on a step share one key, regardless of sender and content: `already_queued` and `requeued` refer to
//! the first one.

use std::sync::Arc;

use async_trait::async_trait;

use super::setup::{self, Patience};
use super::{Abilities, Full, OpenError, Outcomes, Source, SourceError, SourceInfo, Synced};
use crate::clock;
use crate::config::{self, SourceConfig, SourceKind};
use crate::domain::{ActionId, Check, Decision, PendingAction, Revision, SourceName, SubmissionBatch};
use client::{Clock, Warden};
use names::Names;

mod alike;
mod client;
mod context;
mod health_check;
mod learn_names;
mod names;
mod notes;
mod read;
mod sent;
mod standing;
mod step_id;
mod submit;
#[cfg(test)]
mod tests;
mod undo;
mod wire;

#[cfg(test)]
pub(super) use tests::world;

pub(super) fn open(config: &SourceConfig, patience: Patience) -> Result<Arc<dyn Source>, OpenError> {
    open_at(config, patience, Clock(Arc::new(clock::now)))
}

fn open_at(config: &SourceConfig, patience: Patience, clock: Clock) -> Result<Arc<dyn Source>, OpenError> {
    let filter = match &config.kind {
        SourceKind::Warden(filter) => filter.clone(),
        _ => config::Warden::default(),
    };
    Ok(Arc::new(Warden {
        name: config.name.clone(),
        http: setup::http(config, patience)?,
        filter,
        clock,
        names: Names::default(),
        sent: sent::Log::default(),
    }))
}

impl SourceInfo for Warden {
    fn name(&self) -> &SourceName {
        &self.name
    }

    fn ours(&self, action: &PendingAction, decision: &Decision, key: &str) -> Option<bool> {
        let sent = self.sent.get(&action.row.id).filter(|sent| sent.kind == decision.kind());
        standing::ours(action, decision, key, sent.as_ref().map(|sent| &sent.input))
    }

    /// The engine does not list decisions, so the answers must be on disk before many more go out.
    fn at_once(&self) -> usize {
        8
    }

    fn one_by_one(&self) -> bool {
        true
    }
}

#[async_trait]
impl Source for Warden {
    async fn sync(&self, _: Option<Revision>) -> Result<Synced, SourceError> {
        self.list().await
    }

    async fn get(&self, ids: &[ActionId]) -> Result<Vec<Full>, SourceError> {
        self.read(ids).await
    }

    async fn submit(&self, batch: &SubmissionBatch, key: &str) -> Result<Outcomes, SourceError> {
        self.send(batch, key).await
    }

    fn abilities(&self) -> Abilities<'_> {
        Abilities { context: Some(self), ..Abilities::default() }
    }

    async fn checks_before(&self) -> Result<Vec<Check>, Vec<Check>> {
        self.check_engine().await
    }

    async fn checks_after(&self, _: &Result<Synced, SourceError>) -> Vec<Check> {
        vec![self.definitions().await]
    }
}
