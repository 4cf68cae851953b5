//! Derives rates, sparklines and growth from the minutes of a ledger.

use std::collections::HashMap;

use crate::domain::{Flow, LastMinute, Minute, Rate, Timestamp};

use super::BoardRequest;
use super::ledger::{ByPlace, Ledger, QueueIndex, Slot};

/// Minutes in a rate, with the current one.
const RATE: i64 = 15;
const GROWTH: usize = 240;
/// Minutes back for rates and growth.
#[expect(clippy::cast_possible_truncation, reason = "small constants")]
pub(super) const BACK: u32 = GROWTH as u32 + RATE as u32;
/// Minutes for which failures after approval are shown, regardless of the window.
const FAILED: i64 = 60;
/// Minutes that may have begun since a source sent its counts.
const FRESH: usize = 3;
/// Shortest watched time for a rate, in milliseconds.
const LEAST: i64 = Minute::MILLIS;
/// Shortest watched part of the last minute, in milliseconds.
const HALF: i64 = Minute::MILLIS / 2;
/// Minutes for which growing or clearing must last, with the current one.
const LATELY: usize = 3;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Reading {
    /// In the window.
    pub(super) flow: Flow,
    pub(super) rate: Option<Rate>,
    /// The last full minute; `None` if it was not watched.
    pub(super) last: Option<LastMinute>,
    /// Arrivals less resolutions in the last three known minutes; `None` without a known one in the last 15.
    pub(super) lately: Option<i64>,
    /// Pending at the end of each part of the window; the last one is now.
    pub(super) spark: Vec<Option<u64>>,
    pub(super) arrivals: Vec<Option<u64>>,
    pub(super) resolves: Vec<Option<u64>>,
    /// Failures after approval in the last hour.
    pub(super) failed_lately: u64,
    /// For this many minutes, more came than went in the 15 minutes before each.
    pub(super) growing_for: u32,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Readings {
    pub(super) all: Reading,
    pub(super) queues: HashMap<QueueIndex, Reading>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    first: Minute,
    last: Minute,
    /// Minutes in a part.
    per: i64,
    pub(super) parts: usize,
}

impl Cut {
    pub(super) fn of(ask: BoardRequest, now: Timestamp) -> Self {
        let window = i64::from(ask.window.max(1));
        let columns = i64::try_from(ask.columns.max(1)).unwrap_or(i64::MAX);
        let per = (window + columns - 1) / columns;
        let parts = (window + per - 1) / per;
        let last = Minute::of(now);
        Self { first: last.plus(1 - window), last, per, parts: usize::try_from(parts).unwrap_or(1) }
    }

    /// Returns the part of a minute. The last part ends now, and the first may be shorter.
    fn part(&self, minute: Minute) -> usize {
        let back = self.last.number() - minute.number();
        let part = usize::try_from(back / self.per).unwrap_or(usize::MAX);
        self.parts.saturating_sub(1).saturating_sub(part)
    }
}

/// Reads a ledger. `pending` holds the current counts of its queues, `in_all` the count of all.
pub(super) fn read(
    ledger: &Ledger,
    pending: &ByPlace,
    in_all: u64,
    ask: BoardRequest,
    now: Timestamp,
) -> Readings {
    let cut = Cut::of(ask, now);
    let known = ledger.minutes.values().flat_map(|slot| slot.cells.keys()).chain(pending.keys());
    let mut makers: HashMap<QueueIndex, Maker> = known.map(|place| (*place, Maker::new(cut))).collect();
    let mut all = Maker::new(cut);
    let from = cut.first.min(cut.last.plus(1 - RATE)).min(cut.last.plus(-(GROWTH as i64) - RATE));
    for (minute, slot) in ledger.minutes.range(from..=cut.last) {
        let (mut sum, mut left) = (Flow::default(), 0);
        for (place, maker) in &mut makers {
            let cell = slot.cells.get(place).copied().unwrap_or_default();
            maker.take(*minute, slot, &cell.flow, cell.pending);
            sum = sum.plus(&cell.flow);
            left += cell.pending;
        }
        all.take(*minute, slot, &sum, left);
    }
    let now_in = |place: &QueueIndex| pending.get(place).copied().unwrap_or_default();
    let queues = makers.into_iter().map(|(place, maker)| (place, maker.made(now_in(&place)))).collect();
    Readings { all: all.made(in_all), queues }
}

struct Maker {
    cut: Cut,
    reading: Reading,
    rate: Rate,
    /// Arrivals less resolutions by minutes back from now; `None` if not watched.
    nets: Vec<Option<i64>>,
    /// Watched milliseconds by minutes back from now.
    watched: Vec<i64>,
}

impl Maker {
    fn new(cut: Cut) -> Self {
        let none = || vec![None; cut.parts];
        let reading = Reading { spark: none(), arrivals: none(), resolves: none(), ..Reading::default() };
        let nets = vec![None; GROWTH + RATE as usize];
        let watched = vec![0; nets.len()];
        Self { cut, reading, rate: Rate { arrived: 0, resolved: 0, over: 0 }, nets, watched }
    }

    fn take(&mut self, minute: Minute, slot: &Slot, flow: &Flow, pending: u64) {
        let back = self.cut.last.number() - minute.number();
        if back < FAILED {
            self.reading.failed_lately += flow.failed;
        }
        // Arrivals in a time that was not watched do not count for the rate.
        if back < RATE && (slot.watched > 0 || back == 0) {
            self.rate.arrived += flow.arrived;
            self.rate.resolved += flow.resolved();
            self.rate.over += slot.watched;
        }
        if back == 1 && slot.watched >= HALF {
            self.reading.last = Some(LastMinute { arrived: flow.arrived, resolved: flow.resolved() });
        }
        let net = flow.arrived.cast_signed() - flow.resolved().cast_signed();
        if let Some(of) = usize::try_from(back).ok().and_then(|back| self.nets.get_mut(back)) {
            *of = (slot.watched > 0).then_some(net);
        }
        if let Some(of) = usize::try_from(back).ok().and_then(|back| self.watched.get_mut(back)) {
            *of = slot.watched;
        }
        if minute < self.cut.first {
            return;
        }
        self.reading.flow = self.reading.flow.plus(flow);
        let part = self.cut.part(minute);
        let count = |of: Option<&mut Option<u64>>, more: u64| {
            if let Some(of) = of.filter(|of| slot.watched > 0 || of.is_some()) {
                *of = Some(of.unwrap_or_default() + more);
            }
        };
        count(self.reading.arrivals.get_mut(part), flow.arrived);
        count(self.reading.resolves.get_mut(part), flow.resolved());
        if let Some(of) = self.reading.spark.get_mut(part).filter(|_| slot.ended) {
            *of = Some(pending);
        }
    }

    fn made(mut self, pending: u64) -> Reading {
        if let Some(now) = self.reading.spark.last_mut() {
            *now = Some(pending);
        }
        self.reading.rate = (self.rate.over >= LEAST).then_some(self.rate);
        let known = self.nets.iter().position(Option::is_some);
        // The current minute may have just begun. Arrivals since the last look are unknown before that.
        let ends = known.map(|known| if known > 1 { known } else { 0 }).filter(|ends| *ends < RATE as usize);
        self.reading.lately = ends.map(|ends| self.nets.iter().skip(ends).take(LATELY).flatten().sum());
        // Minutes that have just begun count as unchanged.
        if let Some(known) = known.filter(|known| *known <= FRESH) {
            self.nets.iter_mut().take(known).for_each(|net| *net = Some(0));
        }
        let grew = |minutes: &[Option<i64>]| {
            let watched = minutes.first().is_some_and(Option::is_some);
            watched && minutes.iter().flatten().sum::<i64>() > 0
        };
        let growing = self.nets.windows(RATE as usize).take_while(|minutes| grew(minutes)).count();
        let watched = self.watched.iter().take(growing).sum::<i64>() / Minute::MILLIS;
        self.reading.growing_for = u32::try_from(watched).unwrap_or(u32::MAX);
        self.reading
    }
}
