//! The one writer: takes work from a bounded queue and commits it in groups.
//!
//! A commit costs one `fsync` whether it carries one write or a hundred; work that arrives during a commit goes into the
//! next one together. Each piece stands behind a savepoint, so that a refused one undoes only itself, and nobody is
//! answered before the commit that carries their work.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use sqlx::SqlitePool;
use tokio::sync::{mpsc, oneshot};
use tokio_util::task::TaskTracker;

use super::tx::SqliteTx;
use crate::fault;
use crate::gate::store::StoreError;
use crate::gate::store::context::Context;
use crate::gate::store::ops::tx::{TxState, Wakes};
use crate::sqlite;

/// How many pieces of work may wait; beyond, callers wait.
const QUEUE: usize = 1_024;
/// How many pieces of work go into one commit.
const GROUP: usize = 256;

type Answer = Box<dyn FnOnce(Result<(), StoreError>) + Send>;
/// Returns whether the work is to be kept, and how its caller is told.
type Job = Box<dyn for<'t> FnOnce(&'t mut SqliteTx) -> BoxFuture<'t, (bool, Answer)> + Send>;

enum Message {
    Work(Job),
    Stop,
}

/// A handle on the writer.
#[derive(Debug, Clone)]
pub(super) struct Writer {
    messages: mpsc::Sender<Message>,
    tasks: TaskTracker,
    failure: Failure,
}

/// Why the newest group was not committed, for those of it that were not reached.
type Failure = Arc<Mutex<Option<String>>>;

impl Writer {
    /// Starts the writer. It ends when it is stopped, or when its last handle is gone.
    pub(super) fn start(pool: SqlitePool, context: Context) -> Self {
        let (messages, inbox) = mpsc::channel(QUEUE);
        let (tasks, failure) = (TaskTracker::new(), Failure::default());
        tasks.spawn(run(inbox, pool, context, Arc::clone(&failure)));
        tasks.close();
        Self { messages, tasks, failure }
    }

    /// Does `work` in a transaction; returns after its commit. An error undoes it.
    pub(super) async fn run<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'t> FnOnce(&'t mut SqliteTx) -> BoxFuture<'t, Result<T, StoreError>> + Send + 'static,
    {
        let (reply, answered) = oneshot::channel();
        let job: Job = Box::new(move |tx| {
            Box::pin(async move {
                let done = work(tx).await;
                let keep = done.is_ok();
                let answer: Answer = Box::new(move |committed| {
                    // The caller may have gone away; what is committed stays committed.
                    reply.send(committed.and(done)).ok();
                });
                (keep, answer)
            })
        });
        self.messages.send(Message::Work(job)).await.map_err(|_| StoreError::Closed)?;
        // Its group failed before its turn: the answer was dropped with the work.
        answered.await.map_err(|_| {
            let why = self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone();
            StoreError::Commit(why.unwrap_or_else(|| "the write was not reached".to_owned()))
        })?
    }

    /// Finishes what is queued, then ends.
    pub(super) async fn stop(&self) {
        // A failed send means that the writer has ended already.
        self.messages.send(Message::Stop).await.ok();
        self.tasks.wait().await;
    }
}

async fn run(mut inbox: mpsc::Receiver<Message>, pool: SqlitePool, context: Context, failure: Failure) {
    let mut group = Vec::with_capacity(GROUP);
    while inbox.recv_many(&mut group, GROUP).await > 0 {
        let mut jobs = Vec::with_capacity(group.len());
        for message in group.drain(..) {
            match message {
                Message::Work(job) => jobs.push(job),
                Message::Stop => inbox.close(),
            }
        }
        // The transaction is dropped with the group, and so are its answers, which tells its callers. The next group comes:
        // a writer that ended would leave a gate that reads and never writes again.
        if AssertUnwindSafe(commit(jobs, &pool, &context, &failure)).catch_unwind().await.is_err() {
            tracing::error!("a write broke off; its group was not committed");
        }
    }
}

/// One group: begin, each job behind a savepoint, commit, answer, wake.
async fn commit(jobs: Vec<Job>, pool: &SqlitePool, context: &Context, newest: &Failure) {
    let carried = jobs.len();
    let mut answers = Vec::with_capacity(carried);
    let mut wakes = Wakes::default();
    // Those that are not reached are dropped at the end, when it is known why.
    let mut jobs = jobs.into_iter();
    let committed = apply(&mut jobs, pool, context, &mut answers, &mut wakes).await;
    let failure = committed.err().map(|error| {
        tracing::error!(%error, "a group of writes was not committed");
        sqlite::Words(&error).to_string()
    });
    newest.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&failure);
    if failure.is_none() {
        context.events.committed(carried, &wakes.kinds);
    }
    for answer in answers {
        answer(failure.clone().map_or(Ok(()), |why| Err(StoreError::Commit(why))));
    }
    if failure.is_none() {
        for (workspace, revision) in wakes.revisions {
            context.events.publish(&workspace, revision);
        }
        if wakes.approved {
            context.events.approved();
        }
    }
}

/// When this fails nothing of the group is kept, and some jobs may not have been reached.
async fn apply(
    jobs: &mut std::vec::IntoIter<Job>,
    pool: &SqlitePool,
    context: &Context,
    answers: &mut Vec<Answer>,
    wakes: &mut Wakes,
) -> Result<(), sqlx::Error> {
    fault::point("commit.before");
    let inner = pool.begin_with(sqlite::BEGIN).await?;
    fault::point("commit.begun");
    let state = TxState::new(context.clock.now(), Arc::clone(&context.tools));
    let mut tx = SqliteTx { inner, state, known: BTreeMap::new() };
    for job in jobs {
        sqlx::query("SAVEPOINT job").execute(tx.conn()).await?;
        tx.state.now = context.clock.now();
        let (keep, answer) = job(&mut tx).await;
        answers.push(answer);
        let woken = std::mem::take(&mut tx.state.wakes);
        tx.end_of_work(keep);
        if keep {
            wakes.add(woken);
        } else {
            sqlx::query("ROLLBACK TO job").execute(tx.conn()).await?;
        }
        sqlx::query("RELEASE job").execute(tx.conn()).await?;
    }
    fault::point("commit.ready");
    tx.inner.commit().await?;
    fault::point("commit.done");
    Ok(())
}
