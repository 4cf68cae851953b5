//! What this inbox sent lately: for as long as nothing is written of a decision, nobody else knows how it went.

use std::collections::VecDeque;

use crate::domain::{ActionId, BatchId, DecisionKind};

/// So many are remembered; a run writes down what was decided long before.
const MOST: usize = 4_000;

#[derive(Debug, Default)]
pub(super) struct Memory {
    /// Decisions that are known to have won their turn.
    ours: VecDeque<(ActionId, DecisionKind)>,
    /// Turns of which the answer was lost.
    lost: VecDeque<BatchId>,
}

impl Memory {
    pub(super) fn won(&mut self, id: ActionId, kind: DecisionKind) {
        push(&mut self.ours, (id, kind));
    }

    pub(super) fn lost(&mut self, turn: BatchId) {
        push(&mut self.lost, turn);
    }

    pub(super) fn ours(&self, id: &ActionId) -> Option<DecisionKind> {
        self.ours.iter().rev().find(|(known, _)| known == id).map(|(_, kind)| *kind)
    }

    pub(super) fn was_lost(&self, turn: &BatchId) -> bool {
        self.lost.contains(turn)
    }
}

fn push<T>(into: &mut VecDeque<T>, one: T) {
    if into.len() >= MOST {
        into.pop_front();
    }
    into.push_back(one);
}
