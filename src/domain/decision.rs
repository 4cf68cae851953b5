//! Decisions of a reviewer on an action.

use super::Edits;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    Approve { edits: Option<Edits>, comment: Option<String> },
    Reject { reason: Option<String> },
    Retry { guidance: String },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DecisionKind {
    Approve,
    ApproveWithEdits,
    Reject,
    Retry,
}

#[derive(Debug)]
pub struct KindWords {
    pub letter: char,
    pub record: &'static str,
    pub name: &'static str,
    /// Value of `placet log --decision`, with its help text.
    pub logged: (&'static str, &'static str),
    pub terse: &'static str,
    /// `phrase` and `doing` name the decision in a sentence.
    pub phrase: &'static str,
    pub doing: &'static str,
    /// In reports: `with_edits` are included in `approved`.
    pub landed: &'static str,
    /// Continues `this source cannot`.
    pub cannot: &'static str,
    /// Name of the accompanying text, alone and in front of it.
    pub said: &'static str,
    pub before_said: &'static str,
    /// Heading of its text field, label of the accepting key, and handling of the text.
    pub heading: &'static str,
    pub does: &'static str,
    pub kept: &'static str,
    /// Continues `say`, for decisions that need text.
    pub wants: &'static str,
}

impl Decision {
    pub const APPROVE: Self = Self::Approve { edits: None, comment: None };
    pub const REJECT: Self = Self::Reject { reason: None };

    /// Creates a decision; `None` if its kind needs text and there is none.
    pub fn new(kind: DecisionKind, edits: Option<Edits>, said: Option<String>) -> Option<Self> {
        Some(match kind {
            DecisionKind::Approve | DecisionKind::ApproveWithEdits => Self::Approve { edits, comment: said },
            DecisionKind::Reject => Self::Reject { reason: said },
            DecisionKind::Retry => Self::Retry { guidance: said? },
        })
    }

    pub const fn kind(&self) -> DecisionKind {
        match self {
            Self::Approve { edits: None, .. } => DecisionKind::Approve,
            Self::Approve { edits: Some(_), .. } => DecisionKind::ApproveWithEdits,
            Self::Reject { .. } => DecisionKind::Reject,
            Self::Retry { .. } => DecisionKind::Retry,
        }
    }

    pub fn said(&self) -> Option<&str> {
        match self {
            Self::Approve { comment, .. } => comment.as_deref(),
            Self::Reject { reason } => reason.as_deref(),
            Self::Retry { guidance } => Some(guidance),
        }
    }

    pub fn has_words(&self) -> bool {
        self.edits().is_some() || self.said().is_some()
    }

    pub const fn edits(&self) -> Option<&Edits> {
        match self {
            Self::Approve { edits, .. } => edits.as_ref(),
            _ => None,
        }
    }
}

impl DecisionKind {
    pub const ALL: [Self; 4] = [Self::Approve, Self::ApproveWithEdits, Self::Reject, Self::Retry];

    pub const NAMES: &str = "approve, edit, exclude or retry";

    pub const fn approves(self) -> bool {
        matches!(self, Self::Approve | Self::ApproveWithEdits)
    }

    pub const fn word(self) -> &'static str {
        self.words().record
    }

    pub const fn rejects(self) -> bool {
        matches!(self, Self::Reject)
    }

    /// Whether the action stays open: the decision ends with its acceptance, and the agent proposes again.
    pub const fn hands_back(self) -> bool {
        !self.approves() && !self.rejects()
    }

    /// Merges approvals with and without edits, which share their comment.
    #[must_use]
    pub const fn without_edits(self) -> Self {
        match self {
            Self::ApproveWithEdits => Self::Approve,
            kind => kind,
        }
    }

    pub const fn letter(self) -> char {
        self.words().letter
    }

    pub fn of_record(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }

    pub const fn words(self) -> &'static KindWords {
        match self {
            Self::Approve => &APPROVE,
            Self::ApproveWithEdits => &APPROVE_WITH_EDITS,
            Self::Reject => &REJECT,
            Self::Retry => &RETRY,
        }
    }
}

const APPROVE: KindWords = KindWords {
    letter: 'A',
    record: "approve",
    name: "approve",
    logged: ("approve", "As it was proposed"),
    terse: "approve",
    phrase: "approve",
    doing: "approving",
    landed: "approved",
    cannot: "take decisions",
    said: "comment",
    before_said: "comment",
    heading: "Approve, with a comment",
    does: "approves",
    kept: "The source keeps the comment with the approval.",
    wants: "a comment",
};

const APPROVE_WITH_EDITS: KindWords = KindWords {
    letter: 'E',
    record: "approve_with_edits",
    name: "edit",
    logged: ("edit", "Approved with edits"),
    terse: "approve+edit",
    phrase: "approve with edits",
    landed: "with_edits",
    cannot: "apply edits",
    ..APPROVE
};

const REJECT: KindWords = KindWords {
    letter: 'X',
    record: "reject",
    name: "exclude",
    logged: ("reject", ""),
    terse: "exclude",
    phrase: "exclude",
    doing: "rejecting",
    landed: "excluded",
    cannot: "reject",
    said: "reason",
    before_said: "because",
    heading: "Exclude, because",
    does: "excludes",
    kept: "The source keeps the reason with the rejection.",
    wants: "why",
};

const RETRY: KindWords = KindWords {
    letter: 'R',
    record: "retry",
    name: "retry",
    logged: ("retry", "Asked to try again"),
    terse: "retry",
    phrase: "retry",
    doing: "retrying",
    landed: "retried",
    cannot: "ask the agent to try again",
    said: "guidance",
    before_said: "guidance",
    heading: "Try again, with guidance",
    does: "asks for another try",
    kept: "The agent gets this text and proposes again.",
    wants: "what the agent should do otherwise",
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_of_names_matches_the_kinds() {
        let names = DecisionKind::ALL.map(|kind| kind.words().name);
        assert_eq!(DecisionKind::NAMES.replace(" or ", ", "), names.join(", "));
    }
}
