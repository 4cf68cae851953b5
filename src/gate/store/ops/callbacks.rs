//! Queues callbacks in the transaction of the change. They are sent after its commit.

use uuid::Uuid;

use super::tx::Tx;
use crate::domain::{Row, Status, StatusStep, Timestamp, Untrusted};
use crate::gate::store::{Callback, Delivery, Origin, StoreError};

/// Returns true for decisions and outcomes. Dispatches and repeated runs are not reported.
const fn is_told(step: StatusStep) -> bool {
    !matches!(step, StatusStep::Dispatch | StatusStep::Requeue)
}

/// Queues this step for the action's callback, if it has one. `who` decided.
pub(super) async fn keep(
    tx: &mut dyn Tx,
    (row, origin): (&Row, &Origin),
    (step, to): (StatusStep, &Status),
    revision: u64,
    who: Option<&str>,
) -> Result<(), StoreError> {
    let Some(name) = origin.callback.as_ref().filter(|_| is_told(step)) else { return Ok(()) };
    let at = tx.state().now;
    let callback = Callback {
        workspace: row.workspace.as_ref().map_or("", Untrusted::as_raw).to_owned(),
        revision,
        id: format!("msg_{}", Uuid::now_v7().simple()),
        name: name.clone(),
        action: row.id.as_raw().to_owned(),
        status: to.as_raw().to_owned(),
        who: who.map(str::to_owned),
        at,
        traceparent: origin.traceparent.clone(),
        tries: 0,
        next_at: Some(at),
        error: None,
        ended_at: None,
        held_until: None,
    };
    tx.put_callback(&callback).await?;
    tx.state().wakes.called = true;
    Ok(())
}

pub(super) async fn end(
    tx: &mut dyn Tx,
    callback: &Callback,
    how: &Delivery,
    now: Timestamp,
) -> Result<(), StoreError> {
    let (next_at, error, ended_at) = match how {
        Delivery::Arrived => (None, None, Some(now)),
        Delivery::Failed { why, pause, .. } => (Some(now.plus_millis(*pause)), Some(why.clone()), None),
        Delivery::Refused { why } => (None, Some(why.clone()), Some(now)),
    };
    let held_until = next_at.filter(|_| matches!(how, Delivery::Failed { held: true, .. }));
    tx.put_callback_end(&Callback { next_at, error, ended_at, held_until, ..callback.clone() }).await
}
