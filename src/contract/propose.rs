//! Wire shapes of a proposal: the agent's request and the queued signal it receives.

use std::borrow::Cow;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use super::whole;
use crate::domain::{ActionId, PendingAction, RawJson, Row, Untrusted};

/// Maximum characters of an id, agent or other short text of a proposal.
pub const ID_MAX: usize = 512;
const SUMMARY_MAX: usize = 16_384;

/// Shortens an id of more than [`ID_MAX`] characters to `sha256:` and the hex digits of its hash.
pub fn short_id(id: &str) -> Cow<'_, str> {
    if id.len() <= ID_MAX || id.chars().count() <= ID_MAX {
        return Cow::Borrowed(id);
    }
    Cow::Owned(format!("sha256:{:x}", Sha256::digest(id)))
}

#[expect(clippy::ref_option, reason = "serde asks so")]
fn shortened<S: Serializer>(id: &Option<String>, to: S) -> Result<S::Ok, S::Error> {
    id.as_deref().map(short_id).serialize(to)
}

/// `POST /api/pending-actions`. Missing identity is read from `toolInput`, which stays unchanged. Ids that are too long
/// for the gate are serialized with [`short_id`].
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
    #[serde(alias = "mission_id", serialize_with = "shortened", skip_serializing_if = "Option::is_none")]
    pub mission_id: Option<String>,
    #[serde(alias = "session_id", serialize_with = "shortened", skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    #[serde(alias = "run_id", serialize_with = "shortened", skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    #[serde(alias = "tool_call_id", serialize_with = "shortened", skip_serializing_if = "Option::is_none")]
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
    /// Current values of the target, under the input's keys.
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
        deserialize_with = "whole::seconds",
        skip_serializing_if = "Option::is_none"
    )]
    pub ttl_seconds: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<String>,
    /// Receiver to notify of decision and end: a name in the gate's configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback: Option<String>,
}

impl Propose {
    /// Returns the action with all that the proposer decides alone. The gate adds the rest.
    pub fn action(&self, id: ActionId, input: RawJson) -> PendingAction {
        let text = |field: &Option<String>| field.as_deref().map(Untrusted::from);
        let tool = Untrusted::from(self.tool_name.as_str());
        let row = Row {
            workspace: text(&self.workspace_id),
            mission: text(&self.mission_id),
            session: text(&self.session_id),
            run: text(&self.run_id),
            agent: text(&self.agent),
            checkpoint: text(&self.checkpoint_id),
            ..Row::new(id, tool.clone(), tool)
        };
        PendingAction {
            summary: text(&self.summary),
            requested_by: text(&self.requested_by),
            tool_call: text(&self.tool_call_id),
            // It does not affect the run, so an unusable value is dropped like a preview.
            before: self.before.as_ref().and_then(|before| RawJson::parse(before.get()).ok()),
            ..PendingAction::new(row, input.clone(), input)
        }
    }

    /// The texts that are stored, with the maximum of characters of each: rows are read by the thousand.
    pub const fn texts(&self) -> [(&'static str, &Option<String>, usize); 12] {
        [
            ("missionId", &self.mission_id, ID_MAX),
            ("sessionId", &self.session_id, ID_MAX),
            ("runId", &self.run_id, ID_MAX),
            ("toolCallId", &self.tool_call_id, ID_MAX),
            ("agent", &self.agent, ID_MAX),
            ("requestedBy", &self.requested_by, ID_MAX),
            ("batchId", &self.batch_id, ID_MAX),
            ("checkpointId", &self.checkpoint_id, ID_MAX),
            ("supersedes", &self.supersedes, ID_MAX),
            ("risk", &self.risk, ID_MAX),
            ("effect", &self.effect, ID_MAX),
            ("summary", &self.summary, SUMMARY_MAX),
        ]
    }
}

/// The queued signal: the call did not run. In snake_case, as in Praxiom's contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queued {
    pub status: String,
    pub pending_action_id: String,
    pub tool_name: String,
    pub message: String,
}

impl Queued {
    pub fn of(tool_name: String, pending_action_id: String) -> Self {
        let message = format!(
            "{tool_name} did not run. It waits for a human to approve it as pending action {pending_action_id}."
        );
        Self { status: "queued".to_owned(), pending_action_id, tool_name, message }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_ids_are_sent_as_their_hash() {
        let long = "ü".repeat(ID_MAX + 1);
        let proposal = Propose {
            mission_id: Some(long.clone()),
            session_id: Some(long.clone()),
            run_id: Some(long.clone()),
            tool_call_id: Some(long),
            agent: Some("ü".repeat(ID_MAX)),
            ..Propose::default()
        };

        let sent = serde_json::to_value(&proposal).unwrap();

        // printf 'ü%.0s' $(seq 513) | sha256sum
        let hash = "sha256:c8f23a14e3b15d92c39a192d59ac2047da39c59824ff2a7e364df7b83cf63f1c";
        for name in ["missionId", "sessionId", "runId", "toolCallId"] {
            assert_eq!(sent[name], hash, "{name}");
        }
        assert_eq!(short_id(&"ü".repeat(ID_MAX)), "ü".repeat(ID_MAX));
    }
}
