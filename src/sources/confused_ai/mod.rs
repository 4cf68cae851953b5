//! confused-ai, an agent framework: a list and a POST.
//!
//! Measured on 2.4.0: it lists what is pending and nothing else, knows no single action, no page, no push and no edit. It still
//! approves what has expired, answers a second decision with 500, and keeps whatever name it is told as the one who decided. So
//! expiry is enforced here, everything is read again just before sending, and an answer is held against what was asked.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;

use super::recent::Recent;
use super::setup::{self, Patience};
use super::{Abilities, Full, OpenError, Outcomes, Source, SourceError, SourceInfo, Synced};
use crate::config::SourceConfig;
use crate::domain::{ActionId, Check, PendingAction, Revision, SourceName, SubmissionBatch};
use client::{ConfusedAi, REMEMBERED};

mod client;
mod context;
mod health_check;
mod submit;
#[cfg(test)]
mod tests;
mod wire;

#[cfg(test)]
pub(super) use tests::world;

/// Opens the source; see [`super::open`].
pub(super) fn open(config: &SourceConfig, patience: Patience) -> Result<Arc<dyn Source>, OpenError> {
    Ok(Arc::new(ConfusedAi {
        name: config.name.clone(),
        http: setup::http(config, patience)?,
        reviewer: config.reviewer.clone(),
        decided: Recent::most(REMEMBERED),
        expiries: Mutex::default(),
    }))
}

impl SourceInfo for ConfusedAi {
    fn name(&self) -> &SourceName {
        &self.name
    }

    /// What was decided is listed no more: what its reply said must be on disk before the next one goes.
    fn at_once(&self) -> usize {
        1
    }

    fn success_disproves_earlier(&self) -> bool {
        true
    }
}

#[async_trait]
impl Source for ConfusedAi {
    async fn sync(&self, _: Option<Revision>) -> Result<Synced, SourceError> {
        let waits = |one: &Full| one.as_ref().map_or(true, |action| action.row.status.is_pending());
        Ok(Synced::all(self.list().await?.into_iter().filter(waits)))
    }

    /// From the list, which holds whole actions; what we decided ourselves is in no list any more.
    async fn get(&self, ids: &[ActionId]) -> Result<Vec<Full>, SourceError> {
        let known: HashMap<&ActionId, PendingAction> =
            ids.iter().filter_map(|id| Some((id, self.remembered(id)?))).collect();
        let mut found: Vec<Full> = known.values().cloned().map(Ok).collect();
        if known.len() < ids.len() {
            let of = |action: &Full| match action {
                Ok(action) => Some(action.row.id.clone()),
                Err(bad) => bad.id.clone(),
            };
            let missing: HashSet<&ActionId> = ids.iter().filter(|id| !known.contains_key(id)).collect();
            let wanted = |action: &Full| of(action).is_some_and(|id| missing.contains(&id));
            found.extend(self.list().await?.into_iter().filter(wanted));
        }
        Ok(found)
    }

    async fn submit(&self, batch: &SubmissionBatch, _: &str) -> Result<Outcomes, SourceError> {
        self.send(batch).await
    }

    fn abilities(&self) -> Abilities<'_> {
        Abilities { context: Some(self), ..Abilities::default() }
    }

    fn check_list(&self, listed: &Result<Synced, SourceError>) -> Option<Check> {
        health_check::list(listed)
    }

    async fn checks_after(&self, listed: &Result<Synced, SourceError>) -> Vec<Check> {
        if listed.is_ok() { self.check_reviewer() } else { Vec::new() }
    }
}
