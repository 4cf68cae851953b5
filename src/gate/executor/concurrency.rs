//! Limits concurrent runs in total and per tool.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

#[derive(Debug)]
pub(super) struct ConcurrencyLimit {
    all: Arc<Semaphore>,
    per_tool: usize,
    /// Tools with running actions.
    tools: Mutex<HashMap<String, Arc<Semaphore>>>,
}

/// A permit for one run, returned on drop.
#[derive(Debug)]
pub(super) struct Room {
    _places: [OwnedSemaphorePermit; 2],
}

impl ConcurrencyLimit {
    pub(super) fn new(in_all: usize, per_tool: usize) -> Self {
        Self { all: Arc::new(Semaphore::new(in_all)), per_tool, tools: Mutex::default() }
    }

    pub(super) fn full(&self) -> Vec<String> {
        let mut tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        tools.retain(|_, places| places.available_permits() < self.per_tool);
        let full = tools.iter().filter(|(_, places)| places.available_permits() == 0);
        full.map(|(tool, _)| tool.clone()).collect()
    }

    /// Waits for a permit. `None` if the tool is at its own limit.
    pub(super) async fn acquire(&self, tool: &str) -> Option<Room> {
        let own = self.own(tool)?;
        let one_of_all = Arc::clone(&self.all).acquire_owned().await.ok()?;
        Some(Room { _places: [own, one_of_all] })
    }

    fn own(&self, tool: &str) -> Option<OwnedSemaphorePermit> {
        let mut tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        let places = tools.entry(tool.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(self.per_tool)));
        Arc::clone(places).try_acquire_owned().ok()
    }
}
