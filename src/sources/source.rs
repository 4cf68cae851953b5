//! The traits of a source: its core, and the abilities that only some kinds have.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use tokio::sync::mpsc;

use super::SourceError;
use crate::contract::action::Unreadable;
use crate::domain::{
    ActionId, Briefing, Capabilities, Check, Claim, ContextEntry, Decision, Flows, FlowsAsked, HistoryEvent,
    KnownTool, ListQuery, Outcome, Outstanding, PendingAction, Person, Records, Resolution, Resolved,
    Revision, Row, SourceName, SubmissionBatch, Timestamp, Untrusted,
};

pub type Outcomes = Vec<(ActionId, Outcome)>;

pub type Full = Result<PendingAction, Unreadable>;

/// Properties of a source that need no request to its backend.
pub trait SourceInfo: fmt::Debug + Send + Sync {
    fn name(&self) -> &SourceName;

    /// Returns the subject that `resolved_by` will name for our decisions, if the backend has told it.
    fn subject(&self) -> Option<Untrusted> {
        None
    }

    /// Returns whether `resolved_by` is authenticated, so that our subject there proves that we decided.
    fn subject_is_proof(&self) -> bool {
        true
    }

    /// Returns the claims of the last list; `None` before the first list, and if the source keeps no claims.
    fn claims(&self) -> Option<Vec<Claim>> {
        None
    }

    fn least_poll(&self) -> Duration {
        Duration::ZERO
    }

    /// Returns the maximum number of decisions per [`Source::submit`]. Their outcomes are on disk before the next are
    /// sent.
    fn at_once(&self) -> usize {
        usize::MAX
    }

    /// Returns whether it takes one decision per request. Decisions then go in the order of sending, regardless of
    /// batches.
    fn one_by_one(&self) -> bool {
        self.at_once() == 1
    }

    /// Returns whether it decides the batches of a checkpoint in one request.
    fn decides_checkpoints(&self) -> bool {
        false
    }

    /// Returns the extra time for deciding one action, because an approved call runs before the answer.
    fn runs_for(&self) -> Duration {
        Duration::ZERO
    }

    /// Returns whether this decision, sent under this key, put the action into its current state, for a decision whose
    /// answer was lost. `None` if the backend has no proof, or not yet.
    fn ours(&self, _: &PendingAction, _: &Decision, _: &str) -> Option<bool> {
        None
    }

    /// Returns whether a success proves that no earlier decision on the action landed, because the backend refuses a
    /// second.
    fn success_disproves_earlier(&self) -> bool {
        false
    }

    /// Returns the action as our own decision left it, for a backend that runs an approved call inside the request and
    /// may not report it again.
    fn ended(&self, _: &ActionId) -> Option<PendingAction> {
        None
    }

    /// Returns the events that the backend pushes; `None` if it pushes nothing. The stream ends only after
    /// [`Connection::Refused`] or [`Connection::Stopped`], or silently if the backend turns out to push nothing.
    fn watch(&self) -> Option<BoxStream<'static, EventKind>> {
        None
    }

    /// Returns whether [`Self::watch`] yields an event as soon as its stream is open.
    fn pushes_at_once(&self) -> bool {
        true
    }
}

/// A backend that holds pending actions and takes decisions.
///
/// Implementations only translate. Retries, the journal and counts belong to `inbox`. Every row carries its
/// capabilities.
#[async_trait]
pub trait Source: SourceInfo {
    /// Lists pending actions and those that wait to be resolved. With a revision, lists only what changed since, if the
    /// backend can tell.
    async fn sync(&self, since: Option<Revision>) -> Result<Synced, SourceError>;

    /// Lists everything page by page, like [`Self::sync`] without a revision; `None` if the list comes in one piece. If
    /// an action is on two pages, the later one counts.
    async fn list_in_pages(&self, _: mpsc::Sender<Vec<Row>>) -> Result<Option<PagesEnd>, SourceError> {
        Ok(None)
    }

    /// Reads actions in full, in any order. Leaves out unknown ids. An unreadable action is an error among the others.
    async fn get(&self, ids: &[ActionId]) -> Result<Vec<Full>, SourceError>;

    /// Sends one batch, once, under an idempotency key. `Ok` has an outcome for every item.
    ///
    /// After `Unreachable` or `Protocol`, decisions may have landed.
    async fn submit(&self, batch: &SubmissionBatch, key: &str) -> Result<Outcomes, SourceError>;

    fn abilities(&self) -> Abilities<'_> {
        Abilities::default()
    }

    /// Runs the health checks before the list. They only read. An error ends the health check.
    async fn checks_before(&self) -> Result<Vec<Check>, Vec<Check>> {
        Ok(Vec::new())
    }

    /// Checks the list, for a kind with its own words for it.
    fn check_list(&self, _: &Result<Synced, SourceError>) -> Option<Check> {
        None
    }

    /// Runs the health checks after the list. They only read.
    async fn checks_after(&self, _: &Result<Synced, SourceError>) -> Vec<Check> {
        Vec::new()
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Abilities<'a> {
    pub context: Option<&'a dyn Context>,
    pub history: Option<&'a dyn History>,
    pub timeline: Option<&'a dyn Timeline>,
    pub figures: Option<&'a dyn Figures>,
    pub lookup: Option<&'a dyn Lookup>,
    pub resolve_unknown: Option<&'a dyn ResolveUnknown>,
    pub take_back: Option<&'a dyn TakeBack>,
    pub claims: Option<&'a dyn Claims>,
}

impl Abilities<'_> {
    pub const fn records(&self) -> Records {
        let (lists, timeline) = (self.history.is_some(), self.timeline.is_some());
        Records { lists, timeline, flows: self.figures.is_some() }
    }
}

