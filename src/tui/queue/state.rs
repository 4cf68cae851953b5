//! The list: actions in groups, in display order. Arrivals are inserted where they move no row between the top of the
//! screen and the cursor ([`Queue::admit`]); settled actions stay until [`Queue::take_in`] or [`Queue::drop_settled`].

use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;
use indexmap::IndexMap;

use crate::config::{Density, GroupBy, SortBy};
use crate::domain::{ActionKey, BatchKey, DecisionKind, Entry, Outcome, ReportLine, Timestamp};

use super::groups::{Group, GroupKey, Groups};
use super::same::{Proposes, Same, SameIndex};
use super::slots::{GroupId, RowId, Slot, Slots, State};
use super::tally::{Marks, Tally};

/// The cursor's position, by identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cursor {
    Header(GroupKey),
    Action(ActionKey),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Header(GroupId),
    Action(RowId),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed {
    pub line: Line,
    pub at: usize,
    /// Row of the screen, counted from the list's first.
    pub row: u16,
    pub height: u16,
}

pub(crate) type Held = IndexMap<ActionKey, Entry, RandomState>;

#[derive(Clone, Debug, Default)]
pub(crate) struct Queue {
    pub(crate) slots: Slots,
    /// Arrivals that are not listed yet.
    pub(crate) held: Held,
    pub(crate) group_by: GroupBy,
    pub(crate) sort_by: SortBy,
    /// All rows in list order, including filtered ones.
    pub(crate) order: Vec<RowId>,
    pub(crate) groups: Groups,
    /// The number of each batch, as in [`Slot::batch`].
    pub(crate) batches: HashMap<BatchKey, u32, RandomState>,
    pub(crate) is_filtered: bool,
    pub(crate) lines: Vec<Line>,
    pub(crate) cursor: Option<Cursor>,
    pub(crate) at: usize,
    pub top: usize,
    pub marks: Marks,
    pub(crate) anchor: Option<(Cursor, usize)>,
    /// Changes whenever the visible rows may have changed.
    pub(crate) arrangement: u64,
    pub(super) row_changes: u64,
    /// Number of times that settled rows were removed.
    pub(crate) reloads: u32,
    pub(crate) sending: usize,
    /// Some rows are in the order but not in a group yet.
    pub(crate) is_woven: bool,
    /// Number of rows that moved to another place or group since the last reload.
    pub(crate) strays: u32,
    /// Some rows left or were left out since the first page of a list that loads in pages.
    pub(crate) has_left: bool,
    pub(crate) tally: Tally,
    pub(crate) same: SameIndex,
    /// Snoozed actions, listed or not.
    pub(crate) away: HashSet<ActionKey>,
    /// The filter asks for snoozed actions.
    pub(crate) shows_away: bool,
}

impl Queue {
    pub(crate) fn new(group_by: GroupBy, sort_by: SortBy) -> Self {
        Self { group_by, sort_by, ..Self::default() }
    }

    /// Returns the waiting arrivals that can be decided.
    pub(crate) fn held_pending(&self) -> impl Iterator<Item = &Entry> {
        self.held.values().filter(|entry| entry.row.status.is_pending())
    }

    pub(crate) fn cursor(&self) -> Option<&Cursor> {
        self.cursor.as_ref()
    }

    pub(crate) fn get(&self, key: &ActionKey) -> Option<&Slot> {
        self.slots.get(self.index(key)?)
    }

    /// Returns the id of an action, for [`Self::go_to_action`].
    pub(crate) fn index(&self, key: &ActionKey) -> Option<RowId> {
        self.slots.find(key)
    }

    pub(crate) fn slot(&self, id: RowId) -> Option<&Slot> {
        self.slots.get(id)
    }

    pub(crate) fn group(&self, id: GroupId) -> Option<&Group> {
        self.groups.get(id)
    }

    pub(crate) fn find_group(&self, key: &GroupKey) -> Option<&Group> {
        self.groups.find(key)
    }

    /// `None` for an action that the filter hides.
    pub(crate) fn group_of(&self, slot: &Slot) -> Option<&Group> {
        self.group(slot.group).filter(|_| slot.shown)
    }

