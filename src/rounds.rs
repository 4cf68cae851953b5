//! Rounds and seeds of randomised tests. `PLACET_LONG=1` runs the long form with a new seed; `PLACET_SEED=…` replays a
//! printed seed. The short form has a fixed seed, so that it does not fail on unchanged code.

use std::time::{SystemTime, UNIX_EPOCH};

use proptest::test_runner::{Config, RngAlgorithm, RngSeed, TestRng, TestRunner};

#[path = "../tests/slow/support/skipped.rs"]
mod skips;
pub(crate) use skips::skipped;

const USUAL: u64 = 0x5eed;

pub(crate) fn rounds(short: u32, long: u32) -> u32 {
    if is_long() { long } else { short }
}

pub(crate) fn is_long() -> bool {
    std::env::var_os("PLACET_LONG").is_some()
}

/// Returns and prints the seed; the test harness shows it if the test fails.
fn seed() -> u64 {
    let given = std::env::var("PLACET_SEED").ok().and_then(|seed| seed.parse().ok());
    let fresh = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(USUAL, |since| since.as_secs());
    let seed = given.unwrap_or_else(|| if is_long() { fresh() } else { USUAL });
    println!("PLACET_SEED={seed}");
    seed
}

/// A small generator whose choices a seed replays.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn seeded() -> Self {
        Self(seed())
    }

    /// A generator for one part of a test, whose seed another generator chose. The part can be replayed alone.
    pub(crate) fn of(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % n
    }
}

/// Returns a proptest runner with this run's seed and number of cases. It shrinks a failing case.
pub(crate) fn runner(short: u32, long: u32) -> TestRunner {
    let (seed, mut bytes) = (seed(), [0; 32]);
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    TestRunner::new_with_rng(config_of(seed, short, long), TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
}

/// Returns the same configuration for a `proptest!` block.
pub(crate) fn config(short: u32, long: u32) -> Config {
    config_of(seed(), short, long)
}

fn config_of(seed: u64, short: u32, long: u32) -> Config {
    let (cases, rng_seed) = (rounds(short, long), RngSeed::Fixed(seed));
    Config { cases, rng_seed, failure_persistence: None, ..Config::default() }
}
