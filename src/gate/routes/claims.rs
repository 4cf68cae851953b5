//! Claims: a reviewer says to be on an action, or that it is over.

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

/// `GET /api/claims`: who is on what.
pub(crate) async fn list(
    State(gate): State<Gate>,
    caller: Caller,
    Query(query): Query<ClaimsQuery>,
) -> Result<Response, ApiError> {
    let claims = gate.store().claims(caller.reads(query.workspace_id.as_deref())?).await?;
    Ok(Json(ClaimsReply { claims: write(&claims) }).into_response())
}

/// `POST /api/claims/{id}`: answers with the claim as it stands, which may be somebody else's.
pub(crate) async fn claim(
    State(gate): State<Gate>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let claim = gate.store().claim(id, caller.actor()).await?;
    Ok(Json(ClaimBody::from(&claim)).into_response())
}

/// `POST /api/claims/{id}/end`: only one's own.
pub(crate) async fn end(
    State(gate): State<Gate>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let ended = gate.store().end_claim(id, caller.actor()).await?;
    Ok(Json(ClaimEnded { ended }).into_response())
}
