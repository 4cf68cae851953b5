//! Periodic cleanup, at start and every 5 seconds.
//!
//! Every 5 seconds: expires pending actions, lapses unclaimed approvals, records results of an earlier gate's runs, and
//! retries runs whose lease ended or makes them `unknown`. Wakes the dispatcher, because a crash between commit and
//! scheduling must not lose an approved action. Every minute: gives up undeliverable callbacks, drops old data. Every
//! hour: prunes.

use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior};

use super::audit::{AuditHead, WHOLE_GATE};
use super::callbacks;
use super::error::GateError;
use super::executor::{restarting, take_up};
use super::state::Gate;
use super::store::{Counts, StoreError};
use crate::domain::Timestamp;
use crate::fault;

const EVERY: Duration = Duration::from_secs(5);
/// Rare, because each tidying begins write transactions.
const TIDY_EVERY: Duration = Duration::from_mins(1);
const ROUNDS: usize = 100;
/// Lifetime of answers under an `Idempotency-Key`. Answers to proposals are kept as long as their action.
const REPLIES_KEPT: Duration = Duration::from_hours(24);
/// Lifetime of the keys and calls of pruned actions.
const TOMBSTONES_KEPT_MILLIS: i64 = 90 * 24 * 60 * 60 * 1_000;
/// Each prune makes every inbox list again.
const PRUNE_EVERY_MILLIS: i64 = 60 * 60 * 1_000;
/// Deviation between two sweeps above which the clock counts as set.
const SET: Duration = Duration::from_secs(30);
/// Maximum age of queried flows.
pub(crate) const FLOWS_ASKED_MILLIS: i64 = 48 * 60 * 60 * 1_000;
/// The extra hour keeps a minute from being dropped during a query.
const FLOWS_KEPT_MILLIS: i64 = FLOWS_ASKED_MILLIS + 60 * 60 * 1_000;

/// Sweeps until the gate stops. Restarts after a panic, because without sweeps nothing expires.
pub(crate) async fn run(gate: Gate) {
    restarting(&gate.inner.stopping, || sweeps(gate.clone())).await;
}

async fn sweeps(gate: Gate) {
    let (mut heads, mut lapsing) = (Vec::new(), HashMap::new());
    let (mut tidied_at, mut pruned_at, mut steady) = (None, None, ClockUptime::default());
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
            tracing::warn!(%error, "a sweep failed");
        }
        if tidied_at.is_none_or(|at: Instant| at.elapsed() >= TIDY_EVERY) {
            match tidy(&gate).await {
                Ok(()) => tidied_at = Some(Instant::now()),
                Err(error) => tracing::warn!(%error, "cannot give up or drop what is too old"),
            }
        }
        if let Err(error) = note_uses(&gate).await {
            tracing::warn!(%error, "cannot note when tokens were used");
        }
        if let Err(error) = prune(&gate, &mut pruned_at).await {
            tracing::warn!(%error, "cannot prune what was settled long ago");
        }
        if let Err(error) = tell_of_lapsing(&gate, &heads, &mut lapsing).await {
            tracing::warn!(%error, "cannot count approvals that nobody takes");
        }
        if let Err(error) = forget(&gate, &mut steady, Instant::now()).await {
            tracing::warn!(%error, "cannot drop what nobody needs any more");
        }
    }
}

/// Time since the clock was last set. Data is dropped by age only after a day of that: a jump makes everything old at
/// once, and a forgotten idempotency key lets the same proposal in twice.
#[derive(Debug, Default)]
pub(crate) struct ClockUptime {
    since: Option<Instant>,
    last: Option<(Timestamp, Instant)>,
}

impl ClockUptime {
    /// Compares the wall clock with the monotonic clock. Returns the time since the wall clock was last set.
    fn look(&mut self, wall: Timestamp, now: Instant) -> Duration {
        let ran = |(last_wall, last): (Timestamp, Instant)| {
            let by_wall = wall.as_millis().saturating_sub(last_wall.as_millis());
            by_wall.abs_diff(now.saturating_duration_since(last).as_millis() as i64)
        };
        let off = self.last.replace((wall, now)).map(ran);
        if off.is_some_and(|millis| u128::from(millis) > SET.as_millis()) {
            tracing::warn!("the clock was set; answers under idempotency keys are kept for another day");
            self.since = None;
        }
        now.saturating_duration_since(*self.since.get_or_insert(now))
    }
}

