//! Whose turn it is to write. Writes of one workspace wait for its head one after the other, and each that waits there has a connection: so
//! only some of one workspace get one, and those of others always find one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::conn::PATIENCE;
use crate::gate::store::StoreError;

/// One queue for each workspace, first come, first served.
#[derive(Debug)]
pub(super) struct Queues {
    /// So many of one workspace may have a connection.
    most: usize,
    of: Mutex<HashMap<String, Arc<Semaphore>>>,
}

impl Queues {
    /// One workspace gets half of the connections.
    pub(super) fn new(connections: u32) -> Self {
        Self { most: (connections as usize / 2).max(1), of: Mutex::default() }
    }

    /// Waits as long as one does for a connection.
    pub(super) async fn turn(&self, workspace: &str) -> Result<OwnedSemaphorePermit, StoreError> {
        let turn = timeout(PATIENCE, self.queue(workspace).acquire_owned()).await;
        turn.ok().and_then(Result::ok).ok_or(StoreError::Database(sqlx::Error::PoolTimedOut))
    }

    fn queue(&self, workspace: &str) -> Arc<Semaphore> {
        let mut of = self.of.lock().unwrap_or_else(PoisonError::into_inner);
        // Those that nobody is in. The map is one of the two that have such a queue.
        of.retain(|_, queue| Arc::strong_count(queue) > 1);
        let queue = of.entry(workspace.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(self.most)));
        Arc::clone(queue)
    }
}
