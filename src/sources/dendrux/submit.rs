//! Decides a turn: reads it again, sends it once, and takes the outcome of each call from the records.

use std::collections::HashMap;

use super::body::{self, Parcel};
use super::call_id::{self, CallId};
use super::client::{Dendrux, Road, lock};
use super::past::is_unwritten;
use super::turn::{Turn, Waits};
use crate::contract::error;
use crate::domain::{ActionId, Item, Outcome, PendingAction, Status, SubmissionBatch};
use crate::net::http::Reply;
use crate::sources::answer::{self, failed, skipped};
use crate::sources::{Full, Outcomes, SourceError, SourceInfo as _};

pub(super) const CHANGED: &str =
    "changed since you looked: the run went on, or a call of its turn is not what it was";
pub(super) const GONE: &str = "gone: dendrux does not know this run any more";
const NO_TRACE: &str = "the request was taken, but dendrux does not know this call any more";
const LEFT: &str = "the request was taken, but it is still pending";

impl Dendrux {
    pub(super) async fn send(&self, batch: &SubmissionBatch) -> Result<Outcomes, SourceError> {
        let items = batch.items();
        let road = self.road().await.map_err(answer::before_sending)?;
        let turn = match self.look_again(items, &road).await.map_err(answer::before_sending)? {
            Ok(turn) => turn,
            Err(outcomes) => return Ok(outcomes),
        };
        let parcel = Parcel { turn: &turn, items, by: self.reviewer.as_ref() };
        let place = self.route(&turn, &road);
        let (Some(place), Ok(body)) = (place, body::of(&parcel, &road)) else {
            let why = body::of(&parcel, &road).err().unwrap_or("its run cannot stand in an address");
            return Ok(all(items, &failed(why)));
        };
        let answered = self.post(&place, body).await;
        let answered = match answered {
            Ok(reply) => self.answered(items, &turn, &road, &reply).await,
            Err(error) => Err(error),
        };
        if answered.as_ref().is_err_and(SourceError::lost_sight) {
            self.memory.lost(turn.place(None).batch());
        }
        answered
    }

    /// Returns the turn if it is unchanged and decided as a whole, and the outcomes of its actions otherwise.
    async fn look_again(&self, items: &[Item], road: &Road) -> Result<Result<Turn, Outcomes>, SourceError> {
        let places: Vec<CallId> = items.iter().filter_map(|item| CallId::of(&item.id)).collect();
        let Some(first) = places.first().filter(|_| places.len() == items.len()) else {
            return Ok(Err(all(items, &failed(GONE))));
        };
        if places.iter().any(|place| place.batch() != first.batch()) {
            return Ok(Err(all(items, &failed("these calls are not of one turn"))));
        }
        let turn = match road {
            Road::Bridge(_) => {
                self.waiting(&[&first.run]).await?.turns.into_iter().find(|it| it.run == first.run)
            }
            Road::Plain => match self.turn(&first.run, None, None).await? {
                Some(Ok(turn)) => Some(turn),
                Some(Err(_)) | None => None,
            },
        };
        let Some(turn) = turn.filter(|turn| turn.pause == first.pause) else {
            return Ok(Err(self.elsewhere(items, CHANGED).await?));
        };
        self.memory.still_waits(&first.batch());
        let now: HashMap<ActionId, PendingAction> =
            turn.actions().into_iter().map(|action| (action.row.id.clone(), action)).collect();
        let same = |item: &Item| {
            let same = |now: &PendingAction| now.digest() == item.digest && now.terms == item.terms;
            now.get(&item.id).is_some_and(same)
        };
        // One request carries all calls, so a changed one holds back the others.
        let whole = now.len() == items.len() && items.iter().all(same);
        Ok(if whole { Ok(turn) } else { Err(all(items, &failed(CHANGED))) })
    }

    fn route(&self, turn: &Turn, road: &Road) -> Option<String> {
        let run = call_id::of_run(&turn.run)?;
        Some(match (road, turn.waits) {
            (Road::Bridge(_), Waits::Approval) => format!("/placet{run}/decide"),
            (Road::Bridge(_), Waits::Result) => format!("/placet{run}/results"),
            (Road::Bridge(_), Waits::Input) => format!("/placet{run}/input"),
            (Road::Plain, Waits::Approval) => format!("{run}/{}", self.set.approval_path),
            (Road::Plain, Waits::Result) => format!("{run}/tool-results"),
            (Road::Plain, Waits::Input) => format!("{run}/input"),
        })
    }

