//! Retention: prunes actions settled long ago. The audit keeps their ids.

use serde_json::json;

use super::audit::{Note, bump, note};
use super::tx::{Tx, lock, locked};
use crate::gate::store::{Prunable, StoreError};

/// Removes unchanged actions under one audit row. Their keys and calls leave tombstones: otherwise a repeated request
/// would be recorded, and run, again.
pub(super) async fn prune(
    tx: &mut dyn Tx,
    workspace: &str,
    actions: &[Prunable],
    who: Option<&str>,
) -> Result<u64, StoreError> {
    lock(tx, workspace).await?;
    let mut gone = Vec::with_capacity(actions.len());
    for action in actions {
        if tx.bury(workspace, action).await? {
            tx.count_state(workspace, &action.action.row.status, -1).await?;
            gone.push(json!({"id": action.action.row.id.as_raw(), "record": action.record.to_string()}));
        }
    }
    let pruned = gone.len() as u64;
    if pruned > 0 {
        let revision = bump(tx, workspace, 0)?;
        locked(tx, workspace)?.pruned = revision;
        let line = Note { action: None, kind: "pruned", who };
        note(tx, workspace, line, &json!({"actions": gone}), None).await?;
    }
    Ok(pruned)
}
