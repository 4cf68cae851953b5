//! Decides from the current state of an action whether our decision landed.

use crate::domain::{DecisionKind, Digest, Outcome, PendingAction, Status, Timestamp, Untrusted};

/// Milliseconds that two machines' clocks may differ.
const CLOCKS_APART: i64 = 5 * 60 * 1_000;

#[derive(Clone, Copy, Debug)]
pub(super) struct Lost<'a> {
    pub(super) asked: DecisionKind,
    /// Digest of the input that our decision would run.
    pub(super) effective: Digest,
    pub(super) begun_at: Timestamp,
    pub(super) subject: Option<&'a Untrusted>,
    /// The result of `Source::ours`.
    pub(super) proof: Option<bool>,
}

impl Lost<'_> {
    /// Returns `None` while the action is pending. A matching state counts as ours only if nothing indicates somebody
    /// else.
    pub(super) fn outcome(&self, action: &PendingAction) -> Option<Outcome> {
        let row = &action.row;
        let asked = self.asked;
        // It ran, and its later status is a word of the source's own, such as that of a compensated step.
        let ran = action.executed_at.is_some() && matches!(row.status, Status::Other(_));
        let outcome = match self.proof {
            // A retry that did not come back.
            Some(true) | None if asked.hands_back() && row.status == Status::Unknown => {
                let why = action.error.clone().unwrap_or_else(|| "nobody knows what became of it".into());
                return Some(Outcome::Unknown { why });
            }
            Some(true) if asked.hands_back() => return Some(Outcome::Accepted),
            Some(true) if asked.approves() && row.status.is_pending() => {
                let approvals = row.approvals.as_ref()?;
                return Some(Outcome::PartlyApproved { given: approvals.given(), needed: approvals.needed });
            }
            _ if asked.approves() && ran => Outcome::Approved,
            _ => Outcome::by_status(asked, &row.status, row.resolved_by.as_ref())?,
        };
        if !is_as_asked(&outcome) || self.proof == Some(true) || self.may_be_ours(action) {
            return Some(outcome);
        }
        Some(skipped(action))
    }

    /// Like [`outcome`](Self::outcome), for a decision that may not have been sent: a matching state is ours only with
    /// proof.
    pub(super) fn of_unsent(&self, action: &PendingAction) -> Option<Outcome> {
        let by = action.row.resolved_by.as_ref();
        let is_proven = self.proof == Some(true) || self.subject.is_some() && self.subject == by;
        let outcome = self.outcome(action)?;
        Some(if is_as_asked(&outcome) && !is_proven { skipped(action) } else { outcome })
    }

    /// Returns the outcome of a decision that the source accepted; `None` until the action shows it. A running action
    /// may run on somebody else's decision, and a rejection ends only with the undo steps.
    pub(super) fn of_accepted(&self, action: &PendingAction) -> Option<Outcome> {
        let is_proof = action.row.status != Status::Running || self.proof == Some(true);
        let outcome = self.outcome(action).filter(|outcome| !outcome.is_accepted())?;
        let goes_on = self.asked.rejects() && action.goes_on;
        let is_told = !self.asked.hands_back() || matches!(outcome, Outcome::Unknown { .. });
        (is_proof && is_told && !goes_on).then_some(outcome)
    }

    fn may_be_ours(&self, action: &PendingAction) -> bool {
        let row = &action.row;
        let by_us = match (self.subject, &row.resolved_by) {
            (Some(us), Some(by)) => us == by,
            (None, _) | (_, None) => true,
        };
        let since = self.begun_at.plus_millis(-CLOCKS_APART);
        let after = row.resolved_at.is_none_or(|at| at >= since);
        let rejected = self.asked.rejects();
        let same_bytes = action
            .effective_input
            .as_ref()
            .is_none_or(|input| rejected || action.digest_of(input.as_str()) == self.effective);
        by_us && after && same_bytes && self.proof != Some(false)
    }
}

const fn is_as_asked(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Approved | Outcome::Rejected)
}

