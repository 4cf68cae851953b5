//! A board as JSON and CSV, for `placet watch --json` and for files. JSON holds foreign text unchanged. CSV holds it
//! as shown, and no cell is a formula.

use serde_json::{Value, json};

use super::{Ages, Board, QueueLine, ReviewerLine, SourceBoard, Standing, ToolLine};
use crate::contract::absent::without_nulls;
use crate::contract::time;
use crate::domain::{Flow, Queue, Rate, SourceName, Trend};
use crate::inbox::Connection;
use crate::text::csv::cell;
use crate::text::{self, Shown};

/// Version of the JSON. Grows when a member changes its meaning or is removed.
const VERSION: u32 = 1;

impl Board {
    /// Returns the form of `assets/contract/cli.schema.json`: times as RFC 3339, counts of actions unless stated
    /// otherwise, unknown values absent. `problem` returns why a source's last list failed, as text that is safe to
    /// show.
    pub fn json(&self, problem: impl Fn(&SourceName) -> Option<String>) -> Value {
        let source = |source| source_json(source, problem(&source.name).as_deref());
        let deciders = |lines: &Option<Vec<ReviewerLine>>, name| {
            let lines = lines.as_ref()?.iter().map(|line| decider_json(line, name));
            Some(lines.collect::<Vec<_>>())
        };
        let alert = |alert: &super::Alert| json!({"kind": alert.kind.name(), "source": alert.source.as_str(), "count": alert.count});
        without_nulls(json!({
            "version": VERSION,
            "type": "board",
            "at": time::write(self.at),
            "windowMinutes": self.window,
            "complete": self.sources.iter().all(SourceBoard::is_good),
            "total": standing_json(&self.total),
            "sources": self.sources.iter().map(source).collect::<Vec<_>>(),
            "tools": self.tools.iter().map(tool_json).collect::<Vec<_>>(),
            "ages": ages_json(&self.ages),
            "outcomes": flow_json(&self.outcomes, self.edits_told),
            "arrivalsOverWindow": self.total.arrivals,
            "resolvesOverWindow": self.total.resolves,
            "reviewers": deciders(&self.reviewers, "subject"),
            "groups": deciders(&self.groups, "group"),
            "alerts": self.alerts.iter().map(alert).collect::<Vec<_>>(),
        }))
    }

    /// Returns a line per source and queue under a header, with line ends as in RFC 4180.
    pub fn to_csv(&self) -> String {
        let mut out = String::from(
            "at,source,kind,queue,pending,high,oldest,over_target,unknown,arrivals_per_minute,resolves_per_minute,\
             net_per_minute,trend,clears_in_ms,connection,heard_at,stale,\
             state,arrivals_last_minute,resolves_last_minute\n",
        );
        for source in &self.sources {
            self.csv(&mut out, source, None);
            source.queues.iter().for_each(|line| self.csv(&mut out, source, Some(line)));
        }
        out
    }

    fn csv(&self, out: &mut String, source: &SourceBoard, line: Option<&QueueLine>) {
        const FIRST: [&str; 10] = [
            "pending",
            "high",
            "oldestAt",
            "overTarget",
            "unknown",
            "arrivalsPerMinute",
            "resolvesPerMinute",
            "netPerMinute",
            "trend",
            "clearsInMs",
        ];
        const LAST: [&str; 3] = ["state", "arrivalsLastMinute", "resolvesLastMinute"];
        let standing = standing_json(line.map_or(&source.standing, |line| &line.standing));
        let figure = |name: &str| match standing.get(name) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => match (number.as_i64(), number.as_f64()) {
                (None, Some(number)) => number.to_string(),
                _ => number.to_string(),
            },
            _ => String::new(),
        };
        let (kind, name) = line.map_or(("source", None), |line| named(&line.queue));
        let of_source = [
            connection(&source.connection).to_owned(),
            source.heard.map_or_else(String::new, time::write),
            source.stale.to_string(),
        ];
        let cells = [
            time::write(self.at),
            cell(&text::part(source.name.as_str()).plain()),
            kind.to_owned(),
            cell(&name.unwrap_or_default().plain()),
        ];
        let cells = cells.into_iter().chain(FIRST.map(figure)).chain(of_source).chain(LAST.map(figure));
        out.push_str(&cells.collect::<Vec<_>>().join(","));
        out.push('\n');
    }
}

/// `name` is the member for the name; absent for people in no group.
fn decider_json(line: &ReviewerLine, name: &str) -> Value {
    let decider = &line.decider;
    let mut written = json!({
        "source": line.source.as_str(),
        "approved": decider.approved,
        "edited": decider.edited,
        "rejected": decider.rejected,
        "medianWaitMs": decider.median_wait,
        "lastAt": time::write(decider.last),
    });
    if let Some(members) = written.as_object_mut().filter(|_| !decider.name.is_empty()) {
        members.insert(name.to_owned(), decider.name.as_raw().into());
    }
    written
}

