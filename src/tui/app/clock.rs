//! What time it is, for messages: the guard times of keys, expiry, and the age of what is shown are measured by it.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::domain::Timestamp;

/// The moment now, for all threads.
///
/// It is the clock on the wall, which knows that the computer slept. Set back, that clock would freeze everything measured by it
/// until it has caught up, so from then on time goes on from where it was.
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
            // What is less than a millisecond is kept for the next time.
            Self { now: last.now.plus_millis(millis as i64), at: last.at + Duration::from_millis(millis) }
        };
        last.map(on).filter(|on| on.now >= wall).unwrap_or(Self { now: wall, at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_on_when_the_clock_is_set_back_and_jumps_ahead_after_a_sleep() {
        let (wall, at) = (Timestamp::from_millis, Instant::now());
        let second = |n: u64| at + Duration::from_secs(n);
        let began = Steady::after(None, wall(1_000_000), at);

        let back = Steady::after(Some(began), wall(400_000), second(1));
        let on = Steady::after(Some(back), wall(405_000), second(6));
        let slept = Steady::after(Some(on), wall(9_000_000), second(7));

        assert_eq!([back.now, on.now, slept.now], [wall(1_001_000), wall(1_006_000), wall(9_000_000)]);
    }
}
