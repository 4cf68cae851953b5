//! Approvals that Praxiom recorded but never ran: it schedules the run after its answer, and a restart in between loses
//! it.

use std::sync::PoisonError;

use super::client::PendingActions;
use super::wire;
use crate::clock;
use crate::domain::{Row, Status, Timestamp};

/// Milliseconds after which an approval that has not run is reported.
const AFTER: i64 = 10 * 60 * 1_000;
/// Milliseconds between two lists of approved actions, because Praxiom counts requests.
const EVERY: i64 = 60 * 1_000;
pub(super) const WHY: &str = "approved more than 10 min ago and not run: its server may have restarted in between, and nothing runs it \
                              again by itself. Tell whoever runs it";

impl PendingActions {
    /// Lists orphaned approvals. Returns the last known ones if the backend does not answer.
    pub(super) async fn orphans(&self) -> Vec<Row> {
        let kept = || self.orphans.lock().unwrap_or_else(PoisonError::into_inner);
        let (now, asked_at) = (clock::now(), kept().0);
        if now.since(asked_at) >= EVERY {
            kept().0 = now;
            if let Ok(approved) = self.pages(&[("status", "approved")], wire::row).await {
                let mut rows: Vec<Row> = approved.items.into_iter().flatten().collect();
                rows.retain_mut(|row| mark(row, now));
                kept().1 = rows;
            }
        }
        kept().1.clone()
    }
}

/// Marks an orphaned approval as unknown. Returns whether the row is one.
pub(super) fn mark(row: &mut Row, now: Timestamp) -> bool {
    let decided = row.resolved_at.filter(|_| row.status == Status::Approved);
    let is_old = decided.is_some_and(|at| now.since(at) >= AFTER);
    if is_old {
        row.status = Status::Unknown;
    }
    is_old
}
