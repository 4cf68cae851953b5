//! Sends each decision once, after reading its step again.

use super::client::Warden;
use super::read::Found;
use super::sent::{Sent, Waiting};
use super::standing;
use super::step_id::{StepId, Verb};
use super::wire::{self, WaitingStep};
use crate::contract::error;
use crate::contract::fields::Fields;
use crate::domain::{Decision, DecisionKind, Item, Outcome, RawJson, Status, SubmissionBatch, json, merge};
use crate::net::http::Reply;
use crate::sources::answer::{self, failed};
use crate::sources::send_each::send_each;
use crate::sources::{Outcomes, SourceError};

const CHANGED: &str = "changed since you looked: its content, its facts, or it was held anew";
const GONE: Outcome = Outcome::Skipped { status: None, by: None };
const ON_ITS_WAY: &str = "a decision from here is on its way to the engine";
/// Shown as the status while the first decision is not known.
const DECIDED: &str = "decided before, not taken by the engine yet";
/// The same, if the engine said that the first decision is queued again.
const REQUEUED: &str = "an earlier decision runs now, not this one";
const AT_ONCE: usize = 4;
/// Maximum characters of guidance that the engine takes.
const GUIDANCE_MAX: usize = 4_096;

/// The step as read just before sending.
enum Fresh {
    WaitingStep(Box<WaitingStep>),
    /// It cannot be read, but can be rejected.
    StandIn,
    Over(Outcome),
}

impl Warden {
    /// Sends decisions one by one, because the engine has no batches.
    pub(super) async fn send(&self, batch: &SubmissionBatch, key: &str) -> Result<Outcomes, SourceError> {
        send_each(batch.items(), AT_ONCE, |item| self.decide(item, key)).await
    }

    async fn decide(&self, item: &Item, key: &str) -> Result<Outcome, SourceError> {
        let Some(place) = StepId::of(&item.id) else {
            return Ok(failed("its id cannot stand in an address"));
        };
        let held = match self.read_again(item, &place).await.map_err(answer::before_sending)? {
            Fresh::WaitingStep(held) => Some(held),
            Fresh::StandIn => None,
            Fresh::Over(outcome) => return Ok(outcome),
        };
        let (verb, body) = match body(item, held.as_deref(), key) {
            Ok(asked) => asked,
            Err(why) => return Ok(failed(why)),
        };
        let earlier = self.sent.get(&item.id);
        if let Some(held) = &held {
            let (started, input) = (held.started.clone(), held.action.input.clone());
            let keyed = earlier.as_ref().and_then(|earlier| earlier.keyed.clone());
            let sent = Sent { kind: item.kind(), started, at: self.now(), queued: false, keyed, input };
            self.sent.note(&item.id, sent);
        }
        let reply = self.post(verb, &place, body).await?;
        let outcome = match reply.status {
            200..=299 => self.taken(item, verb, &reply, earlier.as_ref()).await,
            404 | 409 => Ok(self.conflict(item, &place, &reply).await),
            _ => Err(answer::refusal(&reply)),
        };
        let lost = match &outcome {
            Ok(outcome) => matches!(outcome, Outcome::Unknown { .. }),
            Err(error) => error.lost_sight(),
        };
        match outcome {
            Ok(Outcome::Accepted) => self.sent.queued(&item.id),
            _ if lost => {}
            // The earlier decision is queued again, and was noted.
            Ok(Outcome::Skipped { .. }) if self.sent.get(&item.id).is_some_and(|sent| sent.queued) => {}
            // It did not land, so the earlier decision counts.
            _ => match earlier {
                Some(earlier) => self.sent.note(&item.id, earlier),
                None => self.sent.forget(&item.id),
            },
        }
        outcome
    }

    /// Reads the step again and accepts only what the reviewer saw, because the engine compares nothing.
    async fn read_again(&self, item: &Item, place: &StepId) -> Result<Fresh, SourceError> {
        let failed = |why: &str| Fresh::Over(failed(why));
        Ok(match self.find(place).await? {
            Found::Nowhere => Fresh::Over(GONE),
            Found::Settled(step) => {
                let status = standing::settled(&step, None, self.now()).row.status;
                Fresh::Over(Outcome::Skipped { status: Some(status), by: None })
            }
            Found::Unreadable(bad) if item.unreadable && bad.stand_in().digest() == item.digest => {
                Fresh::StandIn
            }
            Found::Unreadable(_) => failed(CHANGED),
            Found::WaitingStep(held) => {
                let action = &held.action;
                let same = action.digest() == item.digest && action.terms == item.terms && !item.unreadable;
                match (same, self.waiting(&held)) {
                    (false, _) => failed(CHANGED),
                    (true, Waiting::Sent) => failed(ON_ITS_WAY),
                    (true, Waiting::NotTaken | Waiting::Dropped | Waiting::No) => Fresh::WaitingStep(held),
                }
            }
        })
    }

