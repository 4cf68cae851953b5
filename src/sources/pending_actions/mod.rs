//! The pending-actions contract, as our gate and as Praxiom speak it.
//!
//! The gate compares digests itself, tells what changed since a revision, and pushes briefings. Praxiom does none of it:
//! there, actions are read again just before sending, lists are whole, and what a batch came to is read afterwards.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream::BoxStream;

use super::{Listed, OpenError, Outcomes, Patience, Signal, Source, SourceError, Synced, answer};
use crate::config::{Praxiom, SourceConfig, SourceKind};
use crate::contract::action::Unreadable;
use crate::domain::{
    ActionId, Binding, Capabilities, Check, ContextEntry, Flows, FlowsAsked, HistoryEvent, KnownTool,
    ListQuery, Note, On, Outstanding, PendingAction, ReasonRule, Records, Resolution, Resolved, Revision,
    Row, SourceName, Status, SubmissionBatch, Untrusted,
};
use crate::net::http::{Ask, Http, Reply};
use crate::net::sse::Limits;
use crate::net::url;

mod context;
mod counts;
mod finding;
mod flows;
mod hints;
mod past;
mod read;
mod settle;
mod submit;
#[cfg(test)]
mod tests;
mod tools;
mod watch;
mod wire;

#[cfg(test)]
pub(super) use tests::world;

/// Praxiom merges `userEdits` shallowly.
const PRAXIOM_NOTES: [Note; 1] =
    [Note { on: On::Edit, words: "an edited key is replaced as a whole, and no key can be removed" }];
/// Praxiom's smallest plan takes 30 requests a minute, and a look is not all that a reviewer asks for.
const PRAXIOM_POLL: Duration = Duration::from_secs(10);
const ROOT: &str = "/api/pending-actions";
/// Longest wait for one action.
const GET_LIMIT: Duration = Duration::from_secs(30);
/// Longest wait for a list or for a decision to be taken.
const LONG_LIMIT: Duration = Duration::from_mins(1);
/// Nothing can be asked about it.
const NAMELESS: Note =
    Note { on: On::Any, words: "read-only: it has no id, so its source cannot be told about it" };

/// A source that speaks the contract.
#[derive(Debug)]
struct PendingActions {
    name: SourceName,
    dialect: Dialect,
    http: Http,
    workspace: Option<String>,
    me: Mutex<Me>,
    /// The backend answers the changes feed, as far as we know.
    has_changes: AtomicBool,
    /// The backend counts by itself how actions come and go, as far as we know.
    has_flows: AtomicBool,
    /// The backend answered who we are, or that it does not tell.
    asked_me: AtomicBool,
    stream: Limits,
    /// Where something is pushed that is no gate's stream.
    hints: Option<HintsAt>,
    /// What was listed last, where looking around costs a request.
    listed: Mutex<Vec<Row>>,
}

#[derive(Clone, Debug)]
struct HintsAt {
    path: String,
    /// Where a briefing has its count.
    count_at: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    Gate,
    Praxiom,
}

/// What the token is allowed, as the backend says.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Me {
    subject: Option<Untrusted>,
    may_decide: bool,
}

/// Opens the source; see [`super::open`].
pub(super) fn open(config: &SourceConfig, patience: Patience) -> Result<Arc<dyn Source>, OpenError> {
    let dialect = match &config.kind {
        SourceKind::Praxiom(_) if config.workspace.is_none() => {
            return Err(OpenError::NoWorkspace(config.name.clone()));
        }
        SourceKind::Praxiom(_) => Dialect::Praxiom,
        _ => Dialect::Gate,
    };
    let hints = match &config.kind {
        SourceKind::Praxiom(Praxiom { events_path: Some(path), briefing_pointer }) => {
            Some(HintsAt { path: path.clone(), count_at: briefing_pointer.clone() })
        }
        _ => None,
    };
    let http = super::http(config, patience)?;
    let stream = match patience.backoff {
        Some(backoff) => Limits { backoff, ..watch::LIMITS },
        None => watch::LIMITS,
    };
    Ok(Arc::new(PendingActions {
        name: config.name.clone(),
        dialect,
        http,
        workspace: config.workspace.clone(),
        me: Mutex::new(Me { subject: None, may_decide: true }),
        has_changes: AtomicBool::new(true),
        has_flows: AtomicBool::new(true),
        asked_me: AtomicBool::new(false),
        stream,
        hints,
        listed: Mutex::default(),
    }))
}

#[async_trait]
impl Source for PendingActions {
    fn name(&self) -> &SourceName {
        &self.name
    }

    fn subject(&self) -> Option<Untrusted> {
        self.me().subject
    }

    fn capabilities(&self, row: &Row) -> Capabilities {
        let (reason, comment, binding) = match self.dialect {
            Dialect::Gate => (ReasonRule::Optional, true, Binding::Source),
            Dialect::Praxiom => (ReasonRule::NotKept, false, Binding::FreshRead),
        };
        let nameless = row.unreadable.is_some_and(|stand_in| !stand_in.has_id);
        if nameless {
            return Capabilities { notes: &[NAMELESS], ..Capabilities::READ_ONLY };
        }
        if !self.me().may_decide {
            return Capabilities { notes: &[Note::NO_SCOPE], ..Capabilities::READ_ONLY };
        }
        let settle = self.lists(&row.status) && !row.status.is_pending();
        let edit = row.unreadable.is_none();
        let notes = match self.dialect {
            Dialect::Gate => &[][..],
            Dialect::Praxiom => &PRAXIOM_NOTES,
        };
        Capabilities { edit, reason, comment, settle, binding, notes, ..Capabilities::PLAIN }
    }

