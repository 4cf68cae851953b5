//! One table of words and roles for each status and outcome. The words on the wire are elsewhere.

use super::{Counts, Outcome, Status};

/// The meaning of a word for the reviewer. The screen's theme gives each role a style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Plain,
    Good,
    /// It ended in another way than decided.
    Warn,
    Bad,
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    pub role: Role,
    /// In a sentence, a count or a column of the shell.
    pub word: &'static str,
    /// Alone in a row of the screen; in capitals where a person must look, for screens without colour.
    pub badge: &'static str,
    /// In a report, of an approved action.
    pub ran: &'static str,
}

impl Look {
    pub const EXECUTED: Self = Self { ran: "ran", ..Self::new(Role::Good, "executed") };
    pub const FAILED: Self = Self { badge: "FAILED", ..Self::new(Role::Bad, "failed") };
    pub const UNKNOWN: Self = Self { badge: "UNKNOWN", ..Self::new(Role::Unknown, "unknown") };
    const APPROVED: Self = Self::new(Role::Plain, "approved");
    const REJECTED: Self = Self::new(Role::Plain, "rejected");
    const SKIPPED: Self = Self::new(Role::Warn, "skipped");
    pub const ACCEPTED: Self = Self::new(Role::Plain, "accepted");
    /// Refused by the source; unlike a failed run it had no effect.
    const REFUSED: Self = Self::new(Role::Bad, "failed");

    const fn new(role: Role, word: &'static str) -> Self {
        Self { role, word, badge: word, ran: word }
    }
}

impl Status {
    /// `None` for a word that placet does not know.
    pub const fn look(&self) -> Option<Look> {
        Some(match self {
            Self::Pending => Look::new(Role::Plain, "pending"),
            Self::Approved => Look::APPROVED,
            Self::Running => Look::new(Role::Plain, "running"),
            Self::Rejected => Look::REJECTED,
            Self::Executed => Look::EXECUTED,
            Self::Failed => Look::FAILED,
            Self::Unknown => Look::UNKNOWN,
            Self::Expired => Look::new(Role::Warn, "expired"),
            Self::Withdrawn => Look::new(Role::Warn, "withdrawn"),
            Self::Superseded => Look::new(Role::Warn, "superseded"),
            Self::Other(_) => return None,
        })
    }

    pub fn role(&self) -> Role {
        self.look().map_or(Role::Warn, |look| look.role)
    }
}

impl Outcome {
    pub const fn look(&self) -> Look {
        match self {
            Self::Approved => Look::APPROVED,
            Self::Rejected => Look::REJECTED,
            Self::Skipped { .. } => Look::SKIPPED,
            Self::Accepted | Self::PartlyApproved { .. } => Look::ACCEPTED,
            Self::Failed { .. } => Look::REFUSED,
            Self::Unknown { .. } => Look::UNKNOWN,
        }
    }
}

impl Counts {
    /// Returns the counts of outcomes in the order of a report.
    pub const fn each(&self) -> [(Look, u64); 6] {
        [
            (Look::APPROVED, self.approved),
            (Look::REJECTED, self.rejected),
            (Look::SKIPPED, self.skipped),
            (Look::ACCEPTED, self.accepted),
            (Look::REFUSED, self.failed),
            (Look::UNKNOWN, self.unknown),
        ]
    }
}
