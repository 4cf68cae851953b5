//! History of actions, and queries for settled ones.

use super::{RawJson, Status, Timestamp, Untrusted};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryEvent {
    /// The source's word, such as `created`, `approved`, `dispatched`.
    pub kind: Untrusted,
    pub at: Timestamp,
    /// `None` if the source acted by itself or does not say who did.
    pub by: Option<Untrusted>,
    pub details: Option<RawJson>,
}

/// The records a source keeps of settled actions. Known without a request, so that screens can announce them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Records {
    pub lists: bool,
    pub timeline: bool,
    pub flows: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListQuery {
    /// Any of these states; not empty.
    pub statuses: Vec<Status>,
    /// Only this tool, if the source can filter.
    pub tool: Option<Untrusted>,
    /// From the previous page; `None` for the first.
    pub cursor: Option<String>,
    /// Page size, if the source pages.
    pub limit: u32,
}

impl Records {
    /// No records, or none that can be read.
    pub const NONE: Self = Self { lists: false, timeline: false, flows: false };
}
