//! Finds arrivals and departures between two looks at a source's list.

use std::collections::HashSet;

use crate::config::Targets;
use crate::contract::action::Unreadable;
use crate::domain::{
    ActionId, ActionKey, DecisionKind, Entry, Flow, Followed, Minute, Outcome, Queue, ReportLine, Revision,
    Row, Timestamp, Untrusted,
};
use crate::inbox::Rows;

use super::decided::{Deed, Did};
use super::ledger::QueueIndex;
use super::news::News;
use super::source::{Over, SourceFigures};
use super::stage::Stage;
use super::{About, Happening};

/// Maximum number of settled actions to remember, so that none counts twice.
const OVER: usize = 20_000;

impl SourceFigures {
    pub(super) fn listed(
        &mut self,
        rows: &Rows,
        revision: Option<Revision>,
        targets: &Targets,
        now: Timestamp,
    ) -> Vec<Happening> {
        if let Rows::Page { entries, first } = rows {
            self.page(entries, *first, now);
            return Vec::new();
        }
        let since = self.heard;
        self.cover(targets, now);
        self.heard = Some(now);
        // An action that came and went between two looks is in no list.
        self.moved |= since.is_some() && revision != self.revision;
        (self.behind, self.problem, self.revision) = (false, false, revision);
        let mut look = ListReading { since, now, gap: self.gap && since.is_some(), news: News::default() };
        match rows {
            Rows::All(entries) => {
                self.cut = entries.iter().any(|entry| is_cut(&entry.row));
                let listed: HashSet<&ActionId> = entries.iter().map(|entry| &entry.row.id).collect();
                self.all_but(&mut look, |id| listed.contains(id));
                self.stand(&mut look, entries);
            }
            Rows::LastPage { entries, listed } => {
                self.cut = entries.iter().any(|entry| is_cut(&entry.row));
                let pages = std::mem::take(&mut self.pages);
                if since.is_some() {
                    self.all_but(&mut look, |id| listed.contains(id));
                    self.stand(&mut look, &pages);
                }
                self.stand(&mut look, entries);
                // At the first look everything listed has been counted by now, so equal numbers mean the same
                // actions.
                if since.is_none() && self.open.ids().len() != listed.len() {
                    self.all_but(&mut look, |id| listed.contains(id));
                }
            }
            Rows::Page { .. } => {}
            Rows::Changes { entries, gone } => {
                for key in gone {
                    self.gone(&mut look, &key.id);
                }
                self.stand(&mut look, entries);
            }
        }
        look.news.told(&self.name, now)
    }

    /// Takes a page of a list; all pages are one look. At the first look, actions are counted as they arrive, without
    /// events.
    fn page(&mut self, entries: &[Entry], first: bool, now: Timestamp) {
        if first {
            self.pages.clear();
        }
        if self.heard.is_none() {
            let mut look = ListReading { since: None, now, gap: false, news: News::default() };
            self.stand(&mut look, entries);
        } else {
            self.pages.extend_from_slice(entries);
        }
    }

    fn all_but(&mut self, look: &mut ListReading, is_listed: impl Fn(&ActionId) -> bool) {
        let gone: Vec<ActionId> = self.open.ids().filter(|id| !is_listed(id)).cloned().collect();
        // Actions beyond a cut may still be pending.
        let over = if self.cut { Vec::new() } else { gone };
        for id in &over {
            self.gone(look, id);
        }
    }

    /// Takes an outcome of a decision sent from here, for sources that do not report it.
    pub(super) fn submitted(&mut self, line: &ReportLine) {
        let stage = match (&line.outcome, line.decision) {
            (
                Outcome::Approved | Outcome::Accepted,
                DecisionKind::Approve | DecisionKind::ApproveWithEdits,
            ) => Stage::Approved,
            (Outcome::Rejected | Outcome::Accepted, DecisionKind::Reject) => Stage::Rejected,
            _ => return,
        };
        self.open.decided(&line.key.id, false, stage);
    }

