//! `placet list`: pending, unknown or settled actions as a table, CSV, JSON or one line.

use std::time::Duration;

use futures_util::future::join_all;
use serde::Serialize;

use crate::config::NamedFilter;
use crate::contract::action::RowBody;
use crate::contract::time;
use crate::domain::{Entry, SourceName, Status, Timestamp};
use crate::inbox::{GRACE, Inbox, Problem, Synced, in_time};
use crate::text::{self, People};

use super::columns::ShortIds;
use super::exit::Exit;
use super::find::chosen;
use super::output::{self, PersonJson, Progress, problem};

mod columns;
mod line;
mod wanted;

use columns::is_queued;
pub use wanted::ListArgs;
use wanted::Wanted;

/// Longest wait for reading open decisions.
const SETTLING: Duration = Duration::from_secs(3);
/// Longest wait for a source's list.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Serialize)]
struct ListJson<'a> {
    items: Vec<ItemJson<'a>>,
    /// More match than `--limit` allows.
    more: bool,
    /// Number of matches without `--limit`; `null` if not all were read.
    total: Option<usize>,
    problems: Vec<String>,
}

#[derive(Serialize)]
struct ItemJson<'a> {
    source: &'a str,
    #[serde(flatten)]
    row: RowBody<'a>,
    /// The holder of the claim, and its start.
    #[serde(skip_serializing_if = "Option::is_none", rename = "claimedBy")]
    claimed_by: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none", rename = "claimedAt")]
    claimed_at: Option<String>,
    /// Names of the people above at their source.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    people: Vec<PersonJson<'a>>,
}

impl<'a> ItemJson<'a> {
    fn of(entry: &'a Entry, wanted: &'a Wanted) -> Self {
        let (claim, people) = wanted.known(&entry.key);
        let subjects = entry.row.deciders().chain(claim.map(|claim| &claim.by));
        Self {
            source: entry.key.source.as_str(),
            row: RowBody::of(&entry.row, true),
            claimed_by: claim.map(|claim| claim.by.as_raw()),
            claimed_at: claim.map(|claim| time::write(claim.since)),
            people: people.map(|people| PersonJson::all(people, subjects)).unwrap_or_default(),
        }
    }
}

#[derive(Default)]
struct Found {
    entries: Vec<Entry>,
    problems: Vec<Problem>,
    reached: bool,
    /// The ids of all actions read, listed or not.
    ids: ShortIds,
    lost: usize,
    more: bool,
    total: Option<usize>,
}

impl Found {
    /// `2 of 89`, or `2`.
    fn count(&self) -> String {
        let shown = self.entries.len();
        match self.total {
            Some(total) if total > shown => format!("{shown} of {total}"),
            _ => shown.to_string(),
        }
    }

    fn cut(&self) -> String {
        match self.total {
            Some(_) => format!("only {}; a greater --limit shows more", self.count()),
            None => "there are more; a greater --limit shows them".to_owned(),
        }
    }
}

pub async fn run(
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
    let ((), people) = tokio::join!(settle(inbox), people(inbox, &sources));
    for (source, people) in people {
        wanted.learn_people(&source, people);
    }
    let found = find(inbox, args, &sources, &mut wanted).await;
    let problems: Vec<String> = found.problems.iter().map(problem).collect();
    if args.json {
        let items = found.entries.iter().map(|it| ItemJson::of(it, &wanted));
        output::versioned(&ListJson {
            items: items.collect(),
            more: found.more,
            total: found.total,
            problems,
        })?;
    } else if args.csv {
        columns::csv(&found.entries, |key| wanted.known(key), &args.columns, now)?;
        if found.more {
            output::complain(&found.cut());
        }
        for problem in &problems {
            output::complain(problem);
        }
    } else {
        if found.reached || !found.entries.is_empty() {
            table(&found, args, (&wanted, sources.len() > 1), now)?;
        }
        for problem in &problems {
            output::line(&format!("! {problem}"))?;
        }
    }
    Ok(if found.reached { Exit::Done } else { Exit::Unreachable })
}

