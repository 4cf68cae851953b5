//! The columns of a list.

use std::io;

use crate::cli::columns::{self, Column, ShortIds, chosen, foreign};
use crate::cli::output;
use crate::contract::time;
use crate::domain::{ActionKey, BatchId, Claim, Effect, Entry, Status, Timestamp, Untrusted};
use crate::text::{self, People, Shown};

pub(super) struct Row<'a> {
    entry: &'a Entry,
    claim: Option<&'a Claim>,
    people: Option<&'a People>,
    now: Timestamp,
    /// `None` for spreadsheets: full ids, times in UTC, ages in seconds.
    ids: Option<&'a ShortIds>,
}

impl Row<'_> {
    const fn is_plain(&self) -> bool {
        self.ids.is_none()
    }

    fn time(&self, at: Option<Timestamp>) -> Shown {
        let write: fn(Timestamp) -> String = if self.is_plain() { time::write } else { output::moment };
        at.map(|at| Shown::ours(write(at))).unwrap_or_default()
    }

    /// Returns whether it has expired although its source lists it as pending.
    fn is_expired(&self) -> bool {
        self.entry.row.is_pending_and_expired(self.now)
    }

    fn who(&self, subject: &Untrusted) -> Shown {
        self.people.map_or_else(|| text::name(subject), |people| people.called(subject, usize::MAX))
    }
}

/// Returns whether actions in this status are in the queue. Others come from the source's history.
pub(super) const fn is_queued(status: &Status) -> bool {
    matches!(status, Status::Pending | Status::Unknown)
}

/// The claim on an action, and the names of its source's people.
pub(super) type Known<'a> = (Option<&'a Claim>, Option<&'a People>);

type Cell<'a> = fn(&Row<'a>) -> Shown;

pub(super) fn columns<'a>() -> [Column<Row<'a>>; 21] {
    let column = |name, most, cell: Cell<'a>| Column { name, most, cell };
    [
        column("id", usize::MAX, |row| {
            let id = row.entry.key.id.untrusted();
            row.ids.map_or_else(|| text::identifier(id), |ids| ids.short(id))
        }),
        column("source", usize::MAX, |row| text::part(row.entry.key.source.as_str())),
        column("tool", 26, |row| text::identifier(&row.entry.row.tool)),
        column("title", 80, |row| {
            let expired = !row.is_plain() && row.is_expired();
            Shown::ours(if expired { "(expired) " } else { "" })
                .followed_by(text::line(row.entry.row.shown_title()))
        }),
        column("risk", 8, |row| text::line(&row.entry.row.risk.word())),
        column("effect", 11, |row| foreign(row.entry.row.effect.as_ref().map(Effect::word).as_ref())),
        column("age", 9, |row| {
            let age = row.now.since(row.entry.row.created_at);
            Shown::ours(if row.is_plain() { (age / 1_000).max(0).to_string() } else { output::age(age) })
        }),
        column("status", 12, |row| {
            let status = if row.is_expired() { &Status::Expired } else { &row.entry.row.status };
            text::status_word(status)
        }),
        column("batch", 36, |row| id(row.entry.row.batch.as_ref().map(BatchId::untrusted))),
        column("agent", 24, |row| row.entry.row.agent.as_ref().map(text::name).unwrap_or_default()),
        column("mission", 24, |row| id(row.entry.row.mission.as_ref())),
        column("created", 24, |row| row.time(Some(row.entry.row.created_at))),
        column("expires", 24, |row| row.time(row.entry.row.expires_at)),
        column("decided", 24, |row| row.time(row.entry.row.resolved_at)),
        column("by", 24, |row| row.entry.row.resolved_by.as_ref().map(|by| row.who(by)).unwrap_or_default()),
        column("claimed", 24, |row| {
            let Some(claim) = row.claim else { return Shown::default() };
            let since = row.now.since(claim.since);
            let since = if row.is_plain() { time::write(claim.since) } else { output::age(since) };
            row.who(&claim.by).followed_by(Shown::ours(format!(" {since}")))
        }),
        column("approvals", 32, |row| {
            let Some(approvals) = &row.entry.row.approvals else { return Shown::default() };
            let mut shown = Shown::ours(format!("{} of {}", approvals.given(), approvals.needed));
            for name in &approvals.by {
                shown = shown.followed_by(Shown::ours(" ")).followed_by(row.who(name));
            }
            shown
        }),
        column("workspace", 24, |row| id(row.entry.row.workspace.as_ref())),
        column("session", 36, |row| id(row.entry.row.session.as_ref())),
        column("run", 36, |row| id(row.entry.row.run.as_ref())),
        column("size", 10, |row| Shown::ours(row.entry.row.size.to_string())),
    ]
}

