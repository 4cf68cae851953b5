//! Makes the board from the figures of all sources.

use std::collections::HashMap;
use std::time::Duration;

use super::alerts;
use super::decided::quantile;
use super::ledger::{ByPlace, Ledger, QueueIndex};
use super::reading::{self, Reading};
use super::source::SourceFigures;
use super::sums::{self, Sums};
use super::{
    Ages, Board, BoardRequest, Figures, Queue, QueueLine, ReviewerLine, SourceBoard, Standing, ToolLine,
};
use crate::domain::{Flow, LastMinute, Minute, QueueState, Rate, Timestamp, ToolDecided, Trend, Untrusted};

/// Time span of the total rate of several sources.
const QUARTER: i64 = 15 * Minute::MILLIS;
const MINUTES: [i64; 4] = [5, 15, 60, 240];

impl Figures {
    /// Returns all figures at this moment. Takes time in proportion to the pending actions.
    pub fn board(&self, ask: BoardRequest, now: Timestamp) -> Board {
        self.assembled(ask, true, now)
    }

    /// Like [`board`](Self::board), without the sources' own counts, so that requesting them, as the watch view does,
    /// does not change it.
    pub fn board_as_seen(&self, ask: BoardRequest, now: Timestamp) -> Board {
        self.assembled(ask, false, now)
    }

    fn assembled(&self, ask: BoardRequest, believed: bool, now: Timestamp) -> Board {
        let ask = BoardRequest { window: ask.window.clamp(1, Self::LONGEST), ..ask };
        let mut board = Board { at: now, window: ask.window, edits_told: true, ..Board::default() };
        let (mut readings, mut ages, mut tools) = (Vec::new(), Vec::new(), Tools::default());
        let (mut reviewers, mut groups) = (Vec::new(), Vec::new());
        for source in &self.sources {
            let mut sums = Sums::of(&source.open, &self.targets, &self.queue_targets, now);
            let (mut line, reading) = self.source_board(source, &mut sums, (ask, believed), now);
            let decided = source.decided(ask.window, believed, now);
            line.truncated = decided.truncated;
            board.edits_told &= decided.edits_told || reading.flow.approved == 0;
            board.alerts.extend(alerts::of(source, &line, &sums, reading.failed_lately, &self.targets, now));
            // A run with an unknown outcome that a person resolved counts by the resolution.
            let unknown = reading.flow.unknown.min(line.standing.unknown);
            board.outcomes = board.outcomes.plus(&Flow { unknown, ..reading.flow });
            board.sources.push(line);
            if source.heard.is_some() {
                readings.push(reading);
            }
            ages.append(&mut sums.ages);
            tools.take(sums.tools, decided.tools);
            let line = |decider| ReviewerLine { source: source.name.clone(), decider };
            reviewers.extend(decided.reviewers.into_iter().map(line));
            groups.extend(decided.groups.into_iter().map(line));
        }
        board.alerts.sort_by_key(|alert| alert.kind);
        board.total = total(&board.sources, &readings);
        board.tools = tools.told();
        board.ages = self.ages(&mut ages, board.total.over_target);
        board.reviewers = self.reviewers.then(|| busiest_first(reviewers));
        board.groups = self.groups.then(|| busiest_first(groups));
        board.events = self.events.iter().cloned().collect();
        board
    }

    fn source_board(
        &self,
        source: &SourceFigures,
        sums: &mut Sums,
        (ask, believed): (BoardRequest, bool),
        now: Timestamp,
    ) -> (SourceBoard, Reading) {
        let (ledger, clock) = source.ledger(believed, now);
        let mut lines = folded(source.open.queues().all().cloned(), std::mem::take(&mut sums.queues), ledger);
        let mut all = Standing::default();
        for line in lines.values() {
            all.add(line);
        }
        let mut readings = reading::read(ledger, &by_place(&lines, ledger), all.pending, ask, clock);
        let stale = source.is_stale(&self.targets, now);
        let is_there = source.heard.is_some_and(|heard| !stale || now.since(heard) < Trend::LEAST);
        readings.all.lately = readings.all.lately.filter(|_| is_there);
        all.take(&readings.all, is_there);
        let target = |queue: &Queue| sums::target(queue, &self.targets, &self.queue_targets);
        let queues = queues(&mut lines, ledger, (readings.queues, is_there), target);
        let board = SourceBoard {
            name: source.name.clone(),
            standing: all,
            connection: source.connection.clone(),
            connected_at: source.connected_at,
            heard: source.heard,
            stale,
            cut: source.cut,
            truncated: false,
            paused: source.paused,
            blocked: source.blocked.unwrap_or(sums.missions),
            queues,
        };
        (board, readings.all)
    }

