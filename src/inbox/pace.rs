//! How often sources are asked, and how long is waited in between.

use std::time::Duration;

use crate::contract::time;
use crate::domain::Timestamp;

/// Whoever prints or shows waits so long for the other sources once one has answered.
pub(crate) const GRACE: Duration = Duration::from_secs(5);

/// How often, and for how long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// Between two looks at a source that pushes nothing, or whose stream is down.
    pub(super) poll: Duration,
    /// Between two looks at a source whose stream stands: events are hints, and one may be lost.
    pub(super) safety: Duration,
    /// Before each further look at a decision that was lost sight of.
    pub(super) look: [Duration; 3],
    /// The first and the longest wait between two looks at an approved action.
    pub(super) follow: (Duration, Duration),
    /// For so long a request that was lost sight of may still be on its way.
    pub(super) in_flight: Duration,
    /// The clock on the wall.
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
            clock: time::now,
        }
    }
}
