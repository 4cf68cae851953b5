//! The state of filtering. Rows are searched in parts, because a key must not wait for 100,000 rows.

use tui_textarea::{CursorMove, TextArea};

use crate::config::{Config, GroupBy, SortBy};
use crate::domain::{SourceName, Timestamp, Untrusted};
use crate::inbox::filter::{Filter, FilterError, Finder};

use super::slots::RowId;
use super::state::{Cursor, Queue};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SavedFilter {
    pub name: String,
    pub filter: Filter,
    /// Saved in the inbox rather than the configuration, so it can be renamed and removed.
    pub made_here: bool,
}

/// The applied filter, and the one being searched for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filtering {
    /// The filter on screen; `None` shows everything.
    pub applied: Option<Filter>,
    pub scan: Option<Scan>,
}

#[derive(Clone, Debug)]
pub(crate) struct Scan {
    pub filter: Filter,
    pub finder: Finder,
    pub now: Timestamp,
    /// The arrangement of the list that is searched; when it changes, the search restarts.
    pub arrangement: u64,
    pub rows: Vec<RowId>,
    pub next: usize,
    pub found: Vec<RowId>,
    /// The cursor and first line to restore afterwards.
    pub then: Option<(Cursor, usize)>,
}

#[derive(Clone, Debug)]
pub(crate) struct FilterLine {
    pub area: TextArea<'static>,
    pub error: Option<FilterError>,
    /// Restored by Esc.
    pub before: Before,
    /// The list shows the result of this line's text, so a longer text only needs to search that.
    pub narrows: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Before {
    pub filter: Option<Filter>,
    pub cursor: Option<Cursor>,
    pub top: usize,
}

impl FilterLine {
    pub(crate) fn new(before: Before) -> Self {
        let text = before.filter.as_ref().map(|filter| filter.text().to_owned()).unwrap_or_default();
        let mut area = TextArea::new(vec![text]);
        area.move_cursor(CursorMove::End);
        // Typing replaces it, moving the cursor edits it.
        area.select_all();
        Self { area, error: None, before, narrows: false }
    }

    pub(crate) fn text(&self) -> String {
        self.area.lines().join(" ")
    }
}

impl Scan {
    /// Searches all rows, or only the visible ones if the new filter can only match fewer than `applied`.
    pub(crate) fn new(filter: Filter, applied: Option<&Filter>, queue: &Queue, now: Timestamp) -> Self {
        let narrows = applied.is_some_and(|applied| filter.narrows(applied));
        let may_match = |id: &&RowId| !narrows || queue.slot(**id).is_some_and(|slot| !slot.filtered_out);
        Self {
            finder: Finder::default(),
            now,
            arrangement: queue.arrangement,
            rows: queue.order.iter().filter(may_match).copied().collect(),
            next: 0,
            found: Vec::new(),
            then: None,
            filter,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    All,
    /// The filter typed before.
    Written(Filter),
    Saved(usize),
    Source(SourceName),
    Agent(Untrusted),
    Tool(Untrusted),
}

#[derive(Clone, Debug)]
pub(crate) struct PlacesPane {
    pub at: Place,
    /// Restored by Esc.
    pub before: Before,
}

#[derive(Clone, Debug)]
pub(crate) struct NameLine {
    pub area: TextArea<'static>,
    pub filter: Filter,
    pub renames: Option<String>,
    pub pane: Option<PlacesPane>,
}

/// The initial order, grouping and saved filters.
#[derive(Clone, Debug, Default)]
pub(crate) struct Triage {
    pub group: GroupBy,
    pub sort: SortBy,
    pub filters: Vec<SavedFilter>,
}

impl Triage {
    /// Fails if a saved filter is invalid.
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

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("filter {name:?}: {error}")]
pub struct SavedFilterError {
    pub name: String,
    pub error: FilterError,
}
