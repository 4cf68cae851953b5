//! Records proposals.

use serde_json::json;

use super::advance::{Change, advance, load};
use super::audit::{Note, bump, note};
use super::replies::{self, Answer};
use super::row;
use super::writer::Tx;
use crate::domain::{Effect, RawJson, Status, StatusStep};
use crate::gate::store::{Actor, Keyed, NewAction, Recorded, Refused, StoreError, decision_rules};
use crate::gate::terms;

/// Records the proposal, unless its call was recorded before, or its key was answered before.
pub(super) async fn record(
    tx: &mut Tx,
    action: NewAction,
    limit: u64,
    key: Option<Keyed>,
) -> Result<Recorded, StoreError> {
    let by = Actor { subject: action.proposer.clone(), workspace: action.workspace.clone() };
    // The call first: what its target holds (`before`) may have changed since, and with it the body that the key stands for.
    if let Some(id) = replies::recorded_call(tx, &action).await? {
        return Ok(Recorded { id, again: true });
    }
    if let Some(id) = replies::kept(tx, &by, key.as_ref()).await? {
        return Ok(Recorded { id, again: true });
    }
    // Not before: a repeated request gets its answer, however late it comes.
    if action.expires_at.is_some_and(|at| at <= tx.now) {
        return Err(Refused::Late.into());
    }
    if let Some(old) = &action.supersedes {
        supersede(tx, old, &by).await?;
    }
    let head = bump(tx, &action.workspace, 1).await?;
    if head.pending > limit {
        return Err(Refused::Full(limit).into());
    }
    insert(tx, &action, head.revision).await?;
    let created = json!({
        "tool": action.tool,
        "digest": action.digest.to_string(),
        "record": terms::record_of(&action, tx.now).to_string(),
    });
    let line = Note { action: Some(&action.id), kind: "created", who: Some(&action.proposer) };
    note(tx, &head, line, &created).await?;
    replies::keep(tx, &by, key.as_ref(), Answer::Action(&action.id)).await?;
    Ok(Recorded { id: action.id, again: false })
}

async fn insert(tx: &mut Tx, action: &NewAction, revision: u64) -> Result<(), StoreError> {
    let now = tx.now.as_millis();
    let inserted = sqlx::query(
        "INSERT INTO actions (id, workspace, batch, checkpoint, mission, session, run, tool_call, agent, \
         requested_by, proposer, tool, title, summary, risk, effect, size, digest, status, created_at, \
         expires_at, revision) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, \
         ?21, ?22)",
    )
    .bind(&action.id)
    .bind(&action.workspace)
    .bind(&action.batch)
    .bind(&action.checkpoint)
    .bind(&action.mission)
    .bind(&action.session)
    .bind(&action.run)
    .bind(&action.tool_call)
    .bind(&action.agent)
    .bind(&action.requested_by)
    .bind(&action.proposer)
    .bind(&action.tool)
    .bind(&action.title)
    .bind(&action.summary)
    .bind(action.risk.as_raw())
    .bind(action.effect.as_ref().map(Effect::as_raw))
    .bind(row::integer(action.input.as_str().len() as u64))
    .bind(action.digest.to_string())
    .bind(Status::Pending.as_raw())
    .bind(now)
    .bind(action.expires_at.map(crate::domain::Timestamp::as_millis))
    .bind(row::integer(revision))
    .execute(tx.conn())
    .await?;
    sqlx::query("INSERT INTO payloads (seq, input, preview, before) VALUES (?1, ?2, ?3, ?4)")
        .bind(inserted.last_insert_rowid())
        .bind(action.input.as_str())
        .bind(action.preview.as_ref().map(RawJson::as_str))
        .bind(action.before.as_ref().map(RawJson::as_str))
        .execute(tx.conn())
        .await?;
    Ok(())
}

/// The old proposal steps back for the new one; only its own proposer may do that.
async fn supersede(tx: &mut Tx, old: &str, by: &Actor) -> Result<(), StoreError> {
    let stored = load(tx, old).await?;
    decision_rules::within(&stored, by)?;
    if !decision_rules::is_proposer(&stored, by) {
        return Err(Refused::NotProposer.into());
    }
    let change = Change { by: Some(&by.subject), settles: true, ..Change::default() };
    advance(tx, (&stored).into(), StatusStep::Supersede, change).await.map(drop)
}
