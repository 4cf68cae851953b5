//! What stands around the queue: its sources, its filter, what comes in, and how much there is.

use std::collections::HashMap;
use std::time::Duration;

use crate::domain::{ActionKey, Records, Revision, SourceName, Timestamp, Untrusted};
use crate::inbox::{Connection, Problem};
use crate::tui::core::settings::Settings;

use super::elsewhere::Elsewhere;
use super::filter_state::Filtering;
use super::incoming::{Arrivals, FrozenUpdates};
use super::tally::Stats;

#[derive(Clone, Debug, Default)]
pub(crate) struct ListState {
    pub sources: Vec<SourceState>,
    pub filtering: Filtering,
    /// While the list is frozen: what happened meanwhile.
    pub frozen: Option<FrozenUpdates>,
    pub arrivals: Arrivals,
    pub elsewhere: Elsewhere,
    /// Rows that others settled, and when the list learned it.
    pub fading: HashMap<ActionKey, Timestamp>,
    pub stats: Stats,
    /// When that was counted.
    pub stats_at: Timestamp,
    /// The reviewer has pressed a key: from now on nothing moves above the cursor.
    pub touched: bool,
}

// What is known of one source: whether it can be trusted, and how far it was read.

#[derive(Clone, Debug)]
pub(crate) struct SourceState {
    pub name: SourceName,
    /// Who decides there, as it told.
    pub subject: Option<Untrusted>,
    /// Heard nothing for so long: the screen says how old its data is.
    pub stale_after: Duration,
    /// How often it is asked where it does not push.
    pub poll: Duration,
    pub connection: Connection,
    /// When the connection became what it is.
    pub connection_at: Timestamp,
    /// The next sync's `since`.
    pub revision: Option<Revision>,
    pub syncing: Syncing,
    /// When all that it has was last known to be here.
    pub heard: Option<Timestamp>,
    /// The last sync failed.
    pub problem: Option<Problem>,
    /// That was told: the next failure for the same reason is no news.
    pub told: bool,
    pub unreadable: Vec<Untrusted>,
    /// Read at least once.
    pub listed: bool,
    /// Since when it runs nothing that is approved, as it said last.
    pub paused: Option<Timestamp>,
    /// Its line says no seconds, which would change by themselves.
    pub still: bool,
    /// Missions that wait for a decision there, as it counted last.
    pub blocked: Option<u64>,
    /// What it can tell of actions that are over.
    pub records: Records,
    /// It knows something around its actions, for which it wants to know what is listed beside one.
    pub has_context: bool,
}

/// At most one sync is under way, and at most one more waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Syncing {
    No,
    UnderWay,
    /// Something changed meanwhile: once more after this one.
    Again,
}

impl SourceState {
    pub(crate) fn new(name: SourceName, stale_after: Duration, poll: Duration) -> Self {
        Self {
            name,
            subject: None,
            stale_after,
            poll,
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
            still: false,
            blocked: None,
            records: Records::NONE,
            has_context: true,
        }
    }
}

impl SourceState {
    pub(crate) fn of(name: SourceName, settings: &Settings) -> Self {
        let still = settings.reduced_motion;
        Self { still, ..Self::new(name, settings.stale_after, settings.poll) }
    }

    /// Its line on the screen changes with every second.
    pub(crate) fn counts_seconds(&self, now: Timestamp) -> bool {
        !self.still && (matches!(self.connection, Connection::Retrying { .. }) || self.is_stale(now))
    }

    /// By the clock on the wall, also when it jumped: a computer that slept knows at once that it did.
    pub(crate) fn is_stale(&self, now: Timestamp) -> bool {
        let limit = self.patience().as_millis();
        self.heard.is_some_and(|at| u128::from(now.since(at).unsigned_abs()) >= limit)
    }

    /// When it is stale, if nothing is heard of it.
    pub(crate) fn stale_at(&self) -> Option<Timestamp> {
        let limit = i64::try_from(self.patience().as_millis()).unwrap_or(i64::MAX);
        self.heard.map(|at| at.plus_millis(limit))
    }

    fn patience(&self) -> Duration {
        match self.connection {
            Connection::Live => self.stale_after,
            // Who is only asked now and then may miss two answers.
            _ => self.stale_after.max(self.poll * 3),
        }
    }

    /// It is there, and what was read last is still all there is.
    pub(crate) fn is_there(&mut self, now: Timestamp) {
        if self.syncing == Syncing::No && self.problem.is_none() && self.listed {
            self.heard = Some(now);
        }
    }
}
