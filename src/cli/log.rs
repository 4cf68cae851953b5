//! `placet log`: what was decided from here, and the receipts that prove it.

use serde::Serialize;

use crate::contract::fields::Fields;
use crate::contract::time;
use crate::domain::{Decision, SubmissionId, Timestamp, Untrusted};
use crate::inbox::outcome_words;
use crate::journal::{Journal, Receipt, Sent};
use crate::text;

use super::args::{LogArgs, LogCommand};
use super::output;
use super::{Exit, Usage, receipts, report};

/// Submissions read at a time.
const PAGE: u32 = 100;

/// `journal` is `None` where nothing was ever decided. Reads only, also while inboxes run.
pub async fn log(journal: Option<&Journal>, args: &LogArgs, now: Timestamp) -> anyhow::Result<Exit> {
    let missing = || Usage("there is no journal here; PLACET_STATE_DIR says where to look".to_owned());
    match &args.command {
        None => list(journal, args, now).await,
        Some(LogCommand::Verify { head, json }) => {
            receipts::verify(journal.ok_or_else(missing)?, head.as_deref(), *json).await
        }
        Some(LogCommand::Export { to }) => {
            receipts::export(journal.ok_or_else(missing)?, to.as_deref()).await
        }
    }
}

/// One decision, with what its receipts tell.
struct Line {
    at: Timestamp,
    submission: SubmissionId,
    reviewer: Option<String>,
    sent: Sent,
    receipt: Option<Receipt>,
    followed: Option<Followed>,
}

/// Where an action that was approved was last seen.
struct Followed {
    status: Untrusted,
    error: Option<Untrusted>,
}

#[derive(Serialize)]
struct LogJson<'a> {
    version: u32,
    items: Vec<LineJson<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LineJson<'a> {
    at: String,
    submission: &'a str,
    reviewer: Option<&'a str>,
    source: &'a str,
    id: &'a str,
    tool: &'a str,
    title: &'a str,
    decision: &'static str,
    reason: Option<&'a str>,
    digest: String,
    effective_digest: String,
    terms: Option<String>,
    /// `unknown` also where it is not known whether it was sent.
    outcome: &'static str,
    why: Option<&'a str>,
    resolved_by: Option<&'a str>,
    /// Where the action was last seen, when it was followed.
    status: Option<&'a str>,
    error: Option<&'a str>,
    /// `null`: from before there were receipts.
    receipt: Option<ProofJson<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ProofJson<'a> {
    seq: i64,
    hash: &'a str,
    login: Option<&'a str>,
    seen: Option<&'a str>,
    dwell_ms: Option<i64>,
}

async fn list(journal: Option<&Journal>, args: &LogArgs, now: Timestamp) -> anyhow::Result<Exit> {
    let since = args.since.as_deref().map(|text| moment(text, now)).transpose()?;
    let lines = match journal {
        Some(journal) => read(journal, args, since).await?,
        None => Vec::new(),
    };
    if args.json {
        let items = lines.iter().map(line_json).collect();
        output::json(&LogJson { version: 1, items })?;
    } else {
        table(&lines)?;
    }
    Ok(Exit::Done)
}

/// Newest first.
async fn read(journal: &Journal, args: &LogArgs, since: Option<Timestamp>) -> anyhow::Result<Vec<Line>> {
    let limit = usize::try_from(args.limit)?;
    let (mut lines, mut skip) = (Vec::new(), 0);
    loop {
        let page = journal.log_page(skip, PAGE).await?;
        let end = page.len() < PAGE as usize;
        skip += PAGE;
        for past in page {
            if since.is_some_and(|since| past.begun_at < since) || lines.len() >= limit {
                return Ok(lines);
            }
            let receipts = journal.receipts_of(&past.id).await?;
            let wanted =
                |sent: &Sent| args.source.as_deref().is_none_or(|source| source == sent.key.source.as_str());
            for sent in past.items.into_iter().filter(wanted).take(limit - lines.len()) {
                let of = |kind: &'static str| {
                    let about = |it: &&Receipt| {
                        it.kind == kind
                            && it.source == sent.key.source.as_str()
                            && it.action == sent.key.id.as_raw()
                    };
                    receipts.iter().rfind(about)
                };
                lines.push(Line {
                    at: past.begun_at,
                    submission: past.id.clone(),
                    reviewer: past.reviewer.clone(),
                    receipt: of("sent").cloned(),
                    followed: of("followed").and_then(|it| followed(it.outcome.as_deref()?)),
                    sent,
                });
            }
        }
        if end {
            return Ok(lines);
        }
    }
}