fn skipped(action: &PendingAction) -> Outcome {
    Outcome::Skipped { status: Some(action.row.status.clone()), by: action.row.resolved_by.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::action;

    fn settled(more: &str) -> PendingAction {
        let head = r#"{"id":"1","toolName":"t","workspaceId":"w","toolInput":{"a":1}"#;
        action::read(&format!("{head},{more}}}")).unwrap()
    }

    #[test]
    fn an_approval_is_ours_unless_something_speaks_for_somebody_else() {
        let ada = Untrusted::from("ada");
        let lost = Lost {
            asked: DecisionKind::Approve,
            effective: Digest::of("t", "w", r#"{"a":1}"#),
            begun_at: Timestamp::from_millis(1_776_794_531_420),
            subject: Some(&ada),
            proof: None,
        };
        let ours = [
            r#""status":"approved""#,
            r#""status":"executed","resolvedBy":"ada","resolvedAt":"2026-04-21T18:02:12.000Z""#,
            r#""status":"approved","effectiveInput":{"a":1}"#,
        ];
        let not_ours = [
            r#""status":"rejected""#,
            r#""status":"approved","resolvedBy":"bob""#,
            r#""status":"approved","resolvedAt":"2026-04-21T17:00:00.000Z""#,
            r#""status":"approved","effectiveInput":{"a":2}"#,
        ];

        for more in ours {
            assert_eq!(lost.outcome(&settled(more)), Some(Outcome::Approved), "{more}");
        }
        for more in not_ours {
            let outcome = lost.outcome(&settled(more));
            assert!(matches!(outcome, Some(Outcome::Skipped { .. })), "{more}");
        }
        assert_eq!(lost.outcome(&settled(r#""status":"pending""#)), None);
    }

    #[test]
    fn what_a_source_can_prove_outweighs_what_it_looks_like() {
        let outcome = |asked, proof, status: &str| {
            let effective = Digest::of("t", "w", r#"{"a":1}"#);
            let lost = Lost { asked, effective, begun_at: Timestamp::default(), subject: None, proof };
            lost.outcome(&settled(&format!(r#""status":"{status}""#)))
        };
        let skipped = |word| Some(Outcome::Skipped { status: Some(Status::parse(word)), by: None });

        assert_eq!(outcome(DecisionKind::Reject, Some(true), "rejected"), Some(Outcome::Rejected));
        assert_eq!(outcome(DecisionKind::Reject, Some(false), "rejected"), skipped("rejected"));
        assert_eq!(outcome(DecisionKind::Approve, Some(false), "executed"), skipped("executed"));
        assert_eq!(outcome(DecisionKind::Retry, Some(true), "running"), Some(Outcome::Accepted));
        assert_eq!(
            outcome(DecisionKind::Retry, Some(true), "pending"),
            Some(Outcome::Accepted),
            "it came back"
        );
        assert_eq!(outcome(DecisionKind::Retry, None, "running"), skipped("running"));
    }

    #[test]
    fn approval_that_waits_for_others_was_accepted() {
        let approvals = r#""status":"pending","approvals":{"given":1,"needed":2,"by":["kim"]}"#;
        let outcome = |proof, more: &str| {
            let effective = Digest::of("t", "w", r#"{"a":1}"#);
            let (asked, begun_at) = (DecisionKind::Approve, Timestamp::default());
            let lost = Lost { asked, effective, begun_at, subject: None, proof };
            (lost.outcome(&settled(more)), lost.of_accepted(&settled(more)))
        };

        let partly = Outcome::PartlyApproved { given: 1, needed: 2 };
        assert_eq!(outcome(Some(true), approvals), (Some(partly), None), "and stays so");
        assert_eq!(outcome(None, approvals), (None, None));
        let approved =
            r#""status":"approved","resolvedBy":"lee","approvals":{"given":2,"needed":2,"by":["kim","lee"]}"#;
        assert_eq!(outcome(Some(true), approved).1, Some(Outcome::Approved), "ours counted");
        assert!(matches!(outcome(Some(false), approved).1, Some(Outcome::Skipped { .. })));
    }

    #[test]
    fn unsent_decision_is_ours_only_with_a_proof() {
        let ada = Untrusted::from("ada");
        let came_to = |subject, proof, more: &str| {
            let effective = Digest::of("t", "w", r#"{"a":1}"#);
            let (asked, begun_at) = (DecisionKind::Approve, Timestamp::default());
            Lost { asked, effective, begun_at, subject, proof }.of_unsent(&settled(more))
        };
        let skipped = |word, by: Option<&str>| {
            Some(Outcome::Skipped { status: Some(Status::parse(word)), by: by.map(Untrusted::from) })
        };

        assert_eq!(came_to(None, None, r#""status":"executed""#), skipped("executed", None));
        assert_eq!(came_to(Some(&ada), None, r#""status":"executed""#), skipped("executed", None));
        let by = |who: &str| format!(r#""status":"executed","resolvedBy":"{who}""#);
        assert_eq!(came_to(Some(&ada), None, &by("ada")), Some(Outcome::Approved));
        assert_eq!(came_to(None, Some(true), &by("ada")), Some(Outcome::Approved));
        assert_eq!(came_to(None, None, &by("lee")), skipped("executed", Some("lee")));
        assert_eq!(came_to(None, None, r#""status":"pending""#), None);
    }

    #[test]
    fn rejection_is_over_when_its_undo_is() {
        let of_accepted = |goes_on| {
            let (effective, begun_at) = (Digest::of("t", "w", r#"{"a":1}"#), Timestamp::default());
            let lost =
                Lost { asked: DecisionKind::Reject, effective, begun_at, subject: None, proof: Some(true) };
            lost.of_accepted(&PendingAction { goes_on, ..settled(r#""status":"rejected""#) })
        };

        assert_eq!((of_accepted(true), of_accepted(false)), (None, Some(Outcome::Rejected)));
    }

    #[test]
    fn accepted_decision_counts_only_if_its_action_ended_so() {
        let came_to = |asked, proof, more: &str| {
            let effective = Digest::of("t", "w", r#"{"a":1}"#);
            let lost = Lost { asked, effective, begun_at: Timestamp::default(), subject: None, proof };
            lost.of_accepted(&settled(more))
        };
        let (approve, reject) = (DecisionKind::Approve, DecisionKind::Reject);
        let skipped = |word| Some(Outcome::Skipped { status: Some(Status::parse(word)), by: None });

        assert_eq!(came_to(approve, None, r#""status":"pending""#), None);
        assert_eq!(came_to(approve, None, r#""status":"running""#), None);
        assert_eq!(came_to(approve, Some(true), r#""status":"running""#), Some(Outcome::Approved));
        assert_eq!(came_to(approve, None, r#""status":"executed""#), Some(Outcome::Approved));
        assert_eq!(came_to(approve, None, r#""status":"rejected""#), skipped("rejected"));
        assert_eq!(came_to(reject, None, r#""status":"executed""#), skipped("executed"));
        assert_eq!(came_to(reject, Some(false), r#""status":"rejected""#), skipped("rejected"));
        let undone = r#""status":"undone","executedAt":"2026-04-21T18:02:12.000Z""#;
        assert_eq!(came_to(approve, None, undone), Some(Outcome::Approved));
        assert_eq!(came_to(approve, None, r#""status":"undone""#), skipped("undone"));
        assert_eq!(came_to(DecisionKind::Retry, Some(true), r#""status":"executed""#), None);
        let lost = came_to(DecisionKind::Retry, Some(true), r#""status":"unknown","error":"stuck""#);
        assert_eq!(lost, Some(Outcome::Unknown { why: "stuck".into() }));
        let anothers = came_to(DecisionKind::Retry, Some(false), r#""status":"unknown","error":"stuck""#);
        assert!(!matches!(anothers, Some(Outcome::Unknown { .. })), "{anothers:?}");
    }
}
