//! confused-ai, an agent framework, measured on 2.4.0.
//!
//! It only lists pending requests: no single reads, pages, push or edits. It approves expired requests, answers a
//! second decision with 500, and records any name as `decidedBy`. So this source enforces expiry, reads the list again
//! before sending, and compares each answer with the decision.

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

    /// A decided request is no longer listed, so its reply must be on disk before the next decision goes.
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

    /// Reads from the list, which holds whole actions. Requests decided here come from memory.
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
