//! Claims: a reviewer is on an action. They change neither the action nor its audit, so the head is not locked.

use super::tx::Tx;
use crate::domain::subject::is_same_subject;
use crate::domain::{Claim, Timestamp};
use crate::gate::store::{Actor, Refused, StoreError};

pub(super) async fn claim(
    tx: &mut dyn Tx,
    id: &str,
    by: &Actor,
    now: Timestamp,
) -> Result<Claim, StoreError> {
    is_here(tx, id, by).await?;
    let about = tx.claim_of(&by.workspace, id, now).await?;
    let Some((proposer, holder)) = about else { return Err(Refused::Missing.into()) };
    if is_same_subject(&proposer, &by.subject) {
        return Err(unfit(tx, id, by).await?.into());
    }
    let by = &as_spelled(by, holder);
    let found = tx.put_claim(by, id, now).await?;
    let Some((claim, is_new)) = found else { return Err(unfit(tx, id, by).await?.into()) };
    if is_new {
        tx.state().wakes.claimed.insert(by.workspace.clone());
    }
    Ok(claim)
}

pub(super) async fn end(tx: &mut dyn Tx, id: &str, by: &Actor, now: Timestamp) -> Result<bool, StoreError> {
    is_here(tx, id, by).await?;
    end_own(tx, id, by, now).await
}

/// Ends the claim of a person who has acted, if there is one.
pub(super) async fn end_own(
    tx: &mut dyn Tx,
    id: &str,
    by: &Actor,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let Some((_, holder)) = tx.claim_of(&by.workspace, id, now).await? else { return Ok(false) };
    let ended = tx.end_claim(&as_spelled(by, holder), id, now).await?;
    if ended {
        tx.state().wakes.claimed.insert(by.workspace.clone());
    }
    Ok(ended)
}

/// Returns the actor under the spelling of the existing claim.
fn as_spelled(by: &Actor, holder: Option<String>) -> Actor {
    let own = holder.filter(|holder| is_same_subject(holder, &by.subject));
    Actor { subject: own.unwrap_or_else(|| by.subject.clone()), workspace: by.workspace.clone() }
}

async fn is_here(tx: &mut dyn Tx, id: &str, by: &Actor) -> Result<(), StoreError> {
    match tx.workspace_of(id).await? {
        None => Err(Refused::Missing.into()),
        Some(workspace) if workspace == by.workspace => Ok(()),
        Some(_) => Err(Refused::Foreign.into()),
    }
}

async fn unfit(tx: &mut dyn Tx, id: &str, by: &Actor) -> Result<Refused, StoreError> {
    let Some(stored) = tx.load(id).await? else { return Ok(Refused::Missing) };
    let row = stored.action.row;
    Ok(if row.status.is_pending() && is_same_subject(&stored.proposer, &by.subject) {
        Refused::Own
    } else {
        Refused::State {
            status: row.status,
            by: row.resolved_by.map(|by| by.as_raw().to_owned()),
            at: row.resolved_at,
        }
    })
}
