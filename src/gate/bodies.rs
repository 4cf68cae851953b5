//! Limits for request bodies: bytes in flight, and reading what a route left unread.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::http::header::EXPECT;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;
use hyper::body::{Frame, SizeHint};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::block_in_place;
use tokio::time::timeout;

use super::error::{ApiError, UNAVAILABLE};

/// Bytes of bodies in flight, small and large together.
const IN_FLIGHT: usize = 128 << 20;
/// The part of `IN_FLIGHT` reserved for small bodies, so that large proposals never block a decision.
const FOR_SMALL: usize = 16 << 20;
/// Largest small body, in bytes.
const SMALL: usize = 64 << 10;
/// Seconds until a client may resend a refused body.
const AGAIN: u64 = 2;
/// Limit for discarding the unread rest of a body.
const REST: Duration = Duration::from_mins(1);

#[derive(Debug)]
pub(super) struct Bodies {
    small: Arc<Semaphore>,
    large: Arc<Semaphore>,
}

impl Default for Bodies {
    fn default() -> Self {
        let [small, large] = [FOR_SMALL, IN_FLIGHT - FOR_SMALL].map(|bytes| Arc::new(Semaphore::new(bytes)));
        Self { small, large }
    }
}

impl Bodies {
    /// Acquires permits for a body. A body larger than all permits acquires all of them.
    fn take(&self, bytes: u64) -> Result<OwnedSemaphorePermit, ApiError> {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let room = if bytes <= SMALL { &self.small } else { &self.large };
        let permits = bytes.min(IN_FLIGHT - FOR_SMALL) as u32;
        Arc::clone(room).try_acquire_many_owned(permits).map_err(|_| {
            ApiError::again_in(
                UNAVAILABLE,
                "the gate is reading as many large requests as it takes; try again",
                AGAIN,
            )
        })
    }
}

/// Runs work whose time grows with a body. For a large body, the thread's other requests move to another thread.
pub(super) fn work_on<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    // A runtime of one thread, as in tests, cannot move them.
    let can_move = Handle::current().runtime_flavor() == RuntimeFlavor::MultiThread;
    if bytes > SMALL && can_move { block_in_place(work) } else { work() }
}

/// Limits bodies in flight, and reads what the route left. Otherwise the connection would break while the client sends,
/// and the answer would be lost.
pub(super) async fn bounded(
    State((bodies, limit)): State<(Arc<Bodies>, u64)>,
    request: Request,
    next: Next,
) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let declared = HttpBody::size_hint(&body).exact();
    // A client that sent `Expect` has not sent its body; a body over the limit is not read.
    let worth_reading = !parts.headers.contains_key(EXPECT) && declared.is_none_or(|bytes| bytes <= limit);
    let body = Shared(Arc::new(Mutex::new(body)));
    let response = match bodies.take(declared.unwrap_or(limit).min(limit)) {
        Ok(room) => {
            let response = next.run(Request::from_parts(parts, Body::new(body.clone()))).await;
            drop(room);
            response
        }
        Err(refused) => refused.into_response(),
    };
    if worth_reading {
        timeout(REST, body.discard(limit)).await.ok();
    }
    response
}

#[derive(Debug, Clone)]
struct Shared(Arc<Mutex<Body>>);

impl Shared {
    async fn discard(self, limit: u64) {
        let mut left = limit;
        let mut parts = Body::new(self).into_data_stream();
        while let Some(Ok(part)) = parts.next().await {
            match left.checked_sub(part.len() as u64) {
                Some(less) => left = less,
                None => return,
            }
        }
    }
}

impl HttpBody for Shared {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner)).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_bodies_are_bounded_and_keep_no_small_one_out() {
        let bodies = Bodies::default();

        let large: Vec<_> = (0..8).map(|_| bodies.take(16 << 20)).collect();
        let small = bodies.take(SMALL as u64);

        let taken: Vec<_> = large.iter().map(Result::is_ok).collect();
        assert_eq!(taken, [true, true, true, true, true, true, true, false]);
        assert!(small.is_ok());
        drop(large);
        assert!(bodies.take(1 << 30).is_ok());
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn work_on_a_large_body_lets_other_tasks_run() {
        let (answer, answered) = std::sync::mpsc::channel();
        let work = async move { work_on(SMALL + 1, || answered.recv_timeout(Duration::from_secs(20))) };

        let large = tokio::spawn(work);
        let other = tokio::spawn(async move { answer.send("other") });

        assert_eq!(large.await.unwrap(), Ok("other"));
        assert_eq!(other.await.unwrap(), Ok(()));
    }

    #[test]
    fn small_bodies_are_bounded_too() {
        let bodies = Bodies::default();

        let small: Vec<_> = (0..FOR_SMALL / SMALL).map(|_| bodies.take(SMALL as u64).unwrap()).collect();

        assert!(bodies.take(1).is_err());
        drop(small);
        assert!(bodies.take(1).is_ok());
    }
}
