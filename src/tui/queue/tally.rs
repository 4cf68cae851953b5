//! What the rows of the list come to, kept up to date row by row: counting 100,000 anew takes too long for each change.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;

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

/// How many rows there are of each. A kind that has none any more stays for a while.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    lost: usize,
    pending: usize,
    kinds: Kinds,
    /// What may be done with those that are pending: mostly the same with all.
    cans: Vec<(Capabilities, usize)>,
    agents: BTreeMap<Untrusted, usize>,
    agents_of: HashMap<OfSource, usize, RandomState>,
    missions_of: HashMap<OfSource, usize, RandomState>,
    created: BTreeMap<Timestamp, usize>,
    expiries: BTreeMap<Timestamp, usize>,
}

/// What many rows have in common, looked up by a number that stands with the row: rows are large, and far apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Kind {
    pub source: SourceName,
    pub tool: Untrusted,
    pub risk: Risk,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Kinds {
    /// With how many rows each has that count as pending.
    all: Vec<(Kind, usize)>,
    numbers: HashMap<Kind, u32, RandomState>,
    /// Asked for last: rows that are alike come together.
    last: u32,
}

impl Kinds {
    pub(crate) fn all(&self) -> impl ExactSizeIterator<Item = &Kind> {
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

    /// So many rows more, or fewer.
    fn change(&mut self, number: u32, by: isize) {
        if let Some((_, count)) = self.all.get_mut(number as usize) {
            *count = count.saturating_add_signed(by);
        }
    }

    /// How many rows there are by what `name` says of their kind.
    fn counted<K: Ord>(&self, name: impl Fn(&Kind) -> K) -> BTreeMap<K, usize> {
        let mut counts = BTreeMap::new();
        for (kind, count) in self.all.iter().filter(|(_, count)| *count > 0) {
            *counts.entry(name(kind)).or_default() += count;
        }
        counts
    }
}

impl Tally {
    /// Of all these.
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

    /// One that came.
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

    /// Some pending action may be treated so.
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
