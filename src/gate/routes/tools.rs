//! Tools, the caller's workspace, people, and health checks.

use std::collections::BTreeSet;
use std::sync::PoisonError;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::config::{Executor, Retry};
use crate::contract::absent::without_nulls;
use crate::contract::time;
use crate::domain::subject::folded;
use crate::domain::{Effect, PreviewShape};
use crate::gate::auth::Caller;
use crate::gate::error::{ApiError, UNAVAILABLE};
use crate::gate::policies::Disagreement;
use crate::gate::state::Gate;
use crate::gate::token::{Scope, Token};

/// Milliseconds since the last use after which a person known through a proxy no longer counts.
const LATELY: i64 = 30 * 24 * 60 * 60 * 1_000;

#[derive(Debug, Serialize)]
pub(super) struct Items<T> {
    pub(super) items: Vec<T>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolBody<'a> {
    tool_name: String,
    risk: String,
    effect: Option<String>,
    title: Option<String>,
    approving: Option<String>,
    executor: &'static str,
    retry: &'static str,
    timeout_seconds: u64,
    expires_after_seconds: Option<u64>,
    /// Time limit for an agent to claim. `None` if the gate runs the tool itself.
    approval_ttl_seconds: Option<u64>,
    /// For an action with the tool's own risk.
    approvals: u64,
    schema: Option<&'a RawValue>,
    /// The configured preview. `None` if the proposer's is used.
    preview: Option<Value>,
}

/// Lists the configured tools, without their commands and URLs.
pub(crate) async fn tools(State(gate): State<Gate>) -> Result<Response, ApiError> {
    let tool = |(name, config): (&String, &crate::config::ToolConfig)| {
        let definition = gate.inner.tools.definition(name);
        ToolBody {
            tool_name: name.clone(),
            risk: definition.risk.as_raw().to_owned(),
            effect: definition.effect.as_ref().map(Effect::as_raw).map(str::to_owned),
            title: definition.title,
            approving: definition.approving,
            executor: match config.executor {
                Executor::Pull => "pull",
                Executor::Http { .. } => "http",
                Executor::Command { .. } => "command",
            },
            retry: match config.retry {
                Retry::Safe => "safe",
                Retry::Manual => "manual",
            },
            timeout_seconds: config.timeout.as_secs(),
            expires_after_seconds: config.expires_after.map(|after| after.as_secs()),
            approval_ttl_seconds: (config.executor == Executor::Pull)
                .then(|| gate.inner.tools.approval_ttl(name).as_secs()),
            approvals: gate.inner.tools.approvals(name, &definition.risk),
            schema: gate.inner.tools.schema_text(name).and_then(|text| serde_json::from_str(text).ok()),
            preview: definition.preview.filter(|shape| !shape.is_empty()).map(|shape| preview(&shape)),
        }
    };
    Ok(Json(Items { items: gate.inner.tools.iter().map(tool).collect() }).into_response())
}

fn preview(shape: &PreviewShape) -> Value {
    json!({"fields": shape.fields, "items": shape.items, "itemFields": shape.item_fields})
}

pub(crate) async fn workspaces(State(gate): State<Gate>, caller: Caller) -> Result<Response, ApiError> {
    let token = caller.token;
    let approvals = approvals(&gate, &token.workspace).await?;
    let membership = without_nulls(json!({
        "id": token.workspace,
        "name": token.workspace,
        "workspaceId": token.workspace,
        "subject": token.subject,
        "subjectName": token.name,
        "groups": token.groups,
        "scopes": token.scopes.iter().map(|scope| scope.as_str()).collect::<Vec<_>>(),
        "expiresAt": token.expires_at.map(time::write),
        "approvals": approvals,
    }));
    Ok(Json(Items { items: vec![membership] }).into_response())
}

/// Lists everybody with a token of the workspace, including former ones, because they may have decided actions.
pub(crate) async fn people(State(gate): State<Gate>, caller: Caller) -> Result<Response, ApiError> {
    let people = gate.people(&caller.token.workspace).await?.into_values();
    let items: Vec<Value> = people
        .map(|token| {
            without_nulls(json!({"subject": token.subject, "name": token.name, "groups": token.groups}))
        })
        .collect();
    Ok(Json(Items { items }).into_response())
}

/// If a tool needs several approvals, returns whether there are enough reviewers.
async fn approvals(gate: &Gate, workspace: &str) -> Result<Option<Value>, ApiError> {
    let needed = gate.inner.tools.most_approvals();
    if needed <= 1 {
        return Ok(None);
    }
    let now = gate.inner.clock.now();
    let may_decide = |token: &Token| {
        token.is_live(now) && token.workspace == workspace && token.scopes.contains(&Scope::Decide)
    };
    let is_there = |person: &Token| person.last_used_at.is_some_and(|at| now.since(at) < LATELY);
    let proxied = gate.store().proxied(workspace).await?.into_iter().filter(is_there);
    let tokens = gate.store().tokens().await?.into_iter().chain(proxied).filter(may_decide);
    let people: BTreeSet<String> = tokens.map(|token| folded(&token.subject)).collect();
    Ok(Some(json!({"needed": needed, "deciders": people.len()})))
}

pub(crate) async fn healthz() -> Response {
    Json(json!({"status": "ok"})).into_response()
}

/// Checks that the database can be read and written and that the gate is not stopping. Differing tools of other gates
/// are only a warning, because all must serve while a configuration is rolled out.
pub(crate) async fn readyz(State(gate): State<Gate>) -> Result<Response, ApiError> {
    if gate.inner.draining.is_cancelled() {
        return Err(ApiError::stopping());
    }
    gate.store().ping().await.map_err(|failed| {
        tracing::error!(error = %failed, "the gate is not ready");
        ApiError::new(UNAVAILABLE, failed.to_string())
    })?;
    let disagreements = gate.inner.disagreements.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let warning = |it: &Disagreement| json!({"gate": it.gate, "tools": it.tools, "message": it.message()});
    let warnings: Vec<Value> = disagreements.iter().map(warning).collect();
    let warnings = Some(warnings).filter(|warnings| !warnings.is_empty());
    Ok(Json(without_nulls(json!({"status": "ready", "warnings": warnings}))).into_response())
}
