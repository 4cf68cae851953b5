//! Arranges the rows of the list: order, groups, filter, folds. These change only when the reviewer asks.

use std::collections::HashSet;

use foldhash::fast::RandomState;

use crate::config::SortBy;
use crate::domain::{ActionKey, BatchKey, Entry};

use super::groups::{Group, Groups, Regrouping};
use super::slots::{GroupId, RowId, Slot};
use super::sort::Sorting;
use super::state::{Cursor, Line, Queue};

impl Queue {
    /// Takes in waiting arrivals and drops settled rows. The cursor stays on its row and screen line, or moves to the
    /// nearest remaining row. The caller must run [`Self::filter`] over new rows.
    pub(crate) fn take_in(&mut self) {
        let nearest = self.survivors();
        self.reloads += 1;
        let gone: Vec<RowId> =
            self.slots.ids().filter(|id| self.slot(*id).is_some_and(|slot| !slot.is_open())).collect();
        let is_same = gone.is_empty() && self.strays == 0 && !self.is_woven && self.held.is_empty();
        if is_same && self.cursor.is_some() {
            return;
        }
        self.remove(gone);
        if self.strays > 0 {
            self.place_again();
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
        if self.slots.len() + self.held.len() < self.n_shown() * 2 {
            self.weave_held();
        } else {
            self.take_in_held();
        }
    }

    fn weave_in_held(&mut self, nearest: Vec<Cursor>) {
        let screen_line = self.screen_line();
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
        let hidden = if self.is_filtered { held.keys().cloned().collect() } else { HashSet::new() };
        self.weave_in(held.into_values().map(Slot::arrived).collect(), &hidden);
    }

    /// Removes these settled rows, except at the cursor or below its header. Returns true if any was removed.
    pub(crate) fn drop_settled(&mut self, due: &HashSet<ActionKey>) -> bool {
        let (row, group) = match &self.cursor {
            Some(Cursor::Action(key)) => (self.index(key), None),
            Some(Cursor::Header(key)) => (None, self.find_group(key).map(|group| group.id)),
            None => (None, None),
        };
        let goes = |id: &RowId| {
            let is_at_cursor = |slot: &Slot| Some(*id) == row || Some(slot.group) == group;
            self.slot(*id).is_some_and(|slot| !slot.is_open() && !is_at_cursor(slot))
        };
        let gone: Vec<RowId> = due.iter().filter_map(|key| self.index(key)).filter(goes).collect();
        if gone.is_empty() {
            return false;
        }
        let (nearest, screen_line) = (self.survivors(), self.screen_line());
        self.remove(gone);
        self.arrange();
        self.put_cursor(nearest, screen_line);
        true
    }

    /// Removes settled rows. The caller must run [`Self::arrange`] afterwards.
    fn remove(&mut self, gone: Vec<RowId>) {
        let gone: Vec<Slot> = gone.into_iter().filter_map(|id| self.slots.remove(id)).collect();
        if gone.is_empty() {
            return;
        }
        self.has_left = true;
        gone.iter().filter(|slot| slot.marked).for_each(|_| self.marks.leaves());
        self.same.keep(&gone);
        self.same.forget_removed(&self.slots);
        self.order.retain(|id| self.slots.get(*id).is_some());
        let groups: HashSet<GroupId, RandomState> = self.slots.iter().map(|slot| slot.group).collect();
        let batches: HashSet<u32, RandomState> = self.slots.iter().map(|slot| slot.batch).collect();
        self.groups.forget_folds(|id| groups.contains(&id));
        // Batches and groups are forgotten once most are empty.
        let many = |all: usize, used: usize| all > 1_000 && all > used * 2;
        if many(self.batches.len(), batches.len()) || many(self.groups.len(), groups.len()) {
            self.put_in_groups();
        }
    }

    /// Moves rows with unknown outcomes to the top, adding rows for actions that are not listed. The cursor stays on
    /// its row. The caller must run [`Self::filter`] again.
    pub(crate) fn put_lost_first(&mut self, entries: Vec<Entry>) {
        let (nearest, screen_line) = (self.survivors(), self.screen_line());
        for entry in entries {
            let entry = self.held.swap_remove(&entry.key).unwrap_or(entry);
            let id = self.put(Slot::lost(entry), &HashSet::new());
            self.order.push(id);
        }
        self.place_again();
        self.arrange();
        self.put_cursor(nearest, screen_line);
    }

    /// Groups and sorts all rows again, because some belong elsewhere.
    fn place_again(&mut self) {
        self.strays = 0;
        self.put_in_groups();
        if let Some(order) = Sorting::new(self.sort_by, self).read(self, usize::MAX) {
            self.order = order;
        }
    }

    fn put_in_groups(&mut self) {
        self.batches.clear();
        let mut groups = Groups::default();
        for slot in self.slots.iter_mut() {
            let fresh = self.batches.len() as u32;
            slot.batch = *self.batches.entry(slot.entry.batch()).or_insert(fresh);
            slot.group = groups.place(slot, self.group_by);
        }
        groups.keep_folds(&self.groups);
        self.groups = groups;
    }

    /// Returns where the cursor may go when rows leave: the cursor itself, rows below it, rows above it.
    fn survivors(&self) -> Vec<Cursor> {
        let Some(cursor) = self.cursor.clone() else { return Vec::new() };
        let open = |line: &&Line| match line {
            Line::Action(id) => self.slot(*id).is_some_and(Slot::is_open),
            Line::Header(_) => false,
        };
        let below = self.lines.get(self.at..).unwrap_or_default().iter().find(open);
        let above = self.lines.get(..self.at).unwrap_or_default().iter().rev().find(open);
        let near = below.into_iter().chain(above).filter_map(|line| self.identity(*line));
        std::iter::once(cursor).chain(near).collect()
    }

    pub(crate) fn reorder(&mut self, by: SortBy, order: Vec<RowId>) {
        self.rearrange(|queue| (queue.sort_by, queue.order) = (by, order));
    }

    /// Applies a new grouping. The cursor stays on its row, or moves to the header of its folded group.
    pub(crate) fn regroup(&mut self, Regrouping { by, mut groups, of, .. }: Regrouping) {
        self.rearrange(|queue| {
            groups.keep_folds(&queue.groups);
            (queue.group_by, queue.groups) = (by, groups);
            queue.slots.iter_mut().zip(of).for_each(|(slot, group)| slot.group = group);
        });
    }

    /// Shows only the rows that a filter found; `None` shows all.
    pub(crate) fn filter(&mut self, found: Option<&[RowId]>) {
        self.rearrange(|queue| {
            queue.is_filtered = found.is_some();
            queue.slots.iter_mut().for_each(|slot| slot.filtered_out = found.is_some());
            for id in found.unwrap_or_default() {
                if let Some(slot) = queue.slots.get_mut(*id) {
                    slot.filtered_out = false;
                }
            }
        });
    }

    pub(crate) fn put_away(&mut self, keys: HashSet<ActionKey>) {
        self.rearrange(|queue| {
            for slot in queue.slots.iter_mut() {
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

    /// Makes a change, and puts the cursor on its row or near it.
    fn rearrange(&mut self, change: impl FnOnce(&mut Self)) {
        let screen_line = self.screen_line();
        let first = self.group_here().and_then(|group| group.rows.first().copied());
        let on_header = matches!(self.cursor, Some(Cursor::Header(_)));
        let (lines, at) = (std::mem::take(&mut self.lines), self.at);
        change(self);
        self.arrange();
        let is_shown = |id: &RowId| self.slot(*id).is_some_and(|slot| slot.shown);
        let shown = |line: &Line| match line {
            Line::Action(id) => Some(*id).filter(is_shown),
            Line::Header(_) => None,
        };
        let below = || lines.get(at..).unwrap_or_default().iter().find_map(shown);
        let above = || lines.get(..at).unwrap_or_default().iter().rev().find_map(shown);
        let near = first.filter(|id| on_header && is_shown(id)).or_else(below).or_else(above);
        self.stay(near, screen_line);
    }

    pub(crate) fn screen_line(&self) -> usize {
        self.at.saturating_sub(self.top)
    }

    /// Puts the cursor on its row after rows moved, or near it, on the same line of the screen.
    pub(crate) fn stay(&mut self, near: Option<RowId>, screen_line: usize) {
        let (is_there, near) = match &self.cursor {
            Some(Cursor::Action(key)) => (self.is_shown(key), near),
            Some(Cursor::Header(key)) => match self.find_group(key) {
                // A single row has no header.
                Some(group) if group.is_single() => (false, group.rows.first().copied()),
                group => (group.is_some(), near),
            },
            None => (false, near),
        };
        if !is_there {
            self.cursor = near.and_then(|id| self.identity(Line::Action(id)));
        }
        if let Some(group) = self.group_here().filter(|group| group.is_closed()) {
            self.cursor = Some(Cursor::Header(group.key.clone()));
        }
        self.flatten();
        if self.cursor.is_none() {
            self.go_to_first();
        }
        self.top = self.at.saturating_sub(screen_line);
    }

    /// Puts the visible rows into their groups; each group is where its first row is.
    pub(crate) fn arrange(&mut self) {
        self.arrangement += 1;
        self.marks.changed();
        self.is_woven = false;
        self.groups.clear();
        for (rank, id) in self.order.iter().enumerate() {
            let Some(slot) = self.slots.get_mut(*id) else { continue };
            slot.rank = rank as u32;
            slot.shown = !slot.filtered_out && (!slot.away || self.shows_away);
            if slot.shown {
                self.groups.show(*id, slot);
            }
        }
        self.groups.count_batches(&self.slots, self.batches.len());
    }

    pub(crate) fn fold(&mut self, group: GroupId, folded: bool) {
        let inside = self.here().is_some_and(|slot| slot.group == group);
        let Some(found) = self.groups.get_mut(group) else { return };
        if found.folded == folded || found.is_single() {
            return;
        }
        found.folded = folded;
        if inside && folded {
            self.cursor = Some(Cursor::Header(found.key.clone()));
        }
        self.flatten();
    }

    pub(crate) fn fold_all(&mut self, folded: bool) {
        self.groups.for_each(|group| {
            if !group.is_single() {
                group.folded = folded;
            }
        });
        if let Some(group) = self.group_here().filter(|group| group.is_closed()) {
            self.cursor = Some(Cursor::Header(group.key.clone()));
        }
        self.flatten();
    }

    fn flatten(&mut self) {
        let lines = &mut self.lines;
        lines.clear();
        self.groups.for_each(|group| {
            group.line = lines.len();
            if !group.is_single() {
                lines.push(Line::Header(group.id));
            }
            if !group.is_closed() {
                lines.extend(group.rows.iter().map(|row| Line::Action(*row)));
            }
        });
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
                if group.is_closed() {
                    return Some(group.line);
                }
                Some(group.line + usize::from(!group.is_single()) + self.place_in_group(slot)?)
            }
        }
    }

    pub(crate) fn place_in_group(&self, slot: &Slot) -> Option<usize> {
        self.group_of(slot)?.rows.binary_search_by_key(&Some(slot.rank), |id| self.rank(*id)).ok()
    }

    pub(crate) fn batches_of(&self, group: &Group) -> HashSet<BatchKey> {
        if let Some(batch) = group.key.batch() {
            return HashSet::from([batch.clone()]);
        }
        self.rows_of(group).filter(|slot| !slot.is_lost()).map(|slot| slot.entry.batch()).collect()
    }
}
