//! The bridge's event stream, as signals.

use std::time::Duration;

use futures_util::stream::{BoxStream, StreamExt as _};

use crate::contract::briefing;
use crate::domain::Untrusted;
use crate::net::http::Http;
use crate::net::sse::{self, Limits, Live};
use crate::sources::Signal;

/// Three ticks of the bridge.
const PULSE: Duration = Duration::from_secs(45);

pub(super) const LIMITS: Limits = Limits { pulse: Some(("tick", PULSE)), ..Limits::USUAL };

/// Without the bridge there is no such route, and the stream ends without a word: the package pushes one run's events at most.
pub(super) fn signals(http: Http, path: String, limits: Limits) -> BoxStream<'static, Signal> {
    let live = sse::live(http, path, limits).scan(false, |stood, live| {
        let nothing_there = matches!(live, Live::Stopped { .. }) && !*stood;
        *stood |= live == Live::Up;
        std::future::ready((!nothing_there).then_some(live))
    });
    live.filter_map(|live| std::future::ready(signal(live))).boxed()
}

fn signal(live: Live) -> Option<Signal> {
    match live {
        Live::Up => Some(Signal::Up),
        Live::Event { kind, data, .. } => match kind.as_str() {
            "briefing" => Some(briefing::read(&data).map_or(Signal::Changed, Signal::Briefing)),
            "tick" => Some(Signal::Tick),
            _ => None,
        },
        Live::Ping => None,
        Live::Down { why, retry_in } => Some(Signal::Down { why: Untrusted::from(why), retry_in }),
        Live::Refused { why } => Some(Signal::Refused { why: Untrusted::from(why) }),
        Live::Stopped { why } => Some(Signal::Stopped { why: Untrusted::from(why) }),
    }
}
