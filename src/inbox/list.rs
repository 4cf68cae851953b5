//! Reads the lists of sources as one list, and actions in full.

use std::collections::HashMap;
use std::sync::PoisonError;

use futures_util::future::join_all;
use tokio::sync::mpsc;

use super::core::Inbox;
use super::problem::{GONE, Problem};
use super::timeouts::{Wait, WithTimeouts};
use crate::clock;
use crate::contract::action::Unreadable;
use crate::domain::{
    ActionId, ActionKey, Claim, Entry, IdSet, PendingAction, Revision, Row, SourceName, Timestamp, Untrusted,
};
use crate::sources::{self, Full, PagesEnd, SourceError};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Synced {
    pub source: SourceName,
    /// Our subject at the source, if known.
    pub subject: Option<Untrusted>,
    /// Claims at the source; `None` if it keeps none.
    pub claims: Option<Vec<Claim>>,
    pub rows: Rows,
    pub revision: Option<Revision>,
    /// Items that could not be read. They are shown and do not hide others.
    pub unreadable: Vec<Untrusted>,
    pub at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rows {
    /// All pending and unknown actions. Any other action is settled.
    All(Vec<Entry>),
    /// Changed rows, also settled ones, and keys that were purged.
    Changes { entries: Vec<Entry>, gone: Vec<ActionKey> },
    /// A page of the list. More follow.
    Page { entries: Vec<Entry>, first: bool },
    /// The last page, with the ids of all pages. Any other action is settled.
    LastPage { entries: Vec<Entry>, listed: IdSet },
}

impl Rows {
    pub fn entries(&self) -> &[Entry] {
        match self {
            Self::All(entries)
            | Self::Changes { entries, .. }
            | Self::Page { entries, .. }
            | Self::LastPage { entries, .. } => entries,
        }
    }

    pub fn into_entries(self) -> Vec<Entry> {
        match self {
            Self::All(entries)
            | Self::Changes { entries, .. }
            | Self::Page { entries, .. }
            | Self::LastPage { entries, .. } => entries,
        }
    }
}

impl Inbox {
    /// Lists pending and unknown actions, or the changes since a revision. After a failure, watchers get `Changed`
    /// within seconds.
    pub async fn sync(&self, source: &SourceName, since: Option<Revision>) -> Result<Synced, Problem> {
        let answer = self.synced(self.source(source)?, since).await;
        self.misses.note(source, answer.is_err());
        answer
    }

    /// Like [`sync`](Self::sync) without a revision, page by page if the source has pages. Sends each page to `told`
    /// and returns the last.
    pub async fn sync_in_pages(
        &self,
        name: &SourceName,
        told: mpsc::Sender<Synced>,
    ) -> Result<Synced, Problem> {
        let source = self.source(name)?;
        let (pages, mut come) = mpsc::channel(1);
        let asked = source.ask(Wait::List, |source| source.list_in_pages(pages));
        let passing = async {
            let mut ids = IdSet::default();
            while let Some(rows) = come.recv().await {
                let first = ids.is_empty();
                ids.extend(rows.iter().map(|row| row.id.clone()));
                let entries = rows.into_iter().map(|row| self.entry(name, row)).collect();
                let page = Rows::Page { entries, first };
                if told.send(brought(source, page, None, Vec::new())).await.is_err() {
                    break;
                }
            }
            ids
        };
        let (answer, mut listed) = futures_util::future::join(asked, passing).await;
        let answer = match answer {
            Ok(Some(PagesEnd { unreadable, revision })) => {
                let entries = self.stand_ins(name, &unreadable, &listed);
                listed.extend(entries.iter().map(|entry| entry.key.id.clone()));
                Ok(brought(source, Rows::LastPage { entries, listed }, revision, unreadable))
            }
            Ok(None) => self.synced(source, None).await,
            Err(error) => Err(Problem::of(name, &error)),
        };
        self.misses.note(name, answer.is_err());
        answer
    }

    /// Returns stand-in rows for unreadable items whose id no other row has.
    fn stand_ins(&self, name: &SourceName, unreadable: &[Unreadable], known: &IdSet) -> Vec<Entry> {
        let stand_ins = unreadable.iter().map(|bad| bad.stand_in().row);
        let stand_ins = stand_ins.filter(|row| !known.contains(&row.id)).map(|mut row| {
            if row.created_at == Timestamp::default() {
                row.created_at = clock::now();
            }
            self.entry(name, row)
        });
        stand_ins.collect()
    }

    async fn synced(&self, source: &WithTimeouts, since: Option<Revision>) -> Result<Synced, Problem> {
        let name = source.name();
        let entries = |rows: Vec<Row>, unreadable: &[Unreadable]| {
            let stand_ins = if unreadable.is_empty() {
                Vec::new()
            } else {
                self.stand_ins(name, unreadable, &rows.iter().map(|row| row.id.clone()).collect())
            };
            let entries = rows.into_iter().map(|row| self.entry(name, row));
            entries.chain(stand_ins).collect::<Vec<_>>()
        };
        let answer = source.ask(Wait::List, |source| source.sync(since)).await;
        let (rows, revision, unreadable) = match answer.map_err(|error| Problem::of(name, &error))? {
            sources::Synced::All { rows, unreadable, revision } => {
                (Rows::All(entries(rows, &unreadable)), revision, unreadable)
            }
            sources::Synced::Changes { rows, unreadable, purged, revision } => {
                let gone = purged.into_iter().map(|id| key(name, id)).collect();
                (Rows::Changes { entries: entries(rows, &unreadable), gone }, Some(revision), unreadable)
            }
        };
        Ok(brought(source, rows, revision, unreadable))
    }

    /// Reads actions in full, in the order of the keys. One that cannot be read is a problem among the others.
    pub async fn load(&self, keys: &[ActionKey]) -> Vec<(ActionKey, Result<PendingAction, Problem>)> {
        let mut wanted: HashMap<&SourceName, Vec<ActionId>> = HashMap::new();
        for key in keys {
            wanted.entry(&key.source).or_default().push(key.id.clone());
        }
        let reads = wanted.into_iter().map(|(name, ids)| async move {
            let read = match self.source(name) {
                Ok(source) => full(source, ids).await.map_err(|error| Problem::of(name, &error)),
                Err(problem) => Err(problem),
            };
            let raised = |mut action: PendingAction| {
                self.raise(name, &mut action.row);
                action
            };
            let read = read.map(|actions| actions.into_iter().map(|action| action.map(raised)).collect());
            (name, read.map(|actions| Read::of(name, actions)))
        });
        let mut read: HashMap<&SourceName, Result<Read, Problem>> =
            join_all(reads).await.into_iter().collect();
        let mut take = |key: &ActionKey| match read.get_mut(&key.source) {
            Some(Ok(read)) => read.take(key),
            Some(Err(problem)) => Err(problem.clone()),
            None => Err(gone(key)),
        };
        keys.iter().map(|key| (key.clone(), take(key))).collect()
    }

    /// Like [`load`](Self::load), with the journal's copy of a lost decision's action if its source does not have it.
    pub async fn load_or_kept(&self, keys: &[ActionKey]) -> Vec<(ActionKey, Result<PendingAction, Problem>)> {
        let mut loaded = self.load(keys).await;
        for (key, answer) in &mut loaded {
            if answer.is_err()
                && let Some(action) = self.kept(key).await
            {
                *answer = Ok(action);
            }
        }
        loaded
    }

    /// Returns ids at a source with this beginning, sorted; not all if there are many. Searches its list and the
    /// decisions from here if the source has no look-up.
    pub async fn beginning(&self, name: &SourceName, prefix: &str) -> Result<Vec<ActionId>, Problem> {
        let source = self.source(name)?;
        let told = source.ask_able(Wait::Look, |able| Some(able.lookup?.beginning(prefix))).await;
        let mut ids = match told.map_err(|error| Problem::of(name, &error))? {
            Some(ids) => ids,
            None => {
                let rows = self.synced(source, None).await?.rows.into_entries();
                let listed = rows.into_iter().map(|entry| entry.key.id);
                let begins = |id: &ActionId| id.as_raw().starts_with(prefix);
                listed.filter(begins).chain(self.journal.ids_beginning(name, prefix).await?).collect()
            }
        };
        ids.sort();
        ids.dedup();
        Ok(ids)
    }

    pub(super) fn entry(&self, source: &SourceName, mut row: Row) -> Entry {
        self.raise(source, &mut row);
        self.names.lock().unwrap_or_else(PoisonError::into_inner).share(&mut row);
        Entry { key: key(source, row.id.clone()), row }
    }
}

/// Reads actions of a source. Those without an id are taken from its list, because they cannot be requested.
async fn full(source: &WithTimeouts, mut ids: Vec<ActionId>) -> Result<Vec<Full>, SourceError> {
    let mut found: Vec<Full> = Vec::new();
    if ids.iter().any(Unreadable::stands_in_as) {
        let listed = source.ask(Wait::List, |source| source.sync(None)).await?;
        let (sources::Synced::All { unreadable, .. } | sources::Synced::Changes { unreadable, .. }) = listed;
        for action in unreadable.iter().map(Unreadable::stand_in) {
            if let Some(nth) = ids.iter().position(|id| *id == action.row.id) {
                ids.swap_remove(nth);
                found.push(Ok(action));
            }
        }
    }
    if !ids.is_empty() {
        found.extend(source.get(&ids).await?);
    }
    Ok(found)
}

fn brought(
    source: &WithTimeouts,
    rows: Rows,
    revision: Option<Revision>,
    unreadable: Vec<Unreadable>,
) -> Synced {
    let unreadable = unreadable.into_iter().map(|bad| bad.raw).collect();
    let (source, subject, claims) = (source.name().clone(), source.subject(), source.claims());
    Synced { source, subject, claims, rows, revision, unreadable, at: clock::now() }
}

fn key(source: &SourceName, id: ActionId) -> ActionKey {
    ActionKey { source: source.clone(), id }
}

fn gone(key: &ActionKey) -> Problem {
    Problem::at(&key.source, GONE)
}

struct Read {
    found: HashMap<ActionId, PendingAction>,
    /// The first item without a readable id. It may be any missing action.
    nameless: Option<Problem>,
}

impl Read {
    fn of(source: &SourceName, actions: Vec<Full>) -> Self {
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
        // Cloned, because the same key may be requested twice.
        self.found.get(&key.id).cloned().map_or_else(missing, Ok)
    }
}
