//! Groups of the list.

use std::collections::HashMap;
use std::sync::Arc;

use crate::config::GroupBy;
use crate::domain::{BatchKey, SourceName, Untrusted};

use super::shape::Shape;
use super::slots::Slot;

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
    pub key: GroupKey,
    pub slots: Vec<u32>,
    pub folded: bool,
    /// Number of actions that are neither decided nor settled.
    pub open: usize,
    pub batches: usize,
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

    /// Returns true if [`Self::of`] would return this key, without building it.
    fn is_of(&self, slot: &Slot, by: GroupBy) -> bool {
        let (key, row) = (&slot.entry.key, &slot.entry.row);
        if slot.is_lost() {
            return *self == Self::ToResolve;
        }
        match (self, by) {
            (Self::Batch(BatchKey::Batch(source, batch)), GroupBy::Batch) => {
                row.batch.as_ref() == Some(batch) && *source == key.source
            }
            (Self::Mission(source, mission), GroupBy::Mission) => {
                *mission == row.mission && *source == key.source
            }
            (Self::Checkpoint(source, checkpoint), GroupBy::Checkpoint) => {
                *checkpoint == row.checkpoint && *source == key.source
            }
            (Self::Agent(source, agent), GroupBy::Agent) => *agent == row.agent && *source == key.source,
            (Self::Source(source), GroupBy::Source) => *source == key.source,
            (Self::Shape(shape), GroupBy::Shape) => shape.is_of(&slot.entry),
            _ => false,
        }
    }

    /// Returns true if the action counts as open in this group.
    pub(crate) fn counts(&self, slot: &Slot) -> bool {
        match self {
            Self::ToResolve => slot.is_lost(),
            _ => slot.is_open(),
        }
    }
}

/// All groups, as if there were no filter.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buckets {
    keys: Vec<GroupKey>,
    by_key: HashMap<GroupKey, u32>,
    last: u32,
}

impl Buckets {
    /// Returns the number of a row's group, adding it if it is new.
    pub(crate) fn place(&mut self, slot: &Slot, by: GroupBy) -> u32 {
        // Consecutive rows usually belong to the same group.
        if self.get(self.last).is_some_and(|last| last.is_of(slot, by)) {
            return self.last;
        }
        let key = GroupKey::of(slot, by);
        let fresh = self.keys.len() as u32;
        self.last = *self.by_key.entry(key).or_insert_with_key(|key| {
            self.keys.push(key.clone());
            fresh
        });
        self.last
    }

    pub(crate) fn get(&self, number: u32) -> Option<&GroupKey> {
        self.keys.get(number as usize)
    }

    pub(crate) fn number(&self, key: &GroupKey) -> Option<u32> {
        self.by_key.get(key).copied()
    }

    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }
}

/// A new grouping in progress. The list keeps its groups until every row has a new one.
#[derive(Clone, Debug)]
pub(crate) struct Regrouping {
    pub by: GroupBy,
    /// The arrangement of the list; if it changes, grouping restarts.
    arrangement: u64,
    pub buckets: Buckets,
    /// The new group of each row so far.
    pub of: Vec<u32>,
}

impl Regrouping {
    pub(crate) fn new(by: GroupBy, arrangement: u64) -> Self {
        Self { by, arrangement, buckets: Buckets::default(), of: Vec::new() }
    }

    /// Reads at most `most` rows. Returns true once all are read.
    pub(crate) fn read(&mut self, slots: &[Slot], arrangement: u64, most: usize) -> bool {
        if self.arrangement != arrangement {
            *self = Self::new(self.by, arrangement);
        }
        let rest = slots.get(self.of.len()..).unwrap_or_default().iter().take(most);
        self.of.extend(rest.map(|slot| self.buckets.place(slot, self.by)));
        self.of.len() == slots.len()
    }
}

impl Group {
    /// Returns true for a single action, which has no header and does not fold.
    pub(crate) fn is_single(&self) -> bool {
        self.slots.len() == 1 && self.key != GroupKey::ToResolve
    }
}
