//! What was listed without an id: its source cannot be asked for it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::domain::{ActionKey, PendingAction, SourceName};

/// What was listed without an id, for as long as it is listed: its source cannot be asked for it.
#[derive(Debug, Default)]
pub(super) struct RowsWithoutId(Mutex<HashMap<ActionKey, PendingAction>>);

impl RowsWithoutId {
    /// So many are kept; nobody looks at more.
    const MOST: usize = 1_000;

    pub(super) fn keep(&self, key: ActionKey, action: PendingAction) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < Self::MOST {
            kept.insert(key, action);
        }
    }

    pub(super) fn forget(&self, source: &SourceName) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|key, _| key.source != *source);
    }

    pub(super) fn get(&self, key: &ActionKey) -> Option<PendingAction> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }
}
