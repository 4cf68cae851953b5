//! How actions come and go: counts a minute, and what a source can tell of them.

use super::{Row, SourceName, Timestamp, Untrusted};

/// A minute of the clock, counted from 1970-01-01T00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Minute(i64);

impl Minute {
    /// Milliseconds in one.
    pub const MILLIS: i64 = 60_000;

    pub const fn new(number: i64) -> Self {
        Self(number)
    }

    /// The one that a moment is in.
    pub const fn of(at: Timestamp) -> Self {
        Self(at.as_millis().div_euclid(Self::MILLIS))
    }

    pub const fn number(self) -> i64 {
        self.0
    }

    /// Its first millisecond.
    pub const fn start(self) -> Timestamp {
        Timestamp::from_millis(self.0.saturating_mul(Self::MILLIS))
    }

    /// So many minutes later; negative is earlier.
    #[must_use]
    pub const fn plus(self, minutes: i64) -> Self {
        Self(self.0.saturating_add(minutes))
    }
}

/// A part of what a source holds, as a lead sees it: who proposes, else what is proposed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Queue {
    Agent(Untrusted),
    /// Of actions that name no agent.
    Tool(Untrusted),
    /// All beyond the most that are told apart.
    Rest,
}

impl Queue {
    /// So many are told apart in one source.
    pub const MOST: usize = 64;

    pub fn of(row: &Row) -> Self {
        match &row.agent {
            Some(agent) if !agent.is_empty() => Self::Agent(agent.clone()),
            _ => Self::Tool(row.tool.clone()),
        }
    }
}

/// What happened in some time, counted in actions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    pub arrived: u64,
    /// With those that were edited.
    pub approved: u64,
    /// Approved with edits, where the source tells.
    pub edited: u64,
    pub rejected: u64,
    /// Gone without a decision: expired, withdrawn, superseded, or in a way that the source does not tell.
    pub left: u64,
    pub executed: u64,
    /// After it was approved.
    pub failed: u64,
    /// After it was approved, and nobody knows what became of it.
    pub unknown: u64,
}

impl Flow {
    /// What is not pending any more.
    pub const fn resolved(&self) -> u64 {
        self.approved + self.rejected + self.left
    }

    /// Of a count by its name.
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

    /// Of two counts of the same time, of which each may have missed something.
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

/// What is asked of a source that counts by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowsAsked {
    /// Minutes of queues.
    pub since: Timestamp,
    /// Tools, and who decided.
    pub decided_since: Timestamp,
    /// Who decided, too.
    pub reviewers: bool,
    /// What groups of people decided, too.
    pub groups: bool,
}

/// What a source that counts by itself tells of the last hours: the same to everybody who asks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flows {
    /// By the source's clock.
    pub at: Timestamp,
    /// The counts begin here: at what was asked for, or later where nothing is known of before.
    pub from: Timestamp,
    pub queues: Vec<QueueFlow>,
    /// What was decided of each tool since what was asked for.
    pub tools: Vec<ToolDecided>,
    /// Who decided, since what was asked for; empty unless it was asked for.
    pub reviewers: Vec<Decider>,
    /// The same of groups, where that was asked for. Who is in several counts in each; the empty name is of those in none.
    pub groups: Vec<Decider>,
    /// Some tools, or the older decisions of reviewers, are left out.
    pub truncated: bool,
}

/// One queue of a source, minute by minute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueFlow {
    pub queue: Queue,
    /// Now.
    pub pending: u64,
    /// In order; minutes in which nothing happened are left out.
    pub minutes: Vec<(Minute, Flow)>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolDecided {
    pub tool: Untrusted,
    pub approved: u64,
    /// Of the approved ones; `None` where that is not told.
    pub edited: Option<u64>,
    pub rejected: u64,
    /// After it was approved.
    pub failed: u64,
}

/// Somebody who decided, or a group of people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decider {
    pub name: Untrusted,
    pub approved: u64,
    /// Of the approved ones; `None` where that is not told.
    pub edited: Option<u64>,
    pub rejected: u64,
    /// Half of what they decided had waited no longer than this. Milliseconds.
    pub median_wait: i64,
    pub last: Timestamp,
}

/// A minute of a source as the journal keeps it, so that a restart does not begin with nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptMinute {
    pub source: SourceName,
    pub minute: Minute,
    /// Milliseconds of it that were watched, 1 to 60,000.
    pub watched: i64,
    /// Those in which something was pending or happened.
    pub queues: Vec<KeptQueue>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptQueue {
    pub queue: Queue,
    pub flow: Flow,
    /// At its end.
    pub pending: u64,
}

