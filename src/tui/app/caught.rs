//! Runs requests that may panic.

use tokio_util::task::AbortOnDropHandle;

use super::words;
use crate::inbox::Problem;

/// Runs a request on its own task and turns a panic into an error, so that the screen does not wait forever.
/// Submissions do not need this, because the inbox handles their panics.
pub(super) async fn caught<T: Send + 'static>(
    asked: impl Future<Output = Result<T, Problem>> + Send + 'static,
) -> Result<T, Problem> {
    AbortOnDropHandle::new(tokio::spawn(asked)).await.unwrap_or_else(|_| Err(failed_inside()))
}

pub(super) fn failed_inside() -> Problem {
    Problem { source: None, what: words::FAILED_INSIDE.to_owned(), why: None }
}
