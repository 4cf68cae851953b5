//! Checkpoints: the batches of a subtask, decided in one request.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::batch::{BatchReplyItem, Counts, objects};

/// `POST /api/checkpoints/{checkpointId}/reject`: rejects the listed actions, those that were on screen.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckpointReject {
    #[serde(deserialize_with = "objects")]
    pub items: Vec<RejectItem>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RejectItem {
    #[serde(alias = "pending_action_id")]
    pub pending_action_id: String,
    /// The proposed content must have this digest (else `changed`).
    #[serde(default, alias = "expected_digest", skip_serializing_if = "Option::is_none")]
    pub expected_digest: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The reply to approval or rejection: counts in total and by batch, and an entry per item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointReply {
    pub checkpoint_id: String,
    #[serde(flatten)]
    pub counts: Counts,
    pub batches: Vec<BatchCounts>,
    pub items: Vec<BatchReplyItem>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BatchCounts {
    /// Absent for actions without a batch and for ids outside the checkpoint.
    pub batch_id: Option<String>,
    #[serde(flatten)]
    pub counts: Counts,
}

impl CheckpointReply {
    pub fn of(checkpoint_id: String, items: Vec<(Option<String>, BatchReplyItem)>) -> Self {
        let mut places = HashMap::new();
        let mut by_batch: Vec<(Option<&str>, Vec<&BatchReplyItem>)> = Vec::new();
        for (batch, item) in &items {
            let place = *places.entry(batch.as_deref()).or_insert(by_batch.len());
            match by_batch.get_mut(place) {
                Some((_, items)) => items.push(item),
                None => by_batch.push((batch.as_deref(), vec![item])),
            }
        }
        let counted = |(batch, items): (Option<&str>, Vec<&BatchReplyItem>)| BatchCounts {
            batch_id: batch.map(str::to_owned),
            counts: Counts::of(items),
        };
        let batches = by_batch.into_iter().map(counted).collect();
        let counts = Counts::of(items.iter().map(|(_, item)| item));
        let items = items.into_iter().map(|(_, item)| item).collect();
        Self { checkpoint_id, counts, batches, items }
    }
}
