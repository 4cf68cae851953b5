//! Counts over the whole queue, waiting arrivals included; made anew after each sync, not per frame.

use std::collections::HashSet;

use crate::domain::{Entry, Row, SourceName, Timestamp};

use super::{Later, Queue, Slot, State};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    pub pending: usize,
    /// Actions that ran, and nobody knows what became of them.
    pub unknown: usize,
    pub by_source: Vec<(SourceName, usize)>,
    /// Low, medium, high (and unknown words), critical.
    pub risks: [usize; 4],
    /// Under 15 minutes, under an hour, under four hours, older.
    pub ages: [usize; 4],
    pub oldest: Option<Timestamp>,
    /// When the next action that is on offer expires.
    pub next_expiry: Option<Timestamp>,
    /// Different missions with a pending action: they wait until somebody decides.
    pub missions: usize,
    /// Different agents with a pending action.
    pub agents: usize,
}

const MINUTE: i64 = 60_000;

impl Stats {
    /// `later` is what was not taken into the list: it counts as if it had been.
    pub fn of<'a>(queue: &'a Queue, later: Option<&'a Later>, now: Timestamp) -> Self {
        let mut stats = Self::default();
        let slots = || queue.slots().iter();
        let lost = queue.held().filter(|entry| Slot::outstanding(entry) == State::ToSettle);
        stats.unknown = slots().filter(|slot| slot.is_lost()).count() + lost.count();
        let open = slots().filter(|slot| slot.counts_as_pending()).map(|slot| &slot.entry);
        let present = |entry: &'a Entry| match later {
            Some(later) => later.present(entry).filter(|entry| entry.row.status.is_pending()),
            None => Some(entry),
        };
        // What waits is on nobody's screen yet: what expires there needs no row to be marked.
        let on_time = |entry: &&Entry| !entry.row.has_expired(now);
        let known = open.chain(queue.held_pending().filter(on_time)).filter_map(present);
        let arrived = later.into_iter().flat_map(|later| later.arrived(queue)).filter(on_time);
        let offered = slots().filter(|slot| slot.is_pending()).filter_map(|slot| slot.entry.row.expires_at);
        let held = queue.held_pending().filter(on_time).filter_map(|entry| entry.row.expires_at);
        stats.next_expiry = offered.chain(held).min();
        let (mut missions, mut agents) = (HashSet::new(), HashSet::new());
        for entry in known.chain(arrived.filter(|entry| entry.row.status.is_pending())) {
            stats.count(&entry.row, now);
            missions.extend(entry.row.mission.as_ref().map(|mission| (&entry.key.source, mission.as_raw())));
            agents.extend(entry.row.agent.as_ref().map(|agent| (&entry.key.source, agent.as_raw())));
            match stats.by_source.iter_mut().find(|(source, _)| *source == entry.key.source) {
                Some((_, count)) => *count += 1,
                None => stats.by_source.push((entry.key.source.clone(), 1)),
            }
        }
        (stats.missions, stats.agents) = (missions.len(), agents.len());
        stats
    }

    /// High, critical, or a word this version does not know.
    pub fn high_risk(&self) -> usize {
        let [_, _, high, critical] = self.risks;
        high + critical
    }

    fn count(&mut self, row: &Row, now: Timestamp) {
        self.pending += 1;
        if let Some(count) = self.risks.get_mut(usize::from(row.risk.rank())) {
            *count += 1;
        }
        let age = now.since(row.created_at);
        let bucket = [15 * MINUTE, 60 * MINUTE, 240 * MINUTE].iter().filter(|limit| age >= **limit).count();
        if let Some(count) = self.ages.get_mut(bucket) {
            *count += 1;
        }
        self.oldest = Some(self.oldest.map_or(row.created_at, |oldest| oldest.min(row.created_at)));
    }
}
