//! `placet log`: what was decided from here, and the receipts that prove it.

use crate::contract::fields::Fields;
use crate::contract::time;
use crate::domain::{DecisionKind, Outcome, SubmissionId, Timestamp, Untrusted};
use crate::journal::{Journal, Receipt, Sent};

use super::args::{CameTo, Decided, LogArgs, LogCommand};
use super::output::{self, Progress};
use super::{Exit, Usage, receipts, shift};

mod lines;
mod submission;

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
        Some(LogCommand::Export { to, csv }) => {
            receipts::export(journal.ok_or_else(missing)?, to.as_deref(), *csv).await
        }
        Some(LogCommand::Shift(args)) => shift::shift(journal, args, now).await,
        Some(LogCommand::Report(args)) => submission::print(journal.ok_or_else(missing)?, args).await,
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

/// Which decisions.
struct Wanted<'a> {
    args: &'a LogArgs,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
}

async fn list(journal: Option<&Journal>, args: &LogArgs, now: Timestamp) -> anyhow::Result<Exit> {
    let moment = |text: &Option<String>| text.as_deref().map(|text| moment(text, now)).transpose();
    let wanted = Wanted { args, since: moment(&args.since)?, until: moment(&args.until)? };
    let lines = match journal {
        Some(journal) => read(journal, &wanted).await?,
        None => Vec::new(),
    };
    if args.json {
        lines::json(&lines)?;
    } else if args.csv {
        lines::csv(lines, &args.columns)?;
    } else {
        lines::text(lines, &args.columns)?;
    }
    Ok(Exit::Done)
}

impl Wanted<'_> {
    fn holds(&self, sent: &Sent) -> bool {
        let args = self.args;
        args.source.as_deref().is_none_or(|source| source == sent.key.source.as_str())
            && args.tool.as_deref().is_none_or(|tool| Untrusted::from(tool) == sent.tool)
            && (args.decision.is_empty() || args.decision.contains(&decided(sent.decision.kind())))
            && (args.outcome.is_empty() || args.outcome.contains(&came_to(sent.outcome.as_ref())))
    }
}

const fn decided(kind: DecisionKind) -> Decided {
    match kind {
        DecisionKind::Approve => Decided::Approve,
        DecisionKind::ApproveWithEdits => Decided::Edit,
        DecisionKind::Reject => Decided::Reject,
        DecisionKind::Retry => Decided::Retry,
    }
}

const fn came_to(outcome: Option<&Outcome>) -> CameTo {
    match outcome {
        Some(Outcome::Approved) => CameTo::Approved,
        Some(Outcome::Rejected) => CameTo::Rejected,
        Some(Outcome::Skipped { .. }) => CameTo::Skipped,
        Some(Outcome::Accepted) => CameTo::Accepted,
        Some(Outcome::Failed { .. }) => CameTo::Failed,
        Some(Outcome::Unknown { .. }) | None => CameTo::Unknown,
    }
}

/// Newest first.
async fn read(journal: &Journal, wanted: &Wanted<'_>) -> anyhow::Result<Vec<Line>> {
    let limit = usize::try_from(wanted.args.limit)?;
    let (mut lines, mut skip, mut progress) = (Vec::new(), 0, Progress::start());
    loop {
        let page = journal.log_page(skip, PAGE).await?;
        let end = page.len() < PAGE as usize;
        skip += PAGE;
        for past in page {
            if wanted.since.is_some_and(|since| past.begun_at < since) || lines.len() >= limit {
                return Ok(lines);
            }
            if wanted.until.is_some_and(|until| past.begun_at >= until)
                || !past.items.iter().any(|sent| wanted.holds(sent))
            {
                continue;
            }
            let receipts = journal.receipts_of(&past.id).await?;
            let left = limit - lines.len();
            for sent in past.items.into_iter().filter(|sent| wanted.holds(sent)).take(left) {
                lines.push(Line {
                    at: past.begun_at,
                    submission: past.id.clone(),
                    reviewer: past.reviewer.clone(),
                    receipt: newest(&receipts, &sent, "sent").cloned(),
                    followed: newest(&receipts, &sent, "followed")
                        .and_then(|it| followed(it.outcome.as_deref()?)),
                    sent,
                });
            }
        }
        if end {
            return Ok(lines);
        }
        progress.tell(|| format!("{skip} submissions read"));
    }
}

/// The newest receipt of a kind that is about this decision.
fn newest<'a>(receipts: &'a [Receipt], sent: &Sent, kind: &str) -> Option<&'a Receipt> {
    receipts.iter().rfind(|it| {
        it.kind == kind && it.source == sent.key.source.as_str() && it.action == sent.key.id.as_raw()
    })
}

fn followed(outcome: &str) -> Option<Followed> {
    let fields = Fields::of(outcome)?;
    Some(Followed { status: fields.text("status")?, error: fields.text("error") })
}

/// A time ago like `12h` or `30d`, or a moment.
pub(super) fn moment(text: &str, now: Timestamp) -> Result<Timestamp, Usage> {
    if let Ok(ago) = output::duration(text) {
        let millis = i64::try_from(ago.as_millis()).unwrap_or(i64::MAX);
        return Ok(now.plus_millis(millis.saturating_neg()));
    }
    let wrong = || Usage(format!("{text:?} is no time; write it like 12h, 30d or 2026-11-22T08:00:00Z"));
    time::read(text).ok_or_else(wrong)
}
