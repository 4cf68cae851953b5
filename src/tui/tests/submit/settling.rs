//! Submissions updated by later reads.

use crate::domain::{Entry, Followed, Outcome, Report, Resolution, Resolved, Risk, Row, Status, Timestamp};
use crate::inbox::{Problem, Reconciled};
use crate::tui::core::msg::{Effect, What};
use crate::tui::queue::slots::State;
use crate::tui::testing::{Desk, few, key};

/// Returns a desk with three sent decisions: 1 ran, 2 failed, 3 has an unknown outcome.
fn mixed() -> (Desk, Report) {
    let mut desk = Desk::new(100, 30, few(4));
    desk.press("aaas");
    desk.wait(500);
    desk.press("y");
    desk.reports(|_| Outcome::Approved);
    let mut report = desk.model.submit.last_report.clone().unwrap().report;
    report.lines[1].outcome = Outcome::Failed { why: "no".into() };
    report.lines[2].outcome = Outcome::Unknown { why: "no answer".into() };

    let mut desk = Desk::new(100, 30, few(4));
    desk.press("aaas");
    desk.wait(500);
    desk.press("y");
    desk.say(What::Submitted(report.id.clone(), Ok(report.clone())));
    desk.say(What::Followed(Followed {
        key: key("1"),
        title: "Issue number 1".into(),
        status: Status::Executed,
        result: None,
        error: None,
        outcome: None,
        at: Timestamp::default(),
    }));
    (desk, report)
}

fn status(desk: &Desk, id: &str) -> Option<Status> {
    match &desk.slot(id).state {
        State::Settled(settled) => settled.status.clone(),
        _ => None,
    }
}

#[test]
fn repeated_report_does_not_restage_known_outcomes() {
    let (mut desk, report) = mixed();
    desk.press("u");
    assert_eq!(desk.staged(), "", "the reviewer has unstaged 2");
    desk.effects.clear();
    desk.saved.clear();

    desk.say(What::Reconciled(Ok(vec![Reconciled {
        report: report.clone(),
        learnt: Vec::new(),
        lost: Vec::new(),
        begun_at: Timestamp::default(),
        next_look: Some(desk.model.now),
    }])));

    assert_eq!(status(&desk, "1"), Some(Status::Executed));
    assert_eq!((desk.staged().as_str(), desk.effects.as_slice()), ("", &[][..]));
    assert!(desk.saved.is_empty(), "{:?}", desk.saved);
    assert_eq!(desk.slot("3").state, State::Unknown);
    assert_eq!(desk.model.submit.last_report.as_ref().unwrap().followed.len(), 1);
    assert!(desk.model.submit.look_again.is_some(), "3 is looked for again");
}

#[test]
fn only_new_outcomes_are_applied() {
    let (mut desk, mut report) = mixed();
    desk.effects.clear();
    report.lines[2].outcome = Outcome::Failed { why: "it never arrived".into() };
    let learnt = vec![key("3")];

    desk.say(What::Reconciled(Ok(vec![Reconciled {
        report: report.clone(),
        learnt: learnt.clone(),
        lost: Vec::new(),
        begun_at: Timestamp::default(),
        next_look: None,
    }])));

    assert_eq!(desk.effects, [Effect::TakeBack { id: report.id.clone(), keys: learnt }]);
    assert_eq!(status(&desk, "1"), Some(Status::Executed));
    assert_eq!(desk.slot("3").state, State::Pending);
    let last = desk.model.submit.last_report.as_ref().unwrap();
    assert_eq!((&last.report, last.followed.len()), (&report, 1), "updated, not replaced");
}

#[test]
fn unknown_outcome_after_a_crash_is_not_sent_again() {
    let (_, report) = mixed();
    let mut desk = Desk::new(100, 30, few(4));
    desk.press("GaGa");
    desk.model.queue.set_state(&key("3"), State::Pending);

    desk.say(What::Reconciled(Ok(vec![Reconciled {
        report,
        learnt: Vec::new(),
        lost: Vec::new(),
        begun_at: Timestamp::default(),
        next_look: None,
    }])));

    assert_eq!(desk.slot("3").state, State::Unknown);
    assert!(desk.list().contains("t resolves"), "it stands first, under its own heading: {}", desk.list());
    assert_eq!(desk.slot("1").state, State::Pending, "its outcome was reported before");
}

