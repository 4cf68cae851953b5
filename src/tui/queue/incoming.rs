//! Merges synced rows into the list. Known rows change in place, new ones wait to be taken in, settled ones stay.

use std::collections::{HashMap, HashSet};

use crate::domain::{
    ActionKey, Approvals, Digest, Effect, Entry, IdSet, Risk, Row, SourceName, Status, Timestamp, Untrusted,
};
use crate::inbox::Rows;

use super::groups::{Group, GroupKey};
use super::slots::{RowId, Settled, Slot, State};
use super::state::{Held, Line, Queue};
use super::tally::Tally;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Merged {
    pub changed: Vec<ActionKey>,
    /// Actions settled by other decisions than ours, and by whom.
    pub settled: Vec<(ActionKey, Option<Untrusted>)>,
    pub lost: bool,
    /// The source reports news about an action whose decision was lost.
    pub lost_is_told: bool,
}

impl Queue {
    pub(crate) fn merge(&mut self, source: &SourceName, rows: Rows) -> Merged {
        let mut merged = Merged::default();
        if matches!(rows, Rows::Page { first: true, .. }) {
            self.has_left = false;
        }
        let (entries, gone, listed) = parts(rows);
        self.held.reserve(entries.len());
        for entry in entries {
            self.merge_one(entry, &mut merged);
        }
        for key in gone {
            self.has_left |= self.held.swap_remove(&key).is_some();
            self.settle(&key, None, &mut merged);
        }
        // Unless rows left meanwhile, equal counts mean that no row is missing from the list. This avoids looking up
        // 100,000 rows.
        if let Some(listed) = listed.filter(|it| self.has_left || self.count_of(source) != it.len()) {
            self.leave_out(source, &listed, &mut merged);
        }
        self.forget_kinds();
        merged
    }

    /// Forgets unused kinds once there are many, because some agents never reuse a name.
    fn forget_kinds(&mut self) {
        if self.tally.kinds.all().len() > 1_000 + self.slots.len() * 2 {
            self.tally = Tally::of(self.slots.iter_mut());
            // A running sort refers to the old kind numbers and must begin again.
            self.strays += 1;
        }
    }

    /// Counts the actions of a source, settled and waiting ones included.
    fn count_of(&self, source: &SourceName) -> usize {
        let is_its: Vec<bool> = self.tally.kinds.all().map(|kind| kind.source == *source).collect();
        let listed = self.slots.iter().filter(|slot| is_its.get(slot.kind as usize) == Some(&true));
        listed.count() + self.held.keys().filter(|key| key.source == *source).count()
    }

    /// Settles the source's actions that it no longer lists.
    fn leave_out(&mut self, source: &SourceName, listed: &IdSet, merged: &mut Merged) {
        self.held.retain(|key, _| key.source != *source || listed.contains(&key.id));
        let open = self.slots.iter().filter(|slot| slot.entry.key.source == *source && slot.is_open());
        let gone = open.map(|slot| &slot.entry.key).filter(|key| !listed.contains(&key.id));
        for key in gone.cloned().collect::<Vec<_>>() {
            self.settle(&key, None, merged);
        }
    }

    fn merge_one(&mut self, entry: Entry, merged: &mut Merged) {
        let key = entry.key.clone();
        let lost = entry.row.status == Status::Unknown;
        let outstanding = lost || entry.row.status.is_pending();
        let Some((id, slot)) = self.index(&key).and_then(|id| Some((id, self.slot(id)?))) else {
            if outstanding {
                self.held.insert(key, entry);
            } else {
                self.has_left = true;
                self.held.swap_remove(&key);
            }
            return;
        };
        if !outstanding {
            return self.settle(&key, Some(entry), merged);
        }
        if lost {
            return self.lose(entry, merged);
        }
        // Some sources reuse an id for a new action.
        let anew = held_since(&slot.entry.row) != held_since(&entry.row);
        // The source took the decision back, or never received it.
        let back = matches!(&slot.state, State::Settled(settled) if !settled.ours || anew);
        if label(&slot.entry.row) != label(&entry.row) {
            self.same.put(id, &entry);
            merged.changed.push(key.clone());
        }
        self.put_entry(entry);
        if back {
            self.set_state(&key, State::Pending);
        }
    }

