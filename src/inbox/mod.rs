//! What a reviewer does, for every screen: reads several sources as one, watches, submits, follows, reconciles. The terminal and
//! the command line both use it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;

use crate::contract::time;
use crate::domain::{
    ActionId, ActionKey, Capabilities, Check, ContextEntry, Entry, Flows, FlowsAsked, Followed, KeptMinute,
    Minute, Outstanding, PendingAction, Records, Report, Resolution, Resolved, Revision, Risks, Row,
    SourceName, Staged, Status, Submission, SubmissionId, Timestamp, Untrusted,
};
use crate::journal::{Journal, Learned, Restored, SubmissionRecord, Write};
use crate::sources::{Source, SourceError};

mod decision_history;
mod event;
pub mod figures;
pub mod filter;
mod follow;
mod list;
mod lost;
mod lost_decisions;
pub mod notices;
pub mod notify;
mod problem;
mod reconcile;
mod report_json;
mod resolve_unknown;
pub mod shift;
mod submit;
#[cfg(test)]
mod tests;
mod timeouts;
mod tools;
mod watch;

pub use decision_history::{History, Listing, Next, SentHere};
pub use event::{Connection, Event, EventKind};
pub use lost::stand_in;
pub use problem::Problem;
pub use report_json::{ReportJson, outcome_words, settled_as};
pub(crate) use timeouts::in_time;
pub use tools::Tool;

/// All sources and the journal, as one. Cloning is cheap: every clone is the same inbox.
#[derive(Clone, Debug)]
pub struct Inbox {
    sources: Arc<[Arc<dyn Source>]>,
    journal: Journal,
    reviewer: Option<Arc<str>>,
    login: Option<Arc<str>>,
    pace: Pace,
    tools: Arc<tools::Tools>,
    nameless: Arc<list::RowsWithoutId>,
    misses: Arc<watch::SyncFailures>,
    risks: Arc<HashMap<SourceName, Risks>>,
}

/// Whoever prints or shows waits so long for the other sources once one has answered.
pub(crate) const GRACE: Duration = Duration::from_secs(5);

/// How often, and for how long.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// Between two looks at a source that pushes nothing, or whose stream is down.
    poll: Duration,
    /// Between two looks at a source whose stream stands: events are hints, and one may be lost.
    safety: Duration,
    /// Before each further look at a decision that was lost sight of.
    look: [Duration; 3],
    /// The first and the longest wait between two looks at an approved action.
    follow: (Duration, Duration),
    /// For so long a request that was lost sight of may still be on its way.
    in_flight: Duration,
    /// The clock on the wall.
    clock: fn() -> Timestamp,
}

impl Pace {
    const fn new(poll: Duration) -> Self {
        Self {
            poll,
            safety: Duration::from_mins(1),
            look: [Duration::ZERO, Duration::from_secs(1), Duration::from_secs(2)],
            follow: (Duration::from_millis(500), Duration::from_secs(5)),
            in_flight: Duration::from_mins(2),
            clock: time::now,
        }
    }
}

/// What a sync brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Synced {
    pub source: SourceName,
    /// Who decides there, as far as it told: the name that it will write down.
    pub subject: Option<Untrusted>,
    pub rows: Rows,
    /// The next sync's `since`.
    pub revision: Option<Revision>,
    /// Items that could not be read; each is shown, none hides another.
    pub unreadable: Vec<Untrusted>,
    pub at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rows {
    /// Everything that is pending or waits to be settled: what is not in it is over.
    All(Vec<Entry>),
    /// Rows as they are now, settled ones too, and keys that are gone altogether.
    Changes { entries: Vec<Entry>, gone: Vec<ActionKey> },
}

/// A submission that was open, after another look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reconciled {
    /// All of it, with what is known now.
    pub report: Report,
    /// The lines that nobody was told of before. The others were acted on once, and must not be again.
    pub learnt: Vec<ActionKey>,
    pub begun_at: Timestamp,
    /// When what is still open is read again; `None` when nothing is.
    pub next_look: Option<Timestamp>,
}