    fn ages(&self, ages: &mut [i64], over_target: u64) -> Ages {
        let mut counts = [0; 5];
        for age in &*ages {
            let bucket = MINUTES.iter().filter(|limit| *age >= **limit * Minute::MILLIS).count();
            if let Some(count) = counts.get_mut(bucket) {
                *count += 1;
            }
        }
        let target = millis(self.targets.age);
        Ages { counts, median: quantile(ages, 50), p90: quantile(ages, 90), target, over_target }
    }
}

fn millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}

fn busiest_first(mut lines: Vec<ReviewerLine>) -> Vec<ReviewerLine> {
    let decided = |line: &ReviewerLine| line.decider.approved + line.decider.rejected;
    lines.sort_by(|a, b| decided(b).cmp(&decided(a)).then_with(|| a.decider.name.cmp(&b.decider.name)));
    lines
}

/// Groups queues as a ledger does: its known queues, new ones up to the maximum, and the rest together.
fn folded(
    names: impl Iterator<Item = Queue>,
    sums: Vec<Standing>,
    ledger: &Ledger,
) -> HashMap<Queue, Standing> {
    let mut lines: HashMap<Queue, Standing> = HashMap::new();
    let used = names.zip(sums).filter(|(_, line)| line.pending + line.unknown > 0);
    let (known, new): (Vec<_>, Vec<_>) = used.partition(|(queue, _)| ledger.place_of(queue).is_some());
    let mut room = Queue::MOST.saturating_sub(ledger.queues().count() - 1);
    for (queue, line) in known.into_iter().map(|it| (it.0, it.1)) {
        lines.insert(queue, line);
    }
    for (queue, line) in new {
        let place = if room > 0 { queue } else { Queue::Rest };
        room = room.saturating_sub(1);
        lines.entry(place).or_default().add(&line);
    }
    lines
}

impl Standing {
    fn add(&mut self, other: &Self) {
        self.pending += other.pending;
        self.high += other.high;
        self.unknown += other.unknown;
        self.over_target += other.over_target;
        self.oldest = self.oldest.into_iter().chain(other.oldest).min();
    }

    /// `is_there`: the source has been heard recently.
    fn take(&mut self, reading: &Reading, is_there: bool) {
        (self.rate, self.last) = (reading.rate, reading.last);
        self.goes(reading.lately, is_there);
        self.spark.clone_from(&reading.spark);
        self.arrivals.clone_from(&reading.arrivals);
        self.resolves.clone_from(&reading.resolves);
        self.growing_for = if self.trend == Trend::Growing { reading.growing_for } else { 0 };
    }

    /// Sets trend and state from the rate and from arrivals less resolutions in the last three minutes.
    fn goes(&mut self, lately: Option<i64>, is_there: bool) {
        let trend = Trend::of(self.pending, self.rate.as_ref(), lately);
        self.trend = if is_there { trend } else { Trend::NotKnown };
        self.state = if is_there { QueueState::of(self.trend, self.over_target) } else { QueueState::NoData };
    }
}

fn total(sources: &[SourceBoard], readings: &[Reading]) -> Standing {
    let mut total = Standing::default();
    for source in sources {
        total.add(&source.standing);
    }
    let rates: Vec<Rate> = readings.iter().filter_map(|reading| reading.rate).collect();
    total.rate = match rates.as_slice() {
        [] => None,
        [only] => Some(*only),
        // The sources were watched for different times.
        many => Some(Rate {
            arrived: many.iter().map(|rate| over_a_quarter(rate.arrived, rate.over)).sum(),
            resolved: many.iter().map(|rate| over_a_quarter(rate.resolved, rate.over)).sum(),
            over: QUARTER,
        }),
    };
    let last = readings.iter().filter_map(|reading| reading.last);
    total.last =
        last.reduce(|a, b| LastMinute { arrived: a.arrived + b.arrived, resolved: a.resolved + b.resolved });
    let is_there = sources.iter().any(|source| source.standing.state != QueueState::NoData);
    let watched = rates.iter().map(|rate| rate.over).max().unwrap_or_default();
    let lately = readings.iter().filter_map(|reading| reading.lately).reduce(|a, b| a + b);
    total.goes(lately.filter(|_| watched >= Trend::LEAST), is_there);
    total.spark = summed(readings.iter().map(|reading| &reading.spark));
    total.arrivals = summed(readings.iter().map(|reading| &reading.arrivals));
    total.resolves = summed(readings.iter().map(|reading| &reading.resolves));
    total.growing_for = sources.iter().map(|source| source.standing.growing_for).max().unwrap_or_default();
    total
}

