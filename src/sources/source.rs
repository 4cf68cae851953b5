//! What a kind of source is: the core traits, and the abilities that only some kinds have.

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

/// What became of each decision.
pub type Outcomes = Vec<(ActionId, Outcome)>;

/// An action in full, or what came in its place.
pub type Full = Result<PendingAction, Unreadable>;

/// What a source says by itself: its backend is not asked.
pub trait SourceInfo: fmt::Debug + Send + Sync {
    fn name(&self) -> &SourceName;

    /// Who decides here, as far as the backend told: the subject that `resolved_by` will name.
    fn subject(&self) -> Option<Untrusted> {
        None
    }

    /// Claims as the last list had them; `None` before the first list, and if the source keeps no claims.
    fn claims(&self) -> Option<Vec<Claim>> {
        None
    }

    /// It does not want to be asked for its list more often than this.
    fn least_poll(&self) -> Duration {
        Duration::ZERO
    }

    /// So many decisions go in one [`Source::submit`]: what became of them is on disk before the next are sent.
    fn at_once(&self) -> usize {
        usize::MAX
    }

    /// It takes one decision a request: they go in the order of sending, whatever batches they are of.
    fn one_by_one(&self) -> bool {
        self.at_once() == 1
    }

    /// It decides the batches of a checkpoint in one request.
    fn decides_checkpoints(&self) -> bool {
        false
    }

    /// Deciding one action may take so much longer than a request does elsewhere, because what is approved runs before the answer
    /// comes.
    fn runs_for(&self) -> Duration {
        Duration::ZERO
    }

    /// Whether this decision, sent under this key, made the action what it is now, where the backend keeps a proof of it: for a
    /// decision that was lost sight of. `None`: it cannot be told, or not yet.
    fn ours(&self, _: &PendingAction, _: &Decision, _: &str) -> Option<bool> {
        None
    }

    /// A success proves that no earlier decision on the action landed, because the backend refuses a second one.
    fn success_disproves_earlier(&self) -> bool {
        false
    }

    /// An action as the answer to our own decision left it, where the backend may never tell it again: what was approved there
    /// runs inside of the request.
    fn ended(&self, _: &ActionId) -> Option<PendingAction> {
        None
    }

    /// What the backend pushes, for ever: the stream ends only after [`Connection::Refused`] or [`Connection::Stopped`]. `None` where it
    /// pushes nothing; where that turns out only by asking, the stream ends without a word.
    fn watch(&self) -> Option<BoxStream<'static, EventKind>> {
        None
    }

    /// Whether [`Self::watch`] brings an event as soon as its stream is open.
    fn pushes_at_once(&self) -> bool {
        true
    }
}

/// A backend that holds pending actions and takes decisions.
///
/// Implementations translate; they do not retry, journal or count. Those belong to `inbox`. Every row comes with what may be
/// done with it.
#[async_trait]
pub trait Source: SourceInfo {
    /// What is pending, and what waits to be settled; with a revision, only what changed since, where the backend can tell.
    async fn sync(&self, since: Option<Revision>) -> Result<Synced, SourceError>;

    /// Everything, as [`Self::sync`] without a revision has it, page by page as it comes; `None` where it comes in one piece. An
    /// action that moves on meanwhile may be on two pages: the later one counts.
    async fn list_in_pages(&self, _: mpsc::Sender<Vec<Row>>) -> Result<Option<PagesEnd>, SourceError> {
        Ok(None)
    }

    /// Actions in full, in any order. An id the backend does not know is left out; an action that cannot be read is an error
    /// beside the others.
    async fn get(&self, ids: &[ActionId]) -> Result<Vec<Full>, SourceError>;

    /// Sends one batch, once, under an idempotency key. `Ok` says what became of every item.
    ///
    /// Losing sight of the backend (`Unreachable`, `Protocol`) does not mean that nothing landed.
    async fn submit(&self, batch: &SubmissionBatch, key: &str) -> Result<Outcomes, SourceError>;

    /// What it can do beside that.
    fn abilities(&self) -> Abilities<'_> {
        Abilities::default()
    }

    /// Steps of a health check before the list is asked for. An error: nothing more can be asked. They only read.
    async fn checks_before(&self) -> Result<Vec<Check>, Vec<Check>> {
        Ok(Vec::new())
    }

    /// The check of the list, where this kind has words of its own for it.
    fn check_list(&self, _: &Result<Synced, SourceError>) -> Option<Check> {
        None
    }

    /// Steps of a health check after the list. They only read.
    async fn checks_after(&self, _: &Result<Synced, SourceError>) -> Vec<Check> {
        Vec::new()
    }
}

/// What only some sources can do.
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
    /// What can be told of actions that are over.
    pub const fn records(&self) -> Records {
        let (lists, timeline) = (self.history.is_some(), self.timeline.is_some());
        Records { lists, timeline, flows: self.figures.is_some() }
    }
}

#[async_trait]
pub trait Context: fmt::Debug + Send + Sync {
    /// What the backend knows around one action, for the Context tab: its run, earlier steps, events, facts. `listed` is what the
    /// caller has of its list: the action and what shares its batch, its mission or its session.
    async fn context(&self, id: &ActionId, listed: &[Row]) -> Result<Vec<ContextEntry>, SourceError>;
}

