//! Dispatches and finishes approved actions: leases, fences, results, and runs that were lost.

use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Row as _};

use super::advance::{Change, Payloads, StepRow, advance, load};
use super::lapse::SWEEP;
use super::replies::{Answer, keep, kept};
use super::row;
use super::writer::Tx;
use super::{lapse, pause};
use crate::domain::{RawJson, Row, Status, StatusStep, Timestamp, Untrusted};
use crate::gate::store::{
    Actor, Dispatched, Finished, Keyed, Lease, Refused, StoreError, Stored, Work, decision_rules,
};
use crate::gate::which::Which;

const LOST: &str = "the executor was lost in mid-run; nobody knows whether the write landed";

/// So many runs of one approval may be lost; then a human is asked, whatever the tool says of itself.
const ATTEMPTS: u64 = 5;
/// How long a lost run is left alone before the next attempt, times the attempts so far.
const PAUSE_MILLIS: i64 = 2_000;

/// Takes an approved action under a lease with a new fence.
///
/// Its expiry is not asked again: only what is pending expires, and an approval given in time stands.
pub(super) async fn dispatch(
    tx: &mut Tx,
    id: &str,
    lease: &Lease,
    key: Option<&Keyed>,
) -> Result<Dispatched, StoreError> {
    let stored = load(tx, id).await?;
    if let Some(by) = &lease.by {
        decision_rules::within(&stored, by)?;
        if let Some(again) = claimed_before(tx, &stored, by, key).await? {
            return Ok(Dispatched::Run(again));
        }
        lapse::refuse(tx, &stored).await?;
    }
    let workspace = stored.action.row.workspace.as_ref().map_or("", Untrusted::as_raw);
    if pause::since(tx.conn(), workspace).await?.is_some() {
        return Err(Refused::Paused.into());
    }
    let by = lease.by.as_ref().map(|by| by.subject.as_str());
    let until = tx.now.plus_millis(lease.millis);
    let change = Change { by, lease: Some((until.as_millis(), by)), ..Change::default() };
    advance(tx, (&stored).into(), StatusStep::Dispatch, change).await?;
    let predates_terms = predates_terms(tx, &stored).await?;
    if let Some(why) = decision_rules::not_as_approved(&stored, &tx.tools, predates_terms) {
        let stored = load(tx, id).await?;
        let change = Change { error: Some(why), ran: true, ..Change::default() };
        advance(tx, (&stored).into(), StatusStep::Fail, change).await?;
        return Ok(Dispatched::NotAsApproved(why));
    }
    let work = work(&stored, stored.fence.saturating_add(1), until);
    if let Some(by) = &lease.by {
        keep(tx, by, key, Answer::Body(&work.fence.to_string())).await?;
    }
    Ok(Dispatched::Run(work))
}

/// Is its approval from before there were terms? The audit says so, which has no hash for a row from then; what stands in the row
/// of the action anybody could have written there later.
async fn predates_terms(tx: &mut Tx, stored: &Stored) -> Result<bool, StoreError> {
    if stored.approved_terms.as_deref() != Some(decision_rules::UNBOUND) {
        return Ok(false);
    }
    let row = &stored.action.row;
    let found = sqlx::query_scalar(
        "SELECT EXISTS (SELECT 1 FROM audit WHERE workspace = ?1 AND revision = ?2 AND action = ?3 \
         AND kind = 'approved' AND hash IS NULL)",
    )
    .bind(row.workspace.as_ref().map_or("", Untrusted::as_raw))
    .bind(stored.decision_revision.map(row::integer))
    .bind(row.id.as_raw());
    Ok(found.fetch_one(tx.conn()).await?)
}

/// The answer to this very claim was lost: the same work again, while its lease holds.
async fn claimed_before(
    tx: &mut Tx,
    stored: &Stored,
    by: &Actor,
    key: Option<&Keyed>,
) -> Result<Option<Work>, StoreError> {
    let Some(fence) = kept(tx, by, key).await? else { return Ok(None) };
    let until: Option<i64> =
        sqlx::query_scalar("SELECT MAX(lease_until, COALESCE(renewed_until, 0)) FROM actions WHERE seq = ?1")
            .bind(stored.seq)
            .fetch_one(tx.conn())
            .await?;
    let holds = stored.action.row.status == Status::Running && fence == stored.fence.to_string();
    match until.filter(|_| holds) {
        Some(until) => Ok(Some(work(stored, stored.fence, Timestamp::from_millis(until)))),
        None => Err(Refused::StaleFence.into()),
    }
}

