//! Sheets and forms over the inbox. At most one is open.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use crossterm::event::KeyEvent;
use tui_textarea::TextArea;

use crate::domain::{
    ActionKey, BatchKey, Binding, Confirm, DecisionKind, Followed, ReasonRule, Report, Resolution, Risk,
    SourceName, StagedCounts, Submission, Timestamp, Untrusted,
};
use crate::tui::edit::form::EditForm;
use crate::tui::queue::filter_state::{FilterLine, NameLine, PlacesPane};

#[derive(Clone, Debug)]
pub(crate) enum Modal {
    /// The edit form waits for the content of these actions; then perhaps for the reviewer's own editor.
    EditSoon {
        keys: Vec<ActionKey>,
        outside: bool,
        /// Keys for the form's first field.
        typed: Vec<KeyEvent>,
    },
    Edit(Box<EditForm>),
    Reason(Box<ReasonForm>),
    Review(Box<ReviewSheet>),
    Report(Box<ReportSheet>),
    ResolveUnknown(Box<ResolveSheet>),
    Links(LinksSheet),
    /// Quitting, and what is staged? With the count that is typed to discard it, once that was asked for.
    Quit(Option<String>),
    /// The line in which a filter is written.
    Filter(Box<FilterLine>),
    /// Which saved filter?
    Saved,
    /// Keys go to the left pane.
    Places(PlacesPane),
    /// The line in which a saved filter gets its name.
    NameFilter(Box<NameLine>),
}

impl Modal {
    /// The left pane, where it is on screen whatever the width.
    pub(crate) fn places(&self) -> Option<&PlacesPane> {
        match self {
            Self::Places(pane) => Some(pane),
            Self::NameFilter(line) => line.pane.as_ref(),
            _ => None,
        }
    }
}

/// What is said beside a decision: why it is excluded, a comment, or guidance for another try.
#[derive(Clone, Debug)]
pub(crate) struct ReasonForm {
    pub says: DecisionKind,
    pub keys: Vec<ActionKey>,
    pub area: TextArea<'static>,
    pub rule: ReasonRule,
    /// For all that is marked, and not for the row under the cursor.
    pub for_marks: bool,
    /// Typed since the last save.
    pub unsaved: bool,
}

/// The links of an action, before one is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LinksSheet {
    /// At least one.
    pub links: Vec<LinkTarget>,
    pub at: usize,
    pub opened: Timestamp,
}

/// Where a link of an action leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LinkTarget {
    /// A whole address, ASCII only.
    Web(String),
    /// So many others of its mission wait.
    Mission(Untrusted, usize),
    /// A pending action that proposes the same.
    Same(ActionKey),
    /// What was decided on this tool.
    Decided(Untrusted),
}

/// What became of an action whose outcome nobody knows.
#[derive(Clone, Debug)]
pub(crate) struct ResolveSheet {
    pub key: ActionKey,
    /// Waits for the confirm key.
    pub picked: Option<Resolution>,
    pub area: TextArea<'static>,
    /// Keys are text for the reason.
    pub typing: bool,
    /// When it was first on screen as it is now.
    pub drawn: Option<Timestamp>,
}

/// What is about to be sent, before anything is.
#[derive(Clone, Debug)]
pub(crate) struct ReviewSheet {
    /// Counts the reviews of this run: only the answer to this one is taken.
    pub number: u64,
    /// `None`: everything that is staged.
    pub scope: Option<HashSet<BatchKey>>,
    pub keys: Vec<ActionKey>,
    /// `None` while the actions are read afresh.
    pub review: Option<Review>,
    /// When its content was first on screen.
    pub drawn: Option<Timestamp>,
    /// The typed count.
    pub typed: String,
    pub top: usize,
    /// Lines that are on screen at once, as far as it was drawn.
    pub page: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Review {
    /// `None` when nothing can be sent.
    pub submission: Option<Submission>,
    pub refused: Vec<Refused>,
    /// Batches that are sent to.
    pub batches: usize,
    pub counts: StagedCounts,
    /// Tools and risks of everything that is sent, with how many decisions each has; the most harmful first.
    pub tools: Vec<(Untrusted, Risk, usize)>,
    /// Edited actions, with the keys that get new values.
    pub edited: Vec<(Untrusted, Vec<String>)>,
    pub unopened: Vec<Untrusted>,
    pub first_unopened: Option<ActionKey>,
    pub changed: Vec<Untrusted>,
    /// Of those, or of those that are not sent because of it.
    pub first_changed: Option<ActionKey>,
    /// Titles of what expires within ten minutes.
    pub expiring: Vec<Untrusted>,
    /// Approvals of high risk.
    pub high_risk: usize,
    pub critical: usize,
    /// What the approvals come to: sums by currency, recipients, files.
    pub totals: Vec<String>,
    /// Titles of approvals that propose what another action does, and what became of that one.
    pub same: Vec<(Untrusted, String)>,
    /// Undecided actions of these batches.
    pub left_pending: usize,
    pub sources: usize,
    /// What goes with these decisions, by their sources' own rules.
    pub told: Vec<SentWith>,
    /// Who compares, at each of them, what lands with what was seen.
    pub bound: Vec<(SourceName, Binding)>,
    /// Decisions on actions that the filter does not show.
    pub hidden: usize,
    pub confirm: Confirm,
}

/// `rejecting 2: completed steps will be compensated`
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SentWith {
    pub source: SourceName,
    /// `rejecting`
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

/// What became of a submission, in the source's own counts.
#[derive(Clone, Debug)]
pub(crate) struct ReportSheet {
    pub report: Report,
    pub at: Timestamp,
    /// What became of approved actions since.
    pub followed: HashMap<ActionKey, Followed>,
    pub top: usize,
    /// Lines that are on screen at once, as far as it was drawn.
    pub page: usize,
    /// Sources that have not answered yet, and how many decisions went there.
    pub waits: Vec<(SourceName, usize)>,
}

/// So many rows of a tool and a risk, added up and the most harmful first.
pub(crate) fn by_tool<'a>(
    rows: impl Iterator<Item = (&'a Untrusted, &'a Risk, usize)>,
) -> Vec<(Untrusted, Risk, usize)> {
    let mut counts: BTreeMap<_, (&Untrusted, &Risk, usize)> = BTreeMap::new();
    // Rows that are alike mostly stand together.
    let mut count = |(tool, risk, n): (&'a Untrusted, &'a Risk, usize)| {
        let key = (Reverse(risk.rank()), tool.as_raw(), risk.as_raw());
        counts.entry(key).or_insert((tool, risk, 0)).2 += n;
    };
    let mut alike: Option<(&Untrusted, &Risk, usize)> = None;
    for row in rows {
        match &mut alike {
            Some((tool, risk, n)) if (*tool, *risk) == (row.0, row.1) => *n += row.2,
            _ => alike.replace(row).into_iter().for_each(&mut count),
        }
    }
    alike.into_iter().for_each(count);
    counts.into_values().map(|(tool, risk, n)| (tool.clone(), risk.clone(), n)).collect()
}
