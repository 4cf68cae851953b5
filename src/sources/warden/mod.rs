//! Warden, a saga engine: steps that are held for a human, and decisions that it takes later.
//!
//! It answers 202 to a decision and settles it from an outbox, so that a decision from here is `accepted` and then followed.
//! One key stands for every decision about a step, whoever sent it and whatever it said: `already_queued` and `requeued` are
//! about the first one. Measured at revision cb46334 (version 0.1.0).

use std::sync::Arc;

use async_trait::async_trait;

use super::setup::{self, Patience};
use super::{Abilities, Full, OpenError, Outcomes, Source, SourceError, SourceInfo, Synced};
use crate::config::{self, SourceConfig, SourceKind};
use crate::contract::time;
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

/// Opens the source; see [`super::open`].
pub(super) fn open(config: &SourceConfig, patience: Patience) -> Result<Arc<dyn Source>, OpenError> {
    open_at(config, patience, Clock(Arc::new(time::now)))
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
        standing::ours(action, decision, key)
    }

    /// The engine keeps no list of who decided what: the answers are on disk before many more go out.
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
