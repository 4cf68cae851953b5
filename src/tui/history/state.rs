//! A list of ended actions, shown in place of the queue. The queue itself stays unchanged meanwhile.

use std::collections::HashMap;

use crate::domain::{ActionKey, DecisionKind, Entry, Outcome, Row, Status, Timestamp};
use crate::inbox::filter::Filter;
use crate::inbox::{Next, Problem};
use crate::tui::history::words;
use crate::tui::queue::slots::{Settled, Slot, State};

/// Selects actions by status or by who decided them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ViewKind {
    Approved,
    Executed,
    Failed,
    Unknown,
    Rejected,
    /// Ended without a decision; includes withdrawn and superseded.
    Expired,
    /// Decided from this machine, according to the journal.
    Mine,
    Decided,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageRequest {
    Listed {
        statuses: Vec<Status>,
        next: Option<Next>,
        /// Append this machine's decisions at the end, because some sources list nothing and others drop old actions.
        then_ours: bool,
    },
    /// This machine's decisions, without the newest `skip` submissions.
    Decided { skip: u32 },
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ViewPage {
    pub rows: Vec<ViewRow>,
    pub next: Option<PageRequest>,
    pub problems: Vec<Problem>,
    pub unreadable: usize,
    pub at: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ViewRow {
    pub entry: Entry,
    pub own: Option<OwnDecision>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OwnDecision {
    pub decision: DecisionKind,
    pub at: Timestamp,
    /// `None` if it is not known whether the decision was sent.
    pub outcome: Option<Outcome>,
    /// The last known status after approval, according to the journal.
    pub ended: Option<Status>,
}

#[derive(Clone, Debug)]
pub(crate) struct View {
    pub kind: ViewKind,
    /// Identifies the list. Answers with another number are dropped.
    pub number: u64,
    rows: Vec<(Slot, Option<OwnDecision>)>,
    pub filter: Option<Filter>,
    /// Visible rows, as indices into `rows`.
    shown: Vec<usize>,
    by_key: HashMap<ActionKey, usize>,
    cursor: Option<ActionKey>,
    at: usize,
    pub top: usize,
    pub more: More,
    pub problems: Vec<Problem>,
    pub unreadable: usize,
    /// When the first page was read; `None` before that.
    pub read_at: Option<Timestamp>,
    /// The next page replaces all rows.
    anew: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum More {
    UnderWay,
    At(PageRequest),
    End,
}

impl ViewKind {
    /// The lists of one status or of a few that belong together.
    pub const BY_STATUS: [Self; 6] =
        [Self::Approved, Self::Executed, Self::Failed, Self::Unknown, Self::Rejected, Self::Expired];

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

    /// Returns the statuses that it lists; empty for decisions made here.
    pub fn statuses(self) -> Vec<Status> {
        use Status as S;
        match self {
            Self::Approved => vec![S::Approved, S::Running],
            Self::Executed => vec![S::Executed],
            Self::Failed => vec![S::Failed],
            Self::Unknown => vec![S::Unknown],
            Self::Rejected => vec![S::Rejected],
            Self::Expired => vec![S::Expired, S::Withdrawn, S::Superseded],
            Self::Decided => {
                vec![S::Approved, S::Running, S::Executed, S::Failed, S::Unknown, S::Rejected]
            }
            Self::Mine => Vec::new(),
        }
    }

    pub fn ask(self) -> PageRequest {
        if self == Self::Mine {
            return PageRequest::Decided { skip: 0 };
        }
        PageRequest::Listed { statuses: self.statuses(), next: None, then_ours: self == Self::Decided }
    }

    /// Returns true if the rows can have different statuses.
    pub const fn is_mixed(self) -> bool {
        matches!(self, Self::Expired | Self::Mine | Self::Decided)
    }

    /// Returns true if rows show details that lists do not contain. Visible rows are then read in full.
    pub const fn wants_all(self) -> bool {
        matches!(self, Self::Failed | Self::Rejected | Self::Mine | Self::Decided)
    }
}

impl View {
    /// Creates an empty list whose first page is requested.
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

    /// Requests the whole list again. The rows stay on screen until the first page arrives.
    pub(crate) fn renew(&mut self, number: u64) {
        self.number = number;
        self.more = More::UnderWay;
        self.anew = true;
    }

    pub(crate) fn len(&self) -> usize {
        self.shown.len()
    }

    /// Number of rows read, whether the filter shows them or not.
    pub(crate) fn n_read(&self) -> usize {
        self.rows.len()
    }

    fn row(&self, nth: usize) -> Option<&(Slot, Option<OwnDecision>)> {
        self.rows.get(*self.shown.get(nth)?)
    }

    pub(crate) fn slot(&self, nth: usize) -> Option<&Slot> {
        self.row(nth).map(|(slot, _)| slot)
    }

    pub(crate) fn own(&self, nth: usize) -> Option<&OwnDecision> {
        self.row(nth)?.1.as_ref()
    }

    /// Shows the rows for which `holds` returns true. The cursor stays on its action if that one is visible.
    pub(crate) fn show(&mut self, mut holds: impl FnMut(&Slot, Option<&OwnDecision>) -> bool) {
        let shown = self.rows.iter().enumerate().filter(|(_, (slot, own))| holds(slot, own.as_ref()));
        self.shown = shown.map(|(nth, _)| nth).collect();
        let place = self.cursor.as_ref().and_then(|key| self.by_key.get(key));
        let found = place.and_then(|place| self.shown.binary_search(place).ok());
        match found {
            Some(nth) => self.at = nth,
            // Keeps `cursor`, because the action that `aim` named may come with a later page.
            None => self.at = self.at.min(self.shown.len().saturating_sub(1)),
        }
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn here(&self) -> Option<&Slot> {
        self.slot(self.at)
    }

    pub(crate) fn go_to(&mut self, row: usize) {
        self.at = row.min(self.shown.len().saturating_sub(1));
        self.cursor = self.here().map(|slot| slot.entry.key.clone());
    }

    /// Puts the cursor on this action once a page contains it.
    pub(crate) fn aim(&mut self, key: ActionKey) {
        self.cursor = Some(key);
    }

    pub(crate) fn learn(&mut self, row: &Row, key: &ActionKey) {
        let Some((slot, _)) = self.by_key.get(key).and_then(|nth| self.rows.get_mut(*nth)) else { return };
        slot.entry.row = row.clone();
        slot.state = over(row);
    }

    /// Takes a page; [`Self::show`] makes it visible. If an action appears twice, its first row is kept. The cursor
    /// stays on its action, or on its line if the action is gone.
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

/// Marks a row as settled in any status, because this list allows no decisions.
fn over(row: &Row) -> State {
    let (status, by, at) = (Some(row.status.clone()), row.resolved_by.clone(), row.resolved_at);
    State::Settled(Box::new(Settled { status, by, at, ours: false, error: None }))
}

#[derive(Clone, Debug, Default)]
pub(crate) struct HistoryState {
    pub open: Option<View>,
    /// Number of lists requested so far; gives [`View::number`].
    pub asked: u64,
}
