//! A reviewer at a source: lists, reads, freezes and sends like the inbox, and settles lost decisions by reading.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::World;
use crate::clock;
use crate::contract::action::Unreadable;
use crate::domain::{
    ActionId, ActionKey, BatchKey, Decision, Outcome, PendingAction, Refusal, Row, Staged, Submission,
    SubmissionId, Untrusted, freeze,
};
use crate::sources::{Source, SourceError, Synced};

/// Generous, so that a busy machine loses no answer.
const AT_EASE: Duration = Duration::from_secs(30);
/// Short, because these scenarios wait for lost answers.
const IN_A_HURRY: Duration = Duration::from_secs(2);

static NTH: AtomicUsize = AtomicUsize::new(0);

pub(super) struct Desk {
    pub(super) source: Arc<dyn Source>,
}

impl Desk {
    pub(super) fn at_ease(world: &dyn World) -> Self {
        Self { source: world.source(AT_EASE) }
    }

    /// Returns a desk that knows the source already. A busy machine may need several tries for that.
    pub(super) async fn in_a_hurry(world: &dyn World) -> Self {
        let desk = Self { source: world.source(IN_A_HURRY) };
        for _ in 0..10 {
            if desk.listed().await.is_ok() {
                break;
            }
        }
        desk
    }

    /// Returns the pending rows and the unreadable items.
    pub(super) async fn listed(&self) -> Result<(Vec<Row>, Vec<Unreadable>), SourceError> {
        match self.source.sync(None).await? {
            Synced::All { rows, unreadable, .. } => {
                Ok((rows.into_iter().filter(|row| row.status.is_pending()).collect(), unreadable))
            }
            Synced::Changes { .. } => panic!("expected the whole list"),
        }
    }

    pub(super) async fn lists(&self, id: &ActionId) -> bool {
        self.listed().await.unwrap().0.iter().any(|row| row.id == *id)
    }

    /// Lists, then loads an action in full, like the screen.
    pub(super) async fn load(&self, id: &ActionId) -> PendingAction {
        assert!(self.lists(id).await, "{id:?} is not listed");
        let mut actions = self.source.get(std::slice::from_ref(id)).await.unwrap();
        assert_eq!(actions.len(), 1, "expected one action");
        let action = actions.remove(0).unwrap();
        assert_eq!(action.row.id, *id);
        action
    }

    /// Freezes all decisions, or returns why they are refused.
    pub(super) fn freeze_all(&self, decided: &[(PendingAction, Decision)]) -> Result<Submission, Refusal> {
        let now = clock::now();
        let (mut staged, mut loaded) = (Vec::new(), HashMap::new());
        for (action, decision) in decided {
            let source = self.source.name().clone();
            let key = ActionKey { source: source.clone(), id: action.row.id.clone() };
            let batch = match &action.row.batch {
                Some(batch) => BatchKey::Batch(source, batch.clone()),
                None => BatchKey::Alone(key.clone()),
            };
            let digest = Some(action.digest());
            let decision = decision.clone();
            staged.push((key.clone(), Staged { decision, batch, digest, terms: action.terms, at: now }));
            loaded.insert(key, action.clone());
        }
        let staged = staged.iter().map(|(key, staged)| (key, staged));
        let id = SubmissionId::new(format!("scenario-{}", NTH.fetch_add(1, Ordering::Relaxed)));
        freeze(id, staged, &loaded, |_| 0, now)
    }

    pub(super) fn freeze(&self, action: &PendingAction, decision: Decision) -> Result<Submission, Refusal> {
        self.freeze_all(&[(action.clone(), decision)])
    }

    /// Sends a submission and settles lost decisions by reading.
    pub(super) async fn send(&self, submission: &Submission) -> HashMap<ActionId, Outcome> {
        let mut outcomes = HashMap::new();
        for (nth, batch) in submission.batches().iter().enumerate() {
            let told = match self.source.submit(batch, &format!("{}:{nth}", submission.id())).await {
                Ok(told) => told,
                Err(error) => {
                    let why = Untrusted::from(error.to_string());
                    let lost = error.lost_sight();
                    let outcome = if lost { Outcome::Unknown { why } } else { Outcome::Failed { why } };
                    batch.items().iter().map(|item| (item.id.clone(), outcome.clone())).collect()
                }
            };
            assert_eq!(told.len(), batch.items().len(), "one outcome per item: {told:?}");
            let mut told: HashMap<_, _> = told.into_iter().collect();
            for item in batch.items() {
                let said = told.remove(&item.id).unwrap_or_else(|| panic!("no outcome for {:?}", item.id));
                let outcome = match said {
                    Outcome::Unknown { why } => {
                        let stands = self.source.get(std::slice::from_ref(&item.id)).await;
                        let stands = stands.ok().and_then(|mut found| found.pop()?.ok());
                        let read = stands.and_then(|action| {
                            Outcome::by_status(
                                item.kind(),
                                &action.row.status,
                                action.row.resolved_by.as_ref(),
                            )
                        });
                        read.unwrap_or(Outcome::Unknown { why })
                    }
                    said => said,
                };
                outcomes.insert(item.id.clone(), outcome);
            }
        }
        outcomes
    }

    pub(super) async fn send_one(&self, submission: &Submission) -> Outcome {
        let outcomes = self.send(submission).await;
        assert_eq!(outcomes.len(), 1);
        outcomes.into_values().next().unwrap()
    }

    pub(super) async fn decide(&self, id: &ActionId, decision: Decision) -> Outcome {
        let action = self.load(id).await;
        self.send_one(&self.freeze(&action, decision).unwrap()).await
    }
}

/// Returns whether the decision was applied, according to the source.
pub(super) fn done(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Approved | Outcome::Rejected | Outcome::Accepted)
}

pub(super) fn cell(outcome: &Outcome) -> String {
    let short = |why: &Untrusted| why.as_raw().chars().take(34).collect::<String>();
    match outcome {
        Outcome::Approved => "approved".to_owned(),
        Outcome::Rejected => "rejected".to_owned(),
        Outcome::Accepted | Outcome::PartlyApproved { .. } => "accepted".to_owned(),
        Outcome::Skipped { status, by } => {
            let status = status.as_ref().map_or("?", |status| status.as_raw());
            format!("skipped: {status} by {}", by.as_ref().map_or("?", Untrusted::as_raw))
        }
        Outcome::Failed { why } => format!("failed: {}", short(why)),
        Outcome::Unknown { why } => format!("unknown: {}", short(why)),
    }
}
