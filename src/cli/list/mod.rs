//! `placet list`: what is pending, what waits to be settled, or what is over, as a table, as CSV, as JSON or in one line.

use std::time::Duration;

use serde::Serialize;

use crate::config::NamedFilter;
use crate::contract::action::RowBody;
use crate::domain::{Entry, SourceName, Status, Timestamp};
use crate::inbox::{GRACE, Inbox, Problem, Rows, Synced, in_time};
use crate::text;

use super::args::{ListArgs, Listed, Order};
use super::output::{self, Progress};
use super::{Exit, Usage, VERSION, problem};

mod columns;
mod line;
mod wanted;

use wanted::Wanted;

/// For open decisions to be read again.
const SETTLING: Duration = Duration::from_secs(3);
/// For a source to list everything.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Serialize)]
struct ListJson<'a> {
    version: u32,
    items: Vec<ItemJson<'a>>,
    /// There are more than `--limit` lets through.
    more: bool,
    /// Sources and items that could not be read, in words.
    problems: Vec<String>,
}

#[derive(Serialize)]
struct ItemJson<'a> {
    source: &'a str,
    #[serde(flatten)]
    row: RowBody<'a>,
}

/// What was found.
#[derive(Default)]
struct Found {
    entries: Vec<Entry>,
    problems: Vec<Problem>,
    /// Some source answered.
    reached: bool,
    /// Actions in the queue whose outcome nobody knows.
    lost: usize,
    more: bool,
}

/// Prints the actions that are asked for, of every source or of one. `saved` are the filters of the configuration.
pub async fn list(
    inbox: &Inbox,
    args: &ListArgs,
    saved: &[NamedFilter],
    now: Timestamp,
) -> anyhow::Result<Exit> {
    let mut wanted = Wanted::of(args, saved, &inbox.source_names(), now)?;
    let sources = chosen(inbox, args.source.as_deref())?;
    if args.line {
        return line::print(inbox, &sources, &mut wanted).await;
    }
    settle(inbox).await;
    let found = find(inbox, args, &sources, &mut wanted).await;
    let problems: Vec<String> = found.problems.iter().map(problem).collect();
    if args.json {
        let items = found
            .entries
            .iter()
            .map(|it| ItemJson { source: it.key.source.as_str(), row: RowBody::from(&it.row) });
        output::json(&ListJson { version: VERSION, items: items.collect(), more: found.more, problems })?;
    } else if args.csv {
        columns::csv(&found.entries, args, now)?;
        for problem in &problems {
            output::complain(problem);
        }
    } else {
        if found.reached || !found.entries.is_empty() {
            table(&found, args, sources.len() > 1, now)?;
        }
        for problem in &problems {
            output::line(&format!("! {problem}"))?;
        }
    }
    Ok(if found.reached { Exit::Done } else { Exit::Unreachable })
}

/// What earlier decisions came to is read before anything is printed. Never for long: the next command does the rest.
pub(super) async fn settle(inbox: &Inbox) {
    match tokio::time::timeout(SETTLING, inbox.settle_open()).await {
        Ok(Err(problem)) => tracing::warn!(what = problem.what, "open decisions cannot be read again"),
        Ok(Ok(_)) => {}
        Err(_) => tracing::warn!("open decisions could not be read again in time"),
    }
}

async fn find(inbox: &Inbox, args: &ListArgs, sources: &[SourceName], wanted: &mut Wanted) -> Found {
    let mut found = Found::default();
    if args.status.iter().any(|status| status.is_queued()) {
        queued(inbox, args, sources, &mut found, wanted).await;
        lost(inbox, args, sources, &mut found, wanted).await;
    }
    let over: Vec<Status> = args.status.iter().filter(|it| !it.is_queued()).map(|it| it.status()).collect();
    if !over.is_empty() {
        past(inbox, args, (sources, &over), &mut found, wanted).await;
    }
    if let Some(order) = args.sort {
        sort(&mut found.entries, order);
    }
    let limit = args.limit.unwrap_or(usize::MAX);
    found.more |= found.entries.len() > limit;
    found.entries.truncate(limit);
    found
}

/// What is pending, and what waits to be settled.
async fn queued(
    inbox: &Inbox,
    args: &ListArgs,
    sources: &[SourceName],
    found: &mut Found,
    wanted: &mut Wanted,
) {
    let asks = |status: &Status| args.status.iter().any(|it| it.is_queued() && it.status() == *status);
    let asking = sources.iter().map(|source| synced(inbox, source, PATIENCE));
    let asking = in_time(asking, GRACE, |(_, synced)| synced.is_ok());
    let all = || format!("asking {}", text::count(sources.len(), "source"));
    let answers = output::waiting_for(all, asking).await;
    for (source, answer) in sources.iter().zip(answers) {
        match answer.map_or_else(|| Err(Problem::silent(source, GRACE)), |(_, synced)| synced) {
            Ok(synced) => {
                found.reached = true;
                found.problems.extend(synced.unreadable.into_iter().map(|why| unreadable(source, why)));
                let (Rows::All(rows) | Rows::Changes { entries: rows, .. }) = synced.rows;
                found.lost += rows.iter().filter(|entry| entry.row.status == Status::Unknown).count();
                found
                    .entries
                    .extend(rows.into_iter().filter(|entry| asks(&entry.row.status) && wanted.holds(entry)));
            }
            Err(problem) => found.problems.push(problem),
        }
    }
}

