//! The one writer: takes jobs from a bounded queue and commits them in groups. Callers are answered after the commit.

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

/// Length of the queue; callers wait while it is full.
const QUEUE: usize = 1_024;
const GROUP: usize = 256;
const HEADS: usize = 1_024;

type Job = Box<dyn Piece<SqliteTx>>;

enum Message {
    Work(Job),
    Stop,
}

#[derive(Debug, Clone)]
pub(super) struct Writer {
    messages: mpsc::Sender<Message>,
    tasks: TaskTracker,
}

impl Writer {
    /// Starts the writer. It ends when it is stopped, or when its last handle is dropped.
    pub(super) fn start(pool: SqlitePool, context: Context) -> Self {
        let (messages, inbox) = mpsc::channel(QUEUE);
        let tasks = TaskTracker::new();
        tasks.spawn(run(inbox, pool, context));
        tasks.close();
        Self { messages, tasks }
    }

    pub(super) async fn run<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'t> Fn(&'t mut SqliteTx) -> BoxFuture<'t, Result<T, StoreError>> + Send + 'static,
    {
        let (piece, answer) = piece(work);
        self.messages.send(Message::Work(piece)).await.map_err(|_| StoreError::Closed)?;
        answered(answer).await
    }

    pub(super) async fn stop(&self) {
        // A failed send means that the writer has ended.
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
        // The transaction is dropped with the group, and its answers, which reports to the callers. The writer must
        // continue: without it the gate would read and never write again.
        let committed = commit(jobs, &mut heads, &pool, &context);
        if AssertUnwindSafe(committed).catch_unwind().await.is_err() {
            tracing::error!("a write broke off; its group was not committed");
        }
    }
}

/// Runs one group: begin, each job, buffers, commit, answers, notifications.
///
/// If the group cannot be written, each job runs in its own group, so that one bad job does not fail the others.
///
/// `heads` are remembered from the last group. If another process has changed one since (a command that creates a
/// token), the group's audit row conflicts with an existing revision. The group is then undone, and the heads are read
/// again.
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

enum Failed {
    /// A statement failed before the commit.
    Unwritten(StoreError),
    InCommit(sqlx::Error),
}

/// Runs the jobs and returns the new heads. If this fails, later jobs may not have run.
async fn apply(
    jobs: &mut [Job],
    known: Heads,
    pool: &SqlitePool,
    context: &Context,
    wakes: &mut Wakes,
) -> Result<Heads, Failed> {
    fault::point("commit.before");
    // If the database cannot be written at all, retrying each job is useless.
    let inner = pool.begin_with(sqlite::BEGIN).await.map_err(Failed::InCommit)?;
    fault::point("commit.begun");
    let state = TxState::new(context.clock.now(), Arc::clone(&context.tools));
    let mut tx = SqliteTx::new(inner, state, known);
    for job in jobs {
        tx.state.now = context.clock.now();
        let keep = job.work(&mut tx).await;
        let woken = std::mem::take(&mut tx.state.wakes);
        // The statement may belong to earlier jobs, or fail because one of their heads is outdated.
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
