//! Finds actions that propose the same again: duplicates from an agent, or repetitions of an approved action.

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher as _, Hash, Hasher as _};

use foldhash::fast::FixedState;

use crate::contract::tool;
use crate::domain::time::age;
use crate::domain::{ActionKey, Digest, Entry, Row, SourceName, Status, Timestamp, Untrusted};
use crate::inbox::{DAY, Ran};

use super::slots::{RowId, Slot, Slots, State};
use crate::tui::queue::words;

/// Maximum number of rows compared per lookup.
const LOOKED_AT: usize = 64;

#[derive(Clone, Debug, Default)]
pub(crate) struct SameIndex {
    /// Pairs of a hash of title or digest and a row. Outdated pairs of changed rows remain; every hit is compared.
    listed: BTreeSet<(u32, RowId)>,
    /// Recently approved actions that have left the list.
    ran: HashMap<u64, Ran>,
}

/// An action of the same source that proposes the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Same {
    pub key: ActionKey,
    /// When it was approved; `None` while it is pending.
    pub approved: Option<Timestamp>,
    /// True if the whole input is equal; false if only the tool and the title that placet made of telling fields are.
    pub input: bool,
}

impl Same {
    pub(crate) const fn short(&self) -> &'static str {
        if self.approved.is_some() { words::SAME_AS_ONE_APPROVED } else { words::SAME_AS_ANOTHER }
    }

    pub(crate) fn told(&self, now: Timestamp) -> String {
        let what = if self.input { "input" } else { "title" };
        match self.approved {
            Some(at) => words::same_was_approved(what, &age(at, now)),
            None => words::same_is_pending(what),
        }
    }
}

pub(crate) struct Proposes<'a> {
    pub key: &'a ActionKey,
    pub workspace: Option<&'a Untrusted>,
    pub tool: &'a Untrusted,
    /// `None` if the title is too unspecific to compare.
    pub title: Option<&'a Untrusted>,
    pub digest: Option<Digest>,
}

impl<'a> Proposes<'a> {
    pub(crate) fn of(key: &'a ActionKey, row: &'a Row) -> Self {
        let (tool, title) = (&row.tool, &row.title);
        let tells = row.can.titled && tool::tells(tool, title);
        let (workspace, digest) = (row.workspace.as_ref(), row.digest);
        Self { key, workspace, tool, title: tells.then_some(title), digest }
    }

    /// Returns hashes of input and title; true for the input.
    fn hashes(&self) -> impl Iterator<Item = (bool, u64)> {
        let source = &self.key.source;
        let input = self.digest.map(|digest| (true, hash(source, self.tool, &digest)));
        let title = self.title.map(|title| (false, hash(source, self.tool, title)));
        [input, title].into_iter().flatten()
    }
}

fn hash(source: &SourceName, tool: &Untrusted, what: &impl Hash) -> u64 {
    // A fixed seed is enough: colliding titles cost at most `LOOKED_AT` comparisons.
    let mut hasher = FixedState::default().build_hasher();
    (source, tool).hash(&mut hasher);
    what.hash(&mut hasher);
    hasher.finish()
}

impl SameIndex {
    /// Adds a row that is new or proposes something else.
    pub(crate) fn put(&mut self, id: RowId, entry: &Entry) {
        let proposes = Proposes::of(&entry.key, &entry.row);
        self.listed.extend(proposes.hashes().map(|(_, hash)| (hash as u32, id)));
    }

    pub(crate) fn forget_removed(&mut self, slots: &Slots) {
        self.listed.retain(|(_, id)| slots.get(*id).is_some());
    }

    pub(crate) fn keep(&mut self, over: &[Slot]) {
        let approved = over.iter().filter_map(|slot| Some((slot, approved(slot)?)));
        let ran = approved.map(|(slot, at)| {
            let (key, row) = (slot.entry.key.clone(), &slot.entry.row);
            let (workspace, tool, title) = (row.workspace.clone(), row.tool.clone(), row.title.clone());
            Ran { key, workspace, tool, title, digest: row.digest, at }
        });
        self.add(ran.collect());
    }

    pub(crate) fn knows_none(&self) -> bool {
        self.ran.is_empty()
    }

    /// Remembers recently approved actions.
    pub(crate) fn add(&mut self, ran: Vec<Ran>) {
        let Some(newest) = ran.iter().map(|ran| ran.at).max() else { return };
        self.ran.retain(|_, ran| newest.since(ran.at) < DAY);
        for ran in ran {
            let source = &ran.key.source;
            let input = ran.digest.map(|digest| hash(source, &ran.tool, &digest));
            for hash in [Some(hash(source, &ran.tool, &ran.title)), input].into_iter().flatten() {
                let newest = self.ran.entry(hash).or_insert_with(|| ran.clone());
                if newest.at < ran.at {
                    newest.clone_from(&ran);
                }
            }
        }
    }

    /// Returns another action that proposes the same, if `counts` accepts it. One approved within a day comes before a
    /// pending one.
    pub(crate) fn find(
        &self,
        slots: &Slots,
        it: &Proposes<'_>,
        now: Timestamp,
        counts: impl Fn(&ActionKey) -> bool,
    ) -> Option<Same> {
        let found = it.hashes().flat_map(|(input, hash)| {
            let ran = self.ran.get(&hash).filter(|ran| {
                let same = if input { ran.digest == it.digest } else { Some(&ran.title) == it.title };
                let elsewhere = ran.workspace.is_some() && ran.workspace.as_ref() != it.workspace;
                same && !elsewhere && ran.tool == *it.tool && ran.key != *it.key && now.since(ran.at) < DAY
            });
            let ran = ran.map(|ran| Same { key: ran.key.clone(), approved: Some(ran.at), input });
            let short = hash as u32;
            let rows =
                self.listed.range((short, RowId::FIRST)..).take_while(move |(other, _)| *other == short);
            let rows = rows.take(LOOKED_AT);
            let rows = rows.filter_map(move |(_, id)| same_as(slots.get(*id)?, it, input, now));
            ran.into_iter().chain(rows)
        });
        found.filter(|same| counts(&same.key)).min_by_key(|same| (same.approved.is_none(), !same.input))
    }
}

fn approved(slot: &Slot) -> Option<Timestamp> {
    let row = &slot.entry.row;
    match &slot.state {
        State::Settled(settled) if settled.status.as_ref().is_some_and(|it| Status::RAN.contains(it)) => {
            Some(settled.at.or(row.resolved_at).unwrap_or(row.created_at))
        }
        State::Unknown | State::ToResolve => Some(row.resolved_at.unwrap_or(row.created_at)),
        _ => None,
    }
}

fn same_as(slot: &Slot, it: &Proposes<'_>, input: bool, now: Timestamp) -> Option<Same> {
    let (key, row) = (&slot.entry.key, &slot.entry.row);
    let other = Proposes::of(key, row);
    let same = if input { other.digest == it.digest } else { other.title == it.title };
    let is_another = key != it.key && key.source == it.key.source;
    if !same || !is_another || row.tool != *it.tool || other.workspace != it.workspace {
        return None;
    }
    let approved = approved(slot).filter(|at| now.since(*at) < DAY);
    (approved.is_some() || slot.counts_as_pending()).then(|| Same { key: key.clone(), approved, input })
}
