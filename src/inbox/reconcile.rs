//! Settling by reading what a crash or a lost connection left open. Nothing is ever sent again.

use std::collections::{HashMap, HashSet};

use futures_util::future::join_all;

use super::judge::Lost;
use super::submit::sent_as;
use super::{Inbox, Problem, Reconciled};
use crate::contract::time;
use crate::domain::{
    ActionId, ActionKey, BatchKey, Binding, Outcome, PendingAction, SourceName, Staged, SubmissionId,
    Untrusted,
};
use crate::fault;
use crate::journal::{Past, Sent, State};
use crate::sources::Source;

pub(super) async fn reconcile(inbox: &Inbox) -> Result<Vec<Reconciled>, Problem> {
    let mut reconciled = Vec::new();
    for mut past in inbox.journal.unsettled().await? {
        let learnt = learn(inbox, &past).await;
        let outcomes: Vec<_> =
            learnt.settled.iter().map(|(key, outcome)| (key.clone(), outcome.clone())).collect();
        inbox.journal.note(&past.id, &outcomes).await?;
        fault::point("reconcile.middle");
        let state = if learnt.open { State::Open } else { State::Done };
        inbox.journal.finish(&past.id, state).await?;
        // Its run died before it could tell anybody: everything that is known of it is news.
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
        reconciled.push(Reconciled { report: past.report(), learnt: news });
    }
    Ok(reconciled)
}

pub(super) async fn take_back(
    inbox: &Inbox,
    id: &SubmissionId,
    keys: &[ActionKey],
) -> Result<Vec<(ActionKey, Staged)>, Problem> {
    let items = inbox.journal.past(id).await?.map_or_else(Vec::new, |past| past.items);
    let wanted: HashSet<&ActionKey> = keys.iter().collect();
    let failed = items
        .into_iter()
        .filter(|sent| wanted.contains(&sent.key) && matches!(sent.outcome, Some(Outcome::Failed { .. })));
    let at = time::now();
    Ok(failed
        .map(|sent| {
            let Sent { decision, batch, digest, terms, .. } = sent;
            let staged = Staged { decision, batch, digest: Some(digest), terms, at };
            (sent.key, staged)
        })
        .collect())
}

#[derive(Default)]
struct Learnt {
    settled: HashMap<ActionKey, Outcome>,
    /// Something may be learnt later.
    open: bool,
}

async fn learn(inbox: &Inbox, past: &Past) -> Learnt {
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
                Some(action) => judge(inbox, past, sent, source.as_ref(), action),
                // It may be the one that cannot be read.
                None if unreadable => None,
                // It was taken, and may be told of later.
                None if sent.outcome == Some(Outcome::Accepted) => None,
                // While an approval runs, some sources do not tell of it: it may come back.
                None if !is_over(inbox, past) => None,
                None => Some(Outcome::Unknown { why: "the source does not know the action any more".into() }),
            };
            match outcome {
                Some(outcome) => drop(learnt.settled.insert(sent.key.clone(), outcome)),
                None => learnt.open = true,
            }
        }
    }
    learnt
}

/// What was sent with it has arrived by now, or never will.
fn is_over(inbox: &Inbox, past: &Past) -> bool {
    let age = time::now().since(past.begun_at);
    u128::from(age.unsigned_abs()) >= inbox.pace.in_flight.as_millis()
}

/// `None`: not yet to be told.
fn judge(
    inbox: &Inbox,
    past: &Past,
    sent: &Sent,
    source: &dyn Source,
    action: &PendingAction,
) -> Option<Outcome> {
    if sent.outcome == Some(Outcome::Accepted) {
        return of_accepted(past, sent, source, action);
    }
    let subject = source.subject();
    let lost = lost(past, sent, source, action, subject.as_ref());
    let still_pending = || {
        // A request that was answered by silence may still be on its way, and what was taken may be settled later. Only a backend
        // that settles within its answer, and takes a decision once, holds nothing of a dead run.
        let at_once = source.capabilities(&action.row).binding == Binding::Source;
        let over = at_once && sent.outcome.is_none() || is_over(inbox, past);
        over.then(|| Outcome::Failed {
            why: "it was not sent, or did not arrive: it is still pending".into(),
        })
    };
    lost.outcome(action).or_else(still_pending)
}

/// What an accepted decision came to, by what its action became. `None`: it is still on its way.
pub(super) fn of_accepted(
    past: &Past,
    sent: &Sent,
    source: &dyn Source,
    action: &PendingAction,
) -> Option<Outcome> {
    lost(past, sent, source, action, source.subject().as_ref()).of_accepted(action)
}

fn lost<'a>(
    past: &Past,
    sent: &Sent,
    source: &dyn Source,
    action: &PendingAction,
    subject: Option<&'a Untrusted>,
) -> Lost<'a> {
    let proof = source.ours(action, &sent.decision, &key(past, sent, source.at_once()));
    let (asked, effective, begun_at) = (sent.decision.kind(), sent.effective, past.begun_at);
    Lost { asked, effective, begun_at, subject, proof }
}

/// The key under which a decision went: they are kept in the order in which they were sent.
fn key(past: &Past, sent: &Sent, at_once: usize) -> String {
    let mut batches: Vec<&BatchKey> = past.items.iter().map(|item| &item.batch).collect();
    batches.dedup();
    let nth = batches.iter().position(|batch| **batch == sent.batch).unwrap_or_default();
    let mut of_batch = past.items.iter().filter(|item| item.batch == sent.batch);
    let place = of_batch.position(|item| item.key == sent.key).unwrap_or_default();
    sent_as(&past.id, nth, place / at_once.max(1))
}
