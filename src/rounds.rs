//! How often a randomised test tries, and where its chance comes from: one place, so that every one can be played again.
//!
//! `PLACET_LONG=1` asks for the long form, which also begins somewhere else each time. `PLACET_SEED=…` plays a printed
//! seed again. The short form always begins at the same seed: it must not fail on a day when nothing changed.

use std::time::{SystemTime, UNIX_EPOCH};

use proptest::test_runner::{Config, RngAlgorithm, RngSeed, TestRng, TestRunner};

#[path = "../tests/slow/support/skipped.rs"]
mod skips;
pub(crate) use skips::skipped;

/// The seed of the short form.
const USUAL: u64 = 0x5eed;

/// As many as the form that was asked for has.
pub(crate) fn rounds(short: u32, long: u32) -> u32 {
    if is_long() { long } else { short }
}

/// Whether `PLACET_LONG` asks for the long form.
pub(crate) fn is_long() -> bool {
    std::env::var_os("PLACET_LONG").is_some()
}

/// The seed of this run; printed, and shown by the test harness when the test fails.
fn seed() -> u64 {
    let given = std::env::var("PLACET_SEED").ok().and_then(|seed| seed.parse().ok());
    let fresh = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(USUAL, |since| since.as_secs());
    let seed = given.unwrap_or_else(|| if is_long() { fresh() } else { USUAL });
    println!("PLACET_SEED={seed}");
    seed
}

/// A small generator of our own: a seed that is printed plays the same choices again.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn seeded() -> Self {
        Self(seed())
    }

    /// From a seed that is chosen by another one, so that its part can be played alone.
    pub(crate) fn of(seed: u64) -> Self {
        Self(seed)
    }

    /// Less than `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % n
    }
}

/// Proptest with this run's seed and number of cases; it makes a failing case small.
pub(crate) fn runner(short: u32, long: u32) -> TestRunner {
    let (seed, mut bytes) = (seed(), [0; 32]);
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    TestRunner::new_with_rng(config_of(seed, short, long), TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
}

/// The same for a `proptest!` block.
pub(crate) fn config(short: u32, long: u32) -> Config {
    config_of(seed(), short, long)
}

fn config_of(seed: u64, short: u32, long: u32) -> Config {
    let (cases, rng_seed) = (rounds(short, long), RngSeed::Fixed(seed));
    Config { cases, rng_seed, failure_persistence: None, ..Config::default() }
}
