//! Compares the answers that clients had during a run with kills with the gates' state at its end. It does no I/O;
//! `tests/fast` checks with broken histories that it finds each kind of loss.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// With the approved value: the proposed one or the reviewer's edit.
    Approved(u64),
    Rejected,
}

/// An answer to a client. Proposals are identified by `number`, which their input also holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    Recorded {
        number: u64,
        id: String,
    },
    Decided {
        number: u64,
        verdict: Verdict,
    },
    /// The agent may run this value.
    Claimed {
        number: u64,
        fence: u64,
        value: u64,
    },
    /// The gate accepted the result.
    Finished {
        number: u64,
    },
    /// A human resolved an unknown outcome.
    Settled {
        number: u64,
        executed: bool,
    },
    /// A gate reported an older state after one of the answers above.
    Stale {
        number: u64,
        what: String,
    },
    /// A gate refused a request that earlier answers allowed.
    Refused {
        number: u64,
        what: String,
    },
    /// No gate answered until the time limit.
    Unanswered {
        number: u64,
        what: String,
    },
}

/// A write that ran, by an agent or a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) number: u64,
    pub(crate) value: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Action {
    pub(crate) id: String,
    pub(crate) number: u64,
    /// The value to run, after edits.
    pub(crate) value: u64,
    pub(crate) status: String,
}

/// Audit events of a human's resolution of an unknown outcome.
pub(crate) const SETTLED_AS_EXECUTED: &str = "settled as executed";
pub(crate) const SETTLED_AS_FAILED: &str = "settled as failed";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) workspace: String,
    pub(crate) revision: u64,
    pub(crate) action: Option<String>,
    pub(crate) event: String,
}

/// A number that gates keep up to date instead of counting. Audit rows must add up to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) workspace: String,
    /// `pending`, or the name of a flow.
    pub(crate) name: String,
    pub(crate) count: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) actions: Vec<Action>,
    /// In order of revisions within each workspace.
    pub(crate) audit: Vec<Row>,
    pub(crate) runs: Vec<Run>,
    pub(crate) kept: Vec<Kept>,
    /// Findings of `audit verify`, also against heads noted during the run.
    pub(crate) verify: Vec<String>,
    /// Gates that did not become ready again.
    pub(crate) away: Vec<String>,
}

/// A kind of violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Acknowledged but missing.
    Lost,
    Doubled,
    /// Ran without an approval of this exact value.
    Unapproved,
    /// Unfinished long after all processes were back.
    Stuck,
    /// Read in a state older than an acknowledged one.
    Stale,
    /// A kept number differs from the audit.
    Miscounted,
    /// The audit is inconsistent.
    Audit,
}

impl Kind {
    pub(crate) const ALL: [Self; 7] = [
        Self::Lost,
        Self::Doubled,
        Self::Unapproved,
        Self::Stuck,
        Self::Stale,
        Self::Miscounted,
        Self::Audit,
    ];
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) kind: Kind,
    pub(crate) what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.kind, self.what)
    }
}

/// Returns all violations of a history.
pub(crate) fn check(told: &[Told], end: &End) -> Vec<Finding> {
    let mut check = Check::of(told, end);
    check.each_is_there_once();
    for told in told {
        check.holds(told);
    }
    check.runs();
    check.is_over();
    check.counts();
    check.audit();
    check.findings
}

/// All answers about one proposal.
#[derive(Default)]
struct Known {
    ids: BTreeSet<String>,
    approved: Vec<u64>,
    rejected: usize,
    fences: BTreeSet<u64>,
}

struct Check<'a> {
    end: &'a End,
    known: BTreeMap<u64, Known>,
    actions: BTreeMap<u64, Vec<&'a Action>>,
    /// Audit events by action, in order.
    events: BTreeMap<&'a str, Vec<&'a str>>,
    findings: Vec<Finding>,
}

