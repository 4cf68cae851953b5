//! Confirmation of a submission: by key, or by typing the number of decisions.

use super::{DecisionKind, StagedCounts};

/// Maximum decisions confirmed by key.
const FEW: usize = 25;
/// Maximum rejections confirmed by key, because they are final.
const FEW_EXCLUDED: usize = 3;

/// Properties of a submission that determine its confirmation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Weight {
    pub counts: StagedCounts,
    /// Approvals of high or unknown risk.
    pub high_risk: usize,
    pub critical: usize,
    /// Approvals of content that was not on screen.
    pub unopened: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Confirm {
    Key,
    /// The typed number of decisions, with short reasons.
    Count(usize, Vec<String>),
}

pub fn confirm_by(weight: Weight) -> Confirm {
    let Weight { counts, high_risk, critical, unopened } = weight;
    let mut why = Vec::new();
    if counts.total() > FEW {
        why.push(format!("more than {FEW}"));
    }
    if high_risk > 0 {
        why.push(format!("{high_risk} high-risk"));
    }
    if critical > 0 {
        why.push(format!("{critical} critical"));
    }
    if unopened > 0 {
        why.push(format!("{unopened} unread"));
    }
    let excluded = counts.get(DecisionKind::Reject);
    if excluded > FEW_EXCLUDED {
        why.push(format!("{excluded} final exclusions"));
    }
    if why.is_empty() { Confirm::Key } else { Confirm::Count(counts.total(), why) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(approve: usize, reject: usize, high_risk: usize, unopened: usize) -> Option<String> {
        let kinds = [vec![DecisionKind::Approve; approve], vec![DecisionKind::Reject; reject]].concat();
        let counts = StagedCounts::of(kinds);
        match confirm_by(Weight { counts, high_risk, critical: 0, unopened }) {
            Confirm::Key => None,
            Confirm::Count(count, why) => Some(format!("{count}: {}", why.join(", "))),
        }
    }

    #[test]
    fn a_few_plain_decisions_need_a_key_only() {
        assert_eq!(asked(25, 0, 0, 0), None);
        assert_eq!(asked(22, 3, 0, 0), None, "three rejections");
    }

    #[test]
    fn weighty_submissions_need_a_count_with_reasons() {
        assert_eq!(asked(26, 0, 0, 0).unwrap(), "26: more than 25");
        assert_eq!(asked(0, 4, 0, 0).unwrap(), "4: 4 final exclusions");
        assert_eq!(asked(1, 0, 1, 0).unwrap(), "1: 1 high-risk");
        assert_eq!(asked(9, 0, 0, 2).unwrap(), "9: 2 unread");
        assert_eq!(
            asked(30, 4, 2, 1).unwrap(),
            "34: more than 25, 2 high-risk, 1 unread, 4 final exclusions"
        );
    }

    #[test]
    fn critical_approvals_are_not_called_high_risk() {
        let counts = StagedCounts::of([DecisionKind::Approve; 3]);
        let weight = Weight { counts, high_risk: 2, critical: 1, unopened: 0 };
        let why = vec!["2 high-risk".to_owned(), "1 critical".to_owned()];
        assert_eq!(confirm_by(weight), Confirm::Count(3, why));
    }
}