/// Returns a desk with three accepted decisions that the source settles later.
fn accepted() -> Desk {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("aaxs");
    desk.wait(500);
    desk.press("y");
    desk.reports(|_| Outcome::Accepted);
    desk
}

fn goes_on(desk: &mut Desk, id: &str, status: Status, error: Option<&str>) {
    let (title, error) = (format!("Issue number {id}"), error.map(crate::domain::Untrusted::from));
    let at = Timestamp::default();
    let followed =
        Followed { key: key(id), title: title.into(), status, result: None, error, outcome: None, at };
    desk.say(What::Followed(followed));
}

#[test]
fn accepted_decision_is_followed_and_can_become_pending_again() {
    let mut desk = accepted();
    let keys = ["1", "2", "3"].map(key).to_vec();
    assert!(desk.effects.contains(&Effect::Follow(keys)), "{:?}", desk.effects);
    assert_eq!(status(&desk, "1"), Some(Status::Other("accepted".into())));

    desk.press("gr");
    goes_on(&mut desk, "3", Status::Rejected, None);
    insta::assert_snapshot!(desk.sheet_line(6), @"  ✗ Issue number 3  rejected");
    goes_on(&mut desk, "1", Status::Pending, Some("check its workers"));
    let message = desk.message();
    goes_on(&mut desk, "2", Status::Pending, None);

    insta::assert_snapshot!(message, @"NOT TAKEN: Issue number 1: check its workers");
    assert_eq!(desk.message(), "waits again: Issue number 2");
    assert_eq!(status(&desk, "3"), Some(Status::Rejected));
    assert_eq!([&desk.slot("1").state, &desk.slot("2").state], [&State::Pending, &State::Pending]);
}

#[test]
fn reused_id_is_a_new_action() {
    let mut desk = accepted();
    let mut listed = few(3);
    listed[1].row.created_at = listed[1].row.created_at.plus_millis(1);

    desk.lists(listed);

    assert_eq!(desk.slot("2").state, State::Pending, "the action was proposed again");
    assert_eq!(status(&desk, "1"), Some(Status::Other("accepted".into())), "the list is just late");
}

/// Returns a restarted desk with a lost decision whose action the source no longer lists.
fn restarted(next_look: i64) -> (Desk, Report) {
    let (_, mut report) = mixed();
    let mut desk = Desk::new(100, 30, few(2));
    report.lines[2].title = "The lost one".into();
    report.lines[2].key = key("gone");
    let next_look = Some(desk.model.now.plus_millis(next_look));
    let begun_at = desk.model.now.plus_millis(-3_600_000);
    let (id, tool) = (key("gone").id, report.lines[2].tool.clone());
    let row = Row { risk: Risk::High, created_at: begun_at, ..Row::new(id, tool, "The lost one".into()) };
    let lost = vec![Entry { key: key("gone"), row: Row { status: Status::Unknown, ..row } }];
    let one = Reconciled { report: report.clone(), learnt: Vec::new(), lost, begun_at, next_look };
    desk.say(What::Reconciled(Ok(vec![one])));
    (desk, report)
}

