//! The final result of a call for the agent, which can append it to its conversation unchanged.

use serde::Serialize;

use crate::domain::{PendingAction, Status, Untrusted, json};

pub const DECLINED: &str = "User declined to run this tool.";

const LAPSED: &str = "A human approved this call, but nobody ran it in time. It did not run.";

const VOIDED: &str = "A human approved this call, and the approval was withdrawn. It did not run.";

/// Words a rejection for the model. A full sentence shows that a person gave the reason, not the tool.
pub fn denial(reason: Option<&str>) -> String {
    let reason = reason.map(str::trim).unwrap_or_default();
    match reason.strip_suffix('.').unwrap_or(reason) {
        "" => DECLINED.to_owned(),
        reason => format!("A human rejected this call: {reason}. Do not repeat it unchanged."),
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// The id of the call, if the proposer sent it.
    pub tool_call_id: Option<String>,
    pub ok: bool,
    /// The result: a decoded string, or other JSON as its exact text. Without one, the reason.
    pub content: String,
}

impl ToolResult {
    /// `None` if the action is not final.
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
            Status::Rejected => denial(action.reason.as_ref().map(Untrusted::as_raw)),
            Status::Expired if action.row.has_lapsed() && action.error.is_some() => VOIDED.to_owned(),
            Status::Expired if action.row.has_lapsed() => LAPSED.to_owned(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rejection_reads_as_a_full_sentence() {
        for reason in ["not on a Friday", "not on a Friday.", " not on a Friday. "] {
            assert_eq!(
                denial(Some(reason)),
                "A human rejected this call: not on a Friday. Do not repeat it unchanged."
            );
        }
        for nothing in [None, Some(""), Some(" "), Some(".")] {
            assert_eq!(denial(nothing), DECLINED);
        }
    }
}
