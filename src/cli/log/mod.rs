//! `placet log`: decisions made here, and the receipts that prove them.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args as ClapArgs, Subcommand};

use crate::domain::{DecisionKind, SourceName, Timestamp, Untrusted};
use crate::inbox::Inbox;
use crate::journal::{Journal, Sent};

use super::args::{Completed, one_of};
use super::exit::{Exit, Usage};
use super::input::moment;
use super::output::{self, Progress};
use super::receipts::{self, ExportArgs, VerifyArgs};
use super::shift::{self, LOOKED_AT, ShiftArgs, look};

mod lines;
mod submission;

use self::lines::Line;
use self::lines::columns;
use self::submission::ReportArgs;

const PAGE: u32 = 100;

/// Print decisions made here, and verify their receipts
#[derive(Debug, ClapArgs)]
#[command(args_conflicts_with_subcommands = true)]
pub struct LogArgs {
    /// At most this many decisions, newest first
    #[arg(long, default_value_t = 50)]
    pub limit: u32,
    /// Only decisions since: an age like 12h or 30d, or a time like 2026-11-22T08:00:00Z
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only decisions before, written the same way
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// Only this source
    #[arg(long, value_name = "NAME", add = Completed::Sources)]
    pub source: Option<String>,
    /// Only this tool, by its whole name
    #[arg(long, value_name = "NAME")]
    pub tool: Option<String>,
    /// Only these decisions; separate several with commas
    #[arg(long, value_parser = decisions(), value_delimiter = ',', value_name = "DECISION")]
    pub decision: Vec<DecisionKind>,
    /// Only these outcomes; separate several with commas
    #[arg(long, value_parser = outcomes(), value_delimiter = ',', value_name = "OUTCOME")]
    pub outcome: Vec<&'static str>,
    /// Which columns, in which order, for the table and CSV
    #[arg(long, value_delimiter = ',', value_name = "NAMES", value_parser = PossibleValuesParser::new(columns().map(|it| it.name)))]
    pub columns: Vec<String>,
    /// CSV for spreadsheets (with a header, lines end with LF); text as shown, never a formula
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
    #[command(subcommand)]
    pub command: Option<LogCommand>,
}

#[derive(Debug, Subcommand)]
pub enum LogCommand {
    Verify(VerifyArgs),
    Export(ExportArgs),
    Report(ReportArgs),
    Shift(ShiftArgs),
}

fn decisions() -> impl TypedValueParser<Value = DecisionKind> {
    one_of(DecisionKind::ALL.map(|kind| {
        let (word, help) = kind.words().logged;
        (word, kind, help)
    }))
}

fn outcomes() -> impl TypedValueParser<Value = &'static str> {
    one_of([
        ("approved", "approved", ""),
        ("executed", "executed", "Approved, and it ran"),
        ("rejected", "rejected", ""),
        ("skipped", "skipped", "Settled before, or gone"),
        ("accepted", "accepted", "Taken, and settled later"),
        ("failed", "failed", "Refused by the source, or approved and failed"),
        ("unknown", "unknown", "We lost track of it, when it was sent or when it ran"),
    ])
}

impl LogArgs {
    pub const fn is_filtered(&self) -> bool {
        self.since.is_some()
            || self.until.is_some()
            || self.source.is_some()
            || self.tool.is_some()
            || !self.decision.is_empty()
            || !self.outcome.is_empty()
    }

    /// Returns whether the command needs only the stored receipts. Outcomes are then not read before.
    pub const fn reads_receipts(&self) -> bool {
        matches!(self.command, Some(LogCommand::Verify(_) | LogCommand::Export(_)))
    }
}

/// `journal` is `None` if nothing was ever decided. With an inbox, first reads what may have ended since.
pub async fn run(
    journal: Option<&Journal>,
    inbox: Option<&Inbox>,
    args: &LogArgs,
    now: Timestamp,
) -> anyhow::Result<Exit> {
    let missing = || Usage("there is no journal here; PLACET_STATE_DIR says where to look".to_owned());
    match &args.command {
        None => list(journal, inbox, args, now).await,
        Some(LogCommand::Verify(args)) => receipts::verify(journal.ok_or_else(missing)?, args).await,
        Some(LogCommand::Export(args)) => receipts::export(journal.ok_or_else(missing)?, args).await,
        Some(LogCommand::Shift(args)) => shift::shift(journal, inbox, args, now).await,
        Some(LogCommand::Report(args)) => submission::print(journal.ok_or_else(missing)?, inbox, args).await,
    }
}

#[derive(Clone, Copy)]
struct Wanted<'a> {
    args: &'a LogArgs,
    outcome: &'a [&'static str],
    limit: u32,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
}

