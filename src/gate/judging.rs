//! Validates inputs against the schemas of their tools: on blocking threads, a few at a time, outside transactions.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::error::{ApiError, UNAVAILABLE};
use super::state::Gate;
use super::store::decision_rules::{merged, within};
use super::store::{Actor, Fits, Judgement, Ruling, StoreError, Verdict};
use super::tool::Queue;
use crate::domain::RawJson;

/// Maximum number of small inputs judged in parallel in this process, separately for proposals and decisions.
pub(super) const MAX_JUDGES: usize = 4;
pub(super) static PROPOSALS: Semaphore = Semaphore::const_new(MAX_JUDGES);
static DECISIONS: Semaphore = Semaphore::const_new(MAX_JUDGES);
/// Large inputs are judged one at a time, which bounds the memory and leaves the other permits to small ones.
pub(super) static LARGE_PROPOSALS: Semaphore = Semaphore::const_new(1);
static LARGE_DECISIONS: Semaphore = Semaphore::const_new(1);
/// Largest small input, in bytes.
pub(super) const SMALL: usize = 256 << 10;
/// Maximum number of inputs per schema that are judged or wait.
pub(super) const MAX_WAITING: usize = 256;
/// Limit for waiting; shorter than the request timeout.
const MAX_WAIT: Duration = Duration::from_secs(30);
const RETRY_AFTER: u64 = 5;

/// Waits to judge an input. The turn ends when the permits are dropped.
async fn turn(
    queue: &Queue,
    judges: &'static Semaphore,
    is_large: bool,
) -> Result<impl Sized + Send + 'static, ApiError> {
    let busy = || {
        let why = "too many inputs wait for their schemas; nothing was done; try again";
        ApiError::again_in(UNAVAILABLE, why, RETRY_AFTER)
    };
    // Each waiting or judged input holds a reference to the queue.
    if Arc::strong_count(queue) > MAX_WAITING {
        return Err(busy());
    }
    let queue = Arc::clone(queue);
    let permits = async move {
        // A large input waits for other large ones without holding the queue of its tool.
        let large = if is_large { Some(judges.acquire().await) } else { None };
        let queue = queue.lock_owned().await;
        (large, queue, if is_large { None } else { Some(judges.acquire().await) })
    };
    timeout(MAX_WAIT, permits).await.map_err(|_| busy())
}

impl Gate {
    /// Returns whether the tool accepts this input, or why not. Fails if too many inputs wait.
    pub(super) async fn judge(&self, tool: &str, input: &RawJson, decides: bool) -> Result<Fits, ApiError> {
        let Some([proposals, decisions]) = self.inner.tools.queues(tool) else { return Ok(Ok(())) };
        let is_large = input.as_str().len() > SMALL;
        let (queue, permits) = match (decides, is_large) {
            (false, false) => (proposals, &PROPOSALS),
            (false, true) => (proposals, &LARGE_PROPOSALS),
            (true, false) => (decisions, &DECISIONS),
            (true, true) => (decisions, &LARGE_DECISIONS),
        };
        let permits = turn(queue, permits, is_large).await?;
        let (tools, tool, input) = (self.inner.tools.clone(), tool.to_owned(), input.clone());
        let judged = tokio::task::spawn_blocking(move || {
            // Held until the work ends, even if the client disconnects.
            let _permits = permits;
            tools.check(&tool, input.as_str())
        });
        Ok(judged.await.unwrap_or_else(|failed| Err(format!("the schema cannot judge this input: {failed}"))))
    }

    /// Judges the inputs of approvals for the transaction of the decision, which refuses actions that cannot be loaded.
    pub(super) async fn judge_all(&self, by: &Actor, rulings: &mut [Ruling]) -> Result<(), ApiError> {
        if !self.inner.tools.have_schemas() {
            return Ok(());
        }
        for ruling in rulings {
            let Verdict::Approve { edits } = &ruling.verdict else { continue };
            let action = match self.store().get(&ruling.id).await {
                Ok(Some(stored)) if within(&stored, by).is_ok() => stored.action,
                Ok(_) | Err(StoreError::Corrupt(_)) => continue,
                Err(failed) => return Err(failed.into()),
            };
            let Ok(edited) = merged(&action.input, edits.as_ref()) else { continue };
            let input = edited.as_ref().unwrap_or(&action.input);
            let fits = self.judge(action.row.tool.as_raw(), input, true).await?;
            ruling.judged = Some(Judgement { input: action.digest_of(input.as_str()), fits });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse as _;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn judge_turn_wait_times_out() {
        let queue = Queue::default();
        let _first = queue.lock().await;

        let waited = turn(&queue, &PROPOSALS, false).await;

        assert_eq!(waited.map(drop).unwrap_err().into_response().status(), 503);
        assert_eq!(Arc::strong_count(&queue), 1, "the queue is released");
    }
}
