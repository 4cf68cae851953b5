//! Outcomes of decisions.

use std::collections::HashMap;

use super::{ActionKey, BatchKey, DecisionKind, RawJson, Status, SubmissionId, Timestamp, Untrusted};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The source accepted the approval. The action is not executed yet, so it is followed.
    Approved,
    Rejected,
    /// Another client settled the action first, with this status.
    Skipped {
        status: Option<Status>,
        by: Option<Untrusted>,
    },
    /// Accepted, but not settled yet.
    Accepted,
    /// The approval counts, but more people must approve.
    PartlyApproved {
        given: u64,
        needed: u64,
    },
    /// Refused by the source without effect. The decision stays staged.
    Failed {
        why: Untrusted,
    },
    /// The answer was lost. Resolved by reading, never by sending again.
    Unknown {
        why: Untrusted,
    },
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub approved: u64,
    pub rejected: u64,
    pub skipped: u64,
    pub accepted: u64,
    pub failed: u64,
    pub unknown: u64,
    /// Actions in the sent batches that were not decided.
    pub left_pending: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportLine {
    pub key: ActionKey,
    pub batch: BatchKey,
    pub tool: Untrusted,
    pub title: Untrusted,
    pub decision: DecisionKind,
    pub outcome: Outcome,
}

/// The outcome of a submission. Its counts are those of its lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub id: SubmissionId,
    pub lines: Vec<ReportLine>,
    pub left_pending: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed {
    pub key: ActionKey,
    pub title: Untrusted,
    pub status: Status,
    pub result: Option<RawJson>,
    pub error: Option<Untrusted>,
    /// The decision's outcome, if it was only accepted before.
    pub outcome: Option<Outcome>,
    pub at: Timestamp,
}

impl Outcome {
    /// Whether reading again may change the outcome. A retry may never come back.
    pub const fn is_open(&self) -> bool {
        self.is_accepted() || matches!(self, Self::Unknown { .. })
    }

    /// Whether the source has the decision and settles it later.
    pub const fn is_accepted(&self) -> bool {
        matches!(self, Self::Accepted | Self::PartlyApproved { .. })
    }

    /// Returns the word on the wire and in the columns for programs.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::Skipped { .. } => "skipped",
            Self::Accepted | Self::PartlyApproved { .. } => "accepted",
            Self::Failed { .. } => "failed",
            Self::Unknown { .. } => "unknown",
        }
    }

    pub const fn why(&self) -> Option<&Untrusted> {
        let (Self::Failed { why } | Self::Unknown { why }) = self else { return None };
        Some(why)
    }

    /// Returns who settled a skipped action first.
    pub const fn by(&self) -> Option<&Untrusted> {
        let Self::Skipped { by, .. } = self else { return None };
        by.as_ref()
    }

    /// Returns the status of a skipped action.
    pub const fn settled_as(&self) -> Option<&Status> {
        let Self::Skipped { status, .. } = self else { return None };
        status.as_ref()
    }

    /// Returns the outcome of a decision that took effect, and the status of its action.
    pub fn landed(asked: DecisionKind) -> (Self, Status) {
        match asked {
            kind if kind.approves() => (Self::Approved, Status::Executed),
            kind if kind.rejects() => (Self::Rejected, Status::Rejected),
            _ => (Self::Accepted, Status::Running),
        }
    }

    /// Derives the outcome from the action's current status: as requested, or settled otherwise by another client.
    /// `None` while pending.
    pub fn by_status(asked: DecisionKind, status: &Status, by: Option<&Untrusted>) -> Option<Self> {
        use DecisionKind as D;
        match (asked, status) {
            (_, Status::Pending) => None,
            (
                D::Approve | D::ApproveWithEdits,
                Status::Approved | Status::Running | Status::Executed | Status::Failed | Status::Unknown,
            ) => Some(Self::Approved),
            (D::Reject, Status::Rejected) => Some(Self::Rejected),
            (_, status) => Some(Self::Skipped { status: Some(status.clone()), by: by.cloned() }),
        }
    }
}

impl Counts {
    pub fn of<'a>(outcomes: impl IntoIterator<Item = &'a Outcome>) -> Self {
        let mut counts = Self::default();
        for outcome in outcomes {
            match outcome {
                Outcome::Approved => counts.approved += 1,
                Outcome::Rejected => counts.rejected += 1,
                Outcome::Skipped { .. } => counts.skipped += 1,
                Outcome::Accepted | Outcome::PartlyApproved { .. } => counts.accepted += 1,
                Outcome::Failed { .. } => counts.failed += 1,
                Outcome::Unknown { .. } => counts.unknown += 1,
            }
        }
        counts
    }
}

impl Followed {
    /// Whether it was rejected and its undo failed.
    pub fn failed_undo(&self) -> bool {
        self.status == Status::Rejected && self.error.is_some()
    }

    /// Whether a person must look at it.
    pub fn is_trouble(&self) -> bool {
        matches!(self.status, Status::Failed | Status::Unknown) || self.failed_undo()
    }
}

impl ReportLine {
    pub fn is_open(&self) -> bool {
        self.outcome.is_open()
    }
}

impl Report {
    pub fn counts(&self) -> Counts {
        Counts { left_pending: self.left_pending, ..Counts::of(self.lines.iter().map(|line| &line.outcome)) }
    }

    pub fn by_batch(&self) -> Vec<(&BatchKey, &Untrusted, Counts)> {
        let mut batches: Vec<(&BatchKey, &Untrusted, Vec<&Outcome>)> = Vec::new();
        let mut places = HashMap::new();
        for line in &self.lines {
            let place = *places.entry(&line.batch).or_insert(batches.len());
            match batches.get_mut(place) {
                Some((.., outcomes)) => outcomes.push(&line.outcome),
                None => batches.push((&line.batch, &line.tool, vec![&line.outcome])),
            }
        }
        batches.into_iter().map(|(batch, tool, outcomes)| (batch, tool, Counts::of(outcomes))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_determines_the_outcome() {
        let by = Untrusted::from("ada");
        let settled = |asked, word: &str| Outcome::by_status(asked, &Status::parse(word), Some(&by));
        let skipped =
            |word: &str| Some(Outcome::Skipped { status: Some(Status::parse(word)), by: Some(by.clone()) });

        for word in ["approved", "running", "executed", "failed", "unknown"] {
            assert_eq!(settled(DecisionKind::ApproveWithEdits, word), Some(Outcome::Approved), "{word}");
            assert_eq!(settled(DecisionKind::Reject, word), skipped(word));
        }
        for word in ["rejected", "expired", "withdrawn", "superseded", "spicy"] {
            assert_eq!(settled(DecisionKind::Approve, word), skipped(word));
        }
        assert_eq!(settled(DecisionKind::Reject, "rejected"), Some(Outcome::Rejected));
        assert_eq!(settled(DecisionKind::Reject, "pending"), None);
    }
}
