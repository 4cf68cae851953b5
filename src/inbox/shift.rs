//! Summarises a shift: decisions from the journal, and queues from the kept minutes.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use serde::{Serialize, Serializer};

use crate::domain::{
    DecisionKind, Flow, KeptMinute, Minute, Outcome, SourceName, StagedCounts, Status, Timestamp, Untrusted,
};
use crate::journal::{Receipt, Sent, SubmissionRecord};

/// Minutes at either end that may be missing: the newest may not be kept yet, and the first may have begun before.
const EDGE: i64 = 2;
const HOUR: i64 = 60 * Minute::MILLIS;

/// The summary of a shift: counts, names of sources and tools, and reviewers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shift {
    pub from: Timestamp,
    /// The first moment after the shift.
    pub until: Timestamp,
    /// Distinct names from the journal.
    pub reviewers: Vec<Untrusted>,
    pub all: Decided,
    /// Most decisions first.
    pub sources: Vec<(SourceName, Decided)>,
    pub tools: Vec<(Untrusted, Decided)>,
    /// The median of milliseconds on screen before a decision, and the number of decisions with a known time.
    pub on_screen: Option<(i64, u64)>,
    /// Approved without being on screen.
    pub unopened: u64,
    /// Decisions without a receipt, so that it is unknown what was on screen.
    pub without_receipt: u64,
    /// The hour with the most decisions, and their number.
    pub busiest: Option<(Timestamp, u64)>,
    pub queues: Vec<Stood>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decided {
    /// Decisions that the source took.
    pub taken: StagedCounts,
    /// Settled by somebody else before.
    pub skipped: u64,
    pub failed: u64,
    pub unknown: u64,
    /// Approved, then failed.
    pub failed_after: u64,
    /// Approved actions with an unknown outcome.
    pub unknown_after: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stood {
    pub source: SourceName,
    pub arrived: u64,
    pub resolved: u64,
    /// Pending at the first and the last watched minute.
    pub first: u64,
    pub last: u64,
    /// Milliseconds.
    pub watched: i64,
    /// Gaps in watching, each with its first minute and the first minute after it.
    pub gaps: Vec<(Minute, Minute)>,
}

impl Decided {
    pub fn total(&self) -> u64 {
        self.taken.total() as u64 + self.skipped + self.failed + self.unknown
    }

    /// Returns counts of the decisions taken. Edited approvals count as approvals.
    pub fn taken(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let edited = self.taken.get(DecisionKind::ApproveWithEdits);
        self.taken.each().map(move |(kind, n)| {
            let n = if kind == DecisionKind::Approve { n + edited } else { n };
            (kind.words().landed, n as u64)
        })
    }

    fn count(&mut self, sent: &Sent) {
        match &sent.outcome {
            None | Some(Outcome::Unknown { .. }) => self.unknown += 1,
            Some(Outcome::Skipped { .. }) => self.skipped += 1,
            Some(Outcome::Failed { .. }) => self.failed += 1,
            Some(
                Outcome::Approved | Outcome::Rejected | Outcome::Accepted | Outcome::PartlyApproved { .. },
            ) => {
                let kind = sent.decision.kind();
                self.taken.add(kind);
                let ended = sent.followed.as_ref().filter(|_| kind.approves()).map(|seen| &seen.status);
                self.failed_after += u64::from(ended == Some(&Status::Failed));
                self.unknown_after += u64::from(ended == Some(&Status::Unknown));
            }
        }
    }
}

impl Serialize for Decided {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let others = [
            ("skipped", self.skipped),
            ("failed", self.failed),
            ("unknown", self.unknown),
            ("failedAfterApproval", self.failed_after),
            ("unknownAfterApproval", self.unknown_after),
        ];
        let camel = |word: &str| word.replace("_e", "E");
        to.collect_map(self.taken().chain(others).map(|(word, n)| (camel(word), n)))
    }
}

/// Counts submissions in any order.
#[derive(Debug)]
pub struct Counting {
    shift: Shift,
    zone: TimeZone,
    sources: BTreeMap<SourceName, Decided>,
    tools: BTreeMap<Untrusted, Decided>,
    hours: BTreeMap<Timestamp, u64>,
    dwells: Vec<i64>,
}

impl Counting {
    /// `zone` determines the hours.
    pub fn new(from: Timestamp, until: Timestamp, zone: TimeZone) -> Self {
        let shift = Shift { from, until, ..Shift::default() };
        let (sources, tools, hours) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { shift, zone, sources, tools, hours, dwells: Vec::new() }
    }

