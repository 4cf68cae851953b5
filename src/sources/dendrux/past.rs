//! Settled actions, read from their runs.

use std::collections::BTreeMap;

use futures_util::future::try_join;

use super::call_id::CallId;
use super::call_status::{CallStatus, Record};
use super::client::{Dendrux, Road};
use super::log::{self, CallRun, Pause, Run};
use super::turn::{Call, Question, Turn, Waits};
use super::wire::{self, Decided};
use crate::clock;
use crate::contract::action::Unreadable;
use crate::domain::{PendingAction, RawJson, Status, Timestamp};
use crate::sources::{Full, SourceError};

/// Somebody decided, but dendrux records the decision only when the call has ended.
pub(super) const UNTOLD: &str =
    "somebody decided it; dendrux writes down how when the calls of its turn are done";
/// The same after so long that the application may have died, so that it is never recorded.
pub(super) const SILENT: &str = "somebody decided it, and its run wrote nothing since: the app may be gone. Look at the app, and at what \
                                 the call writes to";
/// Milliseconds within which a rejection is recorded. A call without a record after that is running.
const WRITTEN: i64 = 2_000;
/// Milliseconds; longer than most tools take.
const RUNS: i64 = 15 * 60 * 1_000;
/// Calls per page, and maximum number of pages.
const PAGE: usize = 1_000;
const PAGES_MAX: usize = 20;

impl Dendrux {
    /// Reads actions of one run that no longer wait. Leaves out those of unknown pauses.
    pub(super) async fn over(
        &self,
        route: &str,
        run: &Run,
        places: &[CallId],
        road: &Road,
    ) -> Result<Vec<Full>, SourceError> {
        let pauses = self.found(format!("{route}/pauses"), log::pauses).await?.unwrap_or_default();
        let mut by_pause: BTreeMap<u64, Vec<&CallId>> = BTreeMap::new();
        for place in places {
            by_pause.entry(place.pause).or_default().push(place);
        }
        let Some(first) = by_pause.keys().next().copied() else { return Ok(Vec::new()) };
        let (events, ran) = try_join(self.events(route, Some(first)), self.ran(route)).await?;
        let mut found = Vec::new();
        for pause in pauses {
            let Some(places) = by_pause.get(&pause.index) else { continue };
            let after = events.partition_point(|event| event.index <= pause.index);
            let events = events.get(after..).unwrap_or_default();
            let record = Record { run, pause: &pause, events, ran: &ran };
            let decided = self.remembered(route, pause.index, road).await;
            found.extend(places.iter().filter_map(|place| self.settled(place, record, &decided)));
        }
        Ok(found)
    }

    /// Returns `None` for a call that the pause did not hold.
    fn settled(&self, place: &CallId, record: Record<'_>, decided: &Decided) -> Option<Full> {
        let turn = turn(&place.run, record.run, record.pause)?;
        let call = turn.calls.iter().find(|call| place.call.as_deref() == Some(&call.id));
        let action = match (turn.waits, call) {
            (Waits::Input, _) if place.call.is_none() => turn.asked(),
            (Waits::Approval | Waits::Result, Some(call)) => turn.action(call),
            _ => return None,
        };
        let ours = self.memory.ours.get(&place.id());
        let fate = record.fate(place.call.as_deref(), ours);
        Some(match fate.or_else(|| unwritten(record.went_on(), clock::now())) {
            Some(fate) => Ok(told(action, fate, decided)),
            None => Err(Unreadable::under(Some(action.row.id), UNTOLD, turn.raw.as_str().into())),
        })
    }

    pub(super) async fn ran(&self, route: &str) -> Result<Vec<CallRun>, SourceError> {
        let mut all = Vec::new();
        for number in 0..PAGES_MAX {
            let place = format!("{route}/tool-calls?limit={PAGE}&offset={}", number * PAGE);
            let page = self.found(place, log::calls).await?.unwrap_or_default();
            let size = page.len();
            all.extend(page);
            if size < PAGE {
                break;
            }
        }
        Ok(all)
    }

    /// Returns who decided, from the bridge's memory; empty if the bridge does not answer.
    async fn remembered(&self, route: &str, pause: u64, road: &Road) -> Decided {
        let Road::Bridge(_) = road else { return Decided::default() };
        let text = self.found(format!("/placet{route}"), |text| Some(text.to_owned())).await;
        let decided = text.ok().flatten().and_then(|text| wire::decided(&text, pause));
        decided.unwrap_or_default()
    }
}

/// Rebuilds a settled turn from its pause. Marks all calls as gated, because it no longer matters which were.
fn turn(id: &str, run: &Run, pause: &Pause) -> Option<Turn> {
    let question = Question { text: "the agent asked something".into(), options: RawJson::null() };
    let gated = |call: &Call| Call { gated: true, ..call.clone() };
    Some(Turn {
        run: id.to_owned(),
        waits: Waits::parse(&pause.reason)?,
        pause: pause.index,
        at: pause.at,
        agent: run.agent.clone(),
        tenant: None,
        parent: run.parent.clone(),
        said: run.said.clone(),
        metadata: None,
        calls: pause.calls.iter().map(gated).collect(),
        question: Some(question),
        raw: pause.raw.clone(),
    })
}

/// Returns the state of a call without records whose run continued at `since`; `None` if that was just now, because it
/// may be a rejection.
fn unwritten(since: Option<Timestamp>, now: Timestamp) -> Option<CallStatus> {
    let fate =
        |status, why: &str| Some(CallStatus { error: Some(why.into()), at: since, ..CallStatus::of(status) });
    match since {
        Some(at) if at <= now && now.since(at) < WRITTEN => None,
        Some(at) if now.since(at) >= RUNS => fate(Status::Unknown, SILENT),
        // `at` may lie in the future, because clocks differ.
        Some(_) | None => fate(Status::Running, UNTOLD),
    }
}

/// Returns whether the action counts as running only because nothing is recorded. It may not be approved.
pub(super) fn is_unwritten(action: &PendingAction) -> bool {
    action.error.as_ref().is_some_and(|why| [UNTOLD, SILENT].contains(&why.as_raw()))
}

fn told(mut action: PendingAction, fate: CallStatus, decided: &Decided) -> PendingAction {
    let pending = fate.status.is_pending();
    action.row.status = fate.status;
    action.row.resolved_at = fate.at.or(decided.at).filter(|_| !pending);
    action.row.resolved_by.clone_from(&decided.by);
    action.result = fate.result;
    action.error = fate.error;
    action.reason = fate.reason;
    action.terms = None;
    action
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unwritten_call_is_running_and_after_long_unknown() {
        let since = Timestamp::from_millis(1_000_000_000);
        let status = |millis| unwritten(Some(since), since.plus_millis(millis)).map(|fate| fate.status);

        assert_eq!(status(0), None, "it may be a rejection");
        assert_eq!((status(WRITTEN), status(RUNS - 1)), (Some(Status::Running), Some(Status::Running)));
        assert_eq!(status(-60_000), Some(Status::Running), "clocks differ");
        assert_eq!(status(RUNS), Some(Status::Unknown));
        assert_eq!(unwritten(None, since).map(|fate| fate.status), Some(Status::Running));
    }
}
