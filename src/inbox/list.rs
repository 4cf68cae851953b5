//! Several sources as one list, and actions in full.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::future::join_all;

use super::{Inbox, Problem, Rows, Synced};
use crate::contract::action::Unreadable;
use crate::contract::fields::Fields;
use crate::contract::time;
use crate::domain::{ActionId, ActionKey, Entry, PendingAction, Revision, Row, SourceName, Untrusted};
use crate::sources::{self, Source};

pub(super) async fn sync(source: &Arc<dyn Source>, since: Option<Revision>) -> Result<Synced, Problem> {
    let name = source.name();
    let entries =
        |rows: Vec<Row>| rows.into_iter().map(|row| entry(source.as_ref(), row)).collect::<Vec<_>>();
    let (rows, revision, unreadable) =
        match source.sync(since).await.map_err(|error| Problem::of(name, &error))? {
            sources::Synced::All { rows, unreadable, revision } => {
                (Rows::All(entries(rows)), revision, unreadable)
            }
            sources::Synced::Changes { rows, unreadable, purged, revision } => {
                let gone = purged.into_iter().map(|id| key(name, id)).collect();
                (Rows::Changes { entries: entries(rows), gone }, Some(revision), unreadable)
            }
        };
    Ok(Synced {
        source: name.clone(),
        subject: source.subject(),
        rows,
        revision,
        unreadable: unreadable.into_iter().map(|bad| bad.raw).collect(),
        at: time::now(),
    })
}

pub(super) async fn load(
    inbox: &Inbox,
    keys: &[ActionKey],
) -> Vec<(ActionKey, Result<PendingAction, Problem>)> {
    let mut wanted: HashMap<&SourceName, Vec<ActionId>> = HashMap::new();
    for key in keys {
        wanted.entry(&key.source).or_default().push(key.id.clone());
    }
    let reads = wanted.into_iter().map(|(name, ids)| async move {
        let read = match inbox.source(name) {
            Ok(source) => source.get(&ids).await.map_err(|error| Problem::of(name, &error)),
            Err(problem) => Err(problem),
        };
        (name, read.map(|actions| Read::of(name, actions)))
    });
    let mut read: HashMap<&SourceName, Result<Read, Problem>> = join_all(reads).await.into_iter().collect();
    let mut take = |key: &ActionKey| match read.get_mut(&key.source) {
        Some(Ok(read)) => read.take(key),
        Some(Err(problem)) => Err(problem.clone()),
        None => Err(gone(key)),
    };
    keys.iter().map(|key| (key.clone(), take(key))).collect()
}

pub(super) fn entry(source: &dyn Source, row: Row) -> Entry {
    Entry { key: key(source.name(), row.id.clone()), can: source.capabilities(&row), row }
}

fn key(source: &SourceName, id: ActionId) -> ActionKey {
    ActionKey { source: source.clone(), id }
}

fn gone(key: &ActionKey) -> Problem {
    Problem {
        source: Some(key.source.clone()),
        what: "does not know this action any more".to_owned(),
        why: None,
    }
}

/// What one source gave, by id.
struct Read {
    found: HashMap<ActionId, Result<PendingAction, Problem>>,
    /// The first one that has not even a readable id: it may be any that is missing.
    nameless: Option<Problem>,
}

impl Read {
    fn of(source: &SourceName, actions: Vec<Result<PendingAction, Unreadable>>) -> Self {
        let mut read = Self { found: HashMap::new(), nameless: None };
        for action in actions {
            match action {
                Ok(action) => drop(read.found.insert(action.row.id.clone(), Ok(action))),
                Err(bad) => {
                    let id = id_of(&bad.raw);
                    let what = format!("sent an action that cannot be read: {}", bad.what);
                    let problem = Problem { source: Some(source.clone()), what, why: Some(bad.raw) };
                    match id {
                        Some(id) => drop(read.found.insert(id, Err(problem))),
                        None => drop(read.nameless.get_or_insert(problem)),
                    }
                }
            }
        }
        read
    }

    fn take(&mut self, key: &ActionKey) -> Result<PendingAction, Problem> {
        let missing = || Err(self.nameless.clone().unwrap_or_else(|| gone(key)));
        // Cloned, not removed: the same key may be asked for twice.
        self.found.get(&key.id).cloned().unwrap_or_else(missing)
    }
}

fn id_of(raw: &Untrusted) -> Option<ActionId> {
    Fields::of(raw.as_raw())?.text("id").map(|id| ActionId::new(id.as_raw()))
}
