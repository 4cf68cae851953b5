//! Sends decisions once, with an outcome for each.

use serde_json::value::RawValue;

use super::client::{Dialect, PendingActions, ROOT};
use super::settle::{self, Counts, Found};
use super::wire::{self, CHANGED, GONE};
use crate::contract::batch::{Approve, BatchApprove, BatchItem, Reject};
use crate::contract::error;
use crate::domain::{Decision, Item, Outcome, Status, SubmissionBatch, Untrusted};
use crate::net::http::Reply;
use crate::net::url;
use crate::sources::answer::{self, failed, skipped, untaken};
use crate::sources::send_each::{same, send_parts};
use crate::sources::{Outcomes, SourceError};

const NO_BATCH: &str = "the source does not know this batch any more, so nothing was decided";

/// Maximum decisions per request, which limits its size and time.
const ITEMS: usize = 2_000;

fn refusal(dialect: Dialect, reply: &Reply) -> SourceError {
    let is_busy = dialect == Dialect::Gate && answer::nothing_was_done(reply);
    let refused = answer::refusal(reply);
    if is_busy { answer::before_sending(refused) } else { refused }
}

struct Sending<'a> {
    item: &'a Item,
    edits: Option<Box<RawValue>>,
    reason: Option<String>,
}

impl PendingActions {
    pub(super) async fn send(&self, batch: &SubmissionBatch, key: &str) -> Result<Outcomes, SourceError> {
        let (mut outcomes, mut items) = (Vec::new(), Vec::new());
        for item in batch.items() {
            match self.sending(item) {
                Ok(sending) => items.push(sending),
                Err(outcome) => outcomes.push((item.id.clone(), outcome)),
            }
        }
        if self.dialect == Dialect::Praxiom {
            outcomes.extend(self.look_again(&mut items).await?);
        }
        if items.is_empty() {
            return Ok(outcomes);
        }
        // If the id cannot be used in a URL, the actions are decided one by one.
        let place = |under: &str, id: &str| Some(format!("{under}/{}/approve", url::segment(id)?));
        let place = match (batch.checkpoint(), batch.batch()) {
            (Some(checkpoint), _) => place("/api/checkpoints", checkpoint.as_raw()),
            (None, Some(batch)) => place(&format!("{ROOT}/batch"), batch.as_raw()),
            (None, None) => None,
        };
        outcomes.extend(self.send_parts(place.as_deref(), &items, key).await?);
        Ok(outcomes)
    }

    /// Sends as few requests as possible.
    async fn send_parts(
        &self,
        place: Option<&str>,
        items: &[Sending<'_>],
        key: &str,
    ) -> Result<Outcomes, SourceError> {
        let parts: Vec<_> = items.chunks(if place.is_some() { ITEMS } else { 1 }).enumerate().collect();
        let send = async |(nth, part): &(usize, &[Sending<'_>])| {
            let key = if *nth == 0 { key.to_owned() } else { format!("{key}.{nth}") };
            match (place, part) {
                (None, [one]) => self.send_one(one, &key).await.map(|outcome| same(&[one.item], &outcome)),
                (place, part) => self.send_batch(place.unwrap_or_default(), part, &key).await,
            }
        };
        send_parts(&parts, 1, |(_, part)| part.iter().map(|sending| sending.item).collect(), send).await
    }

    fn sending<'a>(&self, item: &'a Item) -> Result<Sending<'a>, Outcome> {
        if item.kind().hands_back() {
            return Err(untaken(item));
        }
        let edits = item.decision.edits().map(|edits| serde_json::from_str(edits.as_json().as_str()));
        let edits =
            edits.transpose().map_err(|_| failed("the edits are no JSON that a backend could read"))?;
        // A backend that does not keep it does not get it. It stays in our journal.
        let said = item.decision.said().filter(|_| self.dialect == Dialect::Gate);
        let reason = said.map(str::to_owned);
        Ok(Sending { item, edits, reason })
    }

    /// Reads the actions again and keeps those that are pending and unchanged. Returns the outcomes of the others.
    async fn look_again(&self, items: &mut Vec<Sending<'_>>) -> Result<Outcomes, SourceError> {
        let ids: Vec<_> = items.iter().map(|sending| sending.item.id.clone()).collect();
        let found = Found::with_stand_ins(self.read(&ids).await.map_err(answer::before_sending)?);
        let mut outcomes = Vec::new();
        items.retain(|Sending { item, .. }| {
            let outcome = match found.get(&item.id) {
                None => failed(GONE),
                Some(action) if !action.row.status.is_pending() => skipped(&action.row),
                Some(action) if action.digest() != item.digest => failed(CHANGED),
                Some(_) => return true,
            };
            outcomes.push((item.id.clone(), outcome));
            false
        });
        Ok(outcomes)
    }

