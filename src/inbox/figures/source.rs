//! One source: its open actions, and the flows between looks at its list.

use std::collections::VecDeque;
use std::time::Duration;

use crate::config::Targets;
use crate::domain::{
    ActionId, Decider, Entry, Flows, IdMap, Minute, Revision, SourceName, Timestamp, ToolDecided, Untrusted,
};
use crate::inbox::Connection;

use super::decided::Decided;
use super::ledger::{Ledger, QueueIndex};
use super::open::Open;
use super::stage::Stage;
use super::{Happening, HappeningKind};

/// Milliseconds for which a source's own counts replace what was seen from here.
const TOLD: i64 = 2 * Minute::MILLIS;

#[derive(Debug, Default)]
pub(super) struct DecidedThere {
    pub(super) tools: Vec<ToolDecided>,
    pub(super) reviewers: Vec<Decider>,
    pub(super) groups: Vec<Decider>,
    pub(super) truncated: bool,
    pub(super) edits_told: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Over {
    pub(super) stage: Stage,
    pub(super) place: QueueIndex,
    pub(super) tool: Untrusted,
    pub(super) created: Timestamp,
    pub(super) rank: u8,
}

#[derive(Clone, Debug)]
pub(super) struct SourceCounts {
    pub(super) ledger: Ledger,
    pub(super) flows: Flows,
    /// Minutes back, for tools and reviewers.
    window: Option<u32>,
    received: Timestamp,
}

#[derive(Clone, Debug, Default)]
pub(super) struct SourceFigures {
    pub(super) name: SourceName,
    pub(super) connection: Connection,
    pub(super) connected_at: Timestamp,
    pub(super) heard: Option<Timestamp>,
    pub(super) problem: bool,
    pub(super) paused: Option<Timestamp>,
    pub(super) blocked: Option<u64>,
    pub(super) lapsing: u64,
    pub(super) ran_other: u64,
    pub(super) open: Open,
    pub(super) seen: Ledger,
    pub(super) told: Option<SourceCounts>,
    pub(super) deeds: Decided,
    /// Something may have changed since the last list.
    pub(super) behind: bool,
    pub(super) revision: Option<Revision>,
    pub(super) over: IdMap<Over>,
    /// When its own counts were last requested, and for how many minutes.
    pub(super) asked: Option<(Timestamp, u32)>,
    /// Something happened since that request.
    pub(super) moved: bool,
    pub(super) order: VecDeque<ActionId>,
    /// The time between the last two looks counts as not watched.
    pub(super) gap: bool,
    /// Only a part of its list was received.
    pub(super) cut: bool,
    /// Pages received so far of an unfinished list.
    pub(super) pages: Vec<Entry>,
    /// Since when it has not been well; `None` while it is.
    pub(super) down_since: Option<Timestamp>,
}

impl SourceFigures {
    pub(super) fn new(name: SourceName) -> Self {
        Self { name, ..Self::default() }
    }

    /// Returns how long it may be silent before its data is stale.
    pub(super) fn patience(&self, targets: &Targets) -> Duration {
        match self.connection {
            Connection::Live => targets.stale_after,
            _ => targets.stale_after.max(targets.poll * 3),
        }
    }

    pub(super) fn is_stale(&self, targets: &Targets, now: Timestamp) -> bool {
        let limit = self.patience(targets).as_millis();
        self.heard.is_some_and(|at| u128::from(now.since(at).unsigned_abs()) >= limit)
    }

    fn counted(&self, now: Timestamp) -> Option<&SourceCounts> {
        self.told.as_ref().filter(|told| now.since(told.received) < TOLD)
    }

    /// Returns the ledger to use, and the time on its clock. `believed` prefers the source's own counts.
    pub(super) fn ledger(&self, believed: bool, now: Timestamp) -> (&Ledger, Timestamp) {
        match self.counted(now).filter(|_| believed) {
            Some(told) => (&told.ledger, told.flows.at.plus_millis(now.since(told.received))),
            None => (&self.seen, now),
        }
    }

