//! Measures how long each line of a page was on screen. Scrolling past a line or reaching the end is not reading.

use std::collections::HashMap;
use std::ops::Range;

use crate::domain::{ActionKey, Digest, Seen, Timestamp};
use crate::tui::preview::page::made::Made;

use super::page::Page;

/// Shortest time to read a line. Milliseconds.
const SOONEST: i64 = 250;
/// Time to read a pane full of foreign text. Milliseconds.
const FULL_PANE: i64 = 1_000;
/// A longer time without a message is not counted: the process was stopped, or the machine slept. Milliseconds.
const GAP: i64 = 5_000;
/// Interval at which time is counted without other messages; less than [`GAP`], so that a reader who presses no key is
/// still counted. Milliseconds.
const LOOK: i64 = 4_000;

/// For each content, how long its lines were on screen, and the lines that are on screen now.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    contents: HashMap<ActionKey, Vec<(Made, Lines)>>,
    on: Option<Box<OnScreen>>,
    at: Timestamp,
}

/// The lines of a page that are on screen, and the time that reading the page takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OnScreen {
    pub what: Made,
    pub lines: Vec<Range<usize>>,
    /// Number of lines of the page; `None` while they are being counted.
    pub needed: Option<usize>,
    /// Time that each line needs. Milliseconds.
    pub each: i64,
    /// The page does not fit on the screen.
    pub is_part: bool,
}

/// Ranges of lines and their time in milliseconds, capped at the needed time. Sorted, without overlaps.
type Lines = Vec<(Range<usize>, i64)>;

/// Returns how long each line must be on screen, in a pane of `height` lines. Zero for a page that is read aloud.
pub(crate) fn time_for(page: &Page, height: usize) -> i64 {
    if page.of.stacked {
        return 0;
    }
    let foreign = (0..page.len()).filter(|line| page.is_foreign(*line)).take(height).count() as i64;
    (FULL_PANE * foreign / height.max(1) as i64).max(SOONEST)
}

impl Reading {
    /// Counts the time since the last call. Returns the content that has now been read, and whether in full.
    pub(crate) fn pass(&mut self, now: Timestamp) -> Option<(ActionKey, Digest, Seen)> {
        let passed = now.since(std::mem::replace(&mut self.at, now));
        let on = self.on.take()?;
        let passed = if passed <= GAP { passed.max(0) } else { 0 };
        for lines in &on.lines {
            self.add(&on.what, lines.clone(), passed, on.each);
        }
        let (key, digest) = (on.what.key.clone(), on.what.reads);
        // A content without lines needs its time on screen, too.
        if on.needed.is_some_and(|needed| self.unread(&on.what, needed.max(1), on.each).is_none()) {
            self.contents.remove(&key);
            return Some((key, digest, Seen::InFull));
        }
        let opened = on.is_part && self.done(&on) >= SOONEST;
        self.on = Some(on);
        opened.then_some((key, digest, Seen::Opened))
    }

    /// Sets the lines that are on screen. Returns the milliseconds until they count as read, or as opened.
    pub(crate) fn shows(&mut self, on: Option<OnScreen>, now: Timestamp) -> Option<i64> {
        self.at = now;
        self.on = on.map(Box::new);
        let on = self.on.as_ref()?;
        let done = self.done(on);
        let next = if on.is_part && done < SOONEST { SOONEST } else { on.each };
        Some(next - done).filter(|left| *left > 0)
    }

    fn done(&self, on: &OnScreen) -> i64 {
        on.lines.iter().map(|lines| self.least(&on.what, lines)).min().unwrap_or_default()
    }

    pub(crate) fn is_on_screen(&self, key: &ActionKey, digest: &Digest) -> bool {
        let is_it = |on: &OnScreen| on.what.key == *key && on.what.reads == *digest && !on.lines.is_empty();
        self.on.as_deref().is_some_and(is_it)
    }

    /// Returns the first of `total` lines that was on screen for less than `each` milliseconds.
    pub(crate) fn unread(&self, what: &Made, total: usize, each: i64) -> Option<usize> {
        let mut next = 0;
        for (lines, time) in self.lines(what) {
            if lines.start > next || *time < each {
                break;
            }
            next = lines.end;
        }
        (next < total).then_some(next)
    }

    fn lines(&self, what: &Made) -> &[(Range<usize>, i64)] {
        let known = self.contents.get(&what.key);
        known.and_then(|all| all.iter().find(|(known, _)| known == what)).map_or(&[], |(_, lines)| lines)
    }

