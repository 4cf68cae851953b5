//! Counts how many actions wait, for how long, how fast they come and go, and their outcomes, and makes a [`Board`] of
//! it. Reads no clock and sends no requests.
//!
//! The time of an arrival or departure is the source's, bounded by the two looks at the list around it, because clocks
//! differ. A source's own counts replace what was seen from here while they are fresh.

use std::collections::VecDeque;

use crate::config::{QueueTargets, Targets};
use crate::domain::{Flows, FlowsAsked, Followed, KeptMinute, Minute, Queue, Report, SourceName, Timestamp};

use super::{Event, EventKind, Synced};

mod alerts;
mod assemble;
mod board;
pub mod cells;
mod decided;
mod ledger;
mod look;
mod news;
mod open;
mod reading;
mod source;
mod stage;
mod sums;
#[cfg(test)]
mod tests;
pub mod words;
pub mod written;

use source::SourceFigures;

pub use crate::domain::AlertKind;
pub use board::{
    About, Ages, Alert, Board, BoardRequest, DecidedBy, Happening, HappeningKind, QueueLine, ReviewerLine,
    SourceBoard, Standing, ToolLine,
};

/// Maximum number of events to keep, the newest.
const EVENTS: usize = 500;

#[derive(Clone, Debug)]
pub struct Figures {
    targets: Targets,
    queue_targets: QueueTargets,
    /// Whether the board shows who decided.
    reviewers: bool,
    groups: bool,
    sources: Vec<SourceFigures>,
    /// Newest first.
    events: VecDeque<Happening>,
}

impl Figures {
    pub const LONGEST: u32 = ledger::LONGEST;

    pub fn new(targets: Targets, reviewers: bool, sources: &[SourceName]) -> Self {
        let sources = sources.iter().cloned().map(SourceFigures::new).collect();
        let (queue_targets, groups) = (QueueTargets::new(), false);
        Self { targets, queue_targets, reviewers, groups, sources, events: VecDeque::new() }
    }

    #[must_use]
    pub fn with_groups(mut self, groups: bool) -> Self {
        self.groups = groups;
        self
    }

    #[must_use]
    pub fn with_queue_targets(mut self, targets: &QueueTargets) -> Self {
        self.queue_targets.clone_from(targets);
        self
    }

    /// Merges minutes of an earlier run or a parallel one, at any time.
    pub fn restore(&mut self, kept: &[KeptMinute]) {
        for minute in kept {
            if let Some(source) = self.source(&minute.source) {
                source.seen.restore(minute);
            }
        }
    }

    pub fn listed(&mut self, synced: &Synced, now: Timestamp) {
        let targets = self.targets;
        let Some(source) = self.source(&synced.source) else { return };
        let news = source.listed(&synced.rows, synced.revision, &targets, now);
        source.judge(now);
        self.tell(news);
    }

    /// Takes a failed list; `why` in placet's words.
    pub fn not_listed(&mut self, source: &SourceName, why: &str, now: Timestamp) {
        let Some(source) = self.source(source) else { return };
        source.behind = true;
        let is_news = !std::mem::replace(&mut source.problem, true);
        let what = HappeningKind::Unreadable { why: why.to_owned() };
        let news = is_news.then(|| Happening { at: now, source: source.name.clone(), what });
        source.judge(now);
        self.tell(news);
    }

    pub fn event(&mut self, event: &Event, now: Timestamp) {
        let targets = self.targets;
        let Some(source) = self.source(&event.source) else { return };
        let news = match &event.kind {
            EventKind::Connection(connection) => source.connects(connection, now),
            EventKind::Tick => {
                source.is_there(&targets, now);
                None
            }
            EventKind::Changed => {
                source.falls_behind(None);
                None
            }
            EventKind::Briefing(briefing) => {
                let was = std::mem::replace(&mut source.paused, briefing.paused);
                source.blocked = briefing.blocked_missions;
                source.lapsing = briefing.lapsing.unwrap_or_default();
                source.ran_other = briefing.ran_other.unwrap_or_default();
                if !source.falls_behind(briefing.revision) {
                    source.is_there(&targets, now);
                }
                let what = match (was, briefing.paused) {
                    (None, Some(_)) => Some(HappeningKind::Paused),
                    (Some(_), None) => Some(HappeningKind::Resumed),
                    _ => None,
                };
                what.map(|what| Happening { at: now, source: source.name.clone(), what })
            }
        };
        if let Some(source) = self.source(&event.source) {
            source.judge(now);
        }
        self.tell(news);
    }

    /// Takes a source's own counts. They are used for two minutes, or until the next ones.
    pub fn told(&mut self, source: &SourceName, flows: Flows, now: Timestamp) {
        if let Some(source) = self.source(source) {
            source.take_told(flows, now);
        }
    }

    /// Takes the outcomes of decisions sent from here, which most sources do not report.
    pub fn submitted(&mut self, report: &Report) {
        for line in &report.lines {
            if let Some(source) = self.source(&line.key.source) {
                source.submitted(line);
            }
        }
    }

    pub fn followed(&mut self, followed: &Followed, now: Timestamp) {
        let Some(source) = self.source(&followed.key.source) else { return };
        let news = source.followed(followed, now);
        self.tell(news);
    }

    /// Returns the request for a source's own counts if it is due: at once, then every 30 s, 5 s after the last one if
    /// something changed, and at the end of a minute. Rates and growth look further back than a short window.
    pub fn flows_due(&mut self, source: &SourceName, window: u32, now: Timestamp) -> Option<FlowsAsked> {
        let back = |minutes: u32| now.plus_millis(-i64::from(minutes) * Minute::MILLIS);
        let window = window.clamp(1, Self::LONGEST);
        let asked = FlowsAsked {
            since: back(window.max(reading::BACK)),
            decided_since: back(window),
            reviewers: self.reviewers,
            groups: self.groups,
        };
        self.source(source)?.asks(window, now).then_some(asked)
    }

    /// Makes the request for own counts due at all sources.
    pub fn ask_again(&mut self) {
        self.sources.iter_mut().for_each(|source| source.asked = None);
    }

    /// Returns the minutes that changed since the last call, for the journal.
    pub fn take_unkept(&mut self, now: Timestamp) -> Vec<KeptMinute> {
        let kept = self
            .sources
            .iter_mut()
            .flat_map(|source| source.seen.take_unkept(&source.name, source.open.pending(), now));
        kept.collect()
    }

    fn source(&mut self, name: &SourceName) -> Option<&mut SourceFigures> {
        self.sources.iter_mut().find(|source| source.name == *name)
    }

    fn tell(&mut self, news: impl IntoIterator<Item = Happening>) {
        for happening in news {
            self.events.push_front(happening);
        }
        self.events.truncate(EVENTS);
    }
}
