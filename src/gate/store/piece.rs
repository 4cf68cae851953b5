//! A piece of work that waits to be done in a transaction together with others, and whom to tell.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio::sync::oneshot;

use super::StoreError;
use super::ops::Work;
use super::ops::tx::{Tx, put_heads};

/// Work in a transaction of this kind. It may be done again from its beginning, when its group could not be written.
pub(super) trait Piece<X>: Send {
    /// Returns whether it is to be kept.
    fn work<'t>(&'t mut self, tx: &'t mut X) -> BoxFuture<'t, bool>;
    /// Takes what the database said, where it refused a statement. The piece is then as if it had not been done.
    fn broke(&mut self) -> Option<StoreError>;
    /// Tells its caller; who may have gone away: what is committed stays committed.
    fn answer(self: Box<Self>, committed: Result<(), StoreError>);
}

/// What its caller waits for.
pub(super) type Answer<T> = oneshot::Receiver<Result<T, StoreError>>;

struct Doing<T, F> {
    work: F,
    done: Option<Result<T, StoreError>>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

/// The work, and what comes of it.
pub(super) fn piece<X, T, F>(work: F) -> (Box<dyn Piece<X>>, Answer<T>)
where
    X: Send + 'static,
    T: Send + 'static,
    F: for<'t> Fn(&'t mut X) -> BoxFuture<'t, Result<T, StoreError>> + Send + 'static,
{
    let (reply, answer) = oneshot::channel();
    (Box::new(Doing { work, done: None, reply }), answer)
}

/// Work of the rules on what it is given, in a transaction of this kind.
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

/// What came of it, once its group was committed or was not.
pub(super) async fn answered<T>(answer: Answer<T>) -> Result<T, StoreError> {
    // The group broke off: the answer was dropped with the work.
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
