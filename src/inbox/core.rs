//! The inbox itself: its sources, its journal, and what is asked of one of them alone.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::mpsc;

use super::event::Event;
use super::names::Names;
use super::notify;
use super::pace::Pace;
use super::problem::Problem;
use super::timeouts::{Limits, Wait, WithTimeouts};
use super::tools::{Tool, Tools};
use super::watch::{self, SyncFailures};
use crate::domain::{
    Check, Flows, FlowsAsked, KeptMinute, Minute, Outstanding, Person, Records, Risks, Row, SourceName,
    Submission, SubmissionId, Untrusted, Via,
};
use crate::journal::{Journal, KeptFilter, Learned, Restored, SubmissionRecord, Write};
use crate::sources::Source;

/// All sources and the journal, as one. Cloning is cheap: every clone is the same inbox.
#[derive(Clone, Debug)]
pub struct Inbox {
    pub(super) sources: Arc<[WithTimeouts]>,
    pub(super) journal: Journal,
    pub(super) reviewer: Option<Arc<str>>,
    pub(super) login: Option<Arc<str>>,
    pub(super) pace: Pace,
    pub(super) tools: Arc<Tools>,
    pub(super) misses: Arc<SyncFailures>,
    pub(super) risks: Arc<HashMap<SourceName, Risks>>,
    pub(super) names: Arc<Mutex<Names>>,
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
        let (pace, tools) = (Pace::new(poll), Arc::default());
        let timed = sources.into_iter().map(|source| WithTimeouts::over(source, Limits::USUAL));
        let sources: Arc<[WithTimeouts]> = timed.collect();
        let misses = Arc::new(SyncFailures::of(&sources));
        let (risks, names, login) = (Arc::default(), Arc::default(), None);
        Self { sources, journal, reviewer, login, pace, tools, misses, risks, names }
    }

    /// No source is waited for longer than this.
    #[cfg(test)]
    pub(crate) fn in_a_hurry(self, limit: Duration) -> Self {
        Self { sources: self.sources.iter().map(|source| source.in_a_hurry(limit)).collect(), ..self }
    }

    /// A name for the journal where neither the configuration nor the source has one; receipts name it in any case, and how decisions
    /// are made here.
    #[must_use]
    pub fn or_login(self, login: Option<String>, via: Via) -> Self {
        let journal = self.journal.signed_by(login.as_deref(), via);
        Self { login: login.map(Arc::from), journal, ..self }
    }

    /// Starts watching every source; events come until the receiver is dropped. Bounded: a flood presses back.
    ///
    /// Every source begins with `Connecting` and `Changed`; after that, `Changed` comes whenever it is time to look. Needs a
    /// tokio runtime.
    pub fn watch(&self) -> mpsc::Receiver<Event> {
        watch::start(&self.sources, &self.misses, self.pace)
    }

    /// What the configuration knows of the tools of each source.
    #[must_use]
    pub fn with_risks(self, risks: impl IntoIterator<Item = (SourceName, Risks)>) -> Self {
        Self { risks: Arc::new(risks.into_iter().collect()), ..self }
    }

    pub(super) fn raise(&self, source: &SourceName, row: &mut Row) {
        if let Some(risks) = self.risks.get(source) {
            row.risk = risks.raised(&row.tool, row.risk.clone());
        }
    }

    /// What the source knows of a tool; `None` where it tells nothing. Asked for at most once a minute a source.
    pub async fn tool(&self, source: &SourceName, name: &Untrusted) -> Result<Option<Arc<Tool>>, Problem> {
        self.tools.find(self.source(source)?, name).await
    }

    /// Who decides, for the journal: the configured name, else what the sources of this submission call the token's owner, else
    /// the login name.
    pub(super) fn reviewer_of(&self, submission: &Submission) -> Option<String> {
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

    /// The newest submissions with what became of them, newest first.
    #[cfg(test)]
    pub async fn log(&self, limit: u32) -> Result<Vec<SubmissionRecord>, Problem> {
        self.journal.log(limit).await.map_err(Problem::from)
    }

    /// What was sent from here, newest first: `limit` submissions after the first `skip`.
    pub async fn decided(&self, skip: u32, limit: u32) -> Result<Vec<SubmissionRecord>, Problem> {
        self.journal.log_page(skip, limit).await.map_err(Problem::from)
    }

    /// How actions came and went at a source, and who decided; `None` where it does not count by itself.
    pub async fn flows(&self, source: &SourceName, asked: &FlowsAsked) -> Result<Option<Flows>, Problem> {
        let told = self.source(source)?.ask_able(Wait::Look, |able| Some(able.figures?.flows(asked))).await;
        told.map_err(|error| Problem::of(source, &error))
    }

    /// How much waits at a source, as it counts itself; `None` where it does not count.
    pub async fn outstanding(&self, source: &SourceName) -> Result<Option<Outstanding>, Problem> {
        let told = self.source(source)?.ask_able(Wait::Look, |able| Some(able.figures?.outstanding())).await;
        let counted = told.map_err(|error| Problem::of(source, &error))?;
        Ok(counted.map(|counted| match self.risks.get(source) {
            Some(risks) => counted.raised(risks),
            None => counted,
        }))
    }

    /// Everybody who acts at a source or did; `None` where it tells nothing of them.
    pub async fn people(&self, source: &SourceName) -> Result<Option<Vec<Person>>, Problem> {
        let told = self.source(source)?.ask_able(Wait::Look, |able| Some(able.lookup?.people())).await;
        told.map_err(|error| Problem::of(source, &error))
    }

    /// Looks every source over, all at once; in configured order. Only reads.
    pub async fn check(&self) -> Vec<(SourceName, Vec<Check>)> {
        let looks = self.sources.iter().map(|source| async { (source.name().clone(), source.check().await) });
        futures_util::future::join_all(looks).await
    }

    /// What a source can tell of actions that are over; nothing when it is not configured any more.
    pub fn records(&self, source: &SourceName) -> Records {
        self.source(source).map_or(Records::NONE, WithTimeouts::records)
    }

    /// A source knows something around its actions, beside what they say.
    pub fn has_context(&self, source: &SourceName) -> bool {
        self.source(source).is_ok_and(WithTimeouts::has_context)
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

    /// Keeps the filters that were saved in the inbox, instead of those that were kept before.
    pub async fn keep_filters(&self, filters: Vec<KeptFilter>) -> Result<(), Problem> {
        let journal = self.journal.clone();
        let kept = tokio::task::spawn_blocking(move || journal.keep_filters(&filters)).await;
        let why = match kept {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        };
        Err(Problem { source: None, what: "they cannot be written".to_owned(), why: Some(why.into()) })
    }

    /// Remembers at once; returns when it is on disk.
    pub async fn save(&self, writes: Vec<Write>) -> Result<(), Problem> {
        self.journal.save(&writes).await.map_err(Problem::from)
    }

    /// Closes the journal, once what is under way is on disk. After it, only what needs no journal works.
    pub async fn close(&self) {
        self.journal.close().await;
    }

    /// The sources' names, in configured order.
    pub fn source_names(&self) -> Vec<SourceName> {
        self.sources.iter().map(|source| source.name().clone()).collect()
    }

    pub(super) fn source(&self, name: &SourceName) -> Result<&WithTimeouts, Problem> {
        let found = self.sources.iter().find(|source| source.name() == name);
        found.ok_or_else(|| Problem::at(name, "is not configured any more"))
    }
}
