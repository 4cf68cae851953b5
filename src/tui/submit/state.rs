//! State of submissions: reviewed, held, being sent, answered.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use crate::domain::{
    ActionKey, BatchKey, Binding, Confirm, Followed, Report, Risk, SourceName, StagedCounts, Submission,
    SubmissionId, Timestamp, Untrusted,
};
use crate::tui::core::layout::Scroll;

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

#[derive(Clone, Debug)]
pub(crate) struct ReviewSheet {
    /// Identifies the review, so that answers to earlier ones are dropped.
    pub number: u64,
    /// The reviewed batches; `None` for everything.
    pub scope: Option<HashSet<BatchKey>>,
    pub keys: Vec<ActionKey>,
    /// `None` while the actions are being loaded.
    pub review: Option<Review>,
    pub drawn: Option<Timestamp>,
    pub typed: String,
    pub scroll: Scroll,
}

#[derive(Clone, Debug)]
pub(crate) struct Review {
    /// `None` if nothing can be sent.
    pub submission: Option<Submission>,
    pub refused: Vec<Refused>,
    pub batches: usize,
    pub counts: StagedCounts,
    /// Tools and risks to send with their number of decisions, most harmful first.
    pub tools: Vec<(Untrusted, Risk, usize)>,
    /// Titles of edited actions, with the edited keys.
    pub edited: Vec<(Untrusted, Vec<String>)>,
    pub unopened: Vec<Untrusted>,
    pub first_unopened: Option<ActionKey>,
    pub changed: Vec<Untrusted>,
    pub first_changed: Option<ActionKey>,
    pub expiring: Vec<Untrusted>,
    pub high_risk: usize,
    pub critical: usize,
    /// Amounts of the approvals: sums by currency, recipients, files.
    pub totals: Vec<String>,
    /// Titles of approvals with a duplicate, and the duplicate's state.
    pub same: Vec<(Untrusted, String)>,
    pub left_pending: usize,
    pub sources: usize,
    /// Data sent with the decisions, by the rules of their sources.
    pub told: Vec<SentWith>,
    /// How each source checks that the content is unchanged.
    pub bound: Vec<(SourceName, Binding)>,
    /// Number of decisions that the filter hides.
    pub hidden: usize,
    pub confirm: Confirm,
}

/// A rule that applies: `rejecting 2: completed steps will be compensated`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SentWith {
    pub source: SourceName,
    pub does: &'static str,
    pub count: usize,
    pub words: Cow<'static, str>,
}

/// A staged decision that is not sent, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub key: ActionKey,
    pub title: Untrusted,
    pub why: String,
}

#[derive(Clone, Debug)]
pub(crate) struct ReportSheet {
    pub report: Report,
    pub at: Timestamp,
    /// Later states of approved actions.
    pub followed: HashMap<ActionKey, Followed>,
    pub scroll: Scroll,
    /// Sources that have not answered yet, with their number of decisions.
    pub waits: Vec<(SourceName, usize)>,
}
