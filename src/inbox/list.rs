//! Reads the lists of sources as one list, and actions in full.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::join_all;

use super::{Inbox, Problem, Rows, Synced};
use crate::contract::action::Unreadable;
use crate::contract::time;
use crate::domain::{ActionId, ActionKey, Entry, PendingAction, Revision, Risks, Row, SourceName, Timestamp};
use crate::sources::{self, Source, SourceError};

/// What was listed without an id, for as long as it is listed: its source cannot be asked for it.
#[derive(Debug, Default)]
pub(super) struct RowsWithoutId(Mutex<HashMap<ActionKey, PendingAction>>);

impl RowsWithoutId {
    /// So many are kept; nobody looks at more.
    const MOST: usize = 1_000;

    fn keep(&self, key: ActionKey, action: PendingAction) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < Self::MOST {
            kept.insert(key, action);
        }
    }

    fn forget(&self, source: &SourceName) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|key, _| key.source != *source);
    }

    fn get(&self, key: &ActionKey) -> Option<PendingAction> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }
}

impl Inbox {
    /// What the configuration knows of the tools of each source.
    #[must_use]
    pub fn with_risks(self, risks: impl IntoIterator<Item = (SourceName, Risks)>) -> Self {
        Self { risks: Arc::new(risks.into_iter().collect()), ..self }
    }

    pub(super) fn raise(&self, source: &SourceName, row: &mut Row) {
        if let Some(risks) = self.risks.get(source) {
            row.risk = risks.raised(&row.tool, row.risk.clone());
        }
    }
}

/// What a source lists, with a stand-in for everything that cannot be read and whose id nothing else has.
pub(super) async fn sync(
    inbox: &Inbox,
    source: &Arc<dyn Source>,
    since: Option<Revision>,
) -> Result<Synced, Problem> {
    let name = source.name();
    let entries = |rows: Vec<Row>, unreadable: &[Unreadable]| {
        let known: HashSet<ActionId> = rows.iter().map(|row| row.id.clone()).collect();
        let stand_ins = unreadable.iter().map(Unreadable::stand_in);
        let stand_ins = stand_ins.filter(|action| !known.contains(&action.row.id)).map(|action| {
            let mut row = action.row.clone();
            if row.created_at == Timestamp::default() {
                row.created_at = time::now();
            }
            let nameless = row.unreadable.is_some_and(|stand_in| !stand_in.has_id);
            if nameless {
                inbox.nameless.keep(key(name, row.id.clone()), action);
            }
            row
        });
        let stand_ins: Vec<Row> = stand_ins.collect();
        rows.into_iter().chain(stand_ins).map(|row| entry(inbox, source.as_ref(), row)).collect::<Vec<_>>()
    };
    let (rows, revision, unreadable) =
        match source.sync(since).await.map_err(|error| Problem::of(name, &error))? {
            sources::Synced::All { rows, unreadable, revision } => {
                inbox.nameless.forget(name);
                (Rows::All(entries(rows, &unreadable)), revision, unreadable)
            }
            sources::Synced::Changes { rows, unreadable, purged, revision } => {
                let gone = purged.into_iter().map(|id| key(name, id)).collect();
                (Rows::Changes { entries: entries(rows, &unreadable), gone }, Some(revision), unreadable)
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
    for key in keys.iter().filter(|key| inbox.nameless.get(key).is_none()) {
        wanted.entry(&key.source).or_default().push(key.id.clone());
    }
    let reads = wanted.into_iter().map(|(name, ids)| async move {
        let read = match inbox.source(name) {
            Ok(source) => source.get(&ids).await.map_err(|error| Problem::of(name, &error)),
            Err(problem) => Err(problem),
        };
        let raised = |mut action: PendingAction| {
            inbox.raise(name, &mut action.row);
            action
        };
        let read = read.map(|actions| actions.into_iter().map(|action| action.map(raised)).collect());
        (name, read.map(|actions| Read::of(name, actions)))
    });
    let mut read: HashMap<&SourceName, Result<Read, Problem>> = join_all(reads).await.into_iter().collect();
    let mut take = |key: &ActionKey| match inbox.nameless.get(key) {
        Some(action) => Ok(action),
        None => taken(&mut read, key),
    };
    keys.iter().map(|key| (key.clone(), take(key))).collect()
}

fn taken(
    read: &mut HashMap<&SourceName, Result<Read, Problem>>,
    key: &ActionKey,
) -> Result<PendingAction, Problem> {
    match read.get_mut(&key.source) {
        Some(Ok(read)) => read.take(key),
        Some(Err(problem)) => Err(problem.clone()),
        None => Err(gone(key)),
    }
}

pub(super) async fn beginning(
    inbox: &Inbox,
    source: &Arc<dyn Source>,
    prefix: &str,
) -> Result<Vec<ActionId>, Problem> {
    let name = source.name();
    let mut ids = match source.beginning(prefix).await {
        Ok(ids) => ids,
        Err(SourceError::NotOffered) => {
            let (Rows::All(rows) | Rows::Changes { entries: rows, .. }) =
                sync(inbox, source, None).await?.rows;
            let listed = rows.into_iter().map(|entry| entry.key.id);
            let begins = |id: &ActionId| id.as_raw().starts_with(prefix);
            listed.filter(begins).chain(inbox.journal.ids_beginning(name, prefix).await?).collect()
        }
        Err(error) => return Err(Problem::of(name, &error)),
    };
    ids.sort();
    ids.dedup();
    Ok(ids)
}

pub(super) fn entry(inbox: &Inbox, source: &dyn Source, mut row: Row) -> Entry {
    inbox.raise(source.name(), &mut row);
    Entry { key: key(source.name(), row.id.clone()), can: source.capabilities(&row), row }
}

fn key(source: &SourceName, id: ActionId) -> ActionKey {
    ActionKey { source: source.clone(), id }
}

fn gone(key: &ActionKey) -> Problem {
    Problem { source: Some(key.source.clone()), what: super::problem::GONE.to_owned(), why: None }
}

/// What one source gave, by id.
struct Read {
    found: HashMap<ActionId, PendingAction>,
    /// The first one that has not even a readable id: it may be any that is missing.
    nameless: Option<Problem>,
}

impl Read {
    fn of(source: &SourceName, actions: Vec<Result<PendingAction, Unreadable>>) -> Self {
        let mut read = Self { found: HashMap::new(), nameless: None };
        for action in actions {
            match action {
                Ok(action) => drop(read.found.insert(action.row.id.clone(), action)),
                Err(bad) if bad.id.is_some() => {
                    let stand_in = bad.stand_in();
                    read.found.entry(stand_in.row.id.clone()).or_insert(stand_in);
                }
                Err(bad) => {
                    let what = format!("sent an action that cannot be read: {}", bad.what);
                    let problem = Problem { source: Some(source.clone()), what, why: Some(bad.raw) };
                    read.nameless.get_or_insert(problem);
                }
            }
        }
        read
    }

    fn take(&mut self, key: &ActionKey) -> Result<PendingAction, Problem> {
        let missing = || Err(self.nameless.clone().unwrap_or_else(|| gone(key)));
        // Cloned, not removed: the same key may be asked for twice.
        self.found.get(&key.id).cloned().map_or_else(missing, Ok)
    }
}
