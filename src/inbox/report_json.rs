//! A report as JSON, for the command line and the screen.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::contract::absent::without_nulls;
use crate::domain::{ActionKey, Followed, Outcome, Report, ReportLine, Status, Untrusted};

/// Returns outcomes and followed actions in the form of `assets/contract/cli.schema.json`. Foreign text is unchanged.
pub fn report_json(report: &Report, followed: &HashMap<ActionKey, Followed>) -> Value {
    let counts = report.counts();
    let line = |line: &ReportLine| {
        let later = followed.get(&line.key);
        without_nulls(json!({
            "source": line.key.source.as_str(),
            "id": line.key.id.as_raw(),
            "tool": line.tool.as_raw(),
            "title": line.title.as_raw(),
            "outcome": line.outcome.word(),
            "why": line.outcome.why().map(Untrusted::as_raw),
            "resolvedBy": line.outcome.by().map(Untrusted::as_raw),
            "status": later.map(|it| &it.status).or(line.outcome.settled_as()).map(Status::as_raw),
            "approvals": approvals(&line.outcome),
            "error": later.and_then(|it| it.error.as_ref()).map(Untrusted::as_raw),
        }))
    };
    json!({
        "version": 1,
        "submission": report.id.as_str(),
        "approved": counts.approved,
        "rejected": counts.rejected,
        "skipped": counts.skipped,
        "accepted": counts.accepted,
        "failed": counts.failed,
        "unknown": counts.unknown,
        "leftPending": counts.left_pending,
        "items": report.lines.iter().map(line).collect::<Vec<_>>(),
    })
}

/// Returns the given and needed approvals after an approval that was not the last.
fn approvals(outcome: &Outcome) -> Option<Value> {
    match outcome {
        Outcome::PartlyApproved { given, needed } => Some(json!({"given": given, "needed": needed})),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{ActionId, BatchKey, DecisionKind, SourceName, SubmissionId};

    #[test]
    fn report_names_skipped_status_and_counts_approvals() {
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
            line("4", Outcome::PartlyApproved { given: 1, needed: 2 }),
        ];
        let report = Report { id: SubmissionId::new("r"), lines, left_pending: 0 };

        let json = report_json(&report, &HashMap::new());

        let of = |n: usize| json["items"][n].get("status").and_then(Value::as_str);
        assert_eq!([of(0), of(1), of(2)], [Some("executed"), None, None]);
        let partly = &json["items"][3];
        assert_eq!(
            (&partly["outcome"], &partly["approvals"]),
            (&json!("accepted"), &json!({"given": 1, "needed": 2}))
        );
        assert_eq!(json["accepted"], 1);
    }
}
