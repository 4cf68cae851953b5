//! Arranges the rows of the list: order, groups, filter, folds. These change only when the reviewer asks.

use std::collections::HashSet;

use crate::config::{GroupBy, SortBy};
use crate::domain::{ActionKey, BatchKey, Entry};

use super::groups::{Buckets, Group, GroupKey, Regrouping};
use super::slots::{ByKey, NOWHERE, Slot};
use super::sort::Sorting;
use super::state::{Cursor, Line, Queue};
use super::tally::Tally;

impl Queue {
    /// Takes in waiting arrivals and drops settled rows. The cursor stays on its row and screen line, or moves to the
    /// nearest remaining row. The caller must run [`Self::filter`] over new rows.
    pub(crate) fn take_in(&mut self) {
        let nearest = self.survivors();
        self.reloads += 1;
        let over = self.let_go(|slot| !slot.is_open());
        let moved = std::mem::take(&mut self.strays) > 0;
        if over.is_empty() && !moved && !self.is_woven && self.held.is_empty() && self.cursor.is_some() {
            return;
        }
        self.same.keep(&over);
        if moved {
            self.put_in_batches();
            self.put_in_buckets();
            self.put_in_order();
        }
        self.weave_in_held(nearest);
    }

    /// Takes in waiting arrivals. The cursor stays on its row and screen line.
    pub(crate) fn take_in_held(&mut self) {
        self.weave_in_held(self.survivors());
    }

    /// Takes in arrivals while a list loads page by page. New rows are shown each time their number doubles, so that
    /// loading 100 pages does not cost 100 times as much as one.
    pub(crate) fn take_in_page(&mut self) {
        let shown = self.groups.iter().map(|group| group.slots.len()).sum::<usize>();
        if self.slots.len() + self.held.len() < shown * 2 {
            self.weave_held();
        } else {
            self.take_in_held();
        }
    }

    fn weave_in_held(&mut self, nearest: Vec<Cursor>) {
        let screen_line = self.at.saturating_sub(self.top);
        self.weave_held();
        self.arrange();
        self.put_cursor(nearest, screen_line);
    }

    /// Puts the cursor on the first of these that is still listed, on the same line of the screen.
    fn put_cursor(&mut self, nearest: Vec<Cursor>, screen_line: usize) {
        self.cursor = nearest.into_iter().find(|cursor| match cursor {
            Cursor::Action(key) => self.is_shown(key),
            Cursor::Header(key) => self.find_group(key).is_some(),
        });
        self.stay(None, screen_line);
    }

    /// Shows rows of a list that stopped loading before its last page.
    pub(crate) fn show_pages(&mut self) {
        if self.is_woven {
            self.take_in_held();
        }
    }

    fn weave_held(&mut self) {
        let held = std::mem::take(&mut self.held);
        // The filter was not run over them yet.
        let hidden = if self.shown.is_some() { held.keys().cloned().collect() } else { HashSet::new() };
        self.weave_in(held.into_values().map(Slot::arrived).collect(), &hidden);
    }

    /// Removes these settled rows, except at the cursor or below its header. Returns true if any was removed.
    pub(crate) fn drop_settled(&mut self, due: &HashSet<ActionKey>) -> bool {
        let under_cursor = match &self.cursor {
            Some(Cursor::Action(key)) => self.get(key).map(|slot| slot.entry.key.clone()),
            _ => None,
        };
        let header = self.group_here().map(|group| group.key.clone()).filter(|_| under_cursor.is_none());
        let stays = |slot: &Slot| {
            Some(&slot.entry.key) == under_cursor.as_ref()
                || header.is_some() && self.group_of(slot).map(|group| &group.key) == header.as_ref()
        };
        let goes = due.iter().filter_map(|key| self.get(key)).filter(|slot| !slot.is_open() && !stays(slot));
        let goes: HashSet<ActionKey> = goes.map(|slot| slot.entry.key.clone()).collect();
        if goes.is_empty() {
            return false;
        }
        let (nearest, screen_line) = (self.survivors(), self.at.saturating_sub(self.top));
        let over = self.let_go(|slot| goes.contains(&slot.entry.key));
        self.same.keep(&over);
        self.arrange();
        self.put_cursor(nearest, screen_line);
        true
    }

