//! Decides what it takes to confirm a submission: a key for a few plain decisions, else their number, typed.

use super::{DecisionKind, StagedCounts};

/// A key is enough for so many decisions.
const FEW: usize = 25;
/// Rejections are final: a key is enough for so many.
const FEW_EXCLUDED: usize = 3;

/// What weighs in a submission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Weight {
    pub counts: StagedCounts,
    /// Approvals of high or critical risk, or of one this version does not know.
    pub high_risk: usize,
    /// Approvals of content that nobody had on screen.
    pub unopened: usize,
}

/// What it takes to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Confirm {
    /// The confirm key, or the word for it.
    Key,
    /// The number of decisions, typed; with the reasons why, a few words each.
    Count(usize, Vec<String>),
}

/// A key is enough for a few plain decisions that were looked at; anything else is counted by hand.
pub fn confirm_by(weight: Weight) -> Confirm {
    let Weight { counts, high_risk, unopened } = weight;
    let mut why = Vec::new();
    if counts.total() > FEW {
        why.push(format!("more than {FEW}"));
    }
    if high_risk > 0 {
        why.push(format!("{high_risk} high-risk"));
    }
    if unopened > 0 {
        why.push(format!("{unopened} unread"));
    }
    let excluded = counts.get(DecisionKind::Reject);
    if excluded > FEW_EXCLUDED {
        why.push(format!("{excluded} excluded for good"));
    }
    if why.is_empty() { Confirm::Key } else { Confirm::Count(counts.total(), why) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(approve: usize, reject: usize, high_risk: usize, unopened: usize) -> Option<String> {
        let kinds = [vec![DecisionKind::Approve; approve], vec![DecisionKind::Reject; reject]].concat();
        let counts = StagedCounts::of(kinds);
        match confirm_by(Weight { counts, high_risk, unopened }) {
            Confirm::Key => None,
            Confirm::Count(count, why) => Some(format!("{count}: {}", why.join(", "))),
        }
    }

    #[test]
    fn a_few_plain_decisions_need_a_key_only() {
        assert_eq!(asked(25, 0, 0, 0), None);
        assert_eq!(asked(22, 3, 0, 0), None, "three exclusions");
    }

    #[test]
    fn what_weighs_more_is_counted_by_hand_and_says_why() {
        assert_eq!(asked(26, 0, 0, 0).unwrap(), "26: more than 25");
        assert_eq!(asked(0, 4, 0, 0).unwrap(), "4: 4 excluded for good");
        assert_eq!(asked(1, 0, 1, 0).unwrap(), "1: 1 high-risk");
        assert_eq!(asked(9, 0, 0, 2).unwrap(), "9: 2 unread");
        assert_eq!(
            asked(30, 4, 2, 1).unwrap(),
            "34: more than 25, 2 high-risk, 1 unread, 4 excluded for good"
        );
    }
}
