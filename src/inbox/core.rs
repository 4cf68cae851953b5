//! The inbox: its sources, its journal, and requests to a single source.

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

/// All sources and the journal. Clones share them.
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
    /// Opens the inbox without connecting. `poll` is the interval for a source that pushes nothing or whose stream is
    /// down. `reviewer` is the name for the journal, even if a source has another.
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

    #[cfg(test)]
    pub(crate) fn in_a_hurry(self, limit: Duration) -> Self {
        Self { sources: self.sources.iter().map(|source| source.in_a_hurry(limit)).collect(), ..self }
    }

    /// Sets the journal's name for the reviewer if neither the configuration nor the source has one. Receipts always
    /// hold it, with `via`.
    #[must_use]
    pub fn or_login(self, login: Option<String>, via: Via) -> Self {
        let journal = self.journal.signed_by(login.as_deref(), via);
        Self { login: login.map(Arc::from), journal, ..self }
    }

    /// Watches every source until the receiver is dropped. The channel is bounded, so a flood of events waits.
    ///
    /// Each source begins with `Connecting` and `Changed`. Later, `Changed` means that a sync is due. Needs a tokio
    /// runtime.
    pub fn watch(&self) -> mpsc::Receiver<Event> {
        watch::start(&self.sources, &self.misses, self.pace)
    }

    #[must_use]
    pub fn with_risks(self, risks: impl IntoIterator<Item = (SourceName, Risks)>) -> Self {
        Self { risks: Arc::new(risks.into_iter().collect()), ..self }
    }

    pub(super) fn raise(&self, source: &SourceName, row: &mut Row) {
        if let Some(risks) = self.risks.get(source) {
            row.risk = risks.raised(&row.tool, row.risk.clone());
        }
    }

    /// Returns a tool as the source describes it; `None` if it does not. Asks at most once a minute per source.
    pub async fn tool(&self, source: &SourceName, name: &Untrusted) -> Result<Option<Arc<Tool>>, Problem> {
        self.tools.find(self.source(source)?, name).await
    }

    /// Returns the reviewer's name for the journal: the configured one, else our subjects at the sources of this
    /// submission, else the login name.
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

    /// Records a confirmed submission that may still be recalled. [`Inbox::submit`] sends it and [`Inbox::recall`]
    /// forgets it. If this run ends before that, it was never sent.
    pub async fn hold(&self, submission: &Submission, left_pending: u64) -> Result<(), Problem> {
        let reviewer = self.reviewer_of(submission);
        self.journal.hold(submission, left_pending, reviewer.as_deref()).await.map_err(Problem::from)
    }

    /// Forgets a held submission. One that is being sent is not stopped.
    pub async fn recall(&self, id: &SubmissionId) -> Result<(), Problem> {
        self.journal.recall(id).await.map_err(Problem::from)
    }

    #[cfg(test)]
    pub async fn log(&self, limit: u32) -> Result<Vec<SubmissionRecord>, Problem> {
        self.journal.log(limit).await.map_err(Problem::from)
    }

    pub async fn decided(&self, skip: u32, limit: u32) -> Result<Vec<SubmissionRecord>, Problem> {
        self.journal.log_page(skip, limit).await.map_err(Problem::from)
    }

    /// Returns how actions came and went, and who decided; `None` if the source keeps no counts.
    pub async fn flows(&self, source: &SourceName, asked: &FlowsAsked) -> Result<Option<Flows>, Problem> {
        let told = self.source(source)?.ask_able(Wait::Look, |able| Some(able.figures?.flows(asked))).await;
        told.map_err(|error| Problem::of(source, &error))
    }

    /// Returns the source's own count of what waits; `None` if it keeps none.
    pub async fn outstanding(&self, source: &SourceName) -> Result<Option<Outstanding>, Problem> {
        let told = self.source(source)?.ask_able(Wait::Look, |able| Some(able.figures?.outstanding())).await;
        let counted = told.map_err(|error| Problem::of(source, &error))?;
        Ok(counted.map(|counted| match self.risks.get(source) {
            Some(risks) => counted.raised(risks),
            None => counted,
        }))
    }

    /// Returns everybody who acts or acted at a source; `None` if it does not say.
    pub async fn people(&self, source: &SourceName) -> Result<Option<Vec<Person>>, Problem> {
        let told = self.source(source)?.ask_able(Wait::Look, |able| Some(able.lookup?.people())).await;
        told.map_err(|error| Problem::of(source, &error))
    }

    pub async fn check(&self) -> Vec<(SourceName, Vec<Check>)> {
        let looks = self.sources.iter().map(|source| async { (source.name().clone(), source.check().await) });
        futures_util::future::join_all(looks).await
    }

    pub fn records(&self, source: &SourceName) -> Records {
        self.source(source).map_or(Records::NONE, WithTimeouts::records)
    }

    pub fn has_context(&self, source: &SourceName) -> bool {
        self.source(source).is_ok_and(WithTimeouts::has_context)
    }

    pub async fn kept_minutes(&self, since: Minute) -> Result<Vec<KeptMinute>, Problem> {
        self.journal.kept_minutes(since).await.map_err(Problem::from)
    }

    pub async fn keep_minutes(&self, minutes: &[KeptMinute]) -> Result<(), Problem> {
        self.journal.keep_minutes(minutes).await.map_err(Problem::from)
    }

    /// Returns the journal's state of an inbox that has ended; nothing if another one still works on its draft.
    pub async fn restore(&self) -> Result<Restored, Problem> {
        self.journal.restore().await.map_err(Problem::from)
    }

    pub fn undelivered(&self) -> notify::Undelivered {
        notify::Undelivered::beside(self.journal.path())
    }

    /// Records which hints a newcomer has learned. After a failure, some are shown again.
    pub async fn learn(&self, learned: Learned) {
        let journal = self.journal.clone();
        let kept = tokio::task::spawn_blocking(move || journal.learn(&learned)).await;
        if let Ok(Err(error)) = kept {
            tracing::debug!(%error, "cannot keep which hints are known");
        }
    }

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

    pub async fn save(&self, writes: Vec<Write>) -> Result<(), Problem> {
        self.journal.save(&writes).await.map_err(Problem::from)
    }

    /// Closes the journal after its pending writes. Afterwards, calls that need the journal fail.
    pub async fn close(&self) {
        self.journal.close().await;
    }

    pub fn source_names(&self) -> Vec<SourceName> {
        self.sources.iter().map(|source| source.name().clone()).collect()
    }

    pub(super) fn source(&self, name: &SourceName) -> Result<&WithTimeouts, Problem> {
        let found = self.sources.iter().find(|source| source.name() == name);
        found.ok_or_else(|| Problem::at(name, "is not configured any more"))
    }
}