    /// Removes rows with `swap_remove` and returns them.
    fn let_go(&mut self, goes: impl Fn(&Slot) -> bool) -> Vec<Slot> {
        let over = self.slots.iter().enumerate().filter(|(_, slot)| goes(slot));
        let over: Vec<usize> = over.map(|(index, _)| index).collect();
        if over.is_empty() {
            return Vec::new();
        }
        self.has_left = true;
        let mut stands: Vec<u32> = (0..self.slots.len() as u32).collect();
        let mut gone = Vec::with_capacity(over.len());
        for index in over.into_iter().rev() {
            let slot = self.slots.swap_remove(index);
            stands.swap_remove(index);
            self.by_key.moves(&slot.entry.key, index as u32, None);
            if slot.marked {
                self.marks.leaves();
            }
            if let Some(shown) = &mut self.shown {
                shown.swap_remove(index);
            }
            gone.push(slot);
        }
        let mut now = vec![NOWHERE; stands.len() + gone.len()];
        for (index, (before, slot)) in stands.into_iter().zip(&self.slots).enumerate() {
            if before as usize != index {
                self.by_key.moves(&slot.entry.key, before, Some(index as u32));
            }
            if let Some(place) = now.get_mut(before as usize) {
                *place = index as u32;
            }
        }
        let moved = self.order.iter().filter_map(|index| now.get(*index as usize).copied());
        self.order = moved.filter(|index| *index != NOWHERE).collect();
        self.same.moved(&now);
        self.forget_empty();
        gone
    }

    /// Forgets folds of empty groups; and batches and groups, once most are empty.
    fn forget_empty(&mut self) {
        let mut buckets = vec![false; self.buckets.len()];
        let mut batches: HashSet<u32> = HashSet::new();
        for slot in &self.slots {
            if let Some(bucket) = buckets.get_mut(slot.bucket as usize) {
                *bucket = true;
            }
            batches.insert(slot.batch);
        }
        let of = &self.buckets;
        self.turned.retain(|key| of.number(key).is_some_and(|at| buckets.get(at as usize) == Some(&true)));
        let many = |all: usize, used: usize| all > 1_000 && all > used * 2;
        let used = buckets.iter().filter(|used| **used).count();
        if many(self.batches.len(), batches.len()) || many(buckets.len(), used) {
            self.put_in_batches();
            self.put_in_buckets();
        }
    }

    /// Moves rows with unknown outcomes to the top, adding rows for actions that are not listed. The cursor stays on
    /// its row. The caller must run [`Self::filter`] again.
    pub(crate) fn put_lost_first(&mut self, entries: Vec<Entry>) {
        let nearest = self.survivors();
        let screen_line = self.at.saturating_sub(self.top);
        let listed = |entry: Entry| self.held.swap_remove(&entry.key).unwrap_or(entry);
        let lost: Vec<Slot> = entries.into_iter().map(listed).map(Slot::lost).collect();
        let known = self.slots.len();
        self.slots.extend(lost);
        (known..self.slots.len()).for_each(|index| self.same.note(index as u32));
        self.same.take_changed(&self.slots);
        self.rebuild(nearest, screen_line);
    }

    fn rebuild(&mut self, nearest: Vec<Cursor>, screen_line: usize) {
        self.strays = 0;
        self.by_key = ByKey::of(&self.slots);
        self.tally = Tally::of(&mut self.slots);
        self.shown = None;
        self.put_in_batches();
        self.put_in_order();
        self.put_in_buckets();
        self.cursor = nearest.into_iter().find(|cursor| match cursor {
            Cursor::Action(key) => self.get(key).is_some(),
            Cursor::Header(key) => self.buckets.number(key).is_some(),
        });
        self.arrange();
        self.stay(None, screen_line);
    }

    /// Returns where the cursor may go when rows leave: the cursor itself, rows below it, rows above it.
    fn survivors(&self) -> Vec<Cursor> {
        let Some(cursor) = self.cursor.clone() else { return Vec::new() };
        let open = |line: &&Line| match line {
            Line::Action(index) => self.slot(*index).is_some_and(Slot::is_open),
            Line::Header(_) => false,
        };
        let below = self.lines.get(self.at..).unwrap_or_default().iter().find(open);
        let above = self.lines.get(..self.at).unwrap_or_default().iter().rev().find(open);
        let near = below.into_iter().chain(above).filter_map(|line| self.identity(*line));
        std::iter::once(cursor).chain(near).collect()
    }

    /// Applies a new order. The cursor stays on its row.
    pub(crate) fn reorder(&mut self, by: SortBy, order: Vec<u32>) {
        self.rearrange(|queue| (queue.sort_by, queue.order) = (by, order));
    }

    /// Applies a new grouping. The cursor stays on its row, or moves to the header of its folded group.
    pub(crate) fn regroup(&mut self, Regrouping { by, buckets, of, .. }: Regrouping) {
        self.rearrange(|queue| {
            queue.group_by = by;
            queue.buckets = buckets;
            queue.slots.iter_mut().zip(of).for_each(|(slot, bucket)| slot.bucket = bucket);
            queue.forget_turned();
        });
    }

    /// Shows only the rows whose entry is true, by index; `None` shows all.
    pub(crate) fn filter(&mut self, shown: Option<Vec<bool>>) {
        self.rearrange(|queue| queue.shown = shown);
    }

