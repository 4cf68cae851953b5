//! Names of runs that were looked up.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use crate::domain::Untrusted;

/// Maximum numbers of definitions to look up for one list, and to remember.
pub(super) const DEFINITIONS: usize = 32;
const DEFINITIONS_MAX: usize = 1_000;

#[derive(Debug, Default)]
pub(super) struct Names(Mutex<KnownNames>);

#[derive(Debug, Default)]
struct KnownNames {
    /// Ids of definitions by run; `None` if the engine does not say.
    runs: HashMap<String, Option<String>>,
    /// `name@version`, by id.
    definitions: HashMap<String, Option<Untrusted>>,
}

impl Names {
    /// Returns the definition's name and version, or its id.
    pub(super) fn of(&self, trace: &str) -> Option<Untrusted> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let id = known.runs.get(trace)?.as_ref()?;
        let name = known.definitions.get(id).cloned().flatten();
        Some(name.unwrap_or_else(|| Untrusted::from(id.as_str())))
    }

    pub(super) fn unknown_runs<'a>(&self, traces: &HashSet<&'a str>) -> HashSet<&'a str> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        traces.iter().copied().filter(|trace| !known.runs.contains_key(*trace)).collect()
    }

    pub(super) fn unknown_definitions(&self) -> Vec<String> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let ids: HashSet<&String> = known.runs.values().flatten().collect();
        let unknown = ids.into_iter().filter(|id| !known.definitions.contains_key(*id));
        unknown.take(DEFINITIONS).cloned().collect()
    }

    pub(super) fn run(&self, trace: &str, definition: Option<String>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).runs.insert(trace.to_owned(), definition);
    }

    pub(super) fn definition(&self, id: String, name: Option<Untrusted>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.definitions.len() >= DEFINITIONS_MAX {
            known.definitions.clear();
        }
        known.definitions.insert(id, name);
    }

    pub(super) fn keep(&self, traces: &HashSet<&str>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.runs.retain(|trace, _| traces.contains(trace.as_str()));
    }
}
