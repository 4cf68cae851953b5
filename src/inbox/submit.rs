//! Sends a submission: journal, source, journal. Every decision gets exactly one outcome.

use std::collections::HashMap;
use std::ops::Range;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::sync::mpsc;

use super::core::Inbox;
use super::lost_decisions::Lost;
use super::problem::Problem;
use super::timeouts::{Wait, WithTimeouts};
use crate::clock;
use crate::contract::tool;
use crate::domain::{
    ActionId, ActionKey, BatchKey, Draft, Item, Outcome, PendingAction, Report, ReportLine, SourceName,
    Submission, SubmissionBatch, SubmissionId, Timestamp, Untrusted,
};
use crate::fault;
use crate::journal::State;
use crate::sources::SourceError;

type Outcomes = HashMap<ActionKey, Outcome>;
type Loaded = HashMap<ActionKey, PendingAction>;

/// Time to wait for all outcomes before some are reported.
const PATIENCE: Duration = Duration::from_secs(1);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sending {
    /// A source has answered this many of its decisions.
    Answered(SourceName, usize),
    /// The final lines of sources that have answered, while others are slow.
    Partly(Report),
}

impl Inbox {
    /// Sends a submission once: journal first, then the sources, then the journal again.
    ///
    /// `left_pending` is the number of actions left undecided in its batches, for the report. An error means that
    /// nothing was sent. Once begun it runs to its end, even if the caller stops waiting.
    pub async fn submit(&self, submission: Submission, left_pending: u64) -> Result<Report, Problem> {
        send(self, submission, left_pending, None).await
    }

    pub async fn submit_telling(
        &self,
        submission: Submission,
        left_pending: u64,
        told: mpsc::Sender<Sending>,
    ) -> Result<Report, Problem> {
        send(self, submission, left_pending, Some(told)).await
    }
}

/// Sends in a task, so that closing a screen does not leave a submission half sent.
async fn send(
    inbox: &Inbox,
    submission: Submission,
    left_pending: u64,
    told: Option<mpsc::Sender<Sending>>,
) -> Result<Report, Problem> {
    let id = submission.id().clone();
    let unknown = report(&submission, &Outcomes::new(), left_pending);
    let task = {
        let inbox = inbox.clone();
        tokio::spawn(async move { run(&inbox, submission, left_pending, told).await })
    };
    match task.await {
        Ok(done) => done,
        // The runtime is shutting down, or the task panicked. The journal has the outcomes so far.
        Err(error) => match inbox.journal.past(&id).await {
            Ok(Some(past)) => {
                // No task continues it, so it is left to reconciliation.
                if let Err(error) = inbox.journal.finish(&id, State::Open).await {
                    tracing::error!(%error, "cannot leave a submission open in the journal");
                }
                Ok(past.report())
            }
            Ok(None) => Err(Problem::ours(format!("nothing was sent: {error}"))),
            Err(error) => {
                tracing::error!(%error, "cannot read what became of a submission");
                Ok(unknown)
            }
        },
    }
}

async fn run(
    inbox: &Inbox,
    submission: Submission,
    left_pending: u64,
    told: Option<mpsc::Sender<Sending>>,
) -> Result<Report, Problem> {
    let mut jobs: Vec<Job<'_>> = Vec::new();
    for (nth, batch) in submission.batches().iter().enumerate() {
        let source = inbox.source(batch.source())?;
        match jobs.iter_mut().find(|job| job.source.name() == batch.source()) {
            Some(job) => job.batches.push((nth, batch)),
            None => jobs.push(Job {
                inbox,
                id: submission.id(),
                source,
                batches: vec![(nth, batch)],
                told: &told,
            }),
        }
    }
    fault::point("submit.before");
    let reviewer = inbox.reviewer_of(&submission);
    inbox.journal.begin(&submission, left_pending, reviewer.as_deref()).await?;
    fault::point("submit.kept");
    let begun_at = clock::now();
    let running: FuturesUnordered<_> = jobs.iter().map(|job| job.run(begun_at)).collect();
    let outcomes = all(running, |known| {
        let Some(told) = &told else { return };
        let mut report = report(&submission, known, left_pending);
        report.lines.retain(|line| known.contains_key(&line.key));
        // The receiver may be gone. The returned report has everything.
        drop(told.try_send(Sending::Partly(report)));
    })
    .await;
    let report = report(&submission, &outcomes, left_pending);
    let state = if report.lines.iter().any(ReportLine::is_open) { State::Open } else { State::Done };
    if let Err(error) = inbox.journal.finish(submission.id(), state).await {
        // The report is right anyway, and the next start reads the outcomes again.
        tracing::error!(%error, "cannot close a submission in the journal");
    }
    Ok(report)
}

