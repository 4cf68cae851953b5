//! Limits of one gate: proposals per minute and open streams.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::error::{ApiError, TOO_MANY};
use crate::config::Limits;

/// A token bucket of proposals per token.
#[derive(Debug, Default)]
pub(crate) struct Rate(Mutex<HashMap<String, Bucket>>);

#[derive(Debug, Clone, Copy)]
struct Bucket {
    level: f64,
    at: Instant,
}

impl Rate {
    pub(crate) fn take(&self, token: &str, limits: &Limits, now: Instant) -> Result<(), ApiError> {
        let burst = f64::from(limits.proposal_burst.max(1));
        let per_second = f64::from(limits.proposals_per_minute.max(1)) / 60.0;
        let mut buckets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bucket = buckets.entry(token.to_owned()).or_insert(Bucket { level: burst, at: now });
        let refill = now.saturating_duration_since(bucket.at).as_secs_f64() * per_second;
        *bucket = Bucket { level: (bucket.level + refill).min(burst), at: now };
        if bucket.level >= 1.0 {
            bucket.level -= 1.0;
            return Ok(());
        }
        let wait = ((1.0 - bucket.level) / per_second).ceil().max(1.0) as u64;
        Err(ApiError::again_in(TOO_MANY, "too many proposals; wait before the next", wait))
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Streams(Arc<Mutex<HashMap<String, u32>>>);

#[derive(Debug)]
pub(crate) struct OpenStream {
    streams: Streams,
    token: String,
}

impl Streams {
    pub(crate) fn open(&self, token: &str, limits: &Limits) -> Result<OpenStream, ApiError> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mine = open.get(token).copied().unwrap_or_default();
        if open.values().sum::<u32>() >= limits.streams || mine >= limits.streams_per_token {
            return Err(ApiError::again_in(TOO_MANY, "too many open streams; close one first", 15));
        }
        open.insert(token.to_owned(), mine + 1);
        Ok(OpenStream { streams: self.clone(), token: token.to_owned() })
    }

    pub(crate) fn in_all(&self) -> u32 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().sum()
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        let mut open = self.streams.0.lock().unwrap_or_else(PoisonError::into_inner);
        match open.get_mut(&self.token) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(open.remove(&self.token)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn proposals_pass_in_a_burst_then_at_the_rate() {
        let limits = Limits { proposal_burst: 2, proposals_per_minute: 60, ..Limits::default() };
        let (rate, start) = (Rate::default(), Instant::now());

        let taken = [0, 0, 0, 500, 1_000]
            .map(|millis| rate.take("t", &limits, start + Duration::from_millis(millis)).is_ok());

        assert_eq!(taken, [true, true, false, false, true]);
        assert!(rate.take("another", &limits, start).is_ok());
    }

    #[test]
    fn closed_stream_makes_room() {
        let limits = Limits { streams: 3, streams_per_token: 1, ..Limits::default() };
        let streams = Streams::default();

        let first = streams.open("t", &limits).unwrap();
        assert!(streams.open("t", &limits).is_err());
        drop(first);

        assert!(streams.open("t", &limits).is_ok());
    }
}
