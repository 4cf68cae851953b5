//! `POST .../batch/{batchId}/approve`: approves listed actions and rejects excluded ones. Unlisted ones stay pending.

use axum::extract::{Path, State};
use axum::response::Response;

use super::decide::{reason, via};
use super::reply::{answer, payload};
use super::sent::Sent;
use crate::contract::action::wire_status;
use crate::contract::approvals::ApprovalCount;
use crate::contract::batch::{BatchApprove, BatchItem, BatchReply, BatchReplyItem, ItemOutcome};
use crate::contract::checkpoint::CheckpointReply;
use crate::domain::{Status, Via};
use crate::gate::auth::Caller;
use crate::gate::error::{ApiError, INVALID};
use crate::gate::state::Gate;
use crate::gate::store::{
    Decided, DecidedGroup, DecidedItem, Group, Keyed, KeyedReply, Refused, Ruling, StoreError, Verdict,
};

const ITEMS_MAX: usize = 10_000;

pub(crate) async fn approve(
    State(gate): State<Gate>,
    caller: Caller,
    Path(batch): Path<String>,
    Sent { body: request, key }: Sent<BatchApprove>,
) -> Result<Response, ApiError> {
    let mut rulings = rulings(request)?;
    gate.judge_all(&caller.actor(), &mut rulings).await?;
    decide_group(&gate, &caller, (Group::Batch(batch), rulings), key).await
}

pub(super) async fn decide_group(
    gate: &Gate,
    caller: &Caller,
    (group, rulings): (Group, Vec<Ruling>),
    key: Option<Keyed>,
) -> Result<Response, ApiError> {
    let key = key.map(|key| KeyedReply { key, write: body });
    answer(gate.store().decide_group(group, rulings, caller.actor(), key).await?, body)
}

fn body(decided: &DecidedGroup) -> Result<String, StoreError> {
    let items = decided.items.iter().map(|it| (it.batch.clone(), entry(decided, it)));
    let body = match &decided.group {
        Group::Batch(id) => {
            serde_json::to_string(&BatchReply::of(id.clone(), items.map(|(_, item)| item).collect()))
        }
        Group::Checkpoint(id) => serde_json::to_string(&CheckpointReply::of(id.clone(), items.collect())),
    };
    body.map_err(|_| StoreError::Corrupt("a reply that is no JSON"))
}

fn entry(decided: &DecidedGroup, item: &DecidedItem) -> BatchReplyItem {
    let pending = Some(Status::Pending);
    let (outcome, status) = match &item.outcome {
        Ok(Decided::Approved) => (ItemOutcome::Approved, Some(Status::Approved)),
        Ok(Decided::Rejected) => (ItemOutcome::Rejected, Some(Status::Rejected)),
        Ok(Decided::Accepted { .. }) => (ItemOutcome::Accepted, pending),
        Err(Refused::State { status, .. }) => (ItemOutcome::Skipped, Some(status.clone())),
        Err(Refused::Missing) => (ItemOutcome::Missing, None),
        Err(Refused::Changed(_)) => (ItemOutcome::Changed, pending),
        Err(_) => (ItemOutcome::Invalid, pending),
    };
    let resolved_by = match &item.outcome {
        Ok(Decided::Approved | Decided::Rejected) => Some(decided.by.clone()),
        Err(Refused::State { by, .. }) => by.clone(),
        _ => None,
    };
    let approvals = match item.outcome {
        Ok(Decided::Accepted { given, needed }) => Some(ApprovalCount { given, needed }),
        _ => None,
    };
    let message = match (&item.outcome, &decided.group) {
        (Ok(_) | Err(Refused::State { .. }), _) => None,
        (Err(Refused::Missing), Group::Batch(_)) => Some("it is not in this batch".to_owned()),
        (Err(Refused::Missing), Group::Checkpoint(_)) => Some("it is not in this checkpoint".to_owned()),
        (Err(refused), _) => Some(refused.to_string()),
    };
    let status = status.map(|status| wire_status(&status).to_owned());
    BatchReplyItem { pending_action_id: item.id.clone(), outcome, status, resolved_by, approvals, message }
}

pub(super) fn rulings(request: BatchApprove) -> Result<Vec<Ruling>, ApiError> {
    if request.items.len() > ITEMS_MAX {
        return Err(ApiError::new(
            INVALID,
            format!("a batch request holds at most {ITEMS_MAX} items; send parts"),
        ));
    }
    let via = via(request.via.as_deref())?;
    request.items.into_iter().map(|item| ruling(item, via)).collect()
}

fn ruling(item: BatchItem, via: Via) -> Result<Ruling, ApiError> {
    if item.pending_action_id.contains('\0') {
        return Err(ApiError::new(INVALID, "pendingActionId holds U+0000, which no action is called"));
    }
    let edits = item.user_edits.as_ref().map(|edits| payload("userEdits", edits)).transpose()?;
    let verdict = match (item.exclude, edits) {
        (false, edits) => Verdict::Approve { edits },
        // Edits of an excluded action are ignored because it will not run.
        (true, _) => Verdict::Reject,
    };
    Ok(Ruling {
        id: item.pending_action_id,
        verdict,
        expected_digest: item.expected_digest,
        expected_effective_digest: item.expected_effective_digest,
        expected_terms: item.expected_terms,
        reason: reason(item.reason)?,
        via,
        judged: None,
    })
}