/// Reads the outcomes of earlier decisions before anything is printed. Stops after a short time; the next command
/// continues.
pub async fn settle(inbox: &Inbox) {
    match tokio::time::timeout(SETTLING, inbox.settle_open()).await {
        Ok(Err(problem)) => tracing::warn!(what = problem.what, "open decisions cannot be read again"),
        Ok(Ok(_)) => {}
        Err(_) => tracing::warn!("open decisions could not be read again in time"),
    }
}

/// Returns the names of each source's people. Waits only briefly; subjects are shown instead.
async fn people(inbox: &Inbox, sources: &[SourceName]) -> Vec<(SourceName, Option<People>)> {
    let asking = sources.iter().map(|source| async { (source.clone(), people_of(inbox, source).await) });
    join_all(asking).await
}

pub(super) async fn people_of(inbox: &Inbox, source: &SourceName) -> Option<People> {
    let told = tokio::time::timeout(SETTLING, inbox.people(source)).await;
    told.ok()?.ok()?.map(People::of)
}

async fn find(inbox: &Inbox, args: &ListArgs, sources: &[SourceName], wanted: &mut Wanted) -> Found {
    let mut found = Found::default();
    if args.status.iter().any(is_queued) {
        queued(inbox, args, sources, &mut found, wanted).await;
        lost(inbox, args, sources, &mut found, wanted).await;
    }
    let over: Vec<Status> = args.status.iter().filter(|it| !is_queued(it)).cloned().collect();
    if !over.is_empty() {
        past(inbox, args, (sources, &over), &mut found, wanted).await;
    }
    if let Some(order) = args.sort {
        found.entries.sort_by(|a, b| order.compare(a, b));
    }
    let limit = args.limit.unwrap_or(usize::MAX);
    found.total = (!found.more).then_some(found.entries.len());
    found.more |= found.entries.len() > limit;
    found.entries.truncate(limit);
    found
}

async fn queued(
    inbox: &Inbox,
    args: &ListArgs,
    sources: &[SourceName],
    found: &mut Found,
    wanted: &mut Wanted,
) {
    let asks = |status: &Status| is_queued(status) && args.status.contains(status);
    let asking = sources.iter().map(|source| synced(inbox, source, PATIENCE));
    let asking = in_time(asking, GRACE, |(_, synced)| synced.is_ok());
    let all = || format!("asking {}", text::count(sources.len(), "source"));
    let answers = output::waiting_for(all, asking).await;
    for (source, answer) in sources.iter().zip(answers) {
        match answer.map_or_else(|| Err(Problem::silent(source, GRACE)), |(_, synced)| synced) {
            Ok(synced) => {
                found.reached = true;
                found.problems.extend(synced.unreadable.into_iter().map(|why| unreadable(source, why)));
                wanted.learn(source, synced.subject.as_ref(), synced.claims.unwrap_or_default());
                let rows = synced.rows.into_entries();
                found.ids.add(rows.iter().map(|entry| entry.key.id.untrusted()));
                found.lost += rows.iter().filter(|entry| entry.row.status == Status::Unknown).count();
                found
                    .entries
                    .extend(rows.into_iter().filter(|entry| asks(&entry.row.status) && wanted.holds(entry)));
            }
            Err(problem) => found.problems.push(problem),
        }
    }
}

/// Puts decisions from here with an unknown outcome first, also if their source has no row of them.
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
    found.ids.add(lost.iter().map(|entry| entry.key.id.untrusted()));
    if args.status.contains(&Status::Unknown) {
        found.entries.splice(0..0, lost.into_iter().filter(|entry| wanted.holds(entry)));
    }
}