#[async_trait]
pub trait History: fmt::Debug + Send + Sync {
    /// One page of the actions in these states, newest first.
    async fn listed(&self, query: &ListQuery) -> Result<Listed, SourceError>;
}

#[async_trait]
pub trait Timeline: fmt::Debug + Send + Sync {
    /// What happened to one action, in order.
    async fn timeline(&self, id: &ActionId) -> Result<Vec<HistoryEvent>, SourceError>;
}

/// Counts that the backend keeps.
#[async_trait]
pub trait Figures: fmt::Debug + Send + Sync {
    /// How actions came and went, and who decided where that is asked for.
    async fn flows(&self, asked: &FlowsAsked) -> Result<Flows, SourceError>;

    /// How much waits, so that nobody has to read the list for it.
    async fn outstanding(&self) -> Result<Outstanding, SourceError>;
}

#[async_trait]
pub trait Lookup: fmt::Debug + Send + Sync {
    /// The tools that the backend knows.
    async fn tools(&self) -> Result<Vec<KnownTool>, SourceError>;

    /// Returns ids that begin with `prefix`, settled actions too; not all if there are many.
    async fn beginning(&self, prefix: &str) -> Result<Vec<ActionId>, SourceError>;

    /// Who the token's bearer is. `None` where it is not told.
    async fn whoami(&self) -> Result<Option<Identity>, SourceError>;

    /// Everyone who acts or acted there.
    async fn people(&self) -> Result<Vec<Person>, SourceError>;
}

/// Who a backend takes somebody for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub subject: Untrusted,
    pub name: Option<Untrusted>,
    pub groups: Vec<Untrusted>,
    pub workspace: Option<Untrusted>,
    pub scopes: Vec<Untrusted>,
    /// `None`: not by itself, or nobody says.
    pub expires_at: Option<Timestamp>,
}

#[async_trait]
pub trait ResolveUnknown: fmt::Debug + Send + Sync {
    /// Says what became of an action that is `unknown`, once. `Ok` is never [`Resolved::Lost`]: losing sight of the backend is
    /// an error here, and does not mean that nothing changed.
    async fn resolve(
        &self,
        id: &ActionId,
        finding: Resolution,
        reason: Option<String>,
    ) -> Result<Resolved, SourceError>;
}

/// Where more than one person must approve.
#[async_trait]
pub trait TakeBack: fmt::Debug + Send + Sync {
    /// Takes this reviewer's own approval back, once, while more people must approve.
    async fn take_back(&self, id: &ActionId) -> Result<(), SourceError>;
}

#[async_trait]
pub trait Claims: fmt::Debug + Send + Sync {
    /// Says that we are on it, or still are. Returns whose claim it is then: somebody else's where they were first.
    async fn claim(&self, id: &ActionId) -> Result<Claim, SourceError>;

    /// Ends our claim, if there is one.
    async fn end_claim(&self, id: &ActionId) -> Result<(), SourceError>;
}

/// The answer to a sync.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Synced {
    /// Everything that is pending, or waits to be settled.
    All { rows: Vec<Row>, unreadable: Vec<Unreadable>, revision: Option<Revision> },
    /// What changed: rows as they are now, settled ones too, and ids that were purged.
    Changes { rows: Vec<Row>, unreadable: Vec<Unreadable>, purged: Vec<ActionId>, revision: Revision },
}

/// What is known after the last page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PagesEnd {
    pub unreadable: Vec<Unreadable>,
    /// Of the first page: what changed while paging is asked for again.
    pub revision: Option<Revision>,
}

impl Synced {
    /// A list of actions in full, as rows.
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

/// One page of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listed {
    pub rows: Vec<Row>,
    pub unreadable: Vec<Unreadable>,
    /// For the page after this one; `None` at the end.
    pub next: Option<String>,
}

/// Sets what may be done with each, by its row; a row stands in for what cannot be read.
pub(super) fn permit<'a>(
    rows: impl IntoIterator<Item = &'a mut Row>,
    unreadable: impl IntoIterator<Item = &'a mut Unreadable>,
    can: impl Fn(&Row) -> Capabilities,
) {
    rows.into_iter().for_each(|row| row.can = can(row));
    unreadable.into_iter().for_each(|bad| bad.can = can(&bad.stand_in().row));
}

/// What a source tells by itself. These are hints: the list is the truth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventKind {
    Connection(Connection),
    /// Counts were pushed. Ask for a sync to learn the rows.
    Briefing(Briefing),
    /// Something changed, or it is time to look: ask for a sync.
    Changed,
    /// The source is alive.
    Tick,
}

/// Whether the screen can be trusted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Connection {
    #[default]
    Connecting,
    /// Pushed.
    Live,
    /// Asked every so often, because the source pushes nothing.
    Polling,
    /// The stream is down; it is opened again after the wait, and polled meanwhile.
    Retrying { why: Untrusted, retry_in: Duration },
    /// The source does not take the token; the stream does not come back until placet is started again, and polling goes on.
    Refused { why: Untrusted },
    /// The stream does not come back until placet is started again; the source is polled instead.
    Stopped { why: Untrusted },
}

impl Connection {
    /// Nothing is pushed any more until placet is started again.
    pub const fn is_over(&self) -> bool {
        matches!(self, Self::Refused { .. } | Self::Stopped { .. })
    }
}