    pub(crate) fn put_away(&mut self, keys: HashSet<ActionKey>) {
        self.rearrange(|queue| {
            for slot in &mut queue.slots {
                let away = keys.contains(&slot.entry.key);
                if slot.away != away {
                    queue.tally.leaves(slot);
                    slot.away = away;
                    queue.tally.comes(slot);
                }
            }
            queue.away = keys;
        });
    }

    pub(crate) fn shown(&self) -> Option<&[bool]> {
        self.shown.as_deref()
    }

    /// Indices of all actions in list order, including filtered ones.
    pub(crate) fn order(&self) -> &[u32] {
        &self.order
    }

    fn rearrange(&mut self, change: impl FnOnce(&mut Self)) {
        let screen_line = self.at.saturating_sub(self.top);
        let first = self.group_here().and_then(|group| group.slots.first().copied());
        let lines = std::mem::take(&mut self.lines);
        let at = self.at;
        change(self);
        self.arrange();
        let shown = |line: &Line| match line {
            Line::Action(index) => self.slot(*index).filter(|slot| slot.group != NOWHERE).map(|_| *index),
            Line::Header(_) => None,
        };
        let first = first.filter(|index| shown(&Line::Action(*index)).is_some());
        let below = || lines.get(at..).unwrap_or_default().iter().find_map(shown);
        let above = || lines.get(..at).unwrap_or_default().iter().rev().find_map(shown);
        let on_header = matches!(self.cursor, Some(Cursor::Header(_)));
        let near = first.filter(|_| on_header).or_else(below).or_else(above);
        self.stay(near, screen_line);
    }

    /// Puts the cursor on its row after rows moved, or near it, on the same line of the screen.
    pub(crate) fn stay(&mut self, near: Option<u32>, screen_line: usize) {
        let is_there = match &self.cursor {
            Some(Cursor::Action(key)) => self.is_shown(key),
            Some(Cursor::Header(key)) => self.find_group(key).is_some_and(|group| !group.is_single()),
            None => false,
        };
        if !is_there {
            self.cursor = near.and_then(|index| self.identity(Line::Action(index)));
        }
        if let Some(group) = self.group_here().filter(|group| group.folded && !group.is_single()) {
            self.cursor = Some(Cursor::Header(group.key.clone()));
        }
        self.flatten();
        if self.cursor.is_none() {
            self.go_to_first();
        }
        self.top = self.at.saturating_sub(screen_line);
    }

    fn put_in_order(&mut self) {
        // Starting from the previous order, which is nearly sorted.
        if self.order.len() != self.slots.len() {
            self.order = (0..self.slots.len() as u32).collect();
        }
        if let Some(order) = Sorting::new(self.sort_by, self).read(self, usize::MAX) {
            self.order = order;
        }
    }

    fn put_in_batches(&mut self) {
        self.batches.clear();
        for slot in &mut self.slots {
            let fresh = self.batches.len() as u32;
            slot.batch = *self.batches.entry(slot.entry.batch()).or_insert(fresh);
        }
    }

    fn put_in_buckets(&mut self) {
        self.buckets = Buckets::default();
        for slot in &mut self.slots {
            slot.bucket = self.buckets.place(slot, self.group_by);
        }
        self.forget_turned();
    }

    fn forget_turned(&mut self) {
        let buckets = &self.buckets;
        self.turned.retain(|key| buckets.number(key).is_some());
    }

    /// Groups of near-identical actions are folded by default.
    fn folds(&self) -> bool {
        self.group_by == GroupBy::Shape
    }

    /// Builds the groups of the visible rows; each stands where its first action does.
    pub(crate) fn arrange(&mut self) {
        self.arrangement += 1;
        self.marks.changed();
        self.is_woven = false;
        let emptied = |group: Group| {
            let mut slots = group.slots;
            slots.clear();
            slots
        };
        let mut spare: Vec<Vec<u32>> = self.groups.drain(..).map(emptied).collect();
        self.group_of_bucket.clear();
        self.group_of_bucket.resize(self.buckets.len(), NOWHERE);
        let folds = self.folds();
        // The batch of each visible row by rank, so that the second pass needs no row.
        let mut batches = vec![NOWHERE; self.order.len()];
        for (rank, index) in self.order.iter().enumerate() {
            let Some(slot) = self.slots.get_mut(*index as usize) else { continue };
            (slot.group, slot.rank) = (NOWHERE, rank as u32);
            let shown = self.shown.as_ref().is_none_or(|shown| shown.get(*index as usize) == Some(&true));
            let shown = shown && (!slot.away || self.shows_away);
            let Some(group) = self.group_of_bucket.get_mut(slot.bucket as usize).filter(|_| shown) else {
                continue;
            };
            if *group == NOWHERE
                && let Some(key) = self.buckets.get(slot.bucket)
            {
                *group = self.groups.len() as u32;
                let folded = begins_folded(key, folds) != self.turned.contains(key);
                self.groups.push(Group {
                    key: key.clone(),
                    slots: spare.pop().unwrap_or_default(),
                    folded,
                    open: 0,
                    batches: 0,
                    line: 0,
                });
            }
            slot.group = *group;
            if let Some(batch) = batches.get_mut(rank) {
                *batch = slot.batch;
            }
            if let Some(group) = self.groups.get_mut(*group as usize) {
                // Ranks for now; `count_batches` replaces them by indices.
                group.slots.push(rank as u32);
                group.open += usize::from(group.key.counts(slot));
            }
        }
        self.count_batches(&batches);
    }

