//! Decides one action, or a batch or checkpoint item by item. Also withdraws, and settles unknown actions.

use std::collections::HashSet;

use super::advance::{Change, Payloads, advance, load};
use super::approvals;
use super::replies::{keep, kept};
use super::run;
use super::tx::{Answer, Loaded, Tx, lock};
use crate::contract::action::{self, wire_status};
use crate::contract::approvals::ApprovalCount;
use crate::contract::batch::{BatchReply, BatchReplyItem, ItemOutcome};
use crate::contract::checkpoint::CheckpointReply;
use crate::contract::settle::SettleAs;
use crate::domain::{BatchId, Row, Status, StatusStep, Untrusted};
use crate::gate::store::decision_rules::{self, Judged};
use crate::gate::store::{Actor, Group, Keyed, Refused, Reply, Ruling, StoreError, Stored};

pub(super) async fn decide(
    tx: &mut dyn Tx,
    ruling: &Ruling,
    by: &Actor,
    key: Option<&Keyed>,
) -> Result<Reply, StoreError> {
    lock(tx, &by.workspace).await?;
    if let Some(body) = kept(tx, by, key).await? {
        return Ok(Reply { body, replayed: true });
    }
    let stored = load(tx, &ruling.id).await?;
    resolve(tx, &stored, ruling, by).await?;
    let decided = load(tx, &ruling.id).await?;
    let body = action::write(&decided.action);
    let body = body.map_err(|_| StoreError::Corrupt("a payload that is no JSON"))?;
    keep(tx, by, key, Answer::Body(&body)).await?;
    Ok(Reply { body, replayed: false })
}

async fn resolve(
    tx: &mut dyn Tx,
    stored: &Stored,
    ruling: &Ruling,
    by: &Actor,
) -> Result<(ItemOutcome, Option<ApprovalCount>), StoreError> {
    let reason = ruling.reason.as_deref();
    let (by_whom, via) = (Some(by.subject.as_str()), Some(ruling.via));
    let change = Change { by: by_whom, via, reason, settles: true, ..Change::default() };
    let state = tx.state();
    match decision_rules::judge(stored, ruling, by, &state.tools, state.now)? {
        Judged::Reject => {
            advance(tx, stored.into(), StatusStep::Reject, change).await?;
            Ok((ItemOutcome::Rejected, None))
        }
        Judged::Approve(approval) => {
            // A row that was set back outside the gate must not be approved again.
            run::is_as_audited(tx, &stored.action.row).await?;
            let payloads = Payloads { edited: approval.edited.as_ref(), result: None };
            let approved = Some((approval.digest, approval.terms));
            let change = Change { approved, payloads, ..change };
            approvals::approve(tx, stored, &approval, by, change).await
        }
    }
}

pub(super) async fn withdraw(tx: &mut dyn Tx, id: &str, by: &Actor) -> Result<Stored, StoreError> {
    lock(tx, &by.workspace).await?;
    let stored = load(tx, id).await?;
    decision_rules::within(&stored, by)?;
    if !decision_rules::is_proposer(&stored, by) {
        return Err(Refused::NotProposer.into());
    }
    let change = Change { by: Some(&by.subject), settles: true, ..Change::default() };
    advance(tx, (&stored).into(), StatusStep::Withdraw, change).await?;
    load(tx, id).await
}

pub(super) async fn settle(
    tx: &mut dyn Tx,
    id: &str,
    how: SettleAs,
    reason: Option<&str>,
    by: &Actor,
) -> Result<Stored, StoreError> {
    lock(tx, &by.workspace).await?;
    let stored = load(tx, id).await?;
    decision_rules::settle(&stored, by)?;
    let change = Change { by: Some(&by.subject), reason, by_hand: true, ..Change::default() };
    let (step, change) = match how {
        SettleAs::Executed => (StatusStep::Succeed, Change { ran: true, ..change }),
        SettleAs::Failed => {
            (StatusStep::Fail, Change { ran: true, error: reason.or(Some(NOT_LANDED)), ..change })
        }
        SettleAs::Retry => {
            run::is_as_audited(tx, &stored.action.row).await?;
            (StatusStep::Requeue, change)
        }
    };
    advance(tx, (&stored).into(), step, change).await?;
    load(tx, id).await
}

const NOT_LANDED: &str = "A reviewer marked this run as failed";

/// Decides the listed actions; others stay pending.
pub(super) async fn decide_group(
    tx: &mut dyn Tx,
    group: &Group,
    rulings: &[Ruling],
    by: &Actor,
    key: Option<&Keyed>,
) -> Result<Reply, StoreError> {
    lock(tx, &by.workspace).await?;
    if let Some(body) = kept(tx, by, key).await? {
        return Ok(Reply { body, replayed: true });
    }
    exists(tx, group, by).await?;
    each_once(rulings)?;
    within_one_workspace(tx, rulings, by).await?;
    let mut items = Vec::with_capacity(rulings.len());
    for some in rulings.chunks(LOADED) {
        // Ids are distinct and a decision changes no other action, so loading ahead is safe.
        let ids: Vec<&str> = some.iter().map(|ruling| ruling.id.as_str()).collect();
        for (ruling, loaded) in some.iter().zip(tx.load_all(&ids).await?) {
            items.push(item(tx, group, (ruling, loaded), by).await?);
        }
    }
    let body = match group {
        Group::Batch(batch) => {
            let items = items.into_iter().map(|(_, item)| item).collect();
            serde_json::to_string(&BatchReply::of(batch.clone(), items))
        }
        Group::Checkpoint(checkpoint) => {
            serde_json::to_string(&CheckpointReply::of(checkpoint.clone(), items))
        }
    };
    let body = body.map_err(|_| StoreError::Corrupt("a reply that is no JSON"))?;
    keep(tx, by, key, Answer::Body(&body)).await?;
    Ok(Reply { body, replayed: false })
}