impl Inbox {
    /// Opens no connection yet. `poll` is how often a source is asked where it pushes nothing, or while its stream is down;
    /// `reviewer` is a name for the journal, whatever the sources say.
    pub fn open(
        sources: Vec<Arc<dyn Source>>,
        journal: Journal,
        poll: Duration,
        reviewer: Option<String>,
    ) -> Self {
        let reviewer = reviewer.map(Arc::from);
        let (pace, tools, nameless) = (Pace::new(poll), Arc::default(), Arc::default());
        let misses = Arc::new(watch::SyncFailures::of(&sources));
        let patient = |source| timeouts::WithTimeouts::over(source, timeouts::Limits::USUAL);
        let sources: Vec<_> = sources.into_iter().map(patient).collect();
        let (sources, risks, login) = (sources.into(), Arc::default(), None);
        Self { sources, journal, reviewer, login, pace, tools, nameless, misses, risks }
    }

    /// No source is waited for longer than this.
    #[cfg(test)]
    pub(crate) fn in_a_hurry(self, limit: Duration) -> Self {
        let hurried = |source: &Arc<dyn Source>| {
            timeouts::WithTimeouts::over(Arc::clone(source), timeouts::Limits::all(limit))
        };
        Self { sources: self.sources.iter().map(hurried).collect(), ..self }
    }

    /// A name for the journal where neither the configuration nor the source has one; receipts name it in any case.
    #[must_use]
    pub fn or_login(self, login: Option<String>) -> Self {
        let journal = self.journal.signed_by(login.as_deref());
        Self { login: login.map(Arc::from), journal, ..self }
    }

    /// Starts watching every source; events come until the receiver is dropped. Bounded: a flood presses back.
    ///
    /// Every source begins with `Connecting` and `Changed`; after that, `Changed` comes whenever it is time to look. Needs a
    /// tokio runtime.
    pub fn watch(&self) -> mpsc::Receiver<Event> {
        watch::start(&self.sources, &self.misses, self.pace)
    }

    /// What is pending and what waits to be settled, or what changed since. After a failure, whoever watches is told `Changed`
    /// within seconds.
    pub async fn sync(&self, source: &SourceName, since: Option<Revision>) -> Result<Synced, Problem> {
        let answer = list::sync(self, self.source(source)?, since).await;
        self.misses.note(source, answer.is_err());
        answer
    }

    /// Actions in full, each with its key, in the order of the keys. What could not be had is a problem beside the others.
    pub async fn load(&self, keys: &[ActionKey]) -> Vec<(ActionKey, Result<PendingAction, Problem>)> {
        list::load(self, keys).await
    }

    /// Ids at a source that begin so, in their order; of many, some. Where the source cannot look them up, those are known that it
    /// lists and those that were decided from here.
    pub async fn beginning(&self, source: &SourceName, prefix: &str) -> Result<Vec<ActionId>, Problem> {
        list::beginning(self, self.source(source)?, prefix).await
    }

    /// What the source knows of a tool; `None` where it tells nothing. Asked for at most once a minute a source.
    pub async fn tool(&self, source: &SourceName, name: &Untrusted) -> Result<Option<Arc<Tool>>, Problem> {
        tools::tool(self, source, name).await
    }

    /// Sends a submission once: journal first, then the sources, then the journal again.
    ///
    /// `left_pending` is what stays undecided in its batches, for the report. An error means that nothing was sent. Once
    /// begun it goes on to its end, also when nobody waits for the report any more.
    pub async fn submit(&self, submission: Submission, left_pending: u64) -> Result<Report, Problem> {
        submit::submit(self, submission, left_pending, None).await
    }

    /// The same; while some source lets wait, a report of the lines that are known by then is told. They do not change any more.
    pub async fn submit_telling(
        &self,
        submission: Submission,
        left_pending: u64,
        told: mpsc::Sender<Report>,
    ) -> Result<Report, Problem> {
        submit::submit(self, submission, left_pending, Some(told)).await
    }

    /// Who decides, for the journal: the configured name, else what the sources of this submission call the token's owner, else
    /// the login name.
    fn reviewer_of(&self, submission: &Submission) -> Option<String> {
        if let Some(name) = &self.reviewer {
            return Some(name.to_string());
        }
        let names = submission.batches().iter().filter_map(|batch| {
            let told = self.source(batch.source()).ok()?.subject();
            told.map(|name| name.as_raw().to_owned()).or_else(|| self.login.as_deref().map(str::to_owned))
        });
        let mut names: Vec<String> = names.collect();
        names.sort();
        names.dedup();
        Some(names.join(", ")).filter(|names| !names.is_empty())
    }

