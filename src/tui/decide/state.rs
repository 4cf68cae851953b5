//! What is staged, and what keys have just done to it.

use std::collections::HashMap;

use crate::domain::{ActionKey, Draft, Timestamp};
use crate::journal::Says;
use crate::tui::queue::counts::{StagedByGroup, StagedTotals};
use crate::tui::queue::groups::GroupKey;

use super::guard::{Confirmed, Guard};

#[derive(Clone, Debug, Default)]
pub(crate) struct DecideState {
    pub draft: Draft,
    pub tally: StagedTotals,
    pub spread: StagedByGroup,
    pub guard: Guard,
    /// What was confirmed just now, and is done when no other key follows at once.
    pub confirmed: Option<(Timestamp, Confirmed)>,
    /// The group decided in last, while nothing but deciding was done since: auto-advance may have left it.
    pub decided_in: Option<GroupKey>,
    /// Typed into reason fields, staged or not.
    pub reason_texts: HashMap<(ActionKey, Says), String>,
}
