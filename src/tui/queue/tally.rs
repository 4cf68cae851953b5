//! Counts of the list's rows, updated incrementally, because counting 100,000 rows for each change takes too long.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap, btree_map};
use std::ops::Bound;

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
    /// Missions, and agents without one, that are blocked by a pending action.
    pub waiting: usize,
}

/// Why a row comes first, most urgent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Urgency {
    Unknown,
    Expiring,
    /// The first row that a mission, or an agent without one, waits for.
    Blocking,
    Critical,
}

/// The mission that waits for an action, or else the agent.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Waiting {
    source: SourceName,
    is_mission: bool,
    name: Untrusted,
}

impl Waiting {
    pub(crate) fn of(Entry { key, row }: &Entry) -> Option<Self> {
        let name = row.mission.as_ref().or(row.agent.as_ref())?.clone();
        Some(Self { source: key.source.clone(), is_mission: row.mission.is_some(), name })
    }
}

impl Stats {
    pub(crate) fn high_risk(&self) -> usize {
        let [_, _, high, critical] = self.risks;
        high + critical
    }
}

/// Counts by kind. Kinds without rows are kept for a while.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    lost: usize,
    pub(crate) kinds: Kinds,
    /// Capabilities of the pending rows; usually equal.
    cans: Vec<(Capabilities, usize)>,
    agents: BTreeMap<(SourceName, Untrusted), usize>,
    waiting: BTreeMap<Waiting, usize>,
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
}

impl Kinds {
    pub(crate) fn all(&self) -> impl ExactSizeIterator<Item = &Kind> + Clone {
        self.all.iter().map(|(kind, _)| kind)
    }

    fn number(&mut self, Entry { key, row }: &Entry) -> u32 {
        let kind = Kind { source: key.source.clone(), tool: row.tool.clone(), risk: row.risk.clone() };
        let fresh = self.all.len() as u32;
        *self.numbers.entry(kind).or_insert_with_key(|kind| {
            self.all.push((kind.clone(), 0));
            fresh
        })
    }

    fn change(&mut self, number: u32, by: isize) {
        if let Some((_, count)) = self.all.get_mut(number as usize) {
            *count = count.saturating_add_signed(by);
        }
    }

    fn counted(&self) -> impl Iterator<Item = (&Kind, usize)> {
        self.all.iter().filter(|(_, count)| *count > 0).map(|(kind, count)| (kind, *count))
    }
}

impl Tally {
    pub(crate) fn of<'a>(slots: impl Iterator<Item = &'a mut Slot>) -> Self {
        let mut tally = Self::default();
        slots.for_each(|slot| tally.comes(slot));
        tally
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

    /// Counts an action that is not listed, or with `by` -1 no longer.
    pub(crate) fn count(&mut self, entry: &Entry, counts: CountsAs, by: isize) {
        let kind = self.kinds.number(entry);
        self.change(entry, kind, counts, by);
    }

    fn change(&mut self, entry: &Entry, kind: u32, counts: CountsAs, by: isize) {
        if counts == CountsAs::Lost {
            self.lost = self.lost.saturating_add_signed(by);
            return;
        }
        let (source, row) = (&entry.key.source, &entry.row);
        self.kinds.change(kind, by);
        match self.cans.iter_mut().find(|(can, _)| *can == row.can) {
            Some((_, count)) => *count = count.saturating_add_signed(by),
            None => self.cans.push((row.can, by.unsigned_abs())),
        }
        self.cans.retain(|(_, count)| *count > 0);
        change(&mut self.created, row.created_at, by);
        if let Some(agent) = &row.agent {
            change(&mut self.agents, (source.clone(), agent.clone()), by);
        }
        if let Some(waiting) = Waiting::of(entry) {
            change(&mut self.waiting, waiting, by);
        }
        self.expires(entry, counts, by);
    }

    pub(crate) fn waits_for(&self, unit: &Waiting) -> usize {
        self.waiting.get(unit).copied().unwrap_or_default()
    }

    /// Number of pending rows that expire after `now`, at the latest at `until`.
    pub(crate) fn expiring(&self, now: Timestamp, until: Timestamp) -> usize {
        let after = (Bound::Excluded(now), Bound::Included(until.max(now.plus_millis(1))));
        self.expiries.range(after).map(|(_, count)| count).sum()
    }

    pub(crate) fn expires(&mut self, entry: &Entry, counts: CountsAs, by: isize) {
        if let Some(at) = entry.row.expires_at.filter(|_| counts == CountsAs::Offered) {
            change(&mut self.expiries, at, by);
        }
    }

    /// Returns true if `is` holds for some pending action. Faster than looking at each row.
    pub(crate) fn any_can(&self, is: impl Fn(&Capabilities) -> bool) -> bool {
        self.cans.iter().any(|(can, _)| is(can))
    }

    pub(crate) fn stats(&self) -> Stats {
        let kinds = || self.kinds.counted();
        let mut risks = [0; 4];
        for (kind, count) in kinds() {
            if let Some(risk) = risks.get_mut(usize::from(kind.risk.rank())) {
                *risk += count;
            }
        }
        Stats {
            pending: kinds().map(|(_, count)| count).sum(),
            unknown: self.lost,
            by_source: sums(kinds().map(|(kind, count)| (&kind.source, count))),
            by_agent: sums(self.agents.iter().map(|((_, agent), count)| (agent, *count))),
            by_tool: sums(kinds().map(|(kind, count)| (&kind.tool, count))),
            risks,
            oldest: self.created.keys().next().copied(),
            next_expiry: self.expiries.keys().next().copied(),
            waiting: self.waiting.len(),
        }
    }
}

fn change<K: Ord>(counts: &mut BTreeMap<K, usize>, key: K, by: isize) {
    match counts.entry(key) {
        btree_map::Entry::Vacant(place) => drop(place.insert(by.unsigned_abs())),
        btree_map::Entry::Occupied(mut place) => match place.get().saturating_add_signed(by) {
            0 => drop(place.remove()),
            count => *place.get_mut() = count,
        },
    }
}

/// Adds up the counts of each name. Sorted by name.
fn sums<'a, K: Ord + Clone + 'a>(counts: impl Iterator<Item = (&'a K, usize)>) -> Vec<(K, usize)> {
    let mut sums = BTreeMap::new();
    counts.for_each(|(name, count)| *sums.entry(name).or_default() += count);
    sums.into_iter().map(|(name, count)| (name.clone(), count)).collect()
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
    /// Every one if there are few.
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
