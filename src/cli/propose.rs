//! `placet propose`: what an agent does, from a shell.

use std::time::Duration;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::contract::propose::{Propose, Queued};
use crate::domain::{PendingAction, Status, Untrusted};
use crate::sources::{Proposer, SourceError};

use super::args::ProposeArgs;
use super::output;
use super::{Exit, VERSION, decide};

/// What the gate answered, as it is on the wire.
#[derive(Serialize)]
struct QueuedJson<'a> {
    version: u32,
    #[serde(flatten)]
    queued: &'a Queued,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SettledJson<'a> {
    version: u32,
    pending_action_id: &'a str,
    status: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    resolved_by: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

/// Proposes, and with `--wait` stays until a human decided and the action has run.
pub async fn propose(proposer: &Proposer, args: &ProposeArgs) -> anyhow::Result<Exit> {
    let input = decide::read(&args.input)?;
    let tool_input: Box<RawValue> = serde_json::from_str(input.trim())
        .map_err(|error| anyhow::anyhow!("the input is not JSON: {error}"))?;
    let workspace = match &args.workspace {
        Some(workspace) => Some(workspace.clone()),
        None => proposer.workspace().await.map_err(|error| told(&error))?,
    };
    let queued = proposer
        .propose(&Propose {
            tool_name: args.tool.clone(),
            tool_input,
            workspace_id: workspace,
            mission_id: args.mission.clone(),
            session_id: args.session.clone(),
            agent: args.agent.clone(),
            batch_id: args.batch.clone(),
            summary: args.summary.clone(),
            risk: args.risk.clone(),
            ..Propose::default()
        })
        .await
        .map_err(|error| told(&error))?;
    let Some(seconds) = args.wait else {
        if args.json {
            output::json(&QueuedJson { version: VERSION, queued: &queued })?;
        } else {
            let id = Untrusted::from(queued.pending_action_id.as_str());
            output::line(&format!(
                "queued {}; nothing runs until somebody approves it",
                output::identifier(&id)
            ))?;
        }
        return Ok(Exit::Done);
    };
    let settled = proposer
        .wait(&queued.pending_action_id, Duration::from_secs(seconds))
        .await
        .map_err(|error| told(&error))?;
    print(&settled, args.json)?;
    Ok(exit_of(&settled.row.status))
}

/// What the gate said, through the door.
fn told(error: &SourceError) -> anyhow::Error {
    let why = error.why().map(|why| format!(": {}", output::shown(why))).unwrap_or_default();
    anyhow::anyhow!("the gate {error}{why}")
}

fn exit_of(status: &Status) -> Exit {
    match status {
        Status::Executed => Exit::Done,
        Status::Rejected => Exit::Rejected,
        Status::Failed | Status::Other(_) => Exit::Failed,
        Status::Unknown => Exit::Unknown,
        Status::Pending
        | Status::Approved
        | Status::Running
        | Status::Expired
        | Status::Withdrawn
        | Status::Superseded => Exit::Expired,
    }
}

fn print(action: &PendingAction, json: bool) -> anyhow::Result<()> {
    let row = &action.row;
    if json {
        let result =
            action.result.as_ref().map(|result| serde_json::from_str(result.as_str())).transpose()?;
        return output::json(&SettledJson {
            version: VERSION,
            pending_action_id: row.id.as_raw(),
            status: row.status.as_raw(),
            resolved_by: row.resolved_by.as_ref().map(Untrusted::as_raw),
            reason: action.reason.as_ref().map(Untrusted::as_raw),
            result,
            error: action.error.as_ref().map(Untrusted::as_raw),
        });
    }
    let by = row.resolved_by.as_ref().map(|by| format!(" by {}", output::name(by))).unwrap_or_default();
    let why = action.error.as_ref().or(action.reason.as_ref());
    let why = why.map(|why| format!(": {}", output::shown(why))).unwrap_or_default();
    let said = match row.status {
        Status::Pending => "still pending; nobody decided in time".to_owned(),
        _ => format!("{}{by}{why}", output::shown(&row.status.word())),
    };
    output::line(&format!("{} {said}", output::identifier(row.id.untrusted())))?;
    if let Some(result) = &action.result {
        output::line(&output::shown(&Untrusted::from(result.as_str())))?;
    }
    Ok(())
}
