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
        let (mut places, mut batches, mut counts) = (HashMap::new(), Vec::new(), Counts::default());
        for (batch, item) in &items {
            let place = *places.entry(batch).or_insert(batches.len());
            if place == batches.len() {
                batches.push(BatchCounts { batch_id: batch.clone(), counts: Counts::default() });
            }
            if let Some(BatchCounts { counts, .. }) = batches.get_mut(place) {
                counts.add(item);
            }
            counts.add(item);
        }
        let items = items.into_iter().map(|(_, item)| item).collect();
        Self { checkpoint_id, counts, batches, items }
    }
}
