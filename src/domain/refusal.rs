//! Reasons why a draft cannot be sent.

use super::{ActionKey, DecisionKind, EditError};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("nothing is decided yet")]
    Empty,
    #[error(
        "an action was not loaded, so its content cannot be bound to the decision; open the review again"
    )]
    NotLoaded(ActionKey),
    #[error(
        "an action changed since you looked at it: its input, or its expiry, risk, effect, preview or executor; look \
         again and decide again"
    )]
    ChangedSinceSeen(ActionKey),
    #[error("an action is no longer pending")]
    NotPending(ActionKey),
    #[error("an action expired: the time to decide it is over")]
    Expired(ActionKey),
    #[error("read-only: its source takes no decision on it from here")]
    ReadOnly(ActionKey),
    #[error("this action cannot be read, so nobody can know what approving it would do; it can be rejected")]
    Unreadable(ActionKey),
    #[error(
        "it asks for a second look ({1}), and nothing says that anybody read it: read it with `placet show`, then approve it with its \
         digest in --from"
    )]
    Flagged(ActionKey, String),
    #[error("this source cannot apply edits")]
    EditsUnsupported(ActionKey),
    #[error("it asks for an answer: approve it with edits that fill it in")]
    AnswerRequired(ActionKey),
    #[error("this action cannot be rejected")]
    RejectUnsupported(ActionKey),
    #[error(
        "its source takes the decisions on a turn only all together, and {1} of this turn {are} undecided: decide all of it, or \
         leave all of it",
        are = if *.1 == 1 { "is" } else { "are" }
    )]
    PartOfTurn(ActionKey, usize),
    #[error("its source takes one decision for the whole turn, and this turn is decided in different ways")]
    MixedTurn(ActionKey),
    #[error("this source asks for a reason with every rejection")]
    ReasonRequired(ActionKey),
    #[error("this source cannot {}", .1.words().cannot)]
    Unsupported(ActionKey, DecisionKind),
    #[error("the edits do not fit the proposed input: {1}")]
    BadEdits(ActionKey, EditError),
}

impl Refusal {
    pub fn key(&self) -> Option<&ActionKey> {
        match self {
            Self::Empty => None,
            Self::NotLoaded(key)
            | Self::ChangedSinceSeen(key)
            | Self::NotPending(key)
            | Self::Expired(key)
            | Self::ReadOnly(key)
            | Self::Unreadable(key)
            | Self::Flagged(key, _)
            | Self::EditsUnsupported(key)
            | Self::AnswerRequired(key)
            | Self::RejectUnsupported(key)
            | Self::PartOfTurn(key, _)
            | Self::MixedTurn(key)
            | Self::ReasonRequired(key)
            | Self::Unsupported(key, _)
            | Self::BadEdits(key, _) => Some(key),
        }
    }
}
