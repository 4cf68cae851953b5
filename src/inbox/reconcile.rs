//! Settles decisions that a crash or a lost connection left open, by reading. Never sends anything again.

use std::collections::{HashMap, HashSet};

use futures_util::future::join_all;

use super::core::Inbox;
use super::lost;
use super::lost_decisions::Lost;
use super::problem::Problem;
use super::submit::sent_as;
use super::timeouts::WithTimeouts;
use crate::clock;
use crate::domain::{
    ActionId, ActionKey, BatchKey, Binding, Entry, Outcome, PendingAction, Report, SourceName, Staged,
    Status, SubmissionId, Timestamp, Untrusted,
};
use crate::fault;
use crate::journal::{Sent, State, SubmissionRecord};

/// Shortest and longest wait between two reads of open decisions, in milliseconds. In between, a quarter of their
/// age.
const LOOKS: (i64, i64) = (10_000, 60 * 60 * 1_000);

pub(super) fn next_look(begun_at: Timestamp, now: Timestamp) -> Timestamp {
    now.plus_millis((now.since(begun_at) / 4).clamp(LOOKS.0, LOOKS.1))
}

/// An open submission after another read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reconciled {
    pub report: Report,
    /// Lines that were not reported before. The others were acted on and must not be again.
    pub learnt: Vec<ActionKey>,
    /// Rows for the decisions that are still unknown.
    pub lost: Vec<Entry>,
    pub begun_at: Timestamp,
    /// When to read open decisions again; `None` if all are settled.
    pub next_look: Option<Timestamp>,
}

impl Inbox {
    /// Settles open decisions of earlier runs, and of this run's lost connections, by reading. Returns a report of
    /// every open submission with the lines that are news.
    ///
    /// A `Failed` line that is news is a decision that never landed. [`Inbox::take_back`] returns it to the draft.
    pub async fn reconcile(&self) -> Result<Vec<Reconciled>, Problem> {
        let mut reconciled = Vec::new();
        for mut past in self.journal.unsettled().await? {
            let learnt = learn_and_note(self, &past).await?;
            let state = if learnt.open { State::Open } else { State::Done };
            self.journal.finish(&past.id, state).await?;
            // Its run ended before it could report anything, so everything known is news.
            let untold = past.finished_at.is_none();
            let mut news = Vec::new();
            for sent in &mut past.items {
                let before = sent.outcome.clone();
                if let Some(outcome) = learnt.settled.get(&sent.key) {
                    sent.outcome = Some(outcome.clone());
                }
                if sent.outcome.is_some() && (untold || sent.outcome != before) {
                    news.push(sent.key.clone());
                }
            }
            let next_look = learnt.open.then(|| next_look(past.begun_at, clock::now()));
            reconciled.push(Reconciled {
                report: past.report(),
                learnt: news,
                lost: lost::rows(&past),
                begun_at: past.begun_at,
                next_look,
            });
        }
        Ok(reconciled)
    }

    /// Settles open decisions by reading, without reporting them, for commands that only look. Returns when to read
    /// again; `None` if all are settled. Lines that no run reported stay news for [`Inbox::reconcile`].
    pub async fn settle_open(&self) -> Result<Option<Timestamp>, Problem> {
        let mut next: Option<Timestamp> = None;
        for past in self.journal.unsettled().await? {
            let learnt = learn_and_note(self, &past).await?;
            // Unreported lines are left to the next run with a screen.
            if past.finished_at.is_some() && !learnt.open {
                self.journal.finish(&past.id, State::Done).await?;
            }
            if learnt.open {
                let at = next_look(past.begun_at, clock::now());
                next = Some(next.map_or(at, |next| next.min(at)));
            }
        }
        self.journal.release().await?;
        Ok(next)
    }

