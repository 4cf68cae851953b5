use super::pace::Pace;
use crate::clock;
use crate::domain::ActionKey;
use crate::domain::ContextEntry;
use crate::domain::PendingAction;
use crate::domain::Report;
use crate::domain::Resolution;
use crate::domain::Resolved;
use crate::domain::Revision;
use crate::domain::SourceName;
use crate::domain::Staged;
use crate::domain::Submission;
use crate::domain::SubmissionId;
use crate::domain::Timestamp;
use crate::domain::Untrusted;
use crate::journal::Journal;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use tempfile::TempDir;

use super::*;
use crate::contract::action::{self, Unreadable};
use crate::domain::{
    ActionId, BatchId, BatchKey, Binding, Capabilities, Decision, DecisionKind, Digest, HistoryEvent,
    ListQuery, Outcome, ReasonRule, Row, Status, SubmissionBatch, freeze,
};
use crate::sources::{self, Abilities, Full, Outcomes, Source, SourceError, SourceInfo};

mod at_once;
mod decision_history;
mod faulty;
mod settling;
mod submitting;
mod together;
mod watching;

struct Fake {
    name: SourceName,
    subject: Option<Untrusted>,
    state: Mutex<State>,
    signals: Mutex<Option<BoxStream<'static, EventKind>>>,
    goes_on: tokio::sync::Notify,
}

#[derive(Default)]
struct State {
    /// Answers to submits in order; without one, everything is settled as asked.
    answers: VecDeque<Result<Vec<(ActionId, Outcome)>, SourceError>>,
    /// States of actions in order; the last one stays.
    actions: HashMap<ActionId, VecDeque<String>>,
    unlisted: usize,
    unreadable: usize,
    /// Whether the next submit panics.
    panics: bool,
    /// Whether decisions settle after the answer.
    settles_later: bool,
    submits: Vec<(String, Vec<String>)>,
    settlings: VecDeque<Result<Resolved, SourceError>>,
    findings: Vec<Resolution>,
    reads: usize,
    /// Pages of settled actions, by cursor; `None` fails.
    pages: Vec<Option<sources::Listed>>,
    events: Vec<HistoryEvent>,
    keeps_nothing: bool,
    /// Whether a success proves that no earlier decision landed.
    disproves: bool,
    /// Whether it takes the batches of a checkpoint in one request.
    cascades: bool,
    /// Whether requests are never answered.
    hangs: bool,
    /// Maximum number of decisions per request.
    at_once: Option<usize>,
    /// Claimed and actual run time of approved actions.
    runs_for: Duration,
    answers_after: Duration,
    /// Actions as the answers to decisions left them.
    ended: HashMap<ActionId, String>,
    journal: Option<Journal>,
    receipts: Vec<Vec<String>>,
    journalled: Vec<usize>,
}

impl fmt::Debug for Fake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fake({})", self.name)
    }
}

impl State {
    fn fails_to_list(&mut self) -> bool {
        let fails = self.unlisted > 0;
        self.unlisted = self.unlisted.saturating_sub(1);
        fails
    }
}

impl Fake {
    fn new(name: &str) -> Arc<Self> {
        Arc::new(Self {
            name: SourceName::new(name),
            subject: Some("ada".into()),
            state: Mutex::default(),
            signals: Mutex::default(),
            goes_on: tokio::sync::Notify::new(),
        })
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn can(&self) -> Capabilities {
        let binding = if self.state().settles_later { Binding::FreshRead } else { Binding::Source };
        Capabilities { binding, ..CAN }
    }

    async fn hang(&self) {
        let hangs = self.state().hangs;
        if hangs {
            self.goes_on.notified().await;
        }
    }

    fn answers(&self, answer: Result<Vec<(ActionId, Outcome)>, SourceError>) {
        self.state().answers.push_back(answer);
    }

    fn stands(&self, id: &str, mores: &[&str]) {
        let texts = mores.iter().map(|more| text(id, more)).collect();
        self.state().actions.insert(ActionId::new(id), texts);
    }

    fn sent(&self) -> Vec<Vec<String>> {
        self.state().submits.iter().map(|(_, ids)| ids.clone()).collect()
    }
}

impl SourceInfo for Fake {
    fn name(&self) -> &SourceName {
        &self.name
    }

    fn subject(&self) -> Option<Untrusted> {
        self.subject.clone()
    }

