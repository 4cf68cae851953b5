//! Status and lifecycle of actions.

use super::Untrusted;

/// The state of an action.
///
/// `pending → approved | rejected | expired | withdrawn | superseded`, `approved → running → executed | failed |
/// unknown`, `approved → expired` if no agent runs it in time, `unknown → executed | failed` by a late result of the
/// lost run, or `→ executed | failed | approved` by a person. On the wire `running` reads as `approved`, because some
/// clients know only five states.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub enum Status {
    #[default]
    Pending,
    Approved,
    Running,
    Rejected,
    Executed,
    Failed,
    /// The executor was lost during the run, so it is not known whether the write took effect.
    Unknown,
    Expired,
    Withdrawn,
    Superseded,
    /// An unknown word; shown as it is and treated as settled.
    Other(Untrusted),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusStep {
    Approve,
    Reject,
    Expire,
    /// Approved, but not run in time.
    Lapse,
    Withdraw,
    Supersede,
    /// An executor took it under a lease.
    Dispatch,
    Succeed,
    Fail,
    /// The lease expired, and the tool must not run twice.
    LoseSight,
    /// Run again, because the tool is idempotent or a person says so.
    Requeue,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot {step:?} an action that is {status:?}")]
pub struct InvalidStep {
    pub status: Status,
    pub step: StatusStep,
}

impl Status {
    /// Approved states, in which a repetition may be a mistake.
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

    pub fn word(&self) -> Untrusted {
        Untrusted::from(self.as_raw())
    }

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

    pub const fn is_pending(&self) -> bool {
        matches!(self, Self::Pending)
    }

    /// Whether it will not change by itself any more.
    pub const fn is_final(&self) -> bool {
        !matches!(self, Self::Pending | Self::Approved | Self::Running)
    }

    pub fn after(&self, step: StatusStep) -> Result<Self, InvalidStep> {
        use StatusStep as S;
        match (self, step) {
            (Self::Pending, S::Approve) | (Self::Running | Self::Unknown, S::Requeue) => Ok(Self::Approved),
            (Self::Pending, S::Reject) => Ok(Self::Rejected),
            (Self::Pending, S::Expire) | (Self::Approved, S::Lapse) => Ok(Self::Expired),
            (Self::Pending, S::Withdraw) => Ok(Self::Withdrawn),
            (Self::Pending, S::Supersede) => Ok(Self::Superseded),
            (Self::Approved, S::Dispatch) => Ok(Self::Running),
            // Executor and human may both still report the outcome.
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
    fn only_approved_actions_are_dispatched() {
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
    fn an_unknown_outcome_can_be_settled_or_requeued() {
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