    async fn answered(
        &self,
        items: &[Item],
        turn: &Turn,
        road: &Road,
        reply: &Reply,
    ) -> Result<Outcomes, SourceError> {
        let code = error::read(&reply.text).code;
        let code = code.as_ref().map_or("", |code| code.as_raw());
        let message = answer::message(reply);
        match (reply.status, road) {
            (200..=299, Road::Bridge(_)) => Ok(self.won(items).await),
            (200..=299, Road::Plain) => Ok(self.read_back(items).await),
            (409, _) => match self.elsewhere(items, message.as_raw()).await {
                // No earlier answer was lost, so our decision cannot have landed, even if reading failed.
                Err(_) if !self.memory.was_lost(&turn.place(None).batch()) => {
                    Ok(all(items, &Outcome::Skipped { status: None, by: None }))
                }
                told => told,
            },
            (404, Road::Bridge(_)) if code == "not_found" => Ok(all(items, &failed(GONE))),
            (404 | 405, Road::Bridge(_)) => {
                *lock(&self.road) = None;
                Ok(all(items, &failed("the bridge is not there any more; look again")))
            }
            (404 | 405, Road::Plain) => {
                *lock(&self.road) = None;
                Ok(all(items, &failed(&self.nowhere(turn).await)))
            }
            // The bridge says that nothing was decided.
            (500, Road::Bridge(_)) if matches!(code, "failed" | "no_persistence") => {
                Ok(all(items, &Outcome::Failed { why: message }))
            }
            (400 | 422 | 501, _) => Ok(all(items, &Outcome::Failed { why: message })),
            _ => Err(answer::refusal(reply)),
        }
    }

    /// The bridge answers so only to the decision that won the turn. The records may already say more.
    async fn won(&self, items: &[Item]) -> Outcomes {
        for item in items {
            self.memory.ours.put(item.id.clone(), item.kind());
        }
        let found = self.standing(items).await.unwrap_or_default();
        let outcome = |item: &Item| match found.get(&item.id) {
            Some(Ok(action)) => by_status(item, action).unwrap_or_else(|| as_asked(item)),
            Some(Err(())) | None => as_asked(item),
        };
        items.iter().map(|item| (item.id.clone(), outcome(item))).collect()
    }

    /// Takes outcomes from the records alone, because an owner's route may answer anything.
    async fn read_back(&self, items: &[Item]) -> Outcomes {
        let found = match self.standing(items).await {
            Ok(found) => found,
            Err(error) => {
                let why = format!("the answer names no call, and reading them again failed: {error}");
                return all(items, &Outcome::Unknown { why: why.into() });
            }
        };
        let outcome = |item: &Item| match found.get(&item.id) {
            Some(Ok(action)) if self.is_somebody_elses(item, action) => skipped(&action.row),
            Some(Ok(action)) => by_status(item, action).unwrap_or_else(|| failed(LEFT)),
            Some(Err(())) => Outcome::Accepted,
            None => Outcome::Unknown { why: NO_TRACE.into() },
        };
        items.iter().map(|item| (item.id.clone(), outcome(item))).collect()
    }

    /// Returns the outcomes if somebody was first or the run ended. `otherwise` is the reason for actions still
    /// pending.
    async fn elsewhere(&self, items: &[Item], otherwise: &str) -> Result<Outcomes, SourceError> {
        let found = self.standing(items).await?;
        let outcome = |item: &Item| {
            let lost = CallId::of(&item.id).is_some_and(|it| self.memory.was_lost(&it.batch()));
            match found.get(&item.id) {
                None => failed(GONE),
                Some(Err(())) => Outcome::Skipped { status: Some(Status::Running), by: None },
                Some(Ok(action)) if action.row.status.is_pending() => failed(otherwise),
                // An earlier answer was lost, so it may have been this inbox that was first.
                Some(Ok(action)) if lost && !self.is_somebody_elses(item, action) => {
                    by_status(item, action).unwrap_or_else(|| failed(otherwise))
                }
                Some(Ok(action)) => skipped(&action.row),
            }
        };
        Ok(items.iter().map(|item| (item.id.clone(), outcome(item))).collect())
    }

    fn is_somebody_elses(&self, item: &Item, action: &PendingAction) -> bool {
        self.ours(action, &item.decision, "") == Some(false)
    }

    /// Reads the actions. `Err` marks one without records.
    async fn standing(
        &self,
        items: &[Item],
    ) -> Result<HashMap<ActionId, Result<PendingAction, ()>>, SourceError> {
        let ids: Vec<ActionId> = items.iter().map(|item| item.id.clone()).collect();
        let found = self.read(&ids).await?;
        let by_id = |one: Full| match one {
            Ok(action) if is_unwritten(&action) => Some((action.row.id, Err(()))),
            Ok(action) => Some((action.row.id.clone(), Ok(action))),
            Err(bad) => bad.id.map(|id| (id, Err(()))),
        };
        Ok(found.into_iter().filter_map(by_id).collect())
    }

    /// Returns why no route took the decision: the run is gone, or its owner did not write the route.
    async fn nowhere(&self, turn: &Turn) -> String {
        let run = call_id::of_run(&turn.run).unwrap_or_default();
        match self.found(run, super::log::run).await {
            Ok(None) => GONE.to_owned(),
            _ => {
                let route = self.route(turn, &Road::Plain).unwrap_or_default();
                format!(
                    "there is no write route at {}: write one, or set approval_path, or mount placet's bridge",
                    self.path(&route)
                )
            }
        }
    }
}

fn by_status(item: &Item, action: &PendingAction) -> Option<Outcome> {
    Outcome::by_status(item.kind(), &action.row.status, action.row.resolved_by.as_ref())
}

fn as_asked(item: &Item) -> Outcome {
    if item.kind().approves() { Outcome::Approved } else { Outcome::Rejected }
}

fn all(items: &[Item], outcome: &Outcome) -> Outcomes {
    items.iter().map(|item| (item.id.clone(), outcome.clone())).collect()
}