    /// Interprets a 2xx, which is no proof: the first decision on a step holds its key for ever.
    async fn taken(
        &self,
        item: &Item,
        verb: Verb,
        reply: &Reply,
        earlier: Option<&Sent>,
    ) -> Result<Outcome, SourceError> {
        let said = Fields::of(&reply.text).and_then(|fields| fields.text("status")).unwrap_or_default();
        // A retry's key contains our own token, so it cannot be another client's.
        let again = item.kind() != DecisionKind::ApproveWithEdits;
        let ours = verb == Verb::Retry || earlier.is_some_and(|sent| again && sent.kind == item.kind());
        Ok(match said.as_raw() {
            "queued" => Outcome::Accepted,
            // The first decision failed in the outbox and is queued again, not this one.
            "requeued" if ours => Outcome::Accepted,
            "already_queued" if verb == Verb::Retry => {
                Outcome::Unknown { why: "the engine had this very request before".into() }
            }
            "requeued" => Outcome::Skipped { status: Some(self.requeued(item, earlier)), by: None },
            "already_queued" => self.first(item).await,
            _ => {
                let why = format!("the engine took the request and said {:?}", answer::message(reply));
                Outcome::Unknown { why: why.into() }
            }
        })
    }

    /// Reports which earlier decision is queued again instead of this one.
    fn requeued(&self, item: &Item, earlier: Option<&Sent>) -> Status {
        let Some(earlier) = earlier.filter(|earlier| earlier.kind != DecisionKind::Retry) else {
            return Status::Other(REQUEUED.into());
        };
        self.sent.note(&item.id, Sent { at: self.now(), queued: true, ..earlier.clone() });
        let what = if earlier.kind.approves() { "approval" } else { "rejection" };
        Status::Other(format!("the earlier {what} from here runs now, not this decision").into())
    }

    /// Reports that the step was decided before, perhaps by this inbox. It never counts as this decision.
    async fn first(&self, item: &Item) -> Outcome {
        let step = match StepId::of(&item.id) {
            Some(place) => self.step(&place).await.ok().flatten(),
            None => None,
        };
        let status = step
            .filter(|step| step.status.as_raw() != wire::AWAITING)
            .map(|step| standing::settled(&step, None, self.now()).row.status);
        let dropped = || self.sent.get(&item.id).is_some_and(|sent| sent.is_dropped(&sent.started));
        if status.is_none() && dropped() {
            return failed(standing::DROPPED);
        }
        Outcome::Skipped { status: Some(status.unwrap_or_else(|| Status::Other(DECIDED.into()))), by: None }
    }

    /// Interprets a 409: the step is no longer held, is gone, or has no retry left.
    async fn conflict(&self, item: &Item, place: &StepId, reply: &Reply) -> Outcome {
        let refused = || Outcome::Failed { why: answer::message(reply) };
        if error::read(&reply.text).message.as_raw().contains("retry limit") {
            self.sent.spend(&item.id);
            return refused();
        }
        match self.find(place).await {
            Ok(Found::Settled(step)) => {
                let status = standing::settled(&step, None, self.now()).row.status;
                Outcome::Skipped { status: Some(status), by: None }
            }
            Ok(Found::Nowhere) => GONE,
            // The engine refused, so nothing landed.
            Ok(Found::WaitingStep(_) | Found::Unreadable(_)) | Err(_) => refused(),
        }
    }
}

fn body(item: &Item, held: Option<&WaitingStep>, key: &str) -> Result<(Verb, String), &'static str> {
    let mark = wire::mark(key, &item.id);
    match &item.decision {
        // Without `output`, the engine keeps the agent's. With an empty one, it keeps that.
        Decision::Approve { edits: None, .. } => Ok((Verb::Decision, r#"{"decision":"APPROVE"}"#.to_owned())),
        Decision::Approve { edits: Some(edits), .. } => {
            let held = held.filter(|held| held.can_be_edited()).ok_or("this step cannot be edited")?;
            let merged: RawJson = merge(&held.action.input, edits).map_err(|_| "the edits do not fit it")?;
            let output = held.with_data(&merged).ok_or("this step cannot be edited")?;
            Ok((Verb::Decision, format!(r#"{{"decision":"APPROVE","output":{output}}}"#)))
        }
        Decision::Reject { reason } => {
            let message = reason.as_deref().map(|reason| format!(r#""message":{},"#, json::encode(reason)));
            let details =
                format!(r#"{{"code":"{}",{}"ref":"{mark}"}}"#, wire::REJECTED, message.unwrap_or_default());
            Ok((Verb::Decision, format!(r#"{{"decision":"REJECT","error_details":{details}}}"#)))
        }
        Decision::Retry { guidance } if guidance.chars().count() > GUIDANCE_MAX => {
            Err("the engine takes no more than 4096 characters of guidance")
        }
        Decision::Retry { guidance } => {
            let guidance = json::encode(guidance);
            Ok((Verb::Retry, format!(r#"{{"guidance":{guidance},"retry_token":"{mark}"}}"#)))
        }
    }
}
