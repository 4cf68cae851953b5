//! How long to wait before trying again: growing, capped, and drawn at random from a wide range, so that many clients do not come
//! back at once.
//!
//! Of a hundred clients that lose a server in one moment for a minute, none tries more than 12 times, no two tries of one are less
//! than half the first base apart, and what they do together is one burst of ten seconds that thins out, with no second one
//! after it: a server that restarts is found again within seconds, and one that is away is left alone.

use std::time::Duration;

/// The longest wait grows so much with every try. Doubling would make the first burst last three times as long.
const GROWTH: u32 = 4;
/// The shortest wait is this part of the longest. Without it, somebody unlucky tries again and again.
const LEAST: u32 = 5;

/// The waits of one connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The longest first wait.
    base: Duration,
    /// The longest wait at all.
    cap: Duration,
    /// The shortest wait at all.
    floor: Duration,
    tries: u32,
}

impl Backoff {
    /// No wait is shorter than half of `base`, or longer than `cap`.
    pub fn new(base: Duration, cap: Duration) -> Self {
        Self { base, cap, floor: base / 2, tries: 0 }
    }

    /// The next wait: `dice`, from 0 to 1, places it between a fifth of the longest and the longest, which is the base times four for
    /// every try since the last [`Backoff::reset`], and never more than the cap.
    pub fn next(&mut self, dice: f64) -> Duration {
        let longest = self.base.saturating_mul(GROWTH.saturating_pow(self.tries.min(12))).min(self.cap);
        self.tries = self.tries.saturating_add(1);
        let shortest = (longest / LEAST).max(self.floor).min(longest);
        shortest + longest.saturating_sub(shortest).mul_f64(dice.clamp(0.0, 1.0))
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
mod tests;
