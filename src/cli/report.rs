//! The report on paper: one line a decision, then the counts; or the same as JSON.

use std::collections::HashMap;

use serde::Serialize;

use crate::domain::{ActionKey, DecisionKind, Followed, Outcome, Report, ReportLine, Untrusted};

use super::output;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReportJson<'a> {
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

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LineJson<'a> {
    source: &'a str,
    id: &'a str,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resolved_by: Option<&'a str>,
    /// With `--follow`: where the action stands now.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

/// Prints what became of every decision, and of what was followed.
pub(super) fn print(
    report: &Report,
    followed: &HashMap<ActionKey, Followed>,
    json: bool,
) -> anyhow::Result<()> {
    let counts = report.counts();
    if json {
        return output::json(&ReportJson {
            submission: report.id.as_str(),
            approved: counts.approved,
            rejected: counts.rejected,
            skipped: counts.skipped,
            accepted: counts.accepted,
            failed: counts.failed,
            unknown: counts.unknown,
            left_pending: counts.left_pending,
            items: report.lines.iter().map(|line| line_json(line, followed.get(&line.key))).collect(),
        });
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
    let outcome = match &line.outcome {
        Outcome::Approved => format!("approved{edits}"),
        Outcome::Rejected => "rejected".to_owned(),
        Outcome::Skipped { status, by } => {
            let status =
                status.as_ref().map_or_else(|| "settled".to_owned(), |status| output::shown(&status.word()));
            let by = by.as_ref().map(|by| format!(" by {}", output::shown(by))).unwrap_or_default();
            format!("skipped, {status}{by}")
        }
        Outcome::Accepted => "accepted".to_owned(),
        Outcome::Failed { why } => format!("failed, {}", output::shown(why)),
        Outcome::Unknown { why } => format!("unknown, {}", output::shown(why)),
    };
    let then = match followed {
        None => String::new(),
        Some(followed) => {
            let error = followed
                .error
                .as_ref()
                .map(|error| format!(": {}", output::shown(error)))
                .unwrap_or_default();
            format!(", then {}{error}", output::shown(&followed.status.word()))
        }
    };
    format!("{}  {outcome}{then}  {}", output::shown(line.key.id.untrusted()), output::shown(&line.title))
}

fn line_json<'a>(line: &'a ReportLine, followed: Option<&'a Followed>) -> LineJson<'a> {
    let (outcome, why, resolved_by) = match &line.outcome {
        Outcome::Approved => ("approved", None, None),
        Outcome::Rejected => ("rejected", None, None),
        Outcome::Skipped { by, .. } => ("skipped", None, by.as_ref()),
        Outcome::Accepted => ("accepted", None, None),
        Outcome::Failed { why } => ("failed", Some(why), None),
        Outcome::Unknown { why } => ("unknown", Some(why), None),
    };
    LineJson {
        source: line.key.source.as_str(),
        id: line.key.id.as_raw(),
        outcome,
        why: why.map(Untrusted::as_raw),
        resolved_by: resolved_by.map(Untrusted::as_raw),
        status: followed.map(|it| it.status.as_raw()),
        error: followed.and_then(|it| it.error.as_ref()).map(Untrusted::as_raw),
    }
}
