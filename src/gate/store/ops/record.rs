//! Records proposals.

use serde_json::json;

use super::advance::{Change, advance, load};
use super::audit::{Note, bump, note};
use super::replies;
use super::tx::{Answer, Counted, Tx, lock, locked};
use crate::contract::absent::without_nulls;
use crate::domain::{Flow, StatusStep};
use crate::gate::store::{Actor, Keyed, NewAction, Recorded, Refused, StoreError, decision_rules};
use crate::gate::terms;

/// Records the proposal, unless its call or its key was recorded before.
pub(super) async fn record(
    tx: &mut dyn Tx,
    action: &NewAction,
    limit: u64,
    key: Option<&Keyed>,
) -> Result<Recorded, StoreError> {
    let by = Actor { subject: action.proposer.clone(), workspace: action.workspace.clone() };
    lock(tx, &by.workspace).await?;
    // The call first: the target's content (`before`) may have changed since, and with it the body that the key is
    // checked against.
    if let Some(id) = replies::recorded_call(tx, action).await? {
        return Ok(Recorded { id, again: true });
    }
    if let Some(id) = replies::kept(tx, &by, key).await? {
        return Ok(Recorded { id, again: true });
    }
    let now = tx.state().now;
    // Checked after the key: a repeated request gets its answer however late it comes.
    if action.expires_at.is_some_and(|at| at <= now) {
        return Err(Refused::Late.into());
    }
    if let Some(old) = &action.supersedes {
        supersede(tx, old, &by).await?;
    }
    let revision = bump(tx, &action.workspace, 1)?;
    if locked(tx, &action.workspace)?.pending > limit {
        return Err(Refused::Full(limit).into());
    }
    tx.insert_action(action, revision).await?;
    let created = json!({
        "tool": action.tool,
        "digest": action.digest.to_string(),
        "record": terms::record_of(action, now).to_string(),
        "callback": action.origin.callback,
        "traceparent": action.origin.traceparent,
    });
    let created = without_nulls(created);
    let line = Note { action: Some(&action.id), kind: "created", who: Some(&action.proposer) };
    let agent = action.agent.as_deref().unwrap_or_default();
    let arrived = Counted { agent, tool: &action.tool, flow: Flow { arrived: 1, ..Flow::default() } };
    note(tx, &action.workspace, line, &created, Some(arrived)).await?;
    replies::keep(tx, &by, key, Answer::Action(&action.id)).await?;
    Ok(Recorded { id: action.id.clone(), again: false })
}

/// Ends the old proposal in favour of the new one. Only its own proposer may do that.
async fn supersede(tx: &mut dyn Tx, old: &str, by: &Actor) -> Result<(), StoreError> {
    let stored = load(tx, old).await?;
    decision_rules::within(&stored, by)?;
    if !decision_rules::is_proposer(&stored, by) {
        return Err(Refused::NotProposer.into());
    }
    let change = Change { by: Some(&by.subject), settles: true, ..Change::default() };
    advance(tx, (&stored).into(), StatusStep::Supersede, change).await.map(drop)
}
