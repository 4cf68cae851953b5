//! Decisions as a table, as CSV and as JSON.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::cli::columns::{self, Column, ShortIds, chosen, foreign};
use crate::cli::{output, report};
use crate::contract::time;
use crate::domain::{Decision, Outcome, Status, SubmissionId, Timestamp, Untrusted};
use crate::journal::{Receipt, Sent, SubmissionRecord};
use crate::text::{self, Shown};

pub(super) struct Line {
    pub(super) at: Timestamp,
    pub(super) submission: SubmissionId,
    pub(super) reviewer: Option<String>,
    pub(super) sent: Sent,
    pub(super) receipt: Option<Receipt>,
}

impl Line {
    /// Takes the time that the receipt's hash covers.
    pub(super) fn of(past: &SubmissionRecord, sent: Sent, receipt: Option<Receipt>) -> Self {
        Self {
            at: receipt.as_ref().map_or(past.begun_at, |receipt| Timestamp::from_millis(receipt.at)),
            submission: past.id.clone(),
            reviewer: past.reviewer.clone(),
            sent,
            receipt,
        }
    }
}

pub(super) fn json(lines: &[Line]) -> anyhow::Result<()> {
    output::versioned(&json!({"items": lines.iter().map(line_json).collect::<Vec<_>>()}))
}

fn line_json(line: &Line) -> Value {
    let sent = &line.sent;
    let outcome = sent.outcome.as_ref();
    let receipt = |receipt: &Receipt| {
        json!({
            "seq": receipt.seq,
            "hash": receipt.hash,
            "login": receipt.login,
            "seen": receipt.seen,
            "dwellMs": receipt.dwell_ms,
            "via": receipt.via,
        })
    };
    json!({
        "at": time::write(line.at),
        "submission": line.submission.as_str(),
        "reviewer": line.reviewer,
        "source": sent.key.source.as_str(),
        "id": sent.key.id.as_raw(),
        "tool": sent.tool.as_raw(),
        "title": sent.title.as_raw(),
        "risk": sent.risk.as_raw(),
        "decision": decision(&sent.decision),
        "reason": sent.decision.said(),
        "digest": sent.digest.to_string(),
        "effectiveDigest": sent.effective.to_string(),
        "terms": sent.terms.map(|terms| terms.to_string()),
        "outcome": sent.outcome_word(),
        "why": outcome.and_then(Outcome::why).map(Untrusted::as_raw),
        "resolvedBy": outcome.and_then(Outcome::by).map(Untrusted::as_raw),
        "status": status(line),
        "error": error(line).map(Untrusted::as_raw),
        "receipt": line.receipt.as_ref().map(receipt),
    })
}

fn status(line: &Line) -> Option<&str> {
    let followed = line.sent.followed.as_ref().map(|seen| &seen.status);
    followed.or_else(|| line.sent.outcome.as_ref()?.settled_as()).map(Status::as_raw)
}

fn error(line: &Line) -> Option<&Untrusted> {
    line.sent.followed.as_ref()?.error.as_ref()
}

fn decision(decision: &Decision) -> &'static str {
    decision.kind().without_edits().word()
}

pub(super) struct Row {
    line: Line,
    /// `None` for a spreadsheet: one fact per cell, full ids, times in UTC.
    ids: Option<Arc<ShortIds>>,
}

impl Row {
    const fn is_plain(&self) -> bool {
        self.ids.is_none()
    }

    fn id(&self, id: &Untrusted) -> Shown {
        self.ids.as_ref().map_or_else(|| text::identifier(id), |ids| ids.short(id))
    }
}

type Cell = fn(&Row) -> Shown;

