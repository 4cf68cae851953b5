//! Arrivals: which of them come into the list at once, which wait for the next move, and since when each is on screen.

use std::collections::{HashMap, HashSet};

use crate::domain::{ActionKey, Timestamp};

use super::arrange::NOWHERE;
use super::{Group, GroupKey, Line, Queue, Slot};

/// A row that was listed, or is on screen, for less than this was not looked at. Milliseconds.
const LOOK: i64 = 250;

/// Rows that came in lately, until they were on screen long enough.
#[derive(Clone, Debug, Default)]
pub struct Arrivals(HashMap<ActionKey, Arrival>);

#[derive(Clone, Copy, Debug)]
struct Arrival {
    listed: Timestamp,
    /// When a frame showed it first.
    drawn: Option<Timestamp>,
}

impl Arrivals {
    /// These rows are in the list from now on.
    pub fn listed(&mut self, keys: impl IntoIterator<Item = ActionKey>, now: Timestamp) {
        self.0.extend(keys.into_iter().map(|key| (key, Arrival { listed: now, drawn: None })));
    }

    /// These rows are on screen now.
    pub fn drawn<'a>(&mut self, keys: impl IntoIterator<Item = &'a ActionKey>, now: Timestamp) {
        for key in keys {
            if let Some(arrival) = self.0.get_mut(key) {
                arrival.drawn.get_or_insert(now);
            }
        }
        self.0.retain(|_, arrival| arrival.drawn.is_none_or(|at| now.since(at) < LOOK));
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// It is in the list for so short a time that a key for many rows was not meant for it.
    pub fn is_just_listed(&self, key: &ActionKey, now: Timestamp) -> bool {
        self.0.get(key).is_some_and(|arrival| now.since(arrival.listed) < LOOK)
    }

    /// It was not on screen long enough to be decided.
    pub fn is_unseen(&self, key: &ActionKey, now: Timestamp) -> bool {
        self.0.get(key).is_some_and(|arrival| arrival.drawn.is_none_or(|at| now.since(at) < LOOK))
    }

    /// A cursor that goes on by itself does not stop there. What is off screen for longer is a place to go.
    pub fn is_no_stop(&self, key: &ActionKey, now: Timestamp) -> bool {
        let since = |arrival: &Arrival| arrival.drawn.unwrap_or(arrival.listed);
        self.0.get(key).is_some_and(|arrival| now.since(since(arrival)) < LOOK)
    }
}

impl Queue {
    /// Nothing that is shown waits for anybody.
    pub fn is_emptied(&self) -> bool {
        self.groups.iter().all(|group| group.open == 0)
    }

    /// Takes waiting rows into the list: all of them, or those that move nothing between the top of the screen and the cursor.
    /// The filter does not show those in `hidden`. Returns what came in.
    pub fn admit(&mut self, all: bool, hidden: &HashSet<ActionKey>, now: Timestamp) -> Vec<ActionKey> {
        let waiting = std::mem::take(&mut self.held);
        let (coming, waiting): (HashMap<_, _>, HashMap<_, _>) =
            waiting.into_iter().partition(|(key, entry)| {
                all || hidden.contains(key) || self.moves_nothing(&Slot::arrived(entry.clone()))
            });
        self.held = waiting;
        let keys: Vec<ActionKey> = coming.keys().cloned().collect();
        if !coming.is_empty() {
            let slot = |entry| Slot { came: Some(now), ..Slot::arrived(entry) };
            self.insert(coming.into_values().map(slot).collect(), hidden);
        }
        keys
    }

