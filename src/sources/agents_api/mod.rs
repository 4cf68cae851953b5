//! WordPress with Automattic's agents-api and a host plugin, such as Data Machine, that keeps pending actions and runs
//! accepted ones.
//!
//! An approved call runs inside the request that approves it, and the site forgets the action if the run fails. The
//! answer is the only report of that, so it is kept here for [`Source::get`] and `Source::ended`.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;

use super::setup::{self, Patience};
use super::{Abilities, Full, OpenError, Outcomes, Source, SourceError, SourceInfo, Synced};
use crate::config::{AgentsApi as Settings, SourceConfig, SourceKind};
use crate::domain::{ActionId, Check, PendingAction, Revision, SourceName, SubmissionBatch, Untrusted};
use client::{AgentsApi, RESOLVE_LIMIT};
use ended_actions::EndedActions;
use site::Site;

mod client;
mod context;
mod ended_actions;
mod health_check;
mod read;
mod site;
mod submit;
#[cfg(test)]
mod tests;
mod wire;

#[cfg(test)]
pub(super) use {submit::HIDDEN, tests::world};

/// Shortest poll interval: each poll starts a PHP process or two.
const LEAST_POLL: Duration = Duration::from_secs(5);

pub(super) fn open(config: &SourceConfig, patience: Patience) -> Result<Arc<dyn Source>, OpenError> {
    let settings = match &config.kind {
        SourceKind::AgentsApi(settings) => settings.clone(),
        _ => Settings::default(),
    };
    let config = &SourceConfig { url: site::address(&config.url).to_owned(), ..config.clone() };
    Ok(Arc::new(AgentsApi {
        name: config.name.clone(),
        site: Site::new(setup::http(config, patience)?),
        settings,
        resolver: Mutex::default(),
        known: EndedActions::default(),
    }))
}

impl SourceInfo for AgentsApi {
    fn name(&self) -> &SourceName {
        &self.name
    }

    fn subject(&self) -> Option<Untrusted> {
        self.subject()
    }

    fn least_poll(&self) -> Duration {
        LEAST_POLL
    }

    fn at_once(&self) -> usize {
        1
    }

    fn runs_for(&self) -> Duration {
        RESOLVE_LIMIT
    }

    fn ended(&self, id: &ActionId) -> Option<PendingAction> {
        self.known.ended(id).and_then(|action| self.permitted(Ok(action)).ok())
    }
}

#[async_trait]
impl Source for AgentsApi {
    async fn sync(&self, _: Option<Revision>) -> Result<Synced, SourceError> {
        self.learn_resolver().await;
        self.list().await
    }

    async fn get(&self, ids: &[ActionId]) -> Result<Vec<Full>, SourceError> {
        // Needed to tell our own decisions from those of others.
        self.learn_resolver().await;
        self.read(ids).await
    }

    async fn submit(&self, batch: &SubmissionBatch, _: &str) -> Result<Outcomes, SourceError> {
        self.send(batch).await
    }

    fn abilities(&self) -> Abilities<'_> {
        Abilities { context: Some(self), ..Abilities::default() }
    }

    async fn checks_before(&self) -> Result<Vec<Check>, Vec<Check>> {
        self.check_site().await
    }

    async fn checks_after(&self, listed: &Result<Synced, SourceError>) -> Vec<Check> {
        health_check::creators(listed).into_iter().collect()
    }
}
