//! The list: batches and their actions in the order they are shown. Rows never move by themselves: arrivals are held back and
//! settled actions stay in place until [`Queue::take_in`].

use std::collections::{HashMap, HashSet};

use crate::domain::{ActionKey, BatchKey, Entry};

use super::{Slot, State};

/// Where the reviewer is: an identity, never a row number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cursor {
    Header(GroupKey),
    Action(ActionKey),
}

/// What stands together in the list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum GroupKey {
    /// Actions of all batches whose outcome nobody knows. Always first.
    ToSettle,
    Batch(BatchKey),
}

/// One visible line, by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    Header(u32),
    Action(u32),
}

#[derive(Clone, Debug)]
pub struct Group {
    pub key: GroupKey,
    /// Indices of its actions, oldest first.
    pub slots: Vec<u32>,
    pub folded: bool,
    /// Actions that nobody has decided, or settled, yet.
    pub open: usize,
    /// Place of its header among the visible lines.
    line: usize,
}

#[derive(Clone, Debug, Default)]
pub struct Queue {
    pub(super) slots: Vec<Slot>,
    pub(super) by_key: HashMap<ActionKey, u32>,
    groups: Vec<Group>,
    by_group: HashMap<GroupKey, u32>,
    lines: Vec<Line>,
    pub(super) held: HashMap<ActionKey, Entry>,
    cursor: Option<Cursor>,
    at: usize,
    /// The first visible line on screen.
    pub top: usize,
    pub marks: HashSet<ActionKey>,
}

impl Group {
    /// An action alone: one line, no header, nothing to fold.
    pub fn is_single(&self) -> bool {
        self.slots.len() == 1 && self.key != GroupKey::ToSettle
    }
}

impl GroupKey {
    /// The batch that is decided with one key; what is to be settled is none.
    pub fn batch(&self) -> Option<&BatchKey> {
        match self {
            Self::ToSettle => None,
            Self::Batch(batch) => Some(batch),
        }
    }

    fn of(slot: &Slot) -> Self {
        match slot.state {
            State::ToSettle => Self::ToSettle,
            _ => Self::Batch(slot.entry.batch()),
        }
    }

    fn counts(&self, slot: &Slot) -> bool {
        match self {
            Self::ToSettle => slot.state == State::ToSettle,
            Self::Batch(_) => slot.counts_as_pending(),
        }
    }
}

impl Queue {
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    pub fn held(&self) -> impl Iterator<Item = &Entry> {
        self.held.values()
    }

    /// Those that were held back and can be decided.
    pub fn held_pending(&self) -> impl Iterator<Item = &Entry> {
        self.held().filter(|entry| entry.row.status.is_pending())
    }

    pub fn n_held(&self) -> usize {
        self.held.len()
    }

    pub fn cursor(&self) -> Option<&Cursor> {
        self.cursor.as_ref()
    }

    /// Place of the cursor among the visible lines.
    pub fn at(&self) -> usize {
        self.at
    }

    pub fn get(&self, key: &ActionKey) -> Option<&Slot> {
        self.slots.get(*self.by_key.get(key)? as usize)
    }

    /// Index of an action, for [`Self::go_to_action`].
    pub fn index(&self, key: &ActionKey) -> Option<u32> {
        self.by_key.get(key).copied()
    }

    pub fn slot(&self, index: u32) -> Option<&Slot> {
        self.slots.get(index as usize)
    }

    pub fn group(&self, index: u32) -> Option<&Group> {
        self.groups.get(index as usize)
    }

    pub fn find_group(&self, key: &GroupKey) -> Option<&Group> {
        self.group(*self.by_group.get(key)?)
    }

    pub fn group_of(&self, slot: &Slot) -> Option<&Group> {
        self.group(slot.group)
    }

    /// The action under the cursor; `None` on a batch's header.
    pub fn here(&self) -> Option<&Slot> {
        match self.cursor.as_ref()? {
            Cursor::Action(key) => self.get(key),
            Cursor::Header(_) => None,
        }
    }

