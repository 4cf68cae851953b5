//! Settling by hand. An answer that is lost is told as such, and looked for by reading; nothing is sent a second time.

use std::sync::Arc;

use super::{Inbox, Problem, submit};
use crate::domain::{ActionId, ActionKey, Finding, Settling, Status};
use crate::sources::{Source, SourceError};

pub(super) async fn settle(
    inbox: &Inbox,
    key: &ActionKey,
    finding: Finding,
    reason: Option<String>,
) -> Result<Settling, Problem> {
    let source = inbox.source(&key.source)?;
    match source.settle(&key.id, finding, reason).await {
        Ok(settling) => Ok(settling),
        Err(error) if error.lost_sight() => Ok(look(inbox, source, &key.id, &error).await),
        Err(error) => Err(Problem::of(source.name(), &error)),
    }
}

/// A few times: the request may still be on its way.
async fn look(inbox: &Inbox, source: &Arc<dyn Source>, id: &ActionId, error: &SourceError) -> Settling {
    let mut status = None;
    for wait in inbox.pace.look {
        tokio::time::sleep(wait).await;
        let Ok(actions) = source.get(std::slice::from_ref(id)).await else { continue };
        status = actions.into_iter().flatten().next().map(|action| action.row.status).or(status);
        if status.as_ref().is_some_and(|status| *status != Status::Unknown) {
            break;
        }
    }
    Settling::Lost { status, why: submit::words(error) }
}
