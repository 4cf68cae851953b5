//! The server's clock, which decides when actions expire and leases end.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use crate::clock;
use crate::domain::Timestamp;
use crate::fault;

/// Maximum round trip of a clock reading; slower ones are ignored as inaccurate.
const PROMPT: Duration = Duration::from_secs(1);

/// This machine's clock, corrected by the database server's if gates share a database. Clones share the clock.
#[derive(Debug, Clone, Default)]
pub(crate) struct Clock {
    ahead: Arc<AtomicI64>,
    /// Milliseconds by which this machine's clock is behind the server's.
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

    /// Stops the clock until `pass` is called, so that slow machines do not run into time limits.
    #[cfg(test)]
    pub(crate) fn stop(&self) {
        let _ = self.stopped.set(clock::now());
    }

    /// Returns `now`, the time just read from the database server, adjusted by test clocks.
    pub(crate) fn of_server(&self, now: Timestamp) -> Timestamp {
        #[cfg(test)]
        if self.stopped.get().is_some() {
            return self.now();
        }
        now.plus_millis(self.ahead.load(Ordering::Relaxed))
    }

    /// Corrects this clock by the database server's. `took` is the duration of the round trip.
    pub(crate) fn follow(&self, server: Timestamp, took: Duration) {
        if took < PROMPT {
            self.behind.store(server.as_millis().saturating_sub(machine().as_millis()), Ordering::Relaxed);
        }
    }

    #[cfg(test)]
    pub(crate) fn pass(&self, millis: i64) {
        self.ahead.fetch_add(millis, Ordering::Relaxed);
    }
}

fn machine() -> Timestamp {
    clock::now().plus_millis(fault::clock_ahead())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_follows_prompt_answers_of_the_server() {
        let clock = Clock::default();
        let in_an_hour = clock::now().plus_millis(3_600_000);

        clock.follow(in_an_hour, Duration::from_millis(10));
        clock.follow(clock::now(), Duration::from_mins(1));

        assert!((0..60_000).contains(&clock.now().since(in_an_hour)));
    }
}
