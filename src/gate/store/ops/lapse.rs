//! Approvals that no agent claims: an old one must not be run when nobody remembers it any more.

use std::time::Duration;

use super::tx::{Due, Tx};
use crate::domain::{Status, Timestamp};
use crate::gate::store::{Refused, StoreError, Stored};
use crate::gate::tool::Tools;

/// What lapses now: approvals that agents take, by how long one waits for them.
pub(super) fn unclaimed(tools: &Tools, begun: Timestamp, now: Timestamp) -> Vec<Due> {
    let due = |(tools, ttl)| approved_before(begun, now, ttl).map(|before| Due::Unclaimed { tools, before });
    tools.taken_by_agents().into_iter().filter_map(due).collect()
}

/// The moment before which an approval must have been given to be past `ttl` now; `None` while none can be. Those from before
/// approvals lapsed at all have their whole time from `begun` on.
pub(crate) fn approved_before(begun: Timestamp, now: Timestamp, ttl: Duration) -> Option<Timestamp> {
    let before = now.plus_millis(i64::try_from(ttl.as_millis()).map_or(i64::MIN, |millis| -millis));
    (begun <= before).then_some(before)
}

/// Refuses a claim that comes after an approval's time and before the sweep.
pub(super) async fn refuse(tx: &mut dyn Tx, stored: &Stored) -> Result<(), StoreError> {
    let row = &stored.action.row;
    if row.status != Status::Approved || stored.fence > 0 {
        return Ok(());
    }
    let begun = tx.lapse_begun().await?;
    let (ttl, now) = (tx.state().tools.approval_ttl(row.tool.as_raw()), tx.state().now);
    match approved_before(begun, now, ttl) {
        Some(before) if row.resolved_at.is_some_and(|at| at <= before) => {
            Err(Refused::State { status: Status::Expired, by: None, at: Some(now) }.into())
        }
        _ => Ok(()),
    }
}