/// Collects all outcomes, and calls `tell` with those known so far whenever the rest is slow.
async fn all(
    mut running: FuturesUnordered<impl Future<Output = Outcomes>>,
    tell: impl Fn(&Outcomes),
) -> Outcomes {
    let mut known = running.next().await.unwrap_or_default();
    loop {
        let more = match tokio::time::timeout(PATIENCE, running.next()).await {
            Ok(more) => more,
            Err(_) => {
                tell(&known);
                running.next().await
            }
        };
        match more {
            Some(more) => known.extend(more),
            None => return known,
        }
    }
}

/// One source's part of a submission, batch after batch.
struct Job<'a> {
    inbox: &'a Inbox,
    id: &'a SubmissionId,
    source: &'a WithTimeouts,
    batches: Vec<(usize, &'a SubmissionBatch)>,
    told: &'a Option<mpsc::Sender<Sending>>,
}

impl Job<'_> {
    async fn run(&self, begun_at: Timestamp) -> Outcomes {
        let mut all = Outcomes::new();
        let mut stopped: Option<Untrusted> = None;
        for (key, batch) in self.requests() {
            let outcomes = match &stopped {
                Some(why) => each(&batch, &Outcome::Failed { why: why.clone() }),
                None => {
                    let (outcomes, stop) = self.send(&key, &batch, begun_at).await;
                    stopped = stop;
                    outcomes
                }
            };
            fault::point("submit.answered");
            self.note(&outcomes).await;
            fault::point("submit.noted");
            all.extend(outcomes);
            if let Some(told) = self.told {
                drop(told.try_send(Sending::Answered(self.source.name().clone(), all.len())));
            }
        }
        all
    }

    /// Returns the requests with their keys: consecutive decisions of one batch, at most `at_once`, batch after
    /// batch. If a request takes one decision, they go in the order of sending. Batches of a checkpoint go as one
    /// request if the source can.
    fn requests(&self) -> Vec<(String, SubmissionBatch)> {
        let at_once = self.source.at_once().max(1);
        let mut places: Vec<(usize, usize, usize)> = Vec::new();
        for (at, (_, batch)) in self.batches.iter().enumerate() {
            places.extend(batch.items().iter().enumerate().map(|(place, item)| (item.nth, at, place)));
        }
        if self.source.one_by_one() {
            places.sort_unstable();
        }
        let mut runs: Vec<(usize, Range<usize>)> = Vec::new();
        for (_, at, place) in places {
            match runs.last_mut() {
                Some((of, run))
                    if *of == at && run.end == place && run.start / at_once == place / at_once =>
                {
                    run.end += 1;
                }
                _ => runs.push((at, place..place + 1)),
            }
        }
        let request = |(at, run): (usize, Range<usize>)| {
            let (nth, batch) = self.batches.get(at)?;
            Some((sent_as(self.id, *nth, run.start / at_once), batch.part(run)))
        };
        let mut requests: Vec<(String, SubmissionBatch)> = Vec::new();
        for (key, batch) in runs.into_iter().filter_map(request) {
            let joins = self.source.decides_checkpoints();
            if !(joins && requests.iter_mut().any(|(_, before)| before.join(&batch))) {
                requests.push((key, batch));
            }
        }
        requests
    }

    /// Writes outcomes to disk before anything else uses them.
    async fn note(&self, outcomes: &Outcomes) {
        let noted: Vec<_> = outcomes.iter().map(|(key, out)| (key.clone(), out.clone())).collect();
        let ended: Vec<_> = ended(self.source, outcomes).collect();
        if let Err(error) = self.inbox.journal.note_ended(self.id, &noted, &ended).await {
            tracing::error!(%error, "cannot write outcomes to the journal");
        }
        let success = |(_, outcome): &(_, &_)| matches!(outcome, Outcome::Approved | Outcome::Rejected);
        let later: Vec<_> = outcomes.iter().filter(success).map(|(key, _)| key).collect();
        if self.source.success_disproves_earlier()
            && !later.is_empty()
            && let Err(problem) = self.inbox.disprove(&later).await
        {
            tracing::error!(what = problem.what, "cannot settle earlier decisions in the journal");
        }
    }

    /// Sends one batch. Returns its outcomes, and why nothing more should be sent to this source.
    async fn send(
        &self,
        key: &str,
        batch: &SubmissionBatch,
        begun_at: Timestamp,
    ) -> (Outcomes, Option<Untrusted>) {
        let wait = Wait::Decisions(batch.items().len());
        let sent = self.source.ask(wait, |source| source.submit(batch, key)).await;
        let (mut outcomes, mut stop) = match sent {
            Ok(outcomes) => (complete(batch, outcomes), None),
            Err(error) => (each(batch, &failed(&error)), stops(&error)),
        };
        let unknown = |outcome: &Outcome| matches!(outcome, Outcome::Unknown { .. });
        if outcomes.values().any(unknown) {
            let reached = self.look(batch, key, &mut outcomes, begun_at).await;
            if !reached {
                stop = Some(Untrusted::from("not sent: the source was lost sight of before"));
            }
        }
        (outcomes, stop)
    }

    /// Reads lost decisions a few times, because the request may still be on its way. Returns false if the source
    /// cannot be read.
    async fn look(
        &self,
        batch: &SubmissionBatch,
        sent_as: &str,
        outcomes: &mut Outcomes,
        begun_at: Timestamp,
    ) -> bool {
        let mut reached = false;
        for wait in self.inbox.pace.look {
            let lost = |item: &&Item| {
                matches!(outcomes.get(&key(batch.source(), &item.id)), Some(Outcome::Unknown { .. }))
            };
            let open: HashMap<ActionId, &Item> =
                batch.items().iter().filter(lost).map(|item| (item.id.clone(), item)).collect();
            if open.is_empty() {
                break;
            }
            tokio::time::sleep(wait).await;
            let ids: Vec<_> = open.keys().cloned().collect();
            let Ok(actions) = self.source.get(&ids).await else { continue };
            reached = true;
            let subject = self.source.subject().filter(|_| self.source.subject_is_proof());
            for action in actions.into_iter().flatten() {
                let Some(item) = open.get(&action.row.id) else { continue };
                let lost = Lost {
                    asked: item.kind(),
                    effective: item.effective,
                    begun_at,
                    subject: subject.as_ref(),
                    proof: self.source.ours(&action, &item.decision, sent_as),
                };
                if let Some(outcome) = lost.outcome(&action) {
                    outcomes.insert(key(batch.source(), &item.id), outcome);
                }
            }
        }
        reached
    }
}

