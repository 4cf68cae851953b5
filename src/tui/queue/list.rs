//! The list's surroundings: sources, filter, arrivals, counts.

use std::collections::HashMap;
use std::time::Duration;

use crate::domain::{ActionKey, Records, Revision, SourceName, Timestamp, Untrusted};
use crate::inbox::{Connection, Problem};
use crate::tui::core::settings::Settings;

use super::bands::Bands;
use super::elsewhere::Elsewhere;
use super::filter_state::Filtering;
use super::groups::Regrouping;
use super::incoming::{Arrivals, FrozenUpdates};
use super::sort::Sorting;
use super::tally::{Stats, Urgency};

#[derive(Clone, Debug, Default)]
pub(crate) struct ListState {
    pub sources: Vec<SourceState>,
    pub filtering: Filtering,
    pub sorting: Option<Sorting>,
    pub regrouping: Option<Regrouping>,
    /// Changes since the list was frozen; `None` if it is live.
    pub frozen: Option<FrozenUpdates>,
    pub arrivals: Arrivals,
    pub elsewhere: Elsewhere,
    /// Rows that others settled, and when that was noticed.
    pub fading: HashMap<ActionKey, Timestamp>,
    pub(crate) bands: Bands,
    pub stats: Stats,
    pub stats_at: Timestamp,
    /// The row that `first` visited last, and why.
    pub first: Option<(Urgency, ActionKey)>,
    /// A key was pressed: from now on no row above the cursor moves.
    pub touched: bool,
}

// The state of a source: its connection, and how far its list was read.

#[derive(Clone, Debug)]
pub(crate) struct SourceState {
    pub name: SourceName,
    pub subject: Option<Untrusted>,
    /// Silence after which the screen shows the age of the data.
    pub stale_after: Duration,
    pub poll: Duration,
    pub connection: Connection,
    /// When `connection` last changed.
    pub connection_at: Timestamp,
    pub revision: Option<Revision>,
    pub syncing: Syncing,
    /// When the list was last known to be complete.
    pub heard: Option<Timestamp>,
    pub problem: Option<Problem>,
    /// The error was shown; another with the same reason is not.
    pub told: bool,
    pub unreadable: Vec<Untrusted>,
    pub listed: bool,
    /// When the source was paused, as it last reported.
    pub paused: Option<Timestamp>,
    /// Do not show seconds, which would change all the time.
    pub still: bool,
    /// Missions blocked by a pending decision, as last counted by the source.
    pub blocked: Option<u64>,
    /// Which ended actions it can list.
    pub records: Records,
    /// It has context for its actions and wants to know which others are listed with one.
    pub has_context: bool,
}

/// At most one sync is in progress and one more requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Syncing {
    No,
    UnderWay,
    /// The source changed meanwhile: sync again afterwards.
    Again,
}

impl SourceState {
    pub(crate) fn of(name: SourceName, settings: &Settings) -> Self {
        Self {
            name,
            subject: None,
            stale_after: settings.stale_after,
            poll: settings.poll,
            connection: Connection::Connecting,
            connection_at: Timestamp::default(),
            revision: None,
            syncing: Syncing::No,
            heard: None,
            problem: None,
            told: false,
            unreadable: Vec::new(),
            listed: false,
            paused: None,
            still: settings.reduced_motion,
            blocked: None,
            records: Records::NONE,
            has_context: true,
        }
    }

    /// Returns true if its line on screen changes every second.
    pub(crate) fn counts_seconds(&self, now: Timestamp) -> bool {
        !self.still && (matches!(self.connection, Connection::Retrying { .. }) || self.is_stale(now))
    }

    /// Returns true if the data is too old. Uses the wall clock, so that a computer notices at once that it slept.
    pub(crate) fn is_stale(&self, now: Timestamp) -> bool {
        let limit = self.patience().as_millis();
        self.heard.is_some_and(|at| u128::from(now.since(at).unsigned_abs()) >= limit)
    }

    /// Returns when the data becomes stale without further news.
    pub(crate) fn stale_at(&self) -> Option<Timestamp> {
        let limit = i64::try_from(self.patience().as_millis()).unwrap_or(i64::MAX);
        self.heard.map(|at| at.plus_millis(limit))
    }

    fn patience(&self) -> Duration {
        match self.connection {
            Connection::Live => self.stale_after,
            // A polled source may miss two answers.
            _ => self.stale_after.max(self.poll * 3),
        }
    }

    /// Notes that the source is reachable and its list still complete.
    pub(crate) fn is_there(&mut self, now: Timestamp) {
        if self.syncing == Syncing::No && self.problem.is_none() && self.listed {
            self.heard = Some(now);
        }
    }
}
