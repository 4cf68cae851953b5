//! For how long a content has been on screen in front of somebody who works: kept for receipts.

use crate::domain::{ActionKey, Digest, Timestamp};

/// Without a key for so long, nobody is taken to be looking any more. Milliseconds.
const IDLE: i64 = 60_000;
/// No message came for longer: the process was stopped, or the machine slept. Milliseconds.
const GAP: i64 = 5_000;
/// What is counted is saved this often, and when the content leaves the screen. Milliseconds.
const SAVE: i64 = 10_000;

/// What is on screen, and what of it is not saved yet.
#[derive(Clone, Debug, Default)]
pub struct Dwell {
    on: Option<(ActionKey, Digest)>,
    /// Counted up to here.
    at: Timestamp,
    /// The last key, click or paste; the start is one.
    touched: Option<Timestamp>,
    unsaved: i64,
}

/// A content, and for how many milliseconds more it was on screen.
pub type Looked = (ActionKey, Digest, i64);

impl Dwell {
    /// Time passed with the screen as it was; gives what is to be saved by now.
    pub fn pass(&mut self, now: Timestamp) -> Option<Looked> {
        let from = std::mem::replace(&mut self.at, now);
        let awake = self.touched.get_or_insert(now).plus_millis(IDLE);
        let gap = now.since(from);
        if self.on.is_some() && gap <= GAP {
            self.unsaved += now.min(awake).since(from).max(0);
        }
        if self.unsaved >= SAVE { self.take() } else { None }
    }

    /// Somebody is there.
    pub fn touch(&mut self, now: Timestamp) {
        self.touched = Some(now);
    }

    /// This is on screen from now on; gives what is to be saved of what was before.
    pub fn shows(&mut self, on: Option<(ActionKey, Digest)>) -> Option<Looked> {
        if self.on == on {
            return None;
        }
        let before = self.take();
        self.on = on;
        before
    }

    fn take(&mut self) -> Option<Looked> {
        let millis = std::mem::take(&mut self.unsaved);
        let (key, digest) = self.on.clone().filter(|_| millis > 0)?;
        Some((key, digest, millis))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{ActionId, SourceName};

    fn on(id: &str) -> (ActionKey, Digest) {
        let key = ActionKey { source: SourceName::new("s"), id: ActionId::new(id) };
        (key, Digest::of("t", "w", id))
    }

    /// Ticks every second from `from` to `to`; what was given to be saved.
    fn run(dwell: &mut Dwell, from: i64, to: i64) -> Vec<i64> {
        (from + 1..=to)
            .filter_map(|second| dwell.pass(Timestamp::from_millis(second * 1_000)))
            .map(|it| it.2)
            .collect()
    }

    #[test]
    fn what_is_on_screen_is_counted_and_saved_now_and_then() {
        let mut dwell = Dwell::default();
        dwell.pass(Timestamp::from_millis(0));
        assert_eq!(dwell.shows(Some(on("1"))), None);

        assert_eq!(run(&mut dwell, 0, 25), [10_000, 10_000]);
        let (key, digest) = on("1");
        assert_eq!(dwell.shows(Some(on("2"))), Some((key, digest, 5_000)));
        assert_eq!(run(&mut dwell, 25, 29), [0; 0]);
        let (key, digest) = on("2");
        assert_eq!(dwell.shows(None), Some((key, digest, 4_000)));
        run(&mut dwell, 29, 50);
        assert_eq!(dwell.shows(Some(on("1"))), None, "nothing was on screen");
    }

    #[test]
    fn who_touches_nothing_for_a_minute_is_not_looking_and_a_stopped_process_shows_nothing() {
        let mut dwell = Dwell::default();
        dwell.pass(Timestamp::from_millis(0));
        dwell.shows(Some(on("1")));

        assert_eq!(run(&mut dwell, 0, 600).iter().sum::<i64>(), 60_000);
        dwell.touch(Timestamp::from_millis(600_000));
        assert_eq!(run(&mut dwell, 600, 610), [10_000]);
        dwell.touch(Timestamp::from_millis(610_000));
        assert_eq!(dwell.pass(Timestamp::from_millis(660_000)), None, "it was stopped meanwhile");
        assert_eq!(dwell.shows(None), None);
    }
}
