//! Changes the status of an action, by compare-and-set. Nothing else does.

use serde_json::{Value, json};
use sqlx::QueryBuilder;

use super::audit::{Note, bump, note};
use super::row::{self, integer};
use super::writer::Tx;
use crate::contract::absent::without_nulls;
use crate::contract::time;
use crate::domain::{Digest, RawJson, Row, StatusStep, Timestamp, Untrusted};
use crate::fault;
use crate::gate::audit;
use crate::gate::store::{Refused, StoreError, Stored, decision_rules};

/// What goes with a step. What is `None` stays as it was, but for the lease and the error, which belong to one run.
#[derive(Debug, Default)]
pub(super) struct Change<'a> {
    /// Who did it, for the timeline.
    pub(super) by: Option<&'a str>,
    pub(super) reason: Option<&'a str>,
    /// Settled by this step: the moment and `by` are kept on the row.
    pub(super) settles: bool,
    /// What was approved, and under which terms; makes this step's revision the decision's.
    pub(super) approved: Option<(Digest, Digest)>,
    /// Moment until which, and subject by whom, the action is run under a new fence.
    pub(super) lease: Option<(i64, Option<&'a str>)>,
    /// Moment before which the gate does not run it again. It stands where the lease of a running action stands.
    pub(super) not_before: Option<i64>,
    /// The run is over.
    pub(super) ran: bool,
    /// A human said so, and no executor.
    pub(super) by_hand: bool,
    pub(super) error: Option<&'a str>,
    pub(super) payloads: Payloads<'a>,
}

#[derive(Debug, Default)]
pub(super) struct Payloads<'a> {
    pub(super) edited: Option<&'a (RawJson, RawJson)>,
    pub(super) result: Option<&'a RawJson>,
}

/// The row that a step is taken on, as it was read.
#[derive(Debug, Clone, Copy)]
pub(super) struct StepRow<'a> {
    pub(super) seq: i64,
    pub(super) row: &'a Row,
}

impl<'a> From<&'a Stored> for StepRow<'a> {
    fn from(stored: &'a Stored) -> Self {
        Self { seq: stored.seq, row: &stored.action.row }
    }
}

/// The action with this id.
pub(super) async fn load(tx: &mut Tx, id: &str) -> Result<Stored, StoreError> {
    let mut query = QueryBuilder::new(row::WHOLE);
    query.push(" WHERE a.id = ").push_bind(id);
    let found = query.build().fetch_optional(tx.conn()).await?;
    row::stored(&found.ok_or(Refused::Missing)?, &tx.tools)
}

/// Takes `step`, by compare-and-set on the status that was read. Returns the new revision.
pub(super) async fn advance(
    tx: &mut Tx,
    place: StepRow<'_>,
    step: StatusStep,
    change: Change<'_>,
) -> Result<u64, StoreError> {
    let StepRow { seq, row } = place;
    let from = &row.status;
    let to = from.after(step).map_err(|_| decision_rules::settled(row))?;
    let workspace = row.workspace.as_ref().map_or("", Untrusted::as_raw);
    let head = bump(tx, workspace, if from.is_pending() { -1 } else { 0 }).await?;
    let now = tx.now.as_millis();
    let changed = sqlx::query(
        "UPDATE actions SET status = ?1, revision = ?2, resolved_at = COALESCE(?3, resolved_at), \
         resolved_by = COALESCE(?4, resolved_by), reason = COALESCE(?5, reason), \
         effective_digest = COALESCE(?6, effective_digest), approved_terms = COALESCE(?15, approved_terms), \
         decision_revision = COALESCE(?7, decision_revision), fence = fence + ?8, lease_until = ?9, \
         lease_by = ?10, renewed_until = NULL, error = ?11, executed_at = COALESCE(?12, executed_at) WHERE seq = ?13 AND status = ?14",
    )
    .bind(to.as_raw())
    .bind(integer(head.revision))
    .bind(change.settles.then_some(now))
    .bind(change.by.filter(|_| change.settles))
    .bind(change.reason.filter(|_| change.settles))
    .bind(change.approved.map(|(digest, _)| digest.to_string()))
    .bind(change.approved.map(|_| integer(head.revision)))
    .bind(i64::from(change.lease.is_some()))
    .bind(lease_until(&change))
    .bind(change.lease.and_then(|(_, by)| by))
    .bind(change.error)
    .bind(change.ran.then_some(now))
    .bind(seq)
    .bind(from.as_raw())
    .bind(change.approved.map(|(_, terms)| terms.to_string()))
    .execute(tx.conn())
    .await?;
    if changed.rows_affected() != 1 {
        return Err(decision_rules::settled(row).into());
    }
    keep_payloads(tx, seq, &change.payloads).await?;
    fault::point("row.written");
    let kind = if change.by_hand { "settled" } else { kind(step) };
    let line = Note { action: Some(row.id.as_raw()), kind, who: change.by };
    note(tx, &head, line, &details(to.as_raw(), &change)).await?;
    if matches!(step, StatusStep::Approve | StatusStep::Requeue) {
        tx.wants_run();
    }
    Ok(head.revision)
}

/// The end of the lease, or of the pause before the next run.
fn lease_until(change: &Change<'_>) -> Option<i64> {
    change.lease.map(|(until, _)| until).or(change.not_before)
}

/// What the audit keeps of a step; enough to find out whether the row still says the same.
fn details(status: &str, change: &Change<'_>) -> Value {
    without_nulls(json!({
        "status": status,
        "reason": change.reason,
        "effectiveDigest": change.approved.map(|(digest, _)| digest.to_string()),
        "terms": change.approved.map(|(_, terms)| terms.to_string()),
        "edits": change.payloads.edited.map(|(edits, _)| audit::fingerprint(edits)),
        "leaseUntil": lease_until(change).map(|until| time::write(Timestamp::from_millis(until))),
        "result": change.payloads.result.map(audit::fingerprint),
        "error": change.error,
    }))
}

async fn keep_payloads(tx: &mut Tx, seq: i64, payloads: &Payloads<'_>) -> Result<(), StoreError> {
    if let Some((edits, merged)) = payloads.edited {
        sqlx::query("UPDATE payloads SET user_edits = ?1, effective_input = ?2 WHERE seq = ?3")
            .bind(edits.as_str())
            .bind(merged.as_str())
            .bind(seq)
            .execute(tx.conn())
            .await?;
    }
    if let Some(result) = payloads.result {
        sqlx::query("UPDATE payloads SET result = ?1 WHERE seq = ?2")
            .bind(result.as_str())
            .bind(seq)
            .execute(tx.conn())
            .await?;
    }
    Ok(())
}

/// The word in the timeline.
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