fn followed(outcome: &str) -> Option<Followed> {
    let fields = Fields::of(outcome)?;
    Some(Followed { status: fields.text("status")?, error: fields.text("error") })
}

/// A time ago like `12h` or `30d`, or a moment.
fn moment(text: &str, now: Timestamp) -> Result<Timestamp, Usage> {
    if let Ok(ago) = output::duration(text) {
        let millis = i64::try_from(ago.as_millis()).unwrap_or(i64::MAX);
        return Ok(now.plus_millis(millis.saturating_neg()));
    }
    let wrong = || Usage(format!("{text:?} is no time; write it like 12h, 30d or 2026-11-22T08:00:00Z"));
    time::read(text).ok_or_else(wrong)
}

fn line_json(line: &Line) -> LineJson<'_> {
    let sent = &line.sent;
    let (outcome, why, by) = sent.outcome.as_ref().map_or(("unknown", None, None), outcome_words);
    LineJson {
        at: time::write(line.at),
        submission: line.submission.as_str(),
        reviewer: line.reviewer.as_deref(),
        source: sent.key.source.as_str(),
        id: sent.key.id.as_raw(),
        tool: sent.tool.as_raw(),
        title: sent.title.as_raw(),
        decision: decision(&sent.decision),
        reason: sent.decision.said(),
        digest: sent.digest.to_string(),
        effective_digest: sent.effective.to_string(),
        terms: sent.terms.map(|terms| terms.to_string()),
        outcome,
        why: why.map(Untrusted::as_raw),
        resolved_by: by.map(Untrusted::as_raw),
        status: line.followed.as_ref().map(|followed| followed.status.as_raw()),
        error: line.followed.as_ref().and_then(|followed| followed.error.as_ref()).map(Untrusted::as_raw),
        receipt: line.receipt.as_ref().map(|receipt| ProofJson {
            seq: receipt.seq,
            hash: &receipt.hash,
            login: receipt.login.as_deref(),
            seen: receipt.seen.as_deref(),
            dwell_ms: receipt.dwell_ms,
        }),
    }
}

const fn decision(decision: &Decision) -> &'static str {
    match decision {
        Decision::Approve { .. } => "approve",
        Decision::Reject { .. } => "reject",
        Decision::Retry { .. } => "retry",
    }
}

fn table(lines: &[Line]) -> anyhow::Result<()> {
    if lines.is_empty() {
        output::line("nothing was decided from here")?;
        return Ok(());
    }
    output::line(&format!(
        "{:24}  {:8}  {:14}  {:12}  {:36}  OUTCOME, TITLE",
        "WHEN", "DECISION", "READ", "SOURCE", "ID"
    ))?;
    for line in lines {
        let sent = &line.sent;
        let edits = if sent.decision.edits().is_some() { " with edits" } else { "" };
        let outcome = sent.outcome.as_ref().map_or_else(
            || "unknown, placet ended before there was an answer".to_owned(),
            |outcome| report::outcome(outcome, edits),
        );
        let then = line.followed.as_ref().map(|it| report::then(&it.status, it.error.as_ref()));
        output::line(&format!(
            "{}  {:8}  {:14}  {}  {}  {outcome}{}  {}",
            time::write(line.at),
            decision(&sent.decision),
            seen(line.receipt.as_ref()),
            output::cell(&sent.key.source.as_str().into(), 12),
            output::cell(sent.key.id.untrusted(), 36),
            then.unwrap_or_default(),
            output::shown(&sent.title),
        ))?;
    }
    output::line(&text::count(lines.len(), "decision"))?;
    let without = lines.iter().filter(|line| line.receipt.is_none()).count();
    if without > 0 {
        output::line(&format!("{without} of them are from before there were receipts, and prove nothing"))?;
    }
    Ok(())
}

/// How much of it had been on screen, and for how long.
fn seen(receipt: Option<&Receipt>) -> String {
    let Some(receipt) = receipt else { return "no receipt".to_owned() };
    let word = match receipt.seen.as_deref() {
        Some("in_full") => "in full",
        Some("opened") => "in part",
        _ => return "never".to_owned(),
    };
    format!("{word}, {}", output::age(receipt.dwell_ms.unwrap_or_default()))
}