#[async_trait]
pub trait Context: fmt::Debug + Send + Sync {
    /// Returns facts around an action for the Context tab: its run, earlier steps, events. `listed` holds the action
    /// and the rows that share its batch, mission or session.
    async fn context(&self, id: &ActionId, listed: &[Row]) -> Result<Vec<ContextEntry>, SourceError>;
}

#[async_trait]
pub trait History: fmt::Debug + Send + Sync {
    /// Lists one page of the actions in these states, newest first.
    async fn listed(&self, query: &ListQuery) -> Result<Listed, SourceError>;
}

#[async_trait]
pub trait Timeline: fmt::Debug + Send + Sync {
    async fn timeline(&self, id: &ActionId) -> Result<Vec<HistoryEvent>, SourceError>;
}

#[async_trait]
pub trait Figures: fmt::Debug + Send + Sync {
    /// Returns how actions came and were settled, and who decided if asked for.
    async fn flows(&self, asked: &FlowsAsked) -> Result<Flows, SourceError>;

    /// Returns counts of what waits, without reading the list.
    async fn outstanding(&self) -> Result<Outstanding, SourceError>;
}

#[async_trait]
pub trait Lookup: fmt::Debug + Send + Sync {
    async fn tools(&self) -> Result<Vec<KnownTool>, SourceError>;

    /// Returns ids that begin with `prefix`, settled actions too; not all if there are many.
    async fn beginning(&self, prefix: &str) -> Result<Vec<ActionId>, SourceError>;

    /// Returns the token's bearer; `None` if the backend does not say.
    async fn whoami(&self) -> Result<Option<Identity>, SourceError>;

    async fn people(&self) -> Result<Vec<Person>, SourceError>;
}

/// The bearer of a token, as the backend names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub subject: Untrusted,
    pub name: Option<Untrusted>,
    pub groups: Vec<Untrusted>,
    pub workspace: Option<Untrusted>,
    pub scopes: Vec<Untrusted>,
    /// `None` if it does not expire, or if the backend does not say.
    pub expires_at: Option<Timestamp>,
}

#[async_trait]
pub trait ResolveUnknown: fmt::Debug + Send + Sync {
    /// Resolves an `unknown` action, once. Never returns [`Resolved::Lost`]: a lost answer is an error here, and the
    /// change may have landed.
    async fn resolve(
        &self,
        id: &ActionId,
        finding: Resolution,
        reason: Option<String>,
    ) -> Result<Resolved, SourceError>;
}

/// For actions that more than one person must approve.
#[async_trait]
pub trait TakeBack: fmt::Debug + Send + Sync {
    /// Takes back this reviewer's own approval, once, while approvals are missing.
    async fn take_back(&self, id: &ActionId) -> Result<(), SourceError>;
}

#[async_trait]
pub trait Claims: fmt::Debug + Send + Sync {
    /// Claims the action, or renews our claim. Returns the claim that holds, somebody else's if they were first.
    async fn claim(&self, id: &ActionId) -> Result<Claim, SourceError>;

    async fn end_claim(&self, id: &ActionId) -> Result<(), SourceError>;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Synced {
    /// Everything that is pending or waits to be resolved.
    All { rows: Vec<Row>, unreadable: Vec<Unreadable>, revision: Option<Revision> },
    /// Changed rows as they are now, also settled ones, and purged ids.
    Changes { rows: Vec<Row>, unreadable: Vec<Unreadable>, purged: Vec<ActionId>, revision: Revision },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PagesEnd {
    pub unreadable: Vec<Unreadable>,
    /// Revision of the first page, so that changes during paging are requested again.
    pub revision: Option<Revision>,
}

impl Synced {
    pub(super) fn all(actions: impl IntoIterator<Item = Full>) -> Self {
        let (mut rows, mut unreadable) = (Vec::new(), Vec::new());
        for action in actions {
            match action {
                Ok(action) => rows.push(action.row),
                Err(bad) => unreadable.push(bad),
            }
        }
        Self::All { rows, unreadable, revision: None }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listed {
    pub rows: Vec<Row>,
    pub unreadable: Vec<Unreadable>,
    /// Cursor of the next page; `None` at the end.
    pub next: Option<String>,
}

/// Sets the capabilities of each row. For unreadable items they depend on the stand-in row.
pub(super) fn permit<'a>(
    rows: impl IntoIterator<Item = &'a mut Row>,
    unreadable: impl IntoIterator<Item = &'a mut Unreadable>,
    can: impl Fn(&Row) -> Capabilities,
) {
    rows.into_iter().for_each(|row| row.can = can(row));
    unreadable.into_iter().for_each(|bad| bad.can = can(&bad.stand_in().row));
}

/// A pushed event. Events are only hints; the list decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventKind {
    Connection(Connection),
    /// Counts were pushed. The rows need a sync.
    Briefing(Briefing),
    /// Something changed, or may have. The rows need a sync.
    Changed,
    Tick,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Connection {
    #[default]
    Connecting,
    /// Changes are pushed.
    Live,
    /// The source is polled, because it pushes nothing.
    Polling,
    /// The stream is down and reopens after the wait. Meanwhile the source is polled.
    Retrying { why: Untrusted, retry_in: Duration },
    /// The source rejects the token. It is polled until placet restarts.
    Refused { why: Untrusted },
    /// The stream does not reopen until placet restarts. The source is polled instead.
    Stopped { why: Untrusted },
}

impl Connection {
    /// Returns whether nothing is pushed until placet restarts.
    pub const fn is_over(&self) -> bool {
        matches!(self, Self::Refused { .. } | Self::Stopped { .. })
    }
}
