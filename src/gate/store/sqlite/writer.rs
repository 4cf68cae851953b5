//! The one writer: takes work from a bounded queue and commits it in groups.
//!
//! A commit costs one `fsync` whether it carries one write or a hundred; work that arrives during a commit goes into the
//! next one together. A refused piece undoes only itself, and nobody is answered before the commit that carries their work.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use sqlx::SqlitePool;
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;

use super::tx::{Heads, SqliteTx};
use crate::fault;
use crate::gate::store::StoreError;
use crate::gate::store::context::Context;
use crate::gate::store::ops::tx::{TxState, Wakes};
use crate::gate::store::piece::{Piece, answered, piece};
use crate::sqlite;

/// How many pieces of work may wait; beyond, callers wait.
const QUEUE: usize = 1_024;
/// How many pieces of work go into one commit.
const GROUP: usize = 256;
/// So many heads are known from one group to the next.
const HEADS: usize = 1_024;

type Job = Box<dyn Piece<SqliteTx>>;

enum Message {
    Work(Job),
    Stop,
}

/// A handle on the writer.
#[derive(Debug, Clone)]
pub(super) struct Writer {
    messages: mpsc::Sender<Message>,
    tasks: TaskTracker,
}

impl Writer {
    /// Starts the writer. It ends when it is stopped, or when its last handle is gone.
    pub(super) fn start(pool: SqlitePool, context: Context) -> Self {
        let (messages, inbox) = mpsc::channel(QUEUE);
        let tasks = TaskTracker::new();
        tasks.spawn(run(inbox, pool, context));
        tasks.close();
        Self { messages, tasks }
    }

    /// Does `work` in a transaction; returns after its commit. An error undoes it.
    pub(super) async fn run<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'t> Fn(&'t mut SqliteTx) -> BoxFuture<'t, Result<T, StoreError>> + Send + 'static,
    {
        let (piece, answer) = piece(work);
        self.messages.send(Message::Work(piece)).await.map_err(|_| StoreError::Closed)?;
        answered(answer).await
    }

    /// Finishes what is queued, then ends.
    pub(super) async fn stop(&self) {
        // A failed send means that the writer has ended already.
        self.messages.send(Message::Stop).await.ok();
        self.tasks.wait().await;
    }
}

async fn run(mut inbox: mpsc::Receiver<Message>, pool: SqlitePool, context: Context) {
    let (mut group, mut heads) = (Vec::with_capacity(GROUP), Heads::new());
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
        let committed = commit(jobs, &mut heads, &pool, &context);
        if AssertUnwindSafe(committed).catch_unwind().await.is_err() {
            tracing::error!("a write broke off; its group was not committed");
        }
    }
}

/// One group: begin, each job, what they left to be written, commit, answer, wake.
///
/// Where it could not be written each job has a group of its own: one that the database refuses does no harm to the others.
///
/// `heads` are as the group before left them, so that they need not be read again. Another process may have changed one since, as a command
/// does that makes a token: then this group's writes meet a row under the same revision. They are undone, and the heads are read.
async fn commit(mut jobs: Vec<Job>, heads: &mut Heads, pool: &SqlitePool, context: &Context) {
    let (carried, mut wakes) = (jobs.len(), Wakes::default());
    let known = std::mem::take(heads);
    let trusted = !known.is_empty();
    let committed = match apply(&mut jobs, known, pool, context, &mut wakes).await {
        Err(Failed::Unwritten(error)) if carried > 1 || trusted => {
            tracing::warn!(%error, "a group of writes is written one by one");
            for job in jobs {
                Box::pin(commit(vec![job], heads, pool, context)).await;
            }
            return;
        }
        committed => committed.map(|left| *heads = left),
    };
    let failure = committed.err().map(|failed| {
        let error = match failed {
            Failed::Unwritten(error) => error,
            Failed::InCommit(error) => StoreError::Commit(sqlite::Words(&error).to_string()),
        };
        tracing::error!(%error, "a group of writes was not committed");
        error
    });
    if failure.is_none() {
        context.events.committed(carried, &wakes.kinds);
    }
    for job in jobs {
        job.answer(failure.clone().map_or(Ok(()), Err));
    }
    if failure.is_none() {
        for (workspace, revision) in wakes.revisions {
            context.events.publish(&workspace, revision);
        }
        if wakes.approved {
            context.events.approved();
        }
        if wakes.called {
            context.events.called();
        }
        for workspace in &wakes.claimed {
            context.events.claimed(workspace);
        }
    }
}

/// Nothing of a group is kept.
enum Failed {
    /// It came to no commit.
    Unwritten(StoreError),
    InCommit(sqlx::Error),
}

/// Returns the heads as they are now. When this fails some jobs may not have been reached.
async fn apply(
    jobs: &mut [Job],
    known: Heads,
    pool: &SqlitePool,
    context: &Context,
    wakes: &mut Wakes,
) -> Result<Heads, Failed> {
    fault::point("commit.before");
    // Where nothing can be written now, it is of no use to try it for each.
    let inner = pool.begin_with(sqlite::BEGIN).await.map_err(Failed::InCommit)?;
    fault::point("commit.begun");
    let state = TxState::new(context.clock.now(), Arc::clone(&context.tools));
    let mut tx = SqliteTx::new(inner, state, known);
    for job in jobs {
        tx.state.now = context.clock.now();
        let keep = job.work(&mut tx).await;
        let woken = std::mem::take(&mut tx.state.wakes);
        // The statement may belong to the pieces before, or fail because one of their heads is outdated.
        if let Some(error) = job.broke() {
            return Err(Failed::Unwritten(error));
        }
        tx.end_of_work(keep).await.map_err(|error| Failed::Unwritten(error.into()))?;
        if keep {
            wakes.add(woken);
        }
    }
    let (inner, mut heads) = tx.end().await.map_err(|error| Failed::Unwritten(error.into()))?;
    fault::point("commit.ready");
    inner.commit().await.map_err(Failed::InCommit)?;
    fault::point("commit.done");
    if heads.len() > HEADS {
        heads.clear();
    }
    Ok(heads)
}
