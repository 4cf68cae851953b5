//! Judges inputs by the schemas of their tools: on blocking threads, few at a time, and outside transactions.

use tokio::sync::Semaphore;

use super::state::Gate;
use super::store::decision_rules::{merged, within};
use super::store::{Actor, Judgement, Ruling, StoreError, Verdict};
use crate::domain::RawJson;

/// Inputs that are judged at the same time, by all gates of this process.
const MAX_JUDGES: usize = 2;
pub(super) static JUDGES: Semaphore = Semaphore::const_new(MAX_JUDGES);

impl Gate {
    /// Returns why the tool does not take this input.
    pub(super) async fn judge(&self, tool: &str, input: &RawJson) -> Result<(), String> {
        if self.inner.tools.schema_text(tool).is_none() {
            return Ok(());
        }
        let permit = JUDGES.acquire().await;
        let (tools, tool, input) = (self.inner.tools.clone(), tool.to_owned(), input.clone());
        let judged = tokio::task::spawn_blocking(move || {
            // Held until the work ends, even if the client has gone.
            let _permit = permit;
            tools.check(&tool, input.as_str())
        });
        judged.await.unwrap_or_else(|failed| Err(format!("the schema cannot judge this input: {failed}")))
    }

    /// Judges what these approvals would run, for the transaction that decides. Actions that are not loaded are refused there.
    pub(super) async fn judge_all(&self, by: &Actor, rulings: &mut [Ruling]) -> Result<(), StoreError> {
        if !self.inner.tools.have_schemas() {
            return Ok(());
        }
        for ruling in rulings {
            let Verdict::Approve { edits } = &ruling.verdict else { continue };
            let action = match self.store().get(&ruling.id).await {
                Ok(Some(stored)) if within(&stored, by).is_ok() => stored.action,
                Ok(_) | Err(StoreError::Corrupt(_)) => continue,
                Err(failed) => return Err(failed),
            };
            let Ok(edited) = merged(&action.input, edits.as_ref()) else { continue };
            let input = edited.as_ref().unwrap_or(&action.input);
            let fits = self.judge(action.row.tool.as_raw(), input).await;
            ruling.judged = Some(Judgement { input: action.digest_of(input.as_str()), fits });
        }
        Ok(())
    }
}
