//! Flow of actions: counts per minute, and reports of a source.

use super::{Row, SourceName, Timestamp, Untrusted};

/// A minute, counted from 1970-01-01T00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Minute(i64);

impl Minute {
    pub const MILLIS: i64 = 60_000;

    pub const fn new(number: i64) -> Self {
        Self(number)
    }

    pub const fn of(at: Timestamp) -> Self {
        Self(at.as_millis().div_euclid(Self::MILLIS))
    }

    pub const fn number(self) -> i64 {
        self.0
    }

    pub const fn start(self) -> Timestamp {
        Timestamp::from_millis(self.0.saturating_mul(Self::MILLIS))
    }

    #[must_use]
    pub const fn plus(self, minutes: i64) -> Self {
        Self(self.0.saturating_add(minutes))
    }
}

/// A queue: the actions of an agent, or of a tool if no agent is named.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Queue {
    Agent(Untrusted),
    Tool(Untrusted),
    /// All queues beyond [`Self::MOST`].
    Rest,
}

impl Queue {
    pub const MOST: usize = 64;

    pub fn of(row: &Row) -> Self {
        match &row.agent {
            Some(agent) if !agent.is_empty() => Self::Agent(agent.clone()),
            _ => Self::Tool(row.tool.clone()),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    pub arrived: u64,
    /// Includes edited ones.
    pub approved: u64,
    /// Approved with edits, if the source reports it.
    pub edited: u64,
    pub rejected: u64,
    /// Ended without a decision: expired, withdrawn, superseded, or for an unreported reason.
    pub left: u64,
    pub executed: u64,
    pub failed: u64,
    /// Approved, with unknown outcome.
    pub unknown: u64,
}

impl Flow {
    pub const fn resolved(&self) -> u64 {
        self.approved + self.rejected + self.left
    }

    pub fn of<E>(count: impl Fn(&'static str) -> Result<u64, E>) -> Result<Self, E> {
        Ok(Self {
            arrived: count("arrived")?,
            approved: count("approved")?,
            edited: count("edited")?,
            rejected: count("rejected")?,
            left: count("left")?,
            executed: count("executed")?,
            failed: count("failed")?,
            unknown: count("unknown")?,
        })
    }

    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        self.with(other, |one, other| one + other)
    }

    /// Combines two counts of one period, each of which may be incomplete.
    #[must_use]
    pub fn at_least(&self, other: &Self) -> Self {
        self.with(other, u64::max)
    }

    fn with(&self, other: &Self, both: fn(u64, u64) -> u64) -> Self {
        Self {
            arrived: both(self.arrived, other.arrived),
            approved: both(self.approved, other.approved),
            edited: both(self.edited, other.edited),
            rejected: both(self.rejected, other.rejected),
            left: both(self.left, other.left),
            executed: both(self.executed, other.executed),
            failed: both(self.failed, other.failed),
            unknown: both(self.unknown, other.unknown),
        }
    }

    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// Request for a source's own counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowsAsked {
    pub since: Timestamp,
    pub decided_since: Timestamp,
    pub reviewers: bool,
    pub groups: bool,
}

/// A source's counts, the same for each client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flows {
    /// Time of the source's clock.
    pub at: Timestamp,
    /// Start of the counts, possibly later than requested.
    pub from: Timestamp,
    pub queues: Vec<QueueFlow>,
    pub tools: Vec<ToolDecided>,
    pub reviewers: Vec<Decider>,
    /// Decisions by group, if requested. A person counts in each group; the empty name is for people without one.
    pub groups: Vec<Decider>,
    /// Whether tools or older decisions of reviewers are omitted.
    pub truncated: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueFlow {
    pub queue: Queue,
    pub pending: u64,
    /// In order, without minutes in which nothing happened.
    pub minutes: Vec<(Minute, Flow)>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolDecided {
    pub tool: Untrusted,
    pub approved: u64,
    /// Part of `approved`; `None` if not reported.
    pub edited: Option<u64>,
    pub rejected: u64,
    pub failed: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decider {
    pub name: Untrusted,
    pub approved: u64,
    /// Part of `approved`; `None` if not reported.
    pub edited: Option<u64>,
    pub rejected: u64,
    /// Median waiting time in milliseconds.
    pub median_wait: i64,
    pub last: Timestamp,
}

/// A minute of a source in the journal, kept for restarts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptMinute {
    pub source: SourceName,
    pub minute: Minute,
    /// Watched milliseconds, 1 to 60,000.
    pub watched: i64,
    /// Queues with pending actions or events.
    pub queues: Vec<KeptQueue>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptQueue {
    pub queue: Queue,
    pub flow: Flow,
    pub pending: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    pub arrived: u64,
    pub resolved: u64,
    /// Watched milliseconds; never 0.
    pub over: i64,
}

impl Rate {
    /// Per minute, in tenths, rounded.
    pub const fn arrivals(&self) -> u64 {
        self.tenths(self.arrived)
    }

    /// Per minute, in tenths, rounded.
    pub const fn resolves(&self) -> u64 {
        self.tenths(self.resolved)
    }

    /// Arrivals minus resolutions per minute, in tenths.
    pub const fn net(&self) -> i64 {
        let gap = self.arrived.abs_diff(self.resolved);
        let tenths = self.tenths(gap).cast_signed();
        if self.arrived < self.resolved { -tenths } else { tenths }
    }

    const fn tenths(&self, count: u64) -> u64 {
        let over = if self.over < 1 { 1 } else { self.over.unsigned_abs() };
        (count * 10 * Minute::MILLIS.unsigned_abs() + over / 2) / over
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LastMinute {
    pub arrived: u64,
    pub resolved: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trend {
    Clear,
    /// Milliseconds at the rate of the last 15 minutes.
    ClearsIn(i64),
    Steady,
    Growing,
    /// Watched for less than three minutes.
    #[default]
    NotKnown,
}

impl Trend {
    /// Milliseconds of data below which the trend is unknown.
    pub const LEAST: i64 = 3 * Minute::MILLIS;

    /// `rate` covers 15 minutes; `lately` is arrivals minus resolutions in the last three. A queue grows or clears only
    /// if both agree.
    pub fn of(pending: u64, rate: Option<&Rate>, lately: Option<i64>) -> Self {
        let (Some(rate), Some(lately)) = (rate.filter(|rate| rate.over >= Self::LEAST), lately) else {
            return Self::NotKnown;
        };
        match rate.arrived.cmp(&rate.resolved) {
            _ if pending == 0 => Self::Clear,
            std::cmp::Ordering::Greater if lately > 0 => Self::Growing,
            std::cmp::Ordering::Less if lately < 0 => {
                let millis = u128::from(pending) * u128::from(rate.over.unsigned_abs())
                    / u128::from(rate.resolved.abs_diff(rate.arrived));
                Self::ClearsIn(i64::try_from(millis).unwrap_or(i64::MAX))
            }
            _ => Self::Steady,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueueState {
    /// No data yet, or none for three minutes.
    #[default]
    NoData,
    Starting,
    Ok,
    Growing,
    Clearing,
    /// An action waits longer than the target, and the queue is not clearing.
    OverTarget,
}

impl QueueState {
    pub const fn of(trend: Trend, over_target: u64) -> Self {
        match trend {
            Trend::ClearsIn(_) => Self::Clearing,
            _ if over_target > 0 => Self::OverTarget,
            Trend::NotKnown => Self::Starting,
            Trend::Growing => Self::Growing,
            Trend::Clear | Trend::Steady => Self::Ok,
        }
    }

    pub const fn word(self) -> &'static str {
        match self {
            Self::NoData => "NO DATA",
            Self::Starting => "STARTING",
            Self::Ok => "OK",
            Self::Growing => "GROWING",
            Self::Clearing => "CLEARING",
            Self::OverTarget => "OVER TARGET",
        }
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::NoData => "no-data",
            Self::Starting => "starting",
            Self::Ok => "ok",
            Self::Growing => "growing",
            Self::Clearing => "clearing",
            Self::OverTarget => "over-target",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(arrived: u64, resolved: u64, minutes: i64) -> Rate {
        Rate { arrived, resolved, over: minutes * Minute::MILLIS }
    }

    #[test]
    fn minutes_before_the_epoch_are_rounded_down() {
        let minute = Minute::of(Timestamp::from_millis(119_999));
        assert_eq!((minute.number(), minute.start().as_millis()), (1, 60_000));
        assert_eq!(Minute::of(Timestamp::from_millis(-1)).number(), -1);
    }

    #[test]
    fn rates_are_tenths_per_minute() {
        let rate = rate(137, 95, 10);
        assert_eq!((rate.arrivals(), rate.resolves(), rate.net()), (137, 95, 42));
        assert_eq!(self::rate(0, 4, 10).net(), -4);
        assert_eq!(self::rate(1, 0, 15).arrivals(), 1, "0.067 is nearer to 0.1 than to 0");
        assert_eq!(self::rate(7, 7, 3).net(), 0);
    }

    fn trend(pending: u64, rate: Rate, lately: i64) -> Trend {
        Trend::of(pending, Some(&rate), Some(lately))
    }

    #[test]
    fn a_queue_clears_if_both_spans_agree() {
        assert_eq!(trend(9, rate(4, 8, 10), -1), Trend::ClearsIn(22 * Minute::MILLIS + 30_000));
        assert_eq!(trend(9, rate(4, 8, 10), 0), Trend::Steady, "no decisions lately");
        assert_eq!(trend(9, rate(4, 8, 10), 1), Trend::Steady);
        assert_eq!(trend(u64::MAX, rate(0, 1, 10), -1), Trend::ClearsIn(i64::MAX));
        assert_eq!(trend(0, rate(8, 4, 10), 4), Trend::Clear);
    }

    #[test]
    fn a_queue_grows_if_both_spans_agree() {
        assert_eq!(trend(9, rate(8, 4, 10), 1), Trend::Growing);
        assert_eq!(trend(9, rate(8, 4, 10), 0), Trend::Steady, "no arrivals lately");
        assert_eq!(trend(9, rate(4, 4, 10), 1), Trend::Steady);
    }

    #[test]
    fn a_trend_needs_three_minutes_of_data() {
        let short = Rate { over: Trend::LEAST - 1, ..rate(8, 0, 1) };
        assert_eq!(trend(9, short, 8), Trend::NotKnown);
        assert_eq!(trend(9, Rate { over: Trend::LEAST, ..short }, 8), Trend::Growing);
        assert_eq!(Trend::of(9, None, Some(8)), Trend::NotKnown);
        assert_eq!(Trend::of(9, Some(&rate(8, 0, 10)), None), Trend::NotKnown);
    }

    #[test]
    fn a_clearing_queue_is_not_over_target() {
        let states = [Trend::NotKnown, Trend::Growing, Trend::Steady, Trend::Clear, Trend::ClearsIn(1)];
        let of = |over: u64| states.map(|trend| QueueState::of(trend, over).word());
        assert_eq!(of(0), ["STARTING", "GROWING", "OK", "OK", "CLEARING"]);
        assert_eq!(of(1), ["OVER TARGET", "OVER TARGET", "OVER TARGET", "OVER TARGET", "CLEARING"]);
    }
}
