//! The people of all sources, as they told them.

use std::collections::{HashMap, HashSet};

use crate::domain::{ActionKey, SourceName, Untrusted};
use crate::text::{self, People, Shown};

#[derive(Clone, Debug, Default)]
pub(crate) struct PeopleState {
    pub(super) of: HashMap<SourceName, Known>,
}

/// What one source told.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    pub(super) people: People,
    pub(super) asking: bool,
    /// It has no such route: it is asked again on a reload only.
    pub(super) tells_nothing: bool,
    /// Those it was asked about that it may not know.
    pub(super) asked_about: HashSet<Untrusted>,
}

impl PeopleState {
    /// Who this subject is, in `room` columns.
    pub(crate) fn called(&self, source: &SourceName, subject: &Untrusted, room: usize) -> Shown {
        match self.of.get(source) {
            Some(known) => known.people.called(subject, room),
            None => People::default().called(subject, room),
        }
    }

    /// Who did something to an action, where that is known.
    pub(crate) fn who(&self, key: &ActionKey, by: Option<&Untrusted>) -> Option<Shown> {
        by.map(|by| self.called(&key.source, by, usize::MAX))
    }

    /// The same for whoever decides at several sources: where they call them differently, the subject.
    pub(crate) fn called_anywhere(&self, subject: &Untrusted, room: usize) -> Shown {
        let knowing = self.of.values().filter(|known| known.people.knows(subject));
        let mut called = knowing.map(|known| known.people.called(subject, room));
        let first = called.next();
        first
            .filter(|first| called.all(|other| other == *first))
            .unwrap_or_else(|| text::name(subject).cut(room))
    }

    /// The name as it was told, for the filter.
    pub(crate) fn name(&self, source: &SourceName, subject: &Untrusted) -> Option<&Untrusted> {
        self.of.get(source)?.people.name(subject)
    }
}
