//! Sends decisions, one request each.
//!
//! Data Machine refuses everything with 400 and one code. A refusal is interpreted by reading the action again and by
//! the refusal's data; its message alone decides nothing, because sites translate it.

use std::time::Duration;

use super::client::{AgentsApi, RESOLVE_LIMIT};
use super::site;
use crate::clock;
use crate::contract::fields::Fields;
use crate::domain::{
    Decision, Item, Outcome, PendingAction, RawJson, Status, SubmissionBatch, Untrusted, json,
};
use crate::net::http::Reply;
use crate::sources::answer::{self, failed, skipped, untaken};
use crate::sources::send_each::send_each;
use crate::sources::{Outcomes, SourceError};

const CHANGED: &str = "changed since you looked: its input, or its summary, preview, expiry or metadata";
const THREW_CODE: &str = "ability_callback_exception";
const THREW: &str =
    "the code that runs it on the site broke off, and may have done its work before: check the site";
const MAY_HAVE_RUN: &str = "the site cannot tell whether it ran: check the site";
/// The site hides an action while it runs.
pub(in crate::sources) const HIDDEN: &str =
    "not shown by the site: another decision runs it, or it was removed";
const NOBODY: &str = "the site does not say who this user is, and takes no decision without it";

/// Pauses before each look at an action that has disappeared: the site hides it while another approval runs.
const LOOKS: [Duration; 3] = [Duration::ZERO, Duration::from_millis(300), Duration::from_secs(1)];

struct Sending<'a> {
    item: &'a Item,
    resolver: Untrusted,
    /// As read just before sending.
    action: PendingAction,
}

impl Sending<'_> {
    fn approves(&self) -> bool {
        self.item.kind().approves()
    }

    fn word(&self) -> &'static str {
        if self.approves() { "accepted" } else { "rejected" }
    }

    /// The reason goes into `payload`, which a host may drop.
    fn body(&self) -> String {
        let reason = match &self.item.decision {
            Decision::Reject { reason } => reason.as_deref(),
            _ => None,
        };
        let payload = reason.map_or_else(String::new, |reason| {
            format!(r#","payload":{{"reason":{}}}"#, json::encode(reason))
        });
        format!(
            r#"{{"action_id":{},"decision":"{}","resolver":{}{payload}}}"#,
            json::encode(self.item.id.as_raw()),
            self.word(),
            json::encode(self.resolver.as_raw()),
        )
    }

    fn ended(&self, status: Status, result: Option<RawJson>, error: Option<Untrusted>) -> PendingAction {
        let mut action = self.action.clone();
        let now = clock::now();
        action.executed_at = self.approves().then_some(now);
        (action.row.status, action.result, action.error) = (status, result, error);
        (action.row.resolved_at, action.row.resolved_by) = (Some(now), Some(self.resolver.clone()));
        action
    }
}

impl AgentsApi {
    pub(super) async fn send(&self, batch: &SubmissionBatch) -> Result<Outcomes, SourceError> {
        let resolver = self.ask_resolver().await.map_err(nobody)?;
        send_each(batch.items(), 1, |item| self.send_one(item, &resolver)).await
    }

    async fn send_one(&self, item: &Item, resolver: &Untrusted) -> Result<Outcome, SourceError> {
        if item.kind().hands_back() {
            return Ok(untaken(item));
        }
        if item.decision.edits().is_some() {
            return Ok(failed("this source takes no edits"));
        }
        let action = match self.look_again(item).await.map_err(answer::before_sending)? {
            Ok(action) => action,
            Err(outcome) => return Ok(outcome),
        };
        let sending = Sending { item, resolver: resolver.clone(), action };
        let reply = self.site.run(site::RESOLVE, &sending.body(), RESOLVE_LIMIT).await?;
        match (reply.status, site::code(&reply).as_ref().map_or("", Untrusted::as_raw)) {
            (200..=299, _) => self.taken(&sending, &reply),
            (400, "ability_invalid_input") => Ok(refusal(&reply)),
            (500, THREW_CODE) => Ok(unknown(THREW, &reply)),
            (404, "rest_ability_not_found" | "rest_no_route" | "")
            | (403, "rest_ability_cannot_execute" | "") => Err(site::refusal(&reply)),
            (400 | 403 | 404 | 409 | 410 | 412 | 422, _) => Ok(self.refused(&sending, &reply).await),
            _ => Err(site::refusal(&reply)),
        }
    }

