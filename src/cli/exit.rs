//! Exit codes of the commands, for scripts.

use crate::domain::Counts;

/// The result of a command. `docs/shell.md` explains each code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Done = 0,
    Failed = 1,
    /// Wrong arguments or a wrong configuration.
    Usage = 2,
    /// Some actions were settled before, or do not exist.
    Skipped = 3,
    /// Some decisions have no known outcome; the next start reads them again.
    Unknown = 4,
    Unreachable = 5,
    /// `propose --wait`: a reviewer rejected it.
    Rejected = 6,
    /// `propose --wait`: it expired, was withdrawn, or was not decided in time.
    Expired = 7,
}

/// Wrong arguments; nothing was done.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

impl Exit {
    /// Returns the code of the worst outcome in a report.
    pub const fn of(counts: &Counts) -> Self {
        match counts {
            Counts { unknown: 1.., .. } => Self::Unknown,
            Counts { failed: 1.., .. } => Self::Failed,
            Counts { skipped: 1.., .. } => Self::Skipped,
            _ => Self::Done,
        }
    }

    pub const fn code(self) -> u8 {
        self as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_outcome_decides() {
        let counts = Counts { approved: 3, skipped: 1, ..Counts::default() };
        assert_eq!(Exit::of(&counts), Exit::Skipped);
        assert_eq!(Exit::of(&Counts { failed: 1, ..counts }), Exit::Failed);
        assert_eq!(Exit::of(&Counts { failed: 1, unknown: 1, ..counts }), Exit::Unknown);
        assert_eq!(Exit::of(&Counts { approved: 1, left_pending: 9, ..Counts::default() }), Exit::Done);
    }
}