    fn records(&self) -> Records {
        Records { lists: true, timeline: self.dialect == Dialect::Gate, flows: self.has_flows() }
    }

    async fn listed(&self, query: &ListQuery) -> Result<Listed, SourceError> {
        self.page(query).await
    }

    async fn context(&self, id: &ActionId) -> Result<Vec<ContextEntry>, SourceError> {
        Ok(self.around(id))
    }

    async fn check(&self) -> Vec<Check> {
        self.look_over().await
    }

    fn least_poll(&self) -> Duration {
        match self.dialect {
            Dialect::Gate => Duration::ZERO,
            Dialect::Praxiom => PRAXIOM_POLL,
        }
    }

    async fn history(&self, id: &ActionId) -> Result<Vec<HistoryEvent>, SourceError> {
        self.timeline(id).await
    }

    async fn flows(&self, asked: &FlowsAsked) -> Result<Flows, SourceError> {
        self.counted(asked).await
    }

    async fn outstanding(&self) -> Result<Outstanding, SourceError> {
        self.counts().await
    }

    async fn sync(&self, since: Option<Revision>) -> Result<Synced, SourceError> {
        if let Some(since) = since.filter(|_| self.has_changes())
            && let Some(changes) = self.changes(since).await?
        {
            return Ok(changes);
        }
        self.learn_me().await;
        let listed = self.list().await;
        if let Ok(Synced::All { rows, .. }) = &listed {
            self.keep(rows);
        }
        listed
    }

    async fn get(&self, ids: &[ActionId]) -> Result<Vec<Result<PendingAction, Unreadable>>, SourceError> {
        // Whose decision it was can only be told by who knows who we are: at a restart nothing was listed yet.
        if self.dialect == Dialect::Gate && !self.asked_me.load(Ordering::Relaxed) {
            self.ask_me().await?;
        }
        self.read(ids).await
    }

    async fn beginning(&self, prefix: &str) -> Result<Vec<ActionId>, SourceError> {
        self.ids_beginning(prefix).await
    }

    async fn submit(&self, batch: &SubmissionBatch, key: &str) -> Result<Outcomes, SourceError> {
        self.send(batch, key).await
    }

    async fn settle(
        &self,
        id: &ActionId,
        finding: Resolution,
        reason: Option<String>,
    ) -> Result<Resolved, SourceError> {
        self.tell(id, finding, reason).await
    }

    async fn tools(&self) -> Result<Vec<KnownTool>, SourceError> {
        self.learn_tools().await
    }

    fn watch(&self) -> Option<BoxStream<'static, Signal>> {
        match self.dialect {
            Dialect::Gate => Some(watch::signals(self.http.clone(), self.path("/events", &[]), self.stream)),
            Dialect::Praxiom => {
                let HintsAt { path, count_at } = self.hints.clone()?;
                Some(hints::signals(self.http.clone(), path, Limits { pulse: None, ..self.stream }, count_at))
            }
        }
    }
}

impl PendingActions {
    fn me(&self) -> Me {
        self.me.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What its list holds: what a human has to do something about.
    fn lists(&self, status: &Status) -> bool {
        status.is_pending() || (self.dialect == Dialect::Gate && *status == Status::Unknown)
    }

    fn has_changes(&self) -> bool {
        self.dialect == Dialect::Gate && self.has_changes.load(Ordering::Relaxed)
    }

    /// Asks the gate who we are. It is no condition for reading: without an answer, what was known stays.
    async fn learn_me(&self) {
        if self.dialect == Dialect::Gate
            && let Err(error) = self.ask_me().await
        {
            tracing::debug!(%error, "a gate does not say who this reviewer is");
        }
    }

    async fn ask_me(&self) -> Result<(), SourceError> {
        let reply = self.ask("/api/workspaces".to_owned(), GET_LIMIT).await?;
        if reply.status >= 500 {
            return Err(answer::refusal(&reply));
        }
        if let Some(me) = wire::me(&reply.text, self.workspace.as_deref()).filter(|_| reply.status == 200) {
            *self.me.lock().unwrap_or_else(PoisonError::into_inner) = me;
        }
        self.asked_me.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// A path under the collection, with the workspace and more in its query.
    fn path(&self, place: &str, query: &[(&str, &str)]) -> String {
        let workspace = self.workspace.as_deref().map(|workspace| ("workspace_id", workspace));
        let pairs: Vec<_> = workspace.into_iter().chain(query.iter().copied()).collect();
        format!("{ROOT}{place}{}", url::query(&pairs))
    }

    async fn ask(&self, path: String, limit: Duration) -> Result<Reply, SourceError> {
        let ask = Ask { path, body: None, key: None, limit };
        self.http.ask(&ask).await.map_err(answer::none)
    }

    async fn post(&self, path: String, body: String, key: Option<String>) -> Result<Reply, SourceError> {
        let ask = Ask { path, body: Some(body), key, limit: LONG_LIMIT };
        self.http.ask(&ask).await.map_err(answer::none)
    }
}
