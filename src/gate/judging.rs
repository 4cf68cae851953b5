//! Judges inputs by the schemas of their tools: on blocking threads, few at a time, and outside transactions.

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

/// Inputs that are judged at the same time by all gates of this process, of proposals and again of decisions.
pub(super) const MAX_JUDGES: usize = 4;
pub(super) static PROPOSALS: Semaphore = Semaphore::const_new(MAX_JUDGES);
static DECISIONS: Semaphore = Semaphore::const_new(MAX_JUDGES);
/// Inputs of one schema that are judged or wait.
pub(super) const MAX_WAITING: usize = 256;
/// Limit for the wait of an input; less than a request may take.
const MAX_WAIT: Duration = Duration::from_secs(30);
/// Seconds until a client may ask again.
const RETRY_AFTER: u64 = 5;

/// Waits to judge an input. The permits end when they are dropped.
async fn turn(queue: &Queue, judges: &'static Semaphore) -> Result<impl Sized + Send + 'static, ApiError> {
    let busy = || {
        let why = "too many inputs of this tool wait for its schema; nothing was done; try again";
        ApiError::again_in(UNAVAILABLE, why, RETRY_AFTER)
    };
    // Each input that waits or is judged holds the queue.
    if Arc::strong_count(queue) > MAX_WAITING {
        return Err(busy());
    }
    let permits = async { (Arc::clone(queue).lock_owned().await, judges.acquire().await) };
    timeout(MAX_WAIT, permits).await.map_err(|_| busy())
}

impl Gate {
    /// Returns why the tool does not take this input. Fails if too many wait to know. Decisions do not wait for proposals.
    pub(super) async fn judge(&self, tool: &str, input: &RawJson, decides: bool) -> Result<Fits, ApiError> {
        let Some([proposals, decisions]) = self.inner.tools.queues(tool) else { return Ok(Ok(())) };
        let permits = if decides { turn(decisions, &DECISIONS) } else { turn(proposals, &PROPOSALS) }.await?;
        let (tools, tool, input) = (self.inner.tools.clone(), tool.to_owned(), input.clone());
        let judged = tokio::task::spawn_blocking(move || {
            // Held until the work ends, even if the client has gone.
            let _permits = permits;
            tools.check(&tool, input.as_str())
        });
        Ok(judged.await.unwrap_or_else(|failed| Err(format!("the schema cannot judge this input: {failed}"))))
    }

    /// Judges what these approvals would run, for the transaction that decides. Actions that are not loaded are refused there.
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
    async fn waiting_for_a_turn_ends_after_a_limit() {
        let queue = Queue::default();
        let _first = queue.lock().await;

        let waited = turn(&queue, &PROPOSALS).await;

        assert_eq!(waited.map(drop).unwrap_err().into_response().status(), 503);
        assert_eq!(Arc::strong_count(&queue), 1, "it waits no longer");
    }
}
