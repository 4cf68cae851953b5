//! Merges the rows of a sync into the list: known rows change in place, new ones wait to come in, settled ones stay.

use std::collections::{HashMap, HashSet};

use crate::domain::{ActionKey, Digest, Effect, Entry, Risk, Row, SourceName, Status, Timestamp, Untrusted};
use crate::inbox::Rows;

use super::groups::{Group, GroupKey};
use super::slots::{NOWHERE, Settled, Slot, State};
use super::state::{Line, Queue};

/// What a sync changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Merged {
    /// Content or label is another one now.
    pub changed: Vec<ActionKey>,
    /// Settled, and not by a decision of ours that is on its way; with who did it.
    pub settled: Vec<(ActionKey, Option<Untrusted>)>,
    pub arrived: usize,
    /// Actions became unknown.
    pub lost: bool,
    /// The source tells more of an action whose decision was lost sight of.
    pub lost_is_told: bool,
}

impl Queue {
    /// Takes what a sync brought: known rows change in place, new ones wait to come in.
    pub(crate) fn merge(&mut self, source: &SourceName, rows: Rows) -> Merged {
        let mut merged = Merged::default();
        match rows {
            Rows::All(entries) => {
                let listed: HashSet<ActionKey> = entries.iter().map(|entry| entry.key.clone()).collect();
                self.held.retain(|key, _| key.source != *source || listed.contains(key));
                let open =
                    self.slots.iter().filter(|slot| slot.entry.key.source == *source && slot.is_open());
                let gone = open.map(|slot| slot.entry.key.clone()).filter(|key| !listed.contains(key));
                for key in gone.collect::<Vec<_>>() {
                    self.settle(&key, None, &mut merged);
                }
                for entry in entries {
                    self.merge_one(entry, &mut merged);
                }
            }
            Rows::Changes { entries, gone } => {
                for entry in entries {
                    self.merge_one(entry, &mut merged);
                }
                for key in gone {
                    self.held.remove(&key);
                    self.settle(&key, None, &mut merged);
                }
            }
        }
        merged
    }

    fn merge_one(&mut self, entry: Entry, merged: &mut Merged) {
        let key = entry.key.clone();
        let lost = entry.row.status == Status::Unknown;
        let outstanding = lost || entry.row.status.is_pending();
        let Some(slot) = self.by_key.get(&key).and_then(|index| self.slots.get_mut(*index as usize)) else {
            if !outstanding {
                self.held.remove(&key);
            } else if self.held.insert(key, entry).is_none() {
                merged.arrived += 1;
            }
            return;
        };
        if !outstanding {
            self.settle(&key, Some(entry), merged);
            return;
        }
        if lost {
            self.lose(entry, merged);
            return;
        }
        if label(&slot.entry.row) != label(&entry.row) {
            merged.changed.push(key.clone());
            self.same.forget_listed();
        }
        // Some sources use an id again, for what waits anew.
        let anew = held_since(&slot.entry.row) != held_since(&entry.row);
        slot.entry = entry;
        // A settled row that is pending again: the source took the decision back, or never had it.
        let back = matches!(&slot.state, State::Settled(settled) if !settled.ours || anew);
        if back {
            self.set_state(&key, State::Pending);
        }
    }

    /// It ran, and nobody knows what became of it.
    fn lose(&mut self, entry: Entry, merged: &mut Merged) {
        let (key, by) = (entry.key.clone(), entry.row.resolved_by.clone());
        let Some(slot) = self.slot_mut(&key) else { return };
        slot.entry = entry;
        match slot.state {
            // The answer to our own submission comes in a moment.
            State::ToResolve | State::Sending => return,
            State::Pending | State::Held => merged.settled.push((key.clone(), by)),
            State::Unknown | State::Settled(_) => merged.changed.push(key.clone()),
        }
        merged.lost = true;
        self.set_state(&key, State::ToResolve);
    }

    fn slot_mut(&mut self, key: &ActionKey) -> Option<&mut Slot> {
        self.slots.get_mut(*self.by_key.get(key)? as usize)
    }

