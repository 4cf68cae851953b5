//! `POST /api/pending-actions`: records a proposal. Does not run it.

use std::time::Instant;

use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use uuid::Uuid;

use super::reply::{payload, reply};
use super::sent::Sent;
use crate::contract::fields::Fields;
use crate::contract::propose::{ID_MAX, Propose, Queued};
use crate::contract::time;
use crate::contract::tool::Definition;
use crate::domain::json::Member;
use crate::domain::{ActionId, BatchId, Effect, PendingAction, RawJson, Row, Timestamp, json, subject};
use crate::gate::auth::Caller;
use crate::gate::bodies::work_on;
use crate::gate::error::{ApiError, FORBIDDEN, INVALID, UNAVAILABLE};
use crate::gate::state::Gate;
use crate::gate::store::{NewAction, Origin};
use crate::gate::tool::{raised_effect, raised_risk};
use crate::gate::trace;

const TOOL_MAX: usize = 200;

const NO_CALLBACK: &str =
    "callback names none of this gate's callbacks; leave it out, or ask who runs the gate";
const DENIED: &str = "this tool is denied by policy";

pub(crate) async fn propose(
    State(gate): State<Gate>,
    WithinRate(caller): WithinRate,
    headers: HeaderMap,
    Sent { body: propose, key }: Sent<Propose>,
) -> Result<Response, ApiError> {
    let origin = Origin { callback: callback(&gate, &propose)?, traceparent: trace::of(&headers) };
    let given = [Some(&propose.tool_input), propose.preview.as_ref(), propose.before.as_ref()];
    let bytes = given.into_iter().flatten().map(|it| it.get().len()).sum();
    let action = NewAction { origin, ..work_on(bytes, || accept(&gate, &caller, propose))? };
    let (tool, input) = (action.action.row.tool.as_raw().to_owned(), action.action.input.clone());
    gate.judge(&tool, &input, false).await?.map_err(|why| ApiError::new(INVALID, why))?;
    let recorded = gate.store().record(action, gate.inner.limits.pending_per_workspace, key).await?;
    let body = serde_json::to_string(&Queued::of(tool, recorded.id));
    let body = body.map_err(|error| ApiError::new(UNAVAILABLE, error.to_string()))?;
    Ok(reply(StatusCode::ACCEPTED, body, recorded.again))
}

/// Limits the rate of proposals. Runs before the body is read, so that refusals are cheap and unreadable bodies count.
pub(crate) struct WithinRate(Caller);

impl FromRequestParts<Gate> for WithinRate {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, gate: &Gate) -> Result<Self, ApiError> {
        let caller = Caller::from_request_parts(parts, gate).await?;
        gate.inner.rate.take(&caller.token.id, &gate.inner.limits, Instant::now())?;
        Ok(Self(caller))
    }
}

fn accept(gate: &Gate, caller: &Caller, mut propose: Propose) -> Result<NewAction, ApiError> {
    let tool = propose.tool_name.clone();
    if tool.trim().is_empty() || tool.contains('\0') || is_longer(&tool, TOOL_MAX) {
        return Err(ApiError::new(
            INVALID,
            format!("toolName must have 1 to {TOOL_MAX} characters, and no U+0000"),
        ));
    }
    if gate.inner.tools.is_denied(&tool) {
        return Err(ApiError::new(FORBIDDEN, DENIED));
    }
    let input = payload("toolInput", &propose.tool_input)?;
    let definition = gate.inner.tools.definition(&tool);
    identify(caller, &mut propose, &definition, &input)?;
    within_limits(&propose)?;
    if let Some(Err(why)) = propose.requested_by.as_deref().map(subject::check) {
        return Err(ApiError::new(INVALID, format!("requestedBy {why}")));
    }
    let effect = raised_effect(definition.effect.as_ref(), propose.effect.as_deref());
    if effect == Some(Effect::Read) || propose.effect.as_deref() == Some(Effect::Read.as_raw()) {
        return Err(ApiError::new(INVALID, "reads are not gated: run the tool, nothing is recorded"));
    }
    let expires_at = expiry(gate, &tool, &propose)?;
    let preview = preview(&definition, &propose, &input);
    let title = definition.title(&tool, input.as_str());
    let title = definition.with_preview(title, input.as_str(), preview.as_ref().map(RawJson::as_str));
    let batch = propose.batch_id.clone().filter(|batch| !batch.is_empty());
    let batch = batch.or_else(|| propose.mission_id.as_ref().map(|mission| format!("{mission}:{tool}")));
    let action = propose.action(ActionId::new(Uuid::now_v7().to_string()), input);
    let row = Row {
        batch: batch.map(BatchId::new),
        brief: definition.brief(&tool, &title, action.input.as_str()),
        title: title.replace('\0', "\u{fffd}").into(),
        risk: raised_risk(&definition.risk, propose.risk.as_deref()),
        effect,
        expires_at,
        ..action.row
    };
    let action = PendingAction { row, preview, ..action };
    Ok(NewAction {
        digest: action.digest(),
        action,
        proposer: caller.token.subject.clone(),
        supersedes: propose.supersedes,
        origin: Origin::default(),
    })
}

