//! Counts of the whole queue, including arrivals that are not listed yet, and of the staged decisions.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::config::GroupBy;
use crate::domain::{BatchKey, Change, Draft, Entry, Risk, Staged, StagedCounts, Timestamp};

use super::groups::Group;
use super::incoming::FrozenUpdates;
use super::slots::CountsAs;
use super::state::Queue;
use super::tally::{Stats, Tally, Waiting};

/// Returns the counts with the waiting arrivals included. Its cost depends on the number of arrivals, not of rows.
pub(crate) fn stats(queue: &mut Queue, now: Timestamp) -> Stats {
    let held = std::mem::take(&mut queue.held);
    // Waiting arrivals have no row to mark as expired, so an expired one is simply not counted.
    let counts = |entry: &&Entry| !is_late(entry, now) && !queue.away.contains(&entry.key);
    let counted: Vec<&Entry> = held.values().filter(counts).collect();
    for entry in &counted {
        queue.tally.count(entry, counts_as(entry), 1);
    }
    let stats = queue.tally.stats();
    for entry in counted {
        queue.tally.count(entry, counts_as(entry), -1);
    }
    queue.held = held;
    stats
}

/// Like [`stats`], counted from scratch. `later` contains the changes that a frozen list holds back; they are counted
/// as if applied.
pub(crate) fn stats_anew(queue: &Queue, later: Option<&FrozenUpdates>, now: Timestamp) -> Stats {
    let mut tally = Tally::default();
    let mut add = |entry: &Entry, place: CountsAs| {
        // The row is offered as listed, but counted by its current state.
        let present = match later {
            Some(later) => later.present(entry).filter(|entry| entry.row.status.is_pending()),
            None => Some(entry),
        };
        match (place, present) {
            (CountsAs::Lost, _) => tally.count(entry, CountsAs::Lost, 1),
            (place, present) => {
                tally.expires(entry, place, 1);
                if let Some(entry) = present {
                    tally.count(entry, CountsAs::Counted, 1);
                }
            }
        }
    };
    for slot in queue.slots.iter() {
        if let Some(place) = slot.counts_as() {
            add(&slot.entry, place);
        }
    }
    let held = queue.held.values().filter(|entry| !is_late(entry, now) && !queue.away.contains(&entry.key));
    held.for_each(|entry| add(entry, counts_as(entry)));
    let arrived = later.into_iter().flat_map(|later| later.arrived(queue));
    let arrived = arrived.filter(|entry| !entry.row.has_expired(now));
    for entry in arrived.filter(|entry| entry.row.status.is_pending()) {
        tally.count(entry, CountsAs::Counted, 1);
    }
    tally.stats()
}

fn counts_as(entry: &Entry) -> CountsAs {
    if entry.row.status.is_pending() { CountsAs::Offered } else { CountsAs::Lost }
}

fn is_late(entry: &Entry, now: Timestamp) -> bool {
    entry.row.status.is_pending() && entry.row.has_expired(now)
}

// Counts of staged decisions in total and per batch, updated incrementally.

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StagedTotals {
    pub(crate) total: StagedCounts,
    /// Approvals of actions that were never opened.
    pub(crate) unopened: usize,
    pub(crate) with_words: usize,
    batches: HashMap<BatchKey, StagedCounts, RandomState>,
}

impl StagedTotals {
    pub(crate) fn of(draft: &Draft) -> Self {
        let mut tally = Self::default();
        draft.iter().for_each(|(_, staged)| tally.add(staged));
        tally
    }

    pub(crate) fn batch(&self, batch: &BatchKey) -> StagedCounts {
        self.batches.get(batch).copied().unwrap_or_default()
    }

    pub(crate) fn done(&mut self, changes: &[Change]) {
        for change in changes {
            change.before.iter().for_each(|staged| self.remove(staged));
            change.after.iter().for_each(|staged| self.add(staged));
        }
    }

    pub(crate) fn undone(&mut self, changes: &[Change]) {
        for change in changes {
            change.after.iter().for_each(|staged| self.remove(staged));
            change.before.iter().for_each(|staged| self.add(staged));
        }
    }

