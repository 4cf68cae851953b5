//! Lapses approvals that no agent claims, so that a forgotten one does not run.

use std::time::Duration;

use super::tx::{Due, Tx};
use crate::domain::{Status, Timestamp};
use crate::gate::store::{Refused, StoreError, Stored};
use crate::gate::tool::Tools;

/// Returns the approvals that lapse now, by lifetime.
pub(super) fn unclaimed(tools: &Tools, now: Timestamp) -> Vec<Due> {
    let due = |(tools, ttl)| Due::Unclaimed { tools, before: approved_before(now, ttl) };
    tools.taken_by_agents().into_iter().map(due).collect()
}

pub(crate) fn approved_before(now: Timestamp, ttl: Duration) -> Timestamp {
    now.plus_millis(i64::try_from(ttl.as_millis()).map_or(i64::MIN, |millis| -millis))
}

/// Refuses a claim after the approval's lifetime, even before the sweep.
pub(super) fn refuse(tx: &mut dyn Tx, stored: &Stored) -> Result<(), StoreError> {
    let row = &stored.action.row;
    if row.status != Status::Approved || stored.fence > 0 {
        return Ok(());
    }
    let (ttl, now) = (tx.state().tools.approval_ttl(row.tool.as_raw()), tx.state().now);
    if row.resolved_at.is_some_and(|at| at <= approved_before(now, ttl)) {
        return Err(Refused::State { status: Status::Expired, by: None, at: Some(now) }.into());
    }
    Ok(())
}