async fn list(
    journal: Option<&Journal>,
    inbox: Option<&Inbox>,
    args: &LogArgs,
    now: Timestamp,
) -> anyhow::Result<Exit> {
    let moment = |text: &Option<String>| text.as_deref().map(|text| moment(text, now)).transpose();
    let (since, until) = (moment(&args.since)?, moment(&args.until)?);
    let wanted = Wanted { args, outcome: &args.outcome, limit: args.limit, since, until };
    let lines = match journal {
        Some(journal) => {
            if let Some(inbox) = inbox {
                // The outcome filter applies later, because outcomes may have changed.
                let any = Wanted { outcome: &[], limit: args.limit.min(LOOKED_AT), ..wanted };
                let open = read(journal, &any).await?;
                look(inbox, open.iter().map(|line| &line.sent)).await;
            }
            read(journal, &wanted).await?
        }
        None => Vec::new(),
    };
    if args.json {
        lines::json(&lines)?;
    } else if args.csv {
        lines::csv(lines, &args.columns)?;
    } else if lines.is_empty() {
        output::line(&nothing(inbox, args))?;
    } else {
        lines::text(lines, &args.columns)?;
    }
    Ok(Exit::Done)
}

fn nothing(inbox: Option<&Inbox>, args: &LogArgs) -> String {
    let names = inbox.map(Inbox::source_names).unwrap_or_default();
    match &args.source {
        _ if !args.is_filtered() => "nothing was decided here".to_owned(),
        Some(source) if !names.is_empty() && names.iter().all(|name| name.as_str() != source) => {
            let known: Vec<&str> = names.iter().map(SourceName::as_str).collect();
            format!(
                "no decision matches: there is no source {source:?}; the sources are: {}",
                known.join(", ")
            )
        }
        _ => "no decision matches".to_owned(),
    }
}

impl Wanted<'_> {
    fn holds(&self, sent: &Sent) -> bool {
        let args = self.args;
        args.source.as_deref().is_none_or(|source| source == sent.key.source.as_str())
            && args.tool.as_deref().is_none_or(|tool| Untrusted::from(tool) == sent.tool)
            && (args.decision.is_empty() || args.decision.contains(&sent.decision.kind()))
            && (self.outcome.is_empty() || self.outcome.iter().any(|it| has_come_to(sent, it)))
    }
}

/// Compares the outcome, or the later status of an approved action.
fn has_come_to(sent: &Sent, wanted: &str) -> bool {
    let at_once = sent.outcome_word();
    let later = sent.followed.as_ref().filter(|_| at_once == "approved").map(|seen| seen.status.as_raw());
    at_once == wanted || ["executed", "failed", "unknown"].contains(&wanted) && later == Some(wanted)
}

async fn read(journal: &Journal, wanted: &Wanted<'_>) -> anyhow::Result<Vec<Line>> {
    let limit = usize::try_from(wanted.limit)?;
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
            for sent in past.items.iter().filter(|sent| wanted.holds(sent)).take(left) {
                let receipt = sent.receipt(&receipts).cloned();
                lines.push(Line::of(&past, sent.clone(), receipt));
            }
        }
        if end {
            return Ok(lines);
        }
        progress.tell(|| format!("{skip} submissions read"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{ActionId, ActionKey, BatchKey, Decision, Digest, Outcome, Risk, SourceName, Status};
    use crate::journal::LastSeen;

    #[test]
    fn outcome_is_found_at_once_and_later() {
        let sent = |outcome, status: Option<&str>| {
            let key = ActionKey { source: SourceName::new("s"), id: ActionId::new("1") };
            let digest = Digest::of("t", "w", "{}");
            Sent {
                batch: BatchKey::Alone(key.clone()),
                key,
                tool: "t".into(),
                title: "T".into(),
                decision: Decision::APPROVE,
                digest,
                effective: digest,
                terms: None,
                risk: Risk::Medium,
                input: None,
                outcome: Some(outcome),
                followed: status.map(|word| LastSeen { status: Status::parse(word), error: None }),
            }
        };
        let ran = sent(Outcome::Approved, Some("executed"));
        let failed = sent(Outcome::Approved, Some("failed"));
        let refused = sent(Outcome::Failed { why: "no".into() }, None);

        let all = ["approved", "executed", "failed", "unknown"];
        let of = |sent: &Sent| all.map(|wanted| has_come_to(sent, wanted));
        assert_eq!(of(&ran), [true, true, false, false]);
        assert_eq!(of(&failed), [true, false, true, false]);
        assert_eq!(of(&refused), [false, false, true, false]);
        assert_eq!(of(&sent(Outcome::Approved, Some("unknown"))), [true, false, false, true]);
    }
}
