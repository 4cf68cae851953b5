//! Sheets and forms over the inbox. At most one is open.

use std::collections::HashMap;

use tui_textarea::TextArea;

use crate::domain::{
    ActionKey, BatchKey, Digest, EditError, Edits, Followed, RawJson, ReasonRule, Report, StagedCounts,
    Submission, SubmissionId, Timestamp, Untrusted,
};

#[derive(Clone, Debug)]
pub enum Modal {
    Edit(Box<EditForm>),
    Reason(Box<ReasonForm>),
    Review(Box<ReviewSheet>),
    Report(Box<ReportSheet>),
    Help { top: usize },
    Quit,
}

/// The input as text. Nothing is sent or staged from it but by its approve button.
#[derive(Clone, Debug)]
pub struct EditForm {
    pub key: ActionKey,
    /// Of the input it is typed over.
    pub digest: Digest,
    pub input: RawJson,
    pub area: TextArea<'static>,
    pub field: EditField,
    /// What the text would send, or why it cannot.
    pub check: Result<Option<Edits>, EditError>,
    /// Typed since the last save.
    pub unsaved: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditField {
    Text,
    Approve,
    Revert,
    Close,
}

/// Why something is excluded.
#[derive(Clone, Debug)]
pub struct ReasonForm {
    pub keys: Vec<ActionKey>,
    pub area: TextArea<'static>,
    pub rule: ReasonRule,
}

/// What is about to be sent, before anything is.
#[derive(Clone, Debug)]
pub struct ReviewSheet {
    /// `None`: everything that is staged.
    pub scope: Option<BatchKey>,
    pub keys: Vec<ActionKey>,
    /// `None` while the actions are read afresh.
    pub review: Option<Review>,
    /// When its content was first on screen.
    pub drawn: Option<Timestamp>,
    /// The typed count.
    pub typed: String,
    pub top: usize,
}

#[derive(Clone, Debug)]
pub struct Review {
    pub id: SubmissionId,
    /// `None` when nothing can be sent.
    pub submission: Option<Submission>,
    pub refused: Vec<Refused>,
    pub batches: Vec<ReviewBatch>,
    pub counts: StagedCounts,
    /// Edited actions, with the keys that get new values.
    pub edited: Vec<(Untrusted, Vec<String>)>,
    pub unopened: Vec<Untrusted>,
    pub changed: Vec<Untrusted>,
    pub high_risk: usize,
    /// Undecided actions of these batches.
    pub left_pending: usize,
    pub sources: usize,
    pub confirm: Confirm,
}

/// A staged decision that is not sent, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    pub key: ActionKey,
    pub title: Untrusted,
    pub why: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewBatch {
    pub tool: Untrusted,
    pub who: Option<Untrusted>,
    pub counts: StagedCounts,
    pub left_pending: usize,
}

/// What it takes to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Confirm {
    Key,
    /// The number of decisions, typed; with the reasons why.
    Count(usize, Vec<String>),
}

/// What became of a submission, in the source's own counts.
#[derive(Clone, Debug)]
pub struct ReportSheet {
    pub report: Report,
    pub at: Timestamp,
    /// What became of approved actions since.
    pub followed: HashMap<ActionKey, Followed>,
    pub top: usize,
}
