//! Counts of the list's rows, updated incrementally, because counting 100,000 rows for each change takes too long.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;

use crate::domain::{ActionKey, Capabilities, Entry, Risk, SourceName, Timestamp, Untrusted};

use super::slots::{CountsAs, Slot};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stats {
    pub pending: usize,
    pub unknown: usize,
    pub by_source: Vec<(SourceName, usize)>,
    /// Sorted by name, like `by_tool`.
    pub by_agent: Vec<(Untrusted, usize)>,
    pub by_tool: Vec<(Untrusted, usize)>,
    /// Low, medium, high (including unknown words), critical.
    pub risks: [usize; 4],
    pub oldest: Option<Timestamp>,
    /// When the next pending action expires.
    pub next_expiry: Option<Timestamp>,
    /// Missions that are blocked by a pending action.
    pub missions: usize,
    pub agents: usize,
}

impl Stats {
    /// Number of high, critical and unknown risks.
    pub(crate) fn high_risk(&self) -> usize {
        let [_, _, high, critical] = self.risks;
        high + critical
    }
}

/// Counts by kind. Kinds without rows are kept for a while.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    lost: usize,
    pending: usize,
    kinds: Kinds,
    /// Capabilities of the pending rows; usually all the same.
    cans: Vec<(Capabilities, usize)>,
    agents: BTreeMap<Untrusted, usize>,
    agents_of: HashMap<OfSource, usize, RandomState>,
    missions_of: HashMap<OfSource, usize, RandomState>,
    created: BTreeMap<Timestamp, usize>,
    expiries: BTreeMap<Timestamp, usize>,
}

/// Fields that many rows share, referred to by number because rows are large and scattered.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Kind {
    pub source: SourceName,
    pub tool: Untrusted,
    pub risk: Risk,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Kinds {
    all: Vec<(Kind, usize)>,
    numbers: HashMap<Kind, u32, RandomState>,
    /// The kind looked up last, because equal rows arrive together.
    last: u32,
}

impl Kinds {
    pub(crate) fn all(&self) -> impl ExactSizeIterator<Item = &Kind> + Clone {
        self.all.iter().map(|(kind, _)| kind)
    }

    fn number(&mut self, entry: &Entry) -> u32 {
        let (source, row) = (&entry.key.source, &entry.row);
        let is_it = |(kind, _): &(Kind, usize)| {
            kind.tool == row.tool && kind.risk == row.risk && kind.source == *source
        };
        if !self.all.get(self.last as usize).is_some_and(is_it) {
            let kind = Kind { source: source.clone(), tool: row.tool.clone(), risk: row.risk.clone() };
            self.last = *self.numbers.entry(kind).or_insert_with_key(|kind| {
                self.all.push((kind.clone(), 0));
                self.all.len() as u32 - 1
            });
        }
        self.last
    }

    fn change(&mut self, number: u32, by: isize) {
        if let Some((_, count)) = self.all.get_mut(number as usize) {
            *count = count.saturating_add_signed(by);
        }
    }

    fn counted<K: Ord>(&self, name: impl Fn(&Kind) -> K) -> BTreeMap<K, usize> {
        let mut counts = BTreeMap::new();
        for (kind, count) in self.all.iter().filter(|(_, count)| *count > 0) {
            *counts.entry(name(kind)).or_default() += count;
        }
        counts
    }
}

impl Tally {
    pub(crate) fn of(slots: &mut [Slot]) -> Self {
        let mut tally = Self::default();
        for slot in slots {
            tally.comes(slot);
        }
        tally
    }

    pub(crate) fn kinds(&self) -> &Kinds {
        &self.kinds
    }

    pub(crate) fn comes(&mut self, slot: &mut Slot) {
        slot.kind = self.kinds.number(&slot.entry);
        if let Some(counts) = slot.counts_as() {
            self.change(&slot.entry, slot.kind, counts, 1);
        }
    }

    pub(crate) fn leaves(&mut self, slot: &Slot) {
        if let Some(counts) = slot.counts_as() {
            self.change(&slot.entry, slot.kind, counts, -1);
        }
    }

    pub(crate) fn add(&mut self, entry: &Entry, counts: CountsAs) {
        let kind = self.kinds.number(entry);
        self.change(entry, kind, counts, 1);
    }

    pub(crate) fn take(&mut self, entry: &Entry, counts: CountsAs) {
        let kind = self.kinds.number(entry);
        self.change(entry, kind, counts, -1);
    }

    fn change(&mut self, entry: &Entry, kind: u32, counts: CountsAs, by: isize) {
        if counts == CountsAs::Lost {
            self.lost = self.lost.saturating_add_signed(by);
            return;
        }
        let (source, row) = (&entry.key.source, &entry.row);
        self.pending = self.pending.saturating_add_signed(by);
        self.kinds.change(kind, by);
        match self.cans.iter_mut().find(|(can, _)| *can == row.can) {
            Some((_, count)) => *count = count.saturating_add_signed(by),
            None => self.cans.push((row.can, by.unsigned_abs())),
        }
        self.cans.retain(|(_, count)| *count > 0);
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

    pub(crate) fn any_can(&self, is: impl Fn(&Capabilities) -> bool) -> bool {
        self.cans.iter().any(|(can, _)| is(can))
    }

    pub(crate) fn stats(&self) -> Stats {
        let mut risks = [0; 4];
        for (rank, count) in self.kinds.counted(|kind| kind.risk.rank()) {
            if let Some(risk) = risks.get_mut(usize::from(rank)) {
                *risk = count;
            }
        }
        let agents = self.agents.iter().map(|(name, count)| (name.clone(), *count));
        Stats {
            pending: self.pending,
            unknown: self.lost,
            by_source: self.kinds.counted(|kind| kind.source.clone()).into_iter().collect(),
            by_agent: agents.collect(),
            by_tool: self.kinds.counted(|kind| kind.tool.clone()).into_iter().collect(),
            risks,
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

fn change(
    counts: &mut HashMap<OfSource, usize, RandomState>,
    (source, name): (&SourceName, &Untrusted),
    by: isize,
) {
    let key = (source.clone(), name.clone());
    let count = counts.entry(key.clone()).or_default();
    *count = count.saturating_add_signed(by);
    if *count == 0 {
        counts.remove(&key);
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Marks {
    count: usize,
    /// Number of marks lost because their actions were settled.
    gone: usize,
    sums: OnceCell<MarkSums>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct MarkSums {
    pub hidden: usize,
    /// All of them if they are few.
    pub few: Vec<ActionKey>,
    /// The first 100 of them.
    pub some: Vec<ActionKey>,
    /// Tools and risks of the visible marked actions with their number, most harmful first.
    pub tools: Vec<(Untrusted, Risk, usize)>,
}

impl Marks {
    /// Resets the number of lost marks.
    pub(crate) fn begin(&mut self) {
        self.gone = 0;
    }

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

    /// Number of marks lost since marking began.
    pub(crate) const fn gone(&self) -> usize {
        self.gone
    }

    pub(crate) fn leaves(&mut self) {
        self.count = self.count.saturating_sub(1);
        self.gone += 1;
        self.sums.take();
    }

    pub(crate) fn changed(&mut self) {
        self.sums.take();
    }
}