fn work(stored: &Stored, fence: u64, lease_until: Timestamp) -> Work {
    let action = &stored.action;
    let input: &RawJson = action.effective_input.as_ref().unwrap_or(&action.input);
    Work {
        id: action.row.id.as_raw().to_owned(),
        tool: action.row.tool.as_raw().to_owned(),
        input: input.clone(),
        fence,
        key: format!("{}:{}", action.row.id.as_raw(), stored.decision_revision.unwrap_or_default()),
        lease_until,
    }
}

/// Extends a lease from now on, for whoever holds it; it never becomes shorter. Nothing about the action changes, so there is no new
/// revision.
pub(super) async fn renew(tx: &mut Tx, id: &str, fence: u64, lease: &Lease) -> Result<Timestamp, StoreError> {
    let stored = load(tx, id).await?;
    if let Some(by) = &lease.by {
        decision_rules::within(&stored, by)?;
    }
    let holder = lease.by.as_ref().map(|by| by.subject.as_str());
    let holds = stored.action.row.status == Status::Running
        && stored.fence == fence
        && is_same_holder(stored.lease_by.as_deref(), holder);
    if !holds {
        return Err(Refused::StaleFence.into());
    }
    let until = tx.now.plus_millis(lease.millis).as_millis();
    let renewed = sqlx::query_scalar(
        "UPDATE actions SET renewed_until = MAX(lease_until, COALESCE(renewed_until, 0), ?1) WHERE seq = ?2 \
         RETURNING renewed_until",
    );
    let until: i64 = renewed.bind(until).bind(stored.seq).fetch_one(tx.conn()).await?;
    Ok(Timestamp::from_millis(until))
}

/// Ends a run, if it is still the newest one and whoever says so holds its lease.
pub(super) async fn finish(
    tx: &mut Tx,
    id: &str,
    fence: u64,
    by: Option<&Actor>,
    how: &Finished,
) -> Result<Stored, StoreError> {
    let stored = load(tx, id).await?;
    if let Some(by) = by {
        decision_rules::within(&stored, by)?;
    }
    let holder = by.map(|by| by.subject.as_str());
    if stored.fence == fence && said_before(&stored, how) && was_held_by(tx, id, holder).await? {
        return Ok(stored);
    }
    let holds = match stored.action.row.status {
        Status::Running => is_same_holder(stored.lease_by.as_deref(), holder),
        // The lease is over, but nothing ran since: who had it still knows best.
        Status::Unknown => was_held_by(tx, id, holder).await?,
        _ => true,
    };
    if stored.fence != fence || !holds {
        return Err(Refused::StaleFence.into());
    }
    let change = Change { by: holder, ran: true, ..Change::default() };
    match how {
        Finished::Executed(result) => {
            let payloads = Payloads { edited: None, result: Some(result) };
            advance(tx, (&stored).into(), StatusStep::Succeed, Change { payloads, ..change }).await?;
        }
        Finished::Failed(error) => {
            advance(tx, (&stored).into(), StatusStep::Fail, Change { error: Some(error), ..change }).await?;
        }
        Finished::Lost(error) => {
            let change = Change { error: Some(error), ran: false, ..change };
            advance(tx, (&stored).into(), StatusStep::LoseSight, change).await?;
        }
        Finished::Again(error) => {
            let pause = PAUSE_MILLIS.saturating_mul(row::integer(stored.fence));
            let not_before = Some(tx.now.plus_millis(pause).as_millis());
            let change = Change { error: Some(error), ran: false, not_before, ..change };
            again(tx, (&stored).into(), stored.fence, change).await?;
        }
    }
    load(tx, id).await
}

