//! The status of an action, and the whole lifecycle in one table.

use super::Untrusted;

/// The state of an action.
///
/// `pending → approved | rejected | expired | withdrawn | superseded`, `approved → running → executed | failed | unknown`,
/// `approved → expired` where nobody runs it in time,
/// `unknown → executed | failed` by a late result of the very run that was lost, or `→ executed | failed | approved` by a human.
/// On the wire `running` reads as `approved`, for clients that know only five states.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub enum Status {
    #[default]
    Pending,
    Approved,
    Running,
    Rejected,
    Executed,
    Failed,
    /// The executor was lost in mid-run; nobody knows whether the write landed, until the executor itself says so.
    Unknown,
    Expired,
    Withdrawn,
    Superseded,
    /// A word this version does not know; shown as it is, and treated as settled.
    Other(Untrusted),
}

/// What can happen to an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusStep {
    Approve,
    Reject,
    Expire,
    /// It was approved, and nobody ran it in time.
    Lapse,
    Withdraw,
    Supersede,
    /// An executor took it under a lease.
    Dispatch,
    Succeed,
    Fail,
    /// The lease ran out and the tool may not be run twice.
    LoseSight,
    /// It is to be run again: the tool may safely be, or a human says so.
    Requeue,
}

/// The step is not possible from this state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot {step:?} an action that is {status:?}")]
pub struct InvalidStep {
    pub status: Status,
    pub step: StatusStep,
}

impl Status {
    /// It was approved: it ran, runs, or will, and the same again may be a mistake.
    pub const RAN: [Self; 4] = [Self::Approved, Self::Running, Self::Executed, Self::Unknown];

    pub fn parse(word: &str) -> Self {
        match word {
            "pending" => Self::Pending,
            "approved" => Self::Approved,
            "running" => Self::Running,
            "rejected" => Self::Rejected,
            "executed" => Self::Executed,
            "failed" => Self::Failed,
            "unknown" => Self::Unknown,
            "expired" => Self::Expired,
            "withdrawn" => Self::Withdrawn,
            "superseded" => Self::Superseded,
            other => Self::Other(Untrusted::from(other)),
        }
    }

    /// The word for the door to the screen: it may be foreign.
    pub fn word(&self) -> Untrusted {
        Untrusted::from(self.as_raw())
    }

    /// The word in storage and on the wire.
    pub fn as_raw(&self) -> &str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Running => "running",
            Self::Rejected => "rejected",
            Self::Executed => "executed",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
            Self::Expired => "expired",
            Self::Withdrawn => "withdrawn",
            Self::Superseded => "superseded",
            Self::Other(word) => word.as_raw(),
        }
    }

    /// Only a pending action can be decided.
    pub const fn is_pending(&self) -> bool {
        matches!(self, Self::Pending)
    }

    /// Nothing will happen to it any more by itself.
    pub const fn is_final(&self) -> bool {
        !matches!(self, Self::Pending | Self::Approved | Self::Running)
    }

    /// The state after `step`, or why it cannot be taken.
    pub fn after(&self, step: StatusStep) -> Result<Self, InvalidStep> {
        use StatusStep as S;
        match (self, step) {
            (Self::Pending, S::Approve) | (Self::Running | Self::Unknown, S::Requeue) => Ok(Self::Approved),
            (Self::Pending, S::Reject) => Ok(Self::Rejected),
            (Self::Pending, S::Expire) | (Self::Approved, S::Lapse) => Ok(Self::Expired),
            (Self::Pending, S::Withdraw) => Ok(Self::Withdrawn),
            (Self::Pending, S::Supersede) => Ok(Self::Superseded),
            (Self::Approved, S::Dispatch) => Ok(Self::Running),
            // Whoever ran it may come back and tell, and a human may find out.
            (Self::Running | Self::Unknown, S::Succeed) => Ok(Self::Executed),
            (Self::Running | Self::Unknown, S::Fail) => Ok(Self::Failed),
            (Self::Running, S::LoseSight) => Ok(Self::Unknown),
            (status, step) => Err(InvalidStep { status: status.clone(), step }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEPS: [StatusStep; 11] = [
        StatusStep::Approve,
        StatusStep::Reject,
        StatusStep::Expire,
        StatusStep::Lapse,
        StatusStep::Withdraw,
        StatusStep::Supersede,
        StatusStep::Dispatch,
        StatusStep::Succeed,
        StatusStep::Fail,
        StatusStep::LoseSight,
        StatusStep::Requeue,
    ];

    #[test]
    fn nothing_runs_that_was_not_approved() {
        for status in
            ["pending", "rejected", "expired", "withdrawn", "superseded", "executed", "failed", "spicy"]
        {
            assert!(Status::parse(status).after(StatusStep::Dispatch).is_err(), "{status} was dispatched");
        }
    }

    #[test]
    fn final_states_are_final() {
        for status in ["rejected", "executed", "failed", "expired", "withdrawn", "superseded", "spicy"] {
            let status = Status::parse(status);

            assert!(status.is_final());
            assert!(STEPS.iter().all(|&step| status.after(step).is_err()), "{status:?}");
        }
    }

    #[test]
    fn only_an_approval_lapses() {
        for status in ["pending", "running", "unknown", "executed", "rejected", "expired"] {
            assert!(Status::parse(status).after(StatusStep::Lapse).is_err(), "{status} lapsed");
        }
        assert_eq!(Status::Approved.after(StatusStep::Lapse), Ok(Status::Expired));
    }

    #[test]
    fn what_is_unknown_becomes_known_or_is_run_again() {
        assert!(Status::Unknown.is_final());
        for step in STEPS {
            let after = Status::Unknown.after(step).ok();
            let known = match step {
                StatusStep::Succeed => Some(Status::Executed),
                StatusStep::Fail => Some(Status::Failed),
                StatusStep::Requeue => Some(Status::Approved),
                _ => None,
            };
            assert_eq!(after, known, "{step:?}");
        }
    }
}
