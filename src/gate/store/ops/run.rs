//! Dispatches and finishes approved actions: leases, fences, results, and lost runs.

use serde_json::Value;

use super::advance::{Change, Payloads, StepRow, advance, load};
use super::lapse;
use super::replies::{keep, kept};
use super::tx::{Answer, Tx, lock};
use crate::domain::subject::is_same_subject;
use crate::domain::{RawJson, Row, Status, StatusStep, Timestamp, Untrusted};
use crate::gate::store::rows::integer;
use crate::gate::store::{
    Actor, Dispatched, Finished, Keyed, Lease, RAN_OTHER, Refused, StoreError, Stored, Work, decision_rules,
};

/// Maximum number of lost runs per approval. Then a person is asked, even if the tool is safe to repeat.
const ATTEMPTS: u64 = 5;
/// Prefix of the error if the last attempt failed after an earlier one was lost.
const EARLIER: &str = "an earlier run was lost";
/// Pause after a lost run, multiplied by the attempts so far.
const PAUSE_MILLIS: i64 = 2_000;

/// Expiry is not checked: only pending actions expire.
pub(super) async fn dispatch(
    tx: &mut dyn Tx,
    id: &str,
    lease: &Lease,
    key: Option<&Keyed>,
) -> Result<Dispatched, StoreError> {
    let stored = load_locked(tx, id, lease.by.as_ref()).await?;
    if let Some(by) = &lease.by {
        if let Some(again) = claimed_before(tx, &stored, by, key).await? {
            return Ok(Dispatched::Run(again));
        }
        lapse::refuse(tx, &stored)?;
    }
    let workspace = stored.action.row.workspace.as_ref().map_or("", Untrusted::as_raw);
    // The workspace is locked, so an acknowledged pause is seen here.
    if tx.paused_since(workspace).await?.is_some() {
        return Err(Refused::Paused.into());
    }
    if stored.action.row.status == Status::Approved {
        is_as_audited(tx, &stored.action.row).await?;
    }
    let by = lease.by.as_ref().map(|by| by.subject.as_str());
    let until = tx.state().now.plus_millis(lease.millis);
    // The error of an earlier lost run stays on the row until this one ends.
    let error = stored.action.error.as_ref().map(Untrusted::as_raw);
    let change = Change { by, lease: Some((until, by)), error, ..Change::default() };
    advance(tx, (&stored).into(), StatusStep::Dispatch, change).await?;
    if let Some(why) = decision_rules::not_as_approved(&stored, &tx.state().tools) {
        let stored = load(tx, id).await?;
        fail(tx, &stored, why, Change { ran: true, ..Change::default() }).await?;
        return Ok(Dispatched::NotAsApproved(why));
    }
    let work = work(&stored, stored.fence.saturating_add(1), until);
    if let Some(by) = &lease.by {
        keep(tx, by, key, Answer::Body(&work.fence.to_string())).await?;
    }
    Ok(Dispatched::Run(work))
}

/// Refuses to run an action whose row was changed directly in the database: the newest audit row must have left it in the
/// row's status.
pub(super) async fn is_as_audited(tx: &mut dyn Tx, row: &Row) -> Result<(), StoreError> {
    let details = tx.newest_details(row.id.as_raw()).await?.unwrap_or_default();
    let details: Value = serde_json::from_str(&details).unwrap_or_default();
    // A change that leaves the action pending is audited without a status.
    let audited = details.get("status").and_then(Value::as_str).unwrap_or("pending");
    if audited == row.status.as_raw() { Ok(()) } else { Err(Refused::Tampered(audited.to_owned()).into()) }
}

/// Locks the workspace and loads the action. An agent `by` must be of that workspace; the gate itself runs all of them.
async fn load_locked(tx: &mut dyn Tx, id: &str, by: Option<&Actor>) -> Result<Stored, StoreError> {
    let workspace = match by {
        Some(by) => by.workspace.clone(),
        None => tx.workspace_of(id).await?.ok_or(Refused::Missing)?,
    };
    lock(tx, &workspace).await?;
    let stored = load(tx, id).await?;
    by.map_or(Ok(()), |by| decision_rules::within(&stored, by))?;
    Ok(stored)
}

/// Returns the same work again for a repeated claim, while its lease holds.
async fn claimed_before(
    tx: &mut dyn Tx,
    stored: &Stored,
    by: &Actor,
    key: Option<&Keyed>,
) -> Result<Option<Work>, StoreError> {
    let Some(fence) = kept(tx, by, key).await? else { return Ok(None) };
    let holds = stored.action.row.status == Status::Running && fence == stored.fence.to_string();
    match stored.lease_end().filter(|_| holds) {
        Some(until) => Ok(Some(work(stored, stored.fence, until))),
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
        traceparent: stored.origin.traceparent.clone(),
    }
}

