//! The server's clock: the only one that decides when something expires or a lease runs out.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use crate::contract::time;
use crate::domain::Timestamp;
use crate::fault;

/// An answer of another clock that was longer on its way says too little of it.
const PROMPT: Duration = Duration::from_secs(1);

/// This machine's clock, which tests can move on; where gates share a database, put right by the clock of its server. Clones are the
/// same clock.
#[derive(Debug, Clone, Default)]
pub(crate) struct Clock {
    ahead: Arc<AtomicI64>,
    /// By how many milliseconds this machine's clock is behind that server's.
    behind: Arc<AtomicI64>,
    #[cfg(test)]
    stopped: Arc<std::sync::OnceLock<Timestamp>>,
}

impl Clock {
    pub(crate) fn now(&self) -> Timestamp {
        #[cfg(test)]
        let now = self.stopped.get().copied().unwrap_or_else(|| self.put_right());
        #[cfg(not(test))]
        let now = self.put_right();
        now.plus_millis(self.ahead.load(Ordering::Relaxed))
    }

    fn put_right(&self) -> Timestamp {
        machine().plus_millis(self.behind.load(Ordering::Relaxed))
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

    /// Is put right by the clock of a server that gates share, whose answer took so long.
    pub(crate) fn follow(&self, server: Timestamp, took: Duration) {
        if took < PROMPT {
            self.behind.store(server.as_millis().saturating_sub(machine().as_millis()), Ordering::Relaxed);
        }
    }

    /// Lets `millis` pass at once.
    #[cfg(test)]
    pub(crate) fn pass(&self, millis: i64) {
        self.ahead.fetch_add(millis, Ordering::Relaxed);
    }
}

fn machine() -> Timestamp {
    time::now().plus_millis(fault::clock_ahead())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_that_is_off_follows_the_servers_unless_its_answer_is_old() {
        let clock = Clock::default();
        let in_an_hour = time::now().plus_millis(3_600_000);

        clock.follow(in_an_hour, Duration::from_millis(10));
        clock.follow(time::now(), Duration::from_mins(1));

        assert!((0..60_000).contains(&clock.now().since(in_an_hour)));
    }
}