/// How fast actions come and go, over the time that was watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    pub arrived: u64,
    pub resolved: u64,
    /// Milliseconds that were watched; never 0.
    pub over: i64,
}

impl Rate {
    /// A minute, in tenths, rounded to the nearest.
    pub const fn arrivals(&self) -> u64 {
        self.tenths(self.arrived)
    }

    /// A minute, in tenths, rounded to the nearest.
    pub const fn resolves(&self) -> u64 {
        self.tenths(self.resolved)
    }

    /// Arrivals less resolves a minute, in tenths.
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

/// What came and went in the last full minute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LastMinute {
    pub arrived: u64,
    pub resolved: u64,
}

/// Where a queue is going.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trend {
    /// Nothing is pending.
    Clear,
    /// Milliseconds, at the rate of the last quarter of an hour.
    ClearsIn(i64),
    Steady,
    Growing,
    /// It was watched for under three minutes.
    #[default]
    NotKnown,
}

impl Trend {
    /// Less data says nothing of where a queue is going. Milliseconds.
    pub const LEAST: i64 = 3 * Minute::MILLIS;

    /// `rate`: of the last quarter of an hour. `lately`: arrivals less resolves in the last three minutes. A queue grows or clears only
    /// where both say so.
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

/// The verdict on a queue, a source, or everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueueState {
    /// Never heard, or silent for the last three minutes.
    #[default]
    NoData,
    /// Under three minutes of data.
    Starting,
    Ok,
    Growing,
    Clearing,
    /// Something waits for longer than the target, and it is not clearing.
    OverTarget,
}

impl QueueState {
    /// Of what was heard.
    pub const fn of(trend: Trend, over_target: u64) -> Self {
        match trend {
            Trend::ClearsIn(_) => Self::Clearing,
            _ if over_target > 0 => Self::OverTarget,
            Trend::NotKnown => Self::Starting,
            Trend::Growing => Self::Growing,
            Trend::Clear | Trend::Steady => Self::Ok,
        }
    }

    /// As people read it.
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

    /// As JSON and tables have it.
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
    fn a_minute_holds_its_moments_also_before_the_epoch() {
        let minute = Minute::of(Timestamp::from_millis(119_999));
        assert_eq!((minute.number(), minute.start().as_millis()), (1, 60_000));
        assert_eq!(Minute::of(Timestamp::from_millis(-1)).number(), -1);
    }

    #[test]
    fn rates_are_tenths_a_minute_and_net_has_a_sign() {
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
    fn a_queue_clears_when_more_goes_than_comes_in_both_spans() {
        assert_eq!(trend(9, rate(4, 8, 10), -1), Trend::ClearsIn(22 * Minute::MILLIS + 30_000));
        assert_eq!(trend(9, rate(4, 8, 10), 0), Trend::Steady, "nobody decides any more");
        assert_eq!(trend(9, rate(4, 8, 10), 1), Trend::Steady);
        assert_eq!(trend(u64::MAX, rate(0, 1, 10), -1), Trend::ClearsIn(i64::MAX));
        assert_eq!(trend(0, rate(8, 4, 10), 4), Trend::Clear);
    }

    #[test]
    fn a_queue_grows_when_more_comes_than_goes_in_both_spans() {
        assert_eq!(trend(9, rate(8, 4, 10), 1), Trend::Growing);
        assert_eq!(trend(9, rate(8, 4, 10), 0), Trend::Steady, "nothing came in the last three minutes");
        assert_eq!(trend(9, rate(4, 4, 10), 1), Trend::Steady);
    }

    #[test]
    fn under_three_minutes_of_data_no_trend_is_known() {
        let short = Rate { over: Trend::LEAST - 1, ..rate(8, 0, 1) };
        assert_eq!(trend(9, short, 8), Trend::NotKnown);
        assert_eq!(trend(9, Rate { over: Trend::LEAST, ..short }, 8), Trend::Growing);
        assert_eq!(Trend::of(9, None, Some(8)), Trend::NotKnown);
        assert_eq!(Trend::of(9, Some(&rate(8, 0, 10)), None), Trend::NotKnown);
    }

    #[test]
    fn a_state_says_over_target_unless_the_queue_is_clearing() {
        let states = [Trend::NotKnown, Trend::Growing, Trend::Steady, Trend::Clear, Trend::ClearsIn(1)];
        let of = |over: u64| states.map(|trend| QueueState::of(trend, over).word());
        assert_eq!(of(0), ["STARTING", "GROWING", "OK", "OK", "CLEARING"]);
        assert_eq!(of(1), ["OVER TARGET", "OVER TARGET", "OVER TARGET", "OVER TARGET", "CLEARING"]);
    }
}
