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

/// How a kind is called, wherever kinds are listed, counted or named.
#[derive(Debug)]
pub struct KindWords {
    /// In the decision column.
    pub letter: char,
    /// In receipts, reports and the journal.
    pub record: &'static str,
    /// In filters, and beside counts.
    pub name: &'static str,
    /// As a value of `placet log --decision`, with its help.
    pub logged: (&'static str, &'static str),
    /// In a line of counts.
    pub terse: &'static str,
    /// In a sentence: the decision, and who is at it.
    pub phrase: &'static str,
    pub doing: &'static str,
    /// Over what it came to in a report: `with_edits` are a part of `approved`.
    pub landed: &'static str,
    /// In a sentence: `this source cannot …`.
    pub cannot: &'static str,
    /// What a person types beside it, by its name, and in a sentence before it.
    pub said: &'static str,
    pub before_said: &'static str,
    /// Over the field for it, beside the key that accepts it, and what becomes of the text where the source keeps it.
    pub heading: &'static str,
    pub does: &'static str,
    pub kept: &'static str,
    /// In a sentence: `say …`. Of what cannot be decided without words.
    pub wants: &'static str,
}

impl Decision {
    /// A plain approval.
    pub const APPROVE: Self = Self::Approve { edits: None, comment: None };
    /// A plain rejection.
    pub const REJECT: Self = Self::Reject { reason: None };

    /// Of this kind, with what goes along. `None` where it needs words and there are none.
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

    /// The comment, the reason or the guidance.
    pub fn said(&self) -> Option<&str> {
        match self {
            Self::Approve { comment, .. } => comment.as_deref(),
            Self::Reject { reason } => reason.as_deref(),
            Self::Retry { guidance } => Some(guidance),
        }
    }

    /// Carries something that a person typed: edits, a comment, a reason, guidance.
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
    /// As they are listed.
    pub const ALL: [Self; 4] = [Self::Approve, Self::ApproveWithEdits, Self::Reject, Self::Retry];

    /// Their names, for a sentence.
    pub const NAMES: &str = "approve, edit, exclude or retry";

    /// With edits or without.
    pub const fn approves(self) -> bool {
        matches!(self, Self::Approve | Self::ApproveWithEdits)
    }

    /// The word in receipts, and for scripts.
    pub const fn word(self) -> &'static str {
        self.words().record
    }

    /// For good.
    pub const fn rejects(self) -> bool {
        matches!(self, Self::Reject)
    }

    /// Settles nothing: it is done when it is accepted, and what follows is for the next decision.
    pub const fn hands_back(self) -> bool {
        !self.approves() && !self.rejects()
    }

    /// What is typed beside an approval is kept whether it has edits or not.
    #[must_use]
    pub const fn without_edits(self) -> Self {
        match self {
            Self::ApproveWithEdits => Self::Approve,
            kind => kind,
        }
    }

    /// The letter in the decision column.
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
    fn names_in_a_sentence_are_those_of_the_kinds() {
        let names = DecisionKind::ALL.map(|kind| kind.words().name);
        assert_eq!(DecisionKind::NAMES.replace(" or ", ", "), names.join(", "));
    }
}
