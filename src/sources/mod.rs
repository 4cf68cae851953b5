//! The trait `Source` and its adapters: a folder for each kind of backend, and an arm for it in `with`.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream::BoxStream;

use crate::config::{Auth, SourceConfig, SourceKind, TokenFrom};
use crate::contract::action::Unreadable;
use crate::domain::{
    ActionId, Briefing, Capabilities, Check, ContextEntry, Decision, Flows, FlowsAsked, HistoryEvent,
    KnownTool, ListQuery, Outcome, Outstanding, PendingAction, Records, Resolution, Resolved, Revision, Row,
    SourceName, SubmissionBatch, Untrusted,
};
use crate::net::Bearer;
use crate::net::http::{Http, Scheme, SetupError, Way};

mod agents_api;
mod answer;
mod confused_ai;
mod dendrux;
mod health_check;
mod pending_actions;
mod proposer;
mod send_each;
#[cfg(test)]
pub(crate) mod tests;
mod warden;

pub use health_check::clock;
pub use proposer::{Proposer, TokenOpens};

/// What became of each decision.
pub type Outcomes = Vec<(ActionId, Outcome)>;

/// A backend that holds pending actions and takes decisions.
///
/// Implementations translate; they do not retry, journal or count. Those belong to `inbox`.
#[async_trait]
pub trait Source: fmt::Debug + Send + Sync {
    fn name(&self) -> &SourceName;

    /// Who decides here, as far as the backend told: the subject that `resolved_by` will name.
    fn subject(&self) -> Option<Untrusted> {
        None
    }

    /// What may be done with this very action.
    fn capabilities(&self, row: &Row) -> Capabilities;

    /// What can be told of actions that are over: [`Source::listed`] and [`Source::history`] answer where this says so.
    fn records(&self) -> Records {
        Records::NONE
    }

    /// One page of the actions in these states, newest first. [`SourceError::NotOffered`] where [`Source::records`] says so.
    async fn listed(&self, _: &ListQuery) -> Result<Listed, SourceError> {
        Err(SourceError::NotOffered)
    }

    /// What happened to one action, in order. [`SourceError::NotOffered`] where [`Source::records`] says so.
    async fn history(&self, _: &ActionId) -> Result<Vec<HistoryEvent>, SourceError> {
        Err(SourceError::NotOffered)
    }

    /// How actions came and went there, counted by the backend itself, and who decided where that is asked for.
    /// [`SourceError::NotOffered`] where [`Source::records`] says so.
    async fn flows(&self, _: &FlowsAsked) -> Result<Flows, SourceError> {
        Err(SourceError::NotOffered)
    }

    /// How much waits there, counted by the backend itself, so that nobody has to read the list for it.
    /// [`SourceError::NotOffered`] where it does not count.
    async fn outstanding(&self) -> Result<Outstanding, SourceError> {
        Err(SourceError::NotOffered)
    }

    /// What the backend knows around one action, for the Context tab: its run, earlier steps, events, facts. Asked for when
    /// somebody looks; empty where it tells nothing more than the action itself does.
    async fn context(&self, _: &ActionId) -> Result<Vec<ContextEntry>, SourceError> {
        Ok(Vec::new())
    }

    /// Looks the backend over for `placet doctor`, from its address to the right to decide. Only reads.
    async fn check(&self) -> Vec<Check> {
        vec![health_check::list(self.sync(None).await)]
    }

    /// It does not want to be asked for its list more often than this.
    fn least_poll(&self) -> Duration {
        Duration::ZERO
    }

    /// What is pending, and what waits to be settled; with a revision, only what changed since, where the backend can tell.
    async fn sync(&self, since: Option<Revision>) -> Result<Synced, SourceError>;

    /// Actions in full, in any order. An id the backend does not know is left out; an action that cannot be read is an error
    /// beside the others.
    async fn get(&self, ids: &[ActionId]) -> Result<Vec<Result<PendingAction, Unreadable>>, SourceError>;

    /// Ids that begin so, of everything that the backend keeps; of many, some. [`SourceError::NotOffered`] where it cannot look
    /// them up: its list is then all that is known.
    async fn beginning(&self, _: &str) -> Result<Vec<ActionId>, SourceError> {
        Err(SourceError::NotOffered)
    }

