//! Alerts for a lead, from the figures of one source.

use crate::config::Targets;
use crate::domain::{Minute, Timestamp};
use crate::inbox::Connection;

use super::source::SourceFigures;
use super::sums::Sums;
use super::{Alert, AlertKind, SourceBoard};

/// `failed`: approved actions that failed in the last hour.
pub(super) fn of(
    source: &SourceFigures,
    board: &SourceBoard,
    sums: &Sums,
    failed: u64,
    targets: &Targets,
    now: Timestamp,
) -> Vec<Alert> {
    let growing = u64::from(board.standing.growing_for);
    let grows = u128::from(growing) * 60_000 > targets.growing.as_millis();
    let counts = [
        (AlertKind::RanOther, source.ran_other),
        (AlertKind::Failed, failed),
        (AlertKind::Unknown, board.standing.unknown),
        (AlertKind::HighRisk, sums.high_late),
        (AlertKind::Expiring, sums.expiring),
        (AlertKind::Lapsing, source.lapsing),
        (AlertKind::OverTarget, board.standing.over_target),
        (AlertKind::Growing, if grows { growing } else { 0 }),
        (AlertKind::Blocked, if sums.blocked > 0 { board.blocked } else { 0 }),
    ];
    let alert = |(kind, count)| Alert { kind, source: source.name.clone(), count };
    let down = down(source, board, now).map(|minutes| (AlertKind::Down, minutes));
    down.into_iter().chain(counts.into_iter().filter(|(_, count)| *count > 0)).map(alert).collect()
}

/// Returns for how many minutes the numbers have been old, 0 in the first one.
fn down(source: &SourceFigures, board: &SourceBoard, now: Timestamp) -> Option<u64> {
    let refused = matches!(source.connection, Connection::Refused { .. });
    // A list that fails once is retried within seconds.
    let unheard = source.problem && source.heard.is_none();
    if !(board.stale || refused || unheard) {
        return None;
    }
    let since = source.heard.or(source.down_since).unwrap_or(now);
    Some((now.since(since).max(0) / Minute::MILLIS).unsigned_abs())
}
