//! How long to wait before trying again: doubling, capped, with full jitter, so that many clients do not come back at once.

use std::time::Duration;

/// The waits of one connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The longest first wait.
    base: Duration,
    /// The longest wait at all.
    cap: Duration,
    tries: u32,
}

impl Backoff {
    pub const fn new(base: Duration, cap: Duration) -> Self {
        Self { base, cap, tries: 0 }
    }

    /// The next wait: `dice`, from 0 to 1, times the base doubled with every try, never more than the cap.
    pub fn next(&mut self, dice: f64) -> Duration {
        let longest = self.base.saturating_mul(1 << self.tries.min(20)).min(self.cap);
        self.tries = self.tries.saturating_add(1);
        longest.mul_f64(dice.clamp(0.0, 1.0))
    }

    /// All is well again.
    pub const fn reset(&mut self) {
        self.tries = 0;
    }

    /// The other side asks for another first wait (`retry:`); never below `floor`, never above the cap.
    pub fn ask(&mut self, base: Duration, floor: Duration) {
        self.base = base.clamp(floor.min(self.cap), self.cap);
    }
}

/// A random number from 0 up to 1.
pub fn dice() -> f64 {
    f64::from(uuid::Uuid::new_v4().as_fields().0) / (f64::from(u32::MAX) + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn waits_double_up_to_the_cap() {
        let mut backoff = Backoff::new(SECOND / 2, 3 * SECOND);

        let waits: Vec<_> = (0..5).map(|_| backoff.next(1.0)).collect();

        assert_eq!(waits, [SECOND / 2, SECOND, 2 * SECOND, 3 * SECOND, 3 * SECOND]);
        backoff.reset();
        assert_eq!(backoff.next(0.5), SECOND / 4);
    }

    #[test]
    fn what_a_server_asks_for_is_kept_within_limits() {
        let mut backoff = Backoff::new(SECOND, 30 * SECOND);

        backoff.ask(Duration::MAX, SECOND / 2);
        assert_eq!(backoff.next(1.0), 30 * SECOND);
        backoff.reset();
        backoff.ask(Duration::ZERO, SECOND / 2);
        assert_eq!(backoff.next(1.0), SECOND / 2);
    }

    #[test]
    fn a_thousand_tries_are_still_the_cap() {
        let mut backoff = Backoff::new(SECOND, 30 * SECOND);

        let last = (0..1_000).map(|_| backoff.next(1.0)).last();

        assert_eq!(last, Some(30 * SECOND));
        assert!((0..100).map(|_| dice()).all(|dice| (0.0..1.0).contains(&dice)));
    }
}