    pub(super) fn followed(&mut self, followed: &Followed, now: Timestamp) -> Vec<Happening> {
        let (id, stage) = (&followed.key.id, Stage::of(&followed.status));
        if stage.outcome().is_nothing() {
            return Vec::new();
        }
        if self.open.get(id).is_some() {
            // The list will show that it is gone, but not why.
            self.open.decided(id, true, stage);
            return Vec::new();
        }
        let Some(over) = self.over.get_mut(id).filter(|over| over.stage != stage) else { return Vec::new() };
        over.stage = stage;
        let over = over.clone();
        self.flow(over.place, Minute::of(now), &stage.outcome());
        let (key, title) = (followed.key.clone(), followed.title.clone());
        let about = About { key, tool: over.tool.clone(), title, rank: over.rank };
        self.did(stage, false, (now, over.created), &over.tool, None);
        let mut news = News::default();
        news.moved(stage, false, None, None, about);
        news.told(&self.name, now)
    }

    fn gone(&mut self, look: &mut ListReading, id: &ActionId) {
        let Some(known) = self.open.take(id) else { return };
        let tool = self.open.tools().get(known.tool).cloned().unwrap_or_default();
        let about = self.about(id, (&tool, &known.title), known.rank);
        let over =
            Over { stage: Stage::Left, place: known.place, tool, created: known.created, rank: known.rank };
        if known.lost {
            // Somebody resolved it, but the source does not tell the result.
            self.end(id, Over { stage: Stage::Left, ..over });
            return;
        }
        let stage = known.ours.unwrap_or(Stage::Left);
        self.flow(known.place, look.vanished(), &stage.resolution().plus(&stage.outcome()));
        self.did(stage, true, (look.now, known.created), &over.tool, None);
        self.end(id, Over { stage, ..over });
        look.news.moved(stage, true, None, None, about);
    }

    fn stand(&mut self, look: &mut ListReading, entries: &[Entry]) {
        for entry in entries {
            self.stands(look, &entry.row);
        }
    }

    fn stands(&mut self, look: &mut ListReading, row: &Row) {
        let stage = Stage::of(&row.status);
        let (known, over) = (self.open.get(&row.id), self.over.get(&row.id).map(|over| over.stage));
        let before = match known {
            Some(known) if known.lost => Some(Stage::Unknown),
            Some(_) => Some(Stage::Pending),
            None => over,
        };
        let (mut flow, mut at) = (Flow::default(), look.moment(row.resolved_at));
        match (before, look.since) {
            // An action that waits at the first look is not an arrival.
            (None, None) => {}
            (None, Some(_)) if look.is_new(row) => {
                let arrived = Flow { arrived: 1, ..Flow::default() };
                self.count(row, Minute::of(look.moment(Some(row.created_at))), &arrived);
                at = at.max(look.moment(Some(row.created_at)));
                flow = stage.resolution().plus(&stage.outcome());
            }
            (Some(Stage::Pending), _) => flow = stage.resolution().plus(&stage.outcome()),
            (Some(before), _) if before == stage => {}
            (Some(_), _) if stage == Stage::Pending => flow = Flow { arrived: 1, ..Flow::default() },
            // Decided before, or before it was watched: only its new outcome counts.
            _ => flow = stage.outcome(),
        }
        if !flow.is_nothing() {
            self.count(row, Minute::of(at), &flow);
        }
        let queue = Queue::of(row);
        let place = self.seen.place(&queue);
        let rank = row.risk.rank();
        let first = look.since.is_none();
        if !first && before != Some(stage) && (before.is_some() || look.is_new(row) || !flow.is_nothing()) {
            let about = self.about(&row.id, (&row.tool, row.shown_title()), rank);
            self.tell(look, row, before, stage, about);
        }
        match stage {
            Stage::Pending | Stage::Unknown => {
                self.over.remove(&row.id);
                self.open.put(row, &queue, place);
            }
            _ => {
                self.open.take(&row.id);
                let (tool, created) = (row.tool.clone(), row.created_at);
                self.end(&row.id, Over { stage, place, tool, created, rank });
            }
        }
    }

