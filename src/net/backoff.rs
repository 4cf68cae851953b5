//! Retry delays: growing, capped and random over a wide range, so that many clients do not return at once.
//!
//! If a hundred clients lose a server for a minute, each retries at most 12 times, with gaps of at least half the first
//! base. Together they form one burst of ten seconds, without a second one.

use std::time::Duration;

/// Growth of the longest wait per try. Doubling would make the first burst three times as long.
const GROWTH: u32 = 4;
/// The shortest wait is this fraction of the longest, to bound the retries of an unlucky client.
const LEAST: u32 = 5;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backoff {
    base: Duration,
    cap: Duration,
    floor: Duration,
    tries: u32,
}

impl Backoff {
    /// Creates a backoff whose waits are between half of `base` and `cap`.
    pub fn new(base: Duration, cap: Duration) -> Self {
        Self { base, cap, floor: base / 2, tries: 0 }
    }

    /// Returns the next wait. `dice` (0 to 1) places it between a fifth of the longest wait and the longest, which is
    /// the base times four per try since [`Backoff::reset`], up to the cap.
    pub fn next(&mut self, dice: f64) -> Duration {
        let longest = self.base.saturating_mul(GROWTH.saturating_pow(self.tries.min(12))).min(self.cap);
        self.tries = self.tries.saturating_add(1);
        let shortest = (longest / LEAST).max(self.floor).min(longest);
        shortest + longest.saturating_sub(shortest).mul_f64(dice.clamp(0.0, 1.0))
    }

    pub const fn reset(&mut self) {
        self.tries = 0;
    }

    /// Sets the first wait that the server asks for (`retry:`), between `floor` and the cap.
    pub fn ask(&mut self, base: Duration, floor: Duration) {
        self.base = base.clamp(floor.min(self.cap), self.cap);
    }
}

pub fn dice() -> f64 {
    f64::from(uuid::Uuid::new_v4().as_fields().0) / (f64::from(u32::MAX) + 1.0)
}

#[cfg(test)]
mod tests;
