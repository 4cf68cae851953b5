//! What a source says is outstanding.

use super::{BatchId, Revision, Risk, Timestamp, Untrusted};

/// Outstanding counts, as a source pushed them. A hint: the list is the truth.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Briefing {
    pub pending: u64,
    /// Missions that cannot go on until somebody decides, where the source counts them.
    pub blocked_missions: Option<u64>,
    /// Actions whose outcome nobody knows, where the source counts them.
    pub unknown: Option<u64>,
    /// Approvals that no agent claimed in three quarters of their time, where the source counts them.
    pub lapsing: Option<u64>,
    /// Since when nothing approved is run there; `None` while it is, or where the source does not tell.
    pub paused: Option<Timestamp>,
    pub batches: Vec<BatchCount>,
    pub revision: Option<Revision>,
}

/// One batch in a briefing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchCount {
    pub batch: BatchId,
    pub tool: Untrusted,
    pub mission: Option<Untrusted>,
    pub pending: u64,
    pub oldest: Option<Timestamp>,
    pub highest_risk: Option<Risk>,
}
