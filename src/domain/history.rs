//! What became of an action over time, and what is asked of a source to find such actions.

use super::{RawJson, Status, Timestamp, Untrusted};

/// One thing that happened to an action, as its source keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryEvent {
    /// `created`, `approved`, `dispatched`, …: the source's word.
    pub kind: Untrusted,
    pub at: Timestamp,
    /// `None`: the source did it by itself, or does not say who.
    pub by: Option<Untrusted>,
    /// A JSON object, where the source keeps more.
    pub details: Option<RawJson>,
}

/// What a source can tell of actions that are not pending any more. Known without asking it, so that a screen can say
/// beforehand what there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Records {
    /// Actions can be listed by their status.
    pub lists: bool,
    /// Every action has a timeline.
    pub timeline: bool,
    /// It counts by itself how actions come and go.
    pub flows: bool,
}

/// Which actions to list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListQuery {
    /// In any of these states; never empty.
    pub statuses: Vec<Status>,
    /// Of this tool alone, where the source can tell; else of any.
    pub tool: Option<Untrusted>,
    /// From the page before; `None` for the first one.
    pub cursor: Option<String>,
    /// At most so many, where the source pages.
    pub limit: u32,
}

impl Records {
    /// A source that keeps nothing of what is over, or does not let it be read.
    pub const NONE: Self = Self { lists: false, timeline: false, flows: false };
}
