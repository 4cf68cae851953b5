//! dendrux: agents in a Python process that pause before calls that need approval.
//!
//! The package ships a router to read with, and no route to decide with. Two roads lead there: placet's bridge
//! (`assets/bridges/dendrux`), which says in one call what waits, pushes changes, and takes a decision on each call; or the
//! package's read router with the write routes that its documentation has every owner write, which take one decision a turn and
//! answer only when the run pauses again or ends. Which one it is, the source finds out by asking.
//!
//! A **turn** is one pause of a run, with all its calls. It is decided in one request, so that nothing of it can be left out.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream::BoxStream;

use super::{OpenError, Outcomes, Patience, Signal, Source, SourceError, Synced, answer};
use crate::config::{self, SourceConfig, SourceKind};
use crate::contract::action::Unreadable;
use crate::domain::{
    ActionId, Capabilities, Check, ContextEntry, Decision, PendingAction, Revision, Row, SourceName,
    SubmissionBatch, Untrusted,
};
use crate::net::http::{Ask, Http, Reply};
use crate::net::sse::Limits;
use crate::net::url;

mod body;
mod call_id;
mod call_status;
mod can;
mod context;
mod doctor;
mod log;
mod memory;
mod past;
mod plain;
mod read;
mod submit;
#[cfg(test)]
pub(super) mod tests;
mod turn;
mod watch;
mod wire;

use can::Facts;
use memory::Memory;
use plain::TurnCache;
use wire::Report;

/// Longest wait for a read.
const GET_LIMIT: Duration = Duration::from_secs(30);
/// Longest wait for a list.
const LONG_LIMIT: Duration = Duration::from_mins(1);
/// Longest wait for a decision to be taken. Without the bridge it is answered only when the run pauses again or ends; what takes
/// longer is read afterwards.
const DECIDE_LIMIT: Duration = Duration::from_secs(45);

#[derive(Debug)]
struct Dendrux {
    name: SourceName,
    http: Http,
    set: config::Dendrux,
    /// Who decides, for a bridge to remember.
    reviewer: Option<Untrusted>,
    /// `None` until somebody asked, and again after a list failed or something was not there.
    road: Mutex<Option<Road>>,
    /// What a capability depends on beside its row, of what was listed or read last.
    facts: Mutex<HashMap<ActionId, Facts>>,
    kept: Mutex<TurnCache>,
    memory: Mutex<Memory>,
    stream: Limits,
}

/// How it is reached.
#[derive(Clone, Debug)]
enum Road {
    Bridge(Arc<Report>),
    Plain,
}

/// Opens the source; see [`super::open`].
pub(super) fn open(config: &SourceConfig, patience: Patience) -> Result<Arc<dyn Source>, OpenError> {
    let mut set = match &config.kind {
        SourceKind::Dendrux(set) => set.clone(),
        _ => config::Dendrux::default(),
    };
    let prefix = set.prefix.trim_matches('/');
    set.prefix = if prefix.is_empty() { String::new() } else { format!("/{prefix}") };
    set.approval_path = set.approval_path.trim_matches('/').into();
    let http = super::http(config, patience)?;
    let stream = match patience.backoff {
        Some(backoff) => Limits { backoff, ..watch::LIMITS },
        None => watch::LIMITS,
    };
    Ok(Arc::new(Dendrux {
        name: config.name.clone(),
        http,
        set,
        reviewer: config.reviewer.as_deref().map(Untrusted::from),
        road: Mutex::default(),
        facts: Mutex::default(),
        kept: Mutex::default(),
        memory: Mutex::default(),
        stream,
    }))
}

#[async_trait]
impl Source for Dendrux {
    fn name(&self) -> &SourceName {
        &self.name
    }

    /// Only a bridge writes down who decided, and it writes the name that it is told.
    fn subject(&self) -> Option<Untrusted> {
        let bridge = matches!(&*lock(&self.road), Some(Road::Bridge(_)));
        self.reviewer.clone().filter(|_| bridge)
    }

    fn capabilities(&self, row: &Row) -> Capabilities {
        let facts = lock(&self.facts).get(&row.id).copied();
        facts.filter(|_| row.unreadable.is_none()).map_or(Capabilities::READ_ONLY, Facts::capabilities)
    }

