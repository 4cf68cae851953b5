//! `GET /api/flows`: rates of actions, counted by the gate so that all watchers see the same figures.

use std::collections::HashMap;

use axum::Json;
use axum::extract::{Query, State};
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;

use crate::contract::flows::write;
use crate::contract::time;
use crate::domain::subject::folded;
use crate::domain::{Minute, Timestamp};
use crate::gate::auth::Caller;
use crate::gate::error::{ApiError, INVALID};
use crate::gate::reconcile::FLOWS_ASKED_MILLIS;
use crate::gate::state::Gate;
use crate::gate::store::AskedFlows;

const USUAL_MILLIS: i64 = 60 * 60 * 1_000;

#[derive(Debug, Deserialize)]
pub(crate) struct FlowsQuery {
    #[serde(alias = "workspaceId")]
    workspace_id: Option<String>,
    since: Option<String>,
    /// For tools and reviewers; defaults to `since`.
    #[serde(alias = "decidedSince")]
    decided_since: Option<String>,
    #[serde(default)]
    reviewers: bool,
    #[serde(default)]
    groups: bool,
}

pub(crate) async fn flows(
    State(gate): State<Gate>,
    caller: Caller,
    Query(query): Query<FlowsQuery>,
) -> Result<Response, ApiError> {
    let workspace = caller.reads(query.workspace_id.as_deref())?.to_owned();
    let now = gate.inner.clock.now();
    let from = minute("since", query.since.as_deref(), now)?;
    let decided = minute("decided_since", query.decided_since.as_deref(), now)?;
    let from = from.unwrap_or_else(|| Minute::of(now.plus_millis(-USUAL_MILLIS)));
    let decided = decided.unwrap_or(from);
    let groups = if query.groups { Some(groups(&gate, &workspace).await?) } else { None };
    let asked = AskedFlows { workspace, from, decided, now, reviewers: query.reviewers, groups };
    let flows = gate.store().flows(&asked).await?;
    Ok(Json(write(&asked.workspace, &flows)).into_response())
}

async fn groups(gate: &Gate, workspace: &str) -> Result<HashMap<String, Vec<String>>, ApiError> {
    let people = gate.people(workspace).await?.into_values();
    Ok(people.map(|token| (folded(&token.subject), token.groups)).collect())
}

/// Reads a time and clamps it to the minutes that are kept.
fn minute(name: &str, text: Option<&str>, now: Timestamp) -> Result<Option<Minute>, ApiError> {
    let Some(text) = text else { return Ok(None) };
    let wrong = || {
        ApiError::new(
            INVALID,
            format!("{name} is a moment like 2026-04-21T18:02:11Z, or milliseconds since 1970"),
        )
    };
    let since = time::read(text).ok_or_else(wrong)?;
    Ok(Some(Minute::of(since.clamp(now.plus_millis(-FLOWS_ASKED_MILLIS), now))))
}
