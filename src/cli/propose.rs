//! `placet propose`: proposes a call from a shell.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args as ClapArgs;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::contract::propose::{Propose, Queued};
use crate::domain::{PendingAction, Status, Untrusted};
use crate::sources::{AgentClient, SourceError, TokenOpens};
use crate::text;

use super::exit::{Exit, Usage};
use super::{input, output};

/// Propose an action, as an agent would
#[derive(Debug, ClapArgs)]
pub struct ProposeArgs {
    /// The tool that would be called
    pub tool: String,
    /// Its input, a JSON object; - reads standard input. Every byte is kept
    #[arg(long, value_name = "FILE")]
    pub input: PathBuf,
    /// The target's current values, JSON under the input's keys: reviewers see before and after
    #[arg(long, value_name = "FILE")]
    pub before: Option<PathBuf>,
    /// One sentence for the reviewer
    #[arg(long)]
    pub summary: Option<String>,
    /// low, medium, high, critical: only above the tool's own
    #[arg(long, value_name = "WORD", value_parser = ["low", "medium", "high", "critical"], hide_possible_values = true)]
    pub risk: Option<String>,
    /// The workspace [default: the token's]
    #[arg(long)]
    pub workspace: Option<String>,
    #[arg(long)]
    pub mission: Option<String>,
    #[arg(long)]
    pub session: Option<String>,
    #[arg(long)]
    pub agent: Option<String>,
    /// The batch [default: MISSION:TOOL]
    #[arg(long)]
    pub batch: Option<String>,
    /// Callback to tell of the decision and the outcome: a name in the gate's configuration
    #[arg(long, value_name = "NAME")]
    pub callback: Option<String>,
    /// Propose it to this gate [default: PLACET_URL, else the configured gate, else the one on this machine]
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// The file with the token to propose with [default: PLACET_TOKEN, else PLACET_TOKEN_FILE]
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// The CA certificate of that gate, in PEM
    #[arg(long, value_name = "FILE", requires = "url")]
    pub ca_file: Option<PathBuf>,
    /// Wait until it is executed, rejected or expired, at most this many seconds. The token also needs the scope read
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "3600")]
    pub wait: Option<u64>,
    /// One JSON object; with --wait a second one, a line each
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Queue {
    /// The URLs of a running gate; after the proposal, the URL that took it.
    Url(String),
    /// The database of this machine's gate, which is not running.
    Database(PathBuf),
}

#[derive(Serialize)]
struct QueuedJson<'a> {
    #[serde(flatten)]
    queued: &'a Queued,
    #[serde(flatten)]
    queue: &'a Queue,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SettledJson<'a> {
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

pub async fn run(proposer: &AgentClient, args: &ProposeArgs, queue: &Queue) -> anyhow::Result<Exit> {
    let tool_input = json("the input", &args.input)?;
    let before = args.before.as_ref().map(|path| json("the state before", path)).transpose()?;
    let workspace = match &args.workspace {
        Some(workspace) if args.wait.is_none() => Some(workspace.clone()),
        named => {
            let token = proposer.token().await.map_err(|error| told(&error, queue))?;
            may(&token, args.wait.is_some())?;
            named.clone().or(Some(token.workspace))
        }
    };
    let queued = proposer
        .propose(&Propose {
            tool_name: args.tool.clone(),
            tool_input,
            before,
            workspace_id: workspace,
            mission_id: args.mission.clone(),
            session_id: args.session.clone(),
            agent: args.agent.clone(),
            batch_id: args.batch.clone(),
            summary: args.summary.clone(),
            risk: args.risk.clone(),
            callback: args.callback.clone(),
            ..Propose::default()
        })
        .await
        .map_err(|error| told(&error, queue))?;
    let taken = match queue {
        Queue::Url(_) => &Queue::Url(proposer.url().to_owned()),
        Queue::Database(_) => queue,
    };
    // Printed first, because a caller that does not learn the id proposes the same again.
    let id = Untrusted::from(queued.pending_action_id.as_str());
    if args.json {
        output::versioned(&QueuedJson { queued: &queued, queue: taken })?;
    } else {
        let place = match taken {
            Queue::Url(url) => format!("at {url}"),
            Queue::Database(path) => format!("in {}, no gate is running", path.display()),
        };
        output::line(&format!(
            "queued {} {place}; nothing runs until somebody approves it",
            output::identifier(&id)
        ))?;
    }
    let Some(seconds) = args.wait else { return Ok(Exit::Done) };
    let waited = proposer.wait(&queued.pending_action_id, Duration::from_secs(seconds)).await;
    let settled = waited.map_err(|error| {
        told(&error, queue).context(format!(
            "{} stays queued, do not propose it again; what became of it cannot be read",
            output::identifier(&id)
        ))
    })?;
    print(&settled, args.json)?;
    Ok(exit_of(&settled.row.status))
}

/// Reads a JSON file, byte for byte.
fn json(what: &str, path: &Path) -> anyhow::Result<Box<RawValue>> {
    let text = input::given(path)?;
    serde_json::from_str(text.trim_start_matches('\u{feff}').trim())
        .map_err(|error| anyhow::anyhow!("{what} is not JSON: {error}"))
}

/// Checks the token's scopes before anything is sent.
fn may(token: &TokenOpens, waits: bool) -> Result<(), Usage> {
    if token.lacks("propose") {
        let lacks = "this token lacks the scope `propose`; nothing was proposed. Use one that has it";
        return Err(Usage(lacks.to_owned()));
    }
    if waits && token.lacks("read") {
        let lacks = "--wait reads the action, and this token lacks the scope `read`; nothing was proposed. \
                     Use a token that has it, or leave --wait out";
        return Err(Usage(lacks.to_owned()));
    }
    Ok(())
}

fn told(error: &SourceError, queue: &Queue) -> anyhow::Error {
    let why = error.why().map(|why| format!(": {}", output::shown(why))).unwrap_or_default();
    match queue {
        Queue::Url(url) => anyhow::anyhow!("the gate at {url} {error}{why}"),
        Queue::Database(_) => anyhow::anyhow!("the gate {error}{why}"),
    }
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
        return output::versioned(&SettledJson {
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
        Status::Pending => "still pending; not decided in time".to_owned(),
        Status::Expired if row.has_lapsed() && action.error.is_some() => format!("expired{why}"),
        Status::Expired if row.has_lapsed() => {
            format!("expired: it was approved{by}, and nobody ran it in time")
        }
        _ => format!("{}{by}{why}", text::status_word(&row.status).plain()),
    };
    output::line(&format!("{} {said}", output::identifier(row.id.untrusted())))?;
    if let Some(result) = &action.result {
        output::line(&output::shown(&Untrusted::from(result.as_str())))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opens(scopes: &[&str]) -> TokenOpens {
        let scopes = scopes.iter().map(|scope| (*scope).to_owned()).collect();
        TokenOpens { workspace: "w".to_owned(), scopes }
    }

    #[test]
    fn a_token_that_may_only_propose_does_not_wait() {
        assert!(may(&opens(&["propose"]), false).is_ok());
        assert!(may(&opens(&["propose"]), true).unwrap_err().to_string().contains("lacks the scope `read`"));
        assert!(may(&opens(&["read"]), false).unwrap_err().to_string().contains("lacks the scope `propose`"));
        assert!(may(&opens(&["propose", "read"]), true).is_ok());
    }
}
