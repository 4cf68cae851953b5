//! A row of the list: an action and its state.

use std::hash::BuildHasher as _;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use crate::domain::{ActionKey, Entry, Status, Timestamp, Untrusted};

/// Names a row until it leaves the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct RowId(u32);

impl RowId {
    pub(super) const FIRST: Self = Self(0);
}

/// Names a group until the list is grouped again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct GroupId(pub(super) u32);

impl GroupId {
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// An action in the list. It keeps its place until the next reload, except if its outcome becomes unknown: then it
/// moves to the top. A row that others settled leaves the list after a minute.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    /// Boxed because it is large and scans over all rows rarely need it.
    pub entry: Box<Entry>,
    pub state: State,
    /// Number of reloads before it was listed.
    pub(crate) since: u32,
    /// When it appeared in a list that was already on screen.
    pub came: Option<Timestamp>,
    pub(crate) group: GroupId,
    /// It is in the rows of its group: neither filtered out nor snoozed, and no new row that is not arranged yet.
    pub(crate) shown: bool,
    pub(crate) filtered_out: bool,
    pub(crate) kind: u32,
    pub(crate) batch: u32,
    /// Its position in the order of the list.
    pub(crate) rank: u32,
    pub(crate) marked: bool,
    /// Snoozed: hidden and not counted.
    pub away: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Pending,
    /// The decision is confirmed but not sent yet, and can be recalled.
    Held,
    Sending,
    /// Can no longer be decided.
    Settled(Box<Settled>),
    /// A decision was sent and its outcome is not known. The action is read again, and a human can resolve it.
    Unknown,
    ToResolve,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settled {
    /// `None` if the source does not report it.
    pub status: Option<Status>,
    pub by: Option<Untrusted>,
    pub at: Option<Timestamp>,
    pub ours: bool,
    pub error: Option<Untrusted>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CountsAs {
    /// Pending and decidable; its expiry is watched.
    Offered,
    /// Pending, with a decision on its way.
    Counted,
    Lost,
}

impl State {
    /// Returns how it counts; `None` once it is settled.
    pub(crate) const fn counts_as(&self) -> Option<CountsAs> {
        match self {
            Self::Pending => Some(CountsAs::Offered),
            Self::Held | Self::Sending => Some(CountsAs::Counted),
            Self::Unknown | Self::ToResolve => Some(CountsAs::Lost),
            Self::Settled(_) => None,
        }
    }
}

impl Slot {
    pub(crate) fn arrived(entry: Entry) -> Self {
        Self {
            state: Self::outstanding(&entry),
            entry: Box::new(entry),
            since: u32::MAX,
            came: None,
            group: GroupId::default(),
            shown: false,
            filtered_out: false,
            kind: 0,
            batch: 0,
            rank: 0,
            marked: false,
            away: false,
        }
    }

    /// Creates a row for a list of ended actions, without a group.
    pub(crate) fn over(entry: Entry, state: State) -> Self {
        Self { state, since: 0, ..Self::arrived(entry) }
    }

    /// Creates a row for a decision with an unknown outcome whose action is not in the list.
    pub(crate) fn lost(entry: Entry) -> Self {
        Self::over(entry, State::Unknown)
    }

    /// Returns how it counts; `None` when settled or snoozed.
    pub(crate) fn counts_as(&self) -> Option<CountsAs> {
        self.state.counts_as().filter(|_| !self.away)
    }

    pub(crate) const fn is_pending(&self) -> bool {
        matches!(self.state, State::Pending)
    }

    /// Returns the state of an action that its source lists as outstanding.
    pub(crate) fn outstanding(entry: &Entry) -> State {
        if entry.row.status == Status::Unknown { State::ToResolve } else { State::Pending }
    }

    /// Returns true if it counts as pending: neither settled nor unknown.
    pub(crate) const fn counts_as_pending(&self) -> bool {
        matches!(self.state, State::Pending | State::Held | State::Sending)
    }

    /// Returns true if its outcome is unknown and a human can resolve it.
    pub(crate) const fn is_lost(&self) -> bool {
        matches!(self.state, State::Unknown | State::ToResolve)
    }

    pub(crate) const fn is_open(&self) -> bool {
        !matches!(self.state, State::Settled(_))
    }
}

/// All rows of the list, by id and by key. Keys are not copied: 5 MB less for 100,000 actions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slots {
    all: Vec<Option<Slot>>,
    /// The ids of rows that left. New rows get them.
    free: Vec<RowId>,
    by_key: HashTable<RowId>,
    hasher: RandomState,
}

impl Slots {
    pub(crate) fn get(&self, id: RowId) -> Option<&Slot> {
        self.all.get(id.0 as usize)?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, id: RowId) -> Option<&mut Slot> {
        self.all.get_mut(id.0 as usize)?.as_mut()
    }

    pub(crate) fn find(&self, key: &ActionKey) -> Option<RowId> {
        let is_it = |id: &RowId| self.get(*id).is_some_and(|slot| slot.entry.key == *key);
        self.by_key.find(self.hasher.hash_one(key), is_it).copied()
    }

    pub(crate) fn next_id(&self) -> RowId {
        self.free.last().copied().unwrap_or(RowId(self.all.len() as u32))
    }

    /// Adds a row. No other row may have its key.
    pub(crate) fn insert(&mut self, slot: Slot) -> RowId {
        let hash = self.hasher.hash_one(&slot.entry.key);
        let id = self.next_id();
        self.free.pop();
        match self.all.get_mut(id.0 as usize) {
            Some(place) => *place = Some(slot),
            None => self.all.push(Some(slot)),
        }
        let Self { all, by_key, hasher, .. } = self;
        let of = |id: &RowId| match all.get(id.0 as usize) {
            Some(Some(slot)) => hasher.hash_one(&slot.entry.key),
            _ => 0,
        };
        // Growing rehashes all keys, so it reserves plenty.
        if by_key.len() == by_key.capacity() {
            by_key.reserve(by_key.len() * 3, of);
        }
        by_key.insert_unique(hash, id, of);
        id
    }

    pub(crate) fn remove(&mut self, id: RowId) -> Option<Slot> {
        let slot = self.all.get_mut(id.0 as usize)?.take()?;
        if let Ok(known) = self.by_key.find_entry(self.hasher.hash_one(&slot.entry.key), |other| *other == id)
        {
            known.remove();
        }
        self.free.push(id);
        Some(slot)
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len() - self.free.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Slot> {
        self.all.iter().flatten()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Slot> {
        self.all.iter_mut().flatten()
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = RowId> {
        (0..self.all.len() as u32).map(RowId).filter(|id| self.get(*id).is_some())
    }
}
