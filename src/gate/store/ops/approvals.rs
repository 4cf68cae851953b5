//! Approvals if several people must approve. Each is a row, with its own revision and audit row; the action stays
//! pending until the last.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::advance::{Approvers, Change, advance, load};
use super::audit::{Note, bump, note};
use super::claims;
use super::tx::{Tx, Written, lock};
use crate::contract::absent::without_nulls;
use crate::domain::subject::is_same_subject;
use crate::domain::{Status, StatusStep, Untrusted, Via};
use crate::gate::audit;
use crate::gate::store::approvals::{Approval, Counted, count};
use crate::gate::store::{
    Actor, Decided, KeptApproval, OpenApproval, Refused, StoreError, Stored, decision_rules,
};

/// Approves, or records one approval if more are needed. `change` is the step of an approval by one person.
pub(super) async fn approve(
    tx: &mut dyn Tx,
    stored: &Stored,
    approval: &Approval,
    by: &Actor,
    change: Change<'_>,
) -> Result<Decided, StoreError> {
    let row = &stored.action.row;
    let needed = tx.state().tools.approvals(row.tool.as_raw(), &row.risk);
    if needed <= 1 && stored.approvals.is_empty() {
        advance(tx, stored.into(), StatusStep::Approve, change).await?;
        return Ok(Decided::Approved);
    }
    let accepted = |given: usize| Decided::Accepted { given: given as u64, needed };
    match count(stored, approval, by, needed) {
        Counted::Again => Ok(accepted(stored.action.approvals.len())),
        Counted::Enough(mut all) => {
            let approvers = Approvers { all: &all, policy: approval.policy };
            let change = Change { approvers: Some(approvers), ..change };
            let revision = advance(tx, stored.into(), StatusStep::Approve, change).await?;
            put(tx, stored, &mut all, revision).await?;
            Ok(Decided::Approved)
        }
        Counted::More(mut all) => {
            let details = given_details(stored, approval, &all, (needed, &change));
            let revision = stay(tx, stored, Some(&by.subject), ("approval-given", &details)).await?;
            put(tx, stored, &mut all, revision).await?;
            // The action now waits for somebody else.
            let now = tx.state().now;
            claims::end_own(tx, row.id.as_raw(), by, now).await?;
            Ok(accepted(all.len()))
        }
    }
}

async fn put(
    tx: &mut dyn Tx,
    stored: &Stored,
    all: &mut [KeptApproval],
    revision: u64,
) -> Result<(), StoreError> {
    let at = tx.state().now;
    if let Some(last) = all.last_mut() {
        (last.revision, last.at) = (revision, at);
    }
    tx.put_approvals(stored.seq, all).await
}