    /// The batch under the cursor, or of the action under it.
    pub fn group_here(&self) -> Option<&Group> {
        match self.cursor.as_ref()? {
            Cursor::Action(key) => self.group(self.get(key)?.group),
            Cursor::Header(key) => self.find_group(key),
        }
    }

    /// Puts the cursor on a visible line; past the end is the last one.
    pub fn go_to(&mut self, line: usize) {
        self.at = line.min(self.lines.len().saturating_sub(1));
        self.cursor = self.lines.get(self.at).and_then(|line| self.identity(*line));
    }

    /// Puts the cursor on an action, unfolding its batch.
    pub fn go_to_action(&mut self, index: u32) {
        let Some(slot) = self.slot(index) else { return };
        let (key, group) = (slot.entry.key.clone(), slot.group);
        if self.group(group).is_some_and(|group| group.folded) {
            self.fold(group, false);
        }
        self.cursor = Some(Cursor::Action(key));
        self.find_cursor();
    }

    /// All actions in the order of the list, folded ones too, starting after the cursor and going round.
    pub fn after_cursor(&self) -> impl DoubleEndedIterator<Item = u32> {
        let (group, nth) = self.place();
        let tail = self.groups.iter().skip(group + 1).chain(self.groups.iter().take(group));
        let own = self.groups.get(group).map(|group| group.slots.as_slice()).unwrap_or_default();
        let (before, after) = own.split_at_checked(nth).unwrap_or((own, &[]));
        let rest = tail.flat_map(|group| group.slots.iter());
        after.iter().chain(rest).chain(before.iter()).copied()
    }

    /// Index of the cursor's group, and how many of its actions stand at or before the cursor.
    fn place(&self) -> (usize, usize) {
        match &self.cursor {
            None => (0, 0),
            Some(Cursor::Header(key)) => (self.by_group.get(key).map_or(0, |index| *index as usize), 0),
            Some(Cursor::Action(key)) => {
                let index = self.by_key.get(key).copied().unwrap_or_default();
                let group = self.slot(index).map_or(0, |slot| slot.group);
                let slots = self.group(group).map(|group| group.slots.as_slice()).unwrap_or_default();
                let nth = slots.binary_search(&index).unwrap_or_default();
                (group as usize, nth + 1)
            }
        }
    }

    /// Folds or unfolds a batch. A cursor inside a folding batch goes to its header.
    pub fn fold(&mut self, group: u32, folded: bool) {
        let inside = self.here().is_some_and(|slot| slot.group == group);
        let Some(found) = self.groups.get_mut(group as usize) else { return };
        if found.folded == folded || found.is_single() {
            return;
        }
        found.folded = folded;
        if inside && folded {
            self.cursor = Some(Cursor::Header(found.key.clone()));
        }
        self.flatten();
    }

    pub fn fold_all(&mut self, folded: bool) {
        let alone = self.group_here().is_some_and(Group::is_single);
        let header = self.group_here().map(|group| group.key.clone());
        let many = self.groups.iter_mut().filter(|group| !group.is_single());
        many.for_each(|group| group.folded = folded);
        if let (true, Some(header)) = (folded, header.filter(|_| !alone)) {
            self.cursor = Some(Cursor::Header(header));
        }
        self.flatten();
    }

    /// Index of a batch, for folding.
    pub fn group_index(&self, key: &GroupKey) -> Option<u32> {
        self.by_group.get(key).copied()
    }

    /// Changes where an action stands, in place.
    pub fn set_state(&mut self, key: &ActionKey, state: State) {
        let Some(slot) = self.by_key.get(key).and_then(|index| self.slots.get_mut(*index as usize)) else {
            return;
        };
        let group = self.groups.get_mut(slot.group as usize);
        let counts = |slot: &Slot| group.as_ref().is_some_and(|group| group.key.counts(slot));
        let was = counts(slot);
        slot.state = state;
        let is = counts(slot);
        if let Some(group) = group {
            group.open = (group.open + usize::from(is)).saturating_sub(usize::from(was));
        }
        if !slot.counts_as_pending() {
            self.marks.remove(key);
        }
    }