    fn least(&self, what: &Made, lines: &Range<usize>) -> i64 {
        let (mut next, mut least) = (lines.start, i64::MAX);
        for (known, time) in self.lines(what).iter().filter(|(known, _)| known.end > lines.start) {
            if known.start > next || next >= lines.end {
                break;
            }
            (next, least) = (known.end, least.min(*time));
        }
        if next >= lines.end { least } else { 0 }
    }

    fn add(&mut self, what: &Made, lines: Range<usize>, time: i64, most: i64) {
        let all = self.contents.entry(what.key.clone()).or_default();
        match all.iter_mut().find(|(known, _)| known == what) {
            Some((_, known)) => *known = added(known, &lines, time, most),
            None => all.push((what.clone(), vec![(lines, time.min(most))])),
        }
    }
}

/// Adds `time` to these lines, up to `most`.
fn added(known: &Lines, new: &Range<usize>, time: i64, most: i64) -> Lines {
    let ends = known.iter().flat_map(|(lines, _)| [lines.start, lines.end]);
    let mut cuts: Vec<usize> = ends.chain([new.start, new.end]).collect();
    cuts.sort_unstable();
    cuts.dedup();
    let mut all: Lines = Vec::with_capacity(known.len() + 2);
    for (start, end) in cuts.iter().copied().zip(cuts.iter().copied().skip(1)) {
        let had = known.iter().find(|(lines, _)| lines.start <= start && end <= lines.end);
        let had = had.map(|(_, time)| *time);
        let is_new = new.start <= start && end <= new.end;
        let time = match (had, is_new) {
            (None, false) => continue,
            (Some(had), false) => had,
            (had, true) => had.unwrap_or_default().saturating_add(time).min(most),
        };
        match all.last_mut() {
            Some((last, same)) if last.end == start && *same == time => last.end = end,
            _ => all.push((start..end, time)),
        }
    }
    all
}

// Measures how long content was on screen while the reviewer was active. Receipts record it.

/// Without a key for this long, the reviewer counts as away. Milliseconds.
const IDLE: i64 = 60_000;
/// Counted time is saved at this interval, and when the content leaves the screen. Milliseconds.
const SAVE: i64 = 10_000;

/// The content on screen, and its time that is not saved yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReadingTime {
    on: Option<(ActionKey, Digest)>,
    at: Timestamp,
    /// The last key, click or paste; the start counts as one.
    touched: Option<Timestamp>,
    unsaved: i64,
}

/// A content, and the milliseconds on screen to add to it.
pub(crate) type TimeOnScreen = (ActionKey, Digest, i64);

impl ReadingTime {
    /// Counts the time since the last call. Returns the time to save, if it is due.
    pub(crate) fn pass(&mut self, now: Timestamp) -> Option<TimeOnScreen> {
        let from = std::mem::replace(&mut self.at, now);
        let awake = self.touched.get_or_insert(now).plus_millis(IDLE);
        let gap = now.since(from);
        if self.on.is_some() && gap <= GAP {
            self.unsaved += now.min(awake).since(from).max(0);
        }
        if self.unsaved >= SAVE { self.take() } else { None }
    }

    /// Returns when to count again; `None` if nothing is on screen or the reviewer is away.
    pub(crate) fn look_at(&self) -> Option<Timestamp> {
        let awake = self.touched.map(|at| at.plus_millis(IDLE));
        awake.filter(|awake| self.on.is_some() && self.at < *awake).map(|_| self.at.plus_millis(LOOK))
    }

    pub(crate) fn touch(&mut self, now: Timestamp) {
        self.touched = Some(now);
    }

    /// Sets the content that is on screen. Returns the unsaved time of the previous one.
    pub(crate) fn shows(&mut self, on: Option<(ActionKey, Digest)>) -> Option<TimeOnScreen> {
        if self.on == on {
            return None;
        }
        let before = self.take();
        self.on = on;
        before
    }

    fn take(&mut self) -> Option<TimeOnScreen> {
        let millis = std::mem::take(&mut self.unsaved);
        let (key, digest) = self.on.clone().filter(|_| millis > 0)?;
        Some((key, digest, millis))
    }
}

#[cfg(test)]
mod tests {
    use crate::domain::{ActionId, SourceName};
    use crate::tui::preview::page::made::Tab;

    use super::*;

    fn page() -> Made {
        let key = ActionKey { source: SourceName::new("s"), id: ActionId::new("1") };
        Made::pending(key, Digest::of("t", "w", "{}"), Tab::Rendered, 80)
    }

