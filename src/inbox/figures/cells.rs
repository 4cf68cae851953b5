//! The figures of a source or a queue as cells, with their texts and emphasis. Screen, table and shell line lay them
//! out.

use super::{DecidedBy, Standing, words};
use crate::domain::{Decider, Queue, QueueState, Rate, Timestamp};
use crate::text::{self, Shown};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    Pending,
    High,
    Oldest,
    Over,
    /// Arrivals in the last full minute, and per minute over the last fifteen.
    InNow,
    InMean,
    OutNow,
    OutMean,
    Clears,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    pub text: String,
    pub look: Look,
    pub is_late: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    Plain,
    Nothing,
    Warn,
}

impl Figure {
    pub const ALL: [Self; 9] = [
        Self::Pending,
        Self::High,
        Self::Oldest,
        Self::Over,
        Self::InNow,
        Self::InMean,
        Self::OutNow,
        Self::OutMean,
        Self::Clears,
    ];

    pub const fn heading(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::High => "high",
            Self::Oldest => "oldest",
            Self::Over => "over",
            Self::InNow => "in now",
            Self::InMean => "in 15m",
            Self::OutNow => "out now",
            Self::OutMean => "out 15m",
            Self::Clears => "clears in",
        }
    }

    pub fn cell(self, standing: &Standing, at: Timestamp) -> Cell {
        let cell = |text: String, look| Cell { text, look, is_late: false };
        let count = |n: u64, some| cell(n.to_string(), if n == 0 { Look::Nothing } else { some });
        let plain = |text| cell(text, Look::Plain);
        let (rate, last) = (standing.rate, standing.last);
        match self {
            Self::Pending => count(standing.pending, Look::Plain),
            Self::High => count(standing.high, Look::Warn),
            Self::Over => count(standing.over_target, Look::Warn),
            Self::Oldest => match standing.oldest.map(|oldest| words::age(oldest, at)) {
                None => cell("-".to_owned(), Look::Nothing),
                Some(age) if standing.over_target > 0 => Cell { is_late: true, ..cell(age, Look::Warn) },
                Some(age) => plain(age),
            },
            Self::InNow => plain(words::last(last, |last| last.arrived)),
            Self::InMean => plain(words::mean(rate, Rate::arrivals)),
            Self::OutNow => plain(words::last(last, |last| last.resolved)),
            Self::OutMean => plain(words::mean(rate, Rate::resolves)),
            Self::Clears => plain(words::clears(standing.trend)),
        }
    }
}

impl Cell {
    /// Returns whether there is a number, which may be old.
    pub fn is_known(&self) -> bool {
        !matches!(self.text.as_str(), "?" | "-")
    }

    /// Returns `3 h 12!`, and `3 h 12!?` for a source that is not heard.
    pub fn marked(&self, doubtful: bool) -> String {
        let late = if self.is_late { "!" } else { "" };
        let doubt = if doubtful && self.is_known() { "?" } else { "" };
        format!("{}{late}{doubt}", self.text)
    }
}

/// Headings of the columns of decisions, with the width of each.
pub const DECIDED: [(&str, usize); 5] = [("all", 5), ("appr", 6), ("excl", 6), ("edit", 6), ("median", 8)];

pub fn decided_by(of: DecidedBy<'_>) -> Shown {
    let name = &of.line().decider.name;
    match of {
        DecidedBy::Reviewer(_) => text::name(name),
        DecidedBy::Group(_) if name.is_empty() => Shown::ours("no group"),
        DecidedBy::Group(_) => Shown::ours("group ").followed_by(text::name(name)),
    }
}

/// Returns the decisions in the order of [`DECIDED`].
pub fn decided(of: &Decider) -> [String; 5] {
    [
        (of.approved + of.rejected).to_string(),
        of.approved.to_string(),
        of.rejected.to_string(),
        of.edited.map_or_else(|| "-".to_owned(), |edited| edited.to_string()),
        waited(of.median_wait),
    ]
}

/// Formats a wait: `14 s`, or minutes and more.
fn waited(millis: i64) -> String {
    if millis < 60_000 { format!("{} s", millis.max(0) / 1_000) } else { words::span(millis) }
}

/// Returns the state, with a `?` for a source that is not heard.
pub fn verdict(standing: &Standing, doubtful: bool) -> String {
    let mark = if doubtful && standing.state != QueueState::NoData { "?" } else { "" };
    format!("{}{mark}", standing.state.word())
}

pub fn queue(queue: &Queue) -> Shown {
    match queue {
        Queue::Agent(agent) => text::name(agent),
        Queue::Tool(tool) => Shown::ours("tool ").followed_by(text::identifier(tool)),
        Queue::Rest => Shown::ours("all others"),
    }
}
