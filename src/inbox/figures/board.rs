//! The board: all figures at one moment, made by [`Figures`](super::Figures), for the watch view and `placet watch`.

use crate::domain::{
    ActionKey, AlertKind, Decider, Flow, LastMinute, Queue, QueueState, Rate, Risk, SourceName, Status,
    Timestamp, ToolDecided, Trend, Untrusted,
};
use crate::inbox::Connection;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoardRequest {
    /// Minutes back, 1 to 1440, for sparklines, outcomes, tools and reviewers.
    pub window: u32,
    /// Maximum number of values in a sparkline. Each covers the same number of minutes.
    pub columns: usize,
}

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
    /// `None` if switched off; empty if no source says who decided.
    pub reviewers: Option<Vec<ReviewerLine>>,
    /// Like `reviewers`, for groups of people.
    pub groups: Option<Vec<ReviewerLine>>,
    /// In the window.
    pub outcomes: Flow,
    /// Whether every source with approvals says which were edited.
    pub edits_told: bool,
    /// Newest first.
    pub events: Vec<Happening>,
    /// Most serious first.
    pub alerts: Vec<Alert>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecidedBy<'a> {
    Reviewer(&'a ReviewerLine),
    /// The people of a group together. The empty name stands for people without a group.
    Group(&'a ReviewerLine),
}

impl Board {
    /// Returns groups, then people; `None` if both are switched off.
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

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Standing {
    pub pending: u64,
    /// High, critical, or a word this version does not know.
    pub high: u64,
    /// When the oldest pending action was proposed.
    pub oldest: Option<Timestamp>,
    /// Pending for longer than the target, or than the queue's own target.
    pub over_target: u64,
    /// Ran, with an unknown outcome.
    pub unknown: u64,
    /// Over the last 15 minutes, as far as they were watched; `None` below one minute.
    pub rate: Option<Rate>,
    /// In the last full minute; `None` if it was not watched.
    pub last: Option<LastMinute>,
    pub trend: Trend,
    pub state: QueueState,
    /// Pending at the end of each part of the window, oldest first, the last one now; `None` if it was not watched.
    pub spark: Vec<Option<u64>>,
    /// Arrivals in each of the same parts; `None` if it was not watched.
    pub arrivals: Vec<Option<u64>>,
    pub resolves: Vec<Option<u64>>,
    /// For this many minutes, more came than went in the 15 minutes before each; 0 if it is not growing now.
    pub growing_for: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SourceBoard {
    pub name: SourceName,
    pub standing: Standing,
    pub connection: Connection,
    pub connected_at: Timestamp,
    /// When its list was last known to be current; `None` before the first list.
    pub heard: Option<Timestamp>,
    /// `heard` is too long ago.
    pub stale: bool,
    /// Its list was cut off, so it has more than is counted.
    pub cut: bool,
    /// Some of its decisions are not in the tables of tools and reviewers.
    pub truncated: bool,
    /// Since when approved actions do not run.
    pub paused: Option<Timestamp>,
    pub blocked: u64,
    /// Most pending first. Leaves out empty queues without events in the window.
    pub queues: Vec<QueueLine>,
}

impl SourceBoard {
    /// Returns whether its numbers are present, current and complete.
    pub const fn is_good(&self) -> bool {
        self.heard.is_some() && !self.stale && !self.cut
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct QueueLine {
    pub queue: Queue,
    /// Milliseconds that its actions may wait.
    pub target: i64,
    pub standing: Standing,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolLine {
    pub tool: Untrusted,
    pub pending: u64,
    pub high: u64,
    pub oldest: Option<Timestamp>,
    /// In the window; `None` without decisions.
    pub decided: Option<ToolDecided>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ages {
    /// Under 5 minutes, 15, 60, 4 hours, and older.
    pub counts: [u64; 5],
    /// Milliseconds; the lower one of an even number.
    pub median: Option<i64>,
    /// Milliseconds.
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Happening {
    pub at: Timestamp,
    pub source: SourceName,
    pub what: HappeningKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HappeningKind {
    /// Actions that came into a queue together; `first` is one of them.
    Arrived {
        queue: Queue,
        count: u64,
        high: u64,
        first: Box<About>,
    },
    /// Approved or rejected; `by` if the source says.
    Decided {
        status: Status,
        by: Option<Untrusted>,
        about: Box<About>,
    },
    /// Many decisions found in one look.
    DecidedMany {
        approved: u64,
        rejected: u64,
        by: Option<Untrusted>,
    },
    Left {
        status: Option<Status>,
        about: Box<About>,
    },
    LeftMany {
        count: u64,
    },
    /// An approved action ended: executed, failed or with an unknown outcome.
    Ended {
        status: Status,
        about: Box<About>,
    },
    Connection(Connection),
    Unreadable {
        why: String,
    },
    Paused,
    Resumed,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    pub key: ActionKey,
    pub tool: Untrusted,
    pub title: Untrusted,
    pub rank: u8,
}

impl About {
    pub const fn is_high(&self) -> bool {
        Risk::is_high_rank(self.rank)
    }

    pub const fn is_critical(&self) -> bool {
        self.rank == Risk::Critical.rank()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alert {
    pub kind: AlertKind,
    pub source: SourceName,
    /// Actions or missions; minutes for `Growing` and `Down`.
    pub count: u64,
}
