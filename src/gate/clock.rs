//! The server's clock: the only one that decides when something expires or a lease runs out.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::contract::time;
use crate::domain::Timestamp;

/// This machine's clock, which tests can move on. Clones are the same clock.
#[derive(Debug, Clone, Default)]
pub(crate) struct Clock {
    ahead: Arc<AtomicI64>,
    #[cfg(test)]
    stopped: Arc<std::sync::OnceLock<Timestamp>>,
}

impl Clock {
    pub(crate) fn now(&self) -> Timestamp {
        #[cfg(test)]
        let machine = self.stopped.get().copied().unwrap_or_else(time::now);
        #[cfg(not(test))]
        let machine = time::now();
        machine.plus_millis(self.ahead.load(Ordering::Relaxed))
    }

    /// From here on only `pass` moves it on: what is in time stays in time, however slow the computer is.
    #[cfg(test)]
    pub(crate) fn stop(&self) {
        let _ = self.stopped.set(time::now());
    }

    /// The clock of a server that gates share, read now.
    pub(crate) fn of_server(&self, now: Timestamp) -> Timestamp {
        #[cfg(test)]
        if self.stopped.get().is_some() {
            return self.now();
        }
        now.plus_millis(self.ahead.load(Ordering::Relaxed))
    }

    /// Lets `millis` pass at once.
    #[cfg(test)]
    pub(crate) fn pass(&self, millis: i64) {
        self.ahead.fetch_add(millis, Ordering::Relaxed);
    }
}
