//! A report as JSON, the same from the command line and from the screen.

use std::collections::HashMap;

use serde::Serialize;

use crate::domain::{ActionKey, Followed, Outcome, Report, ReportLine, Status, Untrusted};

/// What became of every decision, and of what was followed. Serialise it: foreign text is in it as it came.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReportJson<'a> {
    /// Of this shape, as `assets/contract/cli.schema.json` has it.
    version: u32,
    submission: &'a str,
    approved: u64,
    rejected: u64,
    skipped: u64,
    accepted: u64,
    failed: u64,
    unknown: u64,
    left_pending: u64,
    items: Vec<LineJson<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct LineJson<'a> {
    source: &'a str,
    id: &'a str,
    tool: &'a str,
    title: &'a str,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resolved_by: Option<&'a str>,
    /// With `--follow`: where the action stands now. Of a skipped one, what it was already.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

impl<'a> ReportJson<'a> {
    pub fn of(report: &'a Report, followed: &'a HashMap<ActionKey, Followed>) -> Self {
        let counts = report.counts();
        Self {
            version: 1,
            submission: report.id.as_str(),
            approved: counts.approved,
            rejected: counts.rejected,
            skipped: counts.skipped,
            accepted: counts.accepted,
            failed: counts.failed,
            unknown: counts.unknown,
            left_pending: counts.left_pending,
            items: report.lines.iter().map(|line| line_json(line, followed.get(&line.key))).collect(),
        }
    }
}

fn line_json<'a>(line: &'a ReportLine, followed: Option<&'a Followed>) -> LineJson<'a> {
    let (outcome, why, resolved_by) = outcome_words(&line.outcome);
    LineJson {
        source: line.key.source.as_str(),
        id: line.key.id.as_raw(),
        tool: line.tool.as_raw(),
        title: line.title.as_raw(),
        outcome,
        why: why.map(Untrusted::as_raw),
        resolved_by: resolved_by.map(Untrusted::as_raw),
        status: followed.map(|it| it.status.as_raw()).or_else(|| settled_as(&line.outcome)),
        error: followed.and_then(|it| it.error.as_ref()).map(Untrusted::as_raw),
    }
}

/// What a skipped action was already, where its source told.
pub fn settled_as(outcome: &Outcome) -> Option<&str> {
    match outcome {
        Outcome::Skipped { status, .. } => status.as_ref().map(Status::as_raw),
        _ => None,
    }
}

/// The outcome's word, why, and who was first.
pub fn outcome_words(outcome: &Outcome) -> (&'static str, Option<&Untrusted>, Option<&Untrusted>) {
    match outcome {
        Outcome::Approved => ("approved", None, None),
        Outcome::Rejected => ("rejected", None, None),
        Outcome::Skipped { by, .. } => ("skipped", None, by.as_ref()),
        Outcome::Accepted => ("accepted", None, None),
        Outcome::Failed { why } => ("failed", Some(why), None),
        Outcome::Unknown { why } => ("unknown", Some(why), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{ActionId, BatchKey, DecisionKind, SourceName, SubmissionId};

    #[test]
    fn skipped_decision_carries_what_its_action_was_already() {
        let line = |id: &str, outcome| {
            let key = ActionKey { source: SourceName::new("s"), id: ActionId::new(id) };
            let batch = BatchKey::Alone(key.clone());
            let (tool, title) = ("t".into(), "T".into());
            ReportLine { key, batch, tool, title, decision: DecisionKind::Reject, outcome }
        };
        let skipped = |status: Option<&str>| Outcome::Skipped { status: status.map(Status::parse), by: None };
        let lines = vec![
            line("1", skipped(Some("executed"))),
            line("2", skipped(None)),
            line("3", Outcome::Rejected),
        ];
        let report = Report { id: SubmissionId::new("r"), lines, left_pending: 0 };

        let json = serde_json::to_value(ReportJson::of(&report, &HashMap::new())).unwrap();

        let of = |n: usize| json["items"][n].get("status").and_then(serde_json::Value::as_str);
        assert_eq!([of(0), of(1), of(2)], [Some("executed"), None, None]);
    }
}
