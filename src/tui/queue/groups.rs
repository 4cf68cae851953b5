//! Groups of the list: the rows in them, their folds and counts.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;

use crate::config::GroupBy;
use crate::domain::{BatchKey, SourceName, Untrusted};

use super::shape::Shape;
use super::slots::{GroupId, RowId, Slot, Slots};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum GroupKey {
    /// Actions with unknown outcomes, of all batches. Always first.
    ToResolve,
    Batch(BatchKey),
    /// `None` for actions without a mission.
    Mission(SourceName, Option<Untrusted>),
    Checkpoint(SourceName, Option<Untrusted>),
    Agent(SourceName, Option<Untrusted>),
    Source(SourceName),
    Shape(Arc<Shape>),
}

#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub id: GroupId,
    pub key: GroupKey,
    /// The visible rows in list order. A group without any is not in the list.
    pub rows: Vec<RowId>,
    pub folded: bool,
    /// Number of visible rows that are neither decided nor settled.
    pub open: usize,
    pub batches: usize,
    /// The line of its header or single row.
    pub(crate) line: usize,
}

impl GroupBy {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Batch => "batch",
            Self::Mission => "mission",
            Self::Checkpoint => "checkpoint",
            Self::Agent => "agent",
            Self::Source => "source",
            Self::Shape => "shape",
        }
    }
}

impl GroupKey {
    /// Returns the batch that one key decides, if the group is one.
    pub(crate) fn batch(&self) -> Option<&BatchKey> {
        match self {
            Self::Batch(batch) => Some(batch),
            _ => None,
        }
    }

    pub(crate) fn of(slot: &Slot, by: GroupBy) -> Self {
        if slot.is_lost() {
            return Self::ToResolve;
        }
        let (entry, row) = (&slot.entry, &slot.entry.row);
        let source = || entry.key.source.clone();
        match by {
            GroupBy::Batch => Self::Batch(entry.batch()),
            GroupBy::Mission => Self::Mission(source(), row.mission.clone()),
            GroupBy::Checkpoint => Self::Checkpoint(source(), row.checkpoint.clone()),
            GroupBy::Agent => Self::Agent(source(), row.agent.clone()),
            GroupBy::Source => Self::Source(source()),
            GroupBy::Shape => Self::Shape(Arc::new(Shape::of(entry))),
        }
    }

    pub(crate) fn counts(&self, slot: &Slot) -> bool {
        match self {
            Self::ToResolve => slot.is_lost(),
            _ => slot.is_open(),
        }
    }

    /// Groups of near-identical actions are folded until the reviewer unfolds them.
    const fn begins_folded(&self) -> bool {
        matches!(self, Self::Shape(_))
    }
}

impl Group {
    /// Returns true for a single action, which has no header and does not fold.
    pub(crate) fn is_single(&self) -> bool {
        self.rows.len() == 1 && self.key != GroupKey::ToResolve
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.folded && !self.is_single()
    }
}

/// All groups of the list, as if there were no filter, and the order of those that are visible.
#[derive(Clone, Debug, Default)]
pub(crate) struct Groups {
    all: Vec<Group>,
    by_key: HashMap<GroupKey, GroupId, RandomState>,
    /// The visible groups. Each is where its first row is.
    pub(crate) order: Vec<GroupId>,
}

impl Groups {
    /// Returns the group of a row, adding it if it is new.
    pub(crate) fn place(&mut self, slot: &Slot, by: GroupBy) -> GroupId {
        let fresh = GroupId(self.all.len() as u32);
        *self.by_key.entry(GroupKey::of(slot, by)).or_insert_with_key(|key| {
            let (key, folded) = (key.clone(), key.begins_folded());
            self.all.push(Group { id: fresh, key, rows: Vec::new(), folded, open: 0, batches: 0, line: 0 });
            fresh
        })
    }

    /// Makes all groups empty, before the rows are [shown](Self::show) again in list order.
    pub(crate) fn clear(&mut self) {
        for group in &mut self.all {
            group.rows.clear();
            (group.open, group.batches) = (0, 0);
        }
        self.order.clear();
    }

    pub(crate) fn show(&mut self, id: RowId, slot: &Slot) {
        let Some(group) = self.all.get_mut(slot.group.index()) else { return };
        if group.rows.is_empty() {
            self.order.push(slot.group);
        }
        group.rows.push(id);
        group.open += usize::from(group.key.counts(slot));
    }

    /// Counts the batches of each visible group; the list has `all` batches.
    pub(crate) fn count_batches(&mut self, slots: &Slots, all: usize) {
        let mut counted_in = vec![None; all];
        self.for_each(|group| {
            if group.key.batch().is_some() {
                group.batches = 1;
                return;
            }
            for slot in group.rows.iter().filter_map(|row| slots.get(*row)) {
                let counted = counted_in.get_mut(slot.batch as usize).and_then(|last| last.replace(group.id));
                group.batches += usize::from(counted != Some(group.id));
            }
        });
    }

    pub(crate) fn for_each(&mut self, mut change: impl FnMut(&mut Group)) {
        for id in &self.order {
            if let Some(group) = self.all.get_mut(id.index()) {
                change(group);
            }
        }
    }

    pub(crate) fn keep_folds(&mut self, before: &Self) {
        for group in &mut self.all {
            if let Some(known) = before.by_key.get(&group.key).and_then(|id| before.get(*id)) {
                group.folded = known.folded;
            }
        }
    }

    pub(crate) fn forget_folds(&mut self, has_rows: impl Fn(GroupId) -> bool) {
        for group in self.all.iter_mut().filter(|group| !has_rows(group.id)) {
            group.folded = group.key.begins_folded();
        }
    }

    pub(crate) fn get(&self, id: GroupId) -> Option<&Group> {
        self.all.get(id.index())
    }

    pub(crate) fn get_mut(&mut self, id: GroupId) -> Option<&mut Group> {
        self.all.get_mut(id.index())
    }

    /// Returns the group if any of its rows is visible.
    pub(crate) fn find(&self, key: &GroupKey) -> Option<&Group> {
        self.get(*self.by_key.get(key)?).filter(|group| !group.rows.is_empty())
    }

    /// Number of groups, including those without visible rows.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &Group> {
        self.order.iter().filter_map(|id| self.get(*id))
    }
}

/// A new grouping in progress. The list keeps its groups until every row has a new one.
#[derive(Clone, Debug)]
pub(crate) struct Regrouping {
    pub by: GroupBy,
    /// The arrangement of the list and its rows; if they change, grouping restarts, because `of` follows their places.
    version: Option<(u64, usize)>,
    pub groups: Groups,
    /// The new group of each row so far.
    pub of: Vec<GroupId>,
}

impl Regrouping {
    pub(crate) fn new(by: GroupBy) -> Self {
        Self { by, version: None, groups: Groups::default(), of: Vec::new() }
    }

    /// Reads at most `most` rows. Returns true once all are read.
    pub(crate) fn read(&mut self, slots: &Slots, arrangement: u64, most: usize) -> bool {
        let version = Some((arrangement, slots.len()));
        if self.version != version {
            *self = Self { version, ..Self::new(self.by) };
        }
        let rest = slots.iter().skip(self.of.len()).take(most);
        self.of.extend(rest.map(|slot| self.groups.place(slot, self.by)));
        self.of.len() == slots.len()
    }
}