    fn lose(&mut self, entry: Entry, merged: &mut Merged) {
        let (key, by) = (entry.key.clone(), entry.row.resolved_by.clone());
        let Some(slot) = self.put_ended(entry) else { return };
        match slot.state {
            // The answer to our own submission is about to arrive.
            State::ToResolve | State::Sending => return,
            State::Pending | State::Held => merged.settled.push((key.clone(), by)),
            State::Unknown | State::Settled(_) => merged.changed.push(key.clone()),
        }
        merged.lost = true;
        self.set_state(&key, State::ToResolve);
    }

    fn put_entry(&mut self, entry: Entry) -> Option<&Slot> {
        let slot = self.slots.find(&entry.key).and_then(|id| self.slots.get_mut(id))?;
        self.tally.leaves(slot);
        self.strays += u32::from(stands_elsewhere(&slot.entry.row, &entry.row));
        *slot.entry = entry;
        self.row_changes += 1;
        self.tally.comes(slot);
        Some(slot)
    }

    /// Like [`Self::put_entry`], but keeps the title of an action that was approved with edits.
    fn put_ended(&mut self, mut entry: Entry) -> Option<&Slot> {
        let edited = self.get(&entry.key)?.entry.row.edited.clone();
        entry.row.edited = entry.row.edited.or(edited);
        self.put_entry(entry)
    }

    fn settle(&mut self, key: &ActionKey, entry: Option<Entry>, merged: &mut Merged) {
        let row = entry.as_ref().map(|entry| &entry.row);
        let status: Option<Status> = row.map(|row| row.status.clone());
        let by = row.and_then(|row| row.resolved_by.clone());
        let at = row.and_then(|row| row.resolved_at);
        let row_is_known = row.is_some();
        let slot = match entry {
            Some(entry) => self.put_ended(entry),
            None => self.get(key),
        };
        let Some(slot) = slot else { return };
        match &slot.state {
            // The answer to our own submission is about to arrive and says more.
            State::Sending => {}
            State::Settled(known) => {
                let status = status.or_else(|| known.status.clone());
                let state = State::Settled(Box::new(Settled { status, ..(**known).clone() }));
                self.set_state(key, state);
            }
            // It was never listed as unknown, so its absence from the list means nothing.
            State::ToResolve if !row_is_known && slot.entry.row.status != Status::Unknown => {}
            // Only reading the action tells whose decision it was.
            State::Unknown => merged.lost_is_told |= row_is_known,
            State::ToResolve | State::Pending | State::Held => {
                // The row of an unknown outcome names the approver, not the person who resolved it.
                let by = by.filter(|_| !slot.is_lost());
                let settled = Settled { status, by: by.clone(), at, ours: false, error: None };
                self.set_state(key, State::Settled(Box::new(settled)));
                merged.settled.push((key.clone(), by));
            }
        }
    }
}

/// Returns the rows, the actions that are gone, and the ids of the whole list if it is complete.
fn parts(rows: Rows) -> (Vec<Entry>, Vec<ActionKey>, Option<IdSet>) {
    match rows {
        Rows::All(entries) => {
            let listed = entries.iter().map(|entry| entry.key.id.clone()).collect();
            (entries, Vec::new(), Some(listed))
        }
        Rows::Page { entries, .. } => (entries, Vec::new(), None),
        Rows::LastPage { entries, listed } => (entries, Vec::new(), Some(listed)),
        Rows::Changes { entries, gone } => (entries, gone, None),
    }
}

/// Returns true if the changed row belongs to another place or group of the list.
fn stands_elsewhere(before: &Row, now: &Row) -> bool {
    let order = |row: &Row| (row.created_at, row.expires_at, row.risk.rank());
    let names = |row: &Row| [&row.mission, &row.checkpoint, &row.agent].map(Option::clone);
    order(before) != order(now)
        || (&before.batch, &before.tool, &before.title) != (&now.batch, &now.tool, &now.title)
        || names(before) != names(now)
}

/// Returns when the action was created; `None` for unreadable items, which may have no time.
fn held_since(row: &Row) -> Option<Timestamp> {
    row.unreadable.is_none().then_some(row.created_at)
}

/// Returns the fields whose change outdates the content on screen: content, terms and approvals.
fn label(row: &Row) -> (Label<'_>, Option<&Approvals>) {
    let label = (row.digest, &row.title, &row.risk, row.effect.as_ref(), row.expires_at, held_since(row));
    (label, row.approvals.as_deref())
}

