//! What happens, for scripts: one JSON object each.

use serde::Serialize;

use crate::contract::action::wire_status;
use crate::contract::time;
use crate::domain::Untrusted;
use crate::inbox::Connection;
use crate::inbox::figures::json::{QueueName, connection};
use crate::inbox::figures::{About, Happening, HappeningKind};

/// As `assets/contract/cli.schema.json` has it. Which fields are there depends on `event`.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct EventJson<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    at: String,
    /// Absent where it is about no source in particular.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a str>,
    /// `arrived`, `decided`, `left`, `executed`, `failed`, `unknown`, `connection`, `unreadable`, `paused`, `resumed`,
    /// `missed`.
    event: &'static str,
    /// The action that it is about, or one of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    high_risk: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    queue: Option<QueueName<'a>>,
    /// Of how many actions, where it is told of several at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    /// So many of them are of high risk.
    #[serde(skip_serializing_if = "Option::is_none")]
    high: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'a str>,
    /// Who decided, where the source tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    approved: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rejected: Option<u64>,
    /// As in the board.
    #[serde(skip_serializing_if = "Option::is_none")]
    connection: Option<&'static str>,
    /// What the other side said.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
}

/// What is new since the last look, newest first as in both; and whether something before it may be forgotten already: nothing that was
/// told is known any more.
pub(super) fn news<'a>(now: &'a [Happening], told: &[Happening]) -> (&'a [Happening], bool) {
    let is_old = |from: &usize| now.iter().skip(*from).zip(told).all(|(now, told)| now == told);
    let new = (0..now.len()).filter(|_| !told.is_empty()).find(is_old).unwrap_or(now.len());
    let is_missed = !told.is_empty() && new > 0 && new == now.len();
    (now.split_at_checked(new).map_or(now, |(new, _)| new), is_missed)
}

/// More happened than is known: what follows begins with this one. How much it was nobody counted.
pub(super) fn missed(first: &Happening) -> EventJson<'static> {
    EventJson { kind: "event", at: time::write(first.at), event: "missed", ..EventJson::default() }
}

pub(super) fn json(happening: &Happening) -> EventJson<'_> {
    let base = EventJson {
        kind: "event",
        at: time::write(happening.at),
        source: Some(happening.source.as_str()),
        ..EventJson::default()
    };
    match &happening.what {
        HappeningKind::Arrived { queue, count, high, first } => EventJson {
            queue: Some(QueueName::of(queue)),
            count: Some(*count),
            high: Some(*high),
            ..about("arrived", first, base)
        },
        HappeningKind::Decided { status, by, about: it } => EventJson {
            status: Some(wire_status(status)),
            by: by.as_ref().map(Untrusted::as_raw),
            ..about("decided", it, base)
        },
        HappeningKind::DecidedMany { approved, rejected, by } => EventJson {
            event: "decided",
            count: Some(approved + rejected),
            approved: Some(*approved),
            rejected: Some(*rejected),
            by: by.as_ref().map(Untrusted::as_raw),
            ..base
        },
        HappeningKind::Left { status, about: it } => {
            EventJson { status: status.as_ref().map(wire_status), ..about("left", it, base) }
        }
        HappeningKind::LeftMany { count } => EventJson { event: "left", count: Some(*count), ..base },
        HappeningKind::Executed { about: it } => about("executed", it, base),
        HappeningKind::Failed { about: it } => about("failed", it, base),
        HappeningKind::Unknown { about: it } => about("unknown", it, base),
        HappeningKind::Connection(it) => {
            EventJson { event: "connection", connection: Some(connection(it)), why: why(it), ..base }
        }
        HappeningKind::Unreadable { why } => EventJson { event: "unreadable", why: Some(why), ..base },
        HappeningKind::Paused => EventJson { event: "paused", ..base },
        HappeningKind::Resumed => EventJson { event: "resumed", ..base },
    }
}

fn about<'a>(event: &'static str, about: &'a About, base: EventJson<'a>) -> EventJson<'a> {
    EventJson {
        event,
        id: Some(about.key.id.as_raw()),
        tool_name: Some(about.tool.as_raw()),
        title: Some(about.title.as_raw()),
        high_risk: Some(about.high),
        ..base
    }
}

fn why(connection: &Connection) -> Option<&str> {
    match connection {
        Connection::Retrying { why, .. } | Connection::Refused { why } | Connection::Stopped { why } => {
            Some(why.as_raw())
        }
        Connection::Connecting | Connection::Live | Connection::Polling => None,
    }
}