    fn add(&mut self, staged: &Staged) {
        let kind = staged.decision.kind();
        self.total.add(kind);
        self.batches.entry(staged.batch.clone()).or_default().add(kind);
        self.unopened += usize::from(is_unopened(staged));
        self.with_words += usize::from(staged.decision.has_words());
    }

    pub(crate) fn remove(&mut self, staged: &Staged) {
        let kind = staged.decision.kind();
        self.total.remove(kind);
        if let Some(counts) = self.batches.get_mut(&staged.batch) {
            counts.remove(kind);
            if counts.total() == 0 {
                self.batches.remove(&staged.batch);
            }
        }
        self.unopened = self.unopened.saturating_sub(usize::from(is_unopened(staged)));
        self.with_words = self.with_words.saturating_sub(usize::from(staged.decision.has_words()));
    }
}

fn is_unopened(staged: &Staged) -> bool {
    staged.digest.is_none() && staged.decision.kind().approves()
}

// Counts of staged decisions per group, and of those behind the filter.

/// Counted when decisions or rows may have changed, not per frame. Its cost depends on the number of decisions.
#[derive(Clone, Debug, Default)]
pub(crate) struct StagedByGroup {
    groups: Vec<StagedCounts>,
    hidden: usize,
    changes: (u64, u64),
    pub(crate) urgent: StagedUrgent,
}

/// The staged rows among those that come first; the header counts them no more.
#[derive(Clone, Debug, Default)]
pub(crate) struct StagedUrgent {
    pub(crate) critical: usize,
    sorted_expiries: Vec<Timestamp>,
    /// Number of missions and agents whose actions are all staged.
    pub(crate) unblocked: usize,
}

impl StagedUrgent {
    pub(crate) fn of(queue: &Queue, draft: &Draft) -> Self {
        let mut urgent = Self::default();
        let mut waiting: HashMap<Waiting, usize> = HashMap::new();
        let staged = draft.iter().filter_map(|(key, _)| queue.get(key));
        for slot in staged.filter(|slot| slot.counts_as_pending() && !slot.away) {
            urgent.critical += usize::from(slot.entry.row.risk == Risk::Critical);
            urgent.sorted_expiries.extend(slot.entry.row.expires_at.filter(|_| slot.is_pending()));
            if let Some(unit) = Waiting::of(&slot.entry) {
                *waiting.entry(unit).or_default() += 1;
            }
        }
        urgent.sorted_expiries.sort_unstable();
        urgent.unblocked = waiting.iter().filter(|(unit, n)| queue.tally.waits_for(unit) == **n).count();
        urgent
    }

    pub(crate) fn expiring(&self, now: Timestamp, until: Timestamp) -> usize {
        let before = |limit: Timestamp| self.sorted_expiries.partition_point(|at| *at <= limit);
        before(until).saturating_sub(before(now))
    }
}

impl StagedByGroup {
    pub(crate) fn is_of(&self, queue: &Queue) -> bool {
        self.changes == queue.changes()
    }

    pub(crate) const fn hidden(&self) -> usize {
        self.hidden
    }

    pub(crate) fn with(self, urgent: StagedUrgent) -> Self {
        Self { urgent, ..self }
    }

    /// Returns the staged decisions of a group, without those that the filter hides.
    pub(crate) fn of_group(&self, group: &Group, tally: &StagedTotals) -> StagedCounts {
        if self.groups.is_empty() {
            return group.key.batch().map(|batch| tally.batch(batch)).unwrap_or_default();
        }
        self.groups.get(group.id.index()).copied().unwrap_or_default()
    }

    pub(crate) fn of(queue: &Queue, draft: &Draft) -> Self {
        let mut spread = Self { changes: queue.changes(), ..Self::default() };
        // `StagedTotals` already counts batches.
        if queue.group_by == GroupBy::Batch && !queue.is_filtered {
            return spread;
        }
        spread.groups.resize(queue.groups.len(), StagedCounts::default());
        for (key, staged) in draft.iter() {
            let Some(slot) = queue.get(key) else { continue };
            match spread.groups.get_mut(slot.group.index()).filter(|_| slot.shown) {
                Some(counts) => counts.add(staged.decision.kind()),
                None => spread.hidden += 1,
            }
        }
        spread
    }
}
