//! `/api/checkpoints`: a checkpoint groups the batches of a subtask. One request decides the listed actions of all of
//! them.

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::batch::{decide_group, rulings};
use super::sent::Sent;
use super::tools::Items;
use crate::contract::batch::{BatchApprove, BatchItem};
use crate::contract::checkpoint::{CheckpointReject, RejectItem};
use crate::gate::auth::Caller;
use crate::gate::briefings::batch_body;
use crate::gate::error::ApiError;
use crate::gate::state::Gate;
use crate::gate::store::{Checkpoint, Group};

#[derive(Debug, Deserialize)]
pub(crate) struct CheckpointQuery {
    #[serde(alias = "workspaceId")]
    workspace_id: Option<String>,
    #[serde(alias = "missionId")]
    mission_id: Option<String>,
}

pub(crate) async fn list(
    State(gate): State<Gate>,
    caller: Caller,
    Query(query): Query<CheckpointQuery>,
) -> Result<Response, ApiError> {
    let workspace = caller.reads(query.workspace_id.as_deref())?;
    let found = gate.store().checkpoints(workspace, query.mission_id.as_deref()).await?;
    Ok(Json(Items { items: found.iter().map(body).collect() }).into_response())
}

/// Shows the pending batches of a checkpoint, oldest first. They usually belong to one mission.
fn body(checkpoint: &Checkpoint) -> Value {
    json!({
        "checkpointId": checkpoint.id,
        "missionIds": checkpoint.missions,
        "pending": checkpoint.batches.iter().map(|batch| batch.pending).sum::<u64>(),
        "batches": checkpoint.batches.iter().map(batch_body).collect::<Vec<_>>(),
    })
}

/// Approves listed actions and rejects excluded ones. Unlisted ones stay pending, also those that arrived later.
pub(crate) async fn approve(
    State(gate): State<Gate>,
    caller: Caller,
    Path(checkpoint): Path<String>,
    Sent { body: request, key }: Sent<BatchApprove>,
) -> Result<Response, ApiError> {
    let (group, mut rulings) = (Group::Checkpoint(checkpoint), rulings(request)?);
    gate.judge_all(&caller.actor(), &mut rulings).await?;
    decide_group(&gate, &caller, (group, rulings), key).await
}

pub(crate) async fn reject(
    State(gate): State<Gate>,
    caller: Caller,
    Path(checkpoint): Path<String>,
    Sent { body: request, key }: Sent<CheckpointReject>,
) -> Result<Response, ApiError> {
    let excluded = |item: RejectItem| BatchItem {
        pending_action_id: item.pending_action_id,
        exclude: true,
        expected_digest: item.expected_digest,
        reason: item.reason,
        ..BatchItem::default()
    };
    let items = request.items.into_iter().map(excluded).collect();
    let request = BatchApprove { items, via: request.via };
    let group = Group::Checkpoint(checkpoint);
    decide_group(&gate, &caller, (group, rulings(request)?), key).await
}
