//! What the rows of the list come to, kept up to date row by row: counting 100,000 anew takes too long for each change.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};

use crate::domain::{ActionKey, Capabilities, Entry, Risk, SourceName, Timestamp, Untrusted};

use super::slots::{CountsAs, Slot};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stats {
    pub pending: usize,
    /// Actions that ran, and nobody knows what became of them.
    pub unknown: usize,
    pub by_source: Vec<(SourceName, usize)>,
    /// In the order of their names, as is the next.
    pub by_agent: Vec<(Untrusted, usize)>,
    pub by_tool: Vec<(Untrusted, usize)>,
    /// Low, medium, high (and unknown words), critical.
    pub risks: [usize; 4],
    pub oldest: Option<Timestamp>,
    /// When the next action that is on offer expires.
    pub next_expiry: Option<Timestamp>,
    /// Different missions with a pending action: they wait until somebody decides.
    pub missions: usize,
    /// Different agents with a pending action.
    pub agents: usize,
}

impl Stats {
    /// High, critical, or a word this version does not know.
    pub(crate) fn high_risk(&self) -> usize {
        let [_, _, high, critical] = self.risks;
        high + critical
    }
}

/// With how many rows each has; without those that have none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    lost: usize,
    pending: usize,
    risks: [usize; 4],
    sources: Vec<(SourceName, usize)>,
    /// What may be done with those that are pending: mostly the same with all.
    cans: Vec<(Capabilities, usize)>,
    tools: BTreeMap<Untrusted, usize>,
    agents: BTreeMap<Untrusted, usize>,
    agents_of: HashMap<(SourceName, Untrusted), usize>,
    missions_of: HashMap<(SourceName, Untrusted), usize>,
    created: BTreeMap<Timestamp, usize>,
    expiries: BTreeMap<Timestamp, usize>,
}

impl Tally {
    pub(crate) fn comes(&mut self, slot: &Slot) {
        if let Some(counts) = slot.counts_as() {
            self.add(&slot.entry, counts);
        }
    }

    pub(crate) fn leaves(&mut self, slot: &Slot) {
        if let Some(counts) = slot.counts_as() {
            self.take(&slot.entry, counts);
        }
    }

    pub(crate) fn add(&mut self, entry: &Entry, counts: CountsAs) {
        self.change(entry, counts, 1);
    }

    pub(crate) fn take(&mut self, entry: &Entry, counts: CountsAs) {
        self.change(entry, counts, -1);
    }

    fn change(&mut self, entry: &Entry, counts: CountsAs, by: isize) {
        if counts == CountsAs::Lost {
            self.lost = self.lost.saturating_add_signed(by);
            return;
        }
        let (source, row) = (&entry.key.source, &entry.row);
        self.pending = self.pending.saturating_add_signed(by);
        if let Some(count) = self.risks.get_mut(usize::from(row.risk.rank())) {
            *count = count.saturating_add_signed(by);
        }
        match self.sources.iter_mut().find(|(name, _)| name == source) {
            Some((_, count)) => *count = count.saturating_add_signed(by),
            None => self.sources.push((source.clone(), by.unsigned_abs())),
        }
        match self.cans.iter_mut().find(|(can, _)| *can == row.can) {
            Some((_, count)) => *count = count.saturating_add_signed(by),
            None => self.cans.push((row.can, by.unsigned_abs())),
        }
        self.cans.retain(|(_, count)| *count > 0);
        change_sorted(&mut self.tools, &row.tool, by);
        change_sorted(&mut self.created, &row.created_at, by);
        if let Some(agent) = &row.agent {
            change_sorted(&mut self.agents, agent, by);
            change(&mut self.agents_of, (source, agent), by);
        }
        if let Some(mission) = &row.mission {
            change(&mut self.missions_of, (source, mission), by);
        }
        self.expires(entry, counts, by);
    }

    pub(crate) fn expires(&mut self, entry: &Entry, counts: CountsAs, by: isize) {
        if let Some(at) = entry.row.expires_at.filter(|_| counts == CountsAs::Offered) {
            change_sorted(&mut self.expiries, &at, by);
        }
    }

    /// Some pending action may be treated so.
    pub(crate) fn any_can(&self, is: impl Fn(&Capabilities) -> bool) -> bool {
        self.cans.iter().any(|(can, _)| is(can))
    }

    pub(crate) fn stats(&self) -> Stats {
        let named = |counts: &BTreeMap<Untrusted, usize>| {
            counts.iter().map(|(name, count)| (name.clone(), *count)).collect()
        };
        Stats {
            pending: self.pending,
            unknown: self.lost,
            by_source: self.sources.iter().filter(|(_, count)| *count > 0).cloned().collect(),
            by_agent: named(&self.agents),
            by_tool: named(&self.tools),
            risks: self.risks,
            oldest: self.created.keys().next().copied(),
            next_expiry: self.expiries.keys().next().copied(),
            missions: self.missions_of.len(),
            agents: self.agents_of.len(),
        }
    }
}

fn change_sorted<K: Clone + Ord>(counts: &mut BTreeMap<K, usize>, key: &K, by: isize) {
    match counts.get_mut(key) {
        Some(count) => {
            *count = count.saturating_add_signed(by);
            if *count == 0 {
                counts.remove(key);
            }
        }
        None => drop(counts.insert(key.clone(), by.unsigned_abs())),
    }
}

type OfSource = (SourceName, Untrusted);

fn change(counts: &mut HashMap<OfSource, usize>, (source, name): (&SourceName, &Untrusted), by: isize) {
    let key = (source.clone(), name.clone());
    let count = counts.entry(key.clone()).or_default();
    *count = count.saturating_add_signed(by);
    if *count == 0 {
        counts.remove(&key);
    }
}

/// How many actions are marked, and what they come to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marks {
    count: usize,
    /// So many marks went because their actions are settled.
    gone: usize,
    /// Made when it is asked for.
    sums: OnceCell<MarkSums>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct MarkSums {
    /// Those that the filter does not show.
    pub hidden: usize,
    /// All of them, where they are few.
    pub few: Vec<ActionKey>,
    /// Tools and risks of those that are shown, with how many actions each has; the most harmful first.
    pub tools: Vec<(Untrusted, Risk, usize)>,
}

impl Marks {
    /// Nothing is marked: what went before is of no interest any more.
    pub(crate) fn begin(&mut self) {
        self.gone = 0;
    }

    /// One more is marked, or one less.
    pub(crate) const fn turned(&mut self, marked: bool) {
        self.count = if marked { self.count + 1 } else { self.count.saturating_sub(1) };
    }

    pub(crate) fn sums(&self, count: impl FnOnce() -> MarkSums) -> &MarkSums {
        self.sums.get_or_init(count)
    }

    pub(crate) const fn len(&self) -> usize {
        self.count
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Marked actions that went because they are settled, since marking began.
    pub(crate) const fn gone(&self) -> usize {
        self.gone
    }

    /// One went with its action.
    pub(crate) fn leaves(&mut self) {
        self.count = self.count.saturating_sub(1);
        self.gone += 1;
        self.sums.take();
    }

    /// Others are shown, or none are marked any more.
    pub(crate) fn changed(&mut self) {
        self.sums.take();
    }
}
