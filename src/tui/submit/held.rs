//! State of submissions: held, being sent, answered.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::domain::{ActionKey, SourceName, Submission, SubmissionId, Timestamp};
use crate::tui::core::modal::ReportSheet;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    pub submission: Submission,
    pub left_pending: u64,
    /// When it is sent; `None` until the journal has stored it.
    pub until: Option<Timestamp>,
}

impl Held {
    /// Returns the seconds until it is sent, rounded up, at least one.
    pub(crate) fn seconds(&self, now: Timestamp) -> Option<i64> {
        self.until.map(|until| ((until.since(now) + 999) / 1_000).max(1))
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct SubmitState {
    pub reviews: u64,
    pub held: Option<Held>,
    pub sending: Option<SubmissionId>,
    /// For partly answered submissions, the actions without an answer.
    pub unanswered: HashMap<SubmissionId, HashSet<ActionKey>>,
    /// For submissions being sent, the answered and total decisions of each source.
    pub progress: HashMap<SubmissionId, BTreeMap<SourceName, (usize, usize)>>,
    pub resolving: Option<ActionKey>,
    pub last_report: Option<ReportSheet>,
    /// Show the summary of the last submission, until the next decision.
    pub sent_line: bool,
    /// When unknown outcomes are checked again.
    pub look_again: Option<Timestamp>,
}
