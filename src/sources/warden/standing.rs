//! Converts the status of a step into that of its action.

use super::alike::alike;
use super::sent::{BACK_WITHIN, Sent};
use super::step_id::StepId;
use super::wire::{self, Failure, Kind, Step};
use crate::domain::{
    Decision, DecisionKind, PendingAction, RawJson, Status, Timestamp, Untrusted, json, merge,
};

pub(super) const NOT_TAKEN: &str =
    "the engine did not take the decision that was sent from here: check its workers and its outbox";
pub(super) const DROPPED: &str = "the engine dropped the decision that was sent from here, because a retry came first, and this step's \
                                  key is used up, so that no later decision on it will be taken: whoever runs the engine has to look";
const STUCK: &str = "it did not come back from its retry within two minutes. Engine 0.1.0 loses retried reason steps, and an operator's \
                     retry-step does not help there: whoever runs the engine has to look";

pub(super) fn settled(step: &Step, sent: Option<&Sent>, now: Timestamp) -> PendingAction {
    let (status, error) = standing(step, sent, now);
    let input = sent.map(|sent| sent.input.clone());
    let rejected = status == Status::Rejected;
    let said = step.failure.message.clone().or_else(|| step.failure.reason.clone());
    let action = step.action(input, status);
    let executed_at = match step.status.as_raw() {
        "COMPLETED" | "FAILED" | "TIMED_OUT" if !rejected => step.ended_at,
        // Only a step that ran is compensated.
        "COMPENSATED" => step.ended_at.or(step.started_at),
        _ => None,
    };
    PendingAction { error, reason: said.filter(|_| rejected), executed_at, ..action }
}

fn standing(step: &Step, sent: Option<&Sent>, now: Timestamp) -> (Status, Option<Untrusted>) {
    match step.status.as_raw() {
        "COMPLETED" => (Status::Executed, None),
        "FAILED" if step.failure.is_rejection() => (Status::Rejected, None),
        "REJECTED" => (Status::Rejected, None),
        "FAILED" => (Status::Failed, Some(failure(&step.failure))),
        "TIMED_OUT" => (Status::Failed, Some(Untrusted::from("it ran out of time"))),
        "PENDING" | "IN_PROGRESS" if is_stuck(step, sent, now) => (Status::Unknown, Some(STUCK.into())),
        "PENDING" | "IN_PROGRESS" | "COMPENSATING" => (Status::Running, None),
        "COMPENSATED" => (Status::Other("compensated".into()), compensated(&step.failure)),
        _ => (Status::Other(step.status.clone()), None),
    }
}

/// Returns whether a retry has taken too long. Only a reason step runs again after a retry; an approved one merges at
/// once.
fn is_stuck(step: &Step, sent: Option<&Sent>, now: Timestamp) -> bool {
    let ours = sent.filter(|sent| sent.kind == DecisionKind::Retry && sent.queued).map(|sent| sent.at);
    let theirs = step.started_at.filter(|_| step.kind == Kind::Reason && step.retried.is_some());
    ours.or(theirs).is_some_and(|at| now.since(at) >= BACK_WITHIN)
}

/// Describes a failure. A denial by a policy, or a broken policy, is not a crash of the step.
fn failure(failure: &Failure) -> Untrusted {
    let code = failure.code.as_ref().map(Untrusted::as_raw);
    let what = match code {
        Some("POLICY_EVALUATION_FAILED") => "a policy could not be evaluated, which is no denial",
        Some("OUTPUT_SCHEMA_VALIDATION_FAILED") => "the output does not fit its schema",
        Some(code) if code.starts_with("POLICY_") && code.ends_with("_DENIED") => "denied by a policy",
        Some(_) | None => "",
    };
    let tool = failure.tool.as_ref().map(|tool| format!("in {}", tool.as_raw()));
    let message = failure.message.as_ref().or(failure.reason.as_ref()).map(Untrusted::as_raw);
    let parts = [Some(what).filter(|what| !what.is_empty()), code, tool.as_deref(), message];
    let said = parts.into_iter().flatten().collect::<Vec<_>>().join(": ");
    if said.is_empty() { "it failed, and the engine does not say why".into() } else { said.into() }
}

fn compensated(of: &Failure) -> Option<Untrusted> {
    (*of != Failure::default()).then(|| failure(of))
}

/// Returns whether a decision from here put the step into its state. A rejection carries a mark, and a retry its
/// guidance. An approval carries only its edits to the output that was `shown`: another output disproves it, but the
/// same output proves nothing.
pub(super) fn ours(
    action: &PendingAction,
    decision: &Decision,
    key: &str,
    shown: Option<&RawJson>,
) -> Option<bool> {
    let failure = || wire::failure(&action.raw);
    match decision {
        Decision::Approve { edits, .. } => {
            let step = Step::read(action.raw.as_str(), &StepId::of(&action.row.id)?)?;
            let merged = step.kind == Kind::Reason && step.status.as_raw() == "COMPLETED";
            let output = step.output.filter(|_| merged)?;
            let data = RawJson::parse(output.member("data")?).ok()?;
            let approved = match (shown, edits) {
                (Some(shown), Some(edits)) => merge(shown, edits).ok()?,
                (Some(shown), None) => shown.clone(),
                (None, Some(edits)) => edits.as_json().clone(),
                (None, None) => return None,
            };
            // Of duplicate keys the last counts.
            let differs = |field: &json::Member<'_>| {
                let expected = approved.member(&field.key.text).unwrap_or(field.value);
                data.member(&field.key.text).is_none_or(|value| !alike(expected, value))
            };
            let differs = match approved.members() {
                Some(members) => members.iter().any(differs),
                None => !alike(approved.as_str(), data.as_str()),
            };
            differs.then_some(false)
        }
        Decision::Reject { .. } if action.row.status == Status::Rejected => {
            let mark = wire::mark(key, &action.row.id);
            Some(failure()?.mark.is_some_and(|found| found.as_raw() == mark))
        }
        Decision::Retry { guidance } => {
            let told = wire::retried(&action.raw)?.guidance?;
            Some(told.as_raw() == guidance.trim())
        }
        Decision::Reject { .. } => None,
    }
}
