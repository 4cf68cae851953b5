//! `placet log shift`: a summary of a shift for a chat, with counts, names of sources, tools and reviewers, and the
//! handover with ids and titles.

use std::time::Duration;

use clap::Args as ClapArgs;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use crate::clock;
use crate::contract::time;
use crate::domain::{ActionKey, DecisionKind, Minute, SourceName, Timestamp, Untrusted};
use crate::inbox::Inbox;
use crate::inbox::figures::words;
use crate::inbox::shift::{Counting, Decided, Shift, Stood};
use crate::journal::{Journal, Sent, SubmissionRecord};
use crate::text;

use super::exit::{Exit, Usage};
use super::input;
use super::output::{self, formatted, problem};

mod handed_over;

/// Summarise a shift for a chat: counts, names of sources and tools, and what it hands over
#[derive(Debug, ClapArgs)]
pub struct ShiftArgs {
    /// Its start: an age like 8h, or a time like 2026-11-22T08:00:00Z
    #[arg(long, value_name = "TIME", default_value = "8h")]
    pub since: String,
    /// The same, under the name that goes with --until
    #[arg(long, value_name = "TIME", conflicts_with = "since")]
    pub from: Option<String>,
    /// Its end, written the same way [default: now]
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
    /// CSV for spreadsheets: a row for all, for each source and for each tool; never a formula
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
}

const PAGE: u32 = 100;
/// Maximum numbers to list, so that the summary fits into a chat.
const SOURCES: usize = 5;
const TOOLS: usize = 8;
const GAPS: usize = 4;
/// Maximum number of approved actions to read again before anything is printed.
pub(super) const LOOKED_AT: u32 = 200;
const LOOKING: Duration = Duration::from_secs(3);
/// CSV columns before and after those of the decisions.
const HEAD: [&str; 2] = ["of", "name"];
const HEAD_REST: [&str; 10] = [
    "skipped",
    "failed",
    "unknown",
    "failed_after_approval",
    "unknown_after_approval",
    "arrived",
    "resolved",
    "pending_at_start",
    "pending_at_end",
    "watched_minutes",
];

/// `journal` is `None` if nothing was ever decided. Only reads, also while inboxes run.
pub(super) async fn shift(
    journal: Option<&Journal>,
    inbox: Option<&Inbox>,
    args: &ShiftArgs,
    now: Timestamp,
) -> anyhow::Result<Exit> {
    let begin = args.from.as_deref().unwrap_or(&args.since);
    let from = input::moment(begin, now)?;
    let until = args.until.as_deref().map_or(Ok(now), |text| input::moment(text, now))?;
    if from >= until {
        return Err(Usage("the shift ends before it begins; correct --from or --until".to_owned()).into());
    }
    let zone = clock::zone();
    let mut counting = Counting::new(from, until, zone.clone());
    let mut minutes = Vec::new();
    if let Some(journal) = journal {
        let mut past = read(journal, from, until).await?;
        if let Some(inbox) = inbox {
            let items = past.iter().flat_map(|past| &past.items).filter(|sent| sent.may_have_ended());
            let open: Vec<&Sent> = items.take(LOOKED_AT as usize).collect();
            if !open.is_empty() {
                look(inbox, open.into_iter()).await;
                past = read(journal, from, until).await?;
            }
        }
        for past in &past {
            counting.add(past, &journal.receipts_of(&past.id).await?);
        }
        minutes = journal.kept_minutes(Minute::of(from)).await?;
    }
    let shift = counting.end(&minutes);
    if args.csv {
        csv(&shift).iter().try_for_each(|row| output::records(&text::csv::record(row)))?;
        return Ok(Exit::Done);
    }
    // The current handover does not belong to a shift that has ended.
    let left = match inbox.filter(|_| args.until.is_none()) {
        Some(inbox) => Some(inbox.handed_over().await.map_err(|why| anyhow::anyhow!(problem(&why)))?),
        None => None,
    };
    if args.json {
        let mut json = json(&shift, now)?;
        if let (Some(left), Some(json)) = (&left, json.as_object_mut()) {
            json.insert("handedOver".to_owned(), handed_over::json(left));
        }
        output::versioned(&json)?;
    } else {
        let left = left.iter().flat_map(|left| handed_over::lines(left, &zone));
        lines(&shift, &zone, now).into_iter().chain(left).try_for_each(|line| output::line(&line))?;
    }
    Ok(Exit::Done)
}

async fn read(journal: &Journal, from: Timestamp, until: Timestamp) -> anyhow::Result<Vec<SubmissionRecord>> {
    let (mut read, mut skip) = (Vec::new(), 0);
    loop {
        let page = journal.log_page(skip, PAGE).await?;
        let end = page.len() < PAGE as usize;
        skip += PAGE;
        for past in page {
            if past.begun_at < from {
                return Ok(read);
            }
            read.extend((past.begun_at < until).then_some(past));
        }
        if end {
            return Ok(read);
        }
    }
}

