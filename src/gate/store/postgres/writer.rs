//! Writes in groups: jobs that arrive for a workspace during a transaction share the next one. One task and one
//! connection per workspace, because all its writers wait for the same head. Callers are answered after the commit.
//!
//! A refused job is left out of its group. If it wrote something before, or the server refuses a statement, the group
//! is rolled back and each job runs alone.
//!
//! A small group waits up to [`GATHER`] for the callers of the last one. Without this wait, half of four callers were
//! under way while the other half was written. With 16 and more callers it gained nothing.

use std::collections::{HashMap, VecDeque};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::sync::{Notify, Semaphore};
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use super::conn::{Conn, PATIENCE};
use super::pool::{self, Attempt, Pool, Tries};
use super::room::Room;
use super::tell::Teller;
use super::transaction::{NotCommitted, PostgresTx};
use crate::fault;
use crate::gate::store::StoreError;
use crate::gate::store::context::Context;
use crate::gate::store::ops::Work;
use crate::gate::store::ops::tx::{TxState, Wakes};
use crate::gate::store::piece::{Piece, answered, on, piece};

/// Maximum wait in the queue. Longer than the server's limit for an idle holder of the head (5 s, in `SETTINGS`) and
/// the retries of a waiter.
pub(super) const TURN: Duration = Duration::from_secs(10);
const GROUP: usize = 128;
/// A group below this size waits for the callers of the last one. Larger groups gain nothing from waiting.
const GATHERED: usize = 8;
/// Maximum wait for these callers, rounded up to the next tick of the runtime's timer.
const GATHER: Duration = Duration::from_millis(1);

type Job = Box<dyn Piece<PostgresTx>>;

#[derive(Debug)]
pub(super) struct Writer {
    pub(super) pool: Pool,
    pub(super) context: Context,
    pub(super) teller: Teller,
    pub(super) room: Room,
    queues: Mutex<Queues>,
    came: Notify,
    /// Permits for jobs that find out their workspace themselves: half of the connections.
    alone: Semaphore,
    tasks: TaskTracker,
}

/// Jobs by workspace. Each workspace in the map has a task that writes to it.
#[derive(Default)]
struct Queues {
    of: HashMap<String, VecDeque<(u64, Job)>>,
    given: u64,
}

impl std::fmt::Debug for Queues {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queues").field("workspaces", &self.of.len()).finish_non_exhaustive()
    }
}

impl Writer {
    pub(super) fn new(pool: Pool, context: Context, teller: Teller, connections: u32) -> Self {
        let alone = Semaphore::new((connections as usize / 2).max(1));
        let (room, queues, tasks) = (Room::default(), Mutex::default(), TaskTracker::new());
        Self { pool, context, teller, room, queues, came: Notify::new(), alone, tasks }
    }

    pub(super) async fn run<A, T>(
        self: &Arc<Self>,
        workspace: &str,
        given: A,
        work: Work<A, T>,
    ) -> Result<T, StoreError>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
    {
        let (piece, answer) = piece(on(given, work));
        if workspace.is_empty() {
            let turn = timeout(PATIENCE, self.alone.acquire()).await;
            let _turn = turn.ok().and_then(Result::ok).ok_or_else(too_long)?;
            self.write(workspace, vec![piece]).await;
            return answered(answer).await;
        }
        let number = self.queue(workspace, piece);
        let mut answer = std::pin::pin!(answered(answer));
        match timeout(TURN, &mut answer).await {
            Ok(done) => done,
            Err(_) if self.withdraw(workspace, number) => Err(too_long()),
            Err(_) => answer.await,
        }
    }

    /// Waits for queued jobs, but not long: if the server is away, their callers were not answered.
    pub(super) async fn stop(&self) {
        self.tasks.close();
        timeout(TURN, self.tasks.wait()).await.ok();
        self.teller.stop().await;
        self.pool.close().await;
    }

    pub(super) fn waiting(&self, workspace: &str) -> Option<usize> {
        self.queues().of.get(workspace).map(VecDeque::len)
    }