    async fn send_batch(
        &self,
        place: &str,
        items: &[Sending<'_>],
        key: &str,
    ) -> Result<Outcomes, SourceError> {
        let entries = items.iter().map(|item| self.batch_item(item)).collect();
        let body = wire::body(&BatchApprove { items: entries, via: self.via() })?;
        let reply = self.post(place.to_owned(), body, self.key(key)).await?;
        let sent: Vec<&Item> = items.iter().map(|sending| sending.item).collect();
        let all = |why: &str| Ok(same(&sent, &failed(why)));
        match reply.status {
            200..=299 => {
                let answer = wire::batch_answer(&reply.text).unwrap_or_default();
                Ok(self.settle_batch(&sent, &answer).await)
            }
            409 if error::read(&reply.text).code.is_some_and(|code| code.as_raw() == "INVALID_BATCH") => {
                all(error::read(&reply.text).message.as_raw())
            }
            // This request had no effect, so settled actions were settled by somebody else.
            409 => Ok(self.attribute(&sent, Counts { skipped: u64::MAX, ..Counts::default() }).await),
            404 => Ok(self.no_batch(&sent).await),
            412 => all(changed(&reply).as_raw()),
            _ => Err(refusal(self.dialect, &reply)),
        }
    }

    async fn no_batch(&self, sent: &[&Item]) -> Outcomes {
        let ids: Vec<_> = sent.iter().map(|item| item.id.clone()).collect();
        let read = self.read(&ids).await.map(Found::of);
        let outcome = |item: &&Item| {
            let status = read.as_ref().map(|found| found.get(&item.id).map(|action| &action.row.status));
            let why = match status.unwrap_or(Some(&Status::Pending)) {
                Some(status) if status.is_pending() => NO_BATCH,
                Some(status) => {
                    let status = Some(status.clone());
                    return (item.id.clone(), Outcome::Skipped { status, by: None });
                }
                None => GONE,
            };
            (item.id.clone(), failed(why))
        };
        sent.iter().map(outcome).collect()
    }

    /// Takes the named outcomes, and reads the actions that were not named.
    async fn settle_batch(&self, sent: &[&Item], answer: &wire::BatchAnswer) -> Outcomes {
        let named = |item: &Item| answer.items.iter().find(|answered| answered.id == item.id)?.outcome(item);
        let (mut outcomes, mut open) = (Vec::new(), Vec::new());
        for &item in sent {
            match named(item) {
                Some(outcome) => outcomes.push((item.id.clone(), outcome)),
                None => open.push(item),
            }
        }
        if !open.is_empty() {
            let named = |is: fn(&Outcome) -> bool| outcomes.iter().filter(|(_, it)| is(it)).count() as u64;
            let (approved, rejected) =
                (named(|it| *it == Outcome::Approved), named(|it| *it == Outcome::Rejected));
            let skipped = named(|it| matches!(it, Outcome::Skipped { .. }));
            let counts = Counts {
                approved: answer.counts.approved.map(|all| all.saturating_sub(approved)),
                rejected: answer.counts.rejected.map(|all| all.saturating_sub(rejected)),
                skipped: answer.counts.skipped.saturating_sub(skipped),
            };
            outcomes.extend(self.attribute(&open, counts).await);
        }
        outcomes
    }

    async fn attribute(&self, sent: &[&Item], counts: Counts) -> Outcomes {
        let ids: Vec<_> = sent.iter().map(|item| item.id.clone()).collect();
        match self.read(&ids).await {
            Ok(actions) => settle::attribute(sent, &Found::of(actions), counts),
            Err(error) => {
                let why = format!("the answer names no action, and reading them again failed: {error}");
                same(sent, &Outcome::Unknown { why: why.into() })
            }
        }
    }

    async fn send_one(&self, sending: &Sending<'_>, key: &str) -> Result<Outcome, SourceError> {
        let item = sending.item;
        let Some(segment) = url::segment(item.id.as_raw()) else {
            return Ok(failed("its id cannot stand in an address"));
        };
        let (verb, body) = if item.kind().approves() {
            ("approve", wire::body(&self.approve(sending))?)
        } else if item.kind().rejects() {
            ("reject", wire::body(&self.reject(sending))?)
        } else {
            return Ok(untaken(item));
        };
        let reply = self.post(format!("{ROOT}/{segment}/{verb}"), body, self.key(key)).await?;
        match reply.status {
            200..=299 => Ok(self.settle_one(item, &reply).await),
            409 => Ok(self.conflict(item, &reply).await),
            404 => Ok(failed(GONE)),
            412 => Ok(Outcome::Failed { why: changed(&reply) }),
            _ => Err(refusal(self.dialect, &reply)),
        }
    }

    async fn settle_one(&self, item: &Item, reply: &Reply) -> Outcome {
        let said = wire::standing(&reply.text)
            .and_then(|(status, by)| Outcome::by_status(item.kind(), &status, by.as_ref()));
        match said.or_else(|| wire::counted(&reply.text).filter(|_| item.kind().approves())) {
            Some(outcome) => outcome,
            None if reply.status == 202 => Outcome::Accepted,
            None => self.read_one(item, 0).await,
        }
    }

    /// Reports who settled the action and how, from the error or from the action.
    async fn conflict(&self, item: &Item, reply: &Reply) -> Outcome {
        let said = error::read(&reply.text);
        match said.status.map(|word| Status::parse(word.as_raw())) {
            Some(status) if !status.is_pending() => {
                Outcome::Skipped { status: Some(status), by: said.resolved_by }
            }
            Some(_) | None => match self.read_one(item, 1).await {
                Outcome::Failed { .. } => Outcome::Failed { why: answer::message(reply) },
                other => other,
            },
        }
    }

    async fn read_one(&self, item: &Item, skipped: u64) -> Outcome {
        let unknown = || Outcome::Unknown { why: settle::NO_TRACE.into() };
        let counts = Counts { skipped, ..Counts::default() };
        self.attribute(&[item], counts).await.pop().map_or_else(unknown, |(_, outcome)| outcome)
    }

    fn key(&self, key: &str) -> Option<String> {
        (self.dialect == Dialect::Gate).then(|| key.to_owned())
    }

    fn expected(&self, item: &Item) -> (Option<String>, Option<String>) {
        match self.dialect {
            Dialect::Gate if item.unreadable => (None, None),
            Dialect::Gate => (Some(item.digest.to_string()), Some(item.effective.to_string())),
            Dialect::Praxiom => (None, None),
        }
    }

    fn approve(&self, sending: &Sending<'_>) -> Approve {
        let (expected_digest, expected_effective_digest) = self.expected(sending.item);
        Approve {
            user_edits: sending.edits.clone(),
            expected_digest,
            expected_effective_digest,
            expected_terms: sending
                .item
                .terms
                .filter(|_| self.dialect == Dialect::Gate)
                .map(|it| it.to_string()),
            reason: sending.reason.clone(),
            via: self.via(),
        }
    }

    /// `None` for a backend that does not keep it.
    fn via(&self) -> Option<String> {
        (self.dialect == Dialect::Gate).then(|| self.via.word().to_owned())
    }

    fn reject(&self, sending: &Sending<'_>) -> Reject {
        let (expected_digest, _) = self.expected(sending.item);
        Reject { reason: sending.reason.clone(), expected_digest, via: self.via() }
    }

    fn batch_item(&self, sending: &Sending<'_>) -> BatchItem {
        let exclude = matches!(sending.item.decision, Decision::Reject { .. });
        let approve = self.approve(sending);
        BatchItem {
            pending_action_id: sending.item.id.as_raw().to_owned(),
            user_edits: approve.user_edits,
            exclude,
            expected_digest: approve.expected_digest,
            expected_effective_digest: approve.expected_effective_digest.filter(|_| !exclude),
            expected_terms: approve.expected_terms.filter(|_| !exclude),
            reason: approve.reason,
        }
    }
}

fn changed(reply: &Reply) -> Untrusted {
    let said = error::read(&reply.text);
    if said.code.is_some() && !said.message.is_empty() { said.message } else { CHANGED.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gate_that_stops_lost_sight_of_nothing() {
        let reply = |code: &str, retry_after| Reply {
            status: 503,
            text: format!(r#"{{"error":{{"code":"{code}","message":"m"}}}}"#),
            retry_after,
        };
        let soon = Some(std::time::Duration::from_secs(5));

        let lost = |dialect, reply: Reply| refusal(dialect, &reply).lost_sight();
        assert!(!lost(Dialect::Gate, reply("UNAVAILABLE", soon)));
        assert!(lost(Dialect::Praxiom, reply("UNAVAILABLE", soon)), "nobody promised it");
        assert!(
            lost(Dialect::Gate, reply("UNAVAILABLE", None)),
            "its database may have failed after the write"
        );
        assert!(lost(Dialect::Gate, reply("BAD_GATEWAY", soon)), "somebody in between");
    }
}
