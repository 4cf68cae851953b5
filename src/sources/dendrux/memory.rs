//! What this inbox sent lately: for as long as nothing is written of a decision, nobody else knows how it went.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

use crate::domain::{ActionId, BatchId, DecisionKind};

/// So many are remembered; a run writes down what was decided long before.
const MOST: usize = 4_000;
/// A request that was never answered has arrived by then, or never will.
const IN_FLIGHT: Duration = Duration::from_mins(2);

#[derive(Debug, Default)]
pub(super) struct Memory {
    /// Decisions that are known to have won their turn.
    ours: VecDeque<(ActionId, DecisionKind)>,
    /// Turns of which the answer was lost, and when.
    lost: VecDeque<(BatchId, Instant)>,
}

impl Memory {
    pub(super) fn won(&mut self, id: ActionId, kind: DecisionKind) {
        push(&mut self.ours, (id, kind));
    }

    pub(super) fn lost(&mut self, turn: BatchId) {
        self.lost.retain(|(known, _)| *known != turn);
        push(&mut self.lost, (turn, Instant::now()));
    }

    /// The turn still waits: what was sent too long ago to be on its way did not arrive.
    pub(super) fn still_waits(&mut self, turn: &BatchId) {
        self.lost.retain(|(known, at)| known != turn || at.elapsed() < IN_FLIGHT);
    }

    pub(super) fn ours(&self, id: &ActionId) -> Option<DecisionKind> {
        self.ours.iter().rev().find(|(known, _)| known == id).map(|(_, kind)| *kind)
    }

    pub(super) fn was_lost(&self, turn: &BatchId) -> bool {
        self.lost.iter().any(|(known, _)| known == turn)
    }
}

fn push<T>(into: &mut VecDeque<T>, one: T) {
    if into.len() >= MOST {
        into.pop_front();
    }
    into.push_back(one);
}
