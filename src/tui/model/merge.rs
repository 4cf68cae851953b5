//! What a sync brings into the list: known rows change in place, new ones wait to come in, settled ones stay where they are.

use std::collections::HashSet;

use crate::domain::{ActionKey, Digest, Effect, Entry, Risk, Row, SourceName, Status, Timestamp, Untrusted};
use crate::inbox::Rows;

use super::{Queue, Settled, Slot, State};

/// What a sync changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// Content or label is another one now.
    pub changed: Vec<ActionKey>,
    /// Settled, and not by a decision of ours that is on its way; with who did it.
    pub settled: Vec<(ActionKey, Option<Untrusted>)>,
    pub arrived: usize,
    /// Actions became unknown.
    pub lost: bool,
    /// The source tells more of an action whose decision was lost sight of.
    pub lost_is_told: bool,
}

impl Queue {
    /// Takes what a sync brought: known rows change in place, new ones wait to come in.
    pub fn merge(&mut self, source: &SourceName, rows: Rows) -> Merged {
        let mut merged = Merged::default();
        match rows {
            Rows::All(entries) => {
                let listed: HashSet<ActionKey> = entries.iter().map(|entry| entry.key.clone()).collect();
                self.held.retain(|key, _| key.source != *source || listed.contains(key));
                let open =
                    self.slots.iter().filter(|slot| slot.entry.key.source == *source && slot.is_open());
                let gone = open.map(|slot| slot.entry.key.clone()).filter(|key| !listed.contains(key));
                for key in gone.collect::<Vec<_>>() {
                    self.settle(&key, None, &mut merged);
                }
                for entry in entries {
                    self.merge_one(entry, &mut merged);
                }
            }
            Rows::Changes { entries, gone } => {
                for entry in entries {
                    self.merge_one(entry, &mut merged);
                }
                for key in gone {
                    self.held.remove(&key);
                    self.settle(&key, None, &mut merged);
                }
            }
        }
        merged
    }

    fn merge_one(&mut self, entry: Entry, merged: &mut Merged) {
        let key = entry.key.clone();
        let lost = entry.row.status == Status::Unknown;
        let outstanding = lost || entry.row.status.is_pending();
        let Some(slot) = self.by_key.get(&key).and_then(|index| self.slots.get_mut(*index as usize)) else {
            if !outstanding {
                self.held.remove(&key);
            } else if self.held.insert(key, entry).is_none() {
                merged.arrived += 1;
            }
            return;
        };
        if !outstanding {
            self.settle(&key, Some(entry), merged);
            return;
        }
        if lost {
            self.lose(entry, merged);
            return;
        }
        if label(&slot.entry.row) != label(&entry.row) {
            merged.changed.push(key.clone());
        }
        // Some sources use an id again, for what waits anew.
        let anew = held_since(&slot.entry.row) != held_since(&entry.row);
        slot.entry = entry;
        // A settled row that is pending again: the source took the decision back, or never had it.
        let back = matches!(&slot.state, State::Settled(settled) if !settled.ours || anew);
        if back {
            self.set_state(&key, State::Pending);
        }
    }

    /// It ran, and nobody knows what became of it.
    fn lose(&mut self, entry: Entry, merged: &mut Merged) {
        let (key, by) = (entry.key.clone(), entry.row.resolved_by.clone());
        let Some(slot) = self.slot_mut(&key) else { return };
        slot.entry = entry;
        match slot.state {
            // The answer to our own submission comes in a moment.
            State::ToSettle | State::Sending => return,
            State::Pending | State::Held => merged.settled.push((key.clone(), by)),
            State::Unknown | State::Settled(_) => merged.changed.push(key.clone()),
        }
        merged.lost = true;
        self.set_state(&key, State::ToSettle);
    }

    fn slot_mut(&mut self, key: &ActionKey) -> Option<&mut Slot> {
        self.slots.get_mut(*self.by_key.get(key)? as usize)
    }

    fn settle(&mut self, key: &ActionKey, entry: Option<Entry>, merged: &mut Merged) {
        let Some(slot) = self.slot_mut(key) else { return };
        let row = entry.as_ref().map(|entry| &entry.row);
        let status: Option<Status> = row.map(|row| row.status.clone());
        let by = row.and_then(|row| row.resolved_by.clone());
        let at = row.and_then(|row| row.resolved_at);
        let row_is_known = row.is_some();
        if let Some(entry) = entry {
            slot.entry = entry;
        }
        match &slot.state {
            // The answer to our own submission says more, and comes in a moment.
            State::Sending => {}
            State::Settled(known) => {
                let status = status.or_else(|| known.status.clone());
                let state = State::Settled(Settled { status, ..known.clone() });
                self.set_state(key, state);
            }
            State::ToSettle => {
                // The row names who approved it, not who settled it.
                let settled = Settled { status, by: None, at, ours: false, error: None };
                self.set_state(key, State::Settled(settled));
                merged.settled.push((key.clone(), None));
            }
            // Whether that is our decision, reading tells; a row that is not listed tells nothing.
            State::Unknown => merged.lost_is_told |= row_is_known,
            State::Pending | State::Held => {
                let settled = Settled { status, by: by.clone(), at, ours: false, error: None };
                self.set_state(key, State::Settled(settled));
                merged.settled.push((key.clone(), by));
            }
        }
    }
}

/// Since when it waits. What cannot be read may have no time of its own.
fn held_since(row: &Row) -> Option<Timestamp> {
    row.unreadable.is_none().then_some(row.created_at)
}

/// What a list tells of the content and of the terms: another one, and what was on screen is not what there is.
fn label(row: &Row) -> Label<'_> {
    (row.digest, &row.title, &row.risk, row.effect.as_ref(), row.expires_at, held_since(row))
}

type Label<'a> =
    (Option<Digest>, &'a Untrusted, &'a Risk, Option<&'a Effect>, Option<Timestamp>, Option<Timestamp>);
