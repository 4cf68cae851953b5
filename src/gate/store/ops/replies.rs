//! Prevents duplicates: replies under an `Idempotency-Key`, call ids, and tombstones of both.

use super::tx::{Answer, KeptReply, RecordedCall, Tx};
use crate::domain::Untrusted;
use crate::gate::store::{Actor, Answered, Keyed, KeyedReply, NewAction, Refused, StoreError};

/// Returns the first reply under this key if the request is the same: a body, or for a proposal its action id.
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

/// Returns what a request did. Keeps its reply, if it has a key, in the same transaction.
pub(super) async fn answer<T: Send + Sync>(
    tx: &mut dyn Tx,
    by: &Actor,
    key: Option<&KeyedReply<T>>,
    done: T,
) -> Result<Answered<T>, StoreError> {
    if let Some(KeyedReply { key, write }) = key {
        let body = write(&done)?;
        tx.put_reply(by, key, Answer::Body(&body)).await?;
    }
    Ok(Answered::Now(done))
}

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

/// Returns the action recorded for this call: same proposer, session, call id, tool and input. Refuses a different call
/// under the same id, and a call whose action was pruned.
pub(super) async fn recorded_call(tx: &mut dyn Tx, action: &NewAction) -> Result<Option<String>, StoreError> {
    let call = action.action.tool_call.as_ref();
    if action.action.row.session.is_none() || call.is_none_or(Untrusted::is_empty) {
        return Ok(None);
    }
    match tx.recorded_call(action).await? {
        None => Ok(None),
        Some(RecordedCall { digest, .. }) if digest != action.digest.to_string() => {
            Err(Refused::CallReused.into())
        }
        // The existing action was recorded without superseding another one.
        Some(_) if action.supersedes.is_some() => Err(Refused::CallReused.into()),
        Some(RecordedCall { id: None, .. }) => Err(Refused::RecordedAndPruned.into()),
        Some(RecordedCall { id, .. }) => Ok(id),
    }
}
