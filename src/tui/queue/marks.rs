//! Marks and ranges. A mark belongs to its action and moves with it.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::domain::{ActionKey, Risk, Untrusted};

use super::slots::{RowId, Slot};
use super::state::{Cursor, Line, Queue};
use super::tally::{MarkSums, Marks};

/// Largest number of marked actions whose amounts are added up. The review has no such limit.
pub(crate) const FEW: usize = 100;

impl Queue {
    pub(crate) fn is_marked(&self, key: &ActionKey) -> bool {
        !self.marks.is_empty() && self.get(key).is_some_and(|slot| slot.marked)
    }

    pub(crate) fn mark_sums(&self) -> &MarkSums {
        self.marks.sums(|| {
            if self.marks.is_empty() {
                return MarkSums::default();
            }
            let marked = || self.slots.iter().filter(|slot| slot.marked);
            let some: Vec<ActionKey> = marked().take(FEW).map(|slot| slot.entry.key.clone()).collect();
            let few = if self.marks.len() <= FEW { some.clone() } else { Vec::new() };
            let mut kinds = vec![0; self.tally.kinds.all().len()];
            let mut hidden = 0;
            for slot in marked() {
                match kinds.get_mut(slot.kind as usize) {
                    Some(count) if slot.shown => *count += 1,
                    _ => hidden += 1,
                }
            }
            let kinds = self.tally.kinds.all().zip(kinds).filter(|(_, count)| *count > 0);
            let tools = by_tool(kinds.map(|(kind, count)| (&kind.tool, &kind.risk, count)));
            MarkSums { hidden, few, some, tools }
        })
    }

    pub(crate) fn unmark_all(&mut self) {
        self.slots.iter_mut().for_each(|slot| slot.marked = false);
        self.marks = Marks::default();
        self.anchor = None;
    }

    /// Returns true if a range is open. Lines between its start and the cursor count as marked.
    pub(crate) fn has_range(&self) -> bool {
        self.anchor.is_some()
    }

    pub(crate) fn begin_range(&mut self) {
        self.anchor = self.cursor.clone().map(|cursor| (cursor, self.at));
    }

    pub(crate) fn range(&self) -> Option<(usize, usize)> {
        let (_, anchor) = self.anchor.as_ref()?;
        Some((self.at.min(*anchor), self.at.max(*anchor)))
    }

    pub(crate) fn drop_range(&mut self) {
        self.anchor = None;
    }

    /// Ends the range and marks its pending actions for which `takes` holds. Returns how many were not taken.
    pub(crate) fn keep_range(&mut self, takes: impl Fn(&ActionKey) -> bool) -> usize {
        let Some((first, last)) = self.range() else { return 0 };
        self.anchor = None;
        let lines = self.lines.get(first..=last).unwrap_or_default();
        let found = lines.iter().flat_map(|line| self.marked_with(*line));
        let takes = |id: &RowId| self.slot(*id).is_some_and(|slot| takes(&slot.entry.key));
        let (found, left): (Vec<RowId>, Vec<RowId>) = found.partition(takes);
        self.mark(&found);
        left.len()
    }

    /// Returns what marking a line marks: all actions of a folded group, none for the header of an open one.
    fn marked_with(&self, line: Line) -> Vec<RowId> {
        match line {
            Line::Action(id) => self.pending_of(&[id]),
            Line::Header(group) => match self.group(group) {
                Some(group) if group.folded => self.pending_of(&group.rows),
                _ => Vec::new(),
            },
        }
    }

    fn pending_of(&self, rows: &[RowId]) -> Vec<RowId> {
        rows.iter().copied().filter(|id| self.slot(*id).is_some_and(Slot::is_pending)).collect()
    }

    fn mark(&mut self, rows: &[RowId]) {
        if self.marks.is_empty() {
            self.marks.begin();
        }
        self.set_marks(rows, true);
    }

    fn set_marks(&mut self, rows: &[RowId], marked: bool) {
        self.marks.changed();
        for id in rows {
            let Some(slot) = self.slots.get_mut(*id).filter(|slot| slot.marked != marked) else { continue };
            slot.marked = marked;
            self.marks.turned(marked);
        }
    }

    /// Marks these rows, or unmarks them if all are marked.
    pub(crate) fn turn_marks(&mut self, rows: &[RowId]) {
        if rows.iter().all(|id| self.slot(*id).is_some_and(|slot| slot.marked)) {
            self.set_marks(rows, false);
            if self.marks.is_empty() {
                self.marks.begin();
            }
        } else {
            self.mark(rows);
        }
    }

    pub(crate) fn shown_pending(&self) -> Vec<RowId> {
        self.groups.iter().flat_map(|group| self.pending_of(&group.rows)).collect()
    }

    /// Returns the actions that marking at the cursor applies to: its action, or all of its group.
    pub(crate) fn pending_here(&self) -> Vec<RowId> {
        match &self.cursor {
            Some(Cursor::Action(key)) => self.index(key).map(|id| self.pending_of(&[id])),
            Some(Cursor::Header(key)) => self.find_group(key).map(|group| self.pending_of(&group.rows)),
            None => None,
        }
        .unwrap_or_default()
    }

    pub(crate) fn marked(&self) -> Vec<RowId> {
        let is_marked = |slot: &Slot| slot.marked && slot.is_pending() && slot.shown;
        self.order.iter().copied().filter(|id| self.slot(*id).is_some_and(is_marked)).collect()
    }

    pub(crate) fn marks_hidden(&self) -> usize {
        if self.is_filtered { self.mark_sums().hidden } else { 0 }
    }
}

/// Adds up counts by tool and risk, most harmful first.
pub(crate) fn by_tool<'a>(
    rows: impl Iterator<Item = (&'a Untrusted, &'a Risk, usize)>,
) -> Vec<(Untrusted, Risk, usize)> {
    let mut counts: BTreeMap<_, (&Untrusted, &Risk, usize)> = BTreeMap::new();
    // Equal rows usually follow each other.
    let mut count = |(tool, risk, n): (&'a Untrusted, &'a Risk, usize)| {
        let key = (Reverse(risk.rank()), tool.as_raw(), risk.as_raw());
        counts.entry(key).or_insert((tool, risk, 0)).2 += n;
    };
    let mut alike: Option<(&Untrusted, &Risk, usize)> = None;
    for row in rows {
        match &mut alike {
            Some((tool, risk, n)) if (*tool, *risk) == (row.0, row.1) => *n += row.2,
            _ => alike.replace(row).into_iter().for_each(&mut count),
        }
    }
    alike.into_iter().for_each(count);
    counts.into_values().map(|(tool, risk, n)| (tool.clone(), risk.clone(), n)).collect()
}