    fn settle(&mut self, key: &ActionKey, entry: Option<Entry>, merged: &mut Merged) {
        let Some(slot) = self.slot_mut(key) else { return };
        let row = entry.as_ref().map(|entry| &entry.row);
        let status: Option<Status> = row.map(|row| row.status.clone());
        let by = row.and_then(|row| row.resolved_by.clone());
        let at = row.and_then(|row| row.resolved_at);
        let row_is_known = row.is_some();
        if let Some(entry) = entry {
            slot.entry = entry;
        }
        match &slot.state {
            // The answer to our own submission says more, and comes in a moment.
            State::Sending => {}
            State::Settled(known) => {
                let status = status.or_else(|| known.status.clone());
                let state = State::Settled(Settled { status, ..known.clone() });
                self.set_state(key, state);
            }
            State::ToResolve => {
                // The row names who approved it, not who settled it.
                let settled = Settled { status, by: None, at, ours: false, error: None };
                self.set_state(key, State::Settled(settled));
                merged.settled.push((key.clone(), None));
            }
            // Whether that is our decision, reading tells; a row that is not listed tells nothing.
            State::Unknown => merged.lost_is_told |= row_is_known,
            State::Pending | State::Held => {
                let settled = Settled { status, by: by.clone(), at, ours: false, error: None };
                self.set_state(key, State::Settled(settled));
                merged.settled.push((key.clone(), by));
            }
        }
    }
}

/// Since when it waits. What cannot be read may have no time of its own.
fn held_since(row: &Row) -> Option<Timestamp> {
    row.unreadable.is_none().then_some(row.created_at)
}

/// What a list tells of the content and of the terms: another one, and what was on screen is not what there is.
fn label(row: &Row) -> Label<'_> {
    (row.digest, &row.title, &row.risk, row.effect.as_ref(), row.expires_at, held_since(row))
}

