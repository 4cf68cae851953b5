//! The server's clock: the only one that decides when something expires or a lease runs out.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::contract::time;
use crate::domain::Timestamp;

/// This machine's clock, which tests can move on. Clones are the same clock.
#[derive(Debug, Clone, Default)]
pub(crate) struct Clock(Arc<AtomicI64>);

impl Clock {
    pub(crate) fn now(&self) -> Timestamp {
        time::now().plus_millis(self.0.load(Ordering::Relaxed))
    }

    /// By how much it is ahead of this machine's. Milliseconds.
    pub(crate) fn ahead(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Lets `millis` pass at once.
    #[cfg(test)]
    pub(crate) fn pass(&self, millis: i64) {
        self.0.fetch_add(millis, Ordering::Relaxed);
    }
}