fn source_json(source: &SourceBoard, problem: Option<&str>) -> Value {
    let queue = |line: &QueueLine| json!({"queue": queue_json(&line.queue), "targetMs": line.target, "standing": standing_json(&line.standing)});
    json!({
        "source": source.name.as_str(),
        "connection": connection(&source.connection),
        "heardAt": source.heard.map(time::write),
        "stale": source.stale,
        "partial": source.cut,
        "truncated": source.truncated,
        "problem": problem,
        "pausedAt": source.paused.map(time::write),
        "blockedMissions": source.blocked,
        "standing": standing_json(&source.standing),
        "queues": source.queues.iter().map(queue).collect::<Vec<_>>(),
    })
}

fn standing_json(standing: &Standing) -> Value {
    let per_minute = |of: fn(&Rate) -> i64| standing.rate.as_ref().map(|rate| tenths(of(rate)));
    let (trend, clears_in) = match standing.trend {
        Trend::Clear => ("clear", None),
        Trend::ClearsIn(millis) => ("clears", Some(millis)),
        Trend::Steady => ("steady", None),
        Trend::Growing => ("growing", None),
        Trend::NotKnown => ("unknown", None),
    };
    json!({
        "pending": standing.pending,
        "high": standing.high,
        "oldestAt": standing.oldest.map(time::write),
        "overTarget": standing.over_target,
        "unknown": standing.unknown,
        "arrivalsPerMinute": per_minute(|rate| rate.arrivals().cast_signed()),
        "resolvesPerMinute": per_minute(|rate| rate.resolves().cast_signed()),
        "netPerMinute": per_minute(Rate::net),
        "arrivalsLastMinute": standing.last.map(|last| last.arrived),
        "resolvesLastMinute": standing.last.map(|last| last.resolved),
        "state": standing.state.name(),
        "trend": trend,
        "clearsInMs": clears_in,
        "growingForMinutes": standing.growing_for,
        "pendingOverWindow": standing.spark,
    })
}

/// Converts tenths to a number, up to two hundred million.
fn tenths(tenths: i64) -> f64 {
    f64::from(i32::try_from(tenths).unwrap_or(i32::MAX)) / 10.0
}

fn tool_json(line: &ToolLine) -> Value {
    let decided = line.decided.as_ref();
    json!({
        "toolName": line.tool.as_raw(),
        "pending": line.pending,
        "high": line.high,
        "oldestAt": line.oldest.map(time::write),
        "approved": decided.map_or(0, |it| it.approved),
        "edited": decided.and_then(|it| it.edited),
        "rejected": decided.map_or(0, |it| it.rejected),
        "failed": decided.map_or(0, |it| it.failed),
    })
}

fn ages_json(ages: &Ages) -> Value {
    let [first, second, third, fourth, older] = ages.counts;
    json!({
        "under5Minutes": first,
        "under15Minutes": second,
        "under1Hour": third,
        "under4Hours": fourth,
        "older": older,
        "medianMs": ages.median,
        "p90Ms": ages.p90,
        "targetMs": ages.target,
    })
}

fn flow_json(flow: &Flow, edits_told: bool) -> Value {
    json!({
        "arrived": flow.arrived,
        "approved": flow.approved,
        "edited": edits_told.then_some(flow.edited),
        "rejected": flow.rejected,
        "left": flow.left,
        "executed": flow.executed,
        "failed": flow.failed,
        "unknown": flow.unknown,
    })
}

/// Returns one of `agent`, `tool` and `rest`.
pub fn queue_json(queue: &Queue) -> Value {
    match queue {
        Queue::Agent(agent) => json!({"agent": agent.as_raw()}),
        Queue::Tool(tool) => json!({"tool": tool.as_raw()}),
        Queue::Rest => json!({"rest": true}),
    }
}

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

fn named(queue: &Queue) -> (&'static str, Option<Shown>) {
    match queue {
        Queue::Agent(name) => ("agent", Some(text::name(name))),
        Queue::Tool(name) => ("tool", Some(text::identifier(name))),
        Queue::Rest => ("rest", None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{SourceName, Timestamp};
    use crate::inbox::figures::{BoardRequest, Figures, Standing};

    #[test]
    fn csv_has_safe_names_and_no_formula() {
        let figures = Figures::new(crate::config::Targets::default(), false, &[SourceName::new("team")]);
        let mut board = figures.board(BoardRequest { window: 60, columns: 1 }, Timestamp::from_millis(0));
        let queue = |queue| QueueLine { queue, target: 0, standing: Standing::default() };
        board.sources[0].queues = vec![
            queue(Queue::Agent("a\u{1b}[2J\u{202e}b".into())),
            queue(Queue::Agent("  =1+1".into())),
            queue(Queue::Agent("＝1".into())),
            queue(Queue::Tool("p\u{430}y".into())),
        ];

        let table = board.to_csv();

        let names: Vec<_> = table.lines().skip(2).filter_map(|line| line.split(',').nth(3)).collect();
        assert_eq!(&names[..2], ["a⟦ESC⟧[2J⟦U+202E⟧b", "'  =1+1"]);
        assert!(!names[2].starts_with('＝'), "{names:?}");
        assert_eq!(names[3], "p⟦а U+0430⟧y");
    }
}
