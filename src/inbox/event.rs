//! What a watched source says.

use std::time::Duration;

use crate::domain::{Briefing, SourceName, Untrusted};

/// Something happened at a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub source: SourceName,
    pub kind: EventKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventKind {
    Connection(Connection),
    /// Counts were pushed. Ask for a sync to learn the rows.
    Briefing(Briefing),
    /// Something changed, or it is time to look: ask for a sync.
    Changed,
    /// The source is alive.
    Tick,
}

/// Whether the screen can be trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Connection {
    Connecting,
    /// Pushed.
    Live,
    /// Asked every so often, because the source pushes nothing.
    Polling,
    /// The stream is down; it is opened again after the wait, and polled meanwhile.
    Retrying {
        why: Untrusted,
        retry_in: Duration,
    },
    /// The source does not take the token; the stream does not come back until placet is started again, and polling goes on.
    Refused {
        why: Untrusted,
    },
    /// The stream does not come back until placet is started again; the source is polled instead.
    Stopped {
        why: Untrusted,
    },
}

impl Connection {
    /// Nothing is pushed any more until placet is started again.
    pub const fn is_over(&self) -> bool {
        matches!(self, Self::Refused { .. } | Self::Stopped { .. })
    }
}
