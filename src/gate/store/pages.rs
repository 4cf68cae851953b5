//! The filter of a list, and its pages.

/// The filter of a list. `None` and empty values match everything.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filter {
    pub(crate) workspace: String,
    pub(crate) statuses: Vec<String>,
    /// Column and value. The column never comes from a client.
    pub(crate) equal: Vec<(&'static str, String)>,
    pub(crate) ids: Vec<String>,
    pub(crate) id_prefix: Option<String>,
    /// Only rows older than this `seq`.
    pub(crate) before: Option<i64>,
    pub(crate) limit: u32,
    pub(crate) bytes: u64,
}

/// How SQL finds the rows of a list. Other parts of the filter are checked row by row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LookedUp {
    ById,
    By(&'static str),
    ByStatus,
    Everything,
}

impl Filter {
    /// Chooses a lookup that does not read the workspace's history: a name that few actions have, else statuses with
    /// few actions.
    pub(crate) fn looked_up(&self) -> LookedUp {
        if !self.ids.is_empty() || self.id_prefix.is_some() {
            return LookedUp::ById;
        }
        let named = |columns: &[&'static str]| {
            columns.iter().find(|column| self.equal.iter().any(|(name, _)| name == *column)).copied()
        };
        let waits =
            |status: &String| ["pending", "approved", "running", "unknown"].contains(&status.as_str());
        let open = !self.statuses.is_empty() && self.statuses.iter().all(waits);
        let few = named(&["batch", "mission", "session", "run"]);
        let many = named(&["agent", "tool", "risk"]).filter(|_| !open);
        match few.or(many) {
            Some(column) => LookedUp::By(column),
            None if self.statuses.is_empty() => LookedUp::Everything,
            None => LookedUp::ByStatus,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Page<T> {
    pub(crate) items: Vec<T>,
    /// The `before` of the next page; `None` at the end.
    pub(crate) next: Option<i64>,
    /// The workspace's revision, read before the items. Asking for changes since then misses none.
    pub(crate) revision: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct PageEnd {
    pub(crate) next: Option<i64>,
    pub(crate) revision: u64,
}
