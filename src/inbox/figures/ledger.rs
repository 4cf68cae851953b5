//! Minutes of one source: its flows in each, and the pending count at its end.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::Duration;

use foldhash::fast::RandomState;

use crate::domain::{Flow, Flows, KeptMinute, KeptQueue, Minute, Queue, SourceName, Timestamp};

/// The longest window, in minutes.
pub(super) const LONGEST: u32 = 24 * 60;

pub(super) type QueueIndex = u16;

pub(super) type ByPlace = HashMap<QueueIndex, u64, RandomState>;

/// The position of all queues beyond the maximum.
#[expect(clippy::cast_possible_truncation, reason = "a small constant")]
const REST: QueueIndex = Queue::MOST as QueueIndex;

#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    places: HashMap<Queue, QueueIndex, RandomState>,
    pub(super) minutes: BTreeMap<Minute, Slot>,
    /// Not written to the journal yet.
    changed: BTreeSet<Minute>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Slot {
    /// Milliseconds.
    pub(super) watched: i64,
    /// The pending counts at its end are known.
    pub(super) ended: bool,
    /// Queues with pending actions or events.
    pub(super) cells: HashMap<QueueIndex, Cell>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) flow: Flow,
    pub(super) pending: u64,
}

impl Ledger {
    /// Builds the ledger of a source's own counts, up to the current minute.
    pub(super) fn of(flows: &Flows) -> Self {
        let mut ledger = Self::default();
        let last = Minute::of(flows.at);
        let first = Minute::of(flows.from).max(last.plus(1 - i64::from(LONGEST)));
        for number in first.number()..=last.number() {
            let minute = Minute::new(number);
            let (start, end) = (minute.start().max(flows.from), minute.plus(1).start().min(flows.at));
            let slot = Slot { watched: end.since(start), ended: true, ..Slot::default() };
            ledger.minutes.insert(minute, slot);
        }
        for of in &flows.queues {
            let place = ledger.place(&of.queue);
            let mut counts: HashMap<Minute, Flow> = of.minutes.iter().copied().collect();
            // Goes backwards from now: the count before a minute is the count after it without its flow.
            let mut pending = of.pending;
            for (minute, slot) in ledger.minutes.iter_mut().rev() {
                let flow = counts.remove(minute).unwrap_or_default();
                if pending > 0 || !flow.is_nothing() {
                    let cell = slot.cells.entry(place).or_default();
                    cell.flow = cell.flow.plus(&flow);
                    cell.pending += pending;
                }
                pending = (pending + flow.resolved()).saturating_sub(flow.arrived);
            }
        }
        ledger
    }

    /// Returns the queue's position. Beyond the maximum, it is that of the rest.
    pub(super) fn place(&mut self, queue: &Queue) -> QueueIndex {
        if let Some(place) = self.places.get(queue) {
            return *place;
        }
        if *queue == Queue::Rest || self.places.len() >= usize::from(REST) {
            return REST;
        }
        let taken: BTreeSet<QueueIndex> = self.places.values().copied().collect();
        match (0..REST).find(|place| !taken.contains(place)) {
            Some(free) => {
                self.places.insert(queue.clone(), free);
                free
            }
            None => REST,
        }
    }

    pub(super) fn place_of(&self, queue: &Queue) -> Option<QueueIndex> {
        self.places.get(queue).copied()
    }

    /// Returns the queues and their positions, the rest last.
    pub(super) fn queues(&self) -> impl Iterator<Item = (&Queue, QueueIndex)> {
        self.places.iter().map(|(queue, place)| (queue, *place)).chain([(&Queue::Rest, REST)])
    }

    /// Records that everything between two moments is known; `pending` is the count throughout. Returns whether the
    /// time is short enough to count as watched. Otherwise its minutes stay unknown.
    pub(super) fn cover(
        &mut self,
        from: Timestamp,
        to: Timestamp,
        pending: &ByPlace,
        limit: Duration,
    ) -> bool {
        let last = Minute::of(to);
        let from = from.max(last.plus(-i64::from(LONGEST)).start());
        let is_watched = u128::from(to.since(from).unsigned_abs()) <= limit.as_millis();
        for number in Minute::of(from).number()..=last.number() {
            let minute = Minute::new(number);
            let (start, end) = (minute.start().max(from), minute.plus(1).start().min(to));
            let slot = self.minutes.entry(minute).or_default();
            if !is_watched {
                continue;
            }
            slot.watched = (slot.watched + end.since(start)).min(Minute::MILLIS);
            if minute < last {
                slot.end(pending);
            }
            self.changed.insert(minute);
        }
        is_watched
    }

