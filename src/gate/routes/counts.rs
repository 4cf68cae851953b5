//! `GET .../counts`: numbers of pending actions. The cost does not depend on them.

use axum::Json;
use axum::extract::{Query, State};
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;

use crate::contract::briefing::write_counts;
use crate::gate::auth::Caller;
use crate::gate::error::ApiError;
use crate::gate::state::Gate;

#[derive(Debug, Deserialize)]
pub(crate) struct CountsQuery {
    #[serde(alias = "workspaceId")]
    workspace_id: Option<String>,
}

pub(crate) async fn counts(
    State(gate): State<Gate>,
    caller: Caller,
    Query(query): Query<CountsQuery>,
) -> Result<Response, ApiError> {
    let workspace = caller.reads(query.workspace_id.as_deref())?;
    let counted = gate.store().outstanding(workspace).await?;
    Ok(Json(write_counts(workspace, &counted)).into_response())
}