    /// Counts the batches of each group and replaces ranks by indices.
    fn count_batches(&mut self, batches: &[u32]) {
        let mut last = vec![NOWHERE; self.batches.len()];
        for (nth, group) in self.groups.iter_mut().enumerate() {
            for rank in &mut group.slots {
                let batch = batches.get(*rank as usize).copied().unwrap_or(NOWHERE);
                if let Some(last) = last.get_mut(batch as usize).filter(|last| **last != nth as u32) {
                    *last = nth as u32;
                    group.batches += 1;
                }
                *rank = self.order.get(*rank as usize).copied().unwrap_or(NOWHERE);
            }
        }
    }

    pub(crate) fn fold(&mut self, group: u32, folded: bool) {
        let inside = self.here().is_some_and(|slot| slot.group == group);
        let folds = self.folds();
        let Some(found) = self.groups.get_mut(group as usize) else { return };
        if found.folded == folded || found.is_single() {
            return;
        }
        found.folded = folded;
        turn(&mut self.turned, found, folds);
        if inside && folded {
            self.cursor = Some(Cursor::Header(found.key.clone()));
        }
        self.flatten();
    }

    pub(crate) fn fold_all(&mut self, folded: bool) {
        let alone = self.group_here().is_some_and(Group::is_single);
        let header = self.group_here().map(|group| group.key.clone());
        let folds = self.folds();
        for group in self.groups.iter_mut().filter(|group| !group.is_single()) {
            group.folded = folded;
            turn(&mut self.turned, group, folds);
        }
        if let (true, Some(header)) = (folded, header.filter(|_| !alone)) {
            self.cursor = Some(Cursor::Header(header));
        }
        self.flatten();
    }

    fn flatten(&mut self) {
        self.lines.clear();
        for (index, group) in self.groups.iter_mut().enumerate() {
            group.line = self.lines.len();
            if !group.is_single() {
                self.lines.push(Line::Header(index as u32));
            }
            if !group.folded || group.is_single() {
                self.lines.extend(group.slots.iter().map(|slot| Line::Action(*slot)));
            }
        }
        self.find_cursor();
    }

    pub(crate) fn find_cursor(&mut self) {
        self.at = self.cursor.as_ref().and_then(|cursor| self.locate(cursor)).unwrap_or_default();
        let anchor = self.anchor.take();
        self.anchor = anchor.and_then(|(cursor, _)| self.locate(&cursor).map(|at| (cursor, at)));
    }

    /// Returns the line of a cursor in logarithmic time.
    fn locate(&self, cursor: &Cursor) -> Option<usize> {
        match cursor {
            Cursor::Header(key) => self.find_group(key).map(|group| group.line),
            Cursor::Action(key) => {
                let slot = self.get(key)?;
                let group = self.group_of(slot)?;
                if group.folded && !group.is_single() {
                    return Some(group.line);
                }
                Some(group.line + usize::from(!group.is_single()) + self.place_in_group(slot)?)
            }
        }
    }

    pub(crate) fn place_in_group(&self, slot: &Slot) -> Option<usize> {
        let rank = |index: &u32| self.slot(*index).map_or(NOWHERE, |slot| slot.rank);
        self.group_of(slot)?.slots.binary_search_by_key(&slot.rank, rank).ok()
    }

    pub(crate) fn batches_of(&self, group: &Group) -> HashSet<BatchKey> {
        if let Some(batch) = group.key.batch() {
            return HashSet::from([batch.clone()]);
        }
        let slots = group.slots.iter().filter_map(|index| self.slot(*index));
        slots.filter(|slot| !slot.is_lost()).map(|slot| slot.entry.batch()).collect()
    }
}

fn turn(turned: &mut HashSet<GroupKey>, group: &Group, folds: bool) {
    if group.folded == begins_folded(&group.key, folds) {
        turned.remove(&group.key);
    } else {
        turned.insert(group.key.clone());
    }
}

fn begins_folded(key: &GroupKey, folds: bool) -> bool {
    folds && *key != GroupKey::ToResolve
}