    /// Returns those of these decisions that failed, as they were staged, to be staged again with `Draft::stage`.
    /// Leave a decision alone that is already staged.
    pub async fn take_back(
        &self,
        id: &SubmissionId,
        keys: &[ActionKey],
    ) -> Result<Vec<(ActionKey, Staged)>, Problem> {
        let items = self.journal.past(id).await?.map_or_else(Vec::new, |past| past.items);
        let wanted: HashSet<&ActionKey> = keys.iter().collect();
        let failed = items.into_iter().filter(|sent| {
            wanted.contains(&sent.key) && matches!(sent.outcome, Some(Outcome::Failed { .. }))
        });
        let at = clock::now();
        Ok(failed
            .map(|sent| {
                let Sent { decision, batch, digest, terms, .. } = sent;
                let staged = Staged { decision, batch, digest: Some(digest), terms, at };
                (sent.key, staged)
            })
            .collect())
    }
}

async fn learn_and_note(inbox: &Inbox, past: &SubmissionRecord) -> Result<Learnt, Problem> {
    let learnt = learn(inbox, past).await;
    let outcomes: Vec<_> =
        learnt.settled.iter().map(|(key, outcome)| (key.clone(), outcome.clone())).collect();
    inbox.journal.note(&past.id, &outcomes).await?;
    for (key, status, error) in &learnt.failed {
        inbox.journal.followed(key, status.as_raw(), Some(error.as_raw())).await?;
    }
    fault::point("reconcile.middle");
    Ok(learnt)
}

#[derive(Default)]
struct Learnt {
    settled: HashMap<ActionKey, Outcome>,
    /// Rejections that landed with an error.
    failed: Vec<(ActionKey, Status, Untrusted)>,
    /// A later read may tell more.
    open: bool,
}

async fn learn(inbox: &Inbox, past: &SubmissionRecord) -> Learnt {
    let mut by_source: HashMap<&SourceName, Vec<&Sent>> = HashMap::new();
    for sent in past.items.iter().filter(|sent| sent.is_open()) {
        by_source.entry(&sent.key.source).or_default().push(sent);
    }
    let mut learnt = Learnt::default();
    let reads = by_source.into_iter().map(|(name, items)| async move {
        let ids: Vec<ActionId> = items.iter().map(|sent| sent.key.id.clone()).collect();
        let read = match inbox.source(name) {
            Ok(source) => source.get(&ids).await.ok().map(|actions| (source, actions)),
            Err(_) => None,
        };
        (items, read)
    });
    for (items, read) in join_all(reads).await {
        let Some((source, actions)) = read else {
            learnt.open = true;
            continue;
        };
        let unreadable = actions.iter().any(Result::is_err);
        let found: HashMap<ActionId, PendingAction> =
            actions.into_iter().flatten().map(|action| (action.row.id.clone(), action)).collect();
        for sent in items {
            let outcome = match found.get(&sent.key.id) {
                Some(action) if is_back(inbox, past, sent, action) => continue,
                Some(action) => judge(inbox, past, sent, source, action),
                // It may be the unreadable one.
                None if unreadable => None,
                // The source accepted it and may report it later.
                None if sent.outcome.as_ref().is_some_and(Outcome::is_accepted) => None,
                // Some sources hide an action while its approval runs.
                None if !is_over(inbox, past) => None,
                None => missing(past, sent, source),
            };
            learnt.open |= outcome.as_ref().is_none_or(Outcome::is_open);
            // The undo failed, which is known only now.
            if let Some((action, error)) =
                found.get(&sent.key.id).and_then(|it| Some((it, it.error.clone()?)))
                && outcome == Some(Outcome::Rejected)
            {
                learnt.failed.push((sent.key.clone(), action.row.status.clone(), error));
            }
            if let Some(outcome) = outcome {
                learnt.settled.insert(sent.key.clone(), outcome);
            }
        }
    }
    learnt
}

/// Returns whether the action of an accepted retry waits again or has continued.
fn is_back(inbox: &Inbox, past: &SubmissionRecord, sent: &Sent, action: &PendingAction) -> bool {
    let was_taken = sent.decision.kind().hands_back() && sent.outcome == Some(Outcome::Accepted);
    let went_on = !matches!(action.row.status, Status::Running | Status::Unknown);
    was_taken && went_on && is_over(inbox, past)
}

