//! A job that waits to run in a shared transaction, and its caller.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio::sync::oneshot;

use super::StoreError;
use super::ops::Work;
use super::ops::tx::{Tx, put_heads};

/// A job for a transaction of type `X`. It may run again from its beginning if its group could not be written.
pub(super) trait Piece<X>: Send {
    /// Runs it, and returns whether to keep its changes.
    fn work<'t>(&'t mut self, tx: &'t mut X) -> BoxFuture<'t, bool>;
    /// Takes the error if the database refused a statement. The job is then as if it had not run.
    fn broke(&mut self) -> Option<StoreError>;
    /// Reports to its caller if it is still waiting. A commit stays even if the caller left.
    fn answer(self: Box<Self>, committed: Result<(), StoreError>);
}

pub(super) type Answer<T> = oneshot::Receiver<Result<T, StoreError>>;

struct Doing<T, F> {
    work: F,
    done: Option<Result<T, StoreError>>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

pub(super) fn piece<X, T, F>(work: F) -> (Box<dyn Piece<X>>, Answer<T>)
where
    X: Send + 'static,
    T: Send + 'static,
    F: for<'t> Fn(&'t mut X) -> BoxFuture<'t, Result<T, StoreError>> + Send + 'static,
{
    let (reply, answer) = oneshot::channel();
    (Box::new(Doing { work, done: None, reply }), answer)
}

/// Adapts work of the rules to a transaction of type `X`.
pub(super) fn on<X, A, T>(
    given: A,
    work: Work<A, T>,
) -> impl for<'t> Fn(&'t mut X) -> BoxFuture<'t, Result<T, StoreError>> + Send + 'static
where
    X: Tx,
    A: Send + Sync + 'static,
    T: Send + 'static,
{
    let given = Arc::new(given);
    move |tx| {
        let given = Arc::clone(&given);
        Box::pin(async move {
            let done = work(tx, &given).await?;
            put_heads(tx).await?;
            Ok(done)
        })
    }
}

pub(super) async fn answered<T>(answer: Answer<T>) -> Result<T, StoreError> {
    // The group panicked: its answers were dropped.
    answer.await.unwrap_or_else(|_| Err(unreached()))
}

fn unreached() -> StoreError {
    StoreError::Commit("the write was not reached".to_owned())
}

impl<X, T, F> Piece<X> for Doing<T, F>
where
    X: Send,
    T: Send,
    F: for<'t> Fn(&'t mut X) -> BoxFuture<'t, Result<T, StoreError>> + Send,
{
    fn work<'t>(&'t mut self, tx: &'t mut X) -> BoxFuture<'t, bool> {
        Box::pin(async move {
            let done = (self.work)(tx).await;
            self.done.insert(done).is_ok()
        })
    }

    fn broke(&mut self) -> Option<StoreError> {
        self.done.take_if(|done| matches!(done, Err(StoreError::Database(_)))).and_then(Result::err)
    }

    fn answer(self: Box<Self>, committed: Result<(), StoreError>) {
        let Self { done, reply, .. } = *self;
        reply.send(committed.and_then(|()| done.unwrap_or_else(|| Err(unreached())))).ok();
    }
}
