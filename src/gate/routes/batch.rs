//! `POST .../batch/{batchId}/approve`: approves listed actions and rejects excluded ones. Unlisted ones stay pending.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::decide::{reason, via};
use super::reply::{payload, reply};
use super::sent::Sent;
use crate::contract::batch::{BatchApprove, BatchItem};
use crate::domain::Via;
use crate::gate::auth::Caller;
use crate::gate::error::{ApiError, INVALID};
use crate::gate::state::Gate;
use crate::gate::store::{Group, Ruling, Verdict};

const ITEMS_MAX: usize = 10_000;

pub(crate) async fn approve(
    State(gate): State<Gate>,
    caller: Caller,
    Path(batch): Path<String>,
    Sent { body: request, key }: Sent<BatchApprove>,
) -> Result<Response, ApiError> {
    let mut rulings = rulings(request)?;
    gate.judge_all(&caller.actor(), &mut rulings).await?;
    let decided = gate.store().decide_group(Group::Batch(batch), rulings, caller.actor(), key).await?;
    Ok(reply(StatusCode::OK, decided))
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
