//! What a list is about, and its pages.

/// What a list is about. `None` and empty mean everything.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filter {
    pub(crate) workspace: String,
    /// Words in storage.
    pub(crate) statuses: Vec<String>,
    /// Column and value; the columns are ours, never a client's.
    pub(crate) equal: Vec<(&'static str, String)>,
    pub(crate) ids: Vec<String>,
    /// The id begins so.
    pub(crate) id_prefix: Option<String>,
    /// Rows older than this one.
    pub(crate) before: Option<i64>,
    pub(crate) limit: u32,
    pub(crate) bytes: u64,
}

/// By what the rows of a list are looked up. The rest of the filter is asked of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LookedUp {
    ById,
    By(&'static str),
    /// In each of them the newest.
    ByStatus,
    Everything,
}

impl Filter {
    /// What leads past the history of a workspace: a name that few actions have, else statuses in which few are.
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

/// One page, newest first.
#[derive(Debug)]
pub(crate) struct Page<T> {
    pub(crate) items: Vec<T>,
    /// Where the next page starts; `None` at the end.
    pub(crate) next: Option<i64>,
    /// Of the workspace, read before the items: nothing newer is missed by asking for changes since then.
    pub(crate) revision: u64,
}

/// What stands behind the rows of a page: as in [`Page`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageEnd {
    pub(crate) next: Option<i64>,
    pub(crate) revision: u64,
}