fn given_details(
    stored: &Stored,
    approval: &Approval,
    all: &[KeptApproval],
    (needed, change): (u64, &Change<'_>),
) -> Value {
    let stands = |kept: &&KeptApproval| all.iter().any(|it| is_same_subject(&it.subject, &kept.subject));
    let voided: Vec<&str> =
        stored.approvals.iter().filter(|kept| !stands(kept)).map(|kept| kept.subject.as_str()).collect();
    without_nulls(json!({
        "status": Status::Pending.as_raw(),
        "reason": change.reason,
        "via": change.via.map(Via::word),
        "effectiveDigest": approval.digest.to_string(),
        "terms": approval.terms.to_string(),
        "policy": approval.policy.to_string(),
        "edits": approval.edited.as_ref().map(|(edits, _)| audit::fingerprint(edits)),
        "approvers": all.iter().map(|one| one.subject.as_str()).collect::<Vec<_>>(),
        "needed": needed,
        "voided": Some(voided).filter(|voided| !voided.is_empty()),
    }))
}

pub(super) async fn take_back(tx: &mut dyn Tx, id: &str, by: &Actor) -> Result<Stored, StoreError> {
    lock(tx, &by.workspace).await?;
    let stored = load(tx, id).await?;
    decision_rules::within(&stored, by)?;
    if !stored.action.row.status.is_pending() {
        return Err(decision_rules::settled(&stored.action.row).into());
    }
    let others = |kept: &&KeptApproval| !is_same_subject(&kept.subject, &by.subject);
    let left: Vec<KeptApproval> = stored.approvals.iter().filter(others).cloned().collect();
    if left.len() == stored.approvals.len() {
        return Err(Refused::NotApproved.into());
    }
    let approvers: Vec<&str> = left.iter().map(|one| one.subject.as_str()).collect();
    let details = json!({"status": Status::Pending.as_raw(), "approvers": approvers});
    stay(tx, &stored, Some(&by.subject), ("approval-taken-back", &details)).await?;
    tx.put_approvals(stored.seq, &left).await?;
    load(tx, id).await
}

/// Returns a person's approvals that have not run. `void` withdraws them: a pending action loses the approval, an
/// approved one that was never taken expires. One that was taken is only listed, because it may have run.
pub(super) async fn open(
    tx: &mut dyn Tx,
    by: &Actor,
    (void, who): (bool, Option<&str>),
) -> Result<Vec<OpenApproval>, StoreError> {
    let all = tx.open_approvals(&by.workspace).await?;
    let own = all.into_iter().filter(|(_, subject)| is_same_subject(subject, &by.subject));
    let ids: BTreeSet<String> = own.map(|(id, _)| id).collect();
    let mut open = Vec::with_capacity(ids.len());
    for id in ids {
        let stored = match load(tx, &id).await {
            // It cannot run either, and must not prevent the token from being revoked.
            Err(StoreError::Corrupt(what)) => {
                tracing::error!(id, what, "an approval cannot be read");
                continue;
            }
            loaded => loaded?,
        };
        let row = &stored.action.row;
        let is_voided = void && withdraw(tx, &stored, by, who).await?;
        let tool = row.tool.as_raw().to_owned();
        open.push(OpenApproval { id, tool, status: row.status.clone(), is_voided });
    }
    Ok(open)
}

async fn withdraw(
    tx: &mut dyn Tx,
    stored: &Stored,
    by: &Actor,
    who: Option<&str>,
) -> Result<bool, StoreError> {
    match stored.action.row.status {
        Status::Pending => {
            let is_own = |kept: &&KeptApproval| is_same_subject(&kept.subject, &by.subject);
            let (own, left): (Vec<_>, Vec<_>) = stored.approvals.iter().partition(is_own);
            let names = |some: &[&KeptApproval]| some.iter().map(|it| it.subject.clone()).collect::<Vec<_>>();
            let details = json!({
                "status": Status::Pending.as_raw(), "approvers": names(&left), "voided": names(&own),
            });
            stay(tx, stored, who, ("approval-voided", &details)).await?;
            let left: Vec<KeptApproval> = left.into_iter().cloned().collect();
            tx.put_approvals(stored.seq, &left).await?;
            Ok(true)
        }
        Status::Approved if stored.fence == 0 => {
            let change = Change { by: who, error: Some("approval withdrawn"), ..Change::default() };
            advance(tx, stored.into(), StatusStep::Lapse, change).await?;
            Ok(true)
        }
        _ => Ok(false),
    }
}

async fn stay(
    tx: &mut dyn Tx,
    stored: &Stored,
    who: Option<&str>,
    (kind, details): (&'static str, &Value),
) -> Result<u64, StoreError> {
    let row = &stored.action.row;
    let workspace = row.workspace.as_ref().map_or("", Untrusted::as_raw);
    let revision = bump(tx, workspace, 0)?;
    if !tx.compare_and_set(stored.seq, row.revision.0, &Written::pending(revision)).await? {
        return Err(decision_rules::settled(row).into());
    }
    let line = Note { action: Some(row.id.as_raw()), kind, who };
    note(tx, workspace, line, details, None).await?;
    Ok(revision)
}
