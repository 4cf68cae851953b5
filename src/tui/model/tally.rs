//! How many decisions are staged, in all and per batch, kept up to date step by step.

use std::collections::HashMap;

use crate::domain::{BatchKey, Change, DecisionKind, Draft, Staged, StagedCounts};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    total: StagedCounts,
    /// Approvals of what was not opened before.
    unopened: usize,
    batches: HashMap<BatchKey, StagedCounts>,
}

impl Tally {
    pub fn of(draft: &Draft) -> Self {
        let mut tally = Self::default();
        draft.iter().for_each(|(_, staged)| tally.add(staged));
        tally
    }

    pub fn total(&self) -> StagedCounts {
        self.total
    }

    pub fn unopened(&self) -> usize {
        self.unopened
    }

    pub fn batch(&self, batch: &BatchKey) -> StagedCounts {
        self.batches.get(batch).copied().unwrap_or_default()
    }

    pub fn done(&mut self, changes: &[Change]) {
        for change in changes {
            change.before.iter().for_each(|staged| self.remove(staged));
            change.after.iter().for_each(|staged| self.add(staged));
        }
    }

    pub fn undone(&mut self, changes: &[Change]) {
        for change in changes {
            change.after.iter().for_each(|staged| self.remove(staged));
            change.before.iter().for_each(|staged| self.add(staged));
        }
    }

    pub fn add(&mut self, staged: &Staged) {
        add(&mut self.total, staged);
        self.unopened += usize::from(is_unopened(staged));
        add(self.batches.entry(staged.batch.clone()).or_default(), staged);
    }

    pub fn remove(&mut self, staged: &Staged) {
        let total = field(&mut self.total, staged);
        *total = total.saturating_sub(1);
        self.unopened = self.unopened.saturating_sub(usize::from(is_unopened(staged)));
        if let Some(counts) = self.batches.get_mut(&staged.batch) {
            let count = field(counts, staged);
            *count = count.saturating_sub(1);
            if *counts == StagedCounts::default() {
                self.batches.remove(&staged.batch);
            }
        }
    }
}

pub(super) fn add(counts: &mut StagedCounts, staged: &Staged) {
    *field(counts, staged) += 1;
}

fn field<'a>(counts: &'a mut StagedCounts, staged: &Staged) -> &'a mut usize {
    match staged.decision.kind() {
        DecisionKind::Approve => &mut counts.approve,
        DecisionKind::ApproveWithEdits => &mut counts.edit,
        DecisionKind::Reject => &mut counts.reject,
        DecisionKind::Retry => &mut counts.retry,
    }
}

fn is_unopened(staged: &Staged) -> bool {
    staged.digest.is_none() && staged.decision.kind().approves()
}
