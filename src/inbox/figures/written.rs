//! A board as JSON and as CSV, for other programs. In JSON foreign text is as it came; in a table it is as it is shown, and no cell is a
//! formula.

use super::json::{StandingJson, connection};
use super::{Board, QueueLine, SourceBoard};
use crate::contract::time;
use crate::domain::Queue;
use crate::text::csv::cell;
use crate::text::{self, Shown};

impl Board {
    /// One line of JSON. Fails where the machine has no memory left for it.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(&self.json())
    }

    /// A line for each source and each of its queues, under one that names the columns. Lines end as RFC 4180 has it.
    pub fn to_csv(&self) -> String {
        let mut out = String::from(
            "at,source,kind,queue,pending,high,oldest,over_target,unknown,arrivals_per_minute,resolves_per_minute,\
             net_per_minute,trend,clears_in_ms,connection,heard_at,stale,\
             state,arrivals_last_minute,resolves_last_minute\r\n",
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
        let count = |count: Option<u64>| count.map_or_else(String::new, |count| count.to_string());
        let number = |number: Option<f64>| number.map_or_else(String::new, |number| number.to_string());
        let cells = [
            time::write(self.at),
            cell(&text::part(source.name.as_str()).plain()),
            kind.to_owned(),
            cell(&name.unwrap_or_default().plain()),
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
            of.state.to_owned(),
            count(of.arrivals_last_minute),
            count(of.resolves_last_minute),
        ];
        out.push_str(&cells.join(","));
        out.push_str("\r\n");
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
    fn a_table_has_names_as_they_are_shown_and_no_formula() {
        let figures = Figures::new(crate::config::Targets::default(), false, &[SourceName::new("team")]);
        let mut board = figures.board(BoardRequest { window: 60, columns: 1 }, Timestamp::from_millis(0));
        let queue = |queue| QueueLine { queue, standing: Standing::default() };
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
