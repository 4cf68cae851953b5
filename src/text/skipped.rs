//! Explains skipped decisions, in the same words everywhere.

use super::lines::line;
use super::shown::Shown;
use crate::domain::{DecisionKind, Outcome, Status};

/// Says what happened to an action instead of the decision `asked`, and by whom: `executed by lee`, `expired`.
pub fn skipped(asked: DecisionKind, status: Option<&Status>, by: Option<Shown>) -> Shown {
    let word = |status: &Status| line(&status.word());
    match (status, by) {
        (Some(status), Some(by)) => word(status).followed_by(Shown::ours(" by ")).followed_by(by),
        (None, Some(by)) => Shown::ours("decided by ").followed_by(by),
        (None, None) => Shown::ours("no longer in the source"),
        (Some(status), None) => match Outcome::by_status(asked, status, None) {
            Some(Outcome::Approved | Outcome::Rejected) => {
                word(status).followed_by(Shown::ours(" already, by you or by someone else"))
            }
            _ if is_decided(status) => Shown::ours("decided by someone else: ").followed_by(word(status)),
            _ => word(status),
        },
    }
}

/// `1 of 2: 1 more person must approve`.
pub fn partly_approved(given: u64, needed: u64) -> String {
    match needed.saturating_sub(given) {
        1 => format!("{given} of {needed}: 1 more person must approve"),
        more => format!("{given} of {needed}: {more} more people must approve"),
    }
}

/// Whether a person decided; expired and withdrawn actions were not decided.
const fn is_decided(status: &Status) -> bool {
    use Status as S;
    matches!(status, S::Approved | S::Running | S::Executed | S::Failed | S::Unknown | S::Rejected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skipped_decision_names_a_known_decider() {
        let lee = Shown::ours("lee");
        let told = |asked, status: Option<&str>, by| {
            let status = status.map(Status::parse);
            skipped(asked, status.as_ref(), by).plain()
        };
        let (approve, reject) = (DecisionKind::Approve, DecisionKind::Reject);

        assert_eq!(told(approve, Some("rejected"), Some(lee.clone())), "rejected by lee");
        assert_eq!(told(approve, None, Some(lee.clone())), "decided by lee");
        assert_eq!(told(reject, Some("executed"), None), "decided by someone else: executed");
        assert_eq!(told(approve, Some("rejected"), None), "decided by someone else: rejected");
        let either = "executed already, by you or by someone else";
        assert_eq!(told(approve, Some("executed"), None), either);
        assert_eq!(told(reject, Some("rejected"), None), either.replace("executed", "rejected"));
        assert_eq!(told(approve, Some("expired"), None), "expired");
        assert_eq!(told(reject, Some("spicy"), None), "spicy");
        assert_eq!(told(approve, None, None), "no longer in the source");
    }
}
