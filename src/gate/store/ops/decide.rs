//! Decides one action, or a batch or checkpoint item by item. Also withdraws, and settles unknown actions.

use std::collections::HashSet;

use super::advance::{Change, Payloads, advance, load};
use super::approvals;
use super::replies::{answer, kept};
use super::run;
use super::tx::{Loaded, Tx, lock};
use crate::contract::settle::SettleAs;
use crate::domain::{BatchId, Row, StatusStep, Untrusted};
use crate::gate::store::decision_rules::{self, Judged};
use crate::gate::store::{
    Actor, Answered, Decided, DecidedGroup, DecidedItem, Group, KeyedReply, Refused, Ruling, StoreError,
    Stored,
};

pub(super) async fn decide(
    tx: &mut dyn Tx,
    ruling: &Ruling,
    by: &Actor,
    key: Option<&KeyedReply<Stored>>,
) -> Result<Answered<Stored>, StoreError> {
    lock(tx, &by.workspace).await?;
    if let Some(body) = kept(tx, by, key.map(|it| &it.key)).await? {
        return Ok(Answered::Before(body));
    }
    let stored = load(tx, &ruling.id).await?;
    resolve(tx, &stored, ruling, by).await?;
    let decided = load(tx, &ruling.id).await?;
    answer(tx, by, key, decided).await
}

async fn resolve(
    tx: &mut dyn Tx,
    stored: &Stored,
    ruling: &Ruling,
    by: &Actor,
) -> Result<Decided, StoreError> {
    let reason = ruling.reason.as_deref();
    let (by_whom, via) = (Some(by.subject.as_str()), Some(ruling.via));
    let change = Change { by: by_whom, via, reason, settles: true, ..Change::default() };
    let state = tx.state();
    match decision_rules::judge(stored, ruling, by, &state.tools, state.now)? {
        Judged::Reject => {
            advance(tx, stored.into(), StatusStep::Reject, change).await?;
            Ok(Decided::Rejected)
        }
        Judged::Approve(approval) => {
            // A row whose status was changed directly in the database must not be approved again.
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
    let marked = reason.map_or_else(|| MARKED_FAILED.to_owned(), |why| format!("{MARKED_FAILED}: {why}"));
    let (step, change) = match how {
        SettleAs::Executed => (StatusStep::Succeed, Change { ran: true, ..change }),
        SettleAs::Failed => (StatusStep::Fail, Change { ran: true, error: Some(&marked), ..change }),
        SettleAs::Retry => {
            run::is_as_audited(tx, &stored.action.row).await?;
            (StatusStep::Requeue, change)
        }
    };
    advance(tx, (&stored).into(), step, change).await?;
    load(tx, id).await
}

const MARKED_FAILED: &str = "A reviewer marked this run as failed";

pub(super) async fn decide_group(
    tx: &mut dyn Tx,
    group: &Group,
    rulings: &[Ruling],
    by: &Actor,
    key: Option<&KeyedReply<DecidedGroup>>,
) -> Result<Answered<DecidedGroup>, StoreError> {
    lock(tx, &by.workspace).await?;
    if let Some(body) = kept(tx, by, key.map(|it| &it.key)).await? {
        return Ok(Answered::Before(body));
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
    answer(tx, by, key, DecidedGroup { group: group.clone(), by: by.subject.clone(), items }).await
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

/// Decides one item. `Err` only for errors of the database; a refusal goes into the entry.
async fn item(
    tx: &mut dyn Tx,
    group: &Group,
    (ruling, loaded): (&Ruling, Loaded),
    by: &Actor,
) -> Result<DecidedItem, StoreError> {
    let (mut batch, id) = (None, ruling.id.clone());
    let decided = match loaded.map(|found| found.filter(|stored| is_in(&stored.action.row, group))) {
        Ok(Some(stored)) => {
            batch = stored.action.row.batch.as_ref().map(|batch| batch.as_raw().to_owned());
            resolve(tx, &stored, ruling, by).await
        }
        Ok(None) => Err(Refused::Missing.into()),
        Err(StoreError::Corrupt(what)) => {
            let why =
                format!("the database has {what} for it; `placet gate audit verify` says what was changed");
            Err(Refused::Invalid(why).into())
        }
        Err(failed) => Err(failed),
    };
    let outcome = match decided {
        Ok(decided) => Ok(decided),
        Err(StoreError::Refused(refused)) => Err(refused),
        Err(failed) => return Err(failed),
    };
    Ok(DecidedItem { id, batch, outcome })
}

fn is_in(row: &Row, group: &Group) -> bool {
    match group {
        Group::Batch(batch) => row.batch.as_ref().map(BatchId::as_raw) == Some(batch),
        Group::Checkpoint(checkpoint) => row.checkpoint.as_ref().map(Untrusted::as_raw) == Some(checkpoint),
    }
}
