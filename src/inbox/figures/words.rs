//! Figures as text, the same for screen, shell and screen reader.

pub use crate::domain::time::{age, limit, span};
use crate::domain::time::{limit_said, seconds};
use crate::domain::{LastMinute, Rate, Timestamp, Trend};
use crate::inbox::Connection;

use super::{AlertKind, SourceBoard};
use crate::config::Targets;

/// Age in milliseconds below which data is not marked with its age.
const FRESH: i64 = 10_000;

/// Formats tenths: `13.7`.
pub fn tenths(tenths: u64) -> String {
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// Formats tenths with a sign: `+2.5`, `-0.4`, `0.0`.
pub fn net(of: i64) -> String {
    let sign = match of {
        0 => "",
        1.. => "+",
        _ => "-",
    };
    format!("{sign}{}", tenths(of.unsigned_abs()))
}

/// Formats the time until nothing is pending: `23 min`; `-` if it does not clear.
pub fn clears(trend: Trend) -> String {
    match trend {
        Trend::Clear | Trend::Steady | Trend::Growing | Trend::NotKnown => "-".to_owned(),
        Trend::ClearsIn(millis) => match millis.saturating_add(59_999) / 60_000 {
            minutes @ ..120 => format!("{} min", minutes.max(1)),
            minutes @ 120..2_880 => format!("{} h", minutes / 60),
            minutes @ 2_880..144_000 => format!("{} days", minutes / 1_440),
            _ => ">99 days".to_owned(),
        },
    }
}

/// Formats the first and last watched value: `31>88`; empty if there is none.
pub fn ends(spark: &[Option<u64>]) -> String {
    let mut known = spark.iter().flatten();
    match (known.next(), known.next_back()) {
        (None, _) => String::new(),
        (Some(only), None) => only.to_string(),
        (Some(first), Some(last)) => format!("{first}>{last}"),
    }
}

/// Formats a count of the last full minute; `?` if it was not watched.
pub fn last(last: Option<LastMinute>, of: fn(&LastMinute) -> u64) -> String {
    last.map_or_else(|| "?".to_owned(), |last| of(&last).to_string())
}

/// Formats a rate per minute over the last fifteen: `3.1`; `?` if less than one was watched.
pub fn mean(rate: Option<Rate>, of: fn(&Rate) -> u64) -> String {
    rate.map_or_else(|| "?".to_owned(), |rate| tenths(of(&rate)))
}

/// Formats a window: `60 min`, `24 h`.
pub fn window(minutes: u32) -> String {
    if minutes < 120 { format!("{minutes} min") } else { format!("{} h", minutes / 60) }
}

/// Formats the target: `1 h`, or `target` if queues have their own.
pub fn target(targets: &Targets) -> String {
    if targets.by_queue { "target".to_owned() } else { limit_said(targets.age) }
}

/// Formats an alert without its source: `28 over 1 h`, `growing for 22 min`.
pub fn alert(kind: AlertKind, count: u64, targets: &Targets) -> String {
    match kind {
        AlertKind::Down if count == 0 => "down".to_owned(),
        AlertKind::Down => format!("down for {count} min"),
        AlertKind::RanOther => format!("{count} ran other than approved"),
        AlertKind::Failed => format!("{count} failed after approval"),
        AlertKind::Unknown => format!("{count} with unknown outcome"),
        AlertKind::HighRisk => format!("{count} high over {}", limit_said(targets.high_risk)),
        AlertKind::Expiring => format!("{count} expiring within {}", limit_said(targets.expiring)),
        AlertKind::Lapsing => format!("{count} approved lapse soon: no agent takes them"),
        AlertKind::OverTarget => format!("{count} over {}", target(targets)),
        AlertKind::Growing => format!("growing for {count} min"),
        AlertKind::Blocked => format!("{count} missions blocked"),
    }
}

/// Formats the state of a source's numbers: `ok`, `ok 20 s`, `RETRY 12 s, data 71 s old`. Also returns whether they
/// can be trusted. `still`: in words that do not change every second.
pub fn state(source: &SourceBoard, at: Timestamp, still: bool) -> (String, bool) {
    let old = source.heard.map(|heard| at.since(heard).max(0));
    let seconds = if still { span } else { seconds };
    let word = match &source.connection {
        Connection::Live | Connection::Polling if source.stale => "STALE".to_owned(),
        Connection::Live | Connection::Polling => {
            return match (old, source.paused) {
                (None, _) => ("READING".to_owned(), false),
                (Some(_), _) if source.cut => ("A PART ONLY".to_owned(), false),
                (Some(_), Some(since)) => (format!("PAUSED {}", age(since, at)), false),
                (Some(..FRESH), None) => ("ok".to_owned(), true),
                (Some(old), None) if still => (format!("ok {}", span(old)), true),
                // In steps, so that the text does not change with every look.
                (Some(old), None) => (format!("ok {}", seconds(old / FRESH * FRESH)), true),
            };
        }
        Connection::Connecting => "CONNECTING".to_owned(),
        Connection::Retrying { retry_in, .. } => {
            let waits = i64::try_from(retry_in.as_millis()).unwrap_or(i64::MAX);
            match waits.saturating_sub(at.since(source.connected_at)) {
                left @ 1.. if !still => format!("RETRY {} s", (left + 999) / 1_000),
                _ => "RETRYING".to_owned(),
            }
        }
        Connection::Refused { .. } => "REFUSED".to_owned(),
        Connection::Stopped { .. } => "STOPPED".to_owned(),
    };
    let said = old.map_or_else(|| word.clone(), |old| format!("{word}, data {} old", seconds(old)));
    (said, false)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::domain::SourceName;
    use crate::inbox::figures::Standing;

    fn source(connection: Connection, heard: Option<i64>) -> SourceBoard {
        SourceBoard {
            name: SourceName::new("gate"),
            standing: Standing::default(),
            connection,
            connected_at: Timestamp::from_millis(0),
            heard: heard.map(Timestamp::from_millis),
            stale: false,
            cut: false,
            truncated: false,
            paused: None,
            blocked: 0,
            queues: Vec::new(),
        }
    }

    #[test]
    fn rates_have_one_decimal_and_net_its_sign() {
        assert_eq!((tenths(137).as_str(), tenths(5).as_str()), ("13.7", "0.5"));
        assert_eq!([net(25), net(-4), net(0)], ["+2.5", "-0.4", "0.0"]);
    }

    #[test]
    fn what_clears_soon_says_when() {
        let soon = |minutes: i64| clears(Trend::ClearsIn(minutes * 60_000 - 1));
        assert_eq!([soon(0), soon(23), soon(150), soon(5_000)], ["1 min", "23 min", "2 h", "3 days"]);
        assert_eq!(clears(Trend::ClearsIn(i64::MAX)), ">99 days");
        let others = [Trend::Clear, Trend::Steady, Trend::Growing, Trend::NotKnown];
        assert_eq!(others.map(clears), ["-"; 4]);
    }

    #[test]
    fn a_sparklines_ends_are_what_was_watched() {
        assert_eq!(ends(&[None, Some(31), None, Some(88), None]), "31>88");
        assert_eq!((ends(&[None]).as_str(), ends(&[Some(3)]).as_str()), ("", "3"));
    }

    #[test]
    fn state_shows_the_age_of_numbers_unless_fresh() {
        let at = Timestamp::from_millis(71_000);
        let said = |source: &SourceBoard, still| state(source, at, still);
        assert_eq!(said(&source(Connection::Live, Some(70_000)), false), ("ok".to_owned(), true));
        assert_eq!(said(&source(Connection::Live, Some(44_000)), false), ("ok 20 s".to_owned(), true));
        assert_eq!(said(&source(Connection::Live, None), false), ("READING".to_owned(), false));
        let retrying = Connection::Retrying { why: "reset".into(), retry_in: Duration::from_secs(83) };
        let retrying = source(retrying, Some(0));
        assert_eq!(said(&retrying, false), ("RETRY 12 s, data 71 s old".to_owned(), false));
        assert_eq!(said(&retrying, true), ("RETRYING, data 1 m old".to_owned(), false));
        let stale = SourceBoard { stale: true, ..source(Connection::Polling, Some(0)) };
        assert_eq!(said(&stale, false), ("STALE, data 71 s old".to_owned(), false));
        let paused =
            SourceBoard { paused: Some(Timestamp::from_millis(0)), ..source(Connection::Live, Some(70_000)) };
        assert_eq!(said(&paused, false), ("PAUSED 1 m".to_owned(), false));
    }
}
