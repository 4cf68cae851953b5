//! How actions came and went: what is asked, and what is told.

use crate::domain::{Flows, Minute, Timestamp};

/// What is asked of how actions came and went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AskedFlows {
    pub(crate) workspace: String,
    /// From its first millisecond on.
    pub(crate) from: Minute,
    pub(crate) now: Timestamp,
    /// Who decided, too.
    pub(crate) reviewers: bool,
}

/// How actions came and went, as it was counted when it happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) flows: Flows,
    /// Some tools, or some decisions of reviewers, are not among it.
    pub(crate) truncated: bool,
}
