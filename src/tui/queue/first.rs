//! The rows that come first: unknown, expiring, blocking, critical. The header counts them, and one key visits them.

use std::collections::HashSet;

use crate::domain::{Look, Risk};
use crate::tui::chrome;
use crate::tui::core::model::Model;

use super::slots::{RowId, Slot};
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

/// Returns how many rows the key visits for each reason.
pub(crate) fn counts(model: &Model) -> [usize; 4] {
    let stats = &model.list.stats;
    let [.., critical] = stats.risks;
    let until = model.now.plus_millis(lead(model));
    // A source that was not listed yet counts for itself.
    let unlisted = model.list.sources.iter().filter(|source| !source.listed);
    let unlisted = unlisted.filter_map(|source| source.blocked).sum::<u64>();
    let blocked = stats.waiting.saturating_add(usize::try_from(unlisted).unwrap_or(usize::MAX));
    [stats.unknown, model.queue.tally.expiring(model.now, until), blocked, critical]
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

fn is_urgent(model: &Model, slot: &Slot) -> [bool; 3] {
    let until = model.now.plus_millis(lead(model));
    let expires = slot.entry.row.expires_at.filter(|_| slot.is_pending());
    let is_soon = expires.is_some_and(|at| at > model.now && at <= until);
    let is_critical = slot.counts_as_pending() && slot.entry.row.risk == Risk::Critical;
    [slot.is_lost(), is_soon, is_critical]
}

fn lead(model: &Model) -> i64 {
    i64::try_from(model.settings.targets.expiring.as_millis()).unwrap_or(i64::MAX)
}

/// Moves to the next row that comes first, and says why.
pub(crate) fn go(model: &mut Model) {
    let (stops, hidden) = stops(model);
    let here = model.here().map(|slot| &slot.entry.key);
    let last = model.list.first.as_ref().filter(|(_, key)| Some(key) == here);
    let last = last.and_then(|(why, key)| Some((*why, model.queue.index(key)?)));
    let at = last.and_then(|last| stops.iter().position(|stop| *stop == last)).map_or(0, |at| at + 1);
    let at = if at < stops.len() { at } else { 0 };
    let Some((why, id)) = stops.get(at).copied() else {
        let said = if hidden > 0 { words::all_hidden(hidden) } else { words::NOTHING_URGENT.to_owned() };
        return model.say(said);
    };
    model.queue.drop_range();
    model.queue.go_to_action(id);
    let Some(slot) = model.queue.slot(id) else { return };
    let is_of_kind = |(kind, _): &&(Urgency, RowId)| *kind == why;
    let nth = stops.iter().take(at + 1).filter(is_of_kind).count();
    let reason = match (why, slot.entry.row.expires_at) {
        (Urgency::Expiring, Some(at)) => chrome::words::expires_in(at, model.now),
        (why, _) => why.word().to_owned(),
    };
    let hidden = if hidden > 0 { words::more_hidden(hidden) } else { String::new() };
    let said = words::nth_of(&reason, nth, stops.iter().filter(is_of_kind).count(), &hidden);
    model.list.first = Some((why, slot.entry.key.clone()));
    model.say(said);
}

/// Returns the stops of one round in order, and how many more the filter hides.
fn stops(model: &Model) -> (Vec<(Urgency, RowId)>, usize) {
    let queue = &model.queue;
    let mut waiting = HashSet::new();
    let mut reasons = |slot: &Slot| {
        let is_first =
            slot.counts_as_pending() && Waiting::of(&slot.entry).is_some_and(|unit| waiting.insert(unit));
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
