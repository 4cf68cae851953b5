//! What this inbox sent lately: for as long as nothing is written of a decision, nobody else knows how it went.

use std::time::Duration;

use tokio::time::Instant;

use crate::domain::{ActionId, BatchId, DecisionKind};
use crate::sources::recent::Recent;

/// So many are remembered; a run writes down what was decided long before.
const MOST: usize = 4_000;
/// A request that was never answered has arrived by then, or never will.
const IN_FLIGHT: Duration = Duration::from_mins(2);

#[derive(Debug)]
pub(super) struct Memory {
    /// Decisions that are known to have won their turn.
    pub(super) ours: Recent<ActionId, DecisionKind>,
    /// Turns of which the answer was lost, and when.
    lost: Recent<BatchId, Instant>,
}

impl Default for Memory {
    fn default() -> Self {
        Self { ours: Recent::most(MOST), lost: Recent::most(MOST) }
    }
}

impl Memory {
    pub(super) fn lost(&self, turn: BatchId) {
        self.lost.put(turn, Instant::now());
    }

    /// The turn still waits: what was sent too long ago to be on its way did not arrive.
    pub(super) fn still_waits(&self, turn: &BatchId) {
        if self.lost.get(turn).is_some_and(|at| at.elapsed() >= IN_FLIGHT) {
            self.lost.remove(turn);
        }
    }

    pub(super) fn was_lost(&self, turn: &BatchId) -> bool {
        self.lost.get(turn).is_some()
    }
}