/// Collects settled actions, newest first, page by page.
async fn past(
    inbox: &Inbox,
    args: &ListArgs,
    (sources, statuses): (&[SourceName], &[Status]),
    found: &mut Found,
    wanted: &mut Wanted,
) {
    let mut progress = Progress::start();
    // With another order, the first action may be on the last page.
    let limit = if args.sort.is_some() { usize::MAX } else { args.limit.unwrap_or(usize::MAX) };
    let (mut next, mut read, mut silent) = (None, 0_usize, 0);
    loop {
        let listing = inbox.listed(Some(sources), statuses, next.take()).await;
        read += listing.entries.len();
        found.ids.add(listing.entries.iter().map(|entry| entry.key.id.untrusted()));
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

/// Formats `2 of 89 pending` or `nothing is pending`.
fn summary(found: &Found, args: &ListArgs) -> String {
    let status = match args.status.as_slice() {
        [one] => Some(output::shown(&one.word())),
        _ => None,
    };
    if found.entries.is_empty() && !found.more {
        let state = status.unwrap_or_else(|| "in any of these states".to_owned());
        let filtered = !args.filter.is_empty() || args.saved.is_some();
        return format!("nothing{} is {state}", if filtered { " that matches" } else { "" });
    }
    let count = found.count();
    let one = if count == "1" { "action" } else { "actions" };
    format!("{count} {}", status.as_deref().unwrap_or(one))
}

fn table(
    found: &Found,
    args: &ListArgs,
    (wanted, several): (&Wanted, bool),
    now: Timestamp,
) -> anyhow::Result<()> {
    if !found.entries.is_empty() {
        let asked = (args.status.as_slice(), several, &found.ids);
        columns::text(&found.entries, |key| wanted.known(key), &args.columns, asked, now)?;
    }
    output::line(&summary(found, args))?;
    let expired = found.entries.iter().filter(|entry| entry.row.is_pending_and_expired(now)).count();
    if expired > 0 {
        let expired = text::count(expired, "action");
        output::line(&format!("! {expired} expired: nothing can be decided there any more"))?;
    }
    if found.more && found.total.is_none() {
        output::line(&format!("! {}", found.cut()))?;
    }
    if found.lost > 0 && !args.status.contains(&Status::Unknown) {
        let lost = text::count(found.lost, "action");
        output::line(&format!("! {lost} with an unknown outcome: placet list --status unknown"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Args, Command};
    use crate::domain::{ActionId, ActionKey, Row};
    use clap::Parser as _;

    fn found(shown: usize, total: Option<usize>) -> Found {
        let entry = |n: usize| {
            let id = ActionId::new(n.to_string());
            let row = Row::new(id.clone(), "t".into(), "T".into());
            Entry { key: ActionKey { source: SourceName::new("s"), id }, row }
        };
        let more = total.is_none_or(|total| total > shown);
        Found { entries: (0..shown).map(entry).collect(), total, more, ..Found::default() }
    }

    fn said(found: &Found, words: &[&str]) -> String {
        let args = Args::parse_from([&["placet", "list"], words].concat());
        let Some(Command::List(args)) = args.command else { panic!("not a list") };
        summary(found, &args)
    }

    #[test]
    fn cut_list_says_of_how_many() {
        assert_eq!(said(&found(2, Some(89)), &[]), "2 of 89 pending");
        assert_eq!(said(&found(0, Some(89)), &[]), "0 of 89 pending", "--limit 0");
        assert_eq!(said(&found(89, Some(89)), &[]), "89 pending");
        assert_eq!(said(&found(1, Some(3)), &["--status", "pending,unknown"]), "1 of 3 actions");
        assert_eq!(said(&found(1, Some(1)), &["--status", "pending,unknown"]), "1 action");
        assert_eq!(said(&found(0, Some(0)), &[]), "nothing is pending");
        assert_eq!(said(&found(0, Some(0)), &["tool:x"]), "nothing that matches is pending");
        assert_eq!(found(2, Some(89)).cut(), "only 2 of 89; a greater --limit shows more");
        assert_eq!(
            (said(&found(2, None), &["--status", "executed"]), found(2, None).cut()),
            ("2 executed".to_owned(), "there are more; a greater --limit shows them".to_owned())
        );
    }
}