/// Batch and checkpoint names are scoped to a workspace.
async fn exists(tx: &mut dyn Tx, group: &Group, by: &Actor) -> Result<(), StoreError> {
    if tx.has_group(&by.workspace, group).await? {
        return Ok(());
    }
    let missing = match group {
        Group::Batch(_) => Refused::MissingBatch,
        Group::Checkpoint(_) => Refused::MissingCheckpoint,
    };
    Err(if tx.has_group_elsewhere(group).await? { Refused::Foreign } else { missing }.into())
}

/// Refuses a list that names an action twice: its intent is ambiguous.
fn each_once(rulings: &[Ruling]) -> Result<(), Refused> {
    let mut ids = HashSet::new();
    match rulings.iter().find(|ruling| !ids.insert(ruling.id.as_str())) {
        None => Ok(()),
        Some(twice) => Err(Refused::Invalid(format!("{:?} is listed twice; decide it once", twice.id))),
    }
}

/// Maximum number of ids per query.
const LOOKED_UP: usize = 500;
/// Maximum number of actions loaded at once, with payloads.
const LOADED: usize = 50;

/// Refuses the whole batch if an action is in another workspace, as the contract demands.
async fn within_one_workspace(tx: &mut dyn Tx, rulings: &[Ruling], by: &Actor) -> Result<(), StoreError> {
    for some in rulings.chunks(LOOKED_UP) {
        let ids: Vec<&str> = some.iter().map(|ruling| ruling.id.as_str()).collect();
        if let Some(id) = tx.foreign_among(&by.workspace, &ids).await? {
            return Err(Refused::CrossesWorkspaces(id).into());
        }
    }
    Ok(())
}

/// Decides one item and returns its entry and batch. Only a database error fails the others.
async fn item(
    tx: &mut dyn Tx,
    group: &Group,
    (ruling, loaded): (&Ruling, Loaded),
    by: &Actor,
) -> Result<(Option<String>, BatchReplyItem), StoreError> {
    let found = match loaded {
        Ok(found) => found,
        Err(StoreError::Corrupt(what)) => {
            let why =
                format!("the database has {what} for it; `placet gate audit verify` says what was changed");
            return Ok((None, entry(ruling, ItemOutcome::Invalid, Some(Status::Pending), Some(why))));
        }
        Err(failed) => return Err(failed),
    };
    let Some(stored) = found.filter(|stored| is_in(&stored.action.row, group)) else {
        let why = match group {
            Group::Batch(_) => "it is not in this batch",
            Group::Checkpoint(_) => "it is not in this checkpoint",
        };
        return Ok((None, entry(ruling, ItemOutcome::Missing, None, Some(why.to_owned()))));
    };
    let batch = stored.action.row.batch.as_ref().map(|batch| batch.as_raw().to_owned());
    let pending = Some(Status::Pending);
    let item = match resolve(tx, &stored, ruling, by).await {
        Ok((outcome @ ItemOutcome::Accepted, approvals)) => {
            BatchReplyItem { approvals, ..entry(ruling, outcome, pending, None) }
        }
        Ok((outcome, _)) => {
            let status = if outcome == ItemOutcome::Approved { Status::Approved } else { Status::Rejected };
            let by = Some(by.subject.clone());
            BatchReplyItem { resolved_by: by, ..entry(ruling, outcome, Some(status), None) }
        }
        Err(StoreError::Refused(Refused::State { status, by, .. })) => {
            BatchReplyItem { resolved_by: by, ..entry(ruling, ItemOutcome::Skipped, Some(status), None) }
        }
        Err(StoreError::Refused(refused @ Refused::Changed(_))) => {
            entry(ruling, ItemOutcome::Changed, pending, Some(refused.to_string()))
        }
        Err(StoreError::Refused(refused)) => {
            entry(ruling, ItemOutcome::Invalid, pending, Some(refused.to_string()))
        }
        Err(failed) => return Err(failed),
    };
    Ok((batch, item))
}

fn is_in(row: &Row, group: &Group) -> bool {
    match group {
        Group::Batch(batch) => row.batch.as_ref().map(BatchId::as_raw) == Some(batch),
        Group::Checkpoint(checkpoint) => row.checkpoint.as_ref().map(Untrusted::as_raw) == Some(checkpoint),
    }
}

fn entry(
    ruling: &Ruling,
    outcome: ItemOutcome,
    status: Option<Status>,
    message: Option<String>,
) -> BatchReplyItem {
    BatchReplyItem {
        pending_action_id: ruling.id.clone(),
        outcome,
        status: status.map(|status| wire_status(&status).to_owned()),
        resolved_by: None,
        approvals: None,
        message,
    }
}
