//! What is over, in a list of its own. The queue of what is pending stays as it is meanwhile.

use std::collections::HashMap;

use crate::domain::{ActionKey, DecisionKind, Entry, Outcome, Row, Status, Timestamp};
use crate::inbox::filter::Filter;
use crate::inbox::{Next, Problem};
use crate::tui::history::words;
use crate::tui::queue::slots::{Settled, Slot, State};

/// Which list: by where actions stand, or by who decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ViewKind {
    Approved,
    Executed,
    Failed,
    Unknown,
    Rejected,
    /// Over without a decision: withdrawn and superseded, too.
    Expired,
    /// What was decided from here, as the journal knows it.
    Mine,
    /// Approved, excluded or run, whoever decided it.
    Decided,
}

/// Where a list goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageRequest {
    Listed {
        statuses: Vec<Status>,
        next: Option<Next>,
        /// At its end comes what was decided from here: some sources list nothing, and others forget.
        then_ours: bool,
    },
    /// What was decided from here, after the newest so many submissions.
    Decided { skip: u32 },
}

/// A page, as it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ViewPage {
    pub rows: Vec<ViewRow>,
    pub next: Option<PageRequest>,
    pub problems: Vec<Problem>,
    /// Items that could not be read.
    pub unreadable: usize,
    pub at: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ViewRow {
    pub entry: Entry,
    pub own: Option<OwnDecision>,
}

/// A decision of ours, and what the source said to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OwnDecision {
    pub decision: DecisionKind,
    pub at: Timestamp,
    /// `None`: it is not known whether it was sent.
    pub outcome: Option<Outcome>,
    /// Where the action was last seen after it was approved, as the journal has it.
    pub ended: Option<Status>,
}

#[derive(Clone, Debug)]
pub(crate) struct View {
    pub kind: ViewKind,
    /// Answers with another number belong to a list that is gone.
    pub number: u64,
    rows: Vec<(Slot, Option<OwnDecision>)>,
    /// What the rows on screen must be like.
    pub filter: Option<Filter>,
    /// The rows on screen, by their index in `rows`.
    shown: Vec<usize>,
    by_key: HashMap<ActionKey, usize>,
    cursor: Option<ActionKey>,
    at: usize,
    /// The first row on screen.
    pub top: usize,
    pub more: More,
    pub problems: Vec<Problem>,
    pub unreadable: usize,
    /// When its newest page was read; `None` before the first one.
    pub read_at: Option<Timestamp>,
    /// The next page takes the place of everything.
    anew: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum More {
    UnderWay,
    At(PageRequest),
    End,
}

impl ViewKind {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Approved => words::APPROVED_AND_RUNNING,
            Self::Executed => "Executed",
            Self::Failed => "Failed",
            Self::Unknown => words::OUTCOME_UNKNOWN,
            Self::Rejected => "Rejected",
            Self::Expired => words::ENDED_OTHERWISE,
            Self::Mine => words::DECIDED_BY_ME,
            Self::Decided => words::DECIDED_BY_ANYONE,
        }
    }

    /// What its first page is asked with.
    pub fn ask(self) -> PageRequest {
        let statuses: &[Status] = match self {
            Self::Approved => &[Status::Approved, Status::Running],
            Self::Executed => &[Status::Executed],
            Self::Failed => &[Status::Failed],
            Self::Unknown => &[Status::Unknown],
            Self::Rejected => &[Status::Rejected],
            Self::Expired => &[Status::Expired, Status::Withdrawn, Status::Superseded],
            Self::Decided => &[
                Status::Approved,
                Status::Running,
                Status::Executed,
                Status::Failed,
                Status::Unknown,
                Status::Rejected,
            ],
            Self::Mine => return PageRequest::Decided { skip: 0 },
        };
        let then_ours = self == Self::Decided;
        PageRequest::Listed { statuses: statuses.to_vec(), next: None, then_ours }
    }

    /// Its rows do not all stand the same.
    pub const fn is_mixed(self) -> bool {
        matches!(self, Self::Expired | Self::Mine | Self::Decided)
    }

    /// Its rows say more than a list carries: those on screen are read in full.
    pub const fn wants_all(self) -> bool {
        matches!(self, Self::Failed | Self::Rejected | Self::Mine | Self::Decided)
    }
}

