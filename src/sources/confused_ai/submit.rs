//! Sends decisions: reads the list again, then one POST per action, and checks each answer.

use std::collections::HashMap;
use std::sync::PoisonError;

use serde::Serialize;

use super::client::{ConfusedAi, ROOT};
use super::wire;
use crate::clock;
use crate::contract::error;
use crate::domain::{ActionId, Decision, Item, Outcome, PendingAction, Status, SubmissionBatch};
use crate::net::http::Reply;
use crate::net::url;
use crate::sources::answer::{self, failed, skipped, untaken};
use crate::sources::send_each::send_each;
use crate::sources::{Full, Outcomes, SourceError};

const CHANGED: &str = "changed since you looked: its arguments, or its expiry, risk, agent or description";
const EXPIRED: &str = "expired: placet sends no decision any more, although the server would still take one";
/// The server drops a connection that sends more than 1 MB (`maxBodyBytes`), without an answer.
const BODY_MAX: usize = 1_000_000;

/// Body of `POST /v1/approvals/{id}`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    approved: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    comment: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decided_by: Option<&'a str>,
}

/// A decision with its action as read just before sending.
struct Fresh<'a> {
    item: &'a Item,
    action: &'a PendingAction,
}

impl ConfusedAi {
    pub(super) async fn send(&self, batch: &SubmissionBatch) -> Result<Outcomes, SourceError> {
        let before = self.expiries.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let found = by_id(self.list().await.map_err(answer::before_sending)?);
        let (before, found) = (&before, &found);
        let send = async |item: &Item| match found.get(&item.id) {
            Some(action) => self.send_one(&Fresh { item, action }).await,
            None if before.get(&item.id).is_some_and(|at| *at <= clock::now()) => Ok(failed(EXPIRED)),
            None => Ok(self.settled(&item.id)),
        };
        send_each(batch.items(), 1, send).await
    }

    async fn send_one(&self, fresh: &Fresh<'_>) -> Result<Outcome, SourceError> {
        let item = fresh.item;
        if let Some(outcome) = refused(item, fresh.action) {
            return Ok(outcome);
        }
        let approved = match &item.decision {
            Decision::Approve { edits: None, .. } => true,
            Decision::Reject { .. } => false,
            Decision::Approve { edits: Some(_), .. } => return Ok(failed("this source cannot apply edits")),
            _ => return Ok(untaken(item)),
        };
        // The server does not decode paths, so it would not find an id that needs encoding.
        let id = item.id.as_raw();
        if url::segment(id).as_deref() != Some(id) {
            return Ok(failed("its id cannot stand in an address"));
        }
        let body = Body { approved, comment: item.decision.said(), decided_by: self.reviewer.as_deref() };
        let body = serde_json::to_string(&body)
            .map_err(|error| SourceError::Refused { why: error.to_string().into() })?;
        if body.len() > BODY_MAX {
            return Ok(failed("the comment is too long: this source takes up to 1 MB"));
        }
        let reply = self.ask(format!("{ROOT}/{id}"), Some(body)).await?;
        match reply.status {
            200 => self.verified(fresh, &reply).await,
            404 => match self.list().await.map(by_id) {
                Ok(found) if !found.contains_key(&item.id) => Ok(self.settled(&item.id)),
                Ok(_) | Err(_) => Ok(Outcome::Failed { why: answer::message(&reply) }),
            },
            500.. => self.broken(fresh, &reply).await,
            409 => Ok(Outcome::Failed { why: answer::message(&reply) }),
            _ => Err(answer::refusal(&reply)),
        }
    }

    /// Compares the answer with the decision: a 200 only tells the current state of the request.
    async fn verified(&self, fresh: &Fresh<'_>, reply: &Reply) -> Result<Outcome, SourceError> {
        let item = fresh.item;
        let Ok(action) = wire::read(&reply.text) else {
            return Ok(self.reread(item, "it sent an answer that placet does not understand").await);
        };
        if action.row.id != item.id || action.digest() != fresh.action.digest() && !item.unreadable {
            let why = "it says that it decided something else than was asked";
            return Ok(Outcome::Unknown { why: why.into() });
        }
        let outcome = Outcome::by_status(item.kind(), &action.row.status, action.row.resolved_by.as_ref());
        match outcome {
            Some(outcome) => {
                self.remember(action);
                Ok(outcome)
            }
            None => Ok(failed("the source left it pending")),
        }
    }

    /// Reads the list after a 5xx. The service answers 500 to many errors, also to a second decision.
    async fn broken(&self, fresh: &Fresh<'_>, reply: &Reply) -> Result<Outcome, SourceError> {
        // With `exposeErrors` the message says it: "Approval ... is already approved".
        let said = error::read(&reply.text).message;
        let already = said.as_raw().split(" is already ").nth(1).map(|word| Status::parse(word.trim()));
        if let Some(status) = already {
            return Ok(Outcome::Skipped { status: Some(status), by: None });
        }
        let message = answer::message(reply);
        // Any other 5xx comes from a proxy, and the decision may have landed behind it.
        if reply.status != 500 {
            return Err(answer::refusal(reply));
        }
        match self.list().await.map(by_id) {
            Ok(found) if found.contains_key(&fresh.item.id) => {
                let why = format!("{}; it is still pending", message.as_raw());
                Ok(Outcome::Failed { why: why.into() })
            }
            Ok(_) => Ok(self.settled(&fresh.item.id)),
            Err(_) => Err(answer::refusal(reply)),
        }
    }

    /// Reads the list after an unclear answer. If the request is gone, somebody decided it, perhaps we.
    async fn reread(&self, item: &Item, what: &str) -> Outcome {
        match self.list().await.map(by_id) {
            Ok(found) if found.contains_key(&item.id) => {
                Outcome::Failed { why: format!("{what}; it is still pending").into() }
            }
            Ok(_) | Err(_) => Outcome::Unknown { why: what.into() },
        }
    }

    /// Reports a request that is no longer listed. The service does not tell its outcome; only our own decision is
    /// known.
    fn settled(&self, id: &ActionId) -> Outcome {
        let known = self.remembered(id).map(|action| action.row);
        let by = known.as_ref().and_then(|row| row.resolved_by.clone());
        Outcome::Skipped { status: known.map(|row| row.status), by }
    }
}

/// Returns why the decision must not be sent, given the current action.
fn refused(item: &Item, action: &PendingAction) -> Option<Outcome> {
    match action {
        action if !action.row.status.is_pending() => Some(skipped(&action.row)),
        action if action.row.has_expired(clock::now()) => Some(failed(EXPIRED)),
        action if action.digest() != item.digest || action.terms != item.terms => Some(failed(CHANGED)),
        _ => None,
    }
}

/// Indexes the list by id. An unreadable request becomes a stand-in with its bytes.
fn by_id(listed: Vec<Full>) -> HashMap<ActionId, PendingAction> {
    let action = |full: Full| match full {
        Ok(action) => Some(action),
        Err(bad) => bad.id.is_some().then(|| bad.stand_in()),
    };
    let known = listed.into_iter().filter_map(action);
    known.map(|action| (action.row.id.clone(), action)).collect()
}