fn over_a_quarter(count: u64, over: i64) -> u64 {
    let over = over.max(1).unsigned_abs();
    (count * QUARTER.unsigned_abs() + over / 2) / over
}

fn by_place(lines: &HashMap<Queue, Standing>, ledger: &Ledger) -> ByPlace {
    let places = ledger.queues().filter_map(|(queue, place)| {
        let pending = lines.get(queue)?.pending;
        (pending > 0).then_some((place, pending))
    });
    places.collect()
}

/// Returns queues, most pending first, without empty queues that were idle in the window.
fn queues(
    lines: &mut HashMap<Queue, Standing>,
    ledger: &Ledger,
    (mut readings, is_there): (HashMap<QueueIndex, Reading>, bool),
    target: impl Fn(&Queue) -> Duration,
) -> Vec<QueueLine> {
    let target = |queue: &Queue| millis(target(queue));
    let mut queues: Vec<QueueLine> = Vec::new();
    for (queue, place) in ledger.queues() {
        let reading = readings.remove(&place).unwrap_or_default();
        let line = lines.remove(queue);
        if line.is_none() && reading.flow.is_nothing() {
            continue;
        }
        let mut standing = line.unwrap_or_default();
        standing.take(&reading, is_there);
        queues.push(QueueLine { queue: queue.clone(), target: target(queue), standing });
    }
    // A new queue is in no minute yet.
    queues.extend(lines.drain().map(|(queue, mut standing)| {
        standing.take(&Reading::default(), is_there);
        QueueLine { target: target(&queue), queue, standing }
    }));
    queues.sort_by(|a, b| {
        let pending = b.standing.pending.cmp(&a.standing.pending);
        pending.then_with(|| b.standing.unknown.cmp(&a.standing.unknown)).then_with(|| a.queue.cmp(&b.queue))
    });
    queues
}

/// Adds series part by part; `None` if one of them is unknown.
fn summed<'a>(series: impl Iterator<Item = &'a Vec<Option<u64>>>) -> Vec<Option<u64>> {
    let mut sum: Option<Vec<Option<u64>>> = None;
    for values in series {
        sum = Some(match sum {
            None => values.clone(),
            Some(sum) => sum.into_iter().zip(values).map(|(a, b)| Some(a? + (*b)?)).collect(),
        });
    }
    sum.unwrap_or_default()
}

#[derive(Default)]
struct Tools(HashMap<Untrusted, ToolLine>);

impl Tools {
    fn line(&mut self, tool: &Untrusted) -> &mut ToolLine {
        let none = || ToolLine { tool: tool.clone(), ..ToolLine::default() };
        self.0.entry(tool.clone()).or_insert_with(none)
    }

    fn take(&mut self, open: Vec<ToolLine>, decided: Vec<ToolDecided>) {
        for more in open {
            let line = self.line(&more.tool);
            line.pending += more.pending;
            line.high += more.high;
            line.oldest = line.oldest.into_iter().chain(more.oldest).min();
        }
        for more in decided {
            let line = self.line(&more.tool);
            line.decided = Some(match line.decided.take() {
                None => more,
                Some(known) => ToolDecided {
                    approved: known.approved + more.approved,
                    edited: known.edited.and_then(|edited| Some(edited + more.edited?)),
                    rejected: known.rejected + more.rejected,
                    failed: known.failed + more.failed,
                    tool: known.tool,
                },
            });
        }
    }

    fn told(self) -> Vec<ToolLine> {
        let mut tools: Vec<ToolLine> = self.0.into_values().collect();
        let decided = |line: &ToolLine| line.decided.as_ref().map_or(0, |it| it.approved + it.rejected);
        tools.sort_by(|a, b| {
            let pending = b.pending.cmp(&a.pending);
            pending.then_with(|| decided(b).cmp(&decided(a))).then_with(|| a.tool.cmp(&b.tool))
        });
        tools
    }
}
