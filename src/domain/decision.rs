//! What a reviewer decides about one action.

use super::Edits;

/// A decision. Undecided is the absence of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    Approve { edits: Option<Edits>, comment: Option<String> },
    Reject { reason: Option<String> },
    Retry { guidance: String },
}

/// A decision without what it carries: for letters, counts and words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DecisionKind {
    Approve,
    ApproveWithEdits,
    Reject,
    Retry,
}

impl Decision {
    /// A plain approval.
    pub const APPROVE: Self = Self::Approve { edits: None, comment: None };
    /// A plain rejection.
    pub const REJECT: Self = Self::Reject { reason: None };

    pub const fn kind(&self) -> DecisionKind {
        match self {
            Self::Approve { edits: None, .. } => DecisionKind::Approve,
            Self::Approve { edits: Some(_), .. } => DecisionKind::ApproveWithEdits,
            Self::Reject { .. } => DecisionKind::Reject,
            Self::Retry { .. } => DecisionKind::Retry,
        }
    }

    /// The comment, the reason or the guidance.
    pub fn said(&self) -> Option<&str> {
        match self {
            Self::Approve { comment, .. } => comment.as_deref(),
            Self::Reject { reason } => reason.as_deref(),
            Self::Retry { guidance } => Some(guidance),
        }
    }

    /// Carries something that a person typed: edits, a comment, a reason, guidance.
    pub const fn has_words(&self) -> bool {
        match self {
            Self::Approve { edits, comment } => edits.is_some() || comment.is_some(),
            Self::Reject { reason } => reason.is_some(),
            Self::Retry { .. } => true,
        }
    }

    pub const fn edits(&self) -> Option<&Edits> {
        match self {
            Self::Approve { edits, .. } => edits.as_ref(),
            Self::Reject { .. } | Self::Retry { .. } => None,
        }
    }
}

impl DecisionKind {
    /// With edits or without.
    pub const fn approves(self) -> bool {
        matches!(self, Self::Approve | Self::ApproveWithEdits)
    }

    /// The word in receipts, and for scripts.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::ApproveWithEdits => "approve_with_edits",
            Self::Reject => "reject",
            Self::Retry => "retry",
        }
    }

    /// The letter in the decision column.
    pub const fn letter(self) -> char {
        match self {
            Self::Approve => 'A',
            Self::ApproveWithEdits => 'E',
            Self::Reject => 'X',
            Self::Retry => 'R',
        }
    }
}
