//! Pauses requests to a server until the time it asked for (RFC 9110, 10.2.3; RFC 6585, 4).

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::exchange::Reply;

/// Longest wait within a request, which a person may be waiting for.
const PATIENCE: Duration = Duration::from_secs(10);
/// Shortest wait: zero would be a busy loop.
const LEAST: Duration = Duration::from_secs(1);

/// The end of the pause, and the reply that asked for it.
#[derive(Debug, Default)]
pub(super) struct Quiet(Mutex<Option<(Instant, Reply)>>);

#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    until: Instant,
    /// There is another address, which can answer at once if this one is stopping.
    elsewhere: bool,
}

impl Patience {
    pub(super) fn of(limit: Duration, elsewhere: bool) -> Self {
        Self { until: Instant::now() + limit.min(PATIENCE), elsewhere }
    }

    fn lasts(self, until: Instant, reply: &Reply) -> bool {
        until <= self.until && !(self.elsewhere && reply.status == 503)
    }
}

impl Quiet {
    /// Waits for the end of the pause. Returns the server's reply with the remaining time if that exceeds the patience.
    pub(super) async fn wait(&self, patience: Patience) -> Option<Reply> {
        let (until, mut reply) = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        let left = until.saturating_duration_since(Instant::now());
        if !patience.lasts(until, &reply) && !left.is_zero() {
            reply.retry_after = Some(left);
            return Some(reply);
        }
        sleep_until(until).await;
        None
    }

    /// Records an answer's `Retry-After`. Returns whether the wait is within the patience.
    pub(super) fn asked_for(&self, reply: &Reply, patience: Patience) -> bool {
        let wait = reply.retry_after.filter(|_| matches!(reply.status, 429 | 503));
        let until = wait.map(|wait| Instant::now() + wait.max(LEAST));
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = until.map(|until| (until, reply.clone()));
        until.is_some_and(|until| patience.lasts(until, reply))
    }
}
