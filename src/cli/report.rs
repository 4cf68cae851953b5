//! The report on paper: one line a decision, then the counts; or the same as JSON.

use std::collections::HashMap;

use crate::domain::{ActionKey, DecisionKind, Followed, Outcome, Report, ReportLine, Untrusted};
use crate::inbox::ReportJson;

use super::output;

/// Prints what became of every decision, and of what was followed.
pub(super) fn print(
    report: &Report,
    followed: &HashMap<ActionKey, Followed>,
    json: bool,
) -> anyhow::Result<()> {
    let counts = report.counts();
    if json {
        return output::json(&ReportJson::of(report, followed));
    }
    for line in &report.lines {
        output::line(&line_text(line, followed.get(&line.key)))?;
    }
    output::line(&format!(
        "approved {}, rejected {}, skipped {}, accepted {}, failed {}, unknown {}; left pending {}",
        counts.approved,
        counts.rejected,
        counts.skipped,
        counts.accepted,
        counts.failed,
        counts.unknown,
        counts.left_pending
    ))?;
    Ok(())
}

fn line_text(line: &ReportLine, followed: Option<&Followed>) -> String {
    let edits = if line.decision == DecisionKind::ApproveWithEdits { " with edits" } else { "" };
    let outcome = outcome(&line.outcome, edits);
    let then = followed.map(|followed| then(&followed.status.word(), followed.error.as_ref()));
    let then = then.unwrap_or_default();
    format!(
        "{}  {outcome}{then}  {}",
        output::identifier(line.key.id.untrusted()),
        output::shown(&line.title)
    )
}

/// What came of a decision, in words; `edits` goes with an approval.
pub(super) fn outcome(outcome: &Outcome, edits: &str) -> String {
    match outcome {
        Outcome::Approved => format!("approved{edits}"),
        Outcome::Rejected => "rejected".to_owned(),
        Outcome::Skipped { status, by } => {
            let status =
                status.as_ref().map_or_else(|| "settled".to_owned(), |status| output::shown(&status.word()));
            let by = by.as_ref().map(|by| format!(" by {}", output::name(by))).unwrap_or_default();
            format!("skipped, {status}{by}")
        }
        Outcome::Accepted => "accepted".to_owned(),
        Outcome::Failed { why } => format!("failed, {}", output::shown(why)),
        Outcome::Unknown { why } => format!("unknown, {}", output::shown(why)),
    }
}

/// What came of the action later.
pub(super) fn then(status: &Untrusted, error: Option<&Untrusted>) -> String {
    let error = error.map(|error| format!(": {}", output::shown(error))).unwrap_or_default();
    format!(", then {}{error}", output::shown(status))
}
