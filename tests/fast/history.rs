//! Tests the history checker of `benches/scale`: it accepts a good history and reports each kind of broken one.

#[path = "../../benches/scale/history.rs"]
mod checker;

use self::checker::{
    Action, End, Kept, Kind, Row, Run, SETTLED_AS_EXECUTED, SETTLED_AS_FAILED, Told, Verdict, check,
};

const W: &str = "w";

fn action(number: u64, value: u64, status: &str) -> Action {
    Action { id: format!("a{number}"), number, value, status: status.to_owned() }
}

fn kept(name: &str, count: u64) -> Kept {
    Kept { workspace: W.to_owned(), name: name.to_owned(), count }
}

fn approved(number: u64, value: u64) -> Told {
    Told::Decided { number, verdict: Verdict::Approved(value) }
}

fn recorded(number: u64) -> Told {
    Told::Recorded { number, id: format!("a{number}") }
}

/// Returns a history of four actions: edited and run, rejected, and two whose agents died, after and before the run.
fn good() -> (Vec<Told>, End) {
    let told = vec![
        recorded(1),
        // A repeated proposal returns the same action.
        recorded(1),
        approved(1, 70),
        Told::Claimed { number: 1, fence: 1, value: 70 },
        Told::Finished { number: 1 },
        recorded(2),
        Told::Decided { number: 2, verdict: Verdict::Rejected },
        recorded(3),
        approved(3, 3),
        Told::Claimed { number: 3, fence: 1, value: 3 },
        Told::Settled { number: 3, executed: true },
        recorded(4),
        approved(4, 4),
        Told::Claimed { number: 4, fence: 1, value: 4 },
        Told::Settled { number: 4, executed: false },
    ];
    let events = [
        (1, ["created", "approved", "dispatched", "executed"].as_slice()),
        (2, &["created", "rejected"]),
        (3, &["created", "approved", "dispatched", "lost", SETTLED_AS_EXECUTED]),
        (4, &["created", "approved", "dispatched", "lost", SETTLED_AS_FAILED]),
    ];
    let events = events.iter().flat_map(|(number, events)| events.iter().map(move |event| (*number, *event)));
    let rows = (1..).zip(events).map(|(revision, (number, event))| Row {
        workspace: W.to_owned(),
        revision,
        action: Some(format!("a{number}")),
        event: event.to_owned(),
    });
    let counts =
        [("pending", 0), ("arrived", 4), ("approved", 3), ("rejected", 1), ("executed", 2), ("failed", 1)];
    let end = End {
        actions: vec![
            action(1, 70, "executed"),
            action(2, 2, "rejected"),
            action(3, 3, "executed"),
            action(4, 4, "failed"),
        ],
        audit: rows.collect(),
        runs: vec![Run { number: 1, value: 70 }, Run { number: 3, value: 3 }],
        kept: counts.iter().map(|(name, count)| kept(name, *count)).chain([kept("unknown", 2)]).collect(),
        ..End::default()
    };
    (told, end)
}

