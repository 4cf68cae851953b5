//! The people that the sources reported.

use std::collections::{HashMap, HashSet};

use crate::domain::{ActionKey, SourceName, Untrusted};
use crate::text::{self, People, Shown};

#[derive(Clone, Debug, Default)]
pub(crate) struct PeopleState {
    pub(super) of: HashMap<SourceName, Known>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    pub(super) people: People,
    pub(super) asking: bool,
    /// The source has no such route. It is asked again only on a reload.
    pub(super) tells_nothing: bool,
    /// Subjects that the source was asked about and may not know.
    pub(super) asked_about: HashSet<Untrusted>,
}

impl PeopleState {
    pub(crate) fn called(&self, source: &SourceName, subject: &Untrusted, room: usize) -> Shown {
        match self.of.get(source) {
            Some(known) => known.people.called(subject, room),
            None => People::default().called(subject, room),
        }
    }

    pub(crate) fn who(&self, key: &ActionKey, by: Option<&Untrusted>) -> Option<Shown> {
        by.map(|by| self.called(&key.source, by, usize::MAX))
    }

    /// Returns the display name of a subject known to several sources; the subject itself if their names differ.
    pub(crate) fn called_anywhere(&self, subject: &Untrusted, room: usize) -> Shown {
        let knowing = self.of.values().filter(|known| known.people.knows(subject));
        let mut called = knowing.map(|known| known.people.called(subject, room));
        let first = called.next();
        first
            .filter(|first| called.all(|other| other == *first))
            .unwrap_or_else(|| text::name(subject).cut(room))
    }

    /// Returns the name as the source sent it, for the filter.
    pub(crate) fn name(&self, source: &SourceName, subject: &Untrusted) -> Option<&Untrusted> {
        self.of.get(source)?.people.name(subject)
    }
}
