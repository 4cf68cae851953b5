//! Runs approved actions after their commit.
//!
//! The store is the queue. The dispatcher takes approved actions under a lease with a fence, in the same way in normal
//! operation and after a crash. An executor that fails, hangs or panics only affects its own action.

pub(super) mod attempt;
mod command;
mod concurrency;
mod http;
pub(super) mod runs;

use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use self::attempt::{Attempt, how_it_ended};
use self::concurrency::{ConcurrencyLimit, Room};
use self::runs::{Run, State};
use super::state::Gate;
use super::store::{Dispatched, Finished, Lease, Refused, StoreError, Waiting, Work};
use super::which::Which;
use crate::config::{Executor, ToolConfig};
use crate::fault;

const AT_ONCE: usize = 16;
/// Maximum number of concurrent runs of one tool, so that a slow one does not block the others.
const AT_ONCE_PER_TOOL: usize = 8;
/// Margin between timeout and end of lease, for writing the result.
const MARGIN: Duration = Duration::from_secs(5);
/// Pause before a failed task is restarted or a result is stored again.
const REST: Duration = Duration::from_secs(1);

/// Dispatches until the gate stops. Restarts the dispatcher after a panic, because a gate must not accept approvals
/// without running them.
pub(crate) async fn run(gate: Gate) {
    restarting(&gate.inner.draining, || dispatcher(gate.clone())).await;
}

/// Runs a task until it ends, and restarts it after a panic.
pub(super) async fn restarting<F>(stopping: &CancellationToken, begin: impl Fn() -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    while let Err(error) = AbortOnDropHandle::new(tokio::spawn(begin())).await {
        tracing::error!(%error, "a background task broke off; it is begun again");
        tokio::select! {
            () = stopping.cancelled() => return,
            () = tokio::time::sleep(REST) => {}
        }
    }
}

async fn dispatcher(gate: Gate) {
    let tools = gate.inner.tools.taken_here();
    if tools.is_empty() {
        return;
    }
    let rooms = ConcurrencyLimit::new(AT_ONCE, AT_ONCE_PER_TOOL);
    loop {
        tokio::select! {
            () = gate.inner.draining.cancelled() => return,
            () = gate.inner.events.until_approved() => {}
        }
        if let Err(error) = dispatch(&gate, &tools, &rooms).await {
            // The reconciler wakes the dispatcher again in a few seconds; the actions stay approved until then.
            tracing::warn!(%error, "approved actions could not be dispatched");
        }
    }
}

/// Dispatches all approved actions once. Skips actions that cannot be dispatched and tools at their limit. A finished
/// run wakes the dispatcher again.
async fn dispatch(gate: &Gate, tools: &Which, rooms: &ConcurrencyLimit) -> Result<(), StoreError> {
    let mut after = 0;
    loop {
        let (full, now) = (rooms.full(), gate.inner.clock.now());
        let waiting = gate.store().approved(tools, &full, after, AT_ONCE as u32, now).await?;
        let Some(last) = waiting.last() else { return Ok(()) };
        after = last.seq;
        for Waiting { id, tool, .. } in waiting.into_iter().filter(|waiting| tools.has(&waiting.tool)) {
            let room = tokio::select! {
                () = gate.inner.draining.cancelled() => return Ok(()),
                room = rooms.acquire(&tool) => room,
            };
            let Some(room) = room else { continue };
            let config = gate.inner.tools.get(&tool);
            let millis = i64::try_from(config.timeout.saturating_add(MARGIN).as_millis()).unwrap_or(i64::MAX);
            fault::point("run.before");
            let over = Instant::now() + Duration::from_millis(u64::try_from(millis).unwrap_or_default());
            match gate.store().dispatch(id.clone(), Lease { by: None, millis }, None).await {
                Ok(Dispatched::Run(work)) => {
                    gate.inner.under_way.spawn(occupy(gate.clone(), config.clone(), (work, over), room));
                }
                Ok(Dispatched::NotAsApproved(why)) => tracing::error!(why, "an approved action was not run"),
                // Another gate was faster, or the gate was just paused.
                Err(StoreError::Refused(Refused::State { .. } | Refused::Paused)) => {}
                Err(StoreError::Refused(refused)) if !refused.is_news(&id) => {}
                Err(error) => tracing::error!(%error, id, "an approved action cannot be dispatched"),
            }
        }
    }
}

/// Runs one action, then wakes the dispatcher for skipped actions.
async fn occupy(gate: Gate, tool: ToolConfig, work: (Work, Instant), room: Room) {
    perform(&gate, tool, work).await;
    drop(room);
    gate.inner.events.approved();
}

