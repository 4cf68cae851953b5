//! The one place where a row changes status, and the head row that numbers every change.

use sqlx::QueryBuilder;

use super::row::{self, integer, number};
use super::writer::Tx;
use crate::domain::{Digest, RawJson, Row, StatusStep, Untrusted};
use crate::gate::store::{Refused, StoreError, Stored, judge};

/// What goes with a step. What is `None` stays as it was, but for the lease and the error, which belong to one run.
#[derive(Debug, Default)]
pub(super) struct Change<'a> {
    /// Who did it, for the timeline.
    pub(super) by: Option<&'a str>,
    pub(super) reason: Option<&'a str>,
    /// Settled by this step: the moment and `by` are kept on the row.
    pub(super) settles: bool,
    /// What was approved; makes this step's revision the decision's.
    pub(super) approved: Option<Digest>,
    /// Moment until which, and subject by whom, the action is run under a new fence.
    pub(super) lease: Option<(i64, Option<&'a str>)>,
    /// Moment before which the gate does not run it again. It stands where the lease of a running action stands.
    pub(super) not_before: Option<i64>,
    /// The run is over.
    pub(super) ran: bool,
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
pub(super) struct Place<'a> {
    pub(super) seq: i64,
    pub(super) row: &'a Row,
}

impl<'a> From<&'a Stored> for Place<'a> {
    fn from(stored: &'a Stored) -> Self {
        Self { seq: stored.seq, row: &stored.action.row }
    }
}

/// The action with this id.
pub(super) async fn load(tx: &mut Tx, id: &str) -> Result<Stored, StoreError> {
    let mut query = QueryBuilder::new(row::WHOLE);
    query.push(" WHERE a.id = ").push_bind(id);
    let found = query.build().fetch_optional(tx.conn()).await?;
    row::stored(&found.ok_or(Refused::Missing)?)
}

/// Takes `step`, by compare-and-set on the status that was read. Returns the new revision.
pub(super) async fn advance(
    tx: &mut Tx,
    place: Place<'_>,
    step: StatusStep,
    change: Change<'_>,
) -> Result<u64, StoreError> {
    let Place { seq, row } = place;
    let from = &row.status;
    let to = from.after(step).map_err(|_| judge::settled(row))?;
    let workspace = row.workspace.as_ref().map_or("", Untrusted::as_raw);
    let revision = bump(tx, workspace, if from.is_pending() { -1 } else { 0 }).await?.revision;
    let now = tx.now.as_millis();
    let changed = sqlx::query(
        "UPDATE actions SET status = ?1, revision = ?2, resolved_at = COALESCE(?3, resolved_at), \
         resolved_by = COALESCE(?4, resolved_by), reason = COALESCE(?5, reason), \
         effective_digest = COALESCE(?6, effective_digest), \
         decision_revision = COALESCE(?7, decision_revision), fence = fence + ?8, lease_until = ?9, \
         lease_by = ?10, error = ?11, executed_at = COALESCE(?12, executed_at) WHERE seq = ?13 AND status = ?14",
    )
    .bind(to.as_raw())
    .bind(integer(revision))
    .bind(change.settles.then_some(now))
    .bind(change.by.filter(|_| change.settles))
    .bind(change.reason)
    .bind(change.approved.map(|digest| digest.to_string()))
    .bind(change.approved.map(|_| integer(revision)))
    .bind(i64::from(change.lease.is_some()))
    .bind(change.lease.map(|(until, _)| until).or(change.not_before))
    .bind(change.lease.and_then(|(_, by)| by))
    .bind(change.error)
    .bind(change.ran.then_some(now))
    .bind(seq)
    .bind(from.as_raw())
    .execute(tx.conn())
    .await?;
    if changed.rows_affected() != 1 {
        return Err(judge::settled(row).into());
    }
    keep_payloads(tx, seq, &change.payloads).await?;
    note(tx, row.id.as_raw(), (workspace, revision), kind(step), change.by).await?;
    if matches!(step, StatusStep::Approve | StatusStep::Requeue) {
        tx.wants_run();
    }
    Ok(revision)
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

/// A workspace's head after a bump.
#[derive(Debug, Clone, Copy)]
pub(super) struct Head {
    pub(super) revision: u64,
    pub(super) pending: u64,
}

/// Takes the workspace's next revision.
pub(super) async fn bump(tx: &mut Tx, workspace: &str, pending: i64) -> Result<Head, StoreError> {
    let (revision, pending): (i64, i64) = sqlx::query_as(
        "INSERT INTO heads (workspace, revision, pending) VALUES (?1, 1, ?2) ON CONFLICT (workspace) DO UPDATE \
         SET revision = revision + 1, pending = pending + excluded.pending RETURNING revision, pending",
    )
    .bind(workspace)
    .bind(pending)
    .fetch_one(tx.conn())
    .await?;
    tx.touch(workspace, number(revision));
    Ok(Head { revision: number(revision), pending: number(pending) })
}

/// Writes a line of the action's timeline.
pub(super) async fn note(
    tx: &mut Tx,
    action: &str,
    (workspace, revision): (&str, u64),
    kind: &'static str,
    by: Option<&str>,
) -> Result<(), StoreError> {
    let now = tx.now.as_millis();
    sqlx::query(
        "INSERT INTO events (workspace, revision, action, kind, at, who) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )
    .bind(workspace)
    .bind(integer(revision))
    .bind(action)
    .bind(kind)
    .bind(now)
    .bind(by)
    .execute(tx.conn())
    .await?;
    Ok(())
}

/// The word in the timeline.
const fn kind(step: StatusStep) -> &'static str {
    match step {
        StatusStep::Approve => "approved",
        StatusStep::Reject => "rejected",
        StatusStep::Expire => "expired",
        StatusStep::Withdraw => "withdrawn",
        StatusStep::Supersede => "superseded",
        StatusStep::Dispatch => "dispatched",
        StatusStep::Succeed => "executed",
        StatusStep::Fail => "failed",
        StatusStep::LoseSight => "lost",
        StatusStep::Requeue => "requeued",
    }
}