impl<'a> Check<'a> {
    fn of(told: &[Told], end: &'a End) -> Self {
        let mut known: BTreeMap<u64, Known> = BTreeMap::new();
        for told in told {
            match told {
                Told::Recorded { number, id } => {
                    known.entry(*number).or_default().ids.insert(id.clone());
                }
                Told::Decided { number, verdict: Verdict::Approved(value) } => {
                    known.entry(*number).or_default().approved.push(*value);
                }
                Told::Decided { number, verdict: Verdict::Rejected } => {
                    known.entry(*number).or_default().rejected += 1;
                }
                Told::Claimed { number, fence, .. } => {
                    known.entry(*number).or_default().fences.insert(*fence);
                }
                Told::Finished { .. }
                | Told::Settled { .. }
                | Told::Stale { .. }
                | Told::Refused { .. }
                | Told::Unanswered { .. } => {}
            }
        }
        let mut actions: BTreeMap<u64, Vec<&Action>> = BTreeMap::new();
        for action in &end.actions {
            actions.entry(action.number).or_default().push(action);
        }
        let mut events: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for row in &end.audit {
            if let Some(action) = &row.action {
                events.entry(action).or_default().push(&row.event);
            }
        }
        Self { end, known, actions, events, findings: Vec::new() }
    }

    fn found(&mut self, kind: Kind, what: String) {
        self.findings.push(Finding { kind, what });
    }

