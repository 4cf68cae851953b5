//! Pauses of dispatching. Checked inside the dispatching transaction, so a pause by any process holds from its commit
//! on.

use serde_json::json;

use super::audit::{Note, bump, note};
use super::tx::{Tx, lock};
use crate::gate::store::StoreError;

pub(super) async fn set(
    tx: &mut dyn Tx,
    workspace: &str,
    paused: bool,
    who: Option<&str>,
) -> Result<bool, StoreError> {
    lock(tx, workspace).await?;
    if !tx.put_pause(workspace, paused, who).await? {
        return Ok(false);
    }
    bump(tx, workspace, 0)?;
    let kind = if paused { "paused" } else { "resumed" };
    note(tx, workspace, Note { action: None, kind, who }, &json!({}), None).await?;
    tx.state().wakes.approved |= !paused;
    Ok(true)
}
