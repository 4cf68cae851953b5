//! Counts over the whole queue, waiting arrivals included; made anew after each sync, not per frame.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::config::GroupBy;
use crate::domain::{
    BatchKey, Change, Draft, Entry, Row, SourceName, Staged, StagedCounts, Timestamp, Untrusted,
};

use super::groups::Group;
use super::incoming::FrozenUpdates;
use super::slots::{Slot, State};
use super::state::Queue;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stats {
    pub pending: usize,
    /// Actions that ran, and nobody knows what became of them.
    pub unknown: usize,
    pub by_source: Vec<(SourceName, usize)>,
    /// In the order of their names, as is the next.
    pub by_agent: Vec<(Untrusted, usize)>,
    pub by_tool: Vec<(Untrusted, usize)>,
    /// Low, medium, high (and unknown words), critical.
    pub risks: [usize; 4],
    pub oldest: Option<Timestamp>,
    /// When the next action that is on offer expires.
    pub next_expiry: Option<Timestamp>,
    /// Different missions with a pending action: they wait until somebody decides.
    pub missions: usize,
    /// Different agents with a pending action.
    pub agents: usize,
}

impl Stats {
    /// `later` is what was not taken into the list: it counts as if it had been.
    pub(crate) fn of<'a>(queue: &'a Queue, later: Option<&'a FrozenUpdates>, now: Timestamp) -> Self {
        let mut stats = Self::default();
        let slots = || queue.slots().iter();
        let lost = queue.held().filter(|entry| Slot::outstanding(entry) == State::ToResolve);
        stats.unknown = slots().filter(|slot| slot.is_lost()).count() + lost.count();
        let open = slots().filter(|slot| slot.counts_as_pending()).map(|slot| &slot.entry);
        let present = |entry: &'a Entry| match later {
            Some(later) => later.present(entry).filter(|entry| entry.row.status.is_pending()),
            None => Some(entry),
        };
        // What waits is on nobody's screen yet: what expires there needs no row to be marked.
        let on_time = |entry: &&Entry| !entry.row.has_expired(now);
        let known = open.chain(queue.held_pending().filter(on_time)).filter_map(present);
        let arrived = later.into_iter().flat_map(|later| later.arrived(queue)).filter(on_time);
        let offered = slots().filter(|slot| slot.is_pending()).filter_map(|slot| slot.entry.row.expires_at);
        let held = queue.held_pending().filter(on_time).filter_map(|entry| entry.row.expires_at);
        stats.next_expiry = offered.chain(held).min();
        let (mut missions, mut agents) = (HashSet::new(), HashSet::new());
        let (mut by_agent, mut by_tool) = (BTreeMap::new(), BTreeMap::new());
        for entry in known.chain(arrived.filter(|entry| entry.row.status.is_pending())) {
            stats.count(&entry.row);
            *by_tool.entry(&entry.row.tool).or_default() += 1;
            entry.row.agent.iter().for_each(|agent| *by_agent.entry(agent).or_default() += 1);
            missions.extend(entry.row.mission.as_ref().map(|mission| (&entry.key.source, mission.as_raw())));
            agents.extend(entry.row.agent.as_ref().map(|agent| (&entry.key.source, agent.as_raw())));
            match stats.by_source.iter_mut().find(|(source, _)| *source == entry.key.source) {
                Some((_, count)) => *count += 1,
                None => stats.by_source.push((entry.key.source.clone(), 1)),
            }
        }
        (stats.missions, stats.agents) = (missions.len(), agents.len());
        (stats.by_agent, stats.by_tool) = (named(by_agent), named(by_tool));
        stats
    }

    /// High, critical, or a word this version does not know.
    pub(crate) fn high_risk(&self) -> usize {
        let [_, _, high, critical] = self.risks;
        high + critical
    }

    fn count(&mut self, row: &Row) {
        self.pending += 1;
        if let Some(count) = self.risks.get_mut(usize::from(row.risk.rank())) {
            *count += 1;
        }
        self.oldest = Some(self.oldest.map_or(row.created_at, |oldest| oldest.min(row.created_at)));
    }
}

fn named(counts: BTreeMap<&Untrusted, usize>) -> Vec<(Untrusted, usize)> {
    counts.into_iter().map(|(name, count)| (name.clone(), count)).collect()
}

// How many decisions are staged, in all and per batch, kept up to date step by step.

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StagedTotals {
    total: StagedCounts,
    /// Approvals of what was not opened before.
    unopened: usize,
    batches: HashMap<BatchKey, StagedCounts>,
}

impl StagedTotals {
    pub(crate) fn of(draft: &Draft) -> Self {
        let mut tally = Self::default();
        draft.iter().for_each(|(_, staged)| tally.add(staged));
        tally
    }

    pub(crate) fn total(&self) -> StagedCounts {
        self.total
    }

    pub(crate) fn unopened(&self) -> usize {
        self.unopened
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

    pub(crate) fn add(&mut self, staged: &Staged) {
        self.total.add(staged.decision.kind());
        self.unopened += usize::from(is_unopened(staged));
        self.batches.entry(staged.batch.clone()).or_default().add(staged.decision.kind());
    }

    pub(crate) fn remove(&mut self, staged: &Staged) {
        self.total.remove(staged.decision.kind());
        self.unopened = self.unopened.saturating_sub(usize::from(is_unopened(staged)));
        if let Some(counts) = self.batches.get_mut(&staged.batch) {
            counts.remove(staged.decision.kind());
            if *counts == StagedCounts::default() {
                self.batches.remove(&staged.batch);
            }
        }
    }
}

fn is_unopened(staged: &Staged) -> bool {
    staged.digest.is_none() && staged.decision.kind().approves()
}

// Where the staged decisions are: in which group of the list, and behind the filter.

/// Counted when decisions or rows may have changed, not per frame. Takes as long as there are decisions.
#[derive(Clone, Debug, Default)]
pub(crate) struct StagedByGroup {
    /// By index of the group.
    groups: Vec<StagedCounts>,
    hidden: usize,
    /// Of the list that was counted.
    arrangement: u64,
}

impl StagedByGroup {
    pub(crate) fn is_of(&self, queue: &Queue) -> bool {
        self.arrangement == queue.arrangement()
    }

    /// Staged decisions that the filter does not show.
    pub(crate) const fn hidden(&self) -> usize {
        self.hidden
    }

    /// What is staged in a group, as far as the filter shows it.
    pub(crate) fn of_group(&self, group: &Group, queue: &Queue, tally: &StagedTotals) -> StagedCounts {
        if self.groups.is_empty() {
            return group.key.batch().map(|batch| tally.batch(batch)).unwrap_or_default();
        }
        let first = group.slots.first().and_then(|index| queue.slot(*index));
        first.and_then(|slot| self.groups.get(slot.group as usize)).copied().unwrap_or_default()
    }

    pub(crate) fn of(queue: &Queue, draft: &Draft) -> Self {
        let mut spread = Self { arrangement: queue.arrangement(), ..Self::default() };
        // Batches are tallied step by step.
        if queue.group_by() == GroupBy::Batch && queue.shown().is_none() {
            return spread;
        }
        spread.groups.resize(queue.groups().len(), StagedCounts::default());
        for (key, staged) in draft.iter() {
            let Some(slot) = queue.get(key) else { continue };
            match spread.groups.get_mut(slot.group as usize) {
                Some(counts) => counts.add(staged.decision.kind()),
                None => spread.hidden += 1,
            }
        }
        spread
    }
}