type Label<'a> =
    (Option<Digest>, &'a Untrusted, &'a Risk, Option<&'a Effect>, Option<Timestamp>, Option<Timestamp>);

// Arrivals: which of them come into the list at once, which wait for the next move, and since when each is on screen.

/// A row that was listed, or is on screen, for less than this was not looked at. Milliseconds.
const LOOK: i64 = 250;

/// Rows that came in lately, until they were on screen long enough.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrivals(HashMap<ActionKey, Arrival>);

#[derive(Clone, Copy, Debug)]
struct Arrival {
    listed: Timestamp,
    /// When a frame showed it first.
    drawn: Option<Timestamp>,
}

impl Arrivals {
    /// These rows are in the list from now on.
    pub(crate) fn listed(&mut self, keys: impl IntoIterator<Item = ActionKey>, now: Timestamp) {
        self.0.extend(keys.into_iter().map(|key| (key, Arrival { listed: now, drawn: None })));
    }

    /// These rows are on screen now.
    pub(crate) fn drawn<'a>(&mut self, keys: impl IntoIterator<Item = &'a ActionKey>, now: Timestamp) {
        for key in keys {
            if let Some(arrival) = self.0.get_mut(key) {
                arrival.drawn.get_or_insert(now);
            }
        }
        self.0.retain(|_, arrival| arrival.drawn.is_none_or(|at| now.since(at) < LOOK));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// It is in the list for so short a time that a key for many rows was not meant for it.
    pub(crate) fn is_just_listed(&self, key: &ActionKey, now: Timestamp) -> bool {
        self.0.get(key).is_some_and(|arrival| now.since(arrival.listed) < LOOK)
    }

    /// It was not on screen long enough to be decided.
    pub(crate) fn is_unseen(&self, key: &ActionKey, now: Timestamp) -> bool {
        self.0.get(key).is_some_and(|arrival| arrival.drawn.is_none_or(|at| now.since(at) < LOOK))
    }

    /// A cursor that goes on by itself does not stop there. What is off screen for longer is a place to go.
    pub(crate) fn is_no_stop(&self, key: &ActionKey, now: Timestamp) -> bool {
        let since = |arrival: &Arrival| arrival.drawn.unwrap_or(arrival.listed);
        self.0.get(key).is_some_and(|arrival| now.since(since(arrival)) < LOOK)
    }
}

impl Queue {
    /// Nothing that is shown waits for anybody.
    pub(crate) fn is_emptied(&self) -> bool {
        self.groups.iter().all(|group| group.open == 0)
    }

    /// Takes waiting rows into the list: all of them, or those that move nothing between the top of the screen and the cursor.
    /// The filter does not show those in `hidden`. Returns what came in.
    pub(crate) fn admit(&mut self, all: bool, hidden: &HashSet<ActionKey>, now: Timestamp) -> Vec<ActionKey> {
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
        let before = |index: &u32| {
            self.slot(*index).is_some_and(|other| self.sort_by.compare_slots(other, slot).is_lt())
        };
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
        placed.sort_unstable_by(|(a, one), (b, other)| a.cmp(b).then_with(|| by.compare_slots(one, other)));
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
        self.same.forget_listed();
    }

    /// The actions on these lines of the list.
    pub(crate) fn on_lines(&self, first: usize, count: usize) -> impl Iterator<Item = &ActionKey> {
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

// Live updates that are held off while the list is frozen.

/// What sources said meanwhile: the present row, or that it is gone. The last word counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct FrozenUpdates {
    news: HashMap<ActionKey, Option<Entry>>,
}

impl FrozenUpdates {
    /// Keeps what a sync brought, as far as it differs from the list.
    pub(crate) fn keep(&mut self, queue: &Queue, source: &SourceName, rows: Rows) {
        match rows {
            Rows::All(entries) => {
                let listed: HashSet<&ActionKey> = entries.iter().map(|entry| &entry.key).collect();
                let known = queue.slots().iter().filter(|slot| slot.is_open()).map(|slot| &slot.entry.key);
                let known = known.chain(queue.held().map(|entry| &entry.key));
                let gone = known.filter(|key| key.source == *source && !listed.contains(key));
                let gone: Vec<ActionKey> = gone.cloned().collect();
                self.news.retain(|key, _| key.source != *source);
                self.news.extend(gone.into_iter().map(|key| (key, None)));
                for entry in entries {
                    if queue.get(&entry.key).is_none_or(|slot| slot.entry != entry) {
                        self.news.insert(entry.key.clone(), Some(entry));
                    }
                }
            }
            Rows::Changes { entries, gone } => {
                self.news.extend(entries.into_iter().map(|entry| (entry.key.clone(), Some(entry))));
                self.news.extend(gone.into_iter().map(|key| (key, None)));
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.news.len()
    }

    /// The row as it is now, where `known` is how the list has it; `None` when it is gone.
    pub(crate) fn present<'a>(&'a self, known: &'a Entry) -> Option<&'a Entry> {
        self.news.get(&known.key).map_or(Some(known), Option::as_ref)
    }

    /// Actions that the list does not know.
    pub(crate) fn arrived<'a>(&'a self, queue: &'a Queue) -> impl Iterator<Item = &'a Entry> {
        let known = |key: &ActionKey| queue.get(key).is_some() || queue.held.contains_key(key);
        self.news.iter().filter(move |(key, _)| !known(key)).filter_map(|(_, entry)| entry.as_ref())
    }

    /// Everything, as one sync a source.
    pub(crate) fn take(&mut self) -> Vec<(SourceName, Rows)> {
        let mut by_source: HashMap<SourceName, (Vec<Entry>, Vec<ActionKey>)> = HashMap::new();
        for (key, entry) in self.news.drain() {
            let (entries, gone) = by_source.entry(key.source.clone()).or_default();
            match entry {
                Some(entry) => entries.push(entry),
                None => gone.push(key),
            }
        }
        by_source
            .into_iter()
            .map(|(source, (entries, gone))| (source, Rows::Changes { entries, gone }))
            .collect()
    }
}