/// Extends a lease for its holder; it never becomes shorter. The action does not change, so there is no new revision.
pub(super) async fn renew(
    tx: &mut dyn Tx,
    id: &str,
    fence: u64,
    lease: &Lease,
) -> Result<Timestamp, StoreError> {
    let stored = load_locked(tx, id, lease.by.as_ref()).await?;
    let holder = lease.by.as_ref().map(|by| by.subject.as_str());
    let holds = stored.action.row.status == Status::Running
        && stored.fence == fence
        && is_same_holder(stored.lease_by.as_deref(), holder);
    if !holds {
        return Err(Refused::StaleFence.into());
    }
    let until = tx.state().now.plus_millis(lease.millis);
    let until = stored.lease_end().map_or(until, |end| end.max(until));
    tx.put_renewal(stored.seq, until).await?;
    Ok(until)
}

pub(super) async fn finish(
    tx: &mut dyn Tx,
    id: &str,
    fence: u64,
    by: Option<&Actor>,
    how: &Finished,
) -> Result<Stored, StoreError> {
    let stored = load_locked(tx, id, by).await?;
    let holder = by.map(|by| by.subject.as_str());
    if stored.fence == fence && said_before(&stored, how) && was_held_by(tx, id, holder).await? {
        return Ok(stored);
    }
    let holds = match stored.action.row.status {
        Status::Running => is_same_holder(stored.lease_by.as_deref(), holder),
        // The lease ended, but there was no run since: its holder may still report.
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
        Finished::Failed(error) => fail(tx, &stored, error, change).await?,
        Finished::RanOther(ran) => {
            let payloads = Payloads { edited: None, result: Some(ran) };
            let change = Change { error: Some(RAN_OTHER), payloads, ..change };
            advance(tx, (&stored).into(), StatusStep::Fail, change).await?;
        }
        Finished::Lost(error) => {
            let change = Change { error: Some(error), ran: false, ..change };
            advance(tx, (&stored).into(), StatusStep::LoseSight, change).await?;
        }
        Finished::Again(error) => {
            let pause = PAUSE_MILLIS.saturating_mul(integer(stored.fence));
            let not_before = Some(tx.state().now.plus_millis(pause));
            let change = Change { error: Some(error), ran: false, not_before, ..change };
            again(tx, (&stored).into(), stored.fence, change).await?;
        }
    }
    load(tx, id).await
}

/// Records a run that did not do its work: as `failed`, or as `unknown` if an earlier run was lost, because that one
/// may have done it.
async fn fail(tx: &mut dyn Tx, stored: &Stored, error: &str, change: Change<'_>) -> Result<(), StoreError> {
    if stored.action.row.status == Status::Running && stored.action.error.is_some() {
        let error = after_lost(error);
        let change = Change { error: Some(&error), ran: false, ..change };
        advance(tx, stored.into(), StatusStep::LoseSight, change).await?;
    } else {
        advance(tx, stored.into(), StatusStep::Fail, Change { error: Some(error), ..change }).await?;
    }
    Ok(())
}

fn after_lost(error: &str) -> String {
    format!("{EARLIER}; the next one did not do the work: {error}")
}

fn said_before(stored: &Stored, how: &Finished) -> bool {
    let action = &stored.action;
    match (how, &action.row.status) {
        (Finished::Executed(result), Status::Executed) | (Finished::RanOther(result), Status::Failed) => {
            action.result.as_ref() == Some(result)
        }
        (Finished::Failed(error), Status::Failed) => {
            action.error.as_ref().map(Untrusted::as_raw) == Some(error.as_str())
        }
        (Finished::Failed(error), Status::Unknown) => {
            action.error.as_ref().map(Untrusted::as_raw) == Some(after_lost(error).as_str())
        }
        _ => false,
    }
}

/// Returns true if `holder` took the newest lease. `None` is the gate itself.
async fn was_held_by(tx: &mut dyn Tx, id: &str, holder: Option<&str>) -> Result<bool, StoreError> {
    let found = tx.newest_holder(id).await?;
    Ok(is_same_holder(found.as_deref(), holder))
}

fn is_same_holder(one: Option<&str>, other: Option<&str>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => is_same_subject(one, other),
        (one, other) => one == other,
    }
}

/// Runs an action of a safe tool again after a lost run, up to [`ATTEMPTS`] times.
pub(super) async fn again(
    tx: &mut dyn Tx,
    place: StepRow<'_>,
    fence: u64,
    change: Change<'_>,
) -> Result<(), StoreError> {
    if fence < ATTEMPTS {
        is_as_audited(tx, place.row).await?;
        advance(tx, place, StatusStep::Requeue, change).await?;
    } else {
        advance(tx, place, StatusStep::LoseSight, Change { not_before: None, ..change }).await?;
    }
    Ok(())
}