/// Reads the newest outcomes of approved actions, for a limited time. Keeps the last known ones without an answer.
pub(super) async fn look<'a>(inbox: &Inbox, sent: impl Iterator<Item = &'a Sent>) {
    let keys: Vec<ActionKey> =
        sent.filter(|sent| sent.may_have_ended()).map(|sent| sent.key.clone()).collect();
    match tokio::time::timeout(LOOKING, inbox.look_at(&keys)).await {
        Ok(Ok(())) => {}
        Ok(Err(problem)) => {
            tracing::warn!(what = problem.what, "what became of approved actions cannot be kept");
        }
        Err(_) => tracing::warn!("what became of approved actions could not be read in time"),
    }
}

/// Returns about forty lines at most.
fn lines(shift: &Shift, zone: &TimeZone, now: Timestamp) -> Vec<String> {
    let names: Vec<_> = shift.reviewers.iter().map(output::name).collect();
    let who = if names.is_empty() { String::new() } else { format!(" of {}", names.join(", ")) };
    let day = |at| formatted(at, zone, "%Y-%m-%d %H:%M");
    let long = words::span(shift.until.since(shift.from));
    let mut lines = vec![
        format!("placet: shift{who}, as of {}", day(now)),
        format!(
            "{} to {} ({long}, {})",
            day(shift.from),
            day(shift.until),
            formatted(shift.until, zone, "%:z")
        ),
        String::new(),
    ];
    lines.extend(decided(shift, zone));
    let sources = shift.sources.iter().map(|(name, of)| (output::cell(&name.as_str().into(), 28), of));
    lines.extend(table("by source", sources, SOURCES));
    let tools = shift.tools.iter().map(|(name, of)| (output::identifier_cell(name, 28), of));
    lines.extend(table("by tool", tools, TOOLS));
    lines.extend(stood(shift, zone));
    lines
}

fn decided(shift: &Shift, zone: &TimeZone) -> Vec<String> {
    let of = &shift.all;
    if of.total() == 0 {
        return vec!["nothing was decided here".to_owned()];
    }
    let mut lines = vec![
        format!("{}: {}", output::count(of.total(), "decision"), taken(of)),
        format!("skipped {} (settled before), failed {}, unknown {}", of.skipped, of.failed, of.unknown),
        format!("after approval: failed {}, unknown {}", of.failed_after, of.unknown_after),
    ];
    let unopened = format!("approved without opening: {}", shift.unopened);
    lines.push(match shift.on_screen {
        Some((median, count)) => {
            format!("median time on screen before deciding: {} (of {count}); {unopened}", output::age(median))
        }
        None => unopened,
    });
    if shift.without_receipt > 0 {
        lines.push(format!("no record of what was on screen: {}", shift.without_receipt));
    }
    if let Some((at, count)) = shift.busiest {
        lines.push(format!("busiest hour: from {} on, {count}", formatted(at, zone, "%H:%M")));
    }
    lines
}

/// Formats `approved 61 (1 with edits), excluded 2, retried 0`.
fn taken(of: &Decided) -> String {
    let counts: Vec<_> = of.taken().map(|(word, n)| format!("{word} {n}")).collect();
    let edited = format!(" ({} with edits)", of.taken.get(DecisionKind::ApproveWithEdits));
    let said = DecisionKind::ALL.into_iter().zip(counts).filter_map(|(kind, said)| match kind {
        DecisionKind::Approve => Some(said + &edited),
        DecisionKind::ApproveWithEdits => None,
        _ => Some(said),
    });
    said.collect::<Vec<_>>().join(", ")
}

fn table<'a>(
    what: &str,
    rows: impl ExactSizeIterator<Item = (String, &'a Decided)>,
    most: usize,
) -> Vec<String> {
    let count = rows.len();
    if count == 0 {
        return Vec::new();
    }
    let mut lines = vec![
        String::new(),
        format!(
            "{what:28} {:>8} {:>6} {:>8} {:>7} {:>7} {:>7}",
            "approved", "edited", "excluded", "skipped", "unknown", "failed"
        ),
    ];
    lines.extend(rows.take(most).map(|(name, of)| {
        let (failed, unknown) = (of.failed + of.failed_after, of.unknown + of.unknown_after);
        let edited = of.taken.get(DecisionKind::ApproveWithEdits);
        format!(
            "{name} {:>8} {:>6} {:>8} {:>7} {unknown:>7} {failed:>7}",
            of.taken.get(DecisionKind::Approve) + edited,
            edited,
            of.taken.get(DecisionKind::Reject),
            of.skipped
        )
    }));
    lines.extend((count > most).then(|| format!("and {} more", count - most)));
    lines
}

