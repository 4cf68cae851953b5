//! The columns of a list.

use std::io;

use crate::cli::args::ListArgs;
use crate::cli::columns::{self, Column};
use crate::cli::output;
use crate::contract::time;
use crate::domain::{BatchId, Effect, Entry, Status, Timestamp, Untrusted};
use crate::text::{self, Shown};

/// A row, at the moment of printing.
struct Row<'a> {
    entry: &'a Entry,
    now: Timestamp,
    /// For spreadsheets: ages as seconds, to reckon with.
    plain: bool,
}

impl Row<'_> {
    /// Its source still lists it as pending.
    fn is_expired(&self) -> bool {
        self.entry.row.is_pending_and_expired(self.now)
    }
}

type Cell = fn(&Row<'_>) -> Shown;

/// Every column by its name; a name that has none gives nothing.
fn column<'a>(name: &str) -> Option<Column<Row<'a>>> {
    let (name, most, cell): (_, _, Cell) = match name {
        "id" => ("id", usize::MAX, |row| text::identifier(row.entry.key.id.untrusted())),
        "source" => ("source", usize::MAX, |row| text::part(row.entry.key.source.as_str())),
        "tool" => ("tool", 26, |row| text::identifier(&row.entry.row.tool)),
        "title" => ("title", 80, |row| {
            let expired = !row.plain && row.is_expired();
            Shown::ours(if expired { "(expired) " } else { "" }).followed_by(text::line(&row.entry.row.title))
        }),
        "risk" => ("risk", 8, |row| text::line(&row.entry.row.risk.word())),
        "effect" => ("effect", 11, |row| some(row.entry.row.effect.as_ref().map(Effect::word).as_ref())),
        "age" => ("age", 9, |row| {
            let age = row.now.since(row.entry.row.created_at);
            Shown::ours(if row.plain { (age / 1_000).max(0).to_string() } else { output::age(age) })
        }),
        "status" => ("status", 12, |row| {
            let status = if row.is_expired() { &Status::Expired } else { &row.entry.row.status };
            text::line(&status.word())
        }),
        "batch" => ("batch", 36, |row| id(row.entry.row.batch.as_ref().map(BatchId::untrusted))),
        "agent" => ("agent", 24, |row| row.entry.row.agent.as_ref().map(text::name).unwrap_or_default()),
        "mission" => ("mission", 24, |row| id(row.entry.row.mission.as_ref())),
        "created" => ("created", 24, |row| Shown::ours(time::write(row.entry.row.created_at))),
        "expires" => ("expires", 24, |row| moment(row.entry.row.expires_at)),
        "decided" => ("decided", 24, |row| moment(row.entry.row.resolved_at)),
        "by" => ("by", 24, |row| row.entry.row.resolved_by.as_ref().map(text::name).unwrap_or_default()),
        "workspace" => ("workspace", 24, |row| id(row.entry.row.workspace.as_ref())),
        "session" => ("session", 36, |row| id(row.entry.row.session.as_ref())),
        "run" => ("run", 36, |row| id(row.entry.row.run.as_ref())),
        "size" => ("size", 10, |row| Shown::ours(row.entry.row.size.to_string())),
        _ => return None,
    };
    Some(Column { name, most, cell })
}

fn some(text: Option<&Untrusted>) -> Shown {
    text.map(text::line).unwrap_or_default()
}

fn id(text: Option<&Untrusted>) -> Shown {
    text.map(text::identifier).unwrap_or_default()
}

fn moment(at: Option<Timestamp>) -> Shown {
    at.map(|at| Shown::ours(time::write(at))).unwrap_or_default()
}

/// As asked for, else those of `or`.
fn chosen<'a>(args: &ListArgs, or: &[&str]) -> Vec<Column<Row<'a>>> {
    if args.columns.is_empty() {
        return or.iter().filter_map(|name| column(name)).collect();
    }
    args.columns.iter().filter_map(|name| column(name)).collect()
}

pub(super) fn text(entries: &[Entry], args: &ListArgs, several: bool, now: Timestamp) -> io::Result<()> {
    let is_over = args.status.iter().any(|status| !status.is_queued());
    let mut or = vec!["id", "risk", "age", "tool", "title"];
    // With one source, or one status, there is nothing to tell apart.
    if several {
        or.insert(0, "source");
    }
    if is_over {
        or.splice(or.len() - 1..or.len() - 1, ["by"]);
    }
    if args.status.len() > 1 {
        or.insert(0, "status");
    }
    columns::text(&chosen(args, &or), &rows(entries, now, false))
}

pub(super) fn csv(entries: &[Entry], args: &ListArgs, now: Timestamp) -> io::Result<()> {
    let or = [
        "source", "id", "status", "risk", "effect", "tool", "title", "age", "created", "expires", "decided",
        "by", "agent", "mission", "batch",
    ];
    columns::csv(&chosen(args, &or), &rows(entries, now, true))
}

fn rows(entries: &[Entry], now: Timestamp, plain: bool) -> Vec<Row<'_>> {
    entries.iter().map(|entry| Row { entry, now, plain }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::LIST_COLUMNS;
    use crate::domain::{ActionId, ActionKey, Capabilities, SourceName};

    #[test]
    fn a_row_that_expired_is_marked_while_its_source_lists_it() {
        let now = Timestamp::from_millis(1_000_000);
        let of = |expires: i64, plain, name: &str| {
            let id = ActionId::new("a");
            let expires_at = Some(Timestamp::from_millis(expires));
            let row = crate::domain::Row {
                expires_at,
                ..crate::domain::Row::new(id.clone(), "t".into(), "T".into())
            };
            let key = ActionKey { source: SourceName::new("s"), id };
            let entry = Entry { key, row, can: Capabilities::PLAIN };
            (column(name).unwrap().cell)(&Row { entry: &entry, now, plain }).plain().clone()
        };

        assert_eq!(
            (of(999_999, false, "title"), of(999_999, false, "status")),
            ("(expired) T".into(), "expired".into())
        );
        assert_eq!(
            (of(1_000_001, false, "title"), of(1_000_001, false, "status")),
            ("T".into(), "pending".into())
        );
        assert_eq!(
            (of(1, true, "title"), of(1, true, "status")),
            ("T".into(), "expired".into()),
            "CSV has a column"
        );
    }

    #[test]
    fn every_column_that_can_be_asked_for_is_there() {
        for name in LIST_COLUMNS {
            assert_eq!(column(name).map(|column| column.name), Some(name));
        }
    }
}
