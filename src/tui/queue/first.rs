//! The rows that come first: unknown, expiring, blocking, critical. The header counts them, and one key visits them.

use std::collections::HashSet;

use crate::domain::{ActionKey, Look, Risk};
use crate::tui::chrome;
use crate::tui::core::model::Model;

use super::slots::{RowId, Slot};
use super::sync;
use super::tally::{Urgency, Waiting};
use super::words;

impl Urgency {
    pub(crate) const ALL: [Self; 4] = [Self::Unknown, Self::Expiring, Self::Blocking, Self::Critical];

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Unknown => Look::UNKNOWN.word,
            Self::Expiring => words::EXPIRING,
            Self::Blocking => words::BLOCKED,
            Self::Critical => words::CRITICAL,
        }
    }
}

pub(crate) fn counts(model: &Model) -> [usize; 4] {
    let stats = &model.list.stats;
    let [.., critical] = stats.risks;
    let until = model.now.plus_millis(lead(model));
    // A source that was not listed yet counts for itself.
    let unlisted = model.list.sources.iter().filter(|source| !source.listed);
    let unlisted = unlisted.filter_map(|source| source.blocked).sum::<u64>();
    let blocked = stats.waiting.saturating_add(usize::try_from(unlisted).unwrap_or(usize::MAX));
    let staged = &model.decide.spread.urgent;
    let expiring = model.queue.tally.expiring(model.now, until);
    [
        stats.unknown,
        expiring.saturating_sub(staged.expiring(model.now, until)),
        blocked.saturating_sub(staged.unblocked),
        critical.saturating_sub(staged.critical),
    ]
}

/// Whether a row that is unknown, expires or is critical is not the one under the cursor.
pub(crate) fn leads_away(model: &Model) -> bool {
    let [unknown, expiring, _, critical] = counts(model);
    let here = model.here().map_or(0, |slot| {
        let [unknown, expiring, critical] = is_urgent(model, slot);
        usize::from(unknown) + usize::from(expiring) + usize::from(critical)
    });
    !model.queue.is_filtered && unknown + expiring + critical > here
}

fn is_undecided(model: &Model, slot: &Slot) -> bool {
    slot.counts_as_pending() && model.decide.draft.get(&slot.entry.key).is_none()
}

fn is_urgent(model: &Model, slot: &Slot) -> [bool; 3] {
    let until = model.now.plus_millis(lead(model));
    let expires = slot.entry.row.expires_at.filter(|_| slot.is_pending() && is_undecided(model, slot));
    let is_soon = expires.is_some_and(|at| at > model.now && at <= until);
    let is_critical = is_undecided(model, slot) && slot.entry.row.risk == Risk::Critical;
    [slot.is_lost(), is_soon, is_critical]
}

fn lead(model: &Model) -> i64 {
    i64::try_from(model.settings.targets.expiring.as_millis()).unwrap_or(i64::MAX)
}

pub(crate) fn go(model: &mut Model) {
    let (mut stops, mut hidden) = round(model);
    if stops.is_empty() && sync::arrive_all(model) {
        (stops, hidden) = round(model);
    }
    // After a decision at a stop the cursor moved on, and so does the round.
    let goes_on = |key: &ActionKey| {
        model.here().is_some_and(|slot| slot.entry.key == *key) || model.decide.draft.get(key).is_some()
    };
    let last = model.list.first.as_ref().filter(|(_, key)| goes_on(key));
    let last = last.and_then(|(why, key)| Some((*why, model.queue.get(key)?.rank)));
    let place = |(why, id): &(Urgency, RowId)| (*why, model.queue.slot(*id).map_or(0, |slot| slot.rank));
    let next = stops.iter().find(|stop| last.is_some_and(|last| place(stop) > last));
    let Some((why, id)) = next.or(stops.first()).copied() else {
        let said = if hidden > 0 { words::all_hidden(hidden) } else { words::NOTHING_URGENT.to_owned() };
        return model.say(said);
    };
    model.queue.drop_range();
    model.queue.go_to_action(id);
    let Some(slot) = model.queue.slot(id) else { return };
    let of_kind = || stops.iter().filter(|(kind, _)| *kind == why);
    let nth = of_kind().position(|(_, other)| *other == id).map_or(1, |nth| nth + 1);
    let reason = match (why, slot.entry.row.expires_at) {
        (Urgency::Expiring, Some(at)) => chrome::words::expires_in(at, model.now),
        (why, _) => why.word().to_owned(),
    };
    let hidden = if hidden > 0 { words::more_hidden(hidden) } else { String::new() };
    let said = words::nth_of(&reason, nth, of_kind().count(), &hidden);
    model.list.first = Some((why, slot.entry.key.clone()));
    model.say(said);
}

/// Returns the stops of one round in order, and how many more the filter hides.
fn round(model: &Model) -> (Vec<(Urgency, RowId)>, usize) {
    let queue = &model.queue;
    let mut waiting = HashSet::new();
    let mut reasons = |slot: &Slot| {
        let is_first =
            is_undecided(model, slot) && Waiting::of(&slot.entry).is_some_and(|unit| waiting.insert(unit));
        let [is_unknown, is_soon, is_critical] = is_urgent(model, slot);
        let is = [is_unknown, is_soon, is_first, is_critical];
        Urgency::ALL.into_iter().zip(is).filter(|(_, is)| *is).map(|(why, _)| why).collect::<Vec<_>>()
    };
    let mut found = Vec::new();
    for id in queue.groups.iter().flat_map(|group| &group.rows) {
        let whys = queue.slot(*id).map(&mut reasons).unwrap_or_default();
        found.extend(whys.into_iter().map(|why| (why, *id)));
    }
    let hidden = queue.slots.iter().filter(|slot| slot.filtered_out && !slot.away);
    let hidden = hidden.map(|slot| reasons(slot).len()).sum();
    found.sort_by_key(|(why, _)| *why);
    (found, hidden)
}
