//! A board as JSON, for other programs: what `placet watch --json` prints and what the screen writes to a file.

use serde::Serialize;

use crate::contract::time;
use crate::domain::{Flow, LastMinute, Queue, SourceName, ToolDecided, Trend};
use crate::inbox::Connection;

use super::{Ages, Alert, Board, QueueLine, ReviewerLine, SourceBoard, Standing, ToolLine};

/// Grows when a member changes its meaning or goes.
const VERSION: u32 = 1;

/// As `assets/contract/cli.schema.json` has it. Moments are RFC 3339, counts are of actions unless they say otherwise, and what is not known is absent or null.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BoardJson<'a> {
    version: u32,
    #[serde(rename = "type")]
    kind: &'static str,
    at: String,
    /// Outcomes, tools and reviewers are counted over so many minutes.
    window_minutes: u32,
    /// The numbers of every source are there, and none of them is old.
    complete: bool,
    total: StandingJson,
    sources: Vec<SourceJson<'a>>,
    tools: Vec<ToolJson<'a>>,
    ages: AgesJson,
    outcomes: FlowJson,
    /// In each part of the window, oldest first; null where nobody watched.
    arrivals_over_window: &'a [Option<u64>],
    resolves_over_window: &'a [Option<u64>],
    /// Absent where `[watch] reviewers` is off.
    #[serde(skip_serializing_if = "Option::is_none")]
    reviewers: Option<Vec<ReviewerJson<'a>>>,
    /// The gravest first.
    alerts: Vec<AlertJson<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StandingJson {
    pub(super) pending: u64,
    /// High, critical, or a word that this version does not know.
    pub(super) high: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) oldest_at: Option<String>,
    /// Pending for longer than the target, or the one of its queue.
    pub(super) over_target: u64,
    /// Ran, and nobody knows what became of it.
    pub(super) unknown: u64,
    /// Over the last quarter of an hour, as far as it was watched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) arrivals_per_minute: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) resolves_per_minute: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) net_per_minute: Option<f64>,
    /// In the last full minute; absent where that was not watched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) arrivals_last_minute: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) resolves_last_minute: Option<u64>,
    /// `no-data`, `starting`, `ok`, `growing`, `clearing`, `over-target`.
    pub(super) state: &'static str,
    /// `clear`, `clears`, `steady`, `growing`, `unknown`. `growing` and `clears`: in the last three minutes and in the last fifteen.
    pub(super) trend: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) clears_in_ms: Option<i64>,
    growing_for_minutes: u32,
    /// Pending at the end of each part of the window, oldest first, the last one now; null where nobody watched.
    pending_over_window: Vec<Option<u64>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SourceJson<'a> {
    #[serde(skip)]
    name: &'a SourceName,
    source: &'a str,
    /// `connecting`, `live`, `polling`, `retrying`, `refused`, `stopped`.
    connection: &'static str,
    /// When all that it has was last known to be here; absent: its numbers are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    heard_at: Option<String>,
    /// Its numbers are old.
    stale: bool,
    /// It gave a part of its list only: there is more than is counted.
    partial: bool,
    /// Some of what was decided there is not among `tools` and `reviewers`.
    truncated: bool,
    /// Why it could not be listed the last time.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    /// Since when it runs nothing that is approved.
    #[serde(skip_serializing_if = "Option::is_none")]
    paused_at: Option<String>,
    blocked_missions: u64,
    standing: StandingJson,
    queues: Vec<QueueJson<'a>>,
}

/// One of `agent`, `tool` and `rest` is there.
#[derive(Debug, Serialize)]
pub struct QueueName<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<&'a str>,
    /// Of actions that name no agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<&'a str>,
    /// All that are not told apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    rest: Option<bool>,
}

#[derive(Debug, Serialize)]
struct QueueJson<'a> {
    queue: QueueName<'a>,
    standing: StandingJson,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolJson<'a> {
    tool_name: &'a str,
    pending: u64,
    high: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    oldest_at: Option<String>,
    approved: u64,
    /// Of the approved ones; absent where no source tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    edited: Option<u64>,
    rejected: u64,
    /// After it was approved.
    failed: u64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct AgesJson {
    under5_minutes: u64,
    under15_minutes: u64,
    under1_hour: u64,
    under4_hours: u64,
    older: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    median_ms: Option<i64>,
    /// Nine in ten are no older.
    #[serde(skip_serializing_if = "Option::is_none")]
    p90_ms: Option<i64>,
    target_ms: i64,
}

#[derive(Debug, Serialize)]
struct FlowJson {
    arrived: u64,
    /// With those that were edited.
    approved: u64,
    /// Absent where no source tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    edited: Option<u64>,
    rejected: u64,
    /// Gone without a decision.
    left: u64,
    executed: u64,
    /// After it was approved.
    failed: u64,
    unknown: u64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ReviewerJson<'a> {
    source: &'a str,
    subject: &'a str,
    approved: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    edited: Option<u64>,
    rejected: u64,
    median_wait_ms: i64,
    last_at: String,
}

/// `source-down` and `growing` count minutes, `blocked` missions, everything else actions.
#[derive(Debug, Serialize)]
struct AlertJson<'a> {
    kind: &'static str,
    source: &'a str,
    count: u64,
}