/// Returns the outcome of an action that the source no longer has; `None` if that is already known. Some sources hide
/// a running action, so it may come back.
fn missing(past: &SubmissionRecord, sent: &Sent, source: &WithTimeouts) -> Option<Outcome> {
    if sent.outcome.is_some() {
        return None;
    }
    // Requests go one after another, and each is noted before the next. So only the first without an answer may have
    // been sent.
    let same_source = |it: &&Sent| it.key.source == sent.key.source && it.outcome.is_none();
    let first = past.items.iter().find(same_source)?;
    let request = |sent: &Sent| key(past, sent, source.at_once());
    Some(if request(first) == request(sent) {
        Outcome::Unknown { why: "it may have been sent, and the source no longer has the action".into() }
    } else {
        Outcome::Skipped { status: None, by: None }
    })
}

/// Returns whether its requests have arrived by now or never will.
fn is_over(inbox: &Inbox, past: &SubmissionRecord) -> bool {
    let age = clock::now().since(past.begun_at);
    u128::from(age.unsigned_abs()) >= inbox.pace.in_flight.as_millis()
}

/// Returns `None` while the outcome is open.
fn judge(
    inbox: &Inbox,
    past: &SubmissionRecord,
    sent: &Sent,
    source: &WithTimeouts,
    action: &PendingAction,
) -> Option<Outcome> {
    if sent.outcome.as_ref().is_some_and(Outcome::is_accepted) {
        return of_accepted(past, sent, source, action);
    }
    let subject = source.subject().filter(|_| source.subject_is_proof());
    let lost = view(past, sent, source, action, subject.as_ref());
    let still_pending = || {
        // A request without an answer may still be on its way, and an accepted decision may be settled later. Only a
        // backend that settles within its answer, and takes a decision once, has nothing left of an ended run.
        let at_once = action.row.can.binding == Binding::Source;
        let over = at_once && sent.outcome.is_none() || is_over(inbox, past);
        over.then(|| Outcome::Failed {
            why: "it was not sent, or did not arrive: it is still pending".into(),
        })
    };
    // Without an answer, the request may never have left this machine.
    let told = if sent.outcome.is_none() { lost.of_unsent(action) } else { lost.outcome(action) };
    told.or_else(still_pending)
}

/// Returns the outcome of an accepted decision, derived from its action; `None` while it is open.
pub(super) fn of_accepted(
    past: &SubmissionRecord,
    sent: &Sent,
    source: &WithTimeouts,
    action: &PendingAction,
) -> Option<Outcome> {
    let subject = source.subject().filter(|_| source.subject_is_proof());
    view(past, sent, source, action, subject.as_ref()).of_accepted(action)
}

fn view<'a>(
    past: &SubmissionRecord,
    sent: &Sent,
    source: &WithTimeouts,
    action: &PendingAction,
    subject: Option<&'a Untrusted>,
) -> Lost<'a> {
    let proof = source.ours(action, &sent.decision, &key(past, sent, source.at_once()));
    let (asked, effective, begun_at) = (sent.decision.kind(), sent.effective, past.begun_at);
    Lost { asked, effective, begun_at, subject, proof }
}

/// Returns the idempotency key of a decision. The journal keeps decisions and batches in the order of sending.
fn key(past: &SubmissionRecord, sent: &Sent, at_once: usize) -> String {
    let mut batches: Vec<&BatchKey> = past.items.iter().map(|item| &item.batch).collect();
    let mut known = HashSet::new();
    batches.retain(|batch| known.insert(*batch));
    let nth = batches.iter().position(|batch| **batch == sent.batch).unwrap_or_default();
    let mut of_batch = past.items.iter().filter(|item| item.batch == sent.batch);
    let place = of_batch.position(|item| item.key == sent.key).unwrap_or_default();
    sent_as(&past.id, nth, place / at_once.max(1))
}
