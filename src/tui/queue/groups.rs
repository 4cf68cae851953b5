//! What stands together in the list, and in which order. A new grouping or order is applied when the reviewer asks for it.

use std::cmp::{Ordering, Reverse};
use std::sync::Arc;

use crate::domain::{BatchKey, Row, SourceName, Untrusted};

use crate::config::{GroupBy, SortBy};

use super::shape::Shape;
use super::slots::Slot;

/// What stands together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum GroupKey {
    /// Actions of all batches whose outcome nobody knows. Always first.
    ToResolve,
    Batch(BatchKey),
    /// `None`: those that name no mission.
    Mission(SourceName, Option<Untrusted>),
    Checkpoint(SourceName, Option<Untrusted>),
    Agent(SourceName, Option<Untrusted>),
    Source(SourceName),
    Shape(Arc<Shape>),
}

/// Actions that stand together: those that the filter shows.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub key: GroupKey,
    /// Indices of its actions, in the order of the list.
    pub slots: Vec<u32>,
    pub folded: bool,
    /// Actions that nobody has decided, or settled, yet.
    pub open: usize,
    /// How many batches its actions are of.
    pub batches: usize,
    /// Place of its header among the visible lines.
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

impl SortBy {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Age => "age",
            Self::Risk => "risk",
            Self::Expiry => "expiry",
            Self::Tool => "tool",
            Self::Source => "source",
        }
    }

    /// What stands first, as in `the oldest first`.
    pub const fn first(self) -> &'static str {
        match self {
            Self::Age => "oldest",
            Self::Risk => "risk",
            Self::Expiry => "expiry",
            Self::Tool => "tool",
            Self::Source => "source",
        }
    }

    /// Which of two actions stands first, as [`Self::order`] has it.
    pub(crate) fn compare(self, a: &Slot, b: &Slot) -> Ordering {
        let (one, other) = (&a.entry.row, &b.entry.row);
        let waits = |slot: &Slot| !slot.is_lost();
        let expiry = |row: &Row| (row.expires_at.is_none(), row.expires_at);
        let by = match self {
            Self::Age => Ordering::Equal,
            Self::Risk => other.risk.rank().cmp(&one.risk.rank()),
            Self::Expiry => expiry(one).cmp(&expiry(other)),
            Self::Tool => one.tool.cmp(&other.tool),
            Self::Source => a.entry.key.source.cmp(&b.entry.key.source),
        };
        let key = |slot: &Slot| (slot.entry.row.created_at, slot.entry.key.clone());
        waits(a).cmp(&waits(b)).then(by).then_with(|| key(a).cmp(&key(b)))
    }

    /// Indices of all actions in this order. What is to be settled goes first.
    pub(crate) fn order(self, slots: &[Slot]) -> Vec<u32> {
        match self {
            Self::Age => sorted(slots, |_| ()),
            Self::Risk => sorted(slots, |slot| Reverse(slot.entry.row.risk.rank())),
            Self::Expiry => sorted(slots, |slot| {
                let at = slot.entry.row.expires_at;
                (at.is_none(), at)
            }),
            Self::Tool => sorted(slots, |slot| &slot.entry.row.tool),
            Self::Source => sorted(slots, |slot| &slot.entry.key.source),
        }
    }
}

/// Compares what was looked up once: rows are large, and far apart.
fn sorted<'a, K: Ord>(slots: &'a [Slot], key: impl Fn(&'a Slot) -> K) -> Vec<u32> {
    let key = |(index, slot): (usize, &'a Slot)| {
        let waits = !slot.is_lost();
        ((waits, key(slot), slot.entry.row.created_at), &slot.entry.key, index as u32)
    };
    let mut keyed: Vec<_> = slots.iter().enumerate().map(key).collect();
    keyed.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.cmp(b.1)));
    keyed.into_iter().map(|(_, _, index)| index).collect()
}

impl GroupKey {
    /// The batch that is decided with one key, where the group is one.
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

    /// It counts among those that wait for somebody.
    pub(crate) fn counts(&self, slot: &Slot) -> bool {
        match self {
            Self::ToResolve => slot.is_lost(),
            _ => slot.counts_as_pending(),
        }
    }
}

impl Group {
    /// An action alone: one line, no header, nothing to fold.
    pub(crate) fn is_single(&self) -> bool {
        self.slots.len() == 1 && self.key != GroupKey::ToResolve
    }
}
