//! Deciding: one action, or a batch with default-skip.

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::approvals::ApprovalCount;

/// `POST …/{id}/approve`. An empty body is an approval as proposed.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Approve {
    #[serde(default, alias = "user_edits", skip_serializing_if = "Option::is_none")]
    pub user_edits: Option<Box<RawValue>>,
    /// Refuse (412) when the proposed content is not this one.
    #[serde(default, alias = "expected_digest", skip_serializing_if = "Option::is_none")]
    pub expected_digest: Option<String>,
    /// Refuse (412) when the content after the edits is not this one.
    #[serde(default, alias = "expected_effective_digest", skip_serializing_if = "Option::is_none")]
    pub expected_effective_digest: Option<String>,
    /// Refuse (412) when anything else that was agreed to has changed: the `terms` of the action as it was read.
    #[serde(default, alias = "expected_terms", skip_serializing_if = "Option::is_none")]
    pub expected_terms: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How it was decided: `screen`, `plain`, `shell` or `http`, which is what a client that does not say is taken for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
}

/// `POST …/{id}/reject`.
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

/// `POST …/batch/{batchId}/approve`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchApprove {
    #[serde(deserialize_with = "objects")]
    pub items: Vec<BatchItem>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
}

/// Listed = approve, `exclude` = reject, not listed = left pending.
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
    /// Refuse (412) when anything else that was agreed to has changed: the `terms` of the action as it was read.
    #[serde(default, alias = "expected_terms", skip_serializing_if = "Option::is_none")]
    pub expected_terms: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Items that are objects. Serde would take an array for one, field by field: nothing is decided by accident.
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

/// The answer to a batch: the three counts of Praxiom's contract, our `failed`, and one entry for each item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BatchReply {
    pub batch_id: String,
    #[serde(flatten)]
    pub counts: Counts,
    pub items: Vec<BatchReplyItem>,
}

impl BatchReply {
    /// Counts what became of the items.
    pub fn of(batch_id: String, items: Vec<BatchReplyItem>) -> Self {
        Self { batch_id, counts: Counts::of(&items), items }
    }
}

/// The counts of a reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    pub approved: u64,
    pub rejected: u64,
    /// Settled by somebody else between the list and this request.
    pub skipped: u64,
    /// Changed, invalid or missing.
    pub failed: u64,
    /// Approved by one more person, and pending until others do. Absent where there are none.
    #[serde(skip_serializing_if = "is_none")]
    pub accepted: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
const fn is_none(count: &u64) -> bool {
    *count == 0
}

impl Counts {
    pub fn of<'a>(items: impl IntoIterator<Item = &'a BatchReplyItem>) -> Self {
        let mut counts = Self::default();
        for item in items {
            *match item.outcome {
                ItemOutcome::Approved => &mut counts.approved,
                ItemOutcome::Rejected => &mut counts.rejected,
                ItemOutcome::Skipped => &mut counts.skipped,
                ItemOutcome::Accepted => &mut counts.accepted,
                ItemOutcome::Changed | ItemOutcome::Invalid | ItemOutcome::Missing => &mut counts.failed,
            } += 1;
        }
        counts
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BatchReplyItem {
    pub pending_action_id: String,
    pub outcome: ItemOutcome,
    /// The action's status now; absent when it is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved_by: Option<String>,
    /// Only of what is accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approvals: Option<ApprovalCount>,
    /// Why it is changed, invalid or missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ItemOutcome {
    Approved,
    Rejected,
    Skipped,
    /// It counts, and more people must approve it.
    Accepted,
    Changed,
    Invalid,
    Missing,
}
