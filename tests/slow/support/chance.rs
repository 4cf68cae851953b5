//! Reproducible random choices.

pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns 0 to `n - 1`.
    pub(crate) const fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    pub(crate) fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        let n = u64::try_from(all.len()).unwrap();
        &all[usize::try_from(self.below(n)).unwrap()]
    }
}
