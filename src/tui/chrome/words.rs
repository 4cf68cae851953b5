//! Times, counts and states in words. The same words everywhere.

use crate::contract::time;
pub(crate) use crate::domain::time::age;
use crate::domain::time::{seconds, short};
use crate::domain::{Risk, Seen, StagedCounts, Status, Timestamp};
use crate::inbox::Connection;
use crate::text;
use crate::text::Shown;
pub(crate) use crate::text::count;
use crate::tui::core::model::Model;
use crate::tui::queue::list::SourceState;

/// `now`, `3 m`, `2 h`, `5 d`: how old a row is.
pub(crate) fn row_age(from: Timestamp, now: Timestamp) -> String {
    let millis = now.since(from);
    if millis < 60_000 { "now".to_owned() } else { short(millis) }
}

/// `4 m left`, under an hour before it is over; `None` where there is more time, or no end.
pub(crate) fn expires(at: Option<Timestamp>, now: Timestamp) -> Option<String> {
    let left = at?.since(now);
    (left < 3_600_000).then(|| match left / 60_000 {
        ..1 => "<1 m left".to_owned(),
        minutes => format!("{minutes} m left"),
    })
}

/// `expires in 12 m`, with seconds in the last two minutes.
pub(crate) fn expires_in(at: Timestamp, now: Timestamp) -> String {
    let left = at.since(now).max(0);
    match left / 1_000 {
        seconds @ ..60 => format!("expires in {seconds} s"),
        seconds @ 60..=120 => format!("expires in {} m {:02} s", seconds / 60, seconds % 60),
        _ => format!("expires in {}", age(now, at)),
    }
}

/// `14:22:07`, where the reviewer is.
pub(crate) fn clock(model: &Model, at: Timestamp) -> String {
    time::formatted(at, &model.settings.zone, "%H:%M:%S").unwrap_or_default()
}

/// `14:22`, or with the day when it was another one.
pub(crate) fn moment(model: &Model, at: Timestamp) -> String {
    let zone = &model.settings.zone;
    let (Some(then), Some(now)) = (time::local(at, zone), time::local(model.now, zone)) else {
        return String::new();
    };
    let form = if then.date() == now.date() { "%H:%M" } else { "%b %-d %H:%M" };
    then.strftime(form).to_string()
}

/// `14:22`, or only the day when it was another one.
pub(crate) fn day(model: &Model, at: Timestamp) -> String {
    let moment = moment(model, at);
    moment.rsplit_once(' ').map(|(day, _)| day.to_owned()).unwrap_or(moment)
}

/// `a5 e1 x2`; empty when nothing is staged.
pub(crate) fn staged(counts: StagedCounts) -> String {
    let some = counts.each().filter(|(_, n)| *n > 0);
    let said: Vec<String> =
        some.map(|(kind, n)| format!("{}{n}", kind.letter().to_ascii_lowercase())).collect();
    said.join(" ")
}

/// Four columns at most for the known words; high ones in capitals, because colour alone does not count.
pub(crate) fn risk(risk: &Risk) -> Shown {
    match risk {
        Risk::Low => Shown::ours("low"),
        Risk::Medium => Shown::ours("med"),
        Risk::High => Shown::ours("HIGH"),
        Risk::Critical => Shown::ours("CRIT"),
        Risk::Other(word) => text::line(word),
    }
}

/// How much of a content was read.
pub(crate) const fn seen(seen: Option<Seen>) -> &'static str {
    match seen {
        Some(Seen::InFull) => "read",
        Some(Seen::Opened) => "partly read",
        None => "unread",
    }
}

/// The word itself.
pub(crate) fn risk_in_full(risk: &Risk) -> Shown {
    match risk {
        Risk::Low => Shown::ours("low"),
        Risk::Medium => Shown::ours("medium"),
        Risk::High => Shown::ours("HIGH"),
        Risk::Critical => Shown::ours("CRITICAL"),
        Risk::Other(word) => text::line(word),
    }
}

/// What became of an action, as a row says it.
pub(crate) fn status(status: Option<&Status>) -> Shown {
    match status {
        None => Shown::ours("settled"),
        Some(Status::Pending) => Shown::ours("pending"),
        Some(Status::Approved) => Shown::ours("approved"),
        Some(Status::Running) => Shown::ours("running"),
        Some(Status::Rejected) => Shown::ours("rejected"),
        Some(Status::Executed) => Shown::ours("executed"),
        Some(Status::Failed) => Shown::ours("FAILED"),
        Some(Status::Unknown) => Shown::ours("UNKNOWN"),
        Some(Status::Expired) => Shown::ours("expired"),
        Some(Status::Withdrawn) => Shown::ours("withdrawn"),
        Some(Status::Superseded) => Shown::ours("superseded"),
        Some(Status::Other(word)) => text::line(word),
    }
}

/// Whether a source can be trusted, and since when not. True when all is well.
pub(crate) fn connection(source: &SourceState, now: Timestamp) -> (String, bool) {
    let stale = source.is_stale(now);
    let (word, good) = match &source.connection {
        Connection::Live | Connection::Polling if stale => ("STALE".to_owned(), false),
        Connection::Connecting => ("CONNECTING".to_owned(), false),
        Connection::Live => ("LIVE".to_owned(), true),
        Connection::Polling => ("POLLING".to_owned(), true),
        Connection::Retrying { retry_in, .. } => {
            let left = retry_in.as_millis() as i64 - now.since(source.connection_at);
            if left > 0 && !source.still {
                (format!("RETRY in {} s", (left + 999) / 1_000), false)
            } else {
                ("RETRYING".to_owned(), false)
            }
        }
        Connection::Refused { .. } => ("REFUSED".to_owned(), false),
        Connection::Stopped { .. } => ("STOPPED".to_owned(), false),
    };
    match source.heard {
        Some(at) if !good && now.since(at) >= 1_000 => {
            let old = if source.still { age(at, now) } else { seconds(now.since(at)) };
            (format!("{word}, data {old} old"), false)
        }
        Some(_) if good && source.problem.is_some() => (format!("{word}, list failed"), false),
        Some(_) => (word, good),
        // How it is asked says nothing before it answered once.
        None if good && source.problem.is_some() => ("CANNOT BE READ".to_owned(), false),
        None if good => ("READING".to_owned(), false),
        None => (word, false),
    }
}

/// Missions and agents with pending actions. The list is the truth; a source that was not read yet may have counted its own
/// missions.
pub(crate) fn blocked_counts(model: &Model) -> (usize, usize) {
    let unread =
        model.list.sources.iter().filter(|source| !source.listed).filter_map(|source| source.blocked);
    let unread = usize::try_from(unread.sum::<u64>()).unwrap_or(usize::MAX);
    (model.list.stats.missions.saturating_add(unread), model.list.stats.agents)
}

/// The terminal's title: counts only, because anything foreign could fake one.
pub(crate) fn title(model: &Model) -> String {
    let lost = match model.list.stats.unknown {
        0 => String::new(),
        lost => format!("{lost} unknown, "),
    };
    match (model.list.stats.high_risk(), model.list.stats.pending) {
        (0, pending) => format!("{lost}{pending} pending - placet"),
        (high, pending) => format!("({high}!) {lost}{pending} pending - placet"),
    }
}

/// What is pasted into a field of one line.
pub(crate) fn one_line(text: &str) -> String {
    text.split(['\n', '\r']).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}
