//! Reads without the bridge, through the package's router. Only runs that moved on are read again.

use std::collections::{HashMap, HashSet};

use futures_util::stream::{self, StreamExt as _};

use super::call_id;
use super::client::{Dendrux, GETS, LONG_LIMIT, lock, parsed};
use super::log::{self, Happened, Listed};
use super::turn::{Call, Question, Turn, Waits};
use super::wire::{self, Waiting, nameless};
use crate::contract::action::Unreadable;
use crate::contract::fields::Fields;
use crate::domain::{RawJson, Untrusted, json};
use crate::sources::SourceError;
use crate::sources::answer::{self, success};

/// Runs per page, and events per page: the router's maximum.
const PAGE: u64 = 1_000;
const PAGES_MAX: u64 = 100;

/// A turn; `None` if the run has continued meanwhile.
type Read = Option<Result<Turn, Unreadable>>;

impl Dendrux {
    pub(super) async fn runs_waiting(&self) -> Result<Waiting, SourceError> {
        let mut waiting = Waiting::default();
        let mut runs = Vec::new();
        for run in self.runs().await? {
            match run {
                Ok(run) => runs.push(run),
                Err(bad) => waiting.unreadable.push(bad),
            }
        }
        let mut kept = std::mem::take(&mut *lock(&self.kept));
        let reads: Vec<_> = runs
            .into_iter()
            .map(|run| {
                let known = kept.remove(&run.run).filter(|(stamp, _)| *stamp == run.stamp);
                async move {
                    match known {
                        Some((_, turn)) => Ok((run, Some(Ok(turn)))),
                        None => self.listed_turn(&run).await.map(|turn| (run, turn)),
                    }
                }
            })
            .collect();
        let read: Vec<Result<(Listed, Read), SourceError>> =
            stream::iter(reads).buffered(GETS).collect().await;
        let mut failed = None;
        for one in read {
            match one {
                Ok((run, Some(Ok(turn)))) => {
                    kept.insert(run.run, (run.stamp, turn.clone()));
                    waiting.turns.push(turn);
                }
                Ok((_, Some(Err(bad)))) => waiting.unreadable.push(bad),
                Ok((_, None)) => {}
                Err(error) => failed = Some(error),
            }
        }
        // Keeps the turns that were read, even if another read failed.
        let listed: HashSet<&str> = waiting.turns.iter().map(|turn| turn.run.as_str()).collect();
        kept.retain(|run, _| listed.contains(run.as_str()));
        *lock(&self.kept) = kept;
        failed.map_or(Ok(waiting), Err)
    }

    /// Lists the waiting runs, newest first. Starts again if the list changed while it was paged.
    async fn runs(&self) -> Result<Vec<Result<Listed, Unreadable>>, SourceError> {
        let waits = [Waits::Approval, Waits::Result, Waits::Input].map(|waits| ("status", waits.word()));
        let limit = PAGE.to_string();
        let mut all = Vec::new();
        for _ in 0..3 {
            all.clear();
            let (mut known, mut totals) = (HashSet::new(), HashSet::new());
            for number in 0..PAGES_MAX {
                let offset = (number * PAGE).to_string();
                let query: Vec<_> =
                    waits.into_iter().chain([("limit", &*limit), ("offset", &*offset)]).collect();
                let reply = self.ask(format!("/runs{}", self.narrowed(&query)), LONG_LIMIT).await?;
                let page = parsed(success(reply)?, log::page).await?;
                let size = page.runs.len() as u64;
                totals.insert(page.total);
                let fresh =
                    |run: &Result<Listed, _>| run.as_ref().map_or(true, |run| known.insert(run.run.clone()));
                let before = all.len();
                all.extend(page.runs.into_iter().filter(fresh));
                if size < PAGE {
                    break;
                }
                if all.len() == before {
                    return Err(answer::in_a_circle());
                }
            }
            if totals.len() <= 1 {
                break;
            }
        }
        Ok(all)
    }

