//! Outstanding counts: the pushed event `briefing`, and the counts on request.

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use serde_json::{Value, json};

use super::claim::{self, ClaimBody};
use super::fields::Fields;
use super::time;
use crate::domain::{Briefing, Outstanding, Revision, ToolOutstanding, json};

/// Data of the event `briefing`, sent on connect and on change. `id:` is the revision. Counts are totals, not
/// differences.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BriefingBody {
    pub workspace_id: String,
    pub pending: u64,
    pub blocked_missions: u64,
    /// Actions with an unknown outcome, which a person settles.
    pub unknown: u64,
    /// Approvals that no agent claimed in three quarters of their time.
    pub lapsing: u64,
    /// Runs in the last hour that differ from what was approved.
    pub ran_other: u64,
    /// Start of the pause in dispatching; absent if not paused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused_at: Option<String>,
    /// Batches, oldest first, as many as requested. A difference has only new and changed ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batches: Option<Vec<BatchBody>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<bool>,
    /// Batches no longer listed; only in a difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gone: Option<Vec<String>>,
    /// Revision of the previous briefing on the stream; only in a difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// Claims in the whole workspace, newest first, at most 1,000.
    pub claims: Vec<ClaimBody>,
    pub revision: u64,
}

impl BriefingBody {
    /// Returns the difference from an earlier briefing with the same options.
    #[must_use]
    pub fn difference(&self, earlier: &Self) -> Self {
        let (now, then) = (self.batches.as_deref(), earlier.batches.as_deref());
        let (now, then) = (now.unwrap_or_default(), then.unwrap_or_default());
        let known: HashMap<_, _> = then.iter().map(|batch| (batch.batch_id.as_str(), batch)).collect();
        let listed: HashSet<_> = now.iter().map(|batch| batch.batch_id.as_str()).collect();
        let is_news = |batch: &&BatchBody| known.get(batch.batch_id.as_str()) != Some(batch);
        let gone = then.iter().map(|batch| &batch.batch_id).filter(|id| !listed.contains(id.as_str()));
        Self {
            batches: Some(now.iter().filter(is_news).cloned().collect()),
            gone: Some(gone.cloned().collect()),
            since: Some(earlier.revision),
            workspace_id: self.workspace_id.clone(),
            paused_at: self.paused_at.clone(),
            claims: self.claims.clone(),
            ..*self
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BatchBody {
    pub batch_id: String,
    pub tool_name: String,
    pub mission_id: Option<String>,
    pub pending: u64,
    pub oldest_at: String,
    pub highest_risk: String,
}

/// `GET /api/pending-actions/counts`: outstanding actions at one moment, and the (at most 500) tools with the most.
pub fn write_counts(workspace: &str, counted: &Outstanding) -> Value {
    let tool =
        |it: &ToolOutstanding| json!({"toolName": it.tool.as_raw(), "pending": it.pending, "high": it.high});
    json!({
        "workspaceId": workspace,
        "pending": counted.pending,
        "high": counted.high,
        "oldestAt": counted.oldest.map(time::write),
        "tools": counted.tools.iter().map(tool).collect::<Vec<_>>(),
    })
}

/// `None` if the pending or high-risk count is missing.
pub fn read_counts(text: &str) -> Option<Outstanding> {
    let fields = Fields::of(text)?;
    let tool = |text: &str| {
        let fields = Fields::of(text)?;
        let (pending, high) = (fields.number("pending")?, fields.number("high")?);
        Some(ToolOutstanding { tool: fields.text("toolName")?, pending, high })
    };
    let tools = fields.raw("tools").and_then(json::elements).unwrap_or_default();
    Some(Outstanding {
        pending: fields.number("pending")?,
        high: fields.number("high")?,
        oldest: fields.time("oldestAt"),
        tools: tools.into_iter().filter_map(tool).take(Outstanding::TOOLS).collect(),
    })
}

/// Reads a briefing of the gate, or the pending count from one of Praxiom's shapes. `None` without a count; the
/// event still means that something changed.
pub fn read(data: &str) -> Option<Briefing> {
    let fields = Fields::of(data)?;
    let pending = ["pending", "pendingActions", "pendingActionCount", "pendingActionCounts"]
        .into_iter()
        .find_map(|name| fields.number(name).or_else(|| count_in(fields.raw(name)?)))
        .or_else(|| {
            let nested = fields.raw("counts").or_else(|| fields.raw("activeCounts"))?;
            Fields::of(nested)?.number("pendingActions")
        })?;
    Some(Briefing {
        pending,
        blocked_missions: fields.number("blockedMissions"),
        unknown: fields.number("unknown"),
        lapsing: fields.number("lapsing"),
        ran_other: fields.number("ranOther"),
        paused: fields.time("pausedAt"),
        claims: claim::beside(&fields),
        revision: fields.number("revision").map(Revision),
    })
}

fn count_in(object: &str) -> Option<u64> {
    let fields = Fields::of(object)?;
    ["pending", "count", "total"].into_iter().find_map(|name| fields.number(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Timestamp;

    /// A client that only reads differences would never learn about a forgotten member.
    #[test]
    fn a_difference_keeps_all_other_members() {
        let body = |n: u64, word: &str| BriefingBody {
            workspace_id: "w".to_owned(),
            pending: n,
            blocked_missions: n,
            unknown: n,
            lapsing: n,
            ran_other: n,
            paused_at: Some(word.to_owned()),
            batches: Some(Vec::new()),
            truncated: Some(n > 1),
            gone: None,
            since: None,
            claims: vec![ClaimBody {
                pending_action_id: word.to_owned(),
                claimed_by: word.to_owned(),
                claimed_at: word.to_owned(),
            }],
            revision: n,
        };
        let (earlier, now) = (body(1, "a"), body(2, "b"));

        let mut told = serde_json::to_value(now.difference(&earlier)).unwrap();

        assert_eq!((&told["gone"], &told["since"]), (&json!([]), &json!(1)));
        told.as_object_mut().unwrap().retain(|name, _| !["gone", "since"].contains(&name.as_str()));
        assert_eq!(told, serde_json::to_value(&now).unwrap());
    }

    #[test]
    fn counts_are_read_as_written() {
        let tool = ToolOutstanding { tool: "t\u{202e}".into(), pending: 3, high: 1 };
        for oldest in [None, Some(Timestamp::from_millis(1_776_794_531_420))] {
            let counted = Outstanding { pending: 4, high: 2, oldest, tools: vec![tool.clone()] };
            let text = write_counts("w", &counted).to_string();

            assert_eq!(read_counts(&text), Some(counted), "{text}");
        }
        assert_eq!(read_counts(r#"{"pending":4}"#), None, "the answer of another route");
    }

    #[test]
    fn a_count_is_found_in_every_known_shape() {
        for data in [
            r#"{"pending":3}"#,
            r#"{"pending_actions":3}"#,
            r#"{"pendingActions":{"total":3}}"#,
            r#"{"counts":{"pendingActions":3}}"#,
            r#"{"active_counts":{"pending_actions":3}}"#,
        ] {
            assert_eq!(read(data).map(|briefing| briefing.pending), Some(3), "{data}");
        }
        let said = read(r#"{"pending":3,"unknown":2,"pausedAt":"2026-04-21T18:02:11.420Z"}"#).unwrap();
        assert_eq!((said.unknown, said.paused), (Some(2), Some(Timestamp::from_millis(1_776_794_531_420))));
        assert_eq!(read(r#"{"delta":[]}"#), None);
        assert_eq!(read("[]"), None);
    }
}
