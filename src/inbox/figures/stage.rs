//! The stage of an action, for counting.

use crate::domain::{Flow, Status};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Pending,
    Approved,
    Executed,
    Failed,
    Unknown,
    Rejected,
    /// Ended without a decision, or in a way that the source does not tell.
    Left,
}

impl Stage {
    pub(super) fn of(status: &Status) -> Self {
        match status {
            Status::Pending => Self::Pending,
            Status::Approved | Status::Running => Self::Approved,
            Status::Executed => Self::Executed,
            Status::Failed => Self::Failed,
            Status::Unknown => Self::Unknown,
            Status::Rejected => Self::Rejected,
            Status::Expired | Status::Withdrawn | Status::Superseded | Status::Other(_) => Self::Left,
        }
    }

    pub(super) fn resolution(self) -> Flow {
        let one = Flow::default();
        match self {
            Self::Pending => one,
            Self::Approved | Self::Executed | Self::Failed | Self::Unknown => Flow { approved: 1, ..one },
            Self::Rejected => Flow { rejected: 1, ..one },
            Self::Left => Flow { left: 1, ..one },
        }
    }

    /// Returns what its outcome after approval counts as.
    pub(super) fn outcome(self) -> Flow {
        let one = Flow::default();
        match self {
            Self::Executed => Flow { executed: 1, ..one },
            Self::Failed => Flow { failed: 1, ..one },
            Self::Unknown => Flow { unknown: 1, ..one },
            Self::Pending | Self::Approved | Self::Rejected | Self::Left => one,
        }
    }
}