    fn tell(&mut self, look: &mut ListReading, row: &Row, before: Option<Stage>, stage: Stage, about: About) {
        let was_open = matches!(before, None | Some(Stage::Pending));
        if stage == Stage::Pending {
            look.news.arrived(Queue::of(row), about);
            return;
        }
        if before.is_none() && look.is_new(row) {
            look.news.arrived(Queue::of(row), about.clone());
        }
        let (at, by) = (look.moment(row.resolved_at), row.resolved_by.clone());
        self.did(stage, was_open, (at, row.created_at), &row.tool, by.as_ref());
        look.news.moved(stage, was_open, Some(row.status.clone()), by, about);
    }

    /// `at`: when it happened; `created`: when it was proposed.
    fn did(
        &mut self,
        stage: Stage,
        was_open: bool,
        (at, created): (Timestamp, Timestamp),
        tool: &Untrusted,
        by: Option<&Untrusted>,
    ) {
        let decided = match stage {
            Stage::Pending | Stage::Left => None,
            Stage::Rejected => Some(Did::Reject),
            _ => Some(Did::Approve),
        };
        let failed = (stage == Stage::Failed).then_some(Did::Fail);
        for what in decided.filter(|_| was_open).into_iter().chain(failed) {
            self.deeds.add(Deed { at, created, tool: tool.clone(), by: by.cloned(), what });
        }
    }

    fn count(&mut self, row: &Row, minute: Minute, flow: &Flow) {
        let place = self.seen.place(&Queue::of(row));
        self.flow(place, minute, flow);
    }

    fn about(&self, id: &ActionId, (tool, title): (&Untrusted, &Untrusted), rank: u8) -> About {
        let key = ActionKey { source: self.name.clone(), id: id.clone() };
        About { key, tool: tool.clone(), title: title.clone(), rank }
    }

    fn end(&mut self, id: &ActionId, over: Over) {
        if self.over.insert(id.clone(), over).is_none() {
            self.order.push_back(id.clone());
        }
        while self.order.len() > OVER {
            if let Some(oldest) = self.order.pop_front() {
                self.over.remove(&oldest);
            }
        }
    }

    fn flow(&mut self, place: QueueIndex, minute: Minute, flow: &Flow) {
        self.seen.add(place, minute, flow);
        self.moved = true;
    }
}

struct ListReading {
    /// The time since the last look was not watched.
    gap: bool,
    /// The time of the last look.
    since: Option<Timestamp>,
    now: Timestamp,
    news: News,
}

impl ListReading {
    fn is_new(&self, row: &Row) -> bool {
        row.status.is_pending() || self.since.is_some_and(|since| row.created_at > since)
    }

    /// Returns the minute to count a disappearance in, whose time is unknown. After a gap it is a minute of the gap,
    /// so that it does not affect the rate.
    fn vanished(&self) -> Minute {
        let (now, next) = (Minute::of(self.now), Minute::of(self.since.unwrap_or(self.now)).plus(1));
        if self.gap { next.min(now.plus(-1)) } else { now }
    }

    /// Returns the source's time of a change, bounded by the last two looks because clocks differ.
    fn moment(&self, told: Option<Timestamp>) -> Timestamp {
        let since = self.since.unwrap_or(self.now);
        told.unwrap_or(self.now).clamp(since.min(self.now), self.now)
    }
}

/// Returns whether the row represents the missing rest of a list.
fn is_cut(row: &Row) -> bool {
    row.unreadable.as_ref().is_some_and(|stand_in| stand_in.what == Unreadable::CUT_OFF)
}
