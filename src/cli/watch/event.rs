//! Events as JSON objects.

use serde_json::{Map, Value, json};

use crate::contract::absent::without_nulls;
use crate::contract::action::wire_status;
use crate::contract::time;
use crate::domain::Untrusted;
use crate::inbox::Connection;
use crate::inbox::figures::written::{connection, queue_json};
use crate::inbox::figures::{Happening, HappeningKind};

/// Returns the events since the last look, and whether earlier ones may be lost because no known event is left. Both
/// lists are newest first.
pub(super) fn news<'a>(now: &'a [Happening], told: &[Happening]) -> (&'a [Happening], bool) {
    let is_old = |from: &usize| now.iter().skip(*from).zip(told).all(|(now, told)| now == told);
    let new = (0..now.len()).filter(|_| !told.is_empty()).find(is_old).unwrap_or(now.len());
    let is_missed = !told.is_empty() && new > 0 && new == now.len();
    (now.split_at_checked(new).map_or(now, |(new, _)| new), is_missed)
}

/// Reports that events were lost before this one. Their number is unknown.
pub(super) fn missed(first: &Happening) -> Value {
    json!({"type": "event", "at": time::write(first.at), "event": "missed"})
}

/// Returns an event in the form of `assets/contract/cli.schema.json`. Its members depend on `event`.
pub(super) fn event_json(happening: &Happening) -> Value {
    let by = |by: &Option<Untrusted>| by.as_ref().map(|by| by.as_raw().to_owned());
    let (event, about, more) = match &happening.what {
        HappeningKind::Arrived { queue, count, high, first } => {
            ("arrived", Some(first), json!({"queue": queue_json(queue), "count": count, "high": high}))
        }
        HappeningKind::Decided { status, by: who, about } => {
            ("decided", Some(about), json!({"status": wire_status(status), "by": by(who)}))
        }
        HappeningKind::DecidedMany { approved, rejected, by: who } => {
            let count = approved + rejected;
            let more = json!({"count": count, "by": by(who), "approved": approved, "rejected": rejected});
            ("decided", None, more)
        }
        HappeningKind::Left { status, about } => {
            ("left", Some(about), json!({"status": status.as_ref().map(wire_status)}))
        }
        HappeningKind::LeftMany { count } => ("left", None, json!({"count": count})),
        HappeningKind::Ended { status, about } => (status.as_raw(), Some(about), json!({})),
        HappeningKind::Connection(it) => {
            ("connection", None, json!({"connection": connection(it), "why": why(it)}))
        }
        HappeningKind::Unreadable { why } => ("unreadable", None, json!({"why": why})),
        HappeningKind::Paused => ("paused", None, json!({})),
        HappeningKind::Resumed => ("resumed", None, json!({})),
    };
    let of_event = json!({
        "type": "event",
        "at": time::write(happening.at),
        "source": happening.source.as_str(),
        "event": event,
        "id": about.map(|about| about.key.id.as_raw()),
        "toolName": about.map(|about| about.tool.as_raw()),
        "title": about.map(|about| about.title.as_raw()),
        "highRisk": about.map(|about| about.is_high()),
    });
    let parts = [of_event, more].into_iter().filter_map(|part| part.as_object().cloned());
    without_nulls(Value::Object(parts.flatten().collect::<Map<_, _>>()))
}

fn why(connection: &Connection) -> Option<&str> {
    match connection {
        Connection::Retrying { why, .. } | Connection::Refused { why } | Connection::Stopped { why } => {
            Some(why.as_raw())
        }
        Connection::Connecting | Connection::Live | Connection::Polling => None,
    }
}