#[test]
fn lost_decision_without_a_row_is_listed_first() {
    let (mut desk, _) = restarted(120_000);

    insta::assert_snapshot!(desk.list(), @"
     ▾ unknown: t resolves, next check 14:24:31           1
     ? create_linear_issue │ The lost one      HIGH UNKNOWN
     ▾ create_linear_issue  low  support             2 left
    ▌• │ Issue number 1                                59 m
     • │ Issue number 2                                58 m
    ");
    assert_eq!((desk.model.list.stats.unknown, desk.model.list.stats.pending), (1, 2));
    assert_eq!(desk.here(), "1", "the cursor stays on its row");

    desk.lists(few(2));
    desk.press("R");
    assert_eq!(desk.slot("gone").state, State::Unknown, "an unlisted row proves nothing");
    assert!(desk.effects.contains(&Effect::Reconcile), "a reload reconciles again");
    desk.effects.clear();
    let problem = Problem { source: None, what: "down".to_owned(), why: None };
    desk.say(What::Reconciled(Err(problem)));
    desk.wait(10_000);
    desk.say(What::Tick);
    assert!(desk.effects.contains(&Effect::Reconcile), "a failed reconciliation is retried");
}

#[test]
fn lost_decision_can_be_resolved_by_hand() {
    let (mut desk, _) = restarted(120_000);
    desk.press("kk");
    assert_eq!(desk.here(), "gone");
    desk.press("t");
    desk.drawn();
    insta::assert_snapshot!(desk.sheet(), @"
    What became of it?
      create_linear_issue   The lost one
      its decision was sent; the outcome is unknown

        e  it ran           executed
        f  it did not run   failed; it is not run again


      reason >

      Tab adds a reason   Esc closes
    look in the target first
    ");
    desk.wait(1_000);
    desk.press("e");
    desk.wait(1_000);
    desk.press("y");
    desk.wait(1_000);
    desk.say(What::Tick);
    let settles = Effect::ResolveUnknown { key: key("gone"), finding: Resolution::Landed, reason: None };
    assert!(desk.effects.contains(&settles), "{:?} {}", desk.effects, desk.screen());

    let answer = Ok(Resolved::Settled(Status::Executed));
    desk.say(What::Resolved(key("gone"), Resolution::Landed, answer));

    assert_eq!(status(&desk, "gone"), Some(Status::Executed));
    assert_eq!(desk.model.list.stats.unknown, 0);
    desk.press("R");
    assert!(desk.model.queue.get(&key("gone")).is_none(), "{}", desk.screen());
}

/// The source accepted two opposite decisions, and the other one won.
#[test]
fn accepted_decision_that_lost_is_reported_as_skipped() {
    let mut desk = Desk::new(100, 30, few(2));
    desk.press("xs");
    desk.wait(500);
    desk.press("y");
    desk.reports(|_| Outcome::Accepted);
    let outcome = Some(Outcome::Skipped { status: Some(Status::Executed), by: None });

    desk.say(What::Followed(Followed {
        key: key("1"),
        title: "Issue number 1".into(),
        status: Status::Executed,
        result: None,
        error: None,
        outcome: outcome.clone(),
        at: Timestamp::default(),
    }));

    let sheet = desk.model.submit.last_report.clone().unwrap();
    assert_eq!(Some(sheet.report.lines[0].outcome.clone()), outcome);
    assert!(sheet.followed.is_empty());
    assert!(matches!(&desk.slot("1").state, State::Settled(settled) if !settled.ours));
    let message = desk.message();
    insta::assert_snapshot!(message, @"SKIPPED, not ours: Issue number 1: already executed");
}

fn follows(desk: &mut Desk, status: Status, error: &str, outcome: Option<Outcome>) {
    desk.say(What::Followed(Followed {
        key: key("1"),
        title: "Issue number 1".into(),
        status,
        result: None,
        error: Some(error.into()),
        outcome,
        at: Timestamp::default(),
    }));
}

#[test]
fn failed_undo_of_a_rejection_is_reported_everywhere() {
    let mut desk = Desk::new(100, 30, few(2));
    desk.press("xs");
    desk.wait(500);
    desk.press("y");
    desk.reports(|_| Outcome::Accepted);

    follows(&mut desk, Status::Rejected, "the undo of \"Book\" failed", Some(Outcome::Rejected));

    let screen = desk.screen();
    assert!(screen.contains("UNDO FAILED after rejection: Issue number 1"), "{screen}");
    assert!(screen.contains("undo failed"), "{screen}");
    desk.press("gr");
    let report = desk.screen();
    assert!(report.contains("undo failed  the undo of"), "{report}");
    assert!(!report.contains("then 1 rejected"), "{report}");
}

#[test]
fn lost_retry_is_unknown_and_first() {
    let mut desk = Desk::new(100, 30, few(2));
    desk.press("xs");
    desk.wait(500);
    desk.press("y");
    desk.reports(|_| Outcome::Accepted);

    let lost = Outcome::Unknown { why: "stuck".into() };
    follows(&mut desk, Status::Unknown, "stuck", Some(lost));

    assert_eq!(desk.slot("1").state, State::Unknown);
    assert_eq!(desk.model.list.stats.unknown, 1);
    assert!(desk.screen().contains("OUTCOME UNKNOWN after retry: Issue number 1"), "{}", desk.screen());
}
