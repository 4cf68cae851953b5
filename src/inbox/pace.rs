//! Intervals and waits of requests to sources.

use std::time::Duration;

use crate::clock;
use crate::domain::Timestamp;

/// Longest wait for the other sources once one has answered.
pub(crate) const GRACE: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// Between two looks at a source that pushes nothing, or whose stream is down.
    pub(super) poll: Duration,
    /// Between two looks at a source whose stream is open, because an event may be lost.
    pub(super) safety: Duration,
    /// Before each look at a decision whose answer was lost.
    pub(super) look: [Duration; 3],
    /// The first and the longest wait between two looks at an approved action.
    pub(super) follow: (Duration, Duration),
    /// Time for which a request without an answer may still be on its way.
    pub(super) in_flight: Duration,
    pub(super) clock: fn() -> Timestamp,
}

impl Pace {
    pub(super) const fn new(poll: Duration) -> Self {
        Self {
            poll,
            safety: Duration::from_mins(1),
            look: [Duration::ZERO, Duration::from_secs(1), Duration::from_secs(2)],
            follow: (Duration::from_millis(500), Duration::from_secs(5)),
            in_flight: Duration::from_mins(2),
            clock: clock::now,
        }
    }
}
