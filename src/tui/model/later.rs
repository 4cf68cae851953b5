//! Live updates that are held off while the list is frozen.

use std::collections::{HashMap, HashSet};

use crate::domain::{ActionKey, Entry, SourceName};
use crate::inbox::Rows;

use super::Queue;

/// What sources said meanwhile: the present row, or that it is gone. The last word counts.
#[derive(Clone, Debug, Default)]
pub struct Later {
    news: HashMap<ActionKey, Option<Entry>>,
}

impl Later {
    /// Keeps what a sync brought, as far as it differs from the list.
    pub fn keep(&mut self, queue: &Queue, source: &SourceName, rows: Rows) {
        match rows {
            Rows::All(entries) => {
                let listed: HashSet<&ActionKey> = entries.iter().map(|entry| &entry.key).collect();
                let known = queue.slots().iter().filter(|slot| slot.is_open()).map(|slot| &slot.entry.key);
                let known = known.chain(queue.held().map(|entry| &entry.key));
                let gone = known.filter(|key| key.source == *source && !listed.contains(key));
                let gone: Vec<ActionKey> = gone.cloned().collect();
                self.news.retain(|key, _| key.source != *source);
                self.news.extend(gone.into_iter().map(|key| (key, None)));
                for entry in entries {
                    if queue.get(&entry.key).is_none_or(|slot| slot.entry != entry) {
                        self.news.insert(entry.key.clone(), Some(entry));
                    }
                }
            }
            Rows::Changes { entries, gone } => {
                self.news.extend(entries.into_iter().map(|entry| (entry.key.clone(), Some(entry))));
                self.news.extend(gone.into_iter().map(|key| (key, None)));
            }
        }
    }

    pub fn len(&self) -> usize {
        self.news.len()
    }

    pub fn is_empty(&self) -> bool {
        self.news.is_empty()
    }

    /// The row as it is now, where `known` is how the list has it; `None` when it is gone.
    pub fn present<'a>(&'a self, known: &'a Entry) -> Option<&'a Entry> {
        self.news.get(&known.key).map_or(Some(known), Option::as_ref)
    }

    /// Actions that the list does not know.
    pub fn arrived<'a>(&'a self, queue: &'a Queue) -> impl Iterator<Item = &'a Entry> {
        let known = |key: &ActionKey| queue.get(key).is_some() || queue.held.contains_key(key);
        self.news.iter().filter(move |(key, _)| !known(key)).filter_map(|(_, entry)| entry.as_ref())
    }

    /// Everything, as one sync a source.
    pub fn take(&mut self) -> Vec<(SourceName, Rows)> {
        let mut by_source: HashMap<SourceName, (Vec<Entry>, Vec<ActionKey>)> = HashMap::new();
        for (key, entry) in self.news.drain() {
            let (entries, gone) = by_source.entry(key.source.clone()).or_default();
            match entry {
                Some(entry) => entries.push(entry),
                None => gone.push(key),
            }
        }
        by_source
            .into_iter()
            .map(|(source, (entries, gone))| (source, Rows::Changes { entries, gone }))
            .collect()
    }
}
