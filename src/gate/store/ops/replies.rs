//! What keeps a request from being done twice: answers under an `Idempotency-Key`, the ids of calls, and what is left of both when
//! their action was pruned.

use super::tx::{Answer, KeptReply, RecordedCall, Tx};
use crate::gate::store::{Actor, Keyed, NewAction, Refused, StoreError};

/// The first answer under this key, if there was one to the same request: a body, or of a proposal the id of its action.
pub(super) async fn kept(
    tx: &mut dyn Tx,
    by: &Actor,
    key: Option<&Keyed>,
) -> Result<Option<String>, StoreError> {
    let Some(key) = key else { return Ok(None) };
    match tx.reply(by, &key.key).await? {
        None => Ok(None),
        Some(KeptReply { fingerprint, .. }) if fingerprint != key.fingerprint => {
            Err(Refused::KeyReused.into())
        }
        Some(KeptReply { is_pruned: true, .. }) => Err(Refused::RecordedAndPruned.into()),
        Some(KeptReply { answer, .. }) => Ok(Some(answer)),
    }
}

/// Keeps an answer, in the transaction of what it answers.
pub(super) async fn keep(
    tx: &mut dyn Tx,
    by: &Actor,
    key: Option<&Keyed>,
    answer: Answer<'_>,
) -> Result<(), StoreError> {
    match key {
        None => Ok(()),
        Some(key) => tx.put_reply(by, key, answer).await,
    }
}

/// The action that this very call was recorded as: the same proposer, session and call id, the same tool and input. A call of that id
/// that is not the same is refused, and so is one whose action was pruned.
pub(super) async fn recorded_call(tx: &mut dyn Tx, action: &NewAction) -> Result<Option<String>, StoreError> {
    if action.session.is_none() || action.tool_call.as_deref().unwrap_or_default().is_empty() {
        return Ok(None);
    }
    match tx.recorded_call(action).await? {
        None => Ok(None),
        Some(RecordedCall { digest, .. }) if digest != action.digest.to_string() => {
            Err(Refused::CallReused.into())
        }
        // It takes the place of another one, and was recorded already without doing so.
        Some(_) if action.supersedes.is_some() => Err(Refused::CallReused.into()),
        Some(RecordedCall { id: None, .. }) => Err(Refused::RecordedAndPruned.into()),
        Some(RecordedCall { id, .. }) => Ok(id),
    }
}
