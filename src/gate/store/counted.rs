//! What is counted: what a briefing is about, and what is asked of how actions came and went.

use std::collections::HashMap;

use serde::Deserialize;

use crate::domain::{Minute, Timestamp};

/// What is asked of how actions came and went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AskedFlows {
    pub(crate) workspace: String,
    /// From its first millisecond on.
    pub(crate) from: Minute,
    /// Tools and reviewers, in the same way.
    pub(crate) decided: Minute,
    pub(crate) now: Timestamp,
    /// Who decided, too.
    pub(crate) reviewers: bool,
    /// And their groups: those of each subject, which is folded.
    pub(crate) groups: Option<HashMap<String, Vec<String>>>,
}

/// What a briefing counts: a workspace, or of it only one session, one mission, or what is of both.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Counts {
    pub(crate) workspace: String,
    pub(crate) session: Option<String>,
    pub(crate) mission: Option<String>,
}

impl Counts {
    /// Everything of a workspace.
    #[cfg(test)]
    pub(crate) fn all(workspace: &str) -> Self {
        Self { workspace: workspace.to_owned(), ..Self::default() }
    }

    /// A part of the workspace only.
    pub(crate) const fn is_narrowed(&self) -> bool {
        self.session.is_some() || self.mission.is_some()
    }
}

/// Which batches a briefing lists; the oldest are listed first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Batches {
    None,
    /// The oldest 20.
    Top,
    /// The oldest 500.
    #[default]
    All,
}

impl Batches {
    /// So many at most.
    pub(crate) const fn most(self) -> usize {
        match self {
            Self::None => 0,
            Self::Top => 20,
            Self::All => 500,
        }
    }
}
