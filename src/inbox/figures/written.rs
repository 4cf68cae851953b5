//! A board as JSON and as CSV, for other programs. Foreign text is as it came: JSON escapes it, and no cell of a table is a formula.

use serde::Serialize;

use super::{Ages, Board, QueueLine, ReviewerLine, SourceBoard, Standing, ToolLine};
use crate::contract::time;
use crate::domain::{Flow, Queue, Trend};
use crate::inbox::Connection;

/// Of everything that is written here; a later version may have more fields.
const VERSION: u32 = 1;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BoardJson<'a> {
    version: u32,
    r#type: &'static str,
    at: String,
    window_minutes: u32,
    total: StandingJson<'a>,
    sources: Vec<SourceJson<'a>>,
    tools: Vec<ToolJson<'a>>,
    ages: AgesJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    reviewers: Option<Vec<ReviewerJson<'a>>>,
    outcomes: FlowJson,
    arrivals: &'a [Option<u64>],
    resolves: &'a [Option<u64>],
    alerts: Vec<AlertJson<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StandingJson<'a> {
    pending: u64,
    high: u64,
    oldest: Option<String>,
    over_target: u64,
    unknown: u64,
    arrivals_per_minute: Option<f64>,
    resolves_per_minute: Option<f64>,
    net_per_minute: Option<f64>,
    trend: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    clears_in_ms: Option<i64>,
    growing_for_minutes: u32,
    spark: &'a [Option<u64>],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SourceJson<'a> {
    name: &'a str,
    connection: &'static str,
    heard_at: Option<String>,
    stale: bool,
    paused_since: Option<String>,
    blocked_missions: u64,
    #[serde(flatten)]
    standing: StandingJson<'a>,
    queues: Vec<QueueJson<'a>>,
}

#[derive(Serialize)]
struct QueueJson<'a> {
    kind: &'static str,
    name: Option<&'a str>,
    #[serde(flatten)]
    standing: StandingJson<'a>,
}

#[derive(Serialize)]
struct ToolJson<'a> {
    tool: &'a str,
    pending: u64,
    high: u64,
    oldest: Option<String>,
    approved: Option<u64>,
    edited: Option<u64>,
    rejected: Option<u64>,
    failed: Option<u64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AgesJson {
    /// Under 5 minutes, 15, 60, 4 hours, and older.
    counts: [u64; 5],
    median_ms: Option<i64>,
    p90_ms: Option<i64>,
    target_ms: i64,
    over_target: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReviewerJson<'a> {
    source: &'a str,
    name: &'a str,
    approved: u64,
    edited: Option<u64>,
    rejected: u64,
    median_wait_ms: i64,
    last_at: String,
}

#[derive(Serialize)]
struct FlowJson {
    arrived: u64,
    approved: u64,
    edited: Option<u64>,
    rejected: u64,
    left: u64,
    executed: u64,
    failed: u64,
    unknown: u64,
}

#[derive(Serialize)]
struct AlertJson<'a> {
    kind: &'static str,
    source: &'a str,
    count: u64,
}

impl Board {
    /// One line of JSON. Fails where the machine has no memory left for it.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(&BoardJson {
            version: VERSION,
            r#type: "board",
            at: time::write(self.at),
            window_minutes: self.window,
            total: standing(&self.total),
            sources: self.sources.iter().map(source).collect(),
            tools: self.tools.iter().map(tool).collect(),
            ages: ages(&self.ages),
            reviewers: self.reviewers.as_ref().map(|lines| lines.iter().map(reviewer).collect()),
            outcomes: flow(&self.outcomes, self.edits_told),
            arrivals: &self.arrivals,
            resolves: &self.resolves,
            alerts: (self.alerts.iter())
                .map(|alert| AlertJson {
                    kind: alert.kind.name(),
                    source: alert.source.as_str(),
                    count: alert.count,
                })
                .collect(),
        })
    }

    /// A line for each source and each of its queues, under one that names the columns. Lines end as RFC 4180 has it.
    pub fn to_csv(&self) -> String {
        let mut out = String::from(
            "at,source,kind,queue,pending,high,oldest,over_target,unknown,arrivals_per_minute,resolves_per_minute,\
             net_per_minute,trend,clears_in_ms,connection,heard_at,stale\r\n",
        );
        for source in &self.sources {
            self.csv(&mut out, source, None);
            source.queues.iter().for_each(|line| self.csv(&mut out, source, Some(line)));
        }
        out
    }

    fn csv(&self, out: &mut String, source: &SourceBoard, line: Option<&QueueLine>) {
        let of = standing(line.map_or(&source.standing, |line| &line.standing));
        let (kind, name) = line.map_or(("source", None), |line| named(&line.queue));
        let number = |number: Option<f64>| number.map_or_else(String::new, |number| number.to_string());
        let cells = [
            time::write(self.at),
            cell(source.name.as_str()),
            kind.to_owned(),
            cell(name.unwrap_or_default()),
            of.pending.to_string(),
            of.high.to_string(),
            of.oldest.unwrap_or_default(),
            of.over_target.to_string(),
            of.unknown.to_string(),
            number(of.arrivals_per_minute),
            number(of.resolves_per_minute),
            number(of.net_per_minute),
            of.trend.to_owned(),
            of.clears_in_ms.map_or_else(String::new, |millis| millis.to_string()),
            connection(&source.connection).to_owned(),
            source.heard.map_or_else(String::new, time::write),
            source.stale.to_string(),
        ];
        out.push_str(&cells.join(","));
        out.push_str("\r\n");
    }
}

