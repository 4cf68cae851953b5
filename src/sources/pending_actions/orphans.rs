//! Approvals that Praxiom wrote down and never ran: it schedules the run after the answer, and a restart in between loses it.

use std::sync::{Mutex, PoisonError};

use super::client::PendingActions;
use super::wire;
use crate::contract::time;
use crate::domain::{Row, Status, Timestamp};

/// An approval that has not run after this many milliseconds is reported.
const AFTER: i64 = 10 * 60 * 1_000;
/// The list of approved actions is asked for this seldom, in milliseconds: Praxiom counts requests.
const EVERY: i64 = 60 * 1_000;
pub(super) const WHY: &str = "approved more than 10 min ago and not run: its server may have restarted in between, and nothing runs it \
                              again by itself. Tell whoever runs it";

/// The orphaned approvals that were listed last, and when.
pub(super) type Orphans = Mutex<(Timestamp, Vec<Row>)>;

impl PendingActions {
    /// Lists them. Without an answer, those that were known.
    pub(super) async fn orphans(&self) -> Vec<Row> {
        let kept = || self.orphans.lock().unwrap_or_else(PoisonError::into_inner);
        let (now, asked_at) = (time::now(), kept().0);
        if now.since(asked_at) >= EVERY
            && let Ok(approved) = self.pages(&[("status", "approved")], wire::row).await
        {
            let mut rows: Vec<Row> = approved.items.into_iter().flatten().collect();
            rows.retain_mut(|row| mark(row, now));
            *kept() = (now, rows);
        }
        kept().1.clone()
    }
}

/// Marks an orphaned approval as unknown. Returns whether it is one.
pub(super) fn mark(row: &mut Row, now: Timestamp) -> bool {
    let decided = row.resolved_at.filter(|_| row.status == Status::Approved);
    let is_old = decided.is_some_and(|at| now.since(at) >= AFTER);
    if is_old {
        row.status = Status::Unknown;
    }
    is_old
}