    /// Writes down what was confirmed and may still be recalled. Nothing is sent: [`Inbox::submit`] does that, or
    /// [`Inbox::recall`] forgets it, or this run ends and it was never sent.
    pub async fn hold(&self, submission: &Submission, left_pending: u64) -> Result<(), Problem> {
        let reviewer = self.reviewer_of(submission);
        self.journal.hold(submission, left_pending, reviewer.as_deref()).await.map_err(Problem::from)
    }

    /// Forgets what is held. What is being sent already goes on.
    pub async fn recall(&self, id: &SubmissionId) -> Result<(), Problem> {
        self.journal.recall(id).await.map_err(Problem::from)
    }

    /// Follows decided actions until they are executed, failed or final otherwise, or wait for a decision again; every change is
    /// sent. Ends when nothing more is to come of any, when nobody listens, or after `limit`.
    pub async fn follow(&self, keys: Vec<ActionKey>, limit: Duration, changes: mpsc::Sender<Followed>) {
        follow::follow(self, keys, limit, changes).await;
    }

    /// Reads once where these approved actions stand by now, for the journal.
    pub async fn look_at(&self, keys: &[ActionKey]) -> Result<(), Problem> {
        follow::look(self, keys).await
    }

    /// How the approved actions of a report stand, where the very answer told it and the source may never tell it again. It is in
    /// the journal by then; nothing is asked.
    pub fn ended(&self, report: &Report) -> Vec<Followed> {
        follow::ended(self, report)
    }

    /// Says once what became of an action that is `unknown` at its source, or of a decision from here that was lost sight of:
    /// that one is written into the journal, and the source is told nothing. An error means that nothing changed.
    pub async fn settle(
        &self,
        key: &ActionKey,
        finding: Resolution,
        reason: Option<String>,
    ) -> Result<Resolved, Problem> {
        resolve_unknown::settle(self, key, finding, reason).await
    }

    /// Settles by reading what a crash, or a lost connection of this run, left open. Nothing is sent. Returns a report for
    /// every submission that was open, and which of its lines are news.
    ///
    /// A `Failed` line that is news is a decision that never landed: [`Inbox::take_back`] gives it back to the draft.
    pub async fn reconcile(&self) -> Result<Vec<Reconciled>, Problem> {
        reconcile::reconcile(self).await
    }

    /// Settles what can be settled by reading, and tells nobody: for commands that only look. Returns when to look again; `None`
    /// when nothing is open. What a run told nobody stays news for [`Inbox::reconcile`].
    pub async fn settle_open(&self) -> Result<Option<Timestamp>, Problem> {
        reconcile::settle_open(self).await
    }

    /// Decisions whose outcome nobody knows, as rows, by the journal: also where the source has no row of them any more.
    pub async fn lost(&self) -> Result<Vec<Entry>, Problem> {
        lost::lost(self).await
    }

    /// Those of these decisions of a submission that failed, as they were staged, to be staged again with `Draft::stage`. A
    /// decision that is staged already should be left as it is.
    pub async fn take_back(
        &self,
        id: &SubmissionId,
        keys: &[ActionKey],
    ) -> Result<Vec<(ActionKey, Staged)>, Problem> {
        reconcile::take_back(self, id, keys).await
    }

    /// The newest submissions with what became of them, newest first.
    pub async fn log(&self, limit: u32) -> Result<Vec<SubmissionRecord>, Problem> {
        self.journal.log(limit).await.map_err(Problem::from)
    }

    /// What was sent from here, newest first: `limit` submissions after the first `skip`.
    pub async fn decided(&self, skip: u32, limit: u32) -> Result<Vec<SubmissionRecord>, Problem> {
        decision_history::decided(self, skip, limit).await
    }

    /// A page of the actions in these states, of all sources, newest first. What could not be read is told beside it. `next`
    /// is that of the page before, for the same states.
    pub async fn listed(&self, statuses: &[Status], next: Option<Next>) -> Listing {
        decision_history::listed(self, None, statuses, next).await
    }

    /// The same of these sources alone.
    pub async fn listed_of(
        &self,
        sources: &[SourceName],
        statuses: &[Status],
        next: Option<Next>,
    ) -> Listing {
        decision_history::listed(self, Some(sources), statuses, next).await
    }

