//! Callbacks of a proposal, and their delivery.

use crate::domain::Timestamp;

/// Details of a proposal that do not affect its decision or its run. They are in no digest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    /// Name of the configured callback that is notified of changes.
    pub(crate) callback: Option<String>,
    /// The trace it belongs to, in the format of <https://www.w3.org/TR/trace-context/>.
    pub(crate) traceparent: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Callback {
    pub workspace: String,
    pub revision: u64,
    /// Id for the receiver, the same in every attempt.
    pub id: String,
    /// Name of its table in the configuration.
    pub name: String,
    pub action: String,
    pub status: String,
    pub who: Option<String>,
    pub at: Timestamp,
    pub traceparent: Option<String>,
    /// Number of attempts begun. An attempt that ends under an older number is ignored.
    pub tries: u64,
    /// Time of the next attempt, or the end of the lease of the current one. `None` if finished.
    pub next_at: Option<Timestamp>,
    /// Error of the last attempt. `None` if it was delivered.
    pub error: Option<String>,
    pub ended_at: Option<Timestamp>,
    /// Time until which the receiver asked for a pause. It gets no other message before.
    pub held_until: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Delivery {
    Arrived,
    /// Why it failed, in words of the gate, and the milliseconds until the next attempt.
    Failed {
        why: String,
        pause: i64,
        /// The receiver asked for this pause, and gets no other message during it.
        held: bool,
    },
    /// The receiver wants no more messages.
    Refused {
        why: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SweptCallbacks {
    pub(crate) given_up: u64,
    /// Limited per call, because other writes wait.
    pub(crate) dropped: u64,
}
