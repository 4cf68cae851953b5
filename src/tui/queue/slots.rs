//! A row of the list: an action and its state.

use std::hash::BuildHasher as _;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use crate::domain::{ActionKey, Entry, Status, Timestamp, Untrusted};

/// Group of a slot that the filter hides.
pub(crate) const NOWHERE: u32 = u32::MAX;

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
    /// Index of its group; [`NOWHERE`] if the filter hides it.
    pub(crate) group: u32,
    /// Index of its group without a filter.
    pub(crate) bucket: u32,
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
        let state = Self::outstanding(&entry);
        Self {
            entry: Box::new(entry),
            state,
            since: u32::MAX,
            came: None,
            group: NOWHERE,
            bucket: 0,
            kind: 0,
            batch: 0,
            rank: 0,
            marked: false,
            away: false,
        }
    }

    /// Creates a row for a list of ended actions, without a group.
    pub(crate) fn over(entry: Entry, state: State) -> Self {
        Self {
            entry: Box::new(entry),
            state,
            since: 0,
            came: None,
            group: NOWHERE,
            bucket: 0,
            kind: 0,
            batch: 0,
            rank: 0,
            marked: false,
            away: false,
        }
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

    pub(crate) const fn rank(&self) -> u32 {
        self.rank
    }

    /// Returns true if its outcome is unknown and a human can resolve it.
    pub(crate) const fn is_lost(&self) -> bool {
        matches!(self.state, State::Unknown | State::ToResolve)
    }

    /// Creates a row for a decision with an unknown outcome whose action is not in the list.
    pub(crate) fn lost(entry: Entry) -> Self {
        Self { state: State::Unknown, since: 0, ..Self::arrived(entry) }
    }

    pub(crate) const fn is_open(&self) -> bool {
        !matches!(self.state, State::Settled(_))
    }
}

/// Maps each action to its index in the slots, without copies of the keys: 5 MB less for 100,000 actions.
#[derive(Clone, Debug, Default)]
pub(crate) struct ByKey {
    indices: HashTable<u32>,
    hasher: RandomState,
}

impl ByKey {
    pub(crate) fn of(slots: &[Slot]) -> Self {
        let mut all = Self { indices: HashTable::with_capacity(slots.len()), ..Self::default() };
        slots.iter().enumerate().for_each(|(index, slot)| all.put(slots, &slot.entry.key, index as u32));
        all
    }

    pub(crate) fn get(&self, slots: &[Slot], key: &ActionKey) -> Option<u32> {
        let is_it = |index: &u32| slots.get(*index as usize).is_some_and(|slot| slot.entry.key == *key);
        self.indices.find(self.hasher.hash_one(key), is_it).copied()
    }

    /// Adds a new action. It is in the slots already, or is pushed to them next.
    pub(crate) fn put(&mut self, slots: &[Slot], key: &ActionKey, index: u32) {
        let of =
            |index: &u32| slots.get(*index as usize).map_or(0, |slot| self.hasher.hash_one(&slot.entry.key));
        // Growing rehashes all keys, so it reserves plenty.
        if self.indices.len() == self.indices.capacity() {
            self.indices.reserve(self.indices.len() * 3, of);
        }
        self.indices.insert_unique(self.hasher.hash_one(key), index, of);
    }

    pub(crate) fn moves(&mut self, key: &ActionKey, from: u32, to: Option<u32>) {
        let Ok(mut known) = self.indices.find_entry(self.hasher.hash_one(key), |index| *index == from) else {
            return;
        };
        match to {
            Some(to) => *known.get_mut() = to,
            None => drop(known.remove()),
        }
    }
}
