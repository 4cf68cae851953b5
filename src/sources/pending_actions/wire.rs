//! Reads replies tolerantly: an unreadable item is reported and does not hide the rest.
//!
//! Uses `domain::json` and not serde, because some backends write `NaN`, and one such item must not spoil its page.

use std::sync::Arc;

use super::settle::Counts;
use crate::contract::action::{self, Unreadable};
use crate::contract::claim;
use crate::contract::fields::Fields;
use crate::contract::time;
use crate::domain::{
    ActionId, Claim, HistoryEvent, Outcome, PendingAction, Person, Revision, Row, Status, Untrusted, json,
};
use crate::domain::{Decision, Item};
use crate::net::url;
use crate::sources::{Identity, SourceError};

pub(super) const CHANGED: &str =
    "changed since you looked: its input, or its expiry, risk, effect, preview or executor";
pub(super) const GONE: &str = "no longer in the source";

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Page<T> {
    pub(super) items: Vec<Result<T, Unreadable>>,
    pub(super) next: Option<String>,
    pub(super) revision: Option<Revision>,
    /// The list has more than it holds.
    pub(super) goes_on: bool,
    /// Number of items on all pages, if stated.
    pub(super) total: Option<u64>,
    /// Claims in the whole workspace, if stated.
    pub(super) claims: Option<Vec<Claim>>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Changes {
    pub(super) rows: Vec<Result<Row, Unreadable>>,
    pub(super) purged: Vec<ActionId>,
    pub(super) revision: Revision,
    pub(super) more: bool,
    pub(super) complete: bool,
    pub(super) claims: Option<Vec<Claim>>,
}

/// The answer to a batch: counts, and the outcome of each action if the backend names them.
#[derive(Debug, Default)]
pub(super) struct BatchAnswer {
    pub(super) counts: Counts,
    pub(super) items: Vec<Answered>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answered {
    pub(super) id: ActionId,
    outcome: Untrusted,
    status: Option<Status>,
    by: Option<Untrusted>,
    message: Option<Untrusted>,
    /// Approvals given and needed.
    approvals: Option<(u64, u64)>,
}

/// Reads an item of a reply; its members are given if known.
pub(super) type ReadItem<T> = fn(&Arc<String>, &str, Option<Fields<'_>>) -> Result<T, Unreadable>;

pub(super) fn row(_: &Arc<String>, item: &str, fields: Option<Fields<'_>>) -> Result<Row, Unreadable> {
    action::read_row_with(item, fields)
}

/// Reads a row of the pending list. Reports a status that placet does not know.
pub(super) fn listed(reply: &Arc<String>, item: &str, fields: Option<Fields<'_>>) -> Result<Row, Unreadable> {
    let row = row(reply, item, fields)?;
    match row.status {
        Status::Other(_) => Err(Unreadable::new(Unreadable::UNKNOWN_STATUS, item)),
        _ => Ok(row),
    }
}

pub(super) fn whole(
    reply: &Arc<String>,
    item: &str,
    fields: Option<Fields<'_>>,
) -> Result<PendingAction, Unreadable> {
    action::read_with(item, fields, Some(reply))
}

/// Reads a list, or a bare array of items.
pub(super) fn page<T>(text: &Arc<String>, read: ReadItem<T>) -> Option<Page<T>> {
    let (items, beside) =
        json::read_items(text, "items", |item, members| read(text, item, members.map(Fields::new)))?;
    let fields = Fields::new(beside);
    let next = fields.text("nextCursor").filter(|cursor| !cursor.is_empty());
    let is_odd = next.is_none() && fields.raw("nextCursor").is_some_and(|raw| raw.starts_with(['{', '[']));
    Some(Page {
        items,
        next: next.map(|cursor| cursor.as_raw().to_owned()),
        revision: fields.number("revision").map(Revision),
        goes_on: is_odd || fields.flag("hasMore").unwrap_or_default(),
        total: fields.number("total"),
        claims: claim::beside(&fields),
    })
}

/// Finds the next cursor at the end of the text before the page is parsed. The parsed cursor is the one that counts.
pub(super) fn likely_cursor(text: &str) -> Option<String> {
    let end = text.get(text.floor_char_boundary(text.len().saturating_sub(512))..)?;
    let (_, after) = end.rsplit_once(r#""nextCursor":""#)?;
    let (cursor, _) = after.split_once('"')?;
    (!cursor.is_empty() && !cursor.contains('\\')).then(|| cursor.to_owned())
}

pub(super) fn changes(text: &str) -> Option<Changes> {
    let json::Items { items, beside } = json::items(text, "changes")?;
    let fields = Fields::new(beside);
    let (mut rows, mut purged) = (Vec::new(), Vec::new());
    for change in items {
        let unreadable = |what| Unreadable::new(what, change);
        match Fields::of(change) {
            None => rows.push(Err(unreadable("the change is no valid JSON"))),
            Some(entry) => match (entry.raw("row"), entry.text("id")) {
                (Some(row), _) => rows.push(action::read_row(row)),
                (None, Some(id)) => purged.push(ActionId::new(id.as_raw())),
                (None, None) => rows.push(Err(unreadable("it has no id"))),
            },
        }
    }
    Some(Changes {
        rows,
        purged,
        revision: Revision(fields.number("revision")?),
        more: fields.flag("more").unwrap_or_default(),
        complete: fields.flag("complete").unwrap_or(true),
        claims: claim::beside(&fields),
    })
}

pub(super) fn unwrapped(text: &str) -> &str {
    let Some(fields) = Fields::of(text).filter(|fields| fields.raw("id").is_none()) else { return text };
    let inner = ["pendingAction", "item", "data", "action"].into_iter().find_map(|name| fields.raw(name));
    inner.filter(|inner| inner.starts_with('{')).unwrap_or(text)
}

/// Reads one action in full. An action under another id is unreadable.
pub(super) fn one(text: &str, asked: &ActionId) -> Result<PendingAction, Unreadable> {
    match action::read(unwrapped(text)) {
        Ok(action) if action.row.id == *asked => Ok(action),
        Ok(_) => {
            let what = "another action came than was asked for";
            Err(Unreadable::under(Some(asked.clone()), what, text.into()))
        }
        // Reported under the id that was asked for.
        Err(bad) => Err(Unreadable { id: Some(asked.clone()), ..bad }),
    }
}

/// Serializes a body. The error says that nothing was sent.
pub(super) fn body(body: &impl serde::Serialize) -> Result<String, SourceError> {
    serde_json::to_string(body).map_err(|error| SourceError::Refused { why: error.to_string().into() })
}

pub(super) fn segment(id: &ActionId) -> Result<String, SourceError> {
    let refused = || SourceError::Refused { why: "the action's id cannot stand in an address".into() };
    url::segment(id.as_raw()).ok_or_else(refused)
}

/// Reads the status and who settled the action from the answer to a decision.
pub(super) fn standing(text: &str) -> Option<(Status, Option<Untrusted>)> {
    let fields = Fields::of(unwrapped(text))?;
    Some((Status::parse(fields.text("status")?.as_raw()), fields.text("resolvedBy")))
}

/// Reads the answer to an approval that is not the last: the action stays pending and counts its approvals.
pub(super) fn counted(text: &str) -> Option<Outcome> {
    let row = action::read_row(unwrapped(text)).ok().filter(|row| row.status.is_pending())?;
    let approvals = row.approvals.filter(|approvals| approvals.given() > 0)?;
    Some(Outcome::PartlyApproved { given: approvals.given(), needed: approvals.needed })
}

/// Reads the events of an action, in order. Leaves out an event without a word or a time.
pub(super) fn timeline(text: &str) -> Option<Vec<HistoryEvent>> {
    let items = json::elements(Fields::of(text)?.raw("items")?)?;
    let event = |fields: Fields<'_>| {
        Some(HistoryEvent {
            kind: fields.text("event")?,
            at: fields.time("at")?,
            by: fields.text("by"),
            details: fields.json("details"),
        })
    };
    Some(items.into_iter().filter_map(Fields::of).filter_map(event).collect())
}

pub(super) fn settler(text: &str) -> Option<Untrusted> {
    let by_hand = |event: &HistoryEvent| event.kind.as_raw() == "settled";
    timeline(text)?.into_iter().rev().find(by_hand)?.by
}

pub(super) fn batch_answer(text: &str) -> Option<BatchAnswer> {
    let fields = Fields::of(text)?;
    let items = fields.raw("items").and_then(json::elements).unwrap_or_default();
    let skipped = fields.number("skipped");
    if skipped.is_none() && items.is_empty() {
        return None;
    }
    let items = items.into_iter().filter_map(answered).collect();
    let (approved, rejected) = (fields.number("approved"), fields.number("rejected"));
    Some(BatchAnswer { counts: Counts { approved, rejected, skipped: skipped.unwrap_or_default() }, items })
}

fn answered(text: &str) -> Option<Answered> {
    let fields = Fields::of(text)?;
    Some(Answered {
        id: ActionId::new(fields.text("pendingActionId")?.as_raw()),
        outcome: fields.text("outcome")?,
        status: fields.text("status").map(|word| Status::parse(word.as_raw())),
        by: fields.text("resolvedBy"),
        message: fields.text("message"),
        approvals: fields
            .raw("approvals")
            .and_then(Fields::of)
            .and_then(|it| Some((it.number("given")?, it.number("needed")?))),
    })
}

impl Answered {
    /// Returns the outcome of a decision; `None` if the words make no sense and the action must be read.
    pub(super) fn outcome(&self, item: &Item) -> Option<Outcome> {
        let failed = |fallback: &str| {
            let why = self.message.clone().unwrap_or_else(|| Untrusted::from(fallback));
            Some(Outcome::Failed { why })
        };
        match (self.outcome.as_raw(), &item.decision) {
            ("approved", Decision::Approve { .. }) => Some(Outcome::Approved),
            ("rejected", Decision::Reject { .. }) => Some(Outcome::Rejected),
            ("accepted", Decision::Approve { .. }) => Some(match self.approvals {
                Some((given, needed)) => Outcome::PartlyApproved { given, needed },
                None => Outcome::Accepted,
            }),
            ("skipped", _) => Some(Outcome::Skipped { status: self.status.clone(), by: self.by.clone() }),
            ("changed", _) => failed(CHANGED),
            ("invalid", _) => failed("the source does not accept this decision"),
            ("missing", _) => failed(GONE),
            _ => None,
        }
    }
}

/// Returns the entry of this workspace, or the first, from the list of workspaces.
pub(super) fn membership<'a>(text: &'a str, workspace: Option<&str>) -> Option<Fields<'a>> {
    let items = json::elements(Fields::of(text)?.raw("items")?)?;
    items.into_iter().filter_map(Fields::of).find(|item| {
        let id = item.text("workspaceId");
        workspace.is_none_or(|workspace| id.is_some_and(|id| id.as_raw() == workspace))
    })
}

pub(super) fn identity(text: &str, workspace: Option<&str>) -> Option<Identity> {
    let mine = membership(text, workspace)?;
    let words = |name| {
        let words = mine.raw(name).and_then(json::elements).unwrap_or_default();
        words.into_iter().map(|word| Untrusted::from(json::decode(word).text.into_owned())).collect()
    };
    Some(Identity {
        subject: mine.text("subject")?,
        name: mine.text("subjectName"),
        groups: words("groups"),
        workspace: mine.text("workspaceId"),
        scopes: words("scopes"),
        expires_at: mine.text("expiresAt").and_then(|at| time::read(at.as_raw())),
    })
}

/// Reads everybody whom the gate knows. Leaves out an entry without a subject.
pub(super) fn people(text: &str) -> Option<Vec<Person>> {
    let items = json::elements(Fields::of(text)?.raw("items")?)?;
    let person =
        |fields: Fields<'_>| Some(Person { subject: fields.text("subject")?, name: fields.text("name") });
    Some(items.into_iter().filter_map(Fields::of).filter_map(person).collect())
}