/// Returns the tool's timeout, at most until the end of the lease. `over` is measured by this machine's monotonic clock
/// from before the dispatch, because wall clocks may differ by minutes from the server that holds the lease.
fn limit(tool: &ToolConfig, over: Instant) -> Duration {
    tool.timeout.min(over.saturating_duration_since(Instant::now()))
}

async fn perform(gate: &Gate, tool: ToolConfig, (work, over): (Work, Instant)) {
    let (id, fence, retry) = (work.id.clone(), work.fence, tool.retry);
    fault::point("run.leased");
    tracing::debug!(id, fence, traceparent = work.traceparent, "an approved action runs");
    // A separate task turns a panic into an outcome.
    let mut running = tokio::spawn({
        let gate = gate.clone();
        async move { attempt(&gate, &tool, &work, limit(&tool, over)).await }
    });
    let ran = tokio::select! {
        ran = &mut running => ran.unwrap_or_else(|error| Attempt::Vanished(format!("the executor broke off: {error}"))),
        () = gate.inner.giving_up.cancelled() => {
            // A command continues under its supervisor, and the next gate stores its outcome. Any other run loses its
            // lease.
            running.abort();
            return;
        }
    };
    fault::point("run.ran");
    if let Some(how) = how_it_ended(ran, retry)
        && keep(gate, &id, fence, how).await
    {
        gate.inner.runs.forget(&Run { id, fence });
    }
    fault::point("run.kept");
}

/// Stores outcomes of runs that an earlier gate began. Returns the actions with a run in progress, including this
/// gate's.
pub(super) async fn take_up(gate: &Gate) -> Vec<String> {
    let mut going_on = Vec::new();
    let found = gate.inner.runs.look().unwrap_or_else(|error| {
        tracing::error!(%error, "cannot look for runs of an earlier gate");
        Vec::new()
    });
    for (run, state) in found {
        match state {
            State::GoesOn => going_on.push(run.id),
            State::Vanished => gate.inner.runs.forget(&run),
            State::Ended(report) => {
                let tool = match gate.store().get(&run.id).await {
                    Ok(Some(stored)) => gate.inner.tools.get(stored.action.row.tool.as_raw()),
                    Ok(None) => gate.inner.tools.get(""),
                    Err(error) => {
                        tracing::warn!(%error, "what a run came to cannot be taken up yet");
                        going_on.push(run.id);
                        continue;
                    }
                };
                let ran = command::came_out(report, tool.timeout);
                if let Some(how) = how_it_ended(ran, tool.retry)
                    && keep(gate, &run.id, run.fence, how).await
                {
                    tracing::info!(id = run.id, "took up what a run of an earlier gate came to");
                    gate.inner.runs.forget(&run);
                } else {
                    going_on.push(run.id);
                }
            }
        }
    }
    going_on
}

/// Stores an outcome. Retries while the database fails, so that a known outcome does not become unknown. Returns false
/// if the gate gave up first.
async fn keep(gate: &Gate, id: &str, fence: u64, how: Finished) -> bool {
    loop {
        match gate.store().finish(id.to_owned(), fence, None, how.clone()).await {
            Ok(_) => return true,
            Err(error @ (StoreError::Database(_) | StoreError::Commit(_))) => {
                tracing::warn!(%error, "a result could not be kept; trying again");
            }
            Err(error) => {
                tracing::warn!(%error, "a result is not kept");
                return true;
            }
        }
        tokio::select! {
            () = gate.inner.giving_up.cancelled() => return false,
            () = tokio::time::sleep(REST) => {}
        }
    }
}

async fn attempt(gate: &Gate, tool: &ToolConfig, work: &Work, limit: Duration) -> Attempt {
    match &tool.executor {
        Executor::Http { url } => http::run(gate.inner.tools.targets(), url, work, limit).await,
        Executor::Command { argv, env } => command::run(&gate.inner.runs, argv, env, work, limit).await,
        Executor::Pull => Attempt::Failed("this tool is run by an agent".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn panicked_background_task_is_restarted() {
        let starts = Arc::new(AtomicU32::new(0));
        let begin = || {
            let starts = Arc::clone(&starts);
            async move { assert!(starts.fetch_add(1, Ordering::Relaxed) == 2, "broken") }
        };

        restarting(&CancellationToken::new(), begin).await;

        assert_eq!(starts.load(Ordering::Relaxed), 3);
    }
}
