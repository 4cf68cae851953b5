//! The event stream of our gate and of placet's bridge.

use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;

use super::setup::Patience;
use super::{Connection, EventKind};
use crate::contract::briefing;
use crate::net::http::Http;
use crate::net::sse::{self, Limits, Live};

/// Three ticks.
const PULSE: Duration = Duration::from_secs(45);

pub(super) fn limits(patience: Patience) -> Limits {
    let usual = Limits { pulse: Some(("tick", PULSE)), ..Limits::USUAL };
    Limits { backoff: patience.backoff.unwrap_or(usual.backoff), ..usual }
}

/// With `may_be_missing`, a stream that does not exist ends silently.
pub(super) fn signals(
    http: Http,
    path: String,
    limits: Limits,
    may_be_missing: bool,
) -> BoxStream<'static, EventKind> {
    let live = sse::live(http, path, limits).scan(!may_be_missing, |stood, live| {
        let nothing_there = matches!(live, Live::Stopped { .. }) && !*stood;
        *stood |= live == Live::Up;
        std::future::ready((!nothing_there).then_some(live))
    });
    live.filter_map(|live| std::future::ready(signal(live))).boxed()
}

/// Ignores comments, because a proxy can send them. The backend sends ticks.
pub(super) fn signal(live: Live) -> Option<EventKind> {
    Some(match live {
        Live::Up => EventKind::Connection(Connection::Live),
        Live::Event { kind, data, .. } => match kind.as_str() {
            "briefing" => briefing::read(&data).map_or(EventKind::Changed, EventKind::Briefing),
            "tick" => EventKind::Tick,
            "resync" => EventKind::Changed,
            _ => return None,
        },
        Live::Ping => return None,
        Live::Down { why, retry_in } => {
            EventKind::Connection(Connection::Retrying { why: why.into(), retry_in })
        }
        Live::Refused { why } => EventKind::Connection(Connection::Refused { why: why.into() }),
        Live::Stopped { why } => EventKind::Connection(Connection::Stopped { why: why.into() }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Briefing;

    fn event(kind: &str, data: &str) -> Option<EventKind> {
        signal(Live::Event { kind: kind.to_owned(), data: data.to_owned(), id: None })
    }

    #[test]
    fn events_become_signals() {
        let briefing = Briefing { pending: 3, ..Briefing::default() };

        assert_eq!(event("briefing", r#"{"pending":3}"#), Some(EventKind::Briefing(briefing)));
        assert_eq!(event("briefing", "what?"), Some(EventKind::Changed));
        assert_eq!(event("tick", "7"), Some(EventKind::Tick));
        assert_eq!(event("resync", "{}"), Some(EventKind::Changed));
        assert_eq!(event("message", "{}"), None);
        assert_eq!(signal(Live::Ping), None);
    }
}