    /// What happened to one action. An error means that not even the journal could be read.
    pub async fn history(&self, key: &ActionKey) -> Result<History, Problem> {
        decision_history::history(self, key).await
    }

    /// What the source knows around an action, for the Context tab.
    pub async fn context(&self, key: &ActionKey) -> Result<Vec<ContextEntry>, Problem> {
        let source = self.source(&key.source)?;
        source.context(&key.id).await.map_err(|error| Problem::of(&key.source, &error))
    }

    /// How actions came and went at a source, and who decided; `None` where it does not count by itself.
    pub async fn flows(&self, source: &SourceName, asked: &FlowsAsked) -> Result<Option<Flows>, Problem> {
        let source = self.source(source)?;
        if !source.records().flows {
            return Ok(None);
        }
        match source.flows(asked).await {
            // That turned out by asking.
            Err(SourceError::NotOffered) => Ok(None),
            told => told.map(Some).map_err(|error| Problem::of(source.name(), &error)),
        }
    }

    /// How much waits at a source, as it counts itself; `None` where it does not count.
    pub async fn outstanding(&self, source: &SourceName) -> Result<Option<Outstanding>, Problem> {
        match self.source(source)?.outstanding().await {
            Err(SourceError::NotOffered) => Ok(None),
            Err(error) => Err(Problem::of(source, &error)),
            Ok(counted) => Ok(Some(match self.risks.get(source) {
                Some(risks) => counted.raised(risks),
                None => counted,
            })),
        }
    }

    /// Looks every source over, all at once; in configured order. Only reads.
    pub async fn check(&self) -> Vec<(SourceName, Vec<Check>)> {
        let looks = self.sources.iter().map(|source| async { (source.name().clone(), source.check().await) });
        futures_util::future::join_all(looks).await
    }

    /// What a source can tell of actions that are over; nothing when it is not configured any more.
    pub fn records(&self, source: &SourceName) -> Records {
        decision_history::records(self, source)
    }

    /// Minutes of the lead's figures that were kept since one; at most 48 hours back.
    pub async fn kept_minutes(&self, since: Minute) -> Result<Vec<KeptMinute>, Problem> {
        self.journal.kept_minutes(since).await.map_err(Problem::from)
    }

    /// Keeps minutes of the lead's figures for the next start.
    pub async fn keep_minutes(&self, minutes: &[KeptMinute]) -> Result<(), Problem> {
        self.journal.keep_minutes(minutes).await.map_err(Problem::from)
    }

    /// What the journal knows from before: the draft of an inbox that is gone, or nothing when another one still works at
    /// its own.
    pub async fn restore(&self) -> Result<Restored, Problem> {
        self.journal.restore().await.map_err(Problem::from)
    }

    /// Where it is kept which rules could not deliver their last notice.
    pub fn undelivered(&self) -> notify::Undelivered {
        notify::Undelivered::beside(self.journal.path())
    }

    /// Keeps what a newcomer learned. When that cannot be, some hints are shown again.
    pub async fn learn(&self, learned: Learned) {
        let journal = self.journal.clone();
        let kept = tokio::task::spawn_blocking(move || journal.learn(&learned)).await;
        if let Ok(Err(error)) = kept {
            tracing::debug!(%error, "cannot keep which hints are known");
        }
    }

    /// Remembers at once; returns when it is on disk.
    pub async fn save(&self, writes: Vec<Write>) -> Result<(), Problem> {
        self.journal.save(&writes).await.map_err(Problem::from)
    }

    /// What may be done with an action; nothing when its source is not configured any more.
    pub fn capabilities(&self, source: &SourceName, row: &Row) -> Capabilities {
        self.source(source).map_or(Capabilities::READ_ONLY, |source| source.capabilities(row))
    }

    /// Closes the journal, once what is under way is on disk. After it, only what needs no journal works.
    pub async fn close(&self) {
        self.journal.close().await;
    }

    /// The sources' names, in configured order.
    pub fn source_names(&self) -> Vec<SourceName> {
        self.sources.iter().map(|source| source.name().clone()).collect()
    }

    fn source(&self, name: &SourceName) -> Result<&Arc<dyn Source>, Problem> {
        let found = self.sources.iter().find(|source| source.name() == name);
        found.ok_or_else(|| Problem {
            source: Some(name.clone()),
            what: "is not configured any more".to_owned(),
            why: None,
        })
    }
}
