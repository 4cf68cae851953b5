//! What time and crashes leave behind: at start and every 5 seconds.
//!
//! Pending actions past their time expire. Runs whose lease ran out are run again or handed to a human. Approved actions
//! that never ran are found by the dispatcher, which is woken each time: committing and scheduling are two steps, and
//! a crash between them loses nothing.

use std::time::Duration;

use tokio::time::MissedTickBehavior;

use super::Gate;
use super::audit::{AuditHead, WHOLE_GATE};
use super::executor::restarting;
use super::store::StoreError;
use crate::fault;

const EVERY: Duration = Duration::from_secs(5);
/// Most rounds of one kind in one sweep.
const ROUNDS: usize = 100;
/// Answers under an `Idempotency-Key` are kept for a day.
const REPLIES_KEPT_MILLIS: i64 = 24 * 60 * 60 * 1_000;
/// How far back can be asked how actions came and went. Milliseconds.
pub(crate) const FLOWS_ASKED_MILLIS: i64 = 48 * 60 * 60 * 1_000;
/// Counted minutes are kept for an hour longer, so that none is dropped that somebody asks for just then.
const FLOWS_KEPT_MILLIS: i64 = FLOWS_ASKED_MILLIS + 60 * 60 * 1_000;

/// Sweeps until the gate stops, whatever happens: without it nothing expires and no lost run is ever found.
pub(crate) async fn run(gate: Gate) {
    restarting(&gate.inner.stopping, || sweeps(gate.clone())).await;
}

async fn sweeps(gate: Gate) {
    let mut heads = Vec::new();
    let mut timer = tokio::time::interval(EVERY);
    timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = gate.inner.stopping.cancelled() => return,
            _ = timer.tick() => {}
        }
        if let Err(error) = tell_of_others(&gate, &mut heads).await {
            tracing::warn!(%error, "cannot look for what other processes wrote");
        }
        if let Err(error) = sweep(&gate).await {
            // The next sweep tries again; until then nothing is lost, only late.
            tracing::warn!(%error, "a sweep failed");
        }
    }
}

/// A pause, a token or a settlement may come from another process, which wakes nobody here.
async fn tell_of_others(gate: &Gate, heads: &mut Vec<AuditHead>) -> Result<(), StoreError> {
    let now = gate.store().audit_heads(None).await?;
    for head in now.iter().filter(|head| !heads.contains(head)) {
        let (events, workspace) = (&gate.inner.events, head.workspace.as_str());
        if workspace == WHOLE_GATE || !events.told(workspace, head.revision) {
            events.publish(workspace, head.revision);
        }
    }
    *heads = now;
    Ok(())
}

/// One sweep. What it cannot do in so many rounds it leaves to the next.
pub(crate) async fn sweep(gate: &Gate) -> Result<(), StoreError> {
    gate.inner.events.approved();
    // Each is tried, whatever became of the one before.
    let expired = rounds(gate, || gate.store().expire()).await;
    fault::point("sweep.middle");
    let recovered = rounds(gate, || gate.store().recover(gate.inner.tools.safe())).await;
    let forgotten = gate.store().forget_replies(REPLIES_KEPT_MILLIS).await;
    let forgotten = forgotten.and(gate.store().forget_flows(FLOWS_KEPT_MILLIS).await);
    let (expired, recovered) = (expired?, recovered?);
    if expired + recovered > 0 {
        tracing::info!(expired, recovered, "swept");
    }
    forgotten.map(drop)
}

/// A round takes some of what there is, so that others can write in between. A thousand that expire at the same moment must
/// not be shown as pending for long; nor may one kind keep the others waiting for ever.
async fn rounds<F>(gate: &Gate, round: impl Fn() -> F) -> Result<u64, StoreError>
where
    F: Future<Output = Result<u64, StoreError>>,
{
    let mut done = 0;
    for _ in 0..ROUNDS {
        let some = round().await?;
        done += some;
        if some == 0 || gate.inner.stopping.is_cancelled() {
            break;
        }
    }
    Ok(done)
}