    pub(crate) fn rows_of(&self, group: &Group) -> impl Iterator<Item = &Slot> {
        group.rows.iter().filter_map(|id| self.slot(*id))
    }

    /// Returns true if the action is in the list, folded or not, and not filtered out.
    pub(crate) fn is_shown(&self, key: &ActionKey) -> bool {
        self.get(key).is_some_and(|slot| slot.shown)
    }

    pub(crate) fn is_filtered_out(&self, key: &ActionKey) -> bool {
        self.get(key).is_some_and(|slot| !slot.shown)
    }

    pub(crate) fn n_shown(&self) -> usize {
        self.groups.iter().map(|group| group.rows.len()).sum()
    }

    /// Returns the action under the cursor; `None` on a header.
    pub(crate) fn here(&self) -> Option<&Slot> {
        match self.cursor.as_ref()? {
            Cursor::Action(key) => self.get(key),
            Cursor::Header(_) => None,
        }
    }

    pub(crate) fn group_here(&self) -> Option<&Group> {
        match self.cursor.as_ref()? {
            Cursor::Action(key) => self.group_of(self.get(key)?),
            Cursor::Header(key) => self.find_group(key),
        }
    }

    /// Returns a batch's pending actions in list order, including filtered ones.
    pub(crate) fn calls(&self, batch: &BatchKey) -> Vec<&Slot> {
        let Some(nth) = self.batches.get(batch) else { return Vec::new() };
        let mut calls: Vec<&Slot> =
            self.slots.iter().filter(|slot| slot.batch == *nth && slot.counts_as_pending()).collect();
        calls.sort_unstable_by_key(|slot| slot.rank);
        calls
    }

    pub(crate) fn go_to(&mut self, line: usize) {
        self.at = line.min(self.lines.len().saturating_sub(1));
        self.cursor = self.lines.get(self.at).and_then(|line| self.identity(*line));
    }

    /// Puts the cursor on the first action instead of its header, so that the preview shows something.
    pub(crate) fn go_to_first(&mut self) {
        self.top = 0;
        self.go_to(usize::from(matches!(self.lines.first(), Some(Line::Header(_)))));
    }

    /// Puts the cursor on an action and unfolds its group. Does nothing if the action is filtered out.
    pub(crate) fn go_to_action(&mut self, id: RowId) {
        let Some(slot) = self.slot(id).filter(|slot| slot.shown) else { return };
        let (key, group) = (slot.entry.key.clone(), slot.group);
        self.fold(group, false);
        self.cursor = Some(Cursor::Action(key));
        self.find_cursor();
    }

    pub(crate) fn go_to_identity(&mut self, cursor: &Cursor) {
        match cursor {
            Cursor::Action(key) => {
                if let Some(index) = self.index(key) {
                    self.go_to_action(index);
                }
            }
            Cursor::Header(key) => {
                if self.find_group(key).is_some_and(|group| !group.is_single()) {
                    self.cursor = Some(cursor.clone());
                    self.find_cursor();
                }
            }
        }
    }

    /// Returns all actions in list order, folded ones included, starting after the cursor and wrapping around.
    pub(crate) fn after_cursor(&self) -> impl DoubleEndedIterator<Item = RowId> {
        let (at, nth) = self.place();
        let (before, rest) = self.groups.order.split_at_checked(at).unwrap_or_default();
        let rows = move |id: GroupId| self.group(id).map(|group| group.rows.as_slice()).unwrap_or_default();
        let own = rest.first().copied().map(rows).unwrap_or_default();
        let (first, last) = own.split_at_checked(nth).unwrap_or((own, &[]));
        let others = rest.iter().skip(1).chain(before).copied().flat_map(rows);
        last.iter().chain(others).chain(first).copied()
    }

    /// Returns the position of the cursor's group, and the number of its actions up to the cursor.
    fn place(&self) -> (usize, usize) {
        let Some(group) = self.group_here() else { return (0, 0) };
        let order = &self.groups.order;
        let at = order.partition_point(|id| self.group(*id).is_some_and(|other| other.line < group.line));
        (at, self.here().and_then(|slot| self.place_in_group(slot)).map_or(0, |nth| nth + 1))
    }

