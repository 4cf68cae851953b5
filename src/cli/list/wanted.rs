//! Which actions: the inbox's own filter language, without a screen.

use crate::cli::args::ListArgs;
use crate::cli::exit::Usage;
use crate::config::NamedFilter;
use crate::domain::{DecisionKind, Entry, SourceName, Status, Timestamp};
use crate::inbox::filter::{Filter, Finder, Is, Subject};

/// A filter and what it takes to apply it.
pub(super) struct Wanted {
    filter: Filter,
    finder: Finder,
    now: Timestamp,
}

impl Wanted {
    /// The saved filter and the written one, both of which must hold. A mistake, an unknown name and a word that only a screen
    /// can answer are told as wrong arguments.
    pub(super) fn of(
        args: &ListArgs,
        saved: &[NamedFilter],
        sources: &[SourceName],
        now: Timestamp,
    ) -> Result<Self, Usage> {
        let mut text = args.filter.join(" ");
        if let Some(name) = &args.saved {
            let found =
                saved.iter().find(|filter| filter.name == *name).ok_or_else(|| unknown(name, saved))?;
            text = format!("{} {text}", found.text);
        }
        let wrong = |error| Usage(format!("the filter: {error}"));
        let filter = Filter::parse(&text).map_err(wrong)?;
        filter.check_sources(sources).map_err(wrong)?;
        if let Some(word) = filter.only_on_screen() {
            return Err(Usage(format!(
                "the filter: {word} is something that only a screen knows; without one there are is:high, is:unknown and \
                 is:settled"
            )));
        }
        Ok(Self { filter, finder: Finder::default(), now })
    }

    pub(super) fn holds(&mut self, entry: &Entry) -> bool {
        self.filter.is_empty() || self.finder.holds(&self.filter, &Listed { entry, now: self.now }, self.now)
    }

    /// Everything is wanted.
    pub(super) fn is_empty(&self) -> bool {
        self.filter.is_empty()
    }

    pub(super) const fn now(&self) -> Timestamp {
        self.now
    }
}

fn unknown(name: &str, saved: &[NamedFilter]) -> Usage {
    let names: Vec<_> = saved.iter().map(|filter| format!("{:?}", filter.name)).collect();
    if names.is_empty() {
        return Usage(format!(
            "there is no saved filter {name:?}; + in the inbox or [[filter]] in the configuration makes one"
        ));
    }
    Usage(format!("there is no saved filter {name:?}; there are {}", names.join(", ")))
}

/// An action that no screen ever showed.
struct Listed<'a> {
    entry: &'a Entry,
    now: Timestamp,
}

impl Subject for Listed<'_> {
    fn entry(&self) -> &Entry {
        self.entry
    }

    fn staged(&self) -> Option<DecisionKind> {
        None
    }

    fn is(&self, state: Is) -> bool {
        let row = &self.entry.row;
        match state {
            Is::High => row.risk.is_high(),
            Is::Unknown => row.status == Status::Unknown,
            Is::Settled => {
                row.has_expired(self.now) || !(row.status.is_pending() || row.status == Status::Unknown)
            }
            Is::Unopened
            | Is::Opened
            | Is::Staged
            | Is::Undecided
            | Is::Marked
            | Is::Flagged
            | Is::New
            | Is::Stale => false,
        }
    }
}
