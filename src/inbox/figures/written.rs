//! A board as JSON and as CSV, for other programs. Foreign text is as it came: JSON escapes it, and no cell of a table is a formula.

use super::json::{StandingJson, connection};
use super::{Board, QueueLine, SourceBoard};
use crate::contract::time;
use crate::domain::Queue;

impl Board {
    /// One line of JSON. Fails where the machine has no memory left for it.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(&self.json())
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
        let of = StandingJson::of(line.map_or(&source.standing, |line| &line.standing));
        let (kind, name) = line.map_or(("source", None), |line| named(&line.queue));
        let number = |number: Option<f64>| number.map_or_else(String::new, |number| number.to_string());
        let cells = [
            time::write(self.at),
            cell(source.name.as_str()),
            kind.to_owned(),
            cell(name.unwrap_or_default()),
            of.pending.to_string(),
            of.high.to_string(),
            of.oldest_at.unwrap_or_default(),
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

fn named(queue: &Queue) -> (&'static str, Option<&str>) {
    match queue {
        Queue::Agent(name) => ("agent", Some(name.as_raw())),
        Queue::Tool(name) => ("tool", Some(name.as_raw())),
        Queue::Rest => ("rest", None),
    }
}