    /// Reads the action again. Returns an outcome instead if it was settled, has expired or has changed.
    async fn look_again(&self, item: &Item) -> Result<Result<PendingAction, Outcome>, SourceError> {
        let action = match self.ask_for(&item.id).await? {
            Some(Ok(action)) => action,
            Some(Err(bad)) => bad.stand_in(),
            None => {
                let ended = self.known.ended(&item.id);
                let gone = || Outcome::Skipped { status: Some(Status::Other(HIDDEN.into())), by: None };
                return Ok(Err(ended.map_or_else(gone, |action| skipped(&action.row))));
            }
        };
        Ok(match &action {
            action if !action.row.status.is_pending() => Err(skipped(&action.row)),
            action if action.row.has_expired(clock::now()) => {
                Err(Outcome::Skipped { status: Some(Status::Expired), by: None })
            }
            action if action.digest() != item.digest || action.terms != item.terms => Err(failed(CHANGED)),
            _ => Ok(action),
        })
    }

    /// Checks that a successful answer confirms the decision. An approved call has then run.
    fn taken(&self, sending: &Sending<'_>, reply: &Reply) -> Result<Outcome, SourceError> {
        let fields = Fields::of(&reply.text).unwrap_or_default();
        let said = fields.text("decision");
        let inner = fields.raw("result").and_then(Fields::of);
        let success = inner.as_ref().and_then(|inner| inner.flag("success")).unwrap_or(true);
        if said.is_none_or(|said| said.as_raw() != sending.word()) || !success {
            return Err(answer::nonsense("the answer does not say that it was decided so"));
        }
        let result = inner.as_ref().and_then(|inner| inner.json("result")).or_else(|| fields.json("result"));
        let (ended, outcome) = if sending.approves() {
            (sending.ended(Status::Executed, result, None), Outcome::Approved)
        } else {
            (sending.ended(Status::Rejected, None, None), Outcome::Rejected)
        };
        self.known.end(ended);
        Ok(outcome)
    }

    /// Determines the outcome of a refused decision from the current state of the action.
    async fn refused(&self, sending: &Sending<'_>, reply: &Reply) -> Outcome {
        if sending.approves() && may_have_run(reply) {
            return unknown(MAY_HAVE_RUN, reply);
        }
        for pause in LOOKS {
            tokio::time::sleep(pause).await;
            match self.ask_for(&sending.item.id).await {
                Err(error) => return unknown(&format!("refused, and then it {error}"), reply),
                Ok(Some(Err(_))) => return unknown("refused, and it cannot be read any more", reply),
                Ok(Some(Ok(action))) if action.row.status.is_pending() => {
                    self.known.refuse(&sending.item.id);
                    return refusal(reply);
                }
                // Our approval ran and failed, and the site kept the error.
                Ok(Some(Ok(action)))
                    if sending.approves()
                        && action.row.status == Status::Failed
                        && action.row.resolved_by.as_ref() == Some(&sending.resolver) =>
                {
                    return Outcome::Approved;
                }
                Ok(Some(Ok(action))) if action.row.status != Status::Running => return skipped(&action.row),
                Ok(None) if sending.approves() && ran(reply) => {
                    let error = answer::message(reply);
                    self.known.end(sending.ended(Status::Failed, None, Some(error)));
                    return Outcome::Approved;
                }
                Ok(_) => {}
            }
        }
        match data(reply) {
            Some(_) => Outcome::Skipped { status: Some(Status::Other(HIDDEN.into())), by: None },
            None => unknown("refused, and the site does not know the action any more", reply),
        }
    }
}

/// Returns whether Data Machine could not record that the call ran. Reads the message too, because the rest of the
/// refusal can look like a failed run.
fn may_have_run(reply: &Reply) -> bool {
    let kind = data(reply).and_then(|data| data.text("kind"));
    kind.is_some_and(|kind| kind.as_raw() == "no_receipt")
        || answer::message(reply).as_raw().contains("may have completed")
}

/// Returns whether the call ran and failed. Data Machine sends the kind only once it has taken the action out to run
/// it. The slower of two simultaneous decisions differs only in its message.
fn ran(reply: &Reply) -> bool {
    let claimed = answer::message(reply).as_raw().contains("already been claimed or resolved");
    !claimed && data(reply).is_some_and(|data| data.raw("kind").is_some())
}

/// Returns the refusal's data if it is about an action.
fn data(reply: &Reply) -> Option<Fields<'_>> {
    let fields = Fields::of(&reply.text)?;
    Fields::of(fields.raw("data")?).filter(|data| data.raw("actionId").is_some())
}

fn refusal(reply: &Reply) -> Outcome {
    let said = answer::message(reply);
    Outcome::Failed { why: format!("the site refused it, and it is still pending: {}", said.as_raw()).into() }
}

fn unknown(what: &str, reply: &Reply) -> Outcome {
    let said = answer::message(reply);
    Outcome::Unknown { why: format!("{what}. The site said: {}", said.as_raw()).into() }
}

/// Converts a failure to learn the resolver, without which nothing is decided.
fn nobody(error: SourceError) -> SourceError {
    match answer::before_sending(error) {
        SourceError::Refused { why } | SourceError::Forbidden { why } => {
            SourceError::Forbidden { why: format!("{NOBODY}: {}", why.as_raw()).into() }
        }
        other => other,
    }
}
