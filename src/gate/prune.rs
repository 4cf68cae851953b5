//! Retention: keeps settled actions as long as configured, or forever.
//!
//! Never removes `unknown` actions or audit rows. The audit records the pruned actions with a digest of each.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::value::RawValue;

use super::audit::WHOLE_GATE;
use super::error::GateError;
use super::state::Gate;
use super::store::{Prunable, StoreError};
use crate::contract::action;
use crate::contract::prune::PrunedBody;
use crate::domain::Timestamp;

/// Maximum number of actions pruned under one audit row.
const ROUND: u32 = 200;
/// Approximate limit of input bytes per audit row, against memory use.
const ROUND_BYTES: u64 = 8 << 20;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    pub actions: u64,
}

impl Gate {
    /// Prunes actions settled before `before`. `keep` receives each as a line of JSON and returns after storing it; its
    /// error ends the prune. `gone` is incremented as actions are pruned.
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
                // The rest was changed meanwhile and is left to the next prune.
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