    /// Returns the action of this number. [`Self::each_is_there_once`] reports duplicates.
    fn action(&self, number: u64) -> Option<&'a Action> {
        self.actions.get(&number)?.first().copied()
    }

    fn count(&self, number: u64, event: &str) -> usize {
        let events = self.action(number).and_then(|action| self.events.get(action.id.as_str()));
        events.map_or(0, |events| events.iter().filter(|found| **found == event).count())
    }

    fn each_is_there_once(&mut self) {
        let mut found = Vec::new();
        for (number, known) in &self.known {
            if known.ids.len() > 1 {
                found.push((Kind::Doubled, format!("proposal {number} was told as {:?}", known.ids)));
            }
            let there = self.actions.get(number).map_or(&[][..], Vec::as_slice);
            for id in known.ids.iter().filter(|id| there.iter().all(|action| action.id != **id)) {
                found.push((
                    Kind::Lost,
                    format!("proposal {number} was recorded as {id}, which is not there"),
                ));
            }
            if known.approved.len() + known.rejected > 1 {
                found.push((Kind::Doubled, format!("proposal {number} was decided more than once")));
            }
            // An interrupted run is not repeated; a human resolves it.
            if known.fences.len() > 1 {
                found
                    .push((Kind::Doubled, format!("proposal {number} was claimed under {:?}", known.fences)));
            }
        }
        for (number, actions) in &self.actions {
            if actions.len() > 1 {
                found.push((Kind::Doubled, format!("proposal {number} is there {} times", actions.len())));
            }
            let decided = self.count(*number, "approved") + self.count(*number, "rejected");
            for (what, count) in [("decided", decided), ("dispatched", self.count(*number, "dispatched"))] {
                if count > 1 {
                    found.push((
                        Kind::Doubled,
                        format!("proposal {number} was {what} {count} times, says the audit"),
                    ));
                }
            }
        }
        for (kind, what) in found {
            self.found(kind, what);
        }
    }

    /// Compares one answer with the end.
    fn holds(&mut self, told: &Told) {
        let (number, what) = match told {
            Told::Recorded { .. } => return,
            Told::Stale { number, what } => {
                return self.found(Kind::Stale, format!("proposal {number}: {what}"));
            }
            Told::Refused { number, what } => {
                return self
                    .found(Kind::Lost, format!("proposal {number} was refused what was its own: {what}"));
            }
            Told::Unanswered { number, what } => {
                return self.found(Kind::Stuck, format!("proposal {number}: {what} was never answered"));
            }
            Told::Decided { number, .. } => (*number, "decision"),
            Told::Claimed { number, .. } => (*number, "claim"),
            Told::Finished { number } => (*number, "result"),
            Told::Settled { number, .. } => (*number, "settling"),
        };
        let Some(action) = self.action(number) else {
            return self
                .found(Kind::Lost, format!("proposal {number}: the {what} of an action that is not there"));
        };
        let is = |status: &str| action.status == status;
        let holds = match told {
            Told::Decided { verdict: Verdict::Approved(value), .. } => {
                self.count(number, "approved") > 0
                    && action.value == *value
                    && !is("rejected")
                    && !is("pending")
            }
            Told::Decided { verdict: Verdict::Rejected, .. } => {
                self.count(number, "rejected") > 0 && is("rejected")
            }
            Told::Claimed { .. } => self.count(number, "dispatched") > 0,
            Told::Finished { .. } => self.count(number, "executed") > 0 && is("executed"),
            Told::Settled { executed, .. } => is(if *executed { "executed" } else { "failed" }),
            Told::Recorded { .. } | Told::Stale { .. } | Told::Refused { .. } | Told::Unanswered { .. } => {
                true
            }
        };
        if !holds {
            let (status, value) = (&action.status, action.value);
            self.found(Kind::Lost, format!("proposal {number}: {told:?}, and it is {status} with {value}"));
        }
        if let Told::Claimed { value, .. } = told
            && *value != action.value
        {
            self.found(
                Kind::Unapproved,
                format!("proposal {number}: {value} was given out, {} is approved", action.value),
            );
        }
    }

    /// Checks that each run was approved and happened once.
    fn runs(&mut self) {
        let mut seen: BTreeMap<u64, usize> = BTreeMap::new();
        for Run { number, value } in &self.end.runs {
            *seen.entry(*number).or_default() += 1;
            let approved = self.known.get(number).is_some_and(|known| known.approved.contains(value));
            let events = self.action(*number).and_then(|action| self.events.get(action.id.as_str()));
            let mut order =
                events.into_iter().flatten().filter(|event| ["approved", "dispatched"].contains(event));
            let in_order = order.next() == Some(&"approved") && order.next() == Some(&"dispatched");
            if !approved || !in_order {
                self.found(
                    Kind::Unapproved,
                    format!(
                        "proposal {number} ran with {value}; approved: {approved}, audit in order: {in_order}"
                    ),
                );
            }
        }
        for (number, times) in &seen {
            if *times > 1 {
                self.found(Kind::Doubled, format!("proposal {number} ran {times} times"));
            }
        }
        // A run may have an unknown outcome, but an executed action must have run.
        for action in &self.end.actions {
            if action.status == "executed" && !seen.contains_key(&action.number) {
                self.found(Kind::Lost, format!("proposal {} is executed, and nothing ran", action.number));
            }
        }
    }

    fn is_over(&mut self) {
        for action in &self.end.actions {
            if !["executed", "failed", "rejected"].contains(&action.status.as_str()) {
                self.found(Kind::Stuck, format!("proposal {} is still {}", action.number, action.status));
            }
        }
        for gate in &self.end.away {
            self.found(Kind::Stuck, format!("{gate} did not come back"));
        }
    }

    fn counts(&mut self) {
        for Kept { workspace, name, count } in &self.end.kept {
            let of = |event: &str| {
                let rows =
                    self.end.audit.iter().filter(|row| row.workspace == *workspace && row.event == event);
                rows.count() as u64
            };
            let counted = match name.as_str() {
                "pending" => of("created").saturating_sub(of("approved") + of("rejected")),
                "arrived" => of("created"),
                "unknown" => of("lost"),
                "executed" => of("executed") + of(SETTLED_AS_EXECUTED),
                "failed" => of("failed") + of(SETTLED_AS_FAILED),
                event => of(event),
            };
            if *count != counted {
                self.found(
                    Kind::Miscounted,
                    format!("{workspace}: {name} is kept as {count}, counted {counted}"),
                );
            }
        }
    }

    fn audit(&mut self) {
        let mut next: BTreeMap<&str, u64> = BTreeMap::new();
        for row in &self.end.audit {
            let expected = next.entry(&row.workspace).or_insert(1);
            if row.revision != *expected {
                let what = format!("{}: revision {} where {expected} should be", row.workspace, row.revision);
                self.findings.push(Finding { kind: Kind::Audit, what });
            }
            *expected = row.revision + 1;
        }
        for problem in &self.end.verify {
            self.found(Kind::Audit, problem.clone());
        }
    }
}
