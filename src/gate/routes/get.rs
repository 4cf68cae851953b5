//! `GET .../{id}`, at once or after a change, and the action's timeline.

use std::time::Duration;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::reply::full_response;
use super::tools::Items;
use crate::contract::time;
use crate::domain::Status;
use crate::domain::time::short_span;
use crate::gate::audit::AuditRow;
use crate::gate::auth::Caller;
use crate::gate::error::{ApiError, INVALID};
use crate::gate::state::Gate;
use crate::gate::store::{Refused, Stored, decision_rules};

const WAIT_MAX: Duration = Duration::from_mins(1);
/// Minimum time between reads of a waiting request, even in a busy workspace.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

#[derive(Debug, Deserialize)]
pub(crate) struct GetQuery {
    wait: Option<String>,
    until: Option<String>,
}

pub(crate) async fn get(
    State(gate): State<Gate>,
    caller: Caller,
    Path(id): Path<String>,
    Query(query): Query<GetQuery>,
) -> Result<Response, ApiError> {
    let wait = query.wait.as_deref().map(wait).transpose()?.unwrap_or_default();
    let until: fn(&Status) -> bool = match query.until.as_deref() {
        None | Some("decided") => |status| !status.is_pending(),
        Some("final") => Status::is_final,
        Some(_) => return Err(ApiError::new(INVALID, "until is decided or final")),
    };
    let stored = wait_for(&gate, &caller, &id, wait, until).await?;
    full_response(&stored.action)
}

/// Returns the action once `until` holds, the time is up or the gate stops.
async fn wait_for(
    gate: &Gate,
    caller: &Caller,
    id: &str,
    wait: Duration,
    until: fn(&Status) -> bool,
) -> Result<Stored, ApiError> {
    let deadline = Instant::now() + wait.min(WAIT_MAX);
    // Watching starts before the first read; otherwise a change between the two would be missed.
    let mut revisions = gate.inner.events.watch(&caller.token.workspace);
    loop {
        revisions.mark_unchanged();
        let stored = find(gate, caller, id).await?;
        if until(&stored.action.row.status) || Instant::now() >= deadline {
            return Ok(stored);
        }
        let look_again = Instant::now() + BETWEEN_LOOKS;
        tokio::select! {
            () = gate.inner.stopping.cancelled() => return Ok(stored),
            changed = timeout_at(deadline, revisions.changed()) => {
                if changed.is_err() {
                    return find(gate, caller, id).await;
                }
            }
        }
        sleep_until(look_again.min(deadline)).await;
    }
}

/// Returns the action if it belongs to the caller's workspace.
pub(super) async fn find(gate: &Gate, caller: &Caller, id: &str) -> Result<Stored, ApiError> {
    let Some(stored) = gate.store().get(id).await? else {
        return Err(match gate.store().was_there(id).await? {
            None => Refused::Missing,
            Some(workspace) if workspace == caller.token.workspace => Refused::Pruned,
            Some(_) => Refused::Foreign,
        }
        .into());
    };
    decision_rules::within(&stored, &caller.actor())?;
    Ok(stored)
}

fn wait(text: &str) -> Result<Duration, ApiError> {
    short_span(text).ok_or_else(|| ApiError::new(INVALID, "wait is a time like 30s or 500ms"))
}

#[derive(Debug, Serialize)]
struct Event {
    revision: u64,
    #[serde(rename = "event")]
    kind: String,
    at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Box<RawValue>>,
}

pub(crate) async fn timeline(
    State(gate): State<Gate>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    find(&gate, &caller, &id).await?;
    let events = gate.store().timeline(&id).await?;
    let event = |row: AuditRow| Event {
        revision: row.revision,
        kind: row.kind,
        at: time::write(row.at),
        by: row.who,
        details: row.details.and_then(|details| RawValue::from_string(details).ok()),
    };
    Ok(Json(Items { items: events.into_iter().map(event).collect() }).into_response())
}