pub(super) fn columns() -> [Column<Row>; 23] {
    let column = |name, most, cell: Cell| Column { name, most, cell };
    [
        column("at", 24, |row| {
            let write: fn(Timestamp) -> String = if row.is_plain() { time::write } else { output::moment };
            Shown::ours(write(row.line.at))
        }),
        column("decision", 8, |row| {
            let sent = &row.line.sent.decision;
            Shown::ours(if row.is_plain() { sent.kind().word() } else { decision(sent) })
        }),
        column("via", 6, |row| said(row.line.receipt.as_ref().and_then(|it| it.via.as_deref()))),
        column("read", 14, |row| Shown::ours(seen(row.line.receipt.as_ref(), row.is_plain()))),
        column("dwell", 8, |row| number(row.line.receipt.as_ref().and_then(|it| it.dwell_ms))),
        column("source", 24, |row| text::part(row.line.sent.key.source.as_str())),
        column("id", 36, |row| row.id(row.line.sent.key.id.untrusted())),
        column("tool", 26, |row| text::identifier(&row.line.sent.tool)),
        column("risk", 8, |row| foreign(Some(&row.line.sent.risk.word()))),
        column("title", 80, |row| {
            let marked = !row.is_plain() && row.line.receipt.is_none();
            Shown::ours(if marked { "~ " } else { "" }).followed_by(text::line(&row.line.sent.title))
        }),
        column("outcome", 48, outcome),
        column("why", 48, |row| foreign(row.line.sent.outcome.as_ref().and_then(Outcome::why))),
        column("by", 24, |row| {
            row.line.sent.outcome.as_ref().and_then(Outcome::by).map(text::name).unwrap_or_default()
        }),
        column("status", 12, |row| said(status(&row.line))),
        column("error", 48, |row| foreign(error(&row.line))),
        column("reviewer", 24, |row| said(row.line.reviewer.as_deref())),
        column("login", 24, |row| said(row.line.receipt.as_ref().and_then(|it| it.login.as_deref()))),
        column("reason", 48, |row| said(row.line.sent.decision.said())),
        column("digest", 71, |row| Shown::ours(row.line.sent.digest.to_string())),
        column("effective", 71, |row| Shown::ours(row.line.sent.effective.to_string())),
        column("terms", 71, |row| said(row.line.sent.terms.map(|it| it.to_string()).as_deref())),
        column("submission", 36, |row| row.id(&row.line.submission.as_str().into())),
        column("receipt", 10, |row| number(row.line.receipt.as_ref().map(|it| it.seq))),
    ]
}

fn said(text: Option<&str>) -> Shown {
    text.map(text::part).unwrap_or_default()
}

fn number(number: Option<i64>) -> Shown {
    number.map(|number| Shown::ours(number.to_string())).unwrap_or_default()
}

fn outcome(row: &Row) -> Shown {
    let Line { sent, .. } = &row.line;
    if row.is_plain() {
        return Shown::ours(sent.outcome_word());
    }
    let edits = if sent.decision.edits().is_some() { " with edits" } else { "" };
    // Every part is safe to show.
    Shown::ours(report::became(&sent.answer(), edits, sent.followed.as_ref()))
}

pub(super) fn csv(lines: Vec<Line>, names: &[String]) -> anyhow::Result<()> {
    let or = [
        "at",
        "submission",
        "reviewer",
        "login",
        "source",
        "id",
        "tool",
        "risk",
        "title",
        "decision",
        "via",
        "reason",
        "outcome",
        "why",
        "by",
        "status",
        "error",
        "read",
        "dwell",
        "digest",
        "effective",
        "receipt",
    ];
    let rows: Vec<Row> = lines.into_iter().map(|line| Row { line, ids: None }).collect();
    Ok(columns::csv(&chosen(&columns(), names, &or), &rows)?)
}

pub(super) fn text(lines: Vec<Line>, names: &[String]) -> anyhow::Result<()> {
    let submissions: Vec<Untrusted> = lines.iter().map(|line| line.submission.as_str().into()).collect();
    let actions = lines.iter().map(|line| line.sent.key.id.untrusted());
    let ids = Some(Arc::new(ShortIds::of(actions.chain(&submissions))));
    let rows: Vec<Row> = lines.into_iter().map(|line| Row { line, ids: ids.clone() }).collect();
    let or = ["at", "decision", "via", "risk", "outcome", "read", "source", "id", "title"];
    columns::table(&chosen(&columns(), names, &or), &rows)?;
    output::line(&text::count(rows.len(), "decision"))?;
    let marked = rows.iter().filter(|row| row.line.receipt.is_none()).count();
    if marked > 0 {
        output::line(&format!(
            "~ {} that no receipt covers: somebody changed the journal, see `placet log verify`",
            text::count(marked, "title")
        ))?;
    }
    Ok(())
}

fn seen(receipt: Option<&Receipt>, plain: bool) -> String {
    let Some(receipt) = receipt else { return "no receipt".to_owned() };
    let word = match receipt.seen.as_deref() {
        Some("in_full") => "in full",
        Some("opened") => "in part",
        _ => return "never".to_owned(),
    };
    if plain {
        word.to_owned()
    } else {
        format!("{word}, {}", output::age(receipt.dwell_ms.unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_that_can_be_asked_for_is_there() {
        let names = "at decision via read dwell source id tool risk title outcome why by status error reviewer login reason digest \
                     effective terms submission receipt";
        assert_eq!(columns().map(|column| column.name).join(" "), names);
    }
}
