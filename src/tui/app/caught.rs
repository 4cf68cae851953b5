//! What is asked where it may panic.

use tokio_util::task::AbortOnDropHandle;

use super::words;
use crate::inbox::Problem;

/// On a task of its own: a panic of ours is an answer too, so that the screen does not wait for ever. A submission needs no
/// such thing, because the inbox answers for it.
pub(super) async fn caught<T: Send + 'static>(
    asked: impl Future<Output = Result<T, Problem>> + Send + 'static,
) -> Result<T, Problem> {
    AbortOnDropHandle::new(tokio::spawn(asked)).await.unwrap_or_else(|_| Err(failed_inside()))
}

pub(super) fn failed_inside() -> Problem {
    Problem { source: None, what: words::FAILED_INSIDE.to_owned(), why: None }
}
