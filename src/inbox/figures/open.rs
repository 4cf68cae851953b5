//! Pending and unknown actions of a source. Names are stored as numbers and counts per queue are kept up to date, so
//! that 100,000 actions are counted fast.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasher as _, Hash};
use std::num::NonZero;

use foldhash::fast::RandomState;

use crate::domain::{ActionId, IdMap, Queue, Row, Status, Timestamp, Untrusted};

use super::ledger::{ByPlace, QueueIndex};
use super::stage::Stage;

pub(super) type Number = u32;

/// A pending action, or one with an unknown outcome.
#[derive(Clone, Debug)]
pub(super) struct OpenAction {
    pub(super) place: QueueIndex,
    pub(super) tool: Number,
    pub(super) queue: Number,
    pub(super) title: Untrusted,
    /// Hash of its mission, to count distinct missions.
    pub(super) mission: Option<NonZero<u64>>,
    pub(super) created: Timestamp,
    pub(super) expires: Option<Timestamp>,
    pub(super) rank: u8,
    pub(super) lost: bool,
    /// The stage after a decision from here that is not in the list yet.
    pub(super) ours: Option<Stage>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Open {
    known: IdMap<OpenAction>,
    pending: ByPlace,
    tools: Names<Untrusted>,
    queues: Names<Queue>,
    hasher: RandomState,
}

impl Open {
    pub(super) fn get(&self, id: &ActionId) -> Option<&OpenAction> {
        self.known.get(id)
    }

    /// Sets the stage after a decision from here, while the action is still listed.
    pub(super) fn decided(&mut self, id: &ActionId, again: bool, stage: Stage) {
        if let Some(known) = self.known.get_mut(id).filter(|it| !it.lost && it.ours.is_some() == again) {
            known.ours = Some(stage);
        }
    }

    pub(super) fn ids(&self) -> impl ExactSizeIterator<Item = &ActionId> {
        self.known.keys()
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &OpenAction> {
        self.known.values()
    }

    pub(super) fn pending(&self) -> &ByPlace {
        &self.pending
    }

    pub(super) fn tools(&self) -> &Names<Untrusted> {
        &self.tools
    }

    /// Returns all queues, also those beyond the ledger's maximum.
    pub(super) fn queues(&self) -> &Names<Queue> {
        &self.queues
    }

    pub(super) fn put(&mut self, row: &Row, queue: &Queue, place: QueueIndex) {
        let lost = row.status == Status::Unknown;
        if !lost {
            *self.pending.entry(place).or_default() += 1;
        }
        let known = OpenAction {
            place,
            tool: self.tools.number(&row.tool),
            queue: self.queues.number(queue),
            title: row.title.clone(),
            mission: row
                .mission
                .as_ref()
                .map(|mission| NonZero::new(self.hasher.hash_one(mission)).unwrap_or(NonZero::<u64>::MIN)),
            created: row.created_at,
            expires: row.expires_at,
            rank: row.risk.rank(),
            lost,
            ours: None,
        };
        match self.known.entry(row.id.clone()) {
            Entry::Vacant(new) => drop(new.insert(known)),
            Entry::Occupied(mut old) => {
                let ours = old.get().ours;
                let old = old.insert(OpenAction { ours, ..known });
                self.let_go(&old);
            }
        }
    }

    /// Removes an action. The name of its tool is valid until the next [`put`](Self::put).
    pub(super) fn take(&mut self, id: &ActionId) -> Option<OpenAction> {
        let known = self.known.remove(id)?;
        self.let_go(&known);
        Some(known)
    }

    fn let_go(&mut self, known: &OpenAction) {
        if !known.lost
            && let Some(count) = self.pending.get_mut(&known.place)
        {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.pending.remove(&known.place);
            }
        }
        self.tools.let_go(known.tool);
        self.queues.let_go(known.queue);
    }
}

/// Names as numbers, each stored once while an action uses it.
#[derive(Clone, Debug)]
pub(super) struct Names<T> {
    numbers: HashMap<T, Number, RandomState>,
    /// The last number, because similar rows come in sequence.
    last: Number,
    /// By number, with the number of actions that use it.
    used: Vec<(T, usize)>,
    free: Vec<Number>,
}

impl<T> Default for Names<T> {
    fn default() -> Self {
        Self { numbers: HashMap::default(), last: 0, used: Vec::new(), free: Vec::new() }
    }
}

impl<T: Clone + Eq + Hash> Names<T> {
    pub(super) fn get(&self, number: Number) -> Option<&T> {
        self.used.get(number as usize).map(|(name, _)| name)
    }

    /// Returns the names by number, including some that are no longer used.
    pub(super) fn all(&self) -> impl Iterator<Item = &T> {
        self.used.iter().map(|(name, _)| name)
    }

    fn number(&mut self, name: &T) -> Number {
        let last = self.used.get_mut(self.last as usize);
        if let Some((_, users)) = last.filter(|(known, users)| *users > 0 && known == name) {
            *users += 1;
            return self.last;
        }
        if let Some(number) = self.numbers.get(name).copied() {
            if let Some((_, users)) = self.used.get_mut(number as usize) {
                *users += 1;
            }
            self.last = number;
            return number;
        }
        let entry = (name.clone(), 1);
        let number = match self.free.pop() {
            Some(free) => {
                if let Some(place) = self.used.get_mut(free as usize) {
                    *place = entry;
                }
                free
            }
            None => {
                self.used.push(entry);
                Number::try_from(self.used.len() - 1).unwrap_or(Number::MAX)
            }
        };
        self.numbers.insert(name.clone(), number);
        number
    }

    /// Releases one use. The name is valid until its number is reused.
    fn let_go(&mut self, number: Number) {
        let Some((name, users)) = self.used.get_mut(number as usize) else { return };
        *users = users.saturating_sub(1);
        if *users == 0 {
            self.numbers.remove(name);
            self.free.push(number);
        }
    }
}
