//! What is pending at a source or waits to be settled there, so that counting 100,000 of them is quick: numbers stand for names, and
//! what is pending by queue is counted as they come and go.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};

use crate::domain::{ActionId, Row, Status, Timestamp, Untrusted};

use super::ledger::Place;
use super::stage::Stage;

/// Stands for the name of a tool.
pub(super) type Tool = u32;

/// An action that is pending, or waits to be settled.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) place: Place,
    pub(super) tool: Tool,
    pub(super) title: Untrusted,
    /// A hash of its mission: only different ones are counted.
    pub(super) mission: Option<u64>,
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
    known: HashMap<ActionId, Known>,
    pending: HashMap<Place, u64>,
    numbers: HashMap<Untrusted, Tool>,
    /// By number; with how many actions use it.
    names: Vec<(Untrusted, usize)>,
    free: Vec<Tool>,
    hasher: RandomState,
}

impl Open {
    pub(super) fn get(&self, id: &ActionId) -> Option<&Known> {
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

    pub(super) fn all(&self) -> impl Iterator<Item = &Known> {
        self.known.values()
    }

    /// What is pending, by queue.
    pub(super) fn pending(&self) -> &HashMap<Place, u64> {
        &self.pending
    }

    pub(super) fn name(&self, tool: Tool) -> Untrusted {
        self.names.get(tool as usize).map(|(name, _)| name.clone()).unwrap_or_default()
    }

    /// So many numbers of tools are in use, or were.
    pub(super) fn tools(&self) -> usize {
        self.names.len()
    }

    pub(super) fn put(&mut self, row: &Row, place: Place) {
        let ours = self.take(&row.id).and_then(|known| known.ours);
        let lost = row.status == Status::Unknown;
        if !lost {
            *self.pending.entry(place).or_default() += 1;
        }
        let known = Known {
            place,
            tool: self.number(&row.tool),
            title: row.title.clone(),
            mission: row.mission.as_ref().map(|mission| self.hasher.hash_one(mission)),
            created: row.created_at,
            expires: row.expires_at,
            high: row.risk.is_high(),
            lost,
            ours,
        };
        self.known.insert(row.id.clone(), known);
    }

    /// Its tool's name is known as long as nothing else is put.
    pub(super) fn take(&mut self, id: &ActionId) -> Option<Known> {
        let known = self.known.remove(id)?;
        if !known.lost
            && let Some(count) = self.pending.get_mut(&known.place)
        {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.pending.remove(&known.place);
            }
        }
        if let Some((name, users)) = self.names.get_mut(known.tool as usize) {
            *users = users.saturating_sub(1);
            if *users == 0 {
                self.numbers.remove(name);
                self.free.push(known.tool);
            }
        }
        Some(known)
    }

    fn number(&mut self, name: &Untrusted) -> Tool {
        if let Some(number) = self.numbers.get(name).copied() {
            if let Some((_, users)) = self.names.get_mut(number as usize) {
                *users += 1;
            }
            return number;
        }
        let entry = (name.clone(), 1);
        let number = match self.free.pop() {
            Some(free) => {
                if let Some(place) = self.names.get_mut(free as usize) {
                    *place = entry;
                }
                free
            }
            None => {
                self.names.push(entry);
                Tool::try_from(self.names.len() - 1).unwrap_or(Tool::MAX)
            }
        };
        self.numbers.insert(name.clone(), number);
        number
    }
}