    fn at_once(&self) -> usize {
        self.state().at_once.unwrap_or(usize::MAX)
    }

    fn runs_for(&self) -> Duration {
        self.state().runs_for
    }

    fn success_disproves_earlier(&self) -> bool {
        self.state().disproves
    }

    fn decides_checkpoints(&self) -> bool {
        self.state().cascades
    }

    fn ended(&self, id: &ActionId) -> Option<PendingAction> {
        self.state().ended.get(id).map(|text| action::read(text).unwrap())
    }

    fn watch(&self) -> Option<BoxStream<'static, EventKind>> {
        self.signals.lock().unwrap().take()
    }
}

#[async_trait]
impl Source for Fake {
    async fn sync(&self, since: Option<Revision>) -> Result<sources::Synced, SourceError> {
        self.hang().await;
        if self.state().fails_to_list() {
            return Err(SourceError::Unreachable { why: "it is down".into() });
        }
        let bad = Unreadable::new("it has no id", "17");
        let row = |id: &str| Row {
            can: self.can(),
            ..action::read_row(&text(id, r#""status":"pending""#)).unwrap()
        };
        Ok(match since {
            None => sources::Synced::All {
                rows: vec![row("1")],
                unreadable: vec![bad],
                revision: Some(Revision(5)),
            },
            Some(since) => sources::Synced::Changes {
                rows: vec![row("2")],
                unreadable: Vec::new(),
                purged: vec![ActionId::new("3")],
                revision: Revision(since.0 + 1),
            },
        })
    }

    async fn get(&self, ids: &[ActionId]) -> Result<Vec<Full>, SourceError> {
        self.hang().await;
        let can = self.can();
        let mut state = self.state();
        state.reads += 1;
        if state.unreadable > 0 {
            state.unreadable -= 1;
            return Err(SourceError::Unreachable { why: "no route".into() });
        }
        let mut stand = |id: &ActionId| {
            let texts = state.actions.get_mut(id)?;
            let text = if texts.len() > 1 { texts.pop_front()? } else { texts.front()?.clone() };
            let can = |row| Row { can, ..row };
            Some(action::read(&text).map(|action| PendingAction { row: can(action.row), ..action }))
        };
        Ok(ids.iter().filter_map(&mut stand).collect())
    }

    async fn submit(&self, batch: &SubmissionBatch, key: &str) -> Result<Outcomes, SourceError> {
        let journal = self.state().journal.clone();
        let (journalled, receipts) = match journal {
            Some(journal) => {
                let receipts = journal.receipts(0, 100).await.unwrap();
                let told =
                    receipts.into_iter().map(|it| format!("{} {}", it.kind.word(), it.action)).collect();
                (journal.log(100).await.unwrap().len(), told)
            }
            None => (0, Vec::new()),
        };
        assert!(!std::mem::take(&mut self.state().panics), "a bug");
        {
            let mut state = self.state();
            state.journalled.push(journalled);
            state.receipts.push(receipts);
            let ids = batch.items().iter().map(|item| item.id.as_raw().to_owned()).collect();
            state.submits.push((key.to_owned(), ids));
        }
        self.hang().await;
        let running = self.state().answers_after;
        tokio::time::sleep(running).await;
        let as_asked = || {
            let outcome =
                |kind| if kind == DecisionKind::Reject { Outcome::Rejected } else { Outcome::Approved };
            Ok(batch.items().iter().map(|item| (item.id.clone(), outcome(item.kind()))).collect())
        };
        self.state().answers.pop_front().unwrap_or_else(as_asked)
    }

    fn abilities(&self) -> Abilities<'_> {
        let able = Abilities { context: Some(self), resolve_unknown: Some(self), ..Abilities::default() };
        if self.state().keeps_nothing {
            return able;
        }
        Abilities { history: Some(self), timeline: Some(self), ..able }
    }
}

#[async_trait]
impl sources::History for Fake {
    async fn listed(&self, query: &ListQuery) -> Result<sources::Listed, SourceError> {
        self.hang().await;
        let nth = query.cursor.as_deref().map_or(0, |cursor| cursor.parse().unwrap());
        let page = self.state().pages.get(nth).cloned().unwrap_or_else(|| Some(sources::Listed::default()));
        page.ok_or_else(|| SourceError::Unreachable { why: "no route".into() })
    }
}

#[async_trait]
impl sources::Timeline for Fake {
    async fn timeline(&self, _: &ActionId) -> Result<Vec<HistoryEvent>, SourceError> {
        self.hang().await;
        Ok(self.state().events.clone())
    }
}

#[async_trait]
impl sources::Context for Fake {
    async fn context(&self, _: &ActionId, _: &[Row]) -> Result<Vec<ContextEntry>, SourceError> {
        self.hang().await;
        Ok(vec![ContextEntry { title: "Run", facts: Vec::new() }])
    }
}

#[async_trait]
impl sources::ResolveUnknown for Fake {
    async fn resolve(
        &self,
        _: &ActionId,
        finding: Resolution,
        _: Option<String>,
    ) -> Result<Resolved, SourceError> {
        let mut state = self.state();
        state.findings.push(finding);
        state.settlings.pop_front().unwrap()
    }
}

const CAN: Capabilities = Capabilities {
    edit: true,
    reason: ReasonRule::Optional,
    comment: true,
    retry: true,
    settle: true,
    binding: Binding::Source,
    ..Capabilities::PLAIN
};

const QUICK: Pace = Pace {
    poll: Duration::from_millis(20),
    safety: Duration::from_millis(20),
    look: [Duration::ZERO, Duration::from_millis(1), Duration::from_millis(1)],
    follow: (Duration::from_millis(1), Duration::from_millis(5)),
    in_flight: Duration::from_mins(2),
    clock: clock::now,
};

/// A journal's folder, which outlives its inboxes.
struct House(TempDir);

impl House {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    async fn inbox(&self, sources: &[&Arc<Fake>]) -> Inbox {
        let journal = Journal::open(&self.0.path().join("journal.db")).await.unwrap();
        let each = |source: &&Arc<Fake>| {
            source.state().journal = Some(journal.clone());
            Arc::clone(*source) as Arc<dyn Source>
        };
        let sources = sources.iter().map(each).collect();
        let inbox = Inbox::open(sources, journal, Duration::from_secs(10), Some("Ada".to_owned()));
        Inbox { pace: QUICK, ..inbox }
    }
}

/// Ends an inbox like any end of a run: the journal is released.
fn end(inbox: Inbox, sources: &[&Arc<Fake>]) {
    for source in sources {
        source.state().journal = None;
    }
    drop(inbox);
}

fn text(id: &str, more: &str) -> String {
    format!(
        r#"{{"id":"{id}","toolName":"t","workspaceId":"w","title":"T{id}","toolInput":{{"a":1}},{more}}}"#
    )
}

fn key(source: &str, id: &str) -> ActionKey {
    ActionKey { source: SourceName::new(source), id: ActionId::new(id) }
}

/// Returns a submission of `(source, batch, id, decision)`, sorted by key.
fn submission(id: &str, decisions: &[(&str, Option<&str>, &str, Decision)]) -> Submission {
    let mut decisions = decisions.to_vec();
    decisions.sort_by_key(|(source, _, id, _)| key(source, id));
    submission_as_given(id, &decisions)
}

fn submission_as_given(id: &str, decisions: &[(&str, Option<&str>, &str, Decision)]) -> Submission {
    let (mut staged, mut loaded) = (Vec::new(), HashMap::new());
    for (source, batch, id, decision) in decisions {
        let key = key(source, id);
        let mut action = action::read(&text(id, r#""status":"pending""#)).unwrap();
        (action.row.batch, action.row.can) = (batch.map(BatchId::new), CAN);
        action.terms = Some(terms());
        let batch = match &action.row.batch {
            Some(batch) => BatchKey::Batch(key.source.clone(), batch.clone()),
            None => BatchKey::Alone(key.clone()),
        };
        let at = Timestamp::default();
        let decision = decision.clone();
        staged.push((key.clone(), Staged { decision, batch, digest: None, terms: None, at }));
        loaded.insert(key, action);
    }
    let staged = staged.iter().map(|(key, staged)| (key, staged));
    freeze(SubmissionId::new(id), staged, &loaded, |_| 1, Timestamp::default()).unwrap()
}

fn terms() -> Digest {
    Digest::of_fields("test", [Some("terms")])
}

fn outcomes(report: &Report) -> Vec<(&str, Outcome)> {
    report.lines.iter().map(|line| (line.key.id.as_raw(), line.outcome.clone())).collect()
}

fn lost() -> SourceError {
    SourceError::Unreachable { why: "no answer in time".into() }
}

async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_mins(1), future).await.expect("not finished in time")
}