/// Returns the final state of approved actions that ran before the answer.
fn ended(source: &WithTimeouts, outcomes: &Outcomes) -> impl Iterator<Item = (ActionKey, PendingAction)> {
    let approved = outcomes.iter().filter(|(_, outcome)| **outcome == Outcome::Approved);
    let ended = approved.filter_map(|(key, _)| Some((key.clone(), source.ended(&key.id)?)));
    ended.filter(|(_, action)| action.row.status.is_final())
}

/// Returns one outcome per item: unknown if the source left it out. Ignores other ids.
fn complete(batch: &SubmissionBatch, outcomes: Vec<(ActionId, Outcome)>) -> Outcomes {
    let mut said: HashMap<ActionId, Outcome> = outcomes.into_iter().collect();
    let mut outcome = |item: &Item| {
        let left_out = || Outcome::Unknown { why: "the source did not say what became of it".into() };
        (key(batch.source(), &item.id), said.remove(&item.id).unwrap_or_else(left_out))
    };
    batch.items().iter().map(&mut outcome).collect()
}

fn each(batch: &SubmissionBatch, outcome: &Outcome) -> Outcomes {
    batch.items().iter().map(|item| (key(batch.source(), &item.id), outcome.clone())).collect()
}

fn failed(error: &SourceError) -> Outcome {
    let why = words(error);
    if error.lost_sight() { Outcome::Unknown { why } } else { Outcome::Failed { why } }
}

/// Returns why the next batch would fail the same way. A lost source is read first.
fn stops(error: &SourceError) -> Option<Untrusted> {
    let stops = error.stops_the_rest() && !error.lost_sight();
    stops.then(|| Untrusted::from(format!("not sent: {}", words(error).as_raw())))
}

pub(super) fn words(error: &SourceError) -> Untrusted {
    match error.why() {
        Some(why) => Untrusted::from(format!("the source {error}: {}", why.as_raw())),
        None => Untrusted::from(format!("the source {error}")),
    }
}

fn report(submission: &Submission, outcomes: &Outcomes, left_pending: u64) -> Report {
    let lines = submission.batches().iter().flat_map(|batch| {
        batch.items().iter().map(move |item| {
            let key = key(batch.source(), &item.id);
            let unknown = || Outcome::Unknown { why: "it was not accounted for".into() };
            ReportLine {
                batch: batch.key().unwrap_or_else(|| BatchKey::Alone(key.clone())),
                tool: item.tool.clone(),
                title: item.title.clone(),
                decision: item.kind(),
                outcome: outcomes.get(&key).cloned().unwrap_or_else(unknown),
                key,
            }
        })
    });
    Report { id: submission.id().clone(), lines: lines.collect(), left_pending }
}

/// Returns the idempotency key of a part of a submission's `nth` batch.
pub(super) fn sent_as(id: &SubmissionId, nth: usize, part: usize) -> String {
    match part {
        0 => format!("{id}:{nth}"),
        part => format!("{id}:{nth}.{part}"),
    }
}

fn key(source: &SourceName, id: &ActionId) -> ActionKey {
    ActionKey { source: source.clone(), id: id.clone() }
}

/// Returns the actions with the titles that are sent, which include the draft's edits.
pub fn with_edited_titles(loaded: &Loaded, draft: &Draft) -> Loaded {
    let mut loaded = loaded.clone();
    for (key, action) in &mut loaded {
        if let Some(edits) = draft.get(key).and_then(|staged| staged.decision.edits()) {
            action.row.title = tool::edited_title(&action.row, &action.input, edits);
        }
    }
    loaded
}
