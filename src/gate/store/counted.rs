//! Briefings and their scope, and the parameters of a flows query.

use std::collections::HashMap;

use serde::Deserialize;

use crate::domain::{Minute, Risk, Timestamp};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AskedFlows {
    pub(crate) workspace: String,
    pub(crate) from: Minute,
    /// The first minute for tools and reviewers, inclusive.
    pub(crate) decided: Minute,
    pub(crate) now: Timestamp,
    pub(crate) reviewers: bool,
    /// Groups of each folded subject, to count by group.
    pub(crate) groups: Option<HashMap<String, Vec<String>>>,
}

/// The scope of a briefing: a workspace, optionally only one session, one mission, or actions in both.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Counts {
    pub(crate) workspace: String,
    pub(crate) session: Option<String>,
    pub(crate) mission: Option<String>,
}

impl Counts {
    #[cfg(test)]
    pub(crate) fn all(workspace: &str) -> Self {
        Self { workspace: workspace.to_owned(), ..Self::default() }
    }

    pub(crate) const fn is_narrowed(&self) -> bool {
        self.session.is_some() || self.mission.is_some()
    }
}

/// The outstanding actions of a scope at one moment.
#[derive(Debug)]
pub(crate) struct Briefed {
    pub(crate) pending: u64,
    pub(crate) blocked_missions: u64,
    pub(crate) unknown: u64,
    pub(crate) lapsing: u64,
    pub(crate) ran_other: u64,
    pub(crate) paused_at: Option<Timestamp>,
    /// The oldest batches, and whether there are more. `None` if not asked for.
    pub(crate) batches: Option<(Vec<OpenBatch>, bool)>,
    pub(crate) revision: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenBatch {
    pub(crate) id: String,
    pub(crate) tool: String,
    pub(crate) mission: Option<String>,
    pub(crate) pending: u64,
    pub(crate) oldest: Timestamp,
    pub(crate) highest_risk: Risk,
}

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
    pub(crate) const fn most(self) -> usize {
        match self {
            Self::None => 0,
            Self::Top => 20,
            Self::All => 500,
        }
    }
}