/// Decisions from here whose outcome nobody knows stand first, also where their source has no row of them.
async fn lost(
    inbox: &Inbox,
    args: &ListArgs,
    sources: &[SourceName],
    found: &mut Found,
    wanted: &mut Wanted,
) {
    let lost = match inbox.lost().await {
        Ok(lost) => lost,
        Err(problem) => return found.problems.push(problem),
    };
    let told = |entry: &Entry| {
        let known = |it: &Entry| it.key == entry.key && it.row.status == Status::Unknown;
        found.entries.iter().any(known)
    };
    let lost: Vec<Entry> =
        lost.into_iter().filter(|entry| sources.contains(&entry.key.source) && !told(entry)).collect();
    found.lost += lost.len();
    if args.status.contains(&Listed::Unknown) {
        found.entries.splice(0..0, lost.into_iter().filter(|entry| wanted.holds(entry)));
    }
}

/// What is over, newest first, page by page.
async fn past(
    inbox: &Inbox,
    args: &ListArgs,
    (sources, statuses): (&[SourceName], &[Status]),
    found: &mut Found,
    wanted: &mut Wanted,
) {
    let mut progress = Progress::start();
    // What stands first by another order may come last.
    let limit = if args.sort.is_some() { usize::MAX } else { args.limit.unwrap_or(usize::MAX) };
    let (mut next, mut read, mut silent) = (None, 0_usize, 0);
    loop {
        let listing = inbox.listed_of(sources, statuses, next.take()).await;
        read += listing.entries.len();
        silent += listing.problems.len();
        found.problems.extend(listing.problems);
        let unread = listing.unreadable.into_iter();
        found.problems.extend(unread.map(|(source, why)| unreadable(&source, why)));
        found.entries.extend(listing.entries.into_iter().filter(|entry| wanted.holds(entry)));
        next = listing.next;
        if next.is_none() || found.entries.len() > limit {
            break;
        }
        progress.tell(|| format!("{read} read"));
    }
    found.reached |= silent < sources.len();
    found.more |= next.is_some();
}

fn unreadable(source: &SourceName, why: crate::domain::Untrusted) -> Problem {
    let what = "sent an action that cannot be read".to_owned();
    Problem { source: Some(source.clone()), what, why: Some(why) }
}

fn sort(entries: &mut [Entry], order: Order) {
    let age = |entry: &Entry| entry.row.created_at;
    match order {
        Order::Age => entries.sort_by_key(age),
        Order::Risk => entries.sort_by_key(|entry| (std::cmp::Reverse(entry.row.risk.rank()), age(entry))),
        Order::Expiry => entries.sort_by_key(|entry| {
            (entry.row.expires_at.is_none(), entry.row.expires_at.unwrap_or_default(), age(entry))
        }),
        Order::Tool => entries.sort_by(|a, b| (&a.row.tool, age(a)).cmp(&(&b.row.tool, age(b)))),
        Order::Source => entries.sort_by(|a, b| (&a.key.source, age(a)).cmp(&(&b.key.source, age(b)))),
    }
}

/// All are asked at once, so that one that hangs holds back no other for long.
async fn synced<'a>(
    inbox: &Inbox,
    source: &'a SourceName,
    patience: Duration,
) -> (&'a SourceName, Result<Synced, Problem>) {
    let synced = tokio::time::timeout(patience, inbox.sync(source, None)).await;
    let silent = || Problem {
        source: Some(source.clone()),
        what: format!("did not answer within {} s", patience.as_secs()),
        why: None,
    };
    (source, synced.unwrap_or_else(|_| Err(silent())))
}

/// The sources to ask.
pub(super) fn chosen(inbox: &Inbox, name: Option<&str>) -> anyhow::Result<Vec<SourceName>> {
    let names = inbox.source_names();
    match name {
        None => Ok(names),
        Some(wanted) => {
            let known: Vec<_> = names.iter().map(|name| name.as_str().to_owned()).collect();
            let found = names.into_iter().find(|name| name.as_str() == wanted);
            let found = found.ok_or_else(|| {
                Usage(format!("there is no source {wanted:?}; the sources are: {}", known.join(", ")))
            })?;
            Ok(vec![found])
        }
    }
}

fn table(found: &Found, args: &ListArgs, several: bool, now: Timestamp) -> anyhow::Result<()> {
    let word = match args.status.as_slice() {
        [one] => output::shown(&one.status().word()),
        _ => text::count(found.entries.len(), "action"),
    };
    match (found.entries.is_empty(), args.status.as_slice()) {
        (true, [_]) => output::line(&format!("nothing is {word}"))?,
        (true, _) => output::line("nothing is in any of these states")?,
        (false, [_]) => {
            columns::text(&found.entries, args, several, now)?;
            output::line(&format!("{} {word}", found.entries.len()))?;
        }
        (false, _) => {
            columns::text(&found.entries, args, several, now)?;
            output::line(&word)?;
        }
    }
    let expired = found.entries.iter().filter(|entry| entry.row.is_pending_and_expired(now)).count();
    if expired > 0 {
        let expired = text::count(expired, "action");
        output::line(&format!("! {expired} expired: nothing can be decided there any more"))?;
    }
    if found.more {
        output::line("! there are more; a greater --limit shows them")?;
    }
    if found.lost > 0 && !args.status.contains(&Listed::Unknown) {
        let lost = text::count(found.lost, "action");
        output::line(&format!("! nobody knows what became of {lost}: placet list --status unknown"))?;
    }
    Ok(())
}
