//! Settling by hand. An answer that is lost is told as such, and looked for by reading; nothing is sent a second time.

use std::sync::Arc;

use super::{Inbox, Problem, lost, submit};
use crate::domain::{ActionId, ActionKey, Resolution, Resolved, Status};
use crate::sources::{Source, SourceError};

pub(super) async fn settle(
    inbox: &Inbox,
    key: &ActionKey,
    finding: Resolution,
    reason: Option<String>,
) -> Result<Resolved, Problem> {
    // What its source has as unknown is said there; what only we lost sight of is said in the journal.
    if let Some(lost) = lost::find(inbox, key).await?
        && !is_unknown(inbox, key).await
    {
        return lost.resolve(inbox, finding, reason.as_deref()).await;
    }
    let source = inbox.source(&key.source)?;
    match source.settle(&key.id, finding, reason).await {
        Ok(settling) => Ok(settling),
        Err(error) if error.lost_sight() => Ok(look(inbox, source, &key.id, &error).await),
        Err(error) => Err(Problem::of(source.name(), &error)),
    }
}

async fn is_unknown(inbox: &Inbox, key: &ActionKey) -> bool {
    let Ok(source) = inbox.source(&key.source) else { return false };
    let Ok(actions) = source.get(std::slice::from_ref(&key.id)).await else { return false };
    let mut rows = actions.into_iter().flatten().map(|action| action.row);
    rows.any(|row| row.status == Status::Unknown && source.capabilities(&row).settle)
}

/// A few times: the request may still be on its way.
async fn look(inbox: &Inbox, source: &Arc<dyn Source>, id: &ActionId, error: &SourceError) -> Resolved {
    let mut status = None;
    for wait in inbox.pace.look {
        tokio::time::sleep(wait).await;
        let Ok(actions) = source.get(std::slice::from_ref(id)).await else { continue };
        status = actions.into_iter().flatten().next().map(|action| action.row.status).or(status);
        if status.as_ref().is_some_and(|status| *status != Status::Unknown) {
            break;
        }
    }
    Resolved::Lost { status, why: submit::words(error) }
}