    /// No row between the top of the screen and the cursor would move for this one.
    fn moves_nothing(&self, slot: &Slot) -> bool {
        let place = self.place_of(slot);
        let key = GroupKey::of(slot, self.group_by);
        let to = self.groups.partition_point(|group| self.first_rank(group) < place);
        let line = self.group(to as u32).map_or(self.lines.len(), |group| group.line);
        let Some(at) = self.group_index(&key) else { return self.is_free(line) };
        let Some(group) = self.group(at) else { return self.is_free(line) };
        if place <= self.first_rank(group) && to < at as usize {
            // The whole group goes up to there. From below the cursor to above the screen, the rows below would run out.
            let is_below = group.line > self.at && line > self.at;
            let is_above = group.line + lines_of(group) <= self.top && self.is_free(line);
            return is_below || is_above;
        }
        if group.is_single() {
            // It gets a header, or becomes one.
            return group.line > self.at || group.line < self.top;
        }
        let before = group.slots.iter().filter(|index| self.rank(**index) < place).count();
        group.folded || self.is_free(group.line + 1 + before)
    }

    /// A row that is put in at this line is off screen or below the cursor.
    const fn is_free(&self, line: usize) -> bool {
        line > self.at || line < self.top || (line == self.top && self.top > 0)
    }

    /// How many rows of the list stand before this one.
    fn place_of(&self, slot: &Slot) -> u32 {
        let before =
            |index: &u32| self.slot(*index).is_some_and(|other| self.sort_by.compare(other, slot).is_lt());
        self.order.partition_point(before) as u32
    }

    fn rank(&self, index: u32) -> u32 {
        self.slot(index).map_or(NOWHERE, |slot| slot.rank)
    }

    fn first_rank(&self, group: &Group) -> u32 {
        group.slots.first().map_or(NOWHERE, |index| self.rank(*index))
    }

    /// Puts rows where they belong. The cursor stays on its row, and on its line of the screen.
    fn insert(&mut self, coming: Vec<Slot>, hidden: &HashSet<ActionKey>) {
        let screen_line = self.at.saturating_sub(self.top);
        let mut placed: Vec<(u32, Slot)> =
            coming.into_iter().map(|slot| (self.place_of(&slot), slot)).collect();
        let by = self.sort_by;
        placed.sort_unstable_by(|(a, one), (b, other)| a.cmp(b).then_with(|| by.compare(one, other)));
        let mut order = Vec::with_capacity(self.order.len() + placed.len());
        let mut done = 0;
        for (place, slot) in placed {
            order.extend_from_slice(self.order.get(done..place as usize).unwrap_or_default());
            done = done.max(place as usize);
            order.push(self.slots.len() as u32);
            self.put(slot, hidden);
        }
        order.extend_from_slice(self.order.get(done..).unwrap_or_default());
        self.order = order;
        self.put_in_ranks();
        self.arrange();
        // A cursor's row that is one of several now stays in sight.
        if let Some(group) = self.here().map(|slot| slot.group) {
            self.fold(group, false);
        }
        self.stay(None, screen_line);
    }

    /// A row behind all others, in its batch and its group.
    fn put(&mut self, mut slot: Slot, hidden: &HashSet<ActionKey>) {
        let fresh = self.batches.len() as u32;
        slot.batch = *self.batches.entry(slot.entry.batch()).or_insert(fresh);
        let key = GroupKey::of(&slot, self.group_by);
        let fresh = self.buckets.len() as u32;
        slot.bucket = *self.by_key_of_bucket.entry(key.clone()).or_insert(fresh);
        if slot.bucket == fresh {
            self.buckets.push(key);
        }
        if let Some(shown) = &mut self.shown {
            shown.push(!hidden.contains(&slot.entry.key));
        }
        self.by_key.insert(slot.entry.key.clone(), self.slots.len() as u32);
        self.slots.push(slot);
    }

    /// The actions on these lines of the list.
    pub fn on_lines(&self, first: usize, count: usize) -> impl Iterator<Item = &ActionKey> {
        self.lines.iter().skip(first).take(count).filter_map(|line| match line {
            Line::Action(index) => self.slot(*index).map(|slot| &slot.entry.key),
            Line::Header(_) => None,
        })
    }
}

/// How many lines a group takes.
fn lines_of(group: &Group) -> usize {
    match group.slots.len() {
        _ if group.is_single() => 1,
        _ if group.folded => 1,
        rows => rows + 1,
    }
}
