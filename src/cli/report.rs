//! Prints a report: one line per decision, then the counts; or as JSON.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use crate::domain::{ActionKey, DecisionKind, Followed, Outcome, Report, ReportLine, Status, Untrusted};
use crate::inbox::report_json;
use crate::journal::LastSeen;
use crate::text::{self, Shown};

use super::columns::{self, Column};
use super::output;

type FollowedLine<'a> = (&'a ReportLine, Option<&'a Followed>);

/// Prints the report as CSV, one record per decision, without counts.
pub(super) fn csv(report: &Report, followed: &HashMap<ActionKey, Followed>) -> anyhow::Result<()> {
    let column = |name, cell: fn(&FollowedLine<'_>) -> Shown| Column { name, most: usize::MAX, cell };
    let columns = [
        column("source", |(line, _)| text::part(line.key.source.as_str())),
        column("id", |(line, _)| text::identifier(line.key.id.untrusted())),
        column("tool", |(line, _)| text::identifier(&line.tool)),
        column("title", |(line, _)| text::line(&line.title)),
        column("decision", |(line, _)| Shown::ours(line.decision.word())),
        column("outcome", |(line, _)| Shown::ours(line.outcome.word())),
        column("why", |(line, _)| line.outcome.why().map(text::line).unwrap_or_default()),
        column("by", |(line, _)| line.outcome.by().map(text::name).unwrap_or_default()),
        column("status", |(line, later)| {
            let status = later.map(|later| &later.status).or(line.outcome.settled_as());
            status.map(|status| text::line(&status.word())).unwrap_or_default()
        }),
        column("error", |(_, later)| {
            later.and_then(|it| it.error.as_ref()).map(text::line).unwrap_or_default()
        }),
        column("approvals", |(line, _)| match line.outcome {
            Outcome::PartlyApproved { given, needed } => Shown::ours(format!("{given} of {needed}")),
            _ => Shown::default(),
        }),
    ];
    let rows: Vec<FollowedLine<'_>> =
        report.lines.iter().map(|line| (line, followed.get(&line.key))).collect();
    Ok(columns::csv(&columns, &rows)?)
}

/// Prints the outcome of every decision and followed action. `replaced` describes approvals that a decision replaced.
pub(super) fn print(
    report: &Report,
    followed: &HashMap<ActionKey, Followed>,
    replaced: &HashMap<ActionKey, String>,
    json: bool,
) -> anyhow::Result<()> {
    let counts = report.counts();
    // Only for an approval that counts.
    let replaced = |line: &ReportLine| {
        let counts = line.outcome == Outcome::Approved || line.outcome.is_accepted();
        replaced.get(&line.key).filter(|_| counts)
    };
    if json {
        let mut json = report_json(report, followed);
        let items = json.get_mut("items").and_then(Value::as_array_mut).into_iter().flatten();
        for (item, words) in items.zip(report.lines.iter().map(replaced)) {
            if let (Some(item), Some(words)) = (item.as_object_mut(), words) {
                item.insert("toKnow".to_owned(), json!([words]));
            }
        }
        return output::json(&json);
    }
    for line in &report.lines {
        output::line(&line_text(line, followed.get(&line.key), replaced(line)))?;
    }
    let batches = report.lines.iter().map(|line| &line.batch).collect::<HashSet<_>>().len();
    let left = match (counts.left_pending, batches) {
        (0, _) => String::new(),
        (1, _) => "; 1 still pending in its batch".to_owned(),
        (left, 1) => format!("; {left} still pending in their batch"),
        (left, _) => format!("; {left} still pending in their batches"),
    };
    let counts = counts.each().map(|(look, n)| format!("{} {n}", look.word)).join(", ");
    Ok(output::line(&format!("{counts}{left}"))?)
}

fn line_text(line: &ReportLine, followed: Option<&Followed>, replaced: Option<&String>) -> String {
    let edits = if line.decision == DecisionKind::ApproveWithEdits { " with edits" } else { "" };
    let outcome = outcome(&line.outcome, edits);
    // The outcome names who settled it, or why it is unknown.
    let followed =
        followed.filter(|_| !matches!(line.outcome, Outcome::Skipped { .. } | Outcome::Unknown { .. }));
    let then = followed.map(|it| then(&line.outcome, &it.status, it.error.as_ref()));
    let then = then.unwrap_or_default();
    let replaced = replaced.map(|words| format!("; {words}")).unwrap_or_default();
    format!(
        "{}  {outcome}{then}{replaced}  {}",
        output::identifier(line.key.id.untrusted()),
        output::shown(&line.title)
    )
}

/// Describes an outcome; `edits` is added to an approval.
pub(super) fn outcome(outcome: &Outcome, edits: &str) -> String {
    let edits = if *outcome == Outcome::Approved { edits } else { "" };
    text::outcome(outcome, outcome.by().map(text::name)).plain() + edits
}

/// Describes the latest known state of a decision: for an approval that ran, its result.
pub(super) fn became(came_to: &Outcome, edits: &str, later: Option<&LastSeen>) -> String {
    let decided = matches!(came_to, Outcome::Approved | Outcome::Rejected);
    let Some(LastSeen { status, error }) = later.filter(|_| decided) else {
        return outcome(came_to, edits);
    };
    match status {
        Status::Executed | Status::Failed | Status::Unknown if *came_to == Outcome::Approved => {
            let error = error.as_ref().map(|error| format!(": {}", output::shown(error)));
            format!("{}{edits}{}", text::status_word(status).plain(), error.unwrap_or_default())
        }
        _ => outcome(came_to, edits) + &then(came_to, status, error.as_ref()),
    }
}

/// Describes a decided action's later status, to follow the word for its outcome.
fn then(outcome: &Outcome, status: &Status, error: Option<&Untrusted>) -> String {
    match status {
        Status::Approved | Status::Running => return ", not finished yet".to_owned(),
        Status::Pending if *outcome == Outcome::Accepted => return ", waits again".to_owned(),
        _ => {}
    }
    let error = error.map(|error| format!(": {}", output::shown(error))).unwrap_or_default();
    if (outcome, status) == (&Outcome::Rejected, &Status::Rejected) {
        return error;
    }
    format!(", then {}{error}", text::status_word(status).plain())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{ActionId, BatchKey, SourceName};

    #[test]
    fn approval_line_says_which_approvals_it_replaced() {
        let key = ActionKey { source: SourceName::new("s"), id: ActionId::new("1") };
        let (batch, decision) = (BatchKey::Alone(key.clone()), DecisionKind::Approve);
        let outcome = Outcome::PartlyApproved { given: 1, needed: 2 };
        let line = ReportLine { key, batch, tool: "t".into(), title: "T".into(), decision, outcome };
        let replaced = "takes the place of ann's approval".to_owned();

        assert_eq!(
            line_text(&line, None, Some(&replaced)),
            "1  accepted, 1 of 2: 1 more person must approve; takes the place of ann's approval  T"
        );
    }

    #[test]
    fn line_says_nothing_twice() {
        let key = ActionKey { source: SourceName::new("s"), id: ActionId::new("1") };
        let line = |decision, outcome, status: &str, error: Option<&str>| {
            let (batch, title) = (BatchKey::Alone(key.clone()), Untrusted::from("T"));
            let line = ReportLine { key: key.clone(), batch, tool: "t".into(), title, decision, outcome };
            let (status, error) = (Status::parse(status), error.map(Untrusted::from));
            let (key, title) = (key.clone(), "T".into());
            let at = crate::domain::Timestamp::default();
            let followed = Followed { key, title, status, result: None, error, outcome: None, at };
            line_text(&line, Some(&followed), None)
        };
        let (reject, retry) = (DecisionKind::Reject, DecisionKind::Retry);

        assert_eq!(line(reject, Outcome::Rejected, "rejected", None), "1  rejected  T");
        let failed = line(reject, Outcome::Rejected, "rejected", Some("the undo failed"));
        assert_eq!(failed, "1  rejected: the undo failed  T");
        assert_eq!(line(retry, Outcome::Accepted, "pending", None), "1  accepted, waits again  T");
        let lost = Outcome::Unknown { why: "stuck".into() };
        assert_eq!(line(retry, lost, "unknown", Some("stuck")), "1  unknown, stuck  T");
    }

    #[test]
    fn decision_is_told_by_what_became_of_its_action() {
        let seen = |status: &str, error: Option<&str>| LastSeen {
            status: Status::parse(status),
            error: error.map(Untrusted::from),
        };
        let told = |outcome: Outcome, edits, later: Option<LastSeen>| became(&outcome, edits, later.as_ref());
        let approved = || Outcome::Approved;

        assert_eq!(told(approved(), "", None), "approved");
        assert_eq!(told(approved(), "", Some(seen("approved", None))), "approved, not finished yet");
        assert_eq!(told(approved(), "", Some(seen("running", None))), "approved, not finished yet");
        assert_eq!(told(approved(), " with edits", Some(seen("executed", None))), "executed with edits");
        assert_eq!(told(approved(), "", Some(seen("failed", Some("no\u{7}")))), "failed: no⟦BEL⟧");
        assert_eq!(told(approved(), "", Some(seen("unknown", None))), "unknown");
        assert_eq!(told(approved(), "", Some(seen("expired", None))), "approved, then expired");
        assert_eq!(told(Outcome::Accepted, "", Some(seen("executed", None))), "accepted");
        assert_eq!(told(Outcome::Rejected, "", None), "rejected");
        assert_eq!(told(Outcome::Rejected, "", Some(seen("rejected", None))), "rejected");
        let not_undone = Some(seen("rejected", Some("the undo of \"Book\" failed")));
        assert_eq!(told(Outcome::Rejected, "", not_undone), "rejected: the undo of \"Book\" failed");
        let partly = Outcome::PartlyApproved { given: 1, needed: 3 };
        assert_eq!(told(partly, "", None), "accepted, 1 of 3: 2 more people must approve");
    }
}