    /// Sends one batch, once, under an idempotency key. `Ok` says what became of every item.
    ///
    /// Losing sight of the backend (`Unreachable`, `Protocol`) does not mean that nothing landed.
    async fn submit(&self, batch: &SubmissionBatch, key: &str) -> Result<Outcomes, SourceError>;

    /// Whether this decision, sent under this key, made the action what it is now, where the backend keeps a proof of it: for a
    /// decision that was lost sight of. `None`: it cannot be told, or not yet.
    fn ours(&self, _: &PendingAction, _: &Decision, _: &str) -> Option<bool> {
        None
    }

    /// So many decisions go in one [`Source::submit`]: what became of them is on disk before the next are sent.
    fn at_once(&self) -> usize {
        usize::MAX
    }

    /// It takes one decision a request: they go in the order of sending, whatever batches they are of.
    fn one_by_one(&self) -> bool {
        self.at_once() == 1
    }

    /// Deciding one action may take so much longer than a request does elsewhere, because what is approved runs before the answer
    /// comes.
    fn runs_for(&self) -> Duration {
        Duration::ZERO
    }

    /// An action as the answer to our own decision left it, where the backend may never tell it again: what was approved there
    /// runs inside of the request. Nothing is asked.
    fn ended(&self, _: &ActionId) -> Option<PendingAction> {
        None
    }

    /// Says what became of an action that is `unknown`, once. `Ok` is never [`Resolved::Lost`]: losing sight of the backend is
    /// an error here, and does not mean that nothing changed. [`SourceError::NotOffered`] where no capability says that it can.
    async fn settle(&self, _: &ActionId, _: Resolution, _: Option<String>) -> Result<Resolved, SourceError> {
        Err(SourceError::NotOffered)
    }

    /// What the backend knows of its tools; empty where it tells nothing.
    async fn tools(&self) -> Result<Vec<KnownTool>, SourceError> {
        Ok(Vec::new())
    }

    /// What the backend pushes, for ever: the stream ends only after [`Signal::Refused`] or [`Signal::Stopped`]. `None` where it
    /// pushes nothing; where that turns out only by asking, the stream ends without a word.
    fn watch(&self) -> Option<BoxStream<'static, Signal>> {
        None
    }
}

/// How long a source waits, and for what.
#[derive(Clone, Copy, Debug)]
struct Patience {
    /// No request takes longer than this, whatever its own limit is.
    request: Duration,
    /// The first and the longest wait before a stream is opened again; `None` is the usual one.
    backoff: Option<(Duration, Duration)>,
}

impl Patience {
    const USUAL: Self = Self { request: Duration::MAX, backoff: None };
}

/// A source cannot be set up as it is configured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    #[error("the source {0} needs a workspace; set `workspace` to the id of the one to watch")]
    NoWorkspace(SourceName),
    #[error("the source {0}: cannot read its ca_file {path}: {2}", path = .1.display())]
    CaFile(SourceName, PathBuf, String),
    #[error("the source {0}: {1}")]
    Setup(SourceName, SetupError),
}

/// The source that a configuration describes. Opens no connection and reads no token yet; a `ca_file` is read.
pub fn open(config: &SourceConfig) -> Result<Arc<dyn Source>, OpenError> {
    with(config, Patience::USUAL)
}

/// The same for a look at it only: no request takes longer than ten seconds, so that what hangs is told by its name.
pub fn open_to_look(config: &SourceConfig) -> Result<Arc<dyn Source>, OpenError> {
    with(config, Patience { request: Duration::from_secs(10), backoff: None })
}

fn with(config: &SourceConfig, patience: Patience) -> Result<Arc<dyn Source>, OpenError> {
    match &config.kind {
        SourceKind::Gate | SourceKind::Praxiom(_) => pending_actions::open(config, patience),
        SourceKind::Warden(_) => warden::open(config, patience),
        SourceKind::Dendrux(_) => dendrux::open(config, patience),
        SourceKind::AgentsApi(_) => agents_api::open(config, patience),
        SourceKind::ConfusedAi => confused_ai::open(config, patience),
    }
}

/// The same for tests that break connections on purpose: no request takes longer than this, and streams come back at once.
#[cfg(test)]
pub(crate) fn open_in_a_hurry(config: &SourceConfig, limit: Duration) -> Result<Arc<dyn Source>, OpenError> {
    let backoff = Some((Duration::from_millis(2), Duration::from_millis(20)));
    with(config, Patience { request: limit, backoff })
}

