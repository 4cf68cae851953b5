//! Pauses: nothing is dispatched in a paused workspace. Asked inside the dispatching transaction, so a pause holds from its
//! commit on, whichever process it came from.

use serde_json::json;

use super::audit::{Note, bump, note};
use super::tx::{Tx, lock};
use crate::gate::store::StoreError;

/// Stops or allows dispatching. False when it was so already.
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
