//! One action in the list, and where it stands.

use std::hash::BuildHasher as _;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use crate::domain::{ActionKey, Entry, Status, Timestamp, Untrusted};

/// A slot that stands in no group, because the filter does not show it.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// An action the list knows. It keeps its place until the next reload, unless it becomes unknown: that stands first.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    /// Apart from what is looked at row by row: it is large.
    pub entry: Box<Entry>,
    pub state: State,
    /// How many reloads there had been when it came.
    pub(crate) since: u32,
    /// When it came into the list that somebody was at already.
    pub came: Option<Timestamp>,
    /// Index of its group, where the filter shows it.
    pub(crate) group: u32,
    /// Index of the group it would be in without a filter.
    pub(crate) bucket: u32,
    /// Number of what it has in common with others.
    pub(crate) kind: u32,
    /// Counts the batches of the list.
    pub(crate) batch: u32,
    /// Its place in the order of the list.
    pub(crate) rank: u32,
    pub(crate) marked: bool,
    /// Snoozed: out of sight, and not counted.
    pub away: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Pending,
    /// Its decision is confirmed, and not sent yet: it can be recalled.
    Held,
    /// Its decision is on the way.
    Sending,
    /// Nothing can be decided any more. The row stays where it is.
    Settled(Box<Settled>),
    /// A decision was sent and we lost sight of it: it is read again, and a human can say what became of it.
    Unknown,
    /// It ran, and nobody knows what became of it: a human must say.
    ToResolve,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settled {
    /// `None` when the source does not say how.
    pub status: Option<Status>,
    pub by: Option<Untrusted>,
    pub at: Option<Timestamp>,
    /// Settled by a decision from this inbox.
    pub ours: bool,
    /// Why the execution failed.
    pub error: Option<Untrusted>,
}

/// How a row counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CountsAs {
    /// As pending, and it can be decided: its expiry is waited for.
    Offered,
    /// As pending.
    Counted,
    /// Nobody knows what became of it.
    Lost,
}

impl State {
    /// How it counts; nothing once it is settled.
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

    /// In a list of what is over: it belongs to no group, and nothing is decided on it.
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

    /// How it counts; nothing once it is settled, or while it is out of sight.
    pub(crate) fn counts_as(&self) -> Option<CountsAs> {
        self.state.counts_as().filter(|_| !self.away)
    }

    pub(crate) const fn is_pending(&self) -> bool {
        matches!(self.state, State::Pending)
    }

    /// Where an action stands that its source lists as outstanding.
    pub(crate) fn outstanding(entry: &Entry) -> State {
        if entry.row.status == Status::Unknown { State::ToResolve } else { State::Pending }
    }

    /// Counted as pending: the source has not said that anybody decided it, and no decision of ours was lost sight of.
    pub(crate) const fn counts_as_pending(&self) -> bool {
        matches!(self.state, State::Pending | State::Held | State::Sending)
    }

    /// Its place in the order of the list.
    pub(crate) const fn rank(&self) -> u32 {
        self.rank
    }

    /// Nobody knows what became of it: a human may say.
    pub(crate) const fn is_lost(&self) -> bool {
        matches!(self.state, State::Unknown | State::ToResolve)
    }

    /// A decision of ours that was lost sight of, where the list has no row.
    pub(crate) fn lost(entry: Entry) -> Self {
        Self { state: State::Unknown, since: 0, ..Self::arrived(entry) }
    }

    /// Still something to do: the source has not said that it is over.
    pub(crate) const fn is_open(&self) -> bool {
        !matches!(self.state, State::Settled(_))
    }
}

/// The index of each action among the slots. It holds no second copy of their keys: of 100,000 actions that is 5 MB.
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

    /// An action that is not known yet. It may be among the slots, or come in there next.
    pub(crate) fn put(&mut self, slots: &[Slot], key: &ActionKey, index: u32) {
        let of =
            |index: &u32| slots.get(*index as usize).map_or(0, |slot| self.hasher.hash_one(&slot.entry.key));
        // Each growth looks at all keys: seldom.
        if self.indices.len() == self.indices.capacity() {
            self.indices.reserve(self.indices.len() * 3, of);
        }
        self.indices.insert_unique(self.hasher.hash_one(key), index, of);
    }

    /// An action that stood at this index goes to another one, or out of the list.
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
