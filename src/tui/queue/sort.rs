//! Orders of the list. A new order is applied once every row has its key; until then, the list keeps the old one.

use std::cmp::Ordering;

use crate::config::SortBy;
use crate::domain::Timestamp;

use super::slots::{RowId, Slot};
use super::state::Queue;
use super::tally::Kinds;

impl SortBy {
    pub const fn first(self) -> &'static str {
        match self {
            Self::Age => "oldest",
            Self::Risk => "risk",
            Self::Expiry => "expiry",
            Self::Tool => "tool",
            Self::Source => "source",
        }
    }

    /// Compares two actions like [`Sorting`].
    pub(crate) fn compare_slots(self, a: &Slot, b: &Slot) -> Ordering {
        let waits = |slot: &Slot| !slot.is_lost();
        let by = self.compare(&a.entry, &b.entry);
        waits(a).cmp(&waits(b)).then(by).then_with(|| a.entry.key.cmp(&b.entry.key))
    }

    fn key(self, slot: &Slot, ranks: &[u64]) -> SortKey {
        let row = &slot.entry.row;
        SortKey {
            waits: !slot.is_lost(),
            place: match self {
                // Actions without expiry come last.
                Self::Expiry => (u64::from(row.expires_at.is_none()), row.expires_at),
                _ => (ranks.get(slot.kind as usize).copied().unwrap_or_default(), None),
            },
            created: row.created_at,
        }
    }

    fn ranks(self, kinds: &Kinds) -> Vec<u64> {
        match self {
            Self::Age | Self::Expiry => Vec::new(),
            Self::Risk => kinds.all().map(|kind| u64::from(u8::MAX - kind.risk.rank())).collect(),
            Self::Tool => in_order(kinds.all().map(|kind| &kind.tool)),
            Self::Source => in_order(kinds.all().map(|kind| &kind.source)),
        }
    }
}

fn in_order<'a, T: Ord + 'a>(names: impl Iterator<Item = &'a T> + Clone) -> Vec<u64> {
    let mut sorted: Vec<&T> = names.clone().collect();
    sorted.sort_unstable();
    names.map(|name| sorted.partition_point(|other| *other < name) as u64).collect()
}

/// Sort key of a row, extracted once because rows are large and scattered. Unknown outcomes come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SortKey {
    waits: bool,
    place: (u64, Option<Timestamp>),
    created: Timestamp,
}

#[derive(Clone, Debug)]
pub(crate) struct Sorting {
    pub by: SortBy,
    version: (u64, u32, usize),
    ranks: Vec<u64>,
    /// The rows read so far; each slice is sorted.
    keyed: Vec<(SortKey, RowId)>,
}

impl Sorting {
    pub(crate) fn new(by: SortBy, queue: &Queue) -> Self {
        Self { by, version: version(queue), ranks: by.ranks(&queue.tally.kinds), keyed: Vec::new() }
    }

    /// Reads at most `most` rows, beginning again if the list changed. Returns the order once all are read. Fast if the
    /// list is nearly in this order.
    pub(crate) fn read(&mut self, queue: &Queue, most: usize) -> Option<Vec<RowId>> {
        if self.version != version(queue) {
            *self = Self::new(self.by, queue);
        }
        let done = self.keyed.len();
        let slots = &queue.slots;
        let rest = queue.order.get(done..).unwrap_or_default().iter().take(most);
        let rest = rest.filter_map(|id| Some((slots.get(*id)?, *id)));
        self.keyed.extend(rest.map(|(slot, id)| (self.by.key(slot, &self.ranks), id)));
        let key = |id: RowId| slots.get(id).map(|slot| &slot.entry.key);
        let compare = |(a, one): &(SortKey, RowId), (b, other): &(SortKey, RowId)| {
            a.cmp(b).then_with(|| key(*one).cmp(&key(*other)))
        };
        self.keyed.get_mut(done..).unwrap_or_default().sort_by(compare);
        if self.keyed.len() < queue.order.len() {
            return None;
        }
        self.keyed.sort_by(compare);
        Some(self.keyed.iter().map(|(_, id)| *id).collect())
    }
}

const fn version(queue: &Queue) -> (u64, u32, usize) {
    (queue.arrangement, queue.strays, queue.order.len())
}
