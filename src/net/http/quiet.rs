//! A server that says when to come back is left alone until then (RFC 9110, 10.2.3; RFC 6585, 4).

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::exchange::Reply;

/// Longest wait inside one request: somebody may be looking at it.
const PATIENCE: Duration = Duration::from_secs(10);
/// Shortest wait, whatever the server says: at once would be a loop.
const LEAST: Duration = Duration::from_secs(1);

/// Until when the server is not asked, and what it said.
#[derive(Debug, Default)]
pub(super) struct Quiet(Mutex<Option<(Instant, Reply)>>);

/// How long a request waits for a server that asked for a moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    until: Instant,
    /// Another address may answer at once where this one is stopping.
    elsewhere: bool,
}

impl Patience {
    /// Of a request that may take so long.
    pub(super) fn of(limit: Duration, elsewhere: bool) -> Self {
        Self { until: Instant::now() + limit.min(PATIENCE), elsewhere }
    }

    fn lasts(self, until: Instant, reply: &Reply) -> bool {
        until <= self.until && !(self.elsewhere && reply.status == 503)
    }
}

impl Quiet {
    /// Waits until the server may be asked. What it said, with the time that is left, where that is beyond the patience.
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

    /// Notes what an answer says about coming back; true when that is within the patience.
    pub(super) fn asked_for(&self, reply: &Reply, patience: Patience) -> bool {
        let wait = reply.retry_after.filter(|_| matches!(reply.status, 429 | 503));
        let until = wait.map(|wait| Instant::now() + wait.max(LEAST));
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = until.map(|until| (until, reply.clone()));
        until.is_some_and(|until| patience.lasts(until, reply))
    }
}
