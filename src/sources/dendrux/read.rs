//! Lists what waits and reads actions in full, with or without the bridge.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use futures_util::stream::{self, StreamExt as _};

use super::call_id::CallId;
use super::can::Facts;
use super::client::{Dendrux, GETS, LONG_LIMIT, Road, lock, parsed};
use super::past::UNTOLD;
use super::turn::{Turn, Waits};
use super::wire::Waiting;
use super::{call_id, wire};
use crate::domain::{ActionId, PendingAction};
use crate::net::url;

use crate::sources::{Full, SourceError, Synced, answer};
/// Number of reads of a decision that is not recorded, and the pause before each. Together longer than a rejection
/// takes to be recorded.
const LOOKS: u32 = 10;
const LOOK: Duration = Duration::from_millis(250);
/// Maximum number of runs to name to the bridge. Above it, everything that waits is read.
const NAMED: usize = 20;

impl Dendrux {
    /// Lists everything that waits. Looks for a bridge each time until there is one, because it may be mounted later.
    pub(super) async fn list(&self) -> Result<Synced, SourceError> {
        lock(&self.road).take_if(|road| matches!(road, Road::Plain));
        let listed = self.listed_anew().await;
        if listed.is_err() {
            // Another application may run there now.
            *lock(&self.road) = None;
        }
        listed
    }

    async fn listed_anew(&self) -> Result<Synced, SourceError> {
        let road = self.road().await?;
        let waiting = match road {
            Road::Bridge(_) => self.waiting(&[]).await?,
            Road::Plain => self.runs_waiting().await?,
        };
        let rows = waiting.turns.iter().flat_map(|turn| actions(turn, &road)).map(|action| action.row);
        Ok(Synced::All { rows: rows.collect(), unreadable: waiting.unreadable, revision: None })
    }

    /// Asks the bridge what waits, for the given runs or all. A bridge that cannot filter returns more.
    pub(super) async fn waiting(&self, runs: &[&str]) -> Result<Waiting, SourceError> {
        let runs: Vec<_> = runs.iter().map(|run| ("run_id", *run)).collect();
        let query =
            if runs.is_empty() || runs.len() > NAMED { self.narrowed(&[]) } else { url::query(&runs) };
        let reply = self.ask(format!("/placet/waiting{query}"), LONG_LIMIT).await?;
        match reply.status {
            200..=299 => parsed(reply.text, wire::waiting).await,
            404 => Err(answer::nonsense("the bridge is not there any more")),
            _ => Err(answer::refusal(&reply)),
        }
    }

    /// Reads actions in full, waiting or not, and leaves out unknown ids. Waits for fresh decisions, which may be
    /// rejections.
    pub(super) async fn read(&self, ids: &[ActionId]) -> Result<Vec<Full>, SourceError> {
        let mut found = self.read_once(ids).await?;
        for _ in 0..LOOKS {
            let is_fresh = |one: &Full| one.as_ref().is_err_and(|bad| bad.what == UNTOLD);
            let fresh = found.iter().filter(|one| is_fresh(one));
            let ids: Vec<ActionId> = fresh.filter_map(|one| one.as_ref().err()?.id.clone()).collect();
            if ids.is_empty() {
                break;
            }
            tokio::time::sleep(LOOK).await;
            let Ok(again) = self.read_once(&ids).await else { break };
            found.retain(|one| !is_fresh(one));
            found.extend(again);
        }
        Ok(found)
    }

    async fn read_once(&self, ids: &[ActionId]) -> Result<Vec<Full>, SourceError> {
        let mut runs: BTreeMap<String, Vec<CallId>> = BTreeMap::new();
        // An id in another format is unknown.
        for place in ids.iter().filter_map(CallId::of) {
            runs.entry(place.run.clone()).or_default().push(place);
        }
        let road = self.road().await?;
        let turns = match road {
            Road::Bridge(_) if runs.is_empty() => HashMap::new(),
            Road::Bridge(_) => {
                let named: Vec<&str> = runs.keys().map(String::as_str).collect();
                let waiting = self.waiting(&named).await?;
                waiting.turns.into_iter().map(|turn| (turn.run.clone(), turn)).collect()
            }
            Road::Plain => HashMap::new(),
        };
        let (turns, road) = (&turns, &road);
        let reads: Vec<_> = runs
            .iter()
            .map(|(run, places)| async move {
                match turns.get(run) {
                    Some(turn) if places.iter().all(|place| place.pause == turn.pause) => {
                        Ok(pending(turn, places, road))
                    }
                    turn => self.read_run(run, places, turn, road).await,
                }
            })
            .collect();
        let found: Vec<Result<Vec<Full>, SourceError>> =
            stream::iter(reads).buffer_unordered(GETS).collect().await;
        Ok(found.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    /// Reads actions of one run, some of them settled. `turn` is the turn in which it waits, if already known.
    async fn read_run(
        &self,
        run: &str,
        places: &[CallId],
        turn: Option<&Turn>,
        road: &Road,
    ) -> Result<Vec<Full>, SourceError> {
        let Some(route) = call_id::of_run(run) else { return Ok(Vec::new()) };
        let Some(state) = self.found(route.clone(), super::log::run).await? else { return Ok(Vec::new()) };
        let waits = Waits::parse(state.status.as_raw()).is_some();
        let asked = match (turn, road) {
            (None, Road::Plain) if waits => {
                self.turn(run, state.agent.as_ref(), state.parent.as_ref()).await?
            }
            _ => None,
        };
        let mut found = Vec::new();
        let turn = match asked {
            Some(Err(bad)) => {
                found.push(Err(bad));
                None
            }
            Some(Ok(turn)) => Some(turn),
            None => turn.cloned(),
        };
        let (open, over): (Vec<_>, Vec<_>) = places
            .iter()
            .cloned()
            .partition(|place| turn.as_ref().is_some_and(|turn| turn.pause == place.pause));
        if let Some(turn) = &turn {
            found.extend(pending(turn, &open, road));
        }
        if !over.is_empty() {
            found.extend(self.over(&route, &state, &over, road).await?);
        }
        Ok(found)
    }
}

fn actions(turn: &Turn, road: &Road) -> impl Iterator<Item = PendingAction> {
    let can = Facts::of(turn, road).capabilities();
    turn.actions().into_iter().map(move |mut action| {
        action.row.can = can;
        action
    })
}

fn pending(turn: &Turn, places: &[CallId], road: &Road) -> Vec<Full> {
    let wanted: Vec<ActionId> = places.iter().map(CallId::id).collect();
    actions(turn, road).filter(|action| wanted.contains(&action.row.id)).map(Ok).collect()
}
