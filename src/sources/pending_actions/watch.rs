//! Translates the gate's event stream into signals.

use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;

use crate::contract::briefing;
use crate::domain::Untrusted;
use crate::net::http::Http;
use crate::net::sse::{self, Limits, Live};
use crate::sources::Signal;

/// Three ticks of the gate.
const PULSE: Duration = Duration::from_secs(45);

pub(super) const LIMITS: Limits = Limits { pulse: Some(("tick", PULSE)), ..Limits::USUAL };

pub(super) fn signals(http: Http, path: String, limits: Limits) -> BoxStream<'static, Signal> {
    sse::live(http, path, limits).filter_map(|live| async { signal(live) }).boxed()
}

/// Comments are no sign of life of the gate: a proxy can send them. The gate sends ticks.
fn signal(live: Live) -> Option<Signal> {
    match live {
        Live::Up => Some(Signal::Up),
        Live::Event { kind, data, .. } => match kind.as_str() {
            "briefing" => Some(briefing::read(&data).map_or(Signal::Changed, Signal::Briefing)),
            "tick" => Some(Signal::Tick),
            "resync" => Some(Signal::Changed),
            _ => None,
        },
        Live::Ping => None,
        Live::Down { why, retry_in } => Some(Signal::Down { why: Untrusted::from(why), retry_in }),
        Live::Refused { why } => Some(Signal::Refused { why: Untrusted::from(why) }),
        Live::Stopped { why } => Some(Signal::Stopped { why: Untrusted::from(why) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Briefing;

    fn event(kind: &str, data: &str) -> Option<Signal> {
        signal(Live::Event { kind: kind.to_owned(), data: data.to_owned(), id: None })
    }

    #[test]
    fn events_become_signals() {
        let briefing = Briefing { pending: 3, ..Briefing::default() };

        assert_eq!(event("briefing", r#"{"pending":3}"#), Some(Signal::Briefing(briefing)));
        assert_eq!(event("briefing", "what?"), Some(Signal::Changed));
        assert_eq!(event("tick", "7"), Some(Signal::Tick));
        assert_eq!(event("resync", "{}"), Some(Signal::Changed));
        assert_eq!(event("message", "{}"), None);
        assert_eq!(signal(Live::Ping), None);
    }
}
