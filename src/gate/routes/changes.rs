//! `GET .../changes`: changes after a revision. The cost depends on the number of changes, not on the queue.

use axum::Json;
use axum::extract::{Query, State};
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;

use super::list::light;
use crate::contract::changes::{Change, ChangesReply};
use crate::contract::claim;
use crate::gate::auth::Caller;
use crate::gate::error::ApiError;
use crate::gate::state::Gate;

#[derive(Debug, Deserialize)]
pub(crate) struct ChangesQuery {
    #[serde(alias = "workspaceId")]
    workspace_id: Option<String>,
    since: u64,
    limit: Option<u32>,
}

pub(crate) async fn changes(
    State(gate): State<Gate>,
    caller: Caller,
    Query(query): Query<ChangesQuery>,
) -> Result<Response, ApiError> {
    let workspace = caller.reads(query.workspace_id.as_deref())?;
    let page = gate.inner.limits.page_rows.max(1);
    let limit = query.limit.unwrap_or(page).clamp(1, page);
    let bytes = gate.inner.limits.page_bytes;
    let changes = gate.store().changes(workspace, query.since, limit, bytes).await?;
    let claims = gate.store().claims(workspace).await?;
    let change = |row| {
        let light = light(row)?;
        Ok(Change { revision: row.revision.0, id: row.id.as_raw().to_owned(), row: Some(light) })
    };
    let reply = ChangesReply {
        changes: changes.rows.iter().map(change).collect::<Result<_, ApiError>>()?,
        revision: changes.revision,
        more: changes.more,
        complete: changes.complete,
        claims: claim::write(&claims),
    };
    Ok(Json(reply).into_response())
}