fn id(text: Option<&Untrusted>) -> Shown {
    text.map(text::identifier).unwrap_or_default()
}

/// `asked` holds the requested statuses.
pub(super) fn text<'a>(
    entries: &'a [Entry],
    known: impl Fn(&ActionKey) -> Known<'a>,
    names: &[String],
    (asked, several, ids): (&[Status], bool, &'a ShortIds),
    now: Timestamp,
) -> io::Result<()> {
    let is_over = asked.iter().any(|status| !is_queued(status));
    let mut or = vec!["id", "risk", "age", "tool", "title"];
    // A column with a single value is left out.
    if several {
        or.insert(0, "source");
    }
    if is_over {
        or.splice(or.len() - 1..or.len() - 1, ["by"]);
    }
    if asked.len() > 1 {
        or.insert(0, "status");
    }
    let rows = rows(entries, known, now, Some(ids));
    let claimed = rows.iter().any(|row| row.claim.is_some());
    let approved = rows.iter().any(|row| row.entry.row.approvals.is_some());
    for (name, _) in [("claimed", claimed), ("approvals", approved)].into_iter().filter(|(_, any)| *any) {
        or.insert(or.len() - 1, name);
    }
    columns::table(&chosen(&columns(), names, &or), &rows)
}

pub(super) fn csv<'a>(
    entries: &'a [Entry],
    known: impl Fn(&ActionKey) -> Known<'a>,
    names: &[String],
    now: Timestamp,
) -> io::Result<()> {
    let or = [
        "source", "id", "status", "risk", "effect", "tool", "title", "age", "created", "expires", "decided",
        "by", "agent", "mission", "batch",
    ];
    columns::csv(&chosen(&columns(), names, &or), &rows(entries, known, now, None))
}

fn rows<'a>(
    entries: &'a [Entry],
    known: impl Fn(&ActionKey) -> Known<'a>,
    now: Timestamp,
    ids: Option<&'a ShortIds>,
) -> Vec<Row<'a>> {
    let row = |entry: &'a Entry| {
        let (claim, people) = known(&entry.key);
        Row { entry, claim, people, now, ids }
    };
    entries.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{ActionId, ActionKey, SourceName};

    #[test]
    fn expired_row_is_marked_while_its_source_lists_it() {
        let now = Timestamp::from_millis(1_000_000);
        let ids = ShortIds::default();
        let of = |expires: i64, plain: bool, name: &str| {
            let id = ActionId::new("a");
            let expires_at = Some(Timestamp::from_millis(expires));
            let row = crate::domain::Row {
                expires_at,
                ..crate::domain::Row::new(id.clone(), "t".into(), "T".into())
            };
            let key = ActionKey { source: SourceName::new("s"), id };
            let entry = Entry { key, row };
            (columns().iter().find(|it| it.name == name).unwrap().cell)(&Row {
                entry: &entry,
                claim: None,
                people: None,
                now,
                ids: (!plain).then_some(&ids),
            })
            .plain()
            .clone()
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
    fn title_column_has_the_edits_that_ran() {
        let id = ActionId::new("a");
        let mut row = crate::domain::Row::new(id.clone(), "t".into(), "T 1".into());
        row.edited = Some("T 1 → 2".into());
        let entry = Entry { key: ActionKey { source: SourceName::new("s"), id }, row };
        let now = Timestamp::from_millis(0);
        let row = Row { entry: &entry, claim: None, people: None, now, ids: None };
        let columns = columns();
        let title = columns.iter().find(|it| it.name == "title").unwrap();
        assert_eq!((title.cell)(&row).plain(), "T 1 → 2");
    }

    #[test]
    fn every_column_that_can_be_asked_for_is_there() {
        let names = "id source tool title risk effect age status batch agent mission created expires decided by claimed approvals workspace \
                     session run size";
        assert_eq!(columns().map(|column| column.name).join(" "), names);
    }
}