/// The way to a configured backend.
fn http(config: &SourceConfig, patience: Patience) -> Result<Http, OpenError> {
    let bearer =
        |from: TokenFrom| Bearer::new(Arc::new(move || from.read().map_err(|error| error.to_string())));
    let ca = config.ca_file.as_deref().map(|path| (path, std::fs::read(path)));
    let ca = match ca {
        Some((path, Err(error))) => {
            return Err(OpenError::CaFile(config.name.clone(), path.to_owned(), error.to_string()));
        }
        Some((_, Ok(ca))) => Some(ca),
        None => None,
    };
    let scheme = match &config.auth {
        Auth::Bearer => Scheme::Bearer,
        Auth::Basic { user } => Scheme::Basic(user.clone()),
        Auth::Header { name } => Scheme::Header(name.clone()),
    };
    let way = Way {
        ca: ca.as_deref(),
        env_proxy: config.env_proxy,
        insecure_http: config.insecure_http,
        scheme,
        headers: &config.headers,
        longest: patience.request,
    };
    Http::by(&config.url, config.token.clone().map(bearer), way)
        .map_err(|error| OpenError::Setup(config.name.clone(), error))
}

/// The answer to a sync.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Synced {
    /// Everything that is pending, or waits to be settled.
    All { rows: Vec<Row>, unreadable: Vec<Unreadable>, revision: Option<Revision> },
    /// What changed: rows as they are now, settled ones too, and ids that were purged.
    Changes { rows: Vec<Row>, unreadable: Vec<Unreadable>, purged: Vec<ActionId>, revision: Revision },
}

/// One page of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listed {
    pub rows: Vec<Row>,
    pub unreadable: Vec<Unreadable>,
    /// For the page after this one; `None` at the end.
    pub next: Option<String>,
}

/// What a backend pushes. Signals are hints: the list is the truth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Signal {
    /// The stream stands.
    Up,
    Briefing(Briefing),
    /// Something changed; sync again.
    Changed,
    /// The backend is alive.
    Tick,
    /// The stream broke and is opened again after the wait.
    Down {
        why: Untrusted,
        retry_in: Duration,
    },
    /// The backend does not take the token for a stream, and is not asked again.
    Refused {
        why: Untrusted,
    },
    /// The backend said not to come back.
    Stopped {
        why: Untrusted,
    },
}

/// A request did not end well.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// No connection came about: nothing was sent.
    #[error("cannot be reached")]
    NotSent { why: Untrusted },
    /// No answer; what was sent may or may not have arrived.
    #[error("gave no usable answer")]
    Unreachable { why: Untrusted },
    /// An answer that makes no sense; what was sent may or may not have landed.
    #[error("sent an answer that placet does not understand")]
    Protocol { why: Untrusted },
    #[error("refuses the token: wrong, expired or revoked")]
    Unauthorized,
    #[error("does not allow this with this token")]
    Forbidden { why: Untrusted },
    #[error("asks to wait{}", wait(*.retry_after))]
    RateLimited { retry_after: Option<Duration> },
    /// A refusal with a reason: nothing landed.
    #[error("refused the request")]
    Refused { why: Untrusted },
    #[error("cannot be asked: {0}")]
    Token(String),
    /// This kind of source has no such thing; nothing was asked.
    #[error("does not offer this")]
    NotOffered,
}

impl SourceError {
    /// True when what was sent may have landed all the same.
    pub const fn lost_sight(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::Protocol { .. })
    }

    /// A request that follows would meet the same. A refusal is about what was in this one.
    pub const fn stops_the_rest(&self) -> bool {
        !matches!(self, Self::Refused { .. })
    }

    /// What the other side said, where it said something.
    pub const fn why(&self) -> Option<&Untrusted> {
        match self {
            Self::NotSent { why }
            | Self::Unreachable { why }
            | Self::Protocol { why }
            | Self::Forbidden { why }
            | Self::Refused { why } => Some(why),
            Self::Unauthorized | Self::RateLimited { .. } | Self::Token(_) | Self::NotOffered => None,
        }
    }
}

fn wait(retry_after: Option<Duration>) -> String {
    retry_after.map_or_else(String::new, |wait| format!(" for {} s", wait.as_secs()))
}