pub(crate) async fn forget(gate: &Gate, steady: &mut ClockUptime, now: Instant) -> Result<(), StoreError> {
    let store = gate.store();
    if steady.look(gate.inner.clock.now(), now) >= REPLIES_KEPT {
        store.forget_replies(REPLIES_KEPT.as_millis() as i64, TOMBSTONES_KEPT_MILLIS).await?;
    }
    store.shorten_log().await
}

pub(crate) async fn note_uses(gate: &Gate) -> Result<(), StoreError> {
    let uses = gate.inner.uses.take();
    if uses.is_empty() { Ok(()) } else { gate.store().note_uses(uses).await }
}

/// Publishes changes by other processes, which send no events here.
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

pub(crate) async fn prune(gate: &Gate, last: &mut Option<Timestamp>) -> Result<(), GateError> {
    let now = gate.inner.clock.now();
    let Some(keep) = gate.inner.keep_settled else { return Ok(()) };
    if last.is_some_and(|last| now.since(last) < PRUNE_EVERY_MILLIS) {
        return Ok(());
    }
    *last = Some(now);
    let before = now.plus_millis(-i64::try_from(keep.as_millis()).unwrap_or(i64::MAX));
    let pruned = gate.prune(before, None, &AtomicU64::new(0), |_| Ok::<_, GateError>(())).await?;
    if pruned.actions > 0 {
        tracing::info!(actions = pruned.actions, "pruned what was settled long ago");
    }
    Ok(())
}

/// Publishes changes in the number of lapsing approvals, which have no event of their own.
async fn tell_of_lapsing(
    gate: &Gate,
    heads: &[AuditHead],
    told: &mut HashMap<String, u64>,
) -> Result<(), StoreError> {
    for AuditHead { workspace, revision, .. } in heads.iter().filter(|head| head.workspace != WHOLE_GATE) {
        let counts = Counts { workspace: workspace.clone(), ..Counts::default() };
        let lapsing = gate.store().lapsing(&counts).await?;
        let before = told.insert(workspace.clone(), lapsing).unwrap_or_default();
        if lapsing != before {
            gate.inner.events.publish(workspace, *revision);
        }
        if lapsing > before {
            tracing::warn!(workspace, lapsing, "approvals wait for an agent and will lapse");
        }
    }
    Ok(())
}

pub(crate) async fn sweep(gate: &Gate) -> Result<(), StoreError> {
    gate.inner.events.approved();
    // Each runs even if an earlier one failed.
    let expired = rounds(gate, || gate.store().expire()).await;
    let lapsed = rounds(gate, || gate.store().lapse()).await;
    fault::point("sweep.middle");
    let going_on = take_up(gate).await;
    let recovered = rounds(gate, || gate.store().recover(gate.inner.tools.safe(), going_on.clone())).await;
    let (expired, lapsed, recovered) = (expired?, lapsed?, recovered?);
    if expired + lapsed + recovered > 0 {
        tracing::info!(expired, lapsed, recovered, "swept");
    }
    Ok(())
}

pub(crate) async fn tidy(gate: &Gate) -> Result<(), StoreError> {
    let forgotten = gate.store().forget_flows(FLOWS_KEPT_MILLIS).await;
    rounds(gate, || callbacks::sweep(gate)).await.and(forgotten).map(drop)
}

/// Repeats short rounds, so that others can write in between. Actions that expire together must not stay pending for
/// long, and one kind must not starve the others.
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

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_hours(24);
    const DAY_MILLIS: i64 = 24 * 60 * 60 * 1_000;

    #[test]
    fn setting_the_clock_restarts_its_uptime() {
        let (wall, start) = (Timestamp::from_millis(1_000_000), Instant::now());
        let mut steady = ClockUptime::default();
        let mut look = |millis: i64, set: i64| {
            steady.look(wall.plus_millis(millis + set), start + Duration::from_millis(millis as u64))
        };

        let ran = [look(0, 0), look(DAY_MILLIS, 10_000), look(DAY_MILLIS + 5_000, DAY_MILLIS)];
        let after = [look(2 * DAY_MILLIS, DAY_MILLIS), look(2 * DAY_MILLIS + 5_000, 0)];

        assert_eq!(ran, [Duration::ZERO, DAY, Duration::ZERO]);
        assert_eq!(after, [Duration::from_secs(24 * 60 * 60 - 5), Duration::ZERO]);
    }
}
