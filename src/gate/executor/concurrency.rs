//! How much runs at once: a number of places in all, of which one tool gets only some.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// All places.
#[derive(Debug)]
pub(super) struct ConcurrencyLimit {
    all: Arc<Semaphore>,
    tools: HashMap<String, Arc<Semaphore>>,
}

/// One place; free again when it is dropped.
#[derive(Debug)]
pub(super) struct Room {
    _places: [OwnedSemaphorePermit; 2],
}

impl ConcurrencyLimit {
    pub(super) fn new(tools: &[String], in_all: usize, per_tool: usize) -> Self {
        let tools = tools.iter().map(|tool| (tool.clone(), Arc::new(Semaphore::new(per_tool)))).collect();
        Self { all: Arc::new(Semaphore::new(in_all)), tools }
    }

    /// Tools that may begin another run.
    pub(super) fn with_space(&self) -> Vec<String> {
        let with_space = self.tools.iter().filter(|(_, places)| places.available_permits() > 0);
        with_space.map(|(tool, _)| tool.clone()).collect()
    }

    /// Waits for a place in all. `None`: this tool has taken all of its own.
    pub(super) async fn acquire(&self, tool: &str) -> Option<Room> {
        let tool = self.tools.get(tool)?;
        let own = Arc::clone(tool).try_acquire_owned().ok()?;
        let one_of_all = Arc::clone(&self.all).acquire_owned().await.ok()?;
        Some(Room { _places: [own, one_of_all] })
    }
}
