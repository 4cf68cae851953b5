//! How actions came and went: what is asked.

use crate::domain::{Minute, Timestamp};

/// What is asked of how actions came and went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AskedFlows {
    pub(crate) workspace: String,
    /// From its first millisecond on.
    pub(crate) from: Minute,
    /// Tools and reviewers, in the same way.
    pub(crate) decided: Minute,
    pub(crate) now: Timestamp,
    /// Who decided, too.
    pub(crate) reviewers: bool,
}
