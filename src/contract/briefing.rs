//! Outstanding counts: the `briefing` event, which is pushed, and the counts that are asked for.

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use serde_json::{Value, json};

use super::claim::{self, ClaimBody};
use super::fields::Fields;
use super::time;
use crate::domain::{Briefing, Outstanding, Revision, ToolOutstanding, json};

/// Data of the event `briefing`, sent on connect and on change. `id:` is the revision. The counts are always whole.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BriefingBody {
    pub workspace_id: String,
    pub pending: u64,
    /// Missions with at least one pending action.
    pub blocked_missions: u64,
    /// Actions whose outcome nobody knows; a human settles them.
    pub unknown: u64,
    /// Approvals that no agent claimed in three quarters of their time.
    pub lapsing: u64,
    /// Runs of the last hour of something else than what was approved.
    pub ran_other: u64,
    /// Since when nothing approved is run here; absent while it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused_at: Option<String>,
    /// The oldest first, as many as were asked for; absent where none were. Of a difference, those that are new or not as they were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batches: Option<Vec<BatchBody>>,
    /// More batches wait than are listed; absent with them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<bool>,
    /// Of a difference only: batches that are listed no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gone: Option<Vec<String>>,
    /// Of a difference only: the revision of the briefing before it, on the same stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// Who is on what in the whole workspace, the newest first; at most 1,000.
    pub claims: Vec<ClaimBody>,
    pub revision: u64,
}

impl BriefingBody {
    /// What differs from an earlier briefing of the same counts.
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

/// `GET /api/pending-actions/counts`: what waits, all of one moment; the tools of which most waits, at most 500.
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

/// `None` when it does not say how many wait and how many of them are high-risk.
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

/// Reads a briefing of ours, or the pending count from one of the shapes Praxiom may send. `None` when there is no count
/// in it: then it still means "something changed".
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

    /// A member that a difference forgot would never be told to who asks for differences only.
    #[test]
    fn difference_has_every_member_that_is_not_of_batches_whole() {
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
    fn counts_are_read_as_they_were_written() {
        let tool = ToolOutstanding { tool: "t\u{202e}".into(), pending: 3, high: 1 };
        for oldest in [None, Some(Timestamp::from_millis(1_776_794_531_420))] {
            let counted = Outstanding { pending: 4, high: 2, oldest, tools: vec![tool.clone()] };
            let text = write_counts("w", &counted).to_string();

            assert_eq!(read_counts(&text), Some(counted), "{text}");
        }
        assert_eq!(read_counts(r#"{"pending":4}"#), None, "another route's answer");
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
