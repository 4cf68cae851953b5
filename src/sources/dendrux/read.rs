//! What waits, and actions in full, by whichever road.

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
/// Looks at a decision that is not written, and the wait before each: longer in all than a rejection takes to be written.
const LOOKS: u32 = 10;
const LOOK: Duration = Duration::from_millis(250);
/// Up to so many runs are named to the bridge; of more, everything that waits is asked for.
const NAMED: usize = 20;

impl Dendrux {
    /// Everything that waits for somebody. A bridge is looked for each time until there is one: it may be mounted later.
    pub(super) async fn list(&self) -> Result<Synced, SourceError> {
        lock(&self.road).take_if(|road| matches!(road, Road::Plain));
        let listed = self.listed_anew().await;
        if listed.is_err() {
            // Somebody may have put another application in its place.
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

    /// What the bridge says: all of it, or that of some runs. A bridge that cannot narrow it says more.
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

    /// Actions in full, waiting or not; unknown ids are left out. Waits for what was decided a moment ago: it may be a rejection.
    pub(super) async fn read(&self, ids: &[ActionId]) -> Result<Vec<Full>, SourceError> {
        let mut found = self.read_once(ids).await?;
        for _ in 0..LOOKS {
            let is_fresh = |one: &Full| one.as_ref().is_err_and(|bad| bad.what == UNTOLD);
            let fresh = found.extract_if(.., |one| is_fresh(one));
            let ids: Vec<ActionId> = fresh.filter_map(|one| one.err()?.id).collect();
            if ids.is_empty() {
                break;
            }
            tokio::time::sleep(LOOK).await;
            found.extend(self.read_once(&ids).await?);
        }
        Ok(found)
    }

    async fn read_once(&self, ids: &[ActionId]) -> Result<Vec<Full>, SourceError> {
        let mut runs: BTreeMap<String, Vec<CallId>> = BTreeMap::new();
        // An id that is none of ours is known to nobody.
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

    /// Actions of one run, of which some are over. `turn` is what it waits for now, where that was asked already.
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

/// The actions of a turn that waits, with what may be done with them.
fn actions(turn: &Turn, road: &Road) -> impl Iterator<Item = PendingAction> {
    let can = Facts::of(turn, road).capabilities();
    turn.actions().into_iter().map(move |mut action| {
        action.row.can = can;
        action
    })
}

/// Those of a turn that waits.
fn pending(turn: &Turn, places: &[CallId], road: &Road) -> Vec<Full> {
    let wanted: Vec<ActionId> = places.iter().map(CallId::id).collect();
    actions(turn, road).filter(|action| wanted.contains(&action.row.id)).map(Ok).collect()
}