/// The answer to this very report was lost, and it comes again.
fn said_before(stored: &Stored, how: &Finished) -> bool {
    let action = &stored.action;
    match (how, &action.row.status) {
        (Finished::Executed(result), Status::Executed) => action.result.as_ref() == Some(result),
        (Finished::Failed(error), Status::Failed) => {
            action.error.as_ref().map(Untrusted::as_raw) == Some(error.as_str())
        }
        _ => false,
    }
}

/// Did they take the newest lease? `None` is the gate itself.
async fn was_held_by(tx: &mut Tx, id: &str, holder: Option<&str>) -> Result<bool, StoreError> {
    let dispatched =
        "SELECT who FROM audit WHERE action = ?1 AND kind = 'dispatched' ORDER BY revision DESC LIMIT 1";
    let found: Option<Option<String>> =
        sqlx::query_scalar(dispatched).bind(id).fetch_optional(tx.conn()).await?;
    Ok(is_same_holder(found.flatten().as_deref(), holder))
}

fn is_same_holder(one: Option<&str>, other: Option<&str>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => decision_rules::is_same_subject(one, other),
        (one, other) => one == other,
    }
}

/// A run of a tool that may be run twice was lost: once more, unless that was tried often enough.
async fn again(tx: &mut Tx, place: StepRow<'_>, fence: u64, change: Change<'_>) -> Result<(), StoreError> {
    if fence < ATTEMPTS {
        advance(tx, place, StatusStep::Requeue, change).await?;
    } else {
        advance(tx, place, StatusStep::LoseSight, Change { not_before: None, ..change }).await?;
    }
    Ok(())
}

/// Pending actions past their time.
pub(super) async fn expire(tx: &mut Tx) -> Result<u64, StoreError> {
    let now = tx.now.as_millis();
    let mut query = QueryBuilder::new(row::LIGHT);
    query
        .push(" WHERE a.status = 'pending' AND a.expires_at IS NOT NULL AND a.expires_at <= ")
        .push_bind(now);
    query.push(" ORDER BY a.expires_at LIMIT ").push_bind(SWEEP);
    let due = query.build().fetch_all(tx.conn()).await?;
    let mut expired = 0;
    for Swept { seq, row, .. } in due.iter().filter_map(readable) {
        let change = Change { settles: true, ..Change::default() };
        advance(tx, StepRow { seq, row: &row }, StatusStep::Expire, change).await?;
        expired += 1;
    }
    Ok(expired)
}

/// Running actions whose lease ran out, but those of which a run still goes on.
pub(super) async fn recover(tx: &mut Tx, safe: &Which, going_on: &[String]) -> Result<u64, StoreError> {
    let now = tx.now.as_millis();
    let mut query = QueryBuilder::new(row::LIGHT);
    query.push(" WHERE a.status = 'running' AND a.lease_until <= ").push_bind(now);
    query.push(" AND COALESCE(a.renewed_until, 0) <= ").push_bind(now);
    if !going_on.is_empty() {
        query.push(" AND a.id NOT IN (");
        let mut ids = query.separated(", ");
        for id in going_on {
            ids.push_bind(id);
        }
        query.push(")");
    }
    query.push(" ORDER BY a.lease_until LIMIT ").push_bind(SWEEP);
    let lost = query.build().fetch_all(tx.conn()).await?;
    let mut recovered = 0;
    for Swept { seq, row, fence } in lost.iter().filter_map(readable) {
        let (place, tool) = (StepRow { seq, row: &row }, row.tool.as_raw());
        let change = Change { error: Some(LOST), ..Change::default() };
        if safe.has(tool) {
            again(tx, place, fence, change).await?;
        } else {
            advance(tx, place, StatusStep::LoseSight, change).await?;
        }
        recovered += 1;
    }
    Ok(recovered)
}

/// What a sweep reads of an action: hundreds at once, so nothing heavy.
struct Swept {
    seq: i64,
    row: Row,
    fence: u64,
}

/// A damaged row must not keep the others from being swept.
fn readable(found: &SqliteRow) -> Option<Swept> {
    let swept = || {
        let fence = row::number(found.try_get("fence")?);
        Ok::<_, StoreError>(Swept { seq: found.try_get("seq")?, row: row::light(found)?, fence })
    };
    swept().inspect_err(|error| tracing::error!(%error, "a row cannot be swept")).ok()
}