    /// Counts events in a covered minute, and corrects the pending counts since.
    pub(super) fn add(&mut self, place: QueueIndex, minute: Minute, flow: &Flow) {
        let cell = self.minutes.entry(minute).or_default().cells.entry(place).or_default();
        cell.flow = cell.flow.plus(flow);
        self.changed.insert(minute);
        for (minute, slot) in self.minutes.range_mut(minute..).filter(|(_, slot)| slot.ended) {
            let cell = slot.cells.entry(place).or_default();
            cell.pending = (cell.pending + flow.arrived).saturating_sub(flow.resolved());
            self.changed.insert(*minute);
        }
    }

    /// Merges a minute from an earlier run or a parallel one. If both saw the minute, each saw a part of it.
    pub(super) fn restore(&mut self, kept: &KeptMinute) {
        let places: Vec<(QueueIndex, &KeptQueue)> =
            kept.queues.iter().map(|of| (self.place(&of.queue), of)).collect();
        let slot = self.minutes.entry(kept.minute).or_default();
        slot.watched = slot.watched.max(kept.watched).min(Minute::MILLIS);
        let ended = std::mem::replace(&mut slot.ended, true);
        for (place, of) in places {
            let cell = slot.cells.entry(place).or_default();
            cell.flow = cell.flow.at_least(&of.flow);
            if !ended {
                cell.pending = cell.pending.max(of.pending);
            }
        }
    }

    /// Returns the minutes that changed since the last call, the current one with the current counts.
    pub(super) fn take_unkept(
        &mut self,
        source: &SourceName,
        pending: &ByPlace,
        now: Timestamp,
    ) -> Vec<KeptMinute> {
        let names: HashMap<QueueIndex, Queue> =
            self.queues().map(|(queue, place)| (place, queue.clone())).collect();
        let changed = std::mem::take(&mut self.changed);
        let kept = changed.into_iter().filter_map(|minute| {
            let mut slot = self.minutes.get(&minute)?.clone();
            if minute == Minute::of(now) {
                slot.end(pending);
            }
            // A minute whose end was not seen is not worth keeping.
            if !slot.ended {
                return None;
            }
            let queue = |(place, cell): (QueueIndex, Cell)| {
                let queue = names.get(&place)?.clone();
                Some(KeptQueue { queue, flow: cell.flow, pending: cell.pending })
            };
            let mut queues: Vec<KeptQueue> = slot.cells.into_iter().filter_map(queue).collect();
            queues.retain(|of| of.pending > 0 || !of.flow.is_nothing());
            queues.sort_by(|a, b| a.queue.cmp(&b.queue));
            Some(KeptMinute { source: source.clone(), minute, watched: slot.watched, queues })
        });
        kept.collect()
    }

    /// Forgets minutes before the longest window, and queues without minutes or actions; `open` returns those with
    /// actions.
    pub(super) fn trim(&mut self, open: impl FnOnce() -> HashSet<QueueIndex>, now: Timestamp) {
        let first = Minute::of(now).plus(1 - i64::from(LONGEST));
        if self.minutes.first_key_value().is_none_or(|(oldest, _)| *oldest >= first) {
            return;
        }
        self.minutes = self.minutes.split_off(&first);
        self.changed = self.changed.split_off(&first);
        let used: BTreeSet<QueueIndex> =
            self.minutes.values().flat_map(|slot| slot.cells.keys().copied()).collect();
        let open = open();
        self.places.retain(|_, place| used.contains(place) || open.contains(place));
    }
}

impl Slot {
    fn end(&mut self, pending: &ByPlace) {
        self.ended = true;
        self.cells.values_mut().for_each(|cell| cell.pending = 0);
        for (place, count) in pending.iter().filter(|(_, count)| **count > 0) {
            self.cells.entry(*place).or_default().pending = *count;
        }
    }
}
