//! What an agent is told in the end, in a form it can append to its conversation as it stands.

use serde::Serialize;

use crate::domain::{PendingAction, Status, Untrusted, json};

/// The words for a rejection without a reason.
pub const DECLINED: &str = "User declined to run this tool.";

/// The result of a tool call that went through the gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// The call this answers, where the proposer named it.
    pub tool_call_id: Option<String>,
    /// It ran and succeeded.
    pub ok: bool,
    /// A string result as it is meant, any other result as its exact JSON text; else why there is none.
    pub content: String,
}

impl ToolResult {
    /// `None` while something may still happen to the action.
    pub fn of(action: &PendingAction) -> Option<Self> {
        let said = |text: &Option<Untrusted>, otherwise: &str| match text {
            Some(text) => text.as_raw().to_owned(),
            None => otherwise.to_owned(),
        };
        let content = match &action.row.status {
            Status::Pending | Status::Approved | Status::Running | Status::Other(_) => return None,
            Status::Executed => {
                action.result.as_ref().map(|result| meaning(result.as_str())).unwrap_or_default()
            }
            Status::Failed => said(&action.error, "The tool failed."),
            Status::Unknown => said(&action.error, "Nobody knows whether the tool ran."),
            Status::Rejected => said(&action.reason, DECLINED),
            Status::Expired => "Nobody decided in time; the tool did not run.".to_owned(),
            Status::Withdrawn => "The proposal was withdrawn; the tool did not run.".to_owned(),
            Status::Superseded => "Another proposal took its place; the tool did not run.".to_owned(),
        };
        Some(Self {
            tool_call_id: action.tool_call.as_ref().map(|id| id.as_raw().to_owned()),
            ok: action.row.status == Status::Executed,
            content,
        })
    }
}

fn meaning(result: &str) -> String {
    if result.starts_with('"') { json::decode(result).text.into_owned() } else { result.to_owned() }
}
