//! An owner's remote actions within the token's workspace: resolve unknown outcomes, pause dispatching, read the audit.

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use serde_json::json;

use super::decide::reason;
use super::reply::full_response;
use super::sent::Sent;
use crate::contract::audit::{self, AuditBody, AuditReply};
use crate::contract::settle::Settle;
use crate::gate::audit::AuditHead;
use crate::gate::auth::Caller;
use crate::gate::error::ApiError;
use crate::gate::state::Gate;

const PAGE_MAX: u32 = 1_000;

/// `POST .../{id}/settle`. Only for `unknown` actions, and not for the caller's own proposals.
pub(crate) async fn settle(
    State(gate): State<Gate>,
    caller: Caller,
    Path(id): Path<String>,
    Sent { body: settle, .. }: Sent<Settle>,
) -> Result<Response, ApiError> {
    let stored = gate.store().settle(id, settle.how, reason(settle.reason)?, caller.actor()).await?;
    full_response(&stored.action)
}

pub(crate) async fn pause(State(gate): State<Gate>, caller: Caller) -> Result<Response, ApiError> {
    set_paused(&gate, &caller, true).await
}

pub(crate) async fn resume(State(gate): State<Gate>, caller: Caller) -> Result<Response, ApiError> {
    set_paused(&gate, &caller, false).await
}

async fn set_paused(gate: &Gate, caller: &Caller, paused: bool) -> Result<Response, ApiError> {
    let (workspace, subject) = (caller.token.workspace.clone(), caller.token.subject.clone());
    let changed = gate.store().pause(workspace.clone(), paused, Some(subject)).await?;
    // The whole gate may be paused, too. This token cannot end that.
    let paused = gate.store().paused(&workspace).await?.is_some();
    Ok(Json(json!({"paused": paused, "changed": changed})).into_response())
}

#[derive(Debug, Deserialize)]
pub(crate) struct AuditQuery {
    #[serde(alias = "workspaceId")]
    workspace_id: Option<String>,
    #[serde(default)]
    since: u64,
    limit: Option<u32>,
}

/// `GET /api/audit`: rows after a revision, oldest first.
pub(crate) async fn audit(
    State(gate): State<Gate>,
    caller: Caller,
    Query(query): Query<AuditQuery>,
) -> Result<Response, ApiError> {
    let workspace = caller.reads(query.workspace_id.as_deref())?;
    let limit = query.limit.unwrap_or(PAGE_MAX).clamp(1, PAGE_MAX);
    let rows = gate.store().audit(workspace, query.since, limit).await?;
    let more = rows.len() as u64 == u64::from(limit);
    let items = rows.iter().map(AuditBody::from).collect();
    Ok(Json(AuditReply { items, more }).into_response())
}

/// `GET /api/audit/head`: the newest row's hash, to be stored outside the gate.
pub(crate) async fn head(State(gate): State<Gate>, caller: Caller) -> Result<Response, ApiError> {
    let workspace = caller.reads(None)?;
    let found = gate.store().audit_heads(Some(workspace)).await?.pop();
    let nothing = || AuditHead { workspace: workspace.to_owned(), revision: 0, hash: String::new() };
    let head = found.unwrap_or_else(nothing);
    Ok(Json(audit::head(&head.workspace, head.revision, &head.hash)).into_response())
}
