//! The board: every figure at one moment. Made by [`Figures`](super::Figures), drawn by the watch view, printed by `placet watch`.

use crate::domain::{
    ActionKey, AlertKind, Decider, Flow, LastMinute, Queue, QueueState, Rate, SourceName, Status, Timestamp,
    ToolDecided, Trend, Untrusted,
};
use crate::inbox::Connection;

/// What is asked of [`Figures::board`](super::Figures::board).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoardRequest {
    /// Minutes back, 1 to 1440: of sparklines, outcomes, tools and reviewers.
    pub window: u32,
    /// Values in a sparkline, at most; each is of the same number of minutes.
    pub columns: usize,
}

/// Every figure at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Board {
    pub at: Timestamp,
    /// Minutes back.
    pub window: u32,
    pub total: Standing,
    /// In configured order.
    pub sources: Vec<SourceBoard>,
    /// Most pending first, then most decided.
    pub tools: Vec<ToolLine>,
    pub ages: Ages,
    /// `None`: switched off. Empty: no source told who decided.
    pub reviewers: Option<Vec<ReviewerLine>>,
    /// The same of groups of people.
    pub groups: Option<Vec<ReviewerLine>>,
    /// In the window.
    pub outcomes: Flow,
    /// Every source with approvals tells which of them were edited.
    pub edits_told: bool,
    /// Newest first.
    pub events: Vec<Happening>,
    /// The gravest first.
    pub alerts: Vec<Alert>,
}

/// A line of who decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecidedBy<'a> {
    Reviewer(&'a ReviewerLine),
    /// Its people together; the empty name is of those in no group.
    Group(&'a ReviewerLine),
}

impl Board {
    /// Who decided: groups, then people. `None`: both are switched off.
    pub fn decided_by(&self) -> Option<Vec<DecidedBy<'_>>> {
        if self.groups.is_none() && self.reviewers.is_none() {
            return None;
        }
        let groups = self.groups.iter().flatten().map(DecidedBy::Group);
        Some(groups.chain(self.reviewers.iter().flatten().map(DecidedBy::Reviewer)).collect())
    }
}

impl<'a> DecidedBy<'a> {
    pub const fn line(self) -> &'a ReviewerLine {
        match self {
            Self::Reviewer(line) | Self::Group(line) => line,
        }
    }
}

/// How a queue, a source, or everything stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Standing {
    pub pending: u64,
    /// High, critical, or a word this version does not know.
    pub high: u64,
    /// When the oldest pending action was proposed.
    pub oldest: Option<Timestamp>,
    /// Pending for longer than the target, or the one of its queue.
    pub over_target: u64,
    /// Ran, and nobody knows what became of it.
    pub unknown: u64,
    /// Over the last quarter of an hour, as far as it was watched; `None` while that is less than a minute.
    pub rate: Option<Rate>,
    /// In the last full minute; `None` where that was not watched.
    pub last: Option<LastMinute>,
    pub trend: Trend,
    pub state: QueueState,
    /// Pending at the end of each part of the window, oldest first, the last one now; `None` where nobody watched.
    pub spark: Vec<Option<u64>>,
    /// Arrivals in each of the same parts; `None` where nobody watched.
    pub arrivals: Vec<Option<u64>>,
    pub resolves: Vec<Option<u64>>,
    /// More came than went in the quarter of an hour before each of so many minutes; 0 where it does not grow now.
    pub growing_for: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SourceBoard {
    pub name: SourceName,
    pub standing: Standing,
    pub connection: Connection,
    /// Since when the connection is what it is.
    pub connected_at: Timestamp,
    /// When all that it has was last known to be here; `None` before the first list.
    pub heard: Option<Timestamp>,
    /// That is too long ago: its numbers are old.
    pub stale: bool,
    /// It gave a part of its list only: there is more than is counted.
    pub cut: bool,
    /// Some of what was decided there is not in the tables of tools and reviewers.
    pub truncated: bool,
    /// Since when it runs nothing that is approved.
    pub paused: Option<Timestamp>,
    /// Missions that wait for a decision.
    pub blocked: u64,
    /// Most pending first. Empty queues that nothing happened to in the window are left out.
    pub queues: Vec<QueueLine>,
}

impl SourceBoard {
    /// Its numbers are there, not old, and of everything.
    pub const fn is_good(&self) -> bool {
        self.heard.is_some() && !self.stale && !self.cut
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct QueueLine {
    pub queue: Queue,
    /// For so long its actions may wait. Milliseconds.
    pub target: i64,
    pub standing: Standing,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolLine {
    pub tool: Untrusted,
    pub pending: u64,
    pub high: u64,
    pub oldest: Option<Timestamp>,
    /// In the window; `None` where nothing was.
    pub decided: Option<ToolDecided>,
}

/// The ages of what is pending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ages {
    /// Under 5 minutes, 15, 60, 4 hours, and older.
    pub counts: [u64; 5],
    /// Milliseconds; of an even number, the lower one.
    pub median: Option<i64>,
    /// Nine in ten are no older.
    pub p90: Option<i64>,
    /// Milliseconds.
    pub target: i64,
    pub over_target: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewerLine {
    pub source: SourceName,
    pub decider: Decider,
}

/// Something that happened, for the event stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Happening {
    pub at: Timestamp,
    pub source: SourceName,
    pub what: HappeningKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HappeningKind {
    /// So many came into a queue at once; `first` is one of them.
    Arrived {
        queue: Queue,
        count: u64,
        high: u64,
        first: Box<About>,
    },
    /// Approved or rejected; `by` where the source tells.
    Decided {
        status: Status,
        by: Option<Untrusted>,
        about: Box<About>,
    },
    /// Many at once, in one look.
    DecidedMany {
        approved: u64,
        rejected: u64,
        by: Option<Untrusted>,
    },
    /// Left the queue without a decision.
    Left {
        status: Option<Status>,
        about: Box<About>,
    },
    LeftMany {
        count: u64,
    },
    Executed {
        about: Box<About>,
    },
    /// After it was approved.
    Failed {
        about: Box<About>,
    },
    /// It ran, and nobody knows what became of it.
    Unknown {
        about: Box<About>,
    },
    /// The connection changed.
    Connection(Connection),
    /// The list could not be read.
    Unreadable {
        why: String,
    },
    Paused,
    Resumed,
}

/// An action, as far as an event says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    pub key: ActionKey,
    pub tool: Untrusted,
    pub title: Untrusted,
    pub high: bool,
}

/// Something that a lead should look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alert {
    pub kind: AlertKind,
    pub source: SourceName,
    /// Actions or missions; of `Growing` and `Down`, minutes.
    pub count: u64,
}
