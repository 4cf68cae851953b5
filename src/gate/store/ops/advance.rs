//! Changes the status of an action by compare-and-set on its revision. No other code does.

use serde_json::{Value, json};

use super::audit::{Note, bump, note};
use super::callbacks;
use super::tx::{Counted, Tx, Written};
use crate::contract::absent::without_nulls;
use crate::contract::time;
use crate::domain::{Digest, Flow, RawJson, Row, StatusStep, Timestamp, Untrusted, Via};
use crate::fault;
use crate::gate::audit;
use crate::gate::store::KeptApproval;
use crate::gate::store::{Origin, Refused, StoreError, Stored, decision_rules};

/// Details of a step. `None` leaves a column unchanged, except lease and error, which belong to one run.
#[derive(Debug, Default)]
pub(super) struct Change<'a> {
    pub(super) by: Option<&'a str>,
    pub(super) via: Option<Via>,
    pub(super) reason: Option<&'a str>,
    /// This step settles the action: its time and `by` are stored on the row.
    pub(super) settles: bool,
    pub(super) approved: Option<(Digest, Digest)>,
    pub(super) approvers: Option<Approvers<'a>>,
    /// End of the lease and its holder, for a run under a new fence.
    pub(super) lease: Option<(Timestamp, Option<&'a str>)>,
    /// Earliest time for the gate's next run. Stored in the column of a running action's lease.
    pub(super) not_before: Option<Timestamp>,
    pub(super) ran: bool,
    /// A person reported the outcome, not an executor.
    pub(super) by_hand: bool,
    pub(super) error: Option<&'a str>,
    pub(super) payloads: Payloads<'a>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Approvers<'a> {
    pub(super) all: &'a [KeptApproval],
    pub(super) policy: Digest,
}

#[derive(Debug, Default)]
pub(super) struct Payloads<'a> {
    pub(super) edited: Option<&'a (RawJson, RawJson)>,
    pub(super) result: Option<&'a RawJson>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct StepRow<'a> {
    pub(super) seq: i64,
    pub(super) row: &'a Row,
    pub(super) origin: &'a Origin,
}

impl<'a> From<&'a Stored> for StepRow<'a> {
    fn from(stored: &'a Stored) -> Self {
        Self { seq: stored.seq, row: &stored.action.row, origin: &stored.origin }
    }
}

/// Loads an action. The caller has locked its workspace; an unknown id is refused.
pub(super) async fn load(tx: &mut dyn Tx, id: &str) -> Result<Stored, StoreError> {
    Ok(tx.load(id).await?.ok_or(Refused::Missing)?)
}

/// Takes `step` if the row is unchanged since it was read. Returns the new revision.
pub(super) async fn advance(
    tx: &mut dyn Tx,
    place: StepRow<'_>,
    step: StatusStep,
    change: Change<'_>,
) -> Result<u64, StoreError> {
    let StepRow { seq, row, origin } = place;
    let from = &row.status;
    let to = from.after(step).map_err(|_| decision_rules::settled(row))?;
    let workspace = row.workspace.as_ref().map_or("", Untrusted::as_raw);
    let revision = bump(tx, workspace, if from.is_pending() { -1 } else { 0 })?;
    let now = tx.state().now;
    let written = Written {
        status: to.clone(),
        revision,
        resolved_at: change.settles.then_some(now),
        resolved_by: change.by.filter(|_| change.settles),
        resolved_via: change.via,
        reason: change.reason.filter(|_| change.settles),
        approved: change.approved,
        is_taken: change.lease.is_some(),
        lease_until: lease_until(&change),
        lease_by: change.lease.and_then(|(_, by)| by),
        error: change.error,
        executed_at: change.ran.then_some(now),
    };
    if !tx.compare_and_set(seq, row.revision.0, &written).await? {
        return Err(decision_rules::settled(row).into());
    }
    if from.is_pending() {
        tx.count_out(seq).await?;
    } else {
        tx.count_state(workspace, from, -1).await?;
    }
    if !to.is_pending() {
        tx.count_state(workspace, &to, 1).await?;
    }
    if let Some((edits, merged)) = change.payloads.edited {
        tx.put_edits(seq, edits, merged).await?;
    }
    if let Some(result) = change.payloads.result {
        tx.put_result(seq, result).await?;
    }
    let decided = row.resolved_by.as_ref().map(Untrusted::as_raw);
    let who = if change.settles { change.by } else { decided };
    callbacks::keep(tx, (row, origin), (step, &to), revision, who).await?;
    fault::point("row.written");
    let kind = if change.by_hand { "settled" } else { kind(step) };
    let line = Note { action: Some(row.id.as_raw()), kind, who: change.by };
    let counted = counts_as(step, is_edited(row, &change)).map(|flow| counted(row, flow));
    note(tx, workspace, line, &details(to.as_raw(), &change), counted).await?;
    if matches!(step, StatusStep::Approve | StatusStep::Requeue) {
        tx.state().wakes.approved = true;
    }
    Ok(revision)
}

