//! A moment, without a clock.

/// Milliseconds since 1970-01-01T00:00:00Z. Reading the clock is the caller's business: time arrives here as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

impl Timestamp {
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Milliseconds from `earlier` to `self`; zero when `earlier` lies ahead, as clocks of two machines differ.
    pub const fn since(self, earlier: Self) -> i64 {
        let gap = self.0.saturating_sub(earlier.0);
        if gap < 0 { 0 } else { gap }
    }

    #[must_use]
    pub const fn plus_millis(self, millis: i64) -> Self {
        Self(self.0.saturating_add(millis))
    }
}
