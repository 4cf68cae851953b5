//! Retention: settled actions are kept for as long as the configuration says, or for ever.
//!
//! What is `unknown` is never pruned, and no audit row is. The audit says which actions are gone, and what they were.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::value::RawValue;

use super::audit::WHOLE_GATE;
use super::error::GateError;
use super::state::Gate;
use super::store::{Prunable, StoreError};
use crate::contract::action;
use crate::contract::prune::PrunedBody;
use crate::domain::Timestamp;

/// Actions that go under one audit row.
const ROUND: u32 = 200;
/// And about how many bytes of input, so that a few large ones do not fill memory.
const ROUND_BYTES: u64 = 8 << 20;

/// What a prune came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Actions that are gone.
    pub actions: u64,
}

impl Gate {
    /// Prunes what was settled before this moment, in every workspace. `keep` is given each action as one line of JSON before it
    /// goes, and says when a line is safe; when it fails, nothing more goes. How many went is added to `gone` as they go.
    pub async fn prune<E: From<GateError>>(
        &self,
        before: Timestamp,
        who: Option<&str>,
        gone: &AtomicU64,
        mut keep: impl FnMut(&[String]) -> Result<(), E> + Send,
    ) -> Result<Pruned, E> {
        let mut pruned = Pruned::default();
        for head in self.store().audit_heads(None).await.map_err(GateError::from)? {
            if head.workspace == WHOLE_GATE {
                continue;
            }
            while !self.inner.stopping.is_cancelled() {
                let some = self.settled(&head.workspace, before).await.map_err(GateError::from)?;
                if some.is_empty() {
                    break;
                }
                let lines = some.iter().map(line).collect::<Result<Vec<_>, _>>().map_err(GateError::from)?;
                keep(&lines)?;
                let (workspace, who) = (head.workspace.clone(), who.map(str::to_owned));
                let went = self.store().prune(workspace, some, who).await.map_err(GateError::from)?;
                pruned.actions += went;
                gone.fetch_add(went, Ordering::Relaxed);
                // Whatever is left of these was changed meanwhile; the next prune looks again.
                if went == 0 {
                    break;
                }
            }
        }
        Ok(pruned)
    }

    async fn settled(&self, workspace: &str, before: Timestamp) -> Result<Vec<Prunable>, StoreError> {
        self.store().settled(workspace, before, ROUND, ROUND_BYTES).await
    }
}

/// One pruned action as it is kept elsewhere.
fn line(prunable: &Prunable) -> Result<String, StoreError> {
    let corrupt = |_| StoreError::Corrupt("a payload that is no JSON");
    let pending_action = action::write(&prunable.action).and_then(RawValue::from_string).map_err(corrupt)?;
    let record = prunable.record.to_string();
    let body = PrunedBody {
        version: 1,
        record: &record,
        proposer: &prunable.proposer,
        pending_action: &pending_action,
    };
    serde_json::to_string(&body).map_err(corrupt)
}
