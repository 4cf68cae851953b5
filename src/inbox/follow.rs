//! Follows decided actions until they are final, because an approved action may not have run and an accepted decision
//! is not settled.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::sync::mpsc;

use super::core::Inbox;
use super::problem::Problem;
use super::reconcile;
use super::timeouts::WithTimeouts;
use crate::clock;
use crate::domain::{
    ActionId, ActionKey, Followed, Outcome, PendingAction, Report, SourceName, Status, SubmissionId,
    Untrusted,
};
use crate::journal::{Journal, Sent, SubmissionRecord};
use crate::sources::SourceError;

/// Number of reads in which an action must be missing before it is given up, because a source may list it late.
const MISSES: u32 = 3;

impl Inbox {
    /// Follows decided actions until they are final or wait for a decision again, and sends every change. Ends when
    /// all have ended, when the receiver is dropped, or after `limit`.
    pub async fn follow(&self, keys: Vec<ActionKey>, limit: Duration, changes: mpsc::Sender<Followed>) {
        let mut by_source: HashMap<SourceName, HashMap<ActionId, LastHeard>> = HashMap::new();
        for key in keys {
            by_source.entry(key.source).or_default().insert(key.id, LastHeard::default());
        }
        let trails = by_source.into_iter().filter_map(|(name, open)| {
            let source = self.source(&name).ok()?;
            let (journal, changes) = (&self.journal, &changes);
            Some(async move {
                let promised = promised(journal, &name, open.keys()).await;
                Trail { journal, source, open, promised, changes }.run(self.pace.follow).await;
            })
        });
        tokio::select! {
            _ = tokio::time::timeout(limit, join_all(trails)) => {}
            () = changes.closed() => {}
        }
    }

    /// Reads these approved actions once and records those that have ended.
    pub async fn look_at(&self, keys: &[ActionKey]) -> Result<(), Problem> {
        for (key, action) in self.load(keys).await {
            let ended = action.ok().filter(|action| has_ended(&action.row.status) && !action.goes_on);
            if let Some(action) = ended {
                let error = action.error.as_ref().map(Untrusted::as_raw);
                self.journal.followed(&key, action.row.status.as_raw(), error).await?;
            }
        }
        Ok(())
    }

    /// Returns the final state of approved actions that the answers reported and the source may not report again.
    /// Sends no request; the journal has them already.
    pub fn ended(&self, report: &Report) -> Vec<Followed> {
        let approved = report.lines.iter().filter(|line| line.outcome == Outcome::Approved);
        let ended = approved.filter_map(|line| {
            let action = self.source(&line.key.source).ok()?.ended(&line.key.id)?;
            Some(told(line.key.clone(), action))
        });
        ended.filter(|followed| followed.status.is_final()).collect()
    }
}

/// Returns the accepted decisions on these actions that are not settled according to the journal.
async fn promised(
    journal: &Journal,
    source: &SourceName,
    ids: impl Iterator<Item = &ActionId>,
) -> HashMap<ActionId, Promised> {
    let mut submissions: HashMap<SubmissionId, Option<Arc<SubmissionRecord>>> = HashMap::new();
    let mut promised = HashMap::new();
    for id in ids {
        let key = ActionKey { source: source.clone(), id: id.clone() };
        let Ok(Some(submission)) = journal.newest_about(&key).await else { continue };
        if !submissions.contains_key(&submission) {
            let past = journal.past(&submission).await.ok().flatten().map(Arc::new);
            submissions.insert(submission.clone(), past);
        }
        let Some(Some(past)) = submissions.get(&submission) else { continue };
        let is_promise =
            |sent: &Sent| sent.key == key && sent.outcome.as_ref().is_some_and(Outcome::is_accepted);
        if let Some(nth) = past.items.iter().position(is_promise) {
            promised.insert(id.clone(), Promised { past: Arc::clone(past), nth });
        }
    }
    promised
}

fn told(key: ActionKey, action: PendingAction) -> Followed {
    Followed {
        key,
        title: action.row.shown_title().clone(),
        status: action.row.status,
        result: action.result,
        error: action.error,
        outcome: None,
        at: clock::now(),
    }
}

