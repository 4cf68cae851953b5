//! Records proposals.

use serde_json::json;

use super::advance::{Change, advance, load};
use super::audit::{Note, bump, note};
use super::replies;
use super::tx::{Answer, Counted, Tx, lock, locked};
use crate::contract::absent::without_nulls;
use crate::domain::{Flow, Revision, StatusStep};
use crate::gate::store::{
    Actor, Keyed, NewAction, Recorded, Refused, StoreError, action_fields, decision_rules,
};

pub(super) async fn record(
    tx: &mut dyn Tx,
    action: &NewAction,
    limit: u64,
    key: Option<&Keyed>,
) -> Result<Recorded, StoreError> {
    let by = Actor { subject: action.proposer.clone(), workspace: action.workspace().to_owned() };
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
    if action.action.row.expires_at.is_some_and(|at| at <= now) {
        return Err(Refused::Late.into());
    }
    if let Some(old) = &action.supersedes {
        supersede(tx, old, &by).await?;
    }
    let revision = bump(tx, &by.workspace, 1)?;
    if locked(tx, &by.workspace)?.pending > limit {
        return Err(Refused::Full(limit).into());
    }
    let mut action = action.clone();
    (action.action.row.created_at, action.action.row.revision) = (now, Revision(revision));
    let row = &action.action.row;
    let (id, tool) = (row.id.as_raw().to_owned(), row.tool.as_raw().to_owned());
    let agent = row.agent.as_ref().map(|agent| agent.as_raw().to_owned()).unwrap_or_default();
    let created = json!({
        "tool": tool,
        "digest": action.digest.to_string(),
        "record": action_fields::record(action.proposed()).to_string(),
        "callback": action.origin.callback,
        "traceparent": action.origin.traceparent,
    });
    let created = without_nulls(created);
    tx.insert_action(action).await?;
    let line = Note { action: Some(&id), kind: "created", who: Some(&by.subject) };
    let arrived = Counted { agent: &agent, tool: &tool, flow: Flow { arrived: 1, ..Flow::default() } };
    note(tx, &by.workspace, line, &created, Some(arrived)).await?;
    replies::keep(tx, &by, key, Answer::Action(&id)).await?;
    Ok(Recorded { id, again: false })
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