    /// Takes in what was held back and lets go of what is settled. The cursor stays on its row, on its line of the screen,
    /// or goes to the nearest row that is left.
    pub fn take_in(&mut self) {
        let nearest = self.survivors();
        let screen_line = self.at.saturating_sub(self.top);
        let folded: HashSet<GroupKey> =
            self.groups.iter().filter(|group| group.folded).map(|group| group.key.clone()).collect();
        let kept =
            std::mem::take(&mut self.slots).into_iter().filter(Slot::is_open).map(|slot| match slot.state {
                State::Unknown => Slot { state: State::Pending, ..slot },
                State::Pending | State::Held | State::Sending | State::Settled(_) | State::ToSettle => slot,
            });
        let held =
            self.held.drain().map(|(_, entry)| Slot { state: Slot::outstanding(&entry), entry, group: 0 });
        self.slots = kept.chain(held).collect();
        self.regroup(&folded);
        let found = nearest.into_iter().find(|cursor| match cursor {
            Cursor::Action(key) => self.by_key.contains_key(key),
            Cursor::Header(key) => self.find_group(key).is_some_and(|group| !group.is_single()),
        });
        self.cursor = found;
        self.flatten();
        if self.cursor.is_none() {
            // The first action rather than a header: the preview has something to show at once.
            self.go_to(usize::from(matches!(self.lines.first(), Some(Line::Header(_)))));
        }
        self.top = self.at.saturating_sub(screen_line);
        self.marks.retain(|key| self.by_key.contains_key(key));
    }

    /// The cursor, then what stands below it, then what stands above: where it may go when rows leave.
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

    /// Sorts the actions by age, and the batches by their oldest action. What is to be settled goes first.
    fn regroup(&mut self, folded: &HashSet<GroupKey>) {
        self.slots.sort_by(|a, b| {
            let waits = |slot: &Slot| slot.state != State::ToSettle;
            let age = |slot: &Slot| slot.entry.row.created_at;
            let order = waits(a).cmp(&waits(b)).then_with(|| age(a).cmp(&age(b)));
            order.then_with(|| a.entry.key.cmp(&b.entry.key))
        });
        self.by_key.clear();
        self.by_group.clear();
        self.groups.clear();
        for (index, slot) in self.slots.iter_mut().enumerate() {
            let key = GroupKey::of(slot);
            let fresh = self.groups.len() as u32;
            let group = *self.by_group.entry(key.clone()).or_insert(fresh);
            if group == fresh {
                let folded = folded.contains(&key);
                self.groups.push(Group { key, slots: Vec::new(), folded, open: 0, line: 0 });
            }
            slot.group = group;
            self.by_key.insert(slot.entry.key.clone(), index as u32);
            if let Some(group) = self.groups.get_mut(group as usize) {
                group.slots.push(index as u32);
                group.open += usize::from(group.key.counts(slot));
            }
        }
    }

    fn flatten(&mut self) {
        self.lines.clear();
        for (index, group) in self.groups.iter_mut().enumerate() {
            group.line = self.lines.len();
            // An action alone needs no header.
            if !group.is_single() {
                self.lines.push(Line::Header(index as u32));
            }
            if !group.folded || group.is_single() {
                self.lines.extend(group.slots.iter().map(|slot| Line::Action(*slot)));
            }
        }
        self.find_cursor();
    }

    /// Finds the cursor's line again. Logarithmic in the size of its batch: its actions stand in the order of their indices.
    fn find_cursor(&mut self) {
        let found = match &self.cursor {
            None => None,
            Some(Cursor::Header(key)) => self.find_group(key).map(|group| group.line),
            Some(Cursor::Action(key)) => self.by_key.get(key).and_then(|index| {
                let group = self.group(self.slot(*index)?.group)?;
                Some(group.line + usize::from(!group.is_single()) + group.slots.binary_search(index).ok()?)
            }),
        };
        self.at = found.unwrap_or_default();
    }

    fn identity(&self, line: Line) -> Option<Cursor> {
        match line {
            Line::Header(index) => self.group(index).map(|group| Cursor::Header(group.key.clone())),
            Line::Action(index) => self.slot(index).map(|slot| Cursor::Action(slot.entry.key.clone())),
        }
    }
}
