//! The time of messages, used for key guards, expiry, and ages on screen.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::domain::Timestamp;

/// Returns the current time, for all threads.
///
/// Uses the wall clock, which includes time that the computer slept. If it is set back, time continues from its last
/// value until the clock has caught up, because a clock that goes back would freeze every timer.
pub(crate) fn now() -> Timestamp {
    static STEADY: Mutex<Option<Steady>> = Mutex::new(None);
    let wall = Timestamp::from_millis(jiff::Timestamp::now().as_millisecond());
    let mut steady = STEADY.lock().unwrap_or_else(PoisonError::into_inner);
    let next = Steady::after(*steady, wall, Instant::now());
    steady.insert(next).now
}

#[derive(Clone, Copy, Debug)]
struct Steady {
    now: Timestamp,
    at: Instant,
}

impl Steady {
    fn after(last: Option<Self>, wall: Timestamp, at: Instant) -> Self {
        let on = |last: Self| {
            let millis = at.duration_since(last.at).as_millis() as u64;
            // The remainder below a millisecond counts next time.
            Self { now: last.now.plus_millis(millis as i64), at: last.at + Duration::from_millis(millis) }
        };
        last.map(on).filter(|on| on.now >= wall).unwrap_or(Self { now: wall, at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_never_goes_back_and_includes_sleep() {
        let (wall, at) = (Timestamp::from_millis, Instant::now());
        let second = |n: u64| at + Duration::from_secs(n);
        let began = Steady::after(None, wall(1_000_000), at);

        let back = Steady::after(Some(began), wall(400_000), second(1));
        let on = Steady::after(Some(back), wall(405_000), second(6));
        let slept = Steady::after(Some(on), wall(9_000_000), second(7));

        assert_eq!([back.now, on.now, slept.now], [wall(1_001_000), wall(1_006_000), wall(9_000_000)]);
    }
}