impl View {
    /// Empty, with its first page on the way.
    pub(crate) fn new(kind: ViewKind, number: u64) -> Self {
        Self {
            kind,
            number,
            rows: Vec::new(),
            filter: None,
            shown: Vec::new(),
            by_key: HashMap::new(),
            cursor: None,
            at: 0,
            top: 0,
            more: More::UnderWay,
            problems: Vec::new(),
            unreadable: 0,
            read_at: None,
            anew: true,
        }
    }

    /// Everything is read again; what is on screen stays until it comes.
    pub(crate) fn renew(&mut self, number: u64) {
        self.number = number;
        self.more = More::UnderWay;
        self.anew = true;
    }

    /// Rows on screen, or above and below it.
    pub(crate) fn len(&self) -> usize {
        self.shown.len()
    }

    /// Rows that were read, whatever the filter shows of them.
    pub(crate) fn n_read(&self) -> usize {
        self.rows.len()
    }

    fn row(&self, nth: usize) -> Option<&(Slot, Option<OwnDecision>)> {
        self.rows.get(*self.shown.get(nth)?)
    }

    pub(crate) fn slot(&self, nth: usize) -> Option<&Slot> {
        self.row(nth).map(|(slot, _)| slot)
    }

    /// The decision of ours in a row.
    pub(crate) fn own(&self, nth: usize) -> Option<&OwnDecision> {
        self.row(nth)?.1.as_ref()
    }

    /// Shows the rows for which this holds. The cursor stays on its action where that is among them.
    pub(crate) fn show(&mut self, mut holds: impl FnMut(&Slot, Option<&OwnDecision>) -> bool) {
        let shown = self.rows.iter().enumerate().filter(|(_, (slot, own))| holds(slot, own.as_ref()));
        self.shown = shown.map(|(nth, _)| nth).collect();
        let place = self.cursor.as_ref().and_then(|key| self.by_key.get(key));
        let found = place.and_then(|place| self.shown.binary_search(place).ok());
        match found {
            Some(nth) => self.at = nth,
            // An action that is aimed at may come with a later page.
            None => self.at = self.at.min(self.shown.len().saturating_sub(1)),
        }
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn here(&self) -> Option<&Slot> {
        self.slot(self.at)
    }

    /// Puts the cursor on a row; past the end is the last one.
    pub(crate) fn go_to(&mut self, row: usize) {
        self.at = row.min(self.shown.len().saturating_sub(1));
        self.cursor = self.here().map(|slot| slot.entry.key.clone());
    }

    /// The cursor goes to this action when a page brings it.
    pub(crate) fn aim(&mut self, key: ActionKey) {
        self.cursor = Some(key);
    }

    /// An action was read in full: its row says where it stands by now.
    pub(crate) fn learn(&mut self, row: &Row, key: &ActionKey) {
        let Some((slot, _)) = self.by_key.get(key).and_then(|nth| self.rows.get_mut(*nth)) else { return };
        slot.entry.row = row.clone();
        slot.state = over(row);
    }

    /// Takes a page; [`Self::show`] brings it on screen. The cursor stays on its action, and where that is gone, on its line. An action stands once, where it
    /// stood first: as it was met last, or decided last.
    pub(crate) fn take(&mut self, page: ViewPage) {
        if std::mem::take(&mut self.anew) {
            self.rows.clear();
            self.by_key.clear();
            self.problems.clear();
            self.unreadable = 0;
            self.read_at = Some(page.at);
        }
        for row in page.rows {
            if self.by_key.contains_key(&row.entry.key) {
                continue;
            }
            self.by_key.insert(row.entry.key.clone(), self.rows.len());
            let state = over(&row.entry.row);
            self.rows.push((Slot::over(row.entry, state), row.own));
        }
        self.more = page.next.map_or(More::End, More::At);
        self.problems.extend(page.problems);
        self.unreadable += page.unreadable;
    }
}

/// In this list nothing is decided, wherever it stands.
fn over(row: &Row) -> State {
    let (status, by, at) = (Some(row.status.clone()), row.resolved_by.clone(), row.resolved_at);
    State::Settled(Box::new(Settled { status, by, at, ours: false, error: None }))
}

#[derive(Clone, Debug, Default)]
pub(crate) struct HistoryState {
    /// A list of what is over, in the place of the queue.
    pub open: Option<View>,
    /// How many such lists were asked for.
    pub asked: u64,
}