impl Board {
    /// What is written of it.
    pub fn json(&self) -> BoardJson<'_> {
        BoardJson {
            version: VERSION,
            kind: "board",
            at: time::write(self.at),
            window_minutes: self.window,
            complete: self.sources.iter().all(SourceBoard::is_good),
            total: StandingJson::of(&self.total),
            sources: self.sources.iter().map(SourceJson::of).collect(),
            tools: self.tools.iter().map(ToolJson::of).collect(),
            ages: AgesJson::of(&self.ages),
            outcomes: FlowJson::of(&self.outcomes, self.edits_told),
            arrivals_over_window: &self.arrivals,
            resolves_over_window: &self.resolves,
            reviewers: self.reviewers.as_ref().map(|lines| lines.iter().map(ReviewerJson::of).collect()),
            alerts: self.alerts.iter().map(AlertJson::of).collect(),
        }
    }
}

impl BoardJson<'_> {
    /// With why a source could not be listed the last time, in words that went through the door.
    #[must_use]
    pub fn with_problems(mut self, of: impl Fn(&SourceName) -> Option<String>) -> Self {
        for source in &mut self.sources {
            source.problem = of(source.name);
        }
        self
    }
}

impl StandingJson {
    pub(super) fn of(standing: &Standing) -> Self {
        let rate = standing.rate.as_ref();
        let (trend, clears_in_ms) = match standing.trend {
            Trend::Clear => ("clear", None),
            Trend::ClearsIn(millis) => ("clears", Some(millis)),
            Trend::Steady => ("steady", None),
            Trend::Growing => ("growing", None),
            Trend::NotKnown => ("unknown", None),
        };
        Self {
            pending: standing.pending,
            high: standing.high,
            oldest_at: standing.oldest.map(time::write),
            over_target: standing.over_target,
            unknown: standing.unknown,
            arrivals_per_minute: rate.map(|rate| tenths(rate.arrivals().cast_signed())),
            resolves_per_minute: rate.map(|rate| tenths(rate.resolves().cast_signed())),
            net_per_minute: rate.map(|rate| tenths(rate.net())),
            arrivals_last_minute: standing.last.map(|LastMinute { arrived, .. }| arrived),
            resolves_last_minute: standing.last.map(|LastMinute { resolved, .. }| resolved),
            state: standing.state.name(),
            trend,
            clears_in_ms,
            growing_for_minutes: standing.growing_for,
            pending_over_window: standing.spark.clone(),
        }
    }
}

/// A rate as a number. Beyond two hundred million a minute it is that.
fn tenths(tenths: i64) -> f64 {
    f64::from(i32::try_from(tenths).unwrap_or(i32::MAX)) / 10.0
}

impl<'a> SourceJson<'a> {
    fn of(source: &'a SourceBoard) -> Self {
        let queue = |line: &'a QueueLine| QueueJson {
            queue: QueueName::of(&line.queue),
            standing: StandingJson::of(&line.standing),
        };
        Self {
            name: &source.name,
            source: source.name.as_str(),
            connection: connection(&source.connection),
            heard_at: source.heard.map(time::write),
            stale: source.stale,
            partial: source.cut,
            truncated: source.truncated,
            problem: None,
            paused_at: source.paused.map(time::write),
            blocked_missions: source.blocked,
            standing: StandingJson::of(&source.standing),
            queues: source.queues.iter().map(queue).collect(),
        }
    }
}

/// As JSON and tables have it.
pub const fn connection(connection: &Connection) -> &'static str {
    match connection {
        Connection::Connecting => "connecting",
        Connection::Live => "live",
        Connection::Polling => "polling",
        Connection::Retrying { .. } => "retrying",
        Connection::Refused { .. } => "refused",
        Connection::Stopped { .. } => "stopped",
    }
}

impl<'a> QueueName<'a> {
    pub fn of(queue: &'a Queue) -> Self {
        let (agent, tool, rest) = match queue {
            Queue::Agent(agent) => (Some(agent.as_raw()), None, None),
            Queue::Tool(tool) => (None, Some(tool.as_raw()), None),
            Queue::Rest => (None, None, Some(true)),
        };
        Self { agent, tool, rest }
    }
}

impl<'a> ToolJson<'a> {
    fn of(line: &'a ToolLine) -> Self {
        let decided = line.decided.as_ref();
        let count = |of: fn(&ToolDecided) -> u64| decided.map(of).unwrap_or_default();
        Self {
            tool_name: line.tool.as_raw(),
            pending: line.pending,
            high: line.high,
            oldest_at: line.oldest.map(time::write),
            approved: count(|it| it.approved),
            edited: decided.and_then(|it| it.edited),
            rejected: count(|it| it.rejected),
            failed: count(|it| it.failed),
        }
    }
}

impl AgesJson {
    fn of(ages: &Ages) -> Self {
        let [first, second, third, fourth, older] = ages.counts;
        Self {
            under5_minutes: first,
            under15_minutes: second,
            under1_hour: third,
            under4_hours: fourth,
            older,
            median_ms: ages.median,
            p90_ms: ages.p90,
            target_ms: ages.target,
        }
    }
}

impl FlowJson {
    fn of(flow: &Flow, edits_told: bool) -> Self {
        Self {
            arrived: flow.arrived,
            approved: flow.approved,
            edited: edits_told.then_some(flow.edited),
            rejected: flow.rejected,
            left: flow.left,
            executed: flow.executed,
            failed: flow.failed,
            unknown: flow.unknown,
        }
    }
}

impl<'a> ReviewerJson<'a> {
    fn of(line: &'a ReviewerLine) -> Self {
        let decider = &line.decider;
        Self {
            source: line.source.as_str(),
            subject: decider.name.as_raw(),
            approved: decider.approved,
            edited: decider.edited,
            rejected: decider.rejected,
            median_wait_ms: decider.median_wait,
            last_at: time::write(decider.last),
        }
    }
}

impl<'a> AlertJson<'a> {
    fn of(alert: &'a Alert) -> Self {
        Self { kind: alert.kind.name(), source: alert.source.as_str(), count: alert.count }
    }
}
