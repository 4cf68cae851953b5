//! Explains skipped decisions, in the same words everywhere.

use super::lines::line;
use super::shown::Shown;
use crate::domain::Status;

/// Says what happened to an action instead of a decision, and who did it: `rejected by lee`, `already executed`, `expired`. Without a
/// name it may have been this reviewer, earlier or elsewhere.
pub fn skipped(status: Option<&Status>, by: Option<Shown>) -> Shown {
    let word = |status: &Status| line(&status.word());
    match (status, by) {
        (Some(status), Some(by)) => {
            let (before, after) = by_whom(Some(status));
            word(status).followed_by(Shown::ours(before)).followed_by(by).followed_by(Shown::ours(after))
        }
        (None, Some(by)) => Shown::ours("decided by ").followed_by(by),
        (None, None) => Shown::ours("no longer in the source"),
        (Some(status), None) if is_decided(status) => Shown::ours("already ").followed_by(word(status)),
        (Some(status), None) => word(status),
    }
}

/// The text before and after the name of a decider: `rejected by lee`, but `failed (approved by lee)`.
pub const fn by_whom(status: Option<&Status>) -> (&'static str, &'static str) {
    use Status as S;
    match status {
        Some(S::Running | S::Executed | S::Failed | S::Unknown) => (" (approved by ", ")"),
        _ => (" by ", ""),
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
    matches!(status, S::Approved | S::Running | S::Executed | S::Failed | S::Rejected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skipped_decision_names_a_known_decider() {
        let lee = Shown::ours("lee");
        let told = |status: Option<&str>, by| skipped(status.map(Status::parse).as_ref(), by).plain();

        assert_eq!(told(Some("rejected"), Some(lee.clone())), "rejected by lee");
        assert_eq!(told(Some("failed"), Some(lee.clone())), "failed (approved by lee)");
        assert_eq!(told(None, Some(lee.clone())), "decided by lee");
        assert_eq!(told(Some("executed"), None), "already executed");
        assert_eq!(told(Some("rejected"), None), "already rejected");
        assert_eq!(told(Some("expired"), None), "expired");
        assert_eq!(told(Some("spicy"), None), "spicy");
        assert_eq!(told(None, None), "no longer in the source");
    }
}
