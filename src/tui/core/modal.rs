//! Sheets and forms over the inbox, at most one at a time.

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
    /// The edit form, waiting for the content of these actions; `outside` opens the reviewer's editor afterwards.
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
    /// The question before quitting; `Some` with the count typed to discard the staged decisions.
    Quit(Option<String>),
    Filter(Box<FilterLine>),
    Saved,
    Places(PlacesPane),
    NameFilter(Box<NameLine>),
}

impl Modal {
    pub(crate) fn places(&self) -> Option<&PlacesPane> {
        match self {
            Self::Places(pane) => Some(pane),
            Self::NameFilter(line) => line.pane.as_ref(),
            _ => None,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct ReasonForm {
    pub says: DecisionKind,
    pub keys: Vec<ActionKey>,
    pub area: TextArea<'static>,
    pub rule: ReasonRule,
    /// For all marked actions instead of the one under the cursor.
    pub for_marks: bool,
    pub unsaved: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LinksSheet {
    /// At least one.
    pub links: Vec<LinkTarget>,
    pub at: usize,
    pub opened: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LinkTarget {
    /// A URL, ASCII only.
    Web(String),
    /// A mission, and its number of other pending actions.
    Mission(Untrusted, usize),
    Same(ActionKey),
    Decided(Untrusted),
}

#[derive(Clone, Debug)]
pub(crate) struct ResolveSheet {
    pub key: ActionKey,
    /// The selected finding, waiting for confirmation.
    pub picked: Option<Resolution>,
    pub area: TextArea<'static>,
    pub typing: bool,
    /// When it was first drawn in its current state.
    pub drawn: Option<Timestamp>,
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
    pub top: usize,
    /// Lines per page, as last drawn.
    pub page: usize,
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

#[derive(Clone, Debug)]
pub(crate) struct ReportSheet {
    pub report: Report,
    pub at: Timestamp,
    /// Later states of approved actions.
    pub followed: HashMap<ActionKey, Followed>,
    pub top: usize,
    /// Lines per page, as last drawn.
    pub page: usize,
    /// Sources that have not answered yet, with their number of decisions.
    pub waits: Vec<(SourceName, usize)>,
}

/// Adds up counts by tool and risk, most harmful first.
pub(crate) fn by_tool<'a>(
    rows: impl Iterator<Item = (&'a Untrusted, &'a Risk, usize)>,
) -> Vec<(Untrusted, Risk, usize)> {
    let mut counts: BTreeMap<_, (&Untrusted, &Risk, usize)> = BTreeMap::new();
    // Equal rows usually follow each other.
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