/// Returns the callback's name. An agent can neither choose an address nor learn other names.
fn callback(gate: &Gate, propose: &Propose) -> Result<Option<String>, ApiError> {
    match &propose.callback {
        Some(name) if gate.inner.receivers.get(name).is_none() => Err(ApiError::new(INVALID, NO_CALLBACK)),
        named => Ok(named.clone()),
    }
}

/// Builds the tool's own preview if it has one, because the proposer's could lie. An unusable preview is dropped and
/// does not stop the proposal.
fn preview(definition: &Definition, propose: &Propose, input: &RawJson) -> Option<RawJson> {
    match definition.preview.as_ref().filter(|shape| !shape.is_empty()) {
        Some(shape) => shape.build(input.as_str()),
        None => propose.preview.as_ref().and_then(|preview| payload("preview", preview).ok()),
    }
}

/// Sets ids that the request lacks to those in the input, where Praxiom's `@gated` decorator puts them. Does not change
/// the input.
///
/// A workspace in the input must be the token's if the tool's definition calls the field identity. For other tools it
/// only means that the request names one; the token's workspace is used.
fn identify(
    caller: &Caller,
    propose: &mut Propose,
    definition: &Definition,
    input: &RawJson,
) -> Result<(), ApiError> {
    let members = json::members(input.as_str());
    let members = members.ok_or_else(|| ApiError::new(INVALID, "toolInput must be a JSON object"))?;
    let names_one = |member: &Member<'_>| {
        let is_workspace = ["workspace_id", "workspaceId"].contains(&member.key.text.as_ref());
        is_workspace && member.value.starts_with('"') && member.value != "\"\""
    };
    let is_identity = |member: &&Member<'_>| {
        member.value != "null" && definition.identity.iter().any(|name| *name == member.key.text)
    };
    let used: Vec<&str> = members.iter().filter(is_identity).map(|member| member.value).collect();
    if used.iter().any(|value| !value.starts_with('"')) {
        return Err(ApiError::new(INVALID, "the workspace in toolInput must be text"));
    }
    let workspace = match propose.workspace_id.as_deref() {
        None if members.iter().any(names_one) => caller.token.workspace.clone(),
        named => caller.workspace(named)?.to_owned(),
    };
    let fields = Fields::new(members);
    let said = |name: &str| fields.raw(name).and_then(id_in);
    // Every occurrence and every spelling counts.
    if used.into_iter().any(|value| json::decode(value).text != workspace.as_str()) {
        return Err(ApiError::new(FORBIDDEN, "toolInput names another workspace than this token's"));
    }
    propose.workspace_id = Some(workspace);
    for (id, name) in [(&mut propose.mission_id, "missionId"), (&mut propose.session_id, "sessionId")] {
        *id = id.take().or_else(|| said(name)).filter(|id| !id.is_empty());
    }
    Ok(())
}

/// Reads an id from a tool's input. `None` for other types, empty or overlong text, and U+0000.
fn id_in(value: &str) -> Option<String> {
    let id = value.starts_with('"').then(|| json::decode(value).text)?;
    let is_id = !id.is_empty() && !id.contains('\0') && !is_longer(&id, ID_MAX);
    is_id.then(|| id.into_owned())
}

/// Returns the proposer's expiry, else the tool's, else none. The store refuses an expiry in the past.
fn expiry(gate: &Gate, tool: &str, propose: &Propose) -> Result<Option<Timestamp>, ApiError> {
    let now = gate.inner.clock.now();
    let invalid = |message: &str| ApiError::new(INVALID, message);
    let after = |millis: u128| Some(now.plus_millis(i64::try_from(millis).unwrap_or(i64::MAX)));
    let at = match (propose.expires_at.as_deref(), propose.ttl_seconds) {
        (Some(_), Some(_)) => return Err(invalid("send expiresAt or ttlSeconds, not both")),
        (Some(text), None) => {
            Some(time::read(text).ok_or_else(|| invalid("expiresAt is not a time; write it as RFC 3339"))?)
        }
        (None, Some(seconds)) => after(u128::from(seconds) * 1_000),
        (None, None) => gate.inner.tools.get(tool).expires_after.and_then(|time| after(time.as_millis())),
    };
    Ok(at.map(|at| at.min(time::LATEST)))
}

/// Compares in characters like the contract, which bytes can rule out quickly.
pub(super) fn is_longer(text: &str, most: usize) -> bool {
    text.len() > most && text.chars().count() > most
}

fn within_limits(propose: &Propose) -> Result<(), ApiError> {
    let texts = propose.texts();
    let holds_nul = |text: &Option<String>| text.as_ref().is_some_and(|text| text.contains('\0'));
    if let Some((name, ..)) = texts.iter().find(|(_, text, _)| holds_nul(text)) {
        return Err(ApiError::new(INVALID, format!("{name} holds U+0000, which is not kept; leave it out")));
    }
    let long =
        texts.into_iter().find(|(_, text, most)| text.as_ref().is_some_and(|text| is_longer(text, *most)));
    match long {
        Some((name, _, most)) => {
            let is_own = ["missionId", "sessionId", "runId", "toolCallId"].contains(&name);
            let advice =
                if is_own { "; send sha256: and the hex digest of it instead" } else { "; shorten it" };
            Err(ApiError::new(INVALID, format!("{name} is longer than {most} characters{advice}")))
        }
        None => Ok(()),
    }
}
