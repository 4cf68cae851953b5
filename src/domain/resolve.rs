//! Settling by hand: what a human says of an action whose outcome nobody knows.

use super::{Status, Untrusted};

/// What a human found out about a run that was lost sight of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// The write landed.
    Landed,
    /// It did not, and shall not.
    NotLanded,
    /// It did not: it is run again.
    RunAgain,
}

/// What became of saying so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolved {
    /// The source took it; the action stands like this now.
    Settled(Status),
    /// It was settled before: by somebody else, or by a late word of its executor.
    Already { status: Option<Status>, by: Option<Untrusted> },
    /// There was no answer. Where the action stood when it was read afterwards, if it could be.
    Lost { status: Option<Status>, why: Untrusted },
}