    fn on(lines: Range<usize>) -> OnScreen {
        OnScreen { what: page(), lines: vec![lines], needed: Some(10), each: 1_000, is_part: false }
    }

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    #[test]
    fn every_line_needs_its_time_summed_over_visits() {
        let mut reading = Reading::default();
        assert_eq!(reading.shows(Some(on(0..6)), at(0)), Some(1_000));
        assert_eq!(reading.pass(at(700)), None);
        assert_eq!(reading.shows(Some(on(4..10)), at(700)), Some(1_000), "six to nine were not there yet");
        assert_eq!(reading.pass(at(1_700)), None, "the first four lack 300 ms");
        assert_eq!(reading.unread(&page(), 10, 1_000), Some(0));
        reading.shows(None, at(1_700));
        assert_eq!(reading.pass(at(9_000)), None, "nothing was on screen");
        assert_eq!(reading.shows(Some(on(0..4)), at(9_000)), Some(300));
        assert_eq!(reading.pass(at(9_299)), None);
        assert!(reading.pass(at(9_300)).is_some());
    }

    #[test]
    fn partly_shown_content_is_opened_after_250_ms() {
        let mut reading = Reading::default();
        let part = OnScreen { is_part: true, ..on(0..6) };
        assert_eq!(reading.shows(Some(part.clone()), at(0)), Some(250));
        assert_eq!(reading.pass(at(249)), None);
        assert_eq!(reading.shows(Some(part), at(249)), Some(1));
        assert!(matches!(reading.pass(at(250)), Some((_, _, Seen::Opened))));
    }

    #[test]
    fn stopped_process_reads_nothing() {
        let mut reading = Reading::default();
        reading.shows(Some(on(0..10)), at(0));
        assert_eq!(reading.pass(at(60_000)), None);
        assert!(reading.pass(at(61_000)).is_some());
    }

    #[test]
    fn line_ranges_count_like_one_clock_per_line() {
        let mut random = crate::rounds::Random::seeded();
        for _ in 0..crate::rounds::rounds(300, 5_000) {
            let (mut lines, mut clocks) = (Lines::new(), [0_i64; 12]);
            for _ in 0..random.below(12) {
                let start = random.below(11);
                let new = start..start + 1 + random.below(12 - start - 1);
                let time = random.below(500) as i64;
                lines = added(&lines, &new, time, 1_000);
                for clock in &mut clocks[new] {
                    *clock = (*clock + time).min(1_000);
                }
            }
            for (line, clock) in clocks.into_iter().enumerate() {
                let counted = lines.iter().find(|(lines, _)| lines.contains(&line)).map_or(0, |it| it.1);
                assert_eq!(counted, clock, "line {line} of {lines:?}");
            }
        }
    }

    fn content(id: &str) -> (ActionKey, Digest) {
        let key = ActionKey { source: SourceName::new("s"), id: ActionId::new(id) };
        (key, Digest::of("t", "w", id))
    }

    /// Ticks every second from `from` to `to`. Returns the times to save.
    fn run(dwell: &mut ReadingTime, from: i64, to: i64) -> Vec<i64> {
        (from + 1..=to)
            .filter_map(|second| dwell.pass(Timestamp::from_millis(second * 1_000)))
            .map(|it| it.2)
            .collect()
    }

    #[test]
    fn time_on_screen_is_saved_periodically() {
        let mut dwell = ReadingTime::default();
        dwell.pass(Timestamp::from_millis(0));
        assert_eq!(dwell.shows(Some(content("1"))), None);

        assert_eq!(run(&mut dwell, 0, 25), [10_000, 10_000]);
        let (key, digest) = content("1");
        assert_eq!(dwell.shows(Some(content("2"))), Some((key, digest, 5_000)));
        assert_eq!(run(&mut dwell, 25, 29), [0; 0]);
        let (key, digest) = content("2");
        assert_eq!(dwell.shows(None), Some((key, digest, 4_000)));
        run(&mut dwell, 29, 50);
        assert_eq!(dwell.shows(Some(content("1"))), None, "nothing was on screen");
    }

    #[test]
    fn idle_reviewer_and_stopped_process_add_no_time() {
        let mut dwell = ReadingTime::default();
        dwell.pass(Timestamp::from_millis(0));
        dwell.shows(Some(content("1")));

        assert_eq!(run(&mut dwell, 0, 600).iter().sum::<i64>(), 60_000);
        dwell.touch(Timestamp::from_millis(600_000));
        assert_eq!(run(&mut dwell, 600, 610), [10_000]);
        dwell.touch(Timestamp::from_millis(610_000));
        assert_eq!(dwell.pass(Timestamp::from_millis(660_000)), None, "it was stopped meanwhile");
        assert_eq!(dwell.shows(None), None);
    }
}
