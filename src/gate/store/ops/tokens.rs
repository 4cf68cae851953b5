//! Tokens. Only the hash of a token is stored.

use serde_json::json;

use super::approvals;
use super::audit::{Note, bump, note};
use super::tx::{Tx, lock};
use crate::contract::absent::without_nulls;
use crate::contract::time;
use crate::domain::Timestamp;
use crate::gate::audit;
use crate::gate::store::{OpenApproval, Refused, StoreError};
use crate::gate::token::{Scope, Token};

pub(super) async fn add(tx: &mut dyn Tx, token: &Token, hash: &[u8]) -> Result<(), StoreError> {
    lock(tx, &token.workspace).await?;
    issue(tx, token, hash).await
}

/// Adds a token. The caller has locked the workspace.
async fn issue(tx: &mut dyn Tx, token: &Token, hash: &[u8]) -> Result<(), StoreError> {
    tx.insert_token(token, hash).await?;
    bump(tx, &token.workspace, 0)?;
    // The hash is no secret: the token has 244 random bits.
    let issued = without_nulls(json!({
        "token": token.id,
        "subject": token.subject,
        "name": token.name,
        "groups": Some(token.groups.join(" ")).filter(|groups| !groups.is_empty()),
        "scopes": Scope::write(&token.scopes),
        "hash": audit::hex(hash),
        "expiresAt": token.expires_at.map(time::write),
    }));
    let line = Note { action: None, kind: "token-issued", who: None };
    note(tx, &token.workspace, line, &issued, None).await
}

/// Replaces a token. Both are valid until the old one ends, so that its user can switch.
pub(super) async fn rotate(
    tx: &mut dyn Tx,
    old: &str,
    until: Timestamp,
    new: &Token,
    hash: &[u8],
) -> Result<(), StoreError> {
    lock(tx, &new.workspace).await?;
    if tx.owner_of_token(old).await?.is_none_or(|owner| owner.workspace != new.workspace) {
        return Err(Refused::Missing.into());
    }
    if tx.shorten_token(old, until).await? {
        bump(tx, &new.workspace, 0)?;
        let line = Note { action: None, kind: "token-ends", who: None };
        note(tx, &new.workspace, line, &json!({"token": old, "expiresAt": time::write(until)}), None).await?;
    }
    issue(tx, new, hash).await
}

/// Not in an audit, so no workspace is locked.
pub(super) async fn note_uses(tx: &mut dyn Tx, uses: &[(String, Timestamp)]) -> Result<(), StoreError> {
    for (id, at) in uses {
        tx.note_use(id, *at).await?;
    }
    Ok(())
}

pub(super) async fn revoke(
    tx: &mut dyn Tx,
    id: &str,
    void: bool,
    who: Option<&str>,
) -> Result<Vec<OpenApproval>, StoreError> {
    let owner = tx.owner_of_token(id).await?.ok_or(Refused::Missing)?;
    lock(tx, &owner.workspace).await?;
    if tx.end_token(id).await? {
        bump(tx, &owner.workspace, 0)?;
        let line = Note { action: None, kind: "token-revoked", who };
        note(tx, &owner.workspace, line, &json!({"token": id}), None).await?;
    } else if !void {
        return Err(Refused::Missing.into());
    }
    approvals::open(tx, &owner, (void, who)).await
}
