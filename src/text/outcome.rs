//! Puts statuses and outcomes into words, by the table of [`Look`].

use super::lines::line;
use super::shown::Shown;
use crate::domain::{Look, Outcome, Status};

/// Returns a status as a word in a sentence, marked as what a source says: `failed`.
pub fn status_word(status: &Status) -> Shown {
    line(&status.look().map_or_else(|| status.word(), |look| look.word.into()))
}

/// Returns a status that stands alone in a row: `FAILED`.
pub fn status_badge(status: &Status) -> Shown {
    status_as(status, |look| look.badge)
}

pub fn status_as(status: &Status, form: fn(Look) -> &'static str) -> Shown {
    status.look().map_or_else(|| line(&status.word()), |look| Shown::ours(form(look)))
}

/// Returns an outcome with its reason: `skipped, rejected by lee`. `by` is who was first.
pub fn outcome(outcome: &Outcome, by: Option<Shown>) -> Shown {
    let word = Shown::ours(outcome.look().word);
    match reason(outcome, by) {
        Some(why) => word.followed_by(Shown::ours(", ")).followed_by(why),
        None => word,
    }
}

/// Returns why an outcome is not what was decided.
pub fn reason(outcome: &Outcome, by: Option<Shown>) -> Option<Shown> {
    match outcome {
        Outcome::Approved | Outcome::Rejected | Outcome::Accepted => None,
        Outcome::Skipped { status, .. } => Some(skipped(status.as_ref(), by)),
        Outcome::PartlyApproved { given, needed } => Some(Shown::ours(partly_approved(*given, *needed))),
        Outcome::Failed { why } | Outcome::Unknown { why } => Some(line(why)),
    }
}

/// Says what happened to an action instead of a decision, and who did it: `rejected by lee`, `already executed`, `expired`. Without a
/// name it may have been this reviewer, earlier or elsewhere.
pub fn skipped(status: Option<&Status>, by: Option<Shown>) -> Shown {
    let ours = |words: &str| Shown::ours(words);
    let (before, after) = by_whom(status);
    match (status, by) {
        (Some(status), Some(by)) => {
            status_word(status).followed_by(ours(before)).followed_by(by).followed_by(ours(after))
        }
        (None, Some(by)) => ours("decided by ").followed_by(by),
        (None, None) => ours("no longer in the source"),
        (Some(status), None) if is_decided(status) => ours("already ").followed_by(status_word(status)),
        (Some(status), None) => status_word(status),
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