/// Returns the findings after `breaking` changed the good history.
fn found(breaking: impl Fn(&mut Vec<Told>, &mut End)) -> Vec<Kind> {
    let (mut told, mut end) = good();
    breaking(&mut told, &mut end);
    let mut kinds: Vec<_> = check(&told, &end).into_iter().map(|finding| finding.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

/// Removes audit rows and renumbers the rest, like a database that lost them without a gap.
fn without(end: &mut End, action: &str, event: &str) {
    end.audit.retain(|row| row.action.as_deref() != Some(action) || row.event != event);
    for (revision, row) in (1..).zip(&mut end.audit) {
        row.revision = revision;
    }
}

fn once_more(end: &mut End, action: &str, event: &str) {
    let (revision, action) = (end.audit.len() as u64 + 1, Some(action.to_owned()));
    end.audit.push(Row { workspace: W.to_owned(), revision, action, event: event.to_owned() });
}

#[test]
fn good_history_has_no_findings() {
    let (told, end) = good();

    let findings = check(&told, &end);

    assert!(findings.is_empty(), "{findings:?}");
    assert_eq!(Kind::ALL.len(), 7);
    assert_eq!(found(|_, end| end.verify.push("a row".to_owned())), [Kind::Audit]);
}

#[test]
fn missing_acknowledged_data_is_lost() {
    let gone = found(|_, end| end.actions.retain(|action| action.number != 2));
    let other_id = found(|_, end| end.actions[1].id = "b2".to_owned());
    let decision = found(|_, end| {
        without(end, "a2", "rejected");
        end.actions[1].status = "failed".to_owned();
        end.kept[0].count = 1;
        end.kept[3].count = 0;
    });
    let edit = found(|told, end| {
        told.retain(|told| !matches!(told, Told::Claimed { number: 1, .. }));
        end.actions[0].value = 1;
    });
    let claim = found(|_, end| {
        without(end, "a4", "dispatched");
    });
    let result = found(|_, end| {
        end.actions[0].status = "failed".to_owned();
    });
    let run = found(|_, end| end.runs.retain(|run| run.number != 3));
    let settling = found(|_, end| end.actions[3].status = "rejected".to_owned());
    let refused = found(|told, _| told.push(Told::Refused { number: 1, what: "finish: 404".to_owned() }));

    for kinds in [gone, other_id, decision, edit, claim, result, run, settling, refused] {
        assert_eq!(kinds, [Kind::Lost]);
    }
}

#[test]
fn repeated_effects_are_doubled() {
    let two_ids = found(|told, end| {
        told.push(Told::Recorded { number: 2, id: "b2".to_owned() });
        end.actions.push(Action { id: "b2".to_owned(), ..action(2, 2, "rejected") });
    });
    let two_actions =
        found(|_, end| end.actions.push(Action { id: "b2".to_owned(), ..action(2, 2, "rejected") }));
    let two_winners = found(|told, _| told.push(approved(1, 70)));
    let two_decisions = found(|_, end| {
        once_more(end, "a2", "rejected");
        end.kept[3].count += 1;
        // The second row is subtracted from the pending count.
        end.kept[0].count = 0;
    });
    let two_claims = found(|told, _| told.push(Told::Claimed { number: 1, fence: 2, value: 70 }));
    let two_dispatches = found(|_, end| once_more(end, "a1", "dispatched"));
    let two_runs = found(|_, end| end.runs.push(Run { number: 1, value: 70 }));

    for kinds in [two_ids, two_actions, two_winners, two_decisions, two_claims, two_dispatches, two_runs] {
        assert_eq!(kinds, [Kind::Doubled]);
    }
}

#[test]
fn unapproved_runs_are_found() {
    let rejected = found(|_, end| end.runs.push(Run { number: 2, value: 2 }));
    let not_as_edited = found(|_, end| end.runs[0].value = 1);
    let before_the_approval = found(|_, end| end.audit.swap(1, 2));
    let given_out = found(|told, _| told[3] = Told::Claimed { number: 1, fence: 1, value: 1 });
    let nobodys = found(|_, end| end.runs.push(Run { number: 99, value: 1 }));

    // Swapped rows are also out of order.
    assert_eq!(before_the_approval, [Kind::Unapproved, Kind::Audit]);
    for kinds in [rejected, not_as_edited, given_out, nobodys] {
        assert_eq!(kinds, [Kind::Unapproved]);
    }
}

#[test]
fn unfinished_actions_are_stuck() {
    let unanswered = found(|told, _| told.push(Told::Unanswered { number: 9, what: "propose".to_owned() }));
    let gate = found(|_, end| end.away.push("a gate".to_owned()));
    let statuses = ["approved", "running", "unknown"].map(|status| {
        found(|told, end| {
            told.retain(|told| !matches!(told, Told::Settled { number: 4, .. }));
            end.actions[3].status = status.to_owned();
        })
    });

    for kinds in statuses.into_iter().chain([unanswered, gate]) {
        assert_eq!(kinds, [Kind::Stuck]);
    }
}

#[test]
fn stale_reads_wrong_counts_and_a_broken_audit_are_found() {
    let stale = found(|told, _| told.push(Told::Stale { number: 1, what: "pending".to_owned() }));
    let counts = (0..7).map(|nth| found(|_, end| end.kept[nth].count += 1));
    let gap = found(|_, end| end.audit.last_mut().unwrap().revision += 1);

    assert_eq!(stale, [Kind::Stale]);
    assert!(counts.into_iter().all(|kinds| kinds == [Kind::Miscounted]));
    assert_eq!(gap, [Kind::Audit]);
}
