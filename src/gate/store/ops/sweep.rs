//! Settles what is due: pending actions expire, unclaimed approvals lapse, leases end.
//!
//! A sweep finds the workspaces without a lock. Then it locks each, checks again what is due there, and settles it.

use super::advance::{Change, StepRow, advance};
use super::run::again;
use super::tx::{Due, Swept, Tx, lock};
use crate::domain::StatusStep;
use crate::gate::store::{Refused, StoreError};

const LOST: &str = "the executor did not report; nobody knows whether it ran";

pub(super) async fn sweep(tx: &mut dyn Tx, workspace: &str, due: &Due) -> Result<u64, StoreError> {
    lock(tx, workspace).await?;
    let found = tx.due(workspace, due).await?;
    let mut settled = 0;
    for Swept { seq, row, origin, fence } in &found {
        let place = StepRow { seq: *seq, row, origin };
        match due {
            Due::Expired => {
                let change = Change { settles: true, ..Change::default() };
                advance(tx, place, StatusStep::Expire, change).await?;
            }
            // Approver and time of the approval stay on the row.
            Due::Unclaimed { .. } => {
                advance(tx, place, StatusStep::Lapse, Change::default()).await?;
            }
            Due::LeaseOver { safe, .. } => {
                let change = Change { error: Some(LOST), ..Change::default() };
                if safe.has(row.tool.as_raw()) {
                    match again(tx, place, *fence, change).await {
                        // It must not keep the others from being swept.
                        Err(StoreError::Refused(refused @ Refused::Tampered(_))) => {
                            let id = row.id.as_raw();
                            if refused.is_news(id) {
                                tracing::error!(id, "a lost run is not repeated: {refused}");
                            }
                            continue;
                        }
                        swept => swept?,
                    }
                } else {
                    advance(tx, place, StatusStep::LoseSight, change).await?;
                }
            }
        }
        settled += 1;
    }
    Ok(settled)
}