/// Returns whether the action has a result beyond its approval.
fn has_ended(status: &Status) -> bool {
    status.is_final() || *status == Status::Unknown
}

/// The last known state of an action, at first pending. A pending action is thus no change.
#[derive(Default)]
struct LastHeard {
    status: Status,
    error: Option<Untrusted>,
    goes_on: bool,
    misses: u32,
}

struct Promised {
    past: Arc<SubmissionRecord>,
    nth: usize,
}

/// The actions of one source that are not final.
struct Trail<'a> {
    journal: &'a Journal,
    source: &'a WithTimeouts,
    open: HashMap<ActionId, LastHeard>,
    promised: HashMap<ActionId, Promised>,
    changes: &'a mpsc::Sender<Followed>,
}

impl Trail<'_> {
    async fn run(mut self, (first, longest): (Duration, Duration)) {
        let mut wait = first;
        while !self.open.is_empty() {
            tokio::time::sleep(wait).await;
            let ids: Vec<_> = self.open.keys().cloned().collect();
            let mut asked = None;
            match self.source.get(&ids).await {
                Ok(actions) => {
                    let unreadable = actions.iter().any(Result::is_err);
                    let found = actions.into_iter().flatten().collect();
                    if self.note(found, unreadable).await.is_err() {
                        return;
                    }
                }
                Err(SourceError::RateLimited { retry_after }) => asked = retry_after,
                // The next read may succeed. `limit` ends the attempts.
                Err(_) => {}
            }
            wait = wait.mul_f32(1.5).min(longest).max(asked.unwrap_or_default());
        }
    }

    async fn note(&mut self, found: Vec<PendingAction>, unreadable: bool) -> Result<(), ()> {
        let mut heard: Vec<ActionId> = Vec::new();
        for action in found {
            heard.push(action.row.id.clone());
            let Some(standing) = self.open.get_mut(&action.row.id) else { continue };
            standing.misses = 0;
            let is_final = action.row.status.is_final() && !action.goes_on;
            // It waits for a human again. The next decision on it is followed separately.
            let is_back = action.row.status.is_pending() && !standing.status.is_pending();
            let before = (&standing.status, &standing.error, standing.goes_on);
            if before != (&action.row.status, &action.error, action.goes_on) {
                (standing.status, standing.goes_on) = (action.row.status.clone(), action.goes_on);
                standing.error.clone_from(&action.error);
                let outcome = self.settle(&action).await;
                // The result of somebody else's decision is not ours.
                if is_final && !matches!(outcome, Some(Outcome::Skipped { .. })) {
                    self.keep(&action).await;
                }
                let followed = Followed { outcome, ..self.followed(action) };
                self.changes.send(followed).await.map_err(drop)?;
            }
            if is_final || is_back {
                heard.last().map(|id| self.open.remove(id));
            }
        }
        if !unreadable {
            self.open.retain(|id, standing| {
                standing.misses += u32::from(!heard.contains(id));
                standing.misses < MISSES
            });
        }
        Ok(())
    }

    /// Records the outcome of our accepted decision once the action's state proves it.
    async fn settle(&mut self, action: &PendingAction) -> Option<Outcome> {
        let id = &action.row.id;
        let Promised { past, nth } = self.promised.get(id)?;
        let sent = past.items.get(*nth)?;
        let outcome = reconcile::of_accepted(past, sent, self.source, action)?;
        if let Err(error) = self.journal.note(&past.id, &[(sent.key.clone(), outcome.clone())]).await {
            tracing::error!(%error, "cannot write to the journal what an accepted decision came to");
        }
        self.promised.remove(id);
        Some(outcome)
    }

    /// A failure to record it is only logged, because the change is sent anyway.
    async fn keep(&self, action: &PendingAction) {
        let key = ActionKey { source: self.source.name().clone(), id: action.row.id.clone() };
        let error = action.error.as_ref().map(Untrusted::as_raw);
        if let Err(error) = self.journal.followed(&key, action.row.status.as_raw(), error).await {
            tracing::error!(%error, "cannot write to the journal what became of an approved action");
        }
    }

    fn followed(&self, action: PendingAction) -> Followed {
        told(ActionKey { source: self.source.name().clone(), id: action.row.id.clone() }, action)
    }
}