/// What a spreadsheet would take for a formula begins with an apostrophe; quotes go around what needs them.
fn cell(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if is_formula { format!("'{text}") } else { text.to_owned() };
    if text.contains([',', '"', '\r', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

fn standing(of: &Standing) -> StandingJson<'_> {
    let (trend, clears_in_ms) = match of.trend {
        Trend::Clear => ("clear", None),
        Trend::ClearsIn(millis) => ("clears", Some(millis)),
        Trend::Steady => ("steady", None),
        Trend::Growing => ("growing", None),
        Trend::NotKnown => ("unknown", None),
    };
    StandingJson {
        pending: of.pending,
        high: of.high,
        oldest: of.oldest.map(time::write),
        over_target: of.over_target,
        unknown: of.unknown,
        arrivals_per_minute: of.rate.map(|rate| tenths(rate.arrivals().cast_signed())),
        resolves_per_minute: of.rate.map(|rate| tenths(rate.resolves().cast_signed())),
        net_per_minute: of.rate.map(|rate| tenths(rate.net())),
        trend,
        clears_in_ms,
        growing_for_minutes: of.growing_for,
        spark: &of.spark,
    }
}

/// A rate as a number. Beyond two thousand million tenths a minute it is that.
fn tenths(tenths: i64) -> f64 {
    f64::from(i32::try_from(tenths).unwrap_or(i32::MAX)) / 10.0
}

fn source(of: &SourceBoard) -> SourceJson<'_> {
    SourceJson {
        name: of.name.as_str(),
        connection: connection(&of.connection),
        heard_at: of.heard.map(time::write),
        stale: of.stale,
        paused_since: of.paused.map(time::write),
        blocked_missions: of.blocked,
        standing: standing(&of.standing),
        queues: (of.queues.iter())
            .map(|line| {
                let (kind, name) = named(&line.queue);
                QueueJson { kind, name, standing: standing(&line.standing) }
            })
            .collect(),
    }
}

const fn connection(of: &Connection) -> &'static str {
    match of {
        Connection::Connecting => "connecting",
        Connection::Live => "live",
        Connection::Polling => "polling",
        Connection::Retrying { .. } => "retrying",
        Connection::Refused { .. } => "refused",
        Connection::Stopped { .. } => "stopped",
    }
}

fn named(queue: &Queue) -> (&'static str, Option<&str>) {
    match queue {
        Queue::Agent(name) => ("agent", Some(name.as_raw())),
        Queue::Tool(name) => ("tool", Some(name.as_raw())),
        Queue::Rest => ("rest", None),
    }
}

fn tool(of: &ToolLine) -> ToolJson<'_> {
    let decided = of.decided.as_ref();
    ToolJson {
        tool: of.tool.as_raw(),
        pending: of.pending,
        high: of.high,
        oldest: of.oldest.map(time::write),
        approved: decided.map(|decided| decided.approved),
        edited: decided.and_then(|decided| decided.edited),
        rejected: decided.map(|decided| decided.rejected),
        failed: decided.map(|decided| decided.failed),
    }
}

fn ages(of: &Ages) -> AgesJson {
    AgesJson {
        counts: of.counts,
        median_ms: of.median,
        p90_ms: of.p90,
        target_ms: of.target,
        over_target: of.over_target,
    }
}

fn reviewer(of: &ReviewerLine) -> ReviewerJson<'_> {
    let decider = &of.decider;
    ReviewerJson {
        source: of.source.as_str(),
        name: decider.name.as_raw(),
        approved: decider.approved,
        edited: decider.edited,
        rejected: decider.rejected,
        median_wait_ms: decider.median_wait,
        last_at: time::write(decider.last),
    }
}

fn flow(of: &Flow, edits_told: bool) -> FlowJson {
    FlowJson {
        arrived: of.arrived,
        approved: of.approved,
        edited: edits_told.then_some(of.edited),
        rejected: of.rejected,
        left: of.left,
        executed: of.executed,
        failed: of.failed,
        unknown: of.unknown,
    }
}
