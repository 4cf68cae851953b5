//! What is pending at a source or waits to be settled there, so that counting 100,000 of them is quick: numbers stand for names, and
//! what is pending by queue is counted as they come and go.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasher as _, Hash};
use std::num::NonZero;

use foldhash::fast::RandomState;

use crate::domain::{ActionId, IdMap, Queue, Row, Status, Timestamp, Untrusted};

use super::ledger::{ByPlace, QueueIndex};
use super::stage::Stage;

/// Stands for a name.
pub(super) type Number = u32;

/// An action that is pending, or waits to be settled.
#[derive(Clone, Debug)]
pub(super) struct OpenAction {
    pub(super) place: QueueIndex,
    pub(super) tool: Number,
    pub(super) queue: Number,
    pub(super) title: Untrusted,
    /// A hash of its mission: only different ones are counted.
    pub(super) mission: Option<NonZero<u64>>,
    pub(super) created: Timestamp,
    pub(super) expires: Option<Timestamp>,
    pub(super) high: bool,
    /// Nobody knows what became of it.
    pub(super) lost: bool,
    /// What was decided from here and is not in the list yet.
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

    /// Decided from here as this, while it is still listed as it was.
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

    /// What is pending, by queue.
    pub(super) fn pending(&self) -> &ByPlace {
        &self.pending
    }

    pub(super) fn tools(&self) -> &Names<Untrusted> {
        &self.tools
    }

    /// All of them, however many.
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
            high: row.risk.is_high(),
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

    /// Its tool's name is known as long as nothing else is put.
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

/// Names that stand once, as numbers, as long as somebody uses them.
#[derive(Clone, Debug)]
pub(super) struct Names<T> {
    numbers: HashMap<T, Number, RandomState>,
    /// What was asked for last: rows that are alike come together.
    last: Number,
    /// By number; with how many actions use it.
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

    /// By number; some may be in use no more.
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

    /// The name stands until its number is given to another one.
    fn let_go(&mut self, number: Number) {
        let Some((name, users)) = self.used.get_mut(number as usize) else { return };
        *users = users.saturating_sub(1);
        if *users == 0 {
            self.numbers.remove(name);
            self.free.push(number);
        }
    }
}
