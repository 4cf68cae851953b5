//! What the list is narrowed to, and the search for it: a stretch at a time, so that no key waits for 100,000 rows.

use tui_textarea::{CursorMove, TextArea};

use crate::config::{Config, GroupBy, SortBy};
use crate::domain::{SourceName, Timestamp, Untrusted};
use crate::inbox::filter::{Filter, FilterError, Finder};

use super::state::{Cursor, Queue};

/// A filter with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SavedFilter {
    pub name: String,
    pub filter: Filter,
    /// Saved in the inbox, and not from the configuration: it can be renamed and removed here.
    pub made_here: bool,
}

/// The filter that stands, and the one that is being looked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filtering {
    /// What the list shows now; `None` is everything.
    pub applied: Option<Filter>,
    pub scan: Option<Scan>,
}

/// A search that is under way.
#[derive(Clone, Debug)]
pub(crate) struct Scan {
    pub filter: Filter,
    pub finder: Finder,
    /// The moment that ages are counted from.
    pub now: Timestamp,
    /// Of the list that is searched; another one needs another search.
    pub arrangement: u64,
    /// Where to look, by index.
    pub rows: Vec<u32>,
    pub next: usize,
    /// By index, what was found.
    pub shown: Vec<bool>,
    /// Where the cursor goes afterwards, and the first line on screen.
    pub then: Option<(Cursor, usize)>,
}

/// The line in which a filter is written.
#[derive(Clone, Debug)]
pub(crate) struct FilterLine {
    pub area: TextArea<'static>,
    pub error: Option<FilterError>,
    /// What stood before, for Esc.
    pub before: Before,
    /// What the list shows was found since this line was opened: a longer text need only look there.
    pub narrows: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Before {
    pub filter: Option<Filter>,
    pub cursor: Option<Cursor>,
    pub top: usize,
}

impl FilterLine {
    /// Begins with the filter that stands, to be replaced or written on.
    pub(crate) fn new(before: Before) -> Self {
        let text = before.filter.as_ref().map(|filter| filter.text().to_owned()).unwrap_or_default();
        let mut area = TextArea::new(vec![text]);
        area.move_cursor(CursorMove::End);
        // Typing replaces it, moving in it edits it.
        area.select_all();
        Self { area, error: None, before, narrows: false }
    }

    pub(crate) fn text(&self) -> String {
        self.area.lines().join(" ")
    }
}

impl Filtering {
    /// Begins to look for what a filter shows; where it can only be less than what is shown now, only there.
    pub(crate) fn begin(&mut self, filter: Filter, narrows: bool, queue: &Queue, now: Timestamp) {
        let less = narrows && self.applied.as_ref().is_some_and(|applied| filter.narrows(applied));
        let known = queue.shown().filter(|_| less);
        let is_known = |index: &&u32| known.is_none_or(|known| known.get(**index as usize) == Some(&true));
        let rows = queue.order().iter().filter(is_known).copied().collect();
        self.scan = Some(Scan {
            filter,
            finder: Finder::default(),
            now,
            arrangement: queue.arrangement(),
            rows,
            next: 0,
            shown: vec![false; queue.slots().len()],
            then: None,
        });
    }
}

/// What the list can be narrowed to by standing on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    All,
    /// What was written in the filter line before.
    Written(Filter),
    /// By its index among the saved filters.
    Saved(usize),
    Source(SourceName),
    Agent(Untrusted),
    Tool(Untrusted),
}

/// The pane while keys go to it.
#[derive(Clone, Debug)]
pub(crate) struct PlacesPane {
    pub at: Place,
    /// What the list showed before, for Esc.
    pub before: Before,
}

/// The line in which a saved filter gets its name.
#[derive(Clone, Debug)]
pub(crate) struct NameLine {
    pub area: TextArea<'static>,
    /// What the name is for.
    pub filter: Filter,
    /// The name it has already.
    pub renames: Option<String>,
    /// Where keys go afterwards.
    pub pane: Option<PlacesPane>,
}

/// How the list begins, and the filters that have names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Triage {
    pub group: GroupBy,
    pub sort: SortBy,
    pub filters: Vec<SavedFilter>,
}

impl Triage {
    /// Fails where a saved filter cannot be read.
    pub(crate) fn of(config: &Config) -> Result<Self, SavedFilterError> {
        let filters = config.filters.iter().map(|named| {
            let wrong = |error| SavedFilterError { name: named.name.clone(), error };
            let filter = Filter::parse(&named.text).map_err(wrong)?;
            Ok(SavedFilter { name: named.name.clone(), filter, made_here: false })
        });
        let filters = filters.collect::<Result<_, _>>()?;
        Ok(Self { group: config.ui.group, sort: config.ui.sort, filters })
    }
}

/// A saved filter that cannot be read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("filter {name:?}: {error}")]
pub struct SavedFilterError {
    pub name: String,
    pub error: FilterError,
}
