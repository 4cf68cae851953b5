//! Requests and replies for deciding one action or a batch. Actions not listed in a batch stay pending.

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::approvals::ApprovalCount;

/// `POST …/{id}/approve`. An empty body approves the action as proposed.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Approve {
    #[serde(default, alias = "user_edits", skip_serializing_if = "Option::is_none")]
    pub user_edits: Option<Box<RawValue>>,
    /// The proposed content must have this digest (else 412).
    #[serde(default, alias = "expected_digest", skip_serializing_if = "Option::is_none")]
    pub expected_digest: Option<String>,
    /// The content after the edits must have this digest (else 412).
    #[serde(default, alias = "expected_effective_digest", skip_serializing_if = "Option::is_none")]
    pub expected_effective_digest: Option<String>,
    /// The action must still have these `terms` (else 412).
    #[serde(default, alias = "expected_terms", skip_serializing_if = "Option::is_none")]
    pub expected_terms: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How it was decided: `screen`, `plain`, `shell` or `http` (the default).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Reject {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, alias = "expected_digest", skip_serializing_if = "Option::is_none")]
    pub expected_digest: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchApprove {
    #[serde(deserialize_with = "objects")]
    pub items: Vec<BatchItem>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BatchItem {
    #[serde(alias = "pending_action_id")]
    pub pending_action_id: String,
    #[serde(default, alias = "user_edits", skip_serializing_if = "Option::is_none")]
    pub user_edits: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exclude: bool,
    #[serde(default, alias = "expected_digest", skip_serializing_if = "Option::is_none")]
    pub expected_digest: Option<String>,
    #[serde(default, alias = "expected_effective_digest", skip_serializing_if = "Option::is_none")]
    pub expected_effective_digest: Option<String>,
    #[serde(default, alias = "expected_terms", skip_serializing_if = "Option::is_none")]
    pub expected_terms: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Deserializes items that must be objects. Serde would also accept arrays, field by field, so that a malformed item could become a decision.
pub(super) fn objects<'de, D: Deserializer<'de>, T: DeserializeOwned>(from: D) -> Result<Vec<T>, D::Error> {
    let items = Vec::<Box<RawValue>>::deserialize(from)?;
    let item = |raw: Box<RawValue>| {
        if !raw.get().starts_with('{') {
            return Err(D::Error::custom("an item is not an object"));
        }
        serde_json::from_str(raw.get()).map_err(D::Error::custom)
    };
    items.into_iter().map(item).collect()
}

/// The reply to a batch: Praxiom's counts, ours (`failed`, `accepted`), and an entry per item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BatchReply {
    pub batch_id: String,
    #[serde(flatten)]
    pub counts: Counts,
    pub items: Vec<BatchReplyItem>,
}

impl BatchReply {
    pub fn of(batch_id: String, items: Vec<BatchReplyItem>) -> Self {
        let mut counts = Counts::default();
        for item in &items {
            counts.add(item);
        }
        Self { batch_id, counts, items }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    pub approved: u64,
    pub rejected: u64,
    /// Settled by another client since it was listed.
    pub skipped: u64,
    pub failed: u64,
    /// Approved, but pending until more people approve. Omitted if zero.
    #[serde(skip_serializing_if = "is_none")]
    pub accepted: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde requires this signature")]
const fn is_none(count: &u64) -> bool {
    *count == 0
}

impl Counts {
    pub(super) const fn add(&mut self, item: &BatchReplyItem) {
        *match item.outcome {
            ItemOutcome::Approved => &mut self.approved,
            ItemOutcome::Rejected => &mut self.rejected,
            ItemOutcome::Skipped => &mut self.skipped,
            ItemOutcome::Accepted => &mut self.accepted,
            ItemOutcome::Changed | ItemOutcome::Invalid | ItemOutcome::Missing => &mut self.failed,
        } += 1;
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BatchReplyItem {
    pub pending_action_id: String,
    pub outcome: ItemOutcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approvals: Option<ApprovalCount>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ItemOutcome {
    Approved,
    Rejected,
    Skipped,
    /// The approval counts, but more people must approve.
    Accepted,
    Changed,
    Invalid,
    Missing,
}
