//! The lead's figures: how many wait, for how long, how fast they come and go, and what became of them. Fed with everything that
//! sources say, by whoever watches; asked for a [`Board`]. No clock and no source is asked here.

use crate::config::Targets;
use crate::domain::{Flows, KeptMinute, SourceName, Timestamp};

use super::{Event, Synced};

mod board;

pub use board::{
    About, Ages, Alert, AlertKind, Ask, Board, Happening, HappeningKind, QueueLine, ReviewerLine,
    SourceBoard, Standing, ToolLine,
};

/// Everything that was seen of the sources, as figures.
#[derive(Clone, Debug)]
pub struct Figures {
    targets: Targets,
    sources: Vec<SourceName>,
}

impl Figures {
    /// The longest window, in minutes.
    pub const LONGEST: u32 = 24 * 60;

    /// `poll` and `stale_after` as the configuration has them: when data is old.
    pub fn new(targets: Targets, sources: &[SourceName]) -> Self {
        Self { targets, sources: sources.to_vec() }
    }

    /// What an earlier run kept. Before the first list.
    pub fn restore(&mut self, _kept: Vec<KeptMinute>) {}

    /// What a source listed, whole or as changes.
    pub fn listed(&mut self, _synced: &Synced, _now: Timestamp) {}

    /// Its list could not be read; `why` in words of ours.
    pub fn not_listed(&mut self, _source: &SourceName, _why: &str, _now: Timestamp) {}

    /// What a watched source says.
    pub fn event(&mut self, _event: &Event, _now: Timestamp) {}

    /// What a source counted by itself. From then on it is what counts there.
    pub fn told(&mut self, _source: &SourceName, _flows: Flows) {}

    /// Minutes that changed since the last time, for the journal. Sources that count by themselves are left out.
    pub fn to_keep(&mut self) -> Vec<KeptMinute> {
        Vec::new()
    }

    /// Every figure, now.
    pub fn board(&self, ask: Ask, now: Timestamp) -> Board {
        let _ = (&self.targets, &self.sources);
        Board { at: now, window: ask.window, ..Board::default() }
    }
}
