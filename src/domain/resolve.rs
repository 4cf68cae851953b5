//! Settling unknown outcomes by hand.

use super::{Status, Untrusted};

/// A person's finding about a run with unknown outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// The write took effect.
    Landed,
    /// The write did not take effect and will not run again.
    NotLanded,
    /// The write did not take effect; run it again.
    RunAgain,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolved {
    /// The action's new status.
    Settled(Status),
    /// Already settled, by another person or a late report of its executor.
    Already { status: Option<Status>, by: Option<Untrusted> },
    /// No answer. `status` was read afterwards, if possible.
    Lost { status: Option<Status>, why: Untrusted },
}
