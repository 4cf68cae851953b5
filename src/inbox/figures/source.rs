//! One source: what is pending there, and what every look at it shows to have come and gone.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use crate::config::Targets;
use crate::domain::{ActionId, Flows, Minute, Revision, SourceName, Timestamp, Untrusted};
use crate::inbox::Connection;

use super::decided::Decided;
use super::ledger::{Ledger, Place};
use super::open::Open;
use super::stage::Stage;
use super::{Happening, HappeningKind};

/// What a source counted by itself is good for so long; then what was seen from here counts. Milliseconds.
const TOLD: i64 = 2 * Minute::MILLIS;

/// An action that is over.
#[derive(Clone, Debug)]
pub(super) struct Over {
    pub(super) stage: Stage,
    pub(super) place: Place,
    pub(super) tool: Untrusted,
    pub(super) created: Timestamp,
    pub(super) high: bool,
}

/// What a source counted by itself.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) ledger: Ledger,
    pub(super) flows: Flows,
    received: Timestamp,
}

#[derive(Clone, Debug)]
pub(super) struct SourceFigures {
    pub(super) name: SourceName,
    pub(super) connection: Connection,
    pub(super) connected_at: Timestamp,
    pub(super) heard: Option<Timestamp>,
    pub(super) problem: bool,
    pub(super) paused: Option<Timestamp>,
    pub(super) blocked: Option<u64>,
    pub(super) open: Open,
    pub(super) seen: Ledger,
    pub(super) told: Option<Told>,
    pub(super) decided: Decided,
    /// Something may have changed since the last list.
    pub(super) behind: bool,
    pub(super) revision: Option<Revision>,
    pub(super) over: HashMap<ActionId, Over>,
    /// When its own counts were asked for last, and over how many minutes.
    pub(super) asked: Option<(Timestamp, u32)>,
    /// Something happened since.
    pub(super) moved: bool,
    pub(super) order: VecDeque<ActionId>,
}

impl SourceFigures {
    pub(super) fn new(name: SourceName) -> Self {
        Self {
            name,
            connection: Connection::Connecting,
            connected_at: Timestamp::default(),
            heard: None,
            problem: false,
            paused: None,
            blocked: None,
            open: Open::default(),
            seen: Ledger::default(),
            told: None,
            decided: Decided::default(),
            behind: false,
            revision: None,
            over: HashMap::new(),
            asked: None,
            moved: false,
            order: VecDeque::new(),
        }
    }

    /// For so long it may be silent before its data is old.
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

    /// The minutes that count now, and the time that its clock has.
    pub(super) fn ledger(&self, now: Timestamp) -> (&Ledger, Timestamp) {
        match &self.told {
            Some(told) if now.since(told.received) < TOLD => {
                (&told.ledger, told.flows.at.plus_millis(now.since(told.received)))
            }
            _ => (&self.seen, now),
        }
    }

    /// What it counted by itself, while that is good.
    pub(super) fn counted(&self, now: Timestamp) -> Option<&Flows> {
        self.told.as_ref().filter(|told| now.since(told.received) < TOLD).map(|told| &told.flows)
    }

    pub(super) fn take_told(&mut self, flows: Flows, now: Timestamp) {
        self.told = Some(Told { ledger: Ledger::of(&flows), flows, received: now });
    }

    /// The source says that nothing changed since the last list.
    pub(super) fn is_there(&mut self, targets: &Targets, now: Timestamp) {
        if !self.behind && !self.problem {
            self.cover(targets, now);
        }
    }

    /// Something may have changed; a list is on its way.
    pub(super) fn falls_behind(&mut self, revision: Option<Revision>) -> bool {
        let known = revision.is_some() && revision == self.revision;
        self.behind |= !known;
        !known
    }

    pub(super) fn cover(&mut self, targets: &Targets, now: Timestamp) {
        if let Some(heard) = self.heard {
            let patience = self.patience(targets);
            self.seen.cover(heard, now, self.open.pending(), patience);
            self.seen.trim(|| self.open.all().map(|known| known.place).collect(), now);
            self.heard = Some(now);
        }
    }

    /// Whether its own counts should be asked for now; then it is taken for asked.
    pub(super) fn asks(&mut self, window: u32, now: Timestamp) -> bool {
        let due = match self.asked {
            None => true,
            Some((_, asked)) if asked != window => true,
            Some((at, _)) => now.since(at) >= if self.moved { 5_000 } else { 30_000 },
        };
        if due {
            (self.asked, self.moved) = (Some((now, window)), false);
        }
        due
    }

    pub(super) fn connects(&mut self, connection: &Connection, now: Timestamp) -> Option<Happening> {
        if self.connection == *connection {
            return None;
        }
        let news = std::mem::discriminant(&self.connection) != std::mem::discriminant(connection);
        // Beginning well is no news.
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
