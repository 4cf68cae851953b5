//! Claims: a reviewer announces to be working on an action, or to have stopped.

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;

use crate::contract::claim::{ClaimBody, ClaimEnded, ClaimsReply, write};
use crate::gate::auth::Caller;
use crate::gate::error::ApiError;
use crate::gate::state::Gate;

#[derive(Debug, Deserialize)]
pub(crate) struct ClaimsQuery {
    #[serde(alias = "workspaceId")]
    workspace_id: Option<String>,
}

/// `GET /api/claims`
pub(crate) async fn list(
    State(gate): State<Gate>,
    caller: Caller,
    Query(query): Query<ClaimsQuery>,
) -> Result<Response, ApiError> {
    let claims = gate.store().claims(caller.reads(query.workspace_id.as_deref())?).await?;
    Ok(Json(ClaimsReply { claims: write(&claims) }).into_response())
}

/// `POST /api/claims/{id}`. Returns the current claim, which may be another reviewer's.
pub(crate) async fn claim(
    State(gate): State<Gate>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let claim = gate.store().claim(id, caller.actor()).await?;
    Ok(Json(ClaimBody::from(&claim)).into_response())
}

/// `POST /api/claims/{id}/end`. Ends only the caller's own claim.
pub(crate) async fn end(
    State(gate): State<Gate>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let ended = gate.store().end_claim(id, caller.actor()).await?;
    Ok(Json(ClaimEnded { ended }).into_response())
}
