//! `placet list`: what is pending, or what waits to be settled, as a table or as JSON.

use std::time::Duration;

use futures_util::future::join_all;
use serde::Serialize;

use crate::contract::action::RowBody;
use crate::domain::{Entry, SourceName, Status, Timestamp};
use crate::inbox::{Inbox, Problem, Rows, Synced};
use crate::text;

use super::args::{ListArgs, Listed};
use super::output;
use super::{Exit, Usage, problem};

/// For a source to list everything.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Serialize)]
struct ListJson<'a> {
    items: Vec<ItemJson<'a>>,
    /// Sources and items that could not be read, in words.
    problems: Vec<String>,
}

#[derive(Serialize)]
struct ItemJson<'a> {
    source: &'a str,
    #[serde(flatten)]
    row: RowBody<'a>,
}

/// Prints what is pending, or what waits to be settled, in every source or in one.
pub async fn list(inbox: &Inbox, args: &ListArgs, now: Timestamp) -> anyhow::Result<Exit> {
    let (mut entries, mut problems, mut reached) = (Vec::new(), Vec::new(), false);
    let sources = chosen(inbox, args.source.as_deref())?;
    for (source, synced) in join_all(sources.iter().map(|source| listed(inbox, source))).await {
        match synced {
            Ok(synced) => {
                reached = true;
                let unreadable = synced.unreadable.into_iter();
                problems.extend(unreadable.map(|why| Problem {
                    source: Some(source.clone()),
                    what: "sent an action that cannot be read".to_owned(),
                    why: Some(why),
                }));
                match synced.rows {
                    Rows::All(rows) | Rows::Changes { entries: rows, .. } => entries.extend(rows),
                }
            }
            Err(problem) => problems.push(problem),
        }
    }
    let lost = entries.iter().filter(|entry| entry.row.status == Status::Unknown).count();
    let wanted = match args.status {
        Listed::Pending => Status::Pending,
        Listed::Unknown => Status::Unknown,
    };
    entries.retain(|entry| entry.row.status == wanted);
    let problems: Vec<String> = problems.iter().map(problem).collect();
    if args.json {
        let items =
            entries.iter().map(|it| ItemJson { source: it.key.source.as_str(), row: RowBody::from(&it.row) });
        output::json(&ListJson { items: items.collect(), problems })?;
    } else {
        if reached || !entries.is_empty() {
            table(&entries, &wanted, sources.len() > 1, now)?;
            if lost > 0 && args.status == Listed::Pending {
                let lost = text::count(lost, "action");
                output::line(&format!(
                    "! {lost} ran with an outcome that nobody knows: placet list --status unknown"
                ))?;
            }
        }
        for problem in &problems {
            output::line(&format!("! {problem}"))?;
        }
    }
    Ok(if reached { Exit::Done } else { Exit::Unreachable })
}

/// All are asked at once, so that one that hangs holds back no other for long.
async fn listed<'a>(inbox: &Inbox, source: &'a SourceName) -> (&'a SourceName, Result<Synced, Problem>) {
    let synced = tokio::time::timeout(PATIENCE, inbox.sync(source, None)).await;
    let silent = || Problem {
        source: Some(source.clone()),
        what: format!("did not answer within {} s", PATIENCE.as_secs()),
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

fn table(entries: &[Entry], status: &Status, several: bool, now: Timestamp) -> anyhow::Result<()> {
    let word = output::shown(&status.word());
    if entries.is_empty() {
        output::line(&format!("nothing is {word}"))?;
        return Ok(());
    }
    let id_width =
        entries.iter().map(|entry| output::identifier_width(entry.key.id.untrusted())).max().unwrap_or(2);
    let names = entries.iter().map(|entry| entry.key.source.as_str().len()).max().unwrap_or_default().max(6);
    // With one source there is nothing to tell apart.
    let source = |name: &str| if several { format!("{name:names$}  ") } else { String::new() };
    let head = source("SOURCE");
    output::line(&format!("{head}{:id_width$}  {:8}  {:>6}  {:26}  TITLE", "ID", "RISK", "AGE", "TOOL"))?;
    for entry in entries {
        let row = &entry.row;
        let line = format!(
            "{}{}  {}  {:>6}  {}  {}",
            source(entry.key.source.as_str()),
            output::identifier_cell(entry.key.id.untrusted(), id_width),
            output::cell(&row.risk.word(), 8),
            output::age(now.since(row.created_at)),
            output::identifier_cell(&row.tool, 26),
            output::shown(&row.title),
        );
        output::line(&line)?;
    }
    output::line(&format!("{} {word}", entries.len()))?;
    Ok(())
}
