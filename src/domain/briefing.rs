//! Outstanding counts of a source.

use super::{Claim, Revision, Risk, Risks, Timestamp, Untrusted};

/// Outstanding counts pushed by a source. Only a hint; the list is authoritative. `None` if not counted.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Briefing {
    pub pending: u64,
    pub blocked_missions: Option<u64>,
    pub unknown: Option<u64>,
    /// Approvals that no agent claimed in three quarters of their time.
    pub lapsing: Option<u64>,
    /// Runs in the last hour that differed from their approval.
    pub ran_other: Option<u64>,
    /// Start of the pause in dispatching; `None` if not paused or not known.
    pub paused: Option<Timestamp>,
    /// `None` if the source has no claims.
    pub claims: Option<Vec<Claim>>,
    pub revision: Option<Revision>,
}

/// Pending actions, counted by the source.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Outstanding {
    pub pending: u64,
    pub high: u64,
    pub oldest: Option<Timestamp>,
    /// Tools with the most pending actions, at most [`Outstanding::TOOLS`].
    pub tools: Vec<ToolOutstanding>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolOutstanding {
    pub tool: Untrusted,
    pub pending: u64,
    pub high: u64,
}

impl Outstanding {
    /// Maximum number of tools counted separately.
    pub const TOOLS: usize = 500;

    /// Applies the risks of the reviewer's configuration.
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
    fn a_configured_risk_counts_all_actions_of_its_tool() {
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