    async fn context(&self, id: &ActionId) -> Result<Vec<ContextEntry>, SourceError> {
        self.around(id).await
    }

    async fn check(&self) -> Vec<Check> {
        self.look_over().await
    }

    /// There is no telling what changed: it is always everything.
    async fn sync(&self, _: Option<Revision>) -> Result<Synced, SourceError> {
        self.list().await
    }

    async fn get(&self, ids: &[ActionId]) -> Result<Vec<Result<PendingAction, Unreadable>>, SourceError> {
        self.read(ids).await
    }

    async fn submit(&self, batch: &SubmissionBatch, _: &str) -> Result<Outcomes, SourceError> {
        self.send(batch).await
    }

    /// A name proves that it was somebody else, and never that it was this decision: two may decide under one name.
    fn ours(&self, action: &PendingAction, _: &Decision, _: &str) -> Option<bool> {
        // The bridge writes down who decided.
        let by = action.row.resolved_by.as_ref()?;
        Some(self.reviewer.as_ref() == Some(by))
    }

    fn watch(&self) -> Option<BoxStream<'static, Signal>> {
        Some(watch::signals(self.http.clone(), self.path("/placet/events"), self.stream))
    }
}

impl Dendrux {
    /// How it is reached: told, or asked for now.
    async fn road(&self) -> Result<Road, SourceError> {
        if let Some(road) = lock(&self.road).clone() {
            return Ok(road);
        }
        let reply = self.ask("/placet".to_owned(), GET_LIMIT).await?;
        let road = match reply.status {
            200..=299 => {
                let report = wire::report(&reply.text);
                Road::Bridge(Arc::new(report.ok_or_else(|| answer::nonsense("it is no bridge of placet's"))?))
            }
            404 | 405 => Road::Plain,
            _ => return Err(answer::refusal(&reply)),
        };
        *lock(&self.road) = Some(road.clone());
        Ok(road)
    }

    fn path(&self, place: &str) -> String {
        format!("{}{place}", self.set.prefix)
    }

    /// A path under the prefix, answered in any way.
    async fn ask(&self, place: String, limit: Duration) -> Result<Reply, SourceError> {
        let ask = Ask { path: self.path(&place), body: None, key: None, limit };
        self.http.ask(&ask).await.map_err(answer::none)
    }

    /// What stands there, understood; `None` where nothing does.
    async fn found<T: Send + 'static>(
        &self,
        place: String,
        read: fn(&str) -> Option<T>,
    ) -> Result<Option<T>, SourceError> {
        let reply = self.ask(place, GET_LIMIT).await?;
        match reply.status {
            404 | 410 => Ok(None),
            200..=299 => parsed(reply.text, read).await.map(Some),
            // It is there, and cannot tell of this one.
            500.. => Err(SourceError::Protocol { why: answer::message(&reply) }),
            _ => Err(answer::refusal(&reply)),
        }
    }

    async fn post(&self, place: &str, body: String) -> Result<Reply, SourceError> {
        let ask = Ask { path: self.path(place), body: Some(body), key: None, limit: DECIDE_LIMIT };
        self.http.ask(&ask).await.map_err(answer::none)
    }

    /// What narrows the list, as configured.
    fn narrowed<'a>(&'a self, more: &[(&'a str, &'a str)]) -> String {
        let agent = self.set.agent.as_deref().map(|agent| ("agent_name", agent));
        let tenant = self.set.tenant.as_deref().map(|tenant| ("tenant_id", tenant));
        let pairs: Vec<_> = more.iter().copied().chain(agent).chain(tenant).collect();
        url::query(&pairs)
    }
}

/// Reads a reply on a thread of its own: megabytes of JSON take longer than other tasks should wait.
async fn parsed<T: Send + 'static>(text: String, read: fn(&str) -> Option<T>) -> Result<T, SourceError> {
    let parsed = tokio::task::spawn_blocking(move || read(&text)).await;
    parsed.ok().flatten().ok_or_else(|| answer::nonsense("the reply is not what dendrux answers there"))
}

fn lock<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