    /// Adds a submission of the shift with its receipts in order.
    pub fn add(&mut self, past: &SubmissionRecord, receipts: &[Receipt]) {
        let reviewer = past.reviewer.as_deref().unwrap_or_default();
        if !reviewer.is_empty() && !self.shift.reviewers.iter().any(|known| known.as_raw() == reviewer) {
            self.shift.reviewers.push(reviewer.into());
        }
        for sent in &past.items {
            self.shift.all.count(sent);
            self.sources.entry(sent.key.source.clone()).or_default().count(sent);
            self.tools.entry(sent.tool.clone()).or_default().count(sent);
            *self.hours.entry(hour(past.begun_at, &self.zone)).or_default() += 1;
            self.look(sent, sent.receipt(receipts));
        }
    }

    fn look(&mut self, sent: &Sent, receipt: Option<&Receipt>) {
        let Some(receipt) = receipt else {
            self.shift.without_receipt += 1;
            return;
        };
        let approves = sent.decision.kind().approves();
        match (receipt.seen.as_deref(), receipt.dwell_ms) {
            (Some("opened" | "in_full"), Some(millis)) => self.dwells.push(millis),
            (Some("opened" | "in_full"), None) => {}
            _ => self.shift.unopened += u64::from(approves),
        }
    }

    pub fn end(mut self, minutes: &[KeptMinute]) -> Shift {
        self.dwells.sort_unstable();
        let count = self.dwells.len();
        let median = self.dwells.get(count.saturating_sub(1) / 2);
        let busiest = self.hours.into_iter().rev().max_by_key(|(_, count)| *count);
        let (from, until) = (self.shift.from, self.shift.until);
        Shift {
            sources: most_first(self.sources),
            tools: most_first(self.tools),
            on_screen: median.map(|millis| (*millis, count as u64)),
            busiest,
            queues: stood(minutes, from, until),
            ..self.shift
        }
    }
}

fn most_first<T: Ord>(counts: BTreeMap<T, Decided>) -> Vec<(T, Decided)> {
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, decided)| std::cmp::Reverse(decided.total()));
    counts
}

/// Returns the start of the local hour.
fn hour(at: Timestamp, zone: &TimeZone) -> Timestamp {
    let instant = jiff::Timestamp::from_millisecond(at.as_millis()).unwrap_or_default();
    let offset = i64::from(zone.to_offset(instant).seconds()) * 1_000;
    let local = at.as_millis().saturating_add(offset);
    Timestamp::from_millis(local - local.rem_euclid(HOUR) - offset)
}

fn stood(minutes: &[KeptMinute], from: Timestamp, until: Timestamp) -> Vec<Stood> {
    let (first, end) = (Minute::of(from), Minute::of(until));
    let mut sources: BTreeMap<&SourceName, Vec<&KeptMinute>> = BTreeMap::new();
    for kept in minutes.iter().filter(|kept| (first..end).contains(&kept.minute)) {
        sources.entry(&kept.source).or_default().push(kept);
    }
    sources.into_iter().map(|(source, kept)| of_source(source, &kept, first, end)).collect()
}

/// `kept` is in order.
fn of_source(source: &SourceName, kept: &[&KeptMinute], first: Minute, end: Minute) -> Stood {
    let flows = || kept.iter().flat_map(|minute| &minute.queues).map(|queue| &queue.flow);
    let pending = |minute: &KeptMinute| minute.queues.iter().map(|queue| queue.pending).sum::<u64>();
    // Pending before the changes of that minute.
    let before = |minute: &&KeptMinute| {
        let of = |count: fn(&Flow) -> u64| minute.queues.iter().map(|it| count(&it.flow)).sum::<u64>();
        (pending(minute) + of(Flow::resolved)).saturating_sub(of(|flow| flow.arrived))
    };
    let mut gaps = Vec::new();
    let mut next = first;
    for minute in kept.iter().map(|minute| minute.minute).chain([end]) {
        if minute.number() - next.number() > EDGE {
            gaps.push((next, minute));
        }
        next = minute.plus(1);
    }
    Stood {
        source: source.clone(),
        arrived: flows().map(|flow| flow.arrived).sum(),
        resolved: flows().map(Flow::resolved).sum(),
        first: kept.first().map_or(0, before),
        last: kept.last().map_or(0, |minute| pending(minute)),
        watched: kept.iter().map(|minute| minute.watched).sum(),
        gaps,
    }
}

#[cfg(test)]
mod tests;