    /// Returns decisions in a window by tool and reviewer. A source with its own counts has none until it has answered
    /// for that window.
    pub(super) fn decided(&self, window: u32, believed: bool, now: Timestamp) -> DecidedThere {
        let since = now.plus_millis(-i64::from(window) * Minute::MILLIS);
        match self.counted(now).filter(|_| believed) {
            Some(told) if told.window.is_none_or(|asked| asked == window) => DecidedThere {
                tools: told.flows.tools.clone(),
                reviewers: told.flows.reviewers.clone(),
                groups: told.flows.groups.clone(),
                truncated: told.flows.truncated,
                edits_told: true,
            },
            Some(_) => DecidedThere::default(),
            None => DecidedThere {
                tools: self.deeds.tools(since),
                reviewers: self.deeds.reviewers(since),
                // Only the source knows the groups.
                groups: Vec::new(),
                truncated: self.deeds.is_full_since(since),
                edits_told: false,
            },
        }
    }

    pub(super) fn take_told(&mut self, flows: Flows, now: Timestamp) {
        let window = self.asked.map(|(_, window)| window);
        self.told = Some(SourceCounts { ledger: Ledger::of(&flows), flows, window, received: now });
    }

    /// Records that nothing has changed since the last list.
    pub(super) fn is_there(&mut self, targets: &Targets, now: Timestamp) {
        if !self.behind && !self.problem {
            self.cover(targets, now);
        }
    }

    /// Records that something may have changed since the last list. Returns false if `revision` is already known.
    pub(super) fn falls_behind(&mut self, revision: Option<Revision>) -> bool {
        let known = revision.is_some() && revision == self.revision;
        self.behind |= !known;
        !known
    }

    pub(super) fn cover(&mut self, targets: &Targets, now: Timestamp) {
        if let Some(heard) = self.heard {
            let patience = self.patience(targets);
            self.gap = !self.seen.cover(heard, now, self.open.pending(), patience);
            self.seen.trim(|| self.open.all().map(|known| known.place).collect(), now);
            self.heard = Some(now);
        }
    }

    /// Returns whether to request its own counts now, and records the request.
    pub(super) fn asks(&mut self, window: u32, now: Timestamp) -> bool {
        // The minute counted last has ended by now.
        let ended = self.counted(now).is_some_and(|told| {
            let clock = told.flows.at.plus_millis(now.since(told.received));
            Minute::of(clock) != Minute::of(told.flows.at)
        });
        let due = match self.asked {
            None => true,
            Some((_, asked)) if asked != window => true,
            Some((at, _)) if ended => now.since(at) >= 2_000,
            Some((at, _)) => now.since(at) >= if self.moved { 5_000 } else { 30_000 },
        };
        if due {
            (self.asked, self.moved) = (Some((now, window)), false);
        }
        due
    }

    /// Updates since when it has not been well. Called after each of its events.
    pub(super) fn judge(&mut self, now: Timestamp) {
        let well =
            matches!(self.connection, Connection::Live | Connection::Polling | Connection::Stopped { .. })
                && !self.problem;
        self.down_since = if well { None } else { self.down_since.or(Some(now)) };
    }

    pub(super) fn connects(&mut self, connection: &Connection, now: Timestamp) -> Option<Happening> {
        if self.connection == *connection {
            return None;
        }
        let news = std::mem::discriminant(&self.connection) != std::mem::discriminant(connection);
        // A successful start is not an event.
        let calm = matches!(self.connection, Connection::Connecting)
            && matches!(connection, Connection::Live | Connection::Polling);
        self.connection = connection.clone();
        self.connected_at = now;
        let what = HappeningKind::Connection(connection.clone());
        (news && !calm && *connection != Connection::Connecting).then(|| Happening {
            at: now,
            source: self.name.clone(),
            what,
        })
    }
}
