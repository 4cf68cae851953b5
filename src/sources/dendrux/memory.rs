//! Recent decisions of this inbox. Until dendrux records a decision, only its sender knows it.

use std::time::Duration;

use tokio::time::Instant;

use crate::domain::{ActionId, BatchId, DecisionKind};
use crate::sources::recent::Recent;

/// Maximum number of entries. A run records its decisions long before it is reached.
const MOST: usize = 4_000;
/// After this time, a request without an answer has either arrived or never will.
const IN_FLIGHT: Duration = Duration::from_mins(2);

#[derive(Debug)]
pub(super) struct Memory {
    /// Decisions known to have won their turn.
    pub(super) ours: Recent<ActionId, DecisionKind>,
    /// Turns whose answer was lost, with the time.
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

    /// Records that the turn still waits: a request that is too old to be in flight did not arrive.
    pub(super) fn still_waits(&self, turn: &BatchId) {
        if self.lost.get(turn).is_some_and(|at| at.elapsed() >= IN_FLIGHT) {
            self.lost.remove(turn);
        }
    }

    pub(super) fn was_lost(&self, turn: &BatchId) -> bool {
        self.lost.get(turn).is_some()
    }
}
