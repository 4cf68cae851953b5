//! What stands around the queue: its sources, its filter, what comes in, and how much there is.

use crate::domain::Timestamp;

use super::counts::Stats;
use super::filter_state::Filtering;
use super::incoming::{Arrivals, FrozenUpdates};
use super::source_state::SourceState;

#[derive(Clone, Debug, Default)]
pub(crate) struct ListState {
    pub sources: Vec<SourceState>,
    pub filtering: Filtering,
    /// While the list is frozen: what happened meanwhile.
    pub frozen: Option<FrozenUpdates>,
    pub arrivals: Arrivals,
    pub stats: Stats,
    /// When that was counted.
    pub stats_at: Timestamp,
    /// The reviewer has pressed a key: from now on nothing moves above the cursor.
    pub touched: bool,
}