type Label<'a> =
    (Option<Digest>, &'a Untrusted, &'a Risk, Option<&'a Effect>, Option<Timestamp>, Option<Timestamp>);

// Arrivals: which are listed at once, which wait for the next move, and for how long each was on screen.

/// Minimum time for a new row to count as seen. Milliseconds.
const LOOK: i64 = 250;

/// Recently listed rows, until they have been on screen long enough.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrivals(HashMap<ActionKey, Arrival>);

#[derive(Clone, Copy, Debug)]
struct Arrival {
    listed: Timestamp,
    drawn: Option<Timestamp>,
}

impl Arrivals {
    pub(crate) fn listed(&mut self, keys: impl IntoIterator<Item = ActionKey>, now: Timestamp) {
        self.0.extend(keys.into_iter().map(|key| (key, Arrival { listed: now, drawn: None })));
    }

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

    /// Returns true if the row is too new for a key for many rows to mean it.
    pub(crate) fn is_just_listed(&self, key: &ActionKey, now: Timestamp) -> bool {
        self.0.get(key).is_some_and(|arrival| now.since(arrival.listed) < LOOK)
    }

    /// Returns true if the row was not on screen long enough to be decided.
    pub(crate) fn is_unseen(&self, key: &ActionKey, now: Timestamp) -> bool {
        self.0.get(key).is_some_and(|arrival| arrival.drawn.is_none_or(|at| now.since(at) < LOOK))
    }

    /// Returns true if the automatic move to the next action skips this row. A row that was listed long enough off
    /// screen is not skipped.
    pub(crate) fn is_no_stop(&self, key: &ActionKey, now: Timestamp) -> bool {
        let since = |arrival: &Arrival| arrival.drawn.unwrap_or(arrival.listed);
        self.0.get(key).is_some_and(|arrival| now.since(since(arrival)) < LOOK)
    }
}

impl Queue {
    pub(crate) fn is_emptied(&self) -> bool {
        self.groups.iter().all(|group| group.open == 0)
    }

    /// Takes waiting rows into the list: all, or those that move no row between the top of the screen and the cursor.
    /// Rows in `hidden` are filtered out. Returns the new rows.
    pub(crate) fn admit(&mut self, all: bool, hidden: &HashSet<ActionKey>, now: Timestamp) -> Vec<ActionKey> {
        let waiting = std::mem::take(&mut self.held);
        let (coming, waiting): (Held, Held) = waiting.into_iter().partition(|(key, entry)| {
            all || hidden.contains(key) || self.moves_nothing(&Slot::arrived(entry.clone()))
        });
        self.held = waiting;
        let keys: Vec<ActionKey> = coming.keys().cloned().collect();
        if !coming.is_empty() {
            let screen_line = self.screen_line();
            let slot = |entry| Slot { came: Some(now), ..Slot::arrived(entry) };
            self.weave_in(coming.into_values().map(slot).collect(), hidden);
            self.arrange();
            // If the cursor's single row became part of a group, it stays visible.
            if let Some(group) = self.here().map(|slot| slot.group) {
                self.fold(group, false);
            }
            self.stay(None, screen_line);
        }
        keys
    }

    /// Returns true if no row between the top of the screen and the cursor would move.
    fn moves_nothing(&self, slot: &Slot) -> bool {
        let before = |id: &RowId| self.is_before(*id, slot);
        let place = Some(self.order.partition_point(before) as u32);
        let first_rank = |group: &Group| group.rows.first().and_then(|id| self.rank(*id));
        let groups = &self.groups.order;
        let to = groups.partition_point(|id| self.group(*id).is_some_and(|group| first_rank(group) < place));
        let line = groups.get(to).and_then(|id| self.group(*id)).map_or(self.lines.len(), |group| group.line);
        let Some(group) = self.find_group(&GroupKey::of(slot, self.group_by)) else {
            return self.is_free(line);
        };
        if place <= first_rank(group) && line < group.line {
            // The whole group moves up. Moving it from below the cursor to above the screen would shift the rows
            // between.
            let is_below = group.line > self.at && line > self.at;
            let is_above = group.line + lines_of(group) <= self.top && self.is_free(line);
            return is_below || is_above;
        }
        if group.is_single() {
            // The single row gets a header.
            return group.line > self.at || group.line < self.top;
        }
        let before = group.rows.iter().filter(|id| self.rank(**id) < place).count();
        group.folded || self.is_free(group.line + 1 + before)
    }

    /// Returns true if a row inserted at this line is off screen or below the cursor.
    const fn is_free(&self, line: usize) -> bool {
        line > self.at || line < self.top || (line == self.top && self.top > 0)
    }

    fn is_before(&self, id: RowId, slot: &Slot) -> bool {
        self.slot(id).is_some_and(|other| self.sort_by.compare_slots(other, slot).is_lt())
    }

    pub(crate) fn rank(&self, id: RowId) -> Option<u32> {
        self.slot(id).map(|slot| slot.rank)
    }

    /// Inserts rows into the order. The caller must run [`Self::arrange`] afterwards.
    pub(crate) fn weave_in(&mut self, mut coming: Vec<Slot>, hidden: &HashSet<ActionKey>) {
        if coming.is_empty() {
            return;
        }
        coming.sort_unstable_by(|one, other| self.sort_by.compare_slots(one, other));
        let old = std::mem::take(&mut self.order);
        let mut order = Vec::with_capacity(old.len() + coming.len());
        let mut rest = old.as_slice();
        for slot in coming {
            let (before, after) = rest.split_at(rest.partition_point(|id| self.is_before(*id, &slot)));
            order.extend_from_slice(before);
            order.push(self.put(slot, hidden));
            rest = after;
        }
        order.extend_from_slice(rest);
        self.order = order;
        self.is_woven = true;
    }

    /// Adds a row that is not in the order yet.
    pub(crate) fn put(&mut self, mut slot: Slot, hidden: &HashSet<ActionKey>) -> RowId {
        let fresh = self.batches.len() as u32;
        slot.batch = *self.batches.entry(slot.entry.batch()).or_insert(fresh);
        slot.group = self.groups.place(&slot, self.group_by);
        slot.filtered_out = self.is_filtered && hidden.contains(&slot.entry.key);
        if slot.since > 0 {
            slot.since = self.reloads + 1;
        }
        slot.away = self.away.contains(&slot.entry.key);
        self.tally.comes(&mut slot);
        self.same.put(self.slots.next_id(), &slot.entry);
        self.slots.insert(slot)
    }

    pub(crate) fn on_lines(&self, first: usize, count: usize) -> impl Iterator<Item = &ActionKey> {
        self.lines.iter().skip(first).take(count).filter_map(|line| match line {
            Line::Action(id) => self.slot(*id).map(|slot| &slot.entry.key),
            Line::Header(_) => None,
        })
    }
}

fn lines_of(group: &Group) -> usize {
    match group.rows.len() {
        _ if group.is_single() => 1,
        _ if group.folded => 1,
        rows => rows + 1,
    }
}

// Updates that arrive while the list is frozen.

/// The last state of each changed action: its row, or `None` if it is gone.
#[derive(Clone, Debug, Default)]
pub(crate) struct FrozenUpdates {
    news: HashMap<ActionKey, Option<Entry>>,
}

impl FrozenUpdates {
    /// Keeps the rows of a sync that differ from the list.
    pub(crate) fn keep(&mut self, queue: &Queue, source: &SourceName, rows: Rows) {
        let may_be_known = !matches!(rows, Rows::Changes { .. });
        let (entries, gone, listed) = parts(rows);
        for entry in entries {
            if may_be_known && queue.get(&entry.key).is_some_and(|slot| *slot.entry == entry) {
                self.news.remove(&entry.key);
            } else {
                self.news.insert(entry.key.clone(), Some(entry));
            }
        }
        self.news.extend(gone.into_iter().map(|key| (key, None)));
        if let Some(listed) = listed {
            self.leave_out(queue, source, &listed);
        }
    }

    fn leave_out(&mut self, queue: &Queue, source: &SourceName, listed: &IdSet) {
        let over = |key: &ActionKey| key.source == *source && !listed.contains(&key.id);
        self.news.retain(|key, _| !over(key));
        let known = queue.slots.iter().filter(|slot| slot.is_open()).map(|slot| &slot.entry.key);
        let gone = known.chain(queue.held.keys()).filter(|key| over(key));
        self.news.extend(gone.map(|key| (key.clone(), None)));
    }

    pub(crate) fn len(&self) -> usize {
        self.news.len()
    }

    /// Returns the current row of a listed action; `None` if it is gone.
    pub(crate) fn present<'a>(&'a self, known: &'a Entry) -> Option<&'a Entry> {
        self.news.get(&known.key).map_or(Some(known), Option::as_ref)
    }

    pub(crate) fn arrived<'a>(&'a self, queue: &'a Queue) -> impl Iterator<Item = &'a Entry> {
        let known = |key: &ActionKey| queue.get(key).is_some() || queue.held.contains_key(key);
        self.news.iter().filter(move |(key, _)| !known(key)).filter_map(|(_, entry)| entry.as_ref())
    }

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
