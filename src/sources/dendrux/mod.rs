//! dendrux: agents in a Python process that pause before calls that need approval.
//!
//! The package has a router to read with, but none to decide with. The source finds out which of two ways the
//! application offers: placet's bridge (`assets/bridges/dendrux`) lists everything that waits in one request, pushes
//! changes and takes a decision on each call. Otherwise it uses the read router and the write routes that dendrux
//! documents for owners, which take one decision per turn and answer only when the run pauses again or ends.
//!
//! A **turn** is one pause of a run with all its calls. One request decides all of it, so no call is left out.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures_util::stream::BoxStream;

use super::setup::{self, Patience};
use super::{
    Abilities, EventKind, Full, OpenError, Outcomes, Source, SourceError, SourceInfo, Synced, signals,
};
use crate::config::{self, SourceConfig, SourceKind};
use crate::domain::{
    ActionId, Check, Decision, PendingAction, Revision, SourceName, Status, SubmissionBatch, Untrusted,
};
use body::DECLINED;
use client::{Dendrux, Road, lock};
use memory::Memory;

mod body;
mod call_id;
mod call_status;
mod can;
mod client;
mod context;
mod health_check;
mod log;
mod memory;
mod past;
mod plain;
mod read;
mod submit;
#[cfg(test)]
mod tests;
mod turn;
mod wire;

#[cfg(test)]
pub(super) use tests::world;

pub(super) fn open(config: &SourceConfig, patience: Patience) -> Result<Arc<dyn Source>, OpenError> {
    let mut set = match &config.kind {
        SourceKind::Dendrux(set) => set.clone(),
        _ => config::Dendrux::default(),
    };
    let prefix = set.prefix.trim_matches('/');
    set.prefix = if prefix.is_empty() { String::new() } else { format!("/{prefix}") };
    set.approval_path = set.approval_path.trim_matches('/').into();
    Ok(Arc::new(Dendrux {
        name: config.name.clone(),
        http: setup::http(config, patience)?,
        set,
        reviewer: config.reviewer.as_deref().map(Untrusted::from),
        road: Mutex::default(),
        kept: Mutex::default(),
        memory: Memory::default(),
        stream: signals::limits(patience),
    }))
}

impl SourceInfo for Dendrux {
    fn name(&self) -> &SourceName {
        &self.name
    }

    /// Only a bridge records who decided, under the name that it is sent.
    fn subject(&self) -> Option<Untrusted> {
        let bridge = matches!(&*lock(&self.road), Some(Road::Bridge(_)));
        self.reviewer.clone().filter(|_| bridge)
    }

    /// The bridge records any name it is sent.
    fn subject_is_proof(&self) -> bool {
        false
    }

    /// Another name or reason proves that somebody else decided. The same ones prove nothing, because two reviewers may
    /// share them.
    fn ours(&self, action: &PendingAction, decision: &Decision, _: &str) -> Option<bool> {
        if let Decision::Reject { reason } = decision
            && action.row.status == Status::Rejected
            && let Some(written) = &action.reason
            && written.as_raw() != reason.as_deref().filter(|reason| !reason.is_empty()).unwrap_or(DECLINED)
        {
            return Some(false);
        }
        let by = action.row.resolved_by.as_ref()?;
        (self.reviewer.as_ref() != Some(by)).then_some(false)
    }

    /// Without the bridge there is no such stream. The package only pushes the events of a single run.
    fn watch(&self) -> Option<BoxStream<'static, EventKind>> {
        Some(signals::signals(self.http.clone(), self.path("/placet/events"), self.stream, true))
    }
}

#[async_trait]
impl Source for Dendrux {
    /// Always lists everything, because dendrux does not report changes.
    async fn sync(&self, _: Option<Revision>) -> Result<Synced, SourceError> {
        self.list().await
    }

    async fn get(&self, ids: &[ActionId]) -> Result<Vec<Full>, SourceError> {
        self.read(ids).await
    }

    async fn submit(&self, batch: &SubmissionBatch, _: &str) -> Result<Outcomes, SourceError> {
        self.send(batch).await
    }

    fn abilities(&self) -> Abilities<'_> {
        Abilities { context: Some(self), ..Abilities::default() }
    }

    async fn checks_before(&self) -> Result<Vec<Check>, Vec<Check>> {
        self.check_road().await
    }

    async fn checks_after(&self, listed: &Result<Synced, SourceError>) -> Vec<Check> {
        let plain = matches!(&*lock(&self.road), Some(Road::Plain));
        if listed.is_ok() && plain { self.write_routes().await } else { Vec::new() }
    }
}