/// Names times that were not watched instead of estimating them.
fn stood(shift: &Shift, zone: &TimeZone) -> Vec<String> {
    let mut lines = vec![String::new()];
    if shift.queues.is_empty() {
        lines.push("queues: no record (a running placet keeps two days of minutes)".to_owned());
        return lines;
    }
    let heads = ["arrived", "resolved", "at start", "at end", "watched"];
    let [arrived, resolved, first, last, watched] = heads;
    lines.push(format!("{:28} {arrived:>8} {resolved:>8} {first:>8} {last:>7} {watched:>8}", "queues"));
    for of in shift.queues.iter().take(SOURCES) {
        lines.push(format!(
            "{} {:>8} {:>8} {:>8} {:>7} {:>8}",
            output::cell(&of.source.as_str().into(), 28),
            of.arrived,
            of.resolved,
            of.first,
            of.last,
            words::span(of.watched)
        ));
    }
    let more = shift.queues.len().saturating_sub(SOURCES);
    lines.extend((more > 0).then(|| format!("and {more} more")));
    let gaps = || shift.queues.iter().flat_map(|of| of.gaps.iter().map(move |gap| (&of.source, gap)));
    for (source, (from, until)) in gaps().take(GAPS) {
        let hour = |minute: &Minute| formatted(minute.start(), zone, "%H:%M");
        lines.push(format!("gap: nobody watched {source} from {} to {}", hour(from), hour(until)));
    }
    let more = gaps().count().saturating_sub(GAPS);
    lines.extend((more > 0).then(|| format!("and {}", text::count(more, "more gap"))));
    lines
}

fn json(shift: &Shift, now: Timestamp) -> anyhow::Result<Value> {
    let named = |name: &str, of: &Decided| -> anyhow::Result<Value> {
        let mut named = json!({"name": name});
        if let (Some(all), Value::Object(counts)) = (named.as_object_mut(), serde_json::to_value(of)?) {
            all.extend(counts);
        }
        Ok(named)
    };
    let sources = shift.sources.iter().map(|(name, of)| named(name.as_str(), of));
    let tools = shift.tools.iter().map(|(name, of)| named(name.as_raw(), of));
    let busiest = |(at, decisions)| json!({"from": time::write(at), "decisions": decisions});
    Ok(json!({
        "from": time::write(shift.from),
        "until": time::write(shift.until),
        "asOf": time::write(now),
        "reviewers": shift.reviewers.iter().map(Untrusted::as_raw).collect::<Vec<_>>(),
        "decided": shift.all,
        "sources": sources.collect::<Result<Vec<_>, _>>()?,
        "tools": tools.collect::<Result<Vec<_>, _>>()?,
        "medianDwellMs": shift.on_screen.map(|(median, _)| median),
        "dwellKnown": shift.on_screen.map_or(0, |(_, count)| count),
        "unopenedApprovals": shift.unopened,
        "withoutReceipt": shift.without_receipt,
        "busiestHour": shift.busiest.map(busiest),
        "queues": shift.queues.iter().map(stood_json).collect::<Vec<_>>(),
    }))
}

fn stood_json(of: &Stood) -> Value {
    let gap = |(from, until): &(Minute, Minute)| json!({"from": time::write(from.start()), "until": time::write(until.start())});
    json!({
        "source": of.source.as_str(),
        "arrived": of.arrived,
        "resolved": of.resolved,
        "pendingAtStart": of.first,
        "pendingAtEnd": of.last,
        "watchedMinutes": of.watched / Minute::MILLIS,
        "gaps": of.gaps.iter().map(gap).collect::<Vec<_>>(),
    })
}

/// Returns a row for everything, each source and each tool. Names are as shown.
fn csv(shift: &Shift) -> Vec<Vec<String>> {
    let row = |what: &str, name: String, of: &Decided, stood: Option<&Stood>| {
        let counts = of.taken().map(|(_, n)| n);
        let counts = counts.chain([of.skipped, of.failed, of.unknown, of.failed_after, of.unknown_after]);
        let stood = stood.map_or_else(
            || vec![String::new(); 5],
            |it| {
                let counts = [it.arrived, it.resolved, it.first, it.last].map(|count| count.to_string());
                [counts.to_vec(), vec![(it.watched / Minute::MILLIS).to_string()]].concat()
            },
        );
        let counts = counts.map(|count| count.to_string()).collect();
        [vec![what.to_owned(), name], counts, stood].concat()
    };
    let none = Decided::default();
    let of_source =
        |name: &SourceName| shift.sources.iter().find(|(known, _)| known == name).map(|(_, of)| of);
    let decided = shift.sources.iter().map(|(name, of)| {
        row("source", name.to_string(), of, shift.queues.iter().find(|it| it.source == *name))
    });
    let watched = shift.queues.iter().filter(|it| of_source(&it.source).is_none());
    let watched = watched.map(|it| row("source", it.source.to_string(), &none, Some(it)));
    let tools = shift.tools.iter().map(|(name, of)| row("tool", output::shown(name), of, None));
    let taken = DecisionKind::ALL.map(|kind| kind.words().landed);
    let head = HEAD.into_iter().chain(taken).chain(HEAD_REST).map(str::to_owned).collect();
    let all = row("all", String::new(), &shift.all, None);
    [head, all].into_iter().chain(decided).chain(watched).chain(tools).collect()
}

#[cfg(test)]
mod tests;