    /// Returns another action that proposes the same as this pending one.
    pub(crate) fn same_as(&self, slot: &Slot, now: Timestamp) -> Option<Same> {
        if !slot.counts_as_pending() || (self.slots.len() < 2 && self.same.knows_none()) {
            return None;
        }
        let proposes = Proposes::of(&slot.entry.key, &slot.entry.row);
        self.same.find(&self.slots, &proposes, now, |_| true)
    }

    pub(crate) fn set_state(&mut self, key: &ActionKey, state: State) {
        let Some(slot) = self.slots.find(key).and_then(|id| self.slots.get_mut(id)) else { return };
        self.row_changes += 1;
        self.tally.leaves(slot);
        let group = self.groups.get_mut(slot.group).filter(|_| slot.shown);
        let counts = |slot: &Slot| group.as_ref().is_some_and(|group| group.key.counts(slot));
        let was = counts(slot);
        let was_lost = slot.is_lost();
        let sends = |state: &State| usize::from(*state == State::Sending);
        self.sending = (self.sending + sends(&state)).saturating_sub(sends(&slot.state));
        slot.state = state;
        self.strays += u32::from(slot.is_lost() != was_lost);
        self.tally.comes(slot);
        let is = counts(slot);
        if let Some(group) = group {
            group.open = (group.open + usize::from(is)).saturating_sub(usize::from(was));
        }
        if !slot.counts_as_pending() && std::mem::take(&mut slot.marked) {
            self.marks.leaves();
        }
    }

    /// Remembers the title of an action that was approved with edits.
    pub(crate) fn note_edited(&mut self, line: &ReportLine) {
        let took = matches!(line.outcome, Outcome::Approved | Outcome::Accepted | Outcome::Unknown { .. });
        let id = self.index(&line.key).filter(|_| took && line.decision == DecisionKind::ApproveWithEdits);
        if let Some(slot) = id.and_then(|id| self.slots.get_mut(id)) {
            slot.entry.row.edited = Some(line.title.clone());
        }
    }

    /// Returns numbers that differ after rows came, left or changed.
    pub(crate) const fn changes(&self) -> (u64, u64) {
        (self.arrangement, self.row_changes)
    }

    pub(crate) const fn is_fresh(&self, slot: &Slot) -> bool {
        slot.since > self.reloads
    }

    pub(crate) fn identity(&self, line: Line) -> Option<Cursor> {
        match line {
            Line::Header(id) => self.group(id).map(|group| Cursor::Header(group.key.clone())),
            Line::Action(id) => self.slot(id).map(|slot| Cursor::Action(slot.entry.key.clone())),
        }
    }
}

impl Queue {
    /// Returns the lines on `rows` rows of the screen. The last line may have room for its first row only.
    pub(crate) fn placed(&self, rows: u16, density: Density) -> impl Iterator<Item = Placed> {
        let mut row = 0;
        let lines = self.lines.iter().enumerate().skip(self.top);
        lines.map_while(move |(at, line)| {
            let height = height_of(*line, density).min(rows.saturating_sub(row));
            let placed = Placed { line: *line, at, row, height };
            row += height;
            (height > 0).then_some(placed)
        })
    }

    /// Returns the first line on screen if `last` is the last one fully visible.
    pub(crate) fn first_above(&self, last: usize, rows: usize, density: Density) -> usize {
        let mut left = rows;
        let lines = self.lines.get(..=last).unwrap_or_default().iter().rev();
        let above = lines.take_while(|line| {
            let height = usize::from(height_of(**line, density));
            let fits = height <= left;
            left = left.saturating_sub(height);
            fits
        });
        (last + 1).saturating_sub(above.count().max(1))
    }
}

const fn height_of(line: Line, density: Density) -> u16 {
    match (line, density) {
        (Line::Action(_), Density::Comfortable) => 2,
        _ => 1,
    }
}
