//! What a source says is outstanding.

use super::{Claim, Revision, Risk, Risks, Timestamp, Untrusted};

/// Outstanding counts, as a source pushed them. A hint: the list is the truth.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Briefing {
    pub pending: u64,
    /// Missions that cannot go on until somebody decides, where the source counts them.
    pub blocked_missions: Option<u64>,
    /// Actions whose outcome nobody knows, where the source counts them.
    pub unknown: Option<u64>,
    /// Approvals that no agent claimed in three quarters of their time, where the source counts them.
    pub lapsing: Option<u64>,
    /// Runs of the last hour of something else than what was approved, where the source counts them.
    pub ran_other: Option<u64>,
    /// Since when nothing approved is run there; `None` while it is, or where the source does not tell.
    pub paused: Option<Timestamp>,
    /// Who is on what; `None` where nobody can say so.
    pub claims: Option<Vec<Claim>>,
    pub revision: Option<Revision>,
}

/// What waits at a source, counted by the source itself.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Outstanding {
    pub pending: u64,
    /// Of them, high-risk or worse.
    pub high: u64,
    /// Since when the first of them waits.
    pub oldest: Option<Timestamp>,
    /// Those of which most waits, at most [`Outstanding::TOOLS`].
    pub tools: Vec<ToolOutstanding>,
}

/// One tool of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolOutstanding {
    pub tool: Untrusted,
    pub pending: u64,
    pub high: u64,
}

impl Outstanding {
    /// So many tools are told apart.
    pub const TOOLS: usize = 500;

    /// The same with what a reviewer's configuration knows of the tools.
    #[must_use]
    pub fn raised(mut self, risks: &Risks) -> Self {
        for tool in &mut self.tools {
            if risks.raised(&tool.tool, Risk::Low).is_high() {
                self.high = self.high.saturating_add(tool.pending.saturating_sub(tool.high));
                tool.high = tool.pending;
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configured_risk_counts_every_action_of_its_tool_as_high() {
        let tool = |name: &str, pending, high| ToolOutstanding { tool: name.into(), pending, high };
        let counted = Outstanding {
            pending: 12,
            high: 3,
            tools: vec![tool("refund", 5, 2), tool("save", 6, 1)],
            ..Outstanding::default()
        };
        let risks = Risks::new([("refund".to_owned(), Risk::Critical), ("save".to_owned(), Risk::Medium)]);

        let raised = counted.clone().raised(&risks);

        assert_eq!((raised.pending, raised.high), (12, 6));
        assert_eq!(counted.clone().raised(&Risks::default()), counted);
    }
}
