//! The wire shapes of a proposal: what an agent sends, and the queued signal that it gets back.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::whole;

/// `POST /api/pending-actions`. Identity that is missing here is read from `toolInput`, which stays as it is.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Propose {
    #[serde(alias = "tool_name")]
    pub tool_name: String,
    /// A JSON object; kept byte for byte.
    #[serde(alias = "tool_input")]
    pub tool_input: Box<RawValue>,
    #[serde(default, alias = "workspace_id", skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<String>,
    #[serde(default, alias = "mission_id", skip_serializing_if = "Option::is_none")]
    pub mission_id: Option<String>,
    #[serde(default, alias = "session_id", skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    #[serde(default, alias = "run_id", skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    #[serde(default, alias = "tool_call_id", skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(default, alias = "requested_by", skip_serializing_if = "Option::is_none")]
    pub requested_by: Option<String>,
    #[serde(default, alias = "batch_id", skip_serializing_if = "Option::is_none")]
    pub batch_id: Option<String>,
    #[serde(default, alias = "checkpoint_id", skip_serializing_if = "Option::is_none")]
    pub checkpoint_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<Box<RawValue>>,
    /// What the target holds now, under the input's own keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<String>,
    #[serde(default, alias = "expires_at", skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// Seconds from now; not together with `expiresAt`.
    #[serde(
        default,
        alias = "ttl_seconds",
        deserialize_with = "whole::optional",
        skip_serializing_if = "Option::is_none"
    )]
    pub ttl_seconds: Option<u64>,
    /// The pending action this one replaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<String>,
    /// Who is told when it is decided, and when it is over: a name in the gate's configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback: Option<String>,
}

/// The queued signal: the call did not run. snake_case, as in Praxiom's contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queued {
    pub status: String,
    pub pending_action_id: String,
    pub tool_name: String,
    pub message: String,
}

impl Queued {
    /// Of an action that waits for a human.
    pub fn of(tool_name: String, pending_action_id: String) -> Self {
        let message = format!(
            "{tool_name} did not run. It waits for a human to approve it as pending action {pending_action_id}."
        );
        Self { status: "queued".to_owned(), pending_action_id, tool_name, message }
    }
}
