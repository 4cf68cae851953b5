//! The revision that numbers each change, and its audit row.

use serde_json::Value;

use super::tx::{Counted, Tx, locked};
use crate::fault;
use crate::gate::audit::{self, AuditRow};
use crate::gate::store::StoreError;

#[derive(Debug, Clone, Copy)]
pub(super) struct Note<'a> {
    pub(super) action: Option<&'a str>,
    pub(super) kind: &'static str,
    pub(super) who: Option<&'a str>,
}

/// Takes the next revision of a locked workspace. One [`note`] must follow.
pub(super) fn bump(tx: &mut dyn Tx, workspace: &str, pending: i64) -> Result<u64, StoreError> {
    let head = locked(tx, workspace)?;
    head.revision += 1;
    head.pending = head.pending.saturating_add_signed(pending);
    head.is_changed = true;
    let revision = head.revision;
    tx.state().wakes.revisions.insert(workspace.to_owned(), revision);
    Ok(revision)
}

/// Writes the audit row of the newest revision, with `details` as JSON.
pub(super) async fn note(
    tx: &mut dyn Tx,
    workspace: &str,
    note: Note<'_>,
    details: &Value,
    counted: Option<Counted<'_>>,
) -> Result<(), StoreError> {
    let at = tx.state().now;
    let head = locked(tx, workspace)?;
    let row = AuditRow {
        workspace: workspace.to_owned(),
        revision: head.revision,
        action: note.action.map(str::to_owned),
        kind: note.kind.to_owned(),
        at,
        who: note.who.map(str::to_owned),
        details: Some(details.to_string()),
        hash: Vec::new(),
    };
    let hash = audit::hash(&row, head.hash.as_deref().map(audit::hex).as_deref());
    head.hash = Some(hash.to_vec());
    tx.append_audit(&row, hash.as_slice()).await?;
    if let Some(counted) = counted {
        tx.count_flow(workspace, at, &counted).await?;
    }
    tx.state().wakes.kinds.push(note.kind);
    fault::point("audit.written");
    Ok(())
}
