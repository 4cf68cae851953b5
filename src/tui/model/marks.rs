//! Marks and ranges: identities, never row numbers.

use crate::domain::ActionKey;

use super::{Cursor, Line, Queue, Slot};

impl Queue {
    /// Marked actions that went because they are settled, since marking began.
    pub fn marks_gone(&self) -> usize {
        self.marks_gone
    }

    pub fn unmark_all(&mut self) {
        self.marks.clear();
        self.marks_gone = 0;
        self.anchor = None;
    }

    /// A range is open: everything from where it began to the cursor is as good as marked.
    pub fn has_range(&self) -> bool {
        self.anchor.is_some()
    }

    pub fn begin_range(&mut self) {
        self.anchor = self.cursor.clone().map(|cursor| (cursor, self.at));
    }

    /// First and last line of the range.
    pub fn range(&self) -> Option<(usize, usize)> {
        let (_, anchor) = self.anchor.as_ref()?;
        Some((self.at.min(*anchor), self.at.max(*anchor)))
    }

    pub fn drop_range(&mut self) {
        self.anchor = None;
    }

    /// Ends the range; what can be decided of it and `takes` is marked now. Returns how many it did not take.
    pub fn keep_range(&mut self, takes: impl Fn(&ActionKey) -> bool) -> usize {
        let Some((first, last)) = self.range() else { return 0 };
        self.anchor = None;
        let lines = self.lines.get(first..=last).unwrap_or_default();
        let found = lines.iter().flat_map(|line| self.marked_with(*line));
        let (found, left): (Vec<ActionKey>, Vec<ActionKey>) = found.partition(takes);
        self.mark(found);
        left.len()
    }

    /// What marking a line marks: a folded group is all of its actions, an open one stands for itself.
    fn marked_with(&self, line: Line) -> Vec<ActionKey> {
        let indices: &[u32] = match &line {
            Line::Action(index) => std::slice::from_ref(index),
            Line::Header(group) => match self.group(*group) {
                Some(group) if group.folded => &group.slots,
                _ => &[],
            },
        };
        let pending = indices.iter().filter_map(|index| self.slot(*index)).filter(|slot| slot.is_pending());
        pending.map(|slot| slot.entry.key.clone()).collect()
    }

    fn mark(&mut self, keys: Vec<ActionKey>) {
        if self.marks.is_empty() {
            self.marks_gone = 0;
        }
        self.marks.extend(keys);
    }

    /// Marks these, or takes the marks away when all of them are marked.
    pub fn turn_marks(&mut self, keys: Vec<ActionKey>) {
        if keys.iter().all(|key| self.marks.contains(key)) {
            for key in &keys {
                self.marks.remove(key);
            }
            if self.marks.is_empty() {
                self.marks_gone = 0;
            }
        } else {
            self.mark(keys);
        }
    }

    /// Everything that is shown and can be decided, in folded groups too.
    pub fn shown_pending(&self) -> Vec<ActionKey> {
        let slots = self.groups.iter().flat_map(|group| &group.slots).filter_map(|index| self.slot(*index));
        slots.filter(|slot| slot.is_pending()).map(|slot| slot.entry.key.clone()).collect()
    }

    /// What the cursor would mark: its action, or all of its group.
    pub fn pending_here(&self) -> Vec<ActionKey> {
        match &self.cursor {
            Some(Cursor::Action(key)) => {
                let pending = self.get(key).is_some_and(Slot::is_pending);
                pending.then(|| key.clone()).into_iter().collect()
            }
            Some(Cursor::Header(key)) => {
                let slots = self.find_group(key).map(|group| group.slots.as_slice()).unwrap_or_default();
                let slots = slots.iter().filter_map(|index| self.slot(*index));
                slots.filter(|slot| slot.is_pending()).map(|slot| slot.entry.key.clone()).collect()
            }
            None => Vec::new(),
        }
    }

    /// Marked actions that are shown and can be decided, in the order of the list.
    pub fn marked(&self) -> Vec<ActionKey> {
        let found = self.marks.iter().filter_map(|key| self.get(key));
        let mut shown: Vec<&Slot> =
            found.filter(|slot| slot.is_pending() && self.group_of(slot).is_some()).collect();
        shown.sort_unstable_by_key(|slot| slot.rank);
        shown.into_iter().map(|slot| slot.entry.key.clone()).collect()
    }

    /// So many marked actions are hidden by the filter.
    pub fn marks_hidden(&self) -> usize {
        if self.shown.is_none() {
            return 0;
        }
        self.marks.iter().filter(|key| !self.is_shown(key)).count()
    }
}
