//! `claim`, `renew` and `result`: an agent runs an approved call itself, under a lease with a fence.

use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::get::find;
use super::reply::{full_response, payload};
use super::sent::{MaybeSent, Sent};
use crate::config::Executor;
use crate::contract::{time, whole};
use crate::domain::{RawJson, json};
use crate::gate::auth::Caller;
use crate::gate::error::{ApiError, FORBIDDEN, INVALID};
use crate::gate::executor::attempt::clip;
use crate::gate::state::Gate;
use crate::gate::store::{Dispatched, Finished, Lease, Refused, StoreError, Stored};

const LEASE_MAX: u64 = 24 * 60 * 60;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Claim {
    /// Defaults to the tool's timeout.
    #[serde(default, alias = "lease_seconds", deserialize_with = "whole::seconds")]
    lease_seconds: Option<u64>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Claimed<'a> {
    pending_action_id: &'a str,
    tool_name: &'a str,
    /// The input with edits applied, byte for byte.
    tool_input: &'a RawValue,
    idempotency_key: &'a str,
    fence: u64,
    lease_until: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    traceparent: Option<&'a str>,
}

pub(crate) async fn claim(
    State(gate): State<Gate>,
    caller: Caller,
    Path(id): Path<String>,
    MaybeSent { body: claim, key }: MaybeSent<Claim>,
) -> Result<Response, ApiError> {
    let stored = find(&gate, &caller, &id).await?;
    let tool = gate.inner.tools.get(stored.action.row.tool.as_raw());
    if tool.executor != Executor::Pull {
        return Err(ApiError::new(FORBIDDEN, "the gate runs this tool itself; nobody can claim it"));
    }
    let lease = lease(&caller, claim.lease_seconds, tool.timeout);
    let work = match gate.store().dispatch(id, lease, key).await? {
        Dispatched::Run(work) => work,
        Dispatched::NotAsApproved(why) => return Err(Refused::Changed(why).into()),
    };
    let input: &RawValue = serde_json::from_str(work.input.as_str())
        .map_err(|_| ApiError::from(StoreError::Corrupt("an input that is no JSON")))?;
    let claimed = Claimed {
        pending_action_id: &work.id,
        tool_name: &work.tool,
        tool_input: input,
        idempotency_key: &work.key,
        fence: work.fence,
        lease_until: time::write(work.lease_until),
        traceparent: work.traceparent.as_deref(),
    };
    Ok(Json(claimed).into_response())
}

fn lease(caller: &Caller, seconds: Option<u64>, timeout: Duration) -> Lease {
    let seconds = seconds.unwrap_or(timeout.as_secs()).clamp(1, LEASE_MAX);
    Lease { by: Some(caller.actor()), millis: i64::try_from(seconds * 1_000).unwrap_or(i64::MAX) }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Renew {
    #[serde(deserialize_with = "whole::number")]
    fence: u64,
    /// From now; defaults to the tool's timeout.
    #[serde(default, alias = "lease_seconds", deserialize_with = "whole::seconds")]
    lease_seconds: Option<u64>,
}

pub(crate) async fn renew(
    State(gate): State<Gate>,
    caller: Caller,
    Path(id): Path<String>,
    Sent { body: renew, .. }: Sent<Renew>,
) -> Result<Response, ApiError> {
    let stored = find(&gate, &caller, &id).await?;
    let tool = gate.inner.tools.get(stored.action.row.tool.as_raw());
    let lease = lease(&caller, renew.lease_seconds, tool.timeout);
    let until = gate.store().renew(id, renew.fence, lease).await?;
    Ok(Json(serde_json::json!({"leaseUntil": time::write(until)})).into_response())
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Outcome {
    #[serde(deserialize_with = "whole::number")]
    fence: u64,
    #[serde(default)]
    result: Option<Box<RawValue>>,
    #[serde(default)]
    error: Option<String>,
    /// The input that ran, if it may differ from the approved one.
    #[serde(default, rename = "ranInput", alias = "ran_input")]
    ran_input: Option<Box<RawValue>>,
}

pub(crate) async fn result(
    State(gate): State<Gate>,
    caller: Caller,
    Path(id): Path<String>,
    Sent { body: outcome, .. }: Sent<Outcome>,
) -> Result<Response, ApiError> {
    let how = match (&outcome.result, &outcome.error) {
        (Some(_), Some(_)) => return Err(ApiError::new(INVALID, "send result or error, not both")),
        (None, Some(error)) => Finished::Failed(clip(error)),
        (Some(result), None) => Finished::Executed(payload("result", result)?),
        (None, None) => Finished::Executed(payload("result", RawValue::NULL)?),
    };
    let how = match &outcome.ran_input {
        Some(ran) => compared(&find(&gate, &caller, &id).await?, &payload("ranInput", ran)?, how)?,
        None => how,
    };
    let stored = gate.store().finish(id, outcome.fence, Some(caller.actor()), how).await?;
    full_response(&stored.action)
}

/// Returns the reported outcome if the approved input ran, else a failure that keeps the input that ran.
fn compared(stored: &Stored, ran: &RawJson, how: Finished) -> Result<Finished, ApiError> {
    let action = &stored.action;
    let approved = action.effective_input.as_ref().unwrap_or(&action.input);
    if json::is_same(approved.as_str(), ran.as_str()) {
        return Ok(how);
    }
    let ended = match &how {
        Finished::Executed(result) => format!("\"result\":{}", result.as_str()),
        Finished::Failed(error) => format!("\"error\":{}", json::encode(error)),
        _ => return Ok(how),
    };
    let kept = format!("{{\"ranInput\":{},{ended}}}", ran.as_str());
    let kept =
        RawJson::parse(kept).map_err(|error| ApiError::new(INVALID, format!("ranInput is {error}")))?;
    Ok(Finished::RanOther(kept))
}