    /// Reads the turn of a listed run. An unreadable run does not hide others.
    async fn listed_turn(&self, run: &Listed) -> Result<Read, SourceError> {
        match self.turn(&run.run, run.agent.as_ref(), run.parent.as_ref()).await {
            Ok(Some(Ok(turn))) => Ok(Some(Ok(Turn { at: turn.at.or(run.created), ..turn }))),
            // The application answers, but cannot report this run.
            Err(SourceError::Protocol { why }) => {
                let raw = format!(
                    r#"{{"run_id":{},"error":{}}}"#,
                    json::encode(&run.run),
                    json::encode(why.as_raw())
                );
                Ok(Some(Err(nameless("what it waits for cannot be read", &raw))))
            }
            other => other,
        }
    }

    pub(super) async fn turn(
        &self,
        run: &str,
        agent: Option<&Untrusted>,
        parent: Option<&Untrusted>,
    ) -> Result<Read, SourceError> {
        let Some(route) = call_id::of_run(run) else { return Ok(None) };
        let Some(pauses) = self.found(format!("{route}/pauses"), log::pauses).await? else { return Ok(None) };
        let before = pauses.iter().filter_map(|pause| pause.resumed).max();
        let Some(pause) = pauses.into_iter().rfind(|pause| pause.resumed.is_none()) else { return Ok(None) };
        let Some(waits) = Waits::parse(&pause.reason) else {
            return Ok(Some(Err(nameless(wire::UNKNOWN_WAIT, pause.raw.as_str()))));
        };
        if !pause.whole {
            return Ok(Some(Err(nameless("one of its calls cannot be read", pause.raw.as_str()))));
        }
        let calls = match waits {
            Waits::Approval => {
                let asked = self.events(&route, before).await?;
                gated(pause.calls, &asked, pause.index)
            }
            Waits::Result | Waits::Input => pause.calls,
        };
        let question = match waits {
            Waits::Input => self.last_words(&route).await?,
            Waits::Approval | Waits::Result => None,
        };
        let turn = Turn {
            run: run.to_owned(),
            waits,
            pause: pause.index,
            at: pause.at,
            agent: agent.cloned(),
            tenant: None,
            parent: parent.cloned(),
            said: None,
            metadata: None,
            calls,
            question,
            raw: pause.raw,
        };
        Ok((turn.len() > 0).then_some(Ok(turn)))
    }

    /// Reads the events of a run after the given one, in order.
    pub(super) async fn events(&self, route: &str, after: Option<u64>) -> Result<Vec<Happened>, SourceError> {
        let mut all: Vec<Happened> = Vec::new();
        let mut after = after;
        for _ in 0..PAGES_MAX {
            let after_it = after.map_or_else(String::new, |index| format!("&after={index}"));
            let place = format!("{route}/events?limit={PAGE}{after_it}");
            let events = self.found(place, log::events).await?.unwrap_or_default();
            let last =
                events.last().map(|event| event.index).filter(|last| after.is_none_or(|it| *last > it));
            let size = events.len() as u64;
            all.extend(events);
            match last {
                Some(last) if size >= PAGE => after = Some(last),
                _ => break,
            }
        }
        Ok(all)
    }

    /// Returns the agent's last message, because the package does not serve the question over HTTP.
    async fn last_words(&self, route: &str) -> Result<Option<Question>, SourceError> {
        let said = self.found(format!("{route}/traces?limit={PAGE}"), log::conversation).await?;
        let last = said.unwrap_or_default().into_iter().rfind(|said| said.role.as_raw() == "assistant");
        Ok(last.map(|said| Question { text: said.text, options: RawJson::null() }))
    }
}

/// Marks the calls that asked for approval since the run last continued. If none did, marks all that would run on the
/// server.
fn gated(calls: Vec<Call>, events: &[Happened], pause: u64) -> Vec<Call> {
    let asked =
        events.iter().filter(|event| event.kind.as_raw() == "approval.requested" && event.index < pause);
    let asked: HashMap<&str, Option<Untrusted>> = asked
        .filter_map(|event| {
            let reason = Fields::of(event.data.as_str()).and_then(|data| data.text("reason"));
            // This reason only says that the call is gated.
            let reason = reason.filter(|reason| reason.as_raw() != "requires_approval");
            Some((event.call.as_deref()?, reason))
        })
        .collect();
    let known = calls.iter().any(|call| asked.contains_key(call.id.as_str()));
    let gate = |call: Call| {
        let reason = asked.get(call.id.as_str());
        let gated = if known { reason.is_some() } else { !call.client };
        Call { gated, reason: reason.cloned().flatten(), ..call }
    };
    calls.into_iter().map(gate).collect()
}
