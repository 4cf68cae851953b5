//! What a callback is told of a change, and how far that is.

use crate::domain::Timestamp;

/// What goes along with a proposal and changes nothing of what is decided or run. It is in no digest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    /// Who is told what becomes of it: a name in the configuration.
    pub(crate) callback: Option<String>,
    /// The trace that it belongs to, as <https://www.w3.org/TR/trace-context/> has it.
    pub(crate) traceparent: Option<String>,
}

/// One change that a callback is told of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Callback {
    pub workspace: String,
    pub revision: u64,
    /// The receiver's: the same however often it is sent.
    pub id: String,
    /// Of its table in the configuration.
    pub name: String,
    pub action: String,
    /// A word in storage.
    pub status: String,
    /// Who decided.
    pub who: Option<String>,
    pub at: Timestamp,
    pub traceparent: Option<String>,
    /// How often it was begun to be sent. A try that ends under an older number changes nothing.
    pub tries: u64,
    /// When it is sent next; while somebody sends it, until when it is theirs. `None`: it is over.
    pub next_at: Option<Timestamp>,
    /// Of the last try. Over and without one: it arrived.
    pub error: Option<String>,
    pub ended_at: Option<Timestamp>,
    /// The receiver of this one asked for time until then; it gets no message before.
    pub held_until: Option<Timestamp>,
}

/// What a try came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Delivery {
    Arrived,
    /// In a sentence of ours; the next try is so many milliseconds away.
    Failed {
        why: String,
        pause: i64,
        /// The receiver asked for this pause, and gets no other message in it.
        held: bool,
    },
    /// The receiver wants nothing more.
    Refused {
        why: String,
    },
}

/// What a look for callbacks that are too old found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SweptCallbacks {
    pub(crate) given_up: u64,
    /// No more than some at once: nobody waits long for the writer.
    pub(crate) dropped: u64,
}
