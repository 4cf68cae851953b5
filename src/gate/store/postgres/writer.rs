//! Writes in groups: what comes for one workspace while this gate writes to it goes into one transaction, after that one.
//!
//! Everybody who writes to a workspace waits for its head, from the lock to the end of the commit, and each statement in between is a way
//! to the server and back. So one task of this gate at a time writes to a workspace, on one connection; others always find one. A piece of
//! work that is refused leaves the others as they are. Where it changed something before, or where the server refuses a statement, nothing
//! of the group is kept, and each is done alone. Nobody is answered before the commit that carries their work.
//!
//! Who was answered together mostly comes back together. A small group waits for them for a moment; else half of them would be under way
//! while the others are written, and each group would be half as large.

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

/// How long work waits for its turn: longer than a holder of the head that fell silent is left alone by the server (5 s, in `SETTINGS`), and
/// who waited for it takes to try again.
pub(super) const TURN: Duration = Duration::from_secs(10);
/// So many pieces of work go into one transaction at the most.
const GROUP: usize = 128;
/// Until so many are there, a group waits for those who were in the one before it: a small one costs as much as one of some more.
const GATHERED: usize = 8;
/// For so long, to the next tick of the runtime's timer.
const GATHER: Duration = Duration::from_millis(1);

type Job = Box<dyn Piece<PostgresTx>>;

#[derive(Debug)]
pub(super) struct Writer {
    pub(super) pool: Pool,
    pub(super) context: Context,
    pub(super) teller: Teller,
    pub(super) room: Room,
    queues: Mutex<Queues>,
    /// Something was queued.
    came: Notify,
    /// For work of which nobody knows the workspace yet: half of the connections.
    alone: Semaphore,
    tasks: TaskTracker,
}

/// What waits for its turn, by workspace. Each workspace that stands here has a task that writes to it.
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

    /// Does the work in a transaction; returns after its commit. An error undoes it.
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

    /// Waits until what is queued was written, but not for a server that is away: nobody was answered then.
    pub(super) async fn stop(&self) {
        self.tasks.close();
        timeout(TURN, self.tasks.wait()).await.ok();
        self.teller.stop().await;
        self.pool.close().await;
    }

    /// How many pieces of work wait behind the one that is being done.
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

    /// False when it is being done, or was.
    fn withdraw(&self, workspace: &str, number: u64) -> bool {
        let mut queues = self.queues();
        let Some(queue) = queues.of.get_mut(workspace) else { return false };
        let before = queue.len();
        queue.retain(|(of, _)| *of != number);
        queue.len() < before
    }

    /// What is done next; with nothing more to do the workspace has no task.
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
            // The answers are dropped with the group, which tells its callers. The next group comes all the same.
            if AssertUnwindSafe(self.write(&workspace, group)).catch_unwind().await.is_err() {
                tracing::error!("a write broke off; its group was not committed");
            }
        }
    }

    /// Until as many wait as were answered and wait now.
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

    /// `workspace` is empty where nobody knows it.
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

    /// Does the group once, to the end of its commit.
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
            // All were refused: there is nothing to keep.
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

/// What became of a group.
enum Done {
    /// Where nothing was to be kept, nothing was committed.
    Committed,
    /// Nothing of it is kept: each is to be done alone.
    Undone,
}

/// After the server refused a statement: what one piece of a group is to blame for is not the others' concern.
fn ended(conn: Conn, error: StoreError, is_alone: bool) -> Result<Done, Attempt> {
    match conn.end(Err(error)).map_err(Attempt::of) {
        Err(Attempt::Over(_)) if !is_alone => Ok(Done::Undone),
        ended => ended,
    }
}

fn too_long() -> StoreError {
    sqlx::Error::PoolTimedOut.into()
}