fn is_edited(row: &Row, change: &Change<'_>) -> bool {
    change.approved.is_some_and(|(digest, _)| Some(digest) != row.digest)
}

fn counted(row: &Row, flow: Flow) -> Counted<'_> {
    Counted { agent: row.agent.as_ref().map_or("", Untrusted::as_raw), tool: row.tool.as_raw(), flow }
}

/// Returns the counts for a step. A repeated run was counted as approved before; dispatches are not counted.
fn counts_as(step: StatusStep, edited: bool) -> Option<Flow> {
    let flow = Flow::default();
    match step {
        StatusStep::Approve => Some(Flow { approved: 1, edited: u64::from(edited), ..flow }),
        StatusStep::Reject => Some(Flow { rejected: 1, ..flow }),
        StatusStep::Expire | StatusStep::Withdraw | StatusStep::Supersede => Some(Flow { left: 1, ..flow }),
        StatusStep::Succeed => Some(Flow { executed: 1, ..flow }),
        StatusStep::Fail => Some(Flow { failed: 1, ..flow }),
        StatusStep::LoseSight => Some(Flow { unknown: 1, ..flow }),
        StatusStep::Lapse | StatusStep::Dispatch | StatusStep::Requeue => None,
    }
}

fn lease_until(change: &Change<'_>) -> Option<Timestamp> {
    change.lease.map(|(until, _)| until).or(change.not_before)
}

fn details(status: &str, change: &Change<'_>) -> Value {
    without_nulls(json!({
        "status": status,
        "reason": change.reason,
        "via": change.via.map(Via::word),
        "effectiveDigest": change.approved.map(|(digest, _)| digest.to_string()),
        "terms": change.approved.map(|(_, terms)| terms.to_string()),
        "policy": change.approvers.map(|it| it.policy.to_string()),
        "approvers": change.approvers.map(|it| it.all.iter().map(|one| one.subject.as_str()).collect::<Vec<_>>()),
        "edits": change.payloads.edited.map(|(edits, _)| audit::fingerprint(edits)),
        "leaseUntil": lease_until(change).map(time::write),
        "result": change.payloads.result.map(audit::fingerprint),
        "error": change.error,
    }))
}

const fn kind(step: StatusStep) -> &'static str {
    match step {
        StatusStep::Approve => "approved",
        StatusStep::Reject => "rejected",
        StatusStep::Expire => "expired",
        StatusStep::Lapse => "lapsed",
        StatusStep::Withdraw => "withdrawn",
        StatusStep::Supersede => "superseded",
        StatusStep::Dispatch => "dispatched",
        StatusStep::Succeed => "executed",
        StatusStep::Fail => "failed",
        StatusStep::LoseSight => "lost",
        StatusStep::Requeue => "requeued",
    }
}
