//! Where the staged decisions are: in which group of the list, and behind the filter.

use crate::domain::StagedCounts;

use super::tally::add;
use super::{Group, GroupBy, Model};

/// Counted when decisions or rows may have changed, not per frame. Takes as long as there are decisions.
#[derive(Clone, Debug, Default)]
pub struct Spread {
    /// By index of the group.
    groups: Vec<StagedCounts>,
    hidden: usize,
    /// Of the list that was counted.
    arrangement: u64,
}

impl Spread {
    pub(in crate::tui) fn is_of(&self, model: &Model) -> bool {
        self.arrangement == model.queue.arrangement()
    }

    pub(in crate::tui) fn of(model: &Model) -> Self {
        let queue = &model.queue;
        let mut spread = Self { arrangement: queue.arrangement(), ..Self::default() };
        // Batches are tallied step by step.
        if queue.group_by() == GroupBy::Batch && queue.shown().is_none() {
            return spread;
        }
        spread.groups.resize(queue.groups().len(), StagedCounts::default());
        for (key, staged) in model.draft.iter() {
            let Some(slot) = queue.get(key) else { continue };
            match spread.groups.get_mut(slot.group as usize) {
                Some(counts) => add(counts, staged),
                None => spread.hidden += 1,
            }
        }
        spread
    }
}

impl Model {
    /// Staged decisions that the filter does not show.
    pub fn staged_hidden(&self) -> usize {
        self.spread.hidden
    }

    /// What is staged in a group, as far as the filter shows it.
    pub fn staged_in(&self, group: &Group) -> StagedCounts {
        if self.spread.groups.is_empty() {
            return group.key.batch().map(|batch| self.tally.batch(batch)).unwrap_or_default();
        }
        let first = group.slots.first().and_then(|index| self.queue.slot(*index));
        first.and_then(|slot| self.spread.groups.get(slot.group as usize)).copied().unwrap_or_default()
    }
}
