//! Deciding: one action, a batch item by item, or the proposer taking one back.

use sqlx::QueryBuilder;

use super::advance::{Change, Payloads, advance, load};
use super::record::{keep, kept};
use super::row;
use super::writer::Tx;
use crate::contract::action::wire_status;
use crate::contract::batch::{BatchReply, BatchReplyItem, ItemOutcome};
use crate::domain::{BatchId, Status, StatusStep};
use crate::gate::store::judge::{self, Judged};
use crate::gate::store::{Actor, Keyed, Refused, Reply, Ruling, StoreError, Stored};

/// Decides one action; returns it as it stands then.
pub(super) async fn decide(tx: &mut Tx, ruling: &Ruling, by: &Actor) -> Result<Stored, StoreError> {
    let stored = load(tx, &ruling.id).await?;
    resolve(tx, &stored, ruling, by).await?;
    load(tx, &ruling.id).await
}

/// Judges and, if it may be, does.
async fn resolve(
    tx: &mut Tx,
    stored: &Stored,
    ruling: &Ruling,
    by: &Actor,
) -> Result<ItemOutcome, StoreError> {
    let reason = ruling.reason.as_deref();
    let change = Change { by: Some(&by.subject), reason, settles: true, ..Change::default() };
    match judge::judge(stored, ruling, by, tx.now)? {
        Judged::Reject => {
            advance(tx, stored.into(), StatusStep::Reject, change).await?;
            Ok(ItemOutcome::Rejected)
        }
        Judged::Approve(approval) => {
            let payloads = Payloads { edited: approval.edited.as_ref(), result: None };
            let change = Change { approved: Some(approval.digest), payloads, ..change };
            advance(tx, stored.into(), StatusStep::Approve, change).await?;
            Ok(ItemOutcome::Approved)
        }
    }
}

/// The proposer takes it back.
pub(super) async fn withdraw(tx: &mut Tx, id: &str, by: &Actor) -> Result<Stored, StoreError> {
    let stored = load(tx, id).await?;
    judge::within(&stored, by)?;
    if stored.proposer != by.subject {
        return Err(Refused::NotProposer.into());
    }
    let change = Change { by: Some(&by.subject), settles: true, ..Change::default() };
    advance(tx, (&stored).into(), StatusStep::Withdraw, change).await?;
    load(tx, id).await
}

/// Decides what is listed; what is not listed stays pending.
pub(super) async fn decide_batch(
    tx: &mut Tx,
    batch: String,
    rulings: &[Ruling],
    by: &Actor,
    key: Option<&Keyed>,
) -> Result<Reply, StoreError> {
    if let Some(body) = kept(tx, by, key).await? {
        return Ok(Reply { body, replayed: true });
    }
    exists(tx, &batch, by).await?;
    let mut items = Vec::with_capacity(rulings.len());
    for ruling in rulings {
        items.push(item(tx, &batch, ruling, by).await?);
    }
    let count = |outcomes: &[ItemOutcome]| {
        items.iter().filter(|item| outcomes.contains(&item.outcome)).count() as u64
    };
    let reply = BatchReply {
        approved: count(&[ItemOutcome::Approved]),
        rejected: count(&[ItemOutcome::Rejected]),
        skipped: count(&[ItemOutcome::Skipped]),
        failed: count(&[ItemOutcome::Changed, ItemOutcome::Invalid, ItemOutcome::Missing]),
        batch_id: batch,
        items: Some(items),
    };
    let body = serde_json::to_string(&reply).map_err(|_| StoreError::Corrupt("a reply that is no JSON"))?;
    keep(tx, by, key, &body).await?;
    Ok(Reply { body, replayed: false })
}

/// A batch is a batch of one workspace; the same name elsewhere is somebody else's.
async fn exists(tx: &mut Tx, batch: &str, by: &Actor) -> Result<(), StoreError> {
    let (here, elsewhere): (bool, bool) = sqlx::query_as(
        "SELECT EXISTS (SELECT 1 FROM actions WHERE workspace = ?1 AND batch = ?2), \
         EXISTS (SELECT 1 FROM heads h JOIN actions a ON a.workspace = h.workspace AND a.batch = ?2 \
         WHERE h.workspace <> ?1)",
    )
    .bind(&by.workspace)
    .bind(batch)
    .fetch_one(tx.conn())
    .await?;
    match (here, elsewhere) {
        (true, _) => Ok(()),
        (false, true) => Err(Refused::Foreign.into()),
        (false, false) => Err(Refused::MissingBatch.into()),
    }
}

/// One item's entry in the reply. Only a failing database fails the batch.
async fn item(tx: &mut Tx, batch: &str, ruling: &Ruling, by: &Actor) -> Result<BatchReplyItem, StoreError> {
    let mut query = QueryBuilder::new(row::WHOLE);
    query.push(" WHERE a.id = ").push_bind(&ruling.id).push(" AND a.workspace = ").push_bind(&by.workspace);
    let found = query.build().fetch_optional(tx.conn()).await?.map(|row| row::stored(&row)).transpose()?;
    let stored = found.filter(|stored| stored.action.row.batch.as_ref().map(BatchId::as_raw) == Some(batch));
    let Some(stored) = stored else {
        return Ok(entry(ruling, ItemOutcome::Missing, None, Some("it is not in this batch".to_owned())));
    };
    let pending = Some(Status::Pending);
    match resolve(tx, &stored, ruling, by).await {
        Ok(ItemOutcome::Approved) => Ok(BatchReplyItem {
            resolved_by: Some(by.subject.clone()),
            ..entry(ruling, ItemOutcome::Approved, Some(Status::Approved), None)
        }),
        Ok(outcome) => Ok(BatchReplyItem {
            resolved_by: Some(by.subject.clone()),
            ..entry(ruling, outcome, Some(Status::Rejected), None)
        }),
        Err(StoreError::Refused(Refused::State { status, by, .. })) => {
            Ok(BatchReplyItem { resolved_by: by, ..entry(ruling, ItemOutcome::Skipped, Some(status), None) })
        }
        Err(StoreError::Refused(refused @ Refused::Changed(_))) => {
            Ok(entry(ruling, ItemOutcome::Changed, pending, Some(refused.to_string())))
        }
        Err(StoreError::Refused(refused)) => {
            Ok(entry(ruling, ItemOutcome::Invalid, pending, Some(refused.to_string())))
        }
        Err(failed) => Err(failed),
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
        message,
    }
}