    fn queues(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn queue(self: &Arc<Self>, workspace: &str, piece: Job) -> u64 {
        let mut queues = self.queues();
        queues.given += 1;
        let number = queues.given;
        if let Some(queue) = queues.of.get_mut(workspace) {
            queue.push_back((number, piece));
        } else {
            queues.of.insert(workspace.to_owned(), VecDeque::from([(number, piece)]));
            self.tasks.spawn(Arc::clone(self).write_to(workspace.to_owned()));
        }
        drop(queues);
        self.came.notify_waiters();
        number
    }

    /// Returns false if the job is running or finished.
    fn withdraw(&self, workspace: &str, number: u64) -> bool {
        let mut queues = self.queues();
        let Some(queue) = queues.of.get_mut(workspace) else { return false };
        let before = queue.len();
        queue.retain(|(of, _)| *of != number);
        queue.len() < before
    }

    /// Takes the next group. If there is none, removes the workspace, and its task ends.
    fn next(&self, workspace: &str) -> Vec<Job> {
        let mut queues = self.queues();
        let Some(queue) = queues.of.get_mut(workspace) else { return Vec::new() };
        let group: Vec<_> = queue.drain(..queue.len().min(GROUP)).map(|(_, piece)| piece).collect();
        if group.is_empty() {
            queues.of.remove(workspace);
        }
        group
    }

    async fn write_to(self: Arc<Self>, workspace: String) {
        let mut answered = 0;
        loop {
            if answered > 1 {
                timeout(GATHER, self.gather(&workspace, answered)).await.ok();
            }
            let group = self.next(&workspace);
            answered = group.len();
            if group.is_empty() {
                return;
            }
            // Dropping the answers reports the failure to the callers. The next group must still run.
            if AssertUnwindSafe(self.write(&workspace, group)).catch_unwind().await.is_err() {
                tracing::error!("a write broke off; its group was not committed");
            }
        }
    }

    /// Waits until as many jobs are queued as the last group had and are queued now, at most [`GATHERED`].
    async fn gather(&self, workspace: &str, answered: usize) {
        let waiting = || self.waiting(workspace).unwrap_or_default();
        let wanted = (answered + waiting()).min(GATHERED);
        loop {
            let mut came = std::pin::pin!(self.came.notified());
            came.as_mut().enable();
            if waiting() >= wanted {
                return;
            }
            came.await;
        }
    }

    /// Runs a group, with retries. `workspace` is empty if only the work can tell.
    async fn write(&self, workspace: &str, mut group: Vec<Job>) {
        let mut tries = Tries::default();
        let committed = loop {
            match pool::within(self.attempt(workspace, &mut group)).await {
                Ok(Done::Committed) => break Ok(()),
                Ok(Done::Undone) => {
                    for piece in group {
                        Box::pin(self.write(workspace, vec![piece])).await;
                    }
                    return;
                }
                Err(attempt) => {
                    if let Err(error) = tries.once_more(attempt).await {
                        self.room.note(&error);
                        break Err(error);
                    }
                }
            }
        };
        for piece in group {
            piece.answer(committed.clone());
        }
    }

    async fn attempt(&self, workspace: &str, group: &mut [Job]) -> Result<Done, Attempt> {
        fault::point("commit.before");
        let mut tx = self.begin(workspace).await.map_err(Attempt::of)?;
        fault::point("commit.begun");
        let (is_alone, mut carried, mut wakes) = (group.len() == 1, 0, Wakes::default());
        for piece in group {
            let keep = piece.work(&mut tx).await;
            if let Some(error) = piece.broke() {
                return ended(tx.conn, error, is_alone);
            }
            let woken = std::mem::take(&mut tx.state.wakes);
            let clean = tx.end_of_piece(keep);
            if keep {
                carried += 1;
                wakes.add(woken);
            } else if !clean && !is_alone {
                return tx.conn.end(Ok(Done::Undone)).map_err(Attempt::of);
            }
        }
        if carried == 0 {
            // All jobs were refused, so there are no changes to commit.
            return tx.conn.end(Ok(Done::Committed)).map_err(Attempt::of);
        }
        match tx.commit().await {
            Ok(()) => {}
            Err(NotCommitted::Written(conn, error)) => return ended(conn, error, is_alone),
            Err(NotCommitted::Failed(error)) => return Err(Attempt::in_commit(error)),
        }
        fault::point("commit.done");
        self.context.events.committed(carried, &wakes.kinds);
        self.teller.tell(wakes);
        Ok(Done::Committed)
    }

    async fn begin(&self, workspace: &str) -> Result<PostgresTx, StoreError> {
        let (clock, tools) = (self.context.clock.clone(), Arc::clone(&self.context.tools));
        PostgresTx::begin(&self.pool, workspace, TxState::new(clock.now(), tools), clock).await
    }
}

enum Done {
    /// Committed, or empty because all jobs were refused.
    Committed,
    /// Rolled back. Each job must run alone.
    Undone,
}

/// Ends a group after the server refused a statement. Only a job that runs alone gets the error.
fn ended(conn: Conn, error: StoreError, is_alone: bool) -> Result<Done, Attempt> {
    match conn.end(Err(error)).map_err(Attempt::of) {
        Err(Attempt::Over(_)) if !is_alone => Ok(Done::Undone),
        ended => ended,
    }
}

fn too_long() -> StoreError {
    sqlx::Error::PoolTimedOut.into()
}
