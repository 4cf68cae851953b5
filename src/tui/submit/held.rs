//! State of sending: confirmed and held, on its way, answered.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::domain::{ActionKey, SourceName, Submission, SubmissionId, Timestamp};
use crate::tui::core::modal::ReportSheet;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    pub submission: Submission,
    pub left_pending: u64,
    /// When it is sent; `None` until the journal has it, and nothing is counted down before.
    pub until: Option<Timestamp>,
}

impl Held {
    /// Whole seconds until it is sent, at least one.
    pub(crate) fn seconds(&self, now: Timestamp) -> Option<i64> {
        self.until.map(|until| ((until.since(now) + 999) / 1_000).max(1))
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct SubmitState {
    /// How many reviews were opened.
    pub reviews: u64,
    /// Confirmed, and not sent yet.
    pub held: Option<Held>,
    pub sending: Option<SubmissionId>,
    /// Of submissions that some sources have answered: what the others have not.
    pub unanswered: HashMap<SubmissionId, HashSet<ActionKey>>,
    /// Of each submission on its way, how many decisions each source has answered, of how many.
    pub progress: HashMap<SubmissionId, BTreeMap<SourceName, (usize, usize)>>,
    /// What was said of its outcome is on the way.
    pub resolving: Option<ActionKey>,
    pub last_report: Option<ReportSheet>,
    /// One line says what was sent: from the answer until the next decision.
    pub sent_line: bool,
    /// When what we lost sight of is looked for again.
    pub look_again: Option<Timestamp>,
}
