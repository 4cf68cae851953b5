//! From the review sheet to the outcome.

use crate::domain::{
    Confirm, DecisionKind, Digest, Followed, Outcome, PendingAction, RawJson, Risk, Seen, Status, Timestamp,
};
use crate::inbox::{Problem, Reconciled};
use crate::journal::Write;
use crate::tui::core::msg::{Effect, What};
use crate::tui::edit::form::EditForm;
use crate::tui::queue::slots::State;
use crate::tui::submit::state::ReviewSheet;
use crate::tui::submit::words;
use crate::tui::testing::{Desk, NOW, action, few, key};

fn sheet(desk: &Desk) -> bool {
    desk.model.sheet.is::<ReviewSheet>()
}

#[test]
fn review_is_confirmed_by_a_different_key() {
    let mut desk = Desk::new(100, 30, few(4));
    desk.press("axs");
    assert!(desk.screen().contains(words::NOTE), "{}", desk.screen());

    desk.wait(400);
    desk.press("sS <Enter>");
    assert!(sheet(&desk) && desk.submitted.is_empty());
    // Useless keys restarted the sheet's delay.
    desk.wait(400);
    desk.press("y");

    let sent = desk.submitted.last().unwrap();
    let items: Vec<_> =
        sent.batches()[0].items().iter().map(|item| (item.id.as_raw(), item.kind())).collect();
    assert_eq!(items, [("1", DecisionKind::Approve), ("2", DecisionKind::Reject)]);
    assert!(desk.effects.iter().any(|effect| matches!(effect, Effect::Submit { left_pending: 2, .. })));
    assert_eq!(desk.slot("1").state, State::Sending);
}

#[test]
fn keys_typed_before_the_sheet_are_dropped() {
    let mut desk = Desk::new(100, 30, few(2));
    desk.press("a");
    desk.wait(500);

    desk.hurry("sy", 50);
    desk.drawn();
    desk.hurry("y", 300);
    assert!(desk.submitted.is_empty());
    desk.hurry("y", 400);
    desk.wait(16);
    desk.say(What::Wake);

    assert_eq!(desk.submitted.len(), 1);
}

#[test]
fn review_finds_the_batch_the_cursor_just_left() {
    let mut actions = few(1);
    actions.push(action("m1 send_email crm low 5", "Mail", r#"{"to":"x"}"#));
    let mut desk = Desk::new(100, 30, actions);

    desk.press("a");
    assert_eq!(desk.here(), "m1");
    desk.press("s");

    insta::assert_snapshot!(desk.sheet_line(0), @"Send 1 decision to gate");
}

#[test]
fn esc_goes_back_and_sends_nothing() {
    let mut desk = Desk::new(100, 30, few(2));

    desk.press("as");
    desk.wait(500);
    desk.press("<Esc>y");

    assert!(!sheet(&desk) && desk.submitted.is_empty());
    assert_eq!(desk.staged(), "1A");
}

#[test]
fn final_or_unread_decisions_ask_for_the_count() {
    let mut desk = Desk::new(100, 30, few(5));
    desk.press("xxxxs");
    desk.wait(500);

    desk.press("y");
    assert!(desk.submitted.is_empty());
    let Some(open) = desk.model.sheet.get::<ReviewSheet>() else { panic!("the sheet is closed") };
    let Confirm::Count(4, why) = &open.review.as_ref().unwrap().confirm else {
        panic!("the sheet does not ask for 4")
    };
    assert!(desk.screen().contains(&words::because(why)), "{}", desk.screen());
    desk.press("5<Enter>");
    assert!(desk.submitted.is_empty(), "the wrong count");
    desk.press("4<Enter>");

    assert_eq!(desk.submitted.len(), 1);
}

#[test]
fn high_risk_asks_for_the_count() {
    let risky = action("1 refund_payment billing critical 5", "Refund", r#"{"amount":1.10}"#);
    let mut desk = Desk::new(100, 30, vec![risky]);

    desk.press("as");
    desk.wait(500);
    desk.press("y");
    assert!(desk.submitted.is_empty());
    desk.press("1<Enter>");

    assert_eq!(desk.submitted.len(), 1);
}

#[test]
fn an_unopened_approval_is_named_and_counted() {
    let mut desk = Desk::new(100, 30, few(4));
    desk.answers = false;
    desk.press("Ga");
    desk.answers = true;

    desk.press("s");

    assert!(desk.screen().contains(&words::warned(words::UNREAD, "Issue number 4")), "{}", desk.screen());
    assert!(desk.screen().contains(&words::type_count("1", "Enter")));
}

#[test]
fn changed_action_is_refused_and_the_rest_is_sent() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("aa");
    let mut changed = few(3).remove(0);
    changed.input = RawJson::parse(r#"{"title":"something else"}"#.to_owned()).unwrap();
    desk.world.insert(key("1"), changed);

    desk.press("s");
    desk.pictured("changed_since_seen");
    insta::assert_snapshot!(desk.sheet(), @"
    Send 1 decision to gate
      create_linear_issue · low · creates one issue in Linear
        ✓ 1 approve
          2 stay pending in this batch

        NOT SENT       Issue number 1   (d shows)
                       an action changed since you looked at it: its input,
                       or its expiry, risk, effect, preview or executor; look
                       again and decide again

        create_linear_issue  support:create_linear_issue
         ✓  Issue number 2

      gate, as kim@acme
      The gate refuses any action that changed after you saw it.


      Press y to send.                                                Esc back
    Nothing is sent yet
    ");
    desk.wait(500);
    desk.press("y");

    let sent = desk.submitted.last().unwrap();
    assert_eq!(sent.len(), 1);
    assert_eq!(desk.staged(), "1A 2A");
}

/// Sets terms like a gate's: a digest of everything but the input.
fn under_terms(mut action: PendingAction, executor: &str) -> PendingAction {
    let row = &action.row;
    let expiry = row.expires_at.map(|at| at.as_millis().to_string());
    let effect = row.effect.as_ref().map(|effect| effect.as_raw().to_owned());
    let preview = action.preview.as_ref().map(|preview| preview.as_str().to_owned());
    let fields = [Some(row.risk.as_raw().to_owned()), effect, expiry, preview, Some(executor.to_owned())];
    action.terms = Some(Digest::of_fields("test", fields.iter().map(Option::as_deref)));
    action
}

#[test]
fn changed_terms_refuse_the_decision() {
    let seen = || few(1).remove(0);
    let mut later = seen();
    later.row.expires_at = Some(Timestamp::from_millis(NOW + 60_000));
    let mut riskier = seen();
    riskier.row.risk = Risk::Medium;
    let mut outward = seen();
    outward.row.effect = Some(crate::domain::Effect::External);
    let mut retold = seen();
    retold.preview = Some(RawJson::parse(r#"{"does":"nothing"}"#.to_owned()).unwrap());
    let changed = [(later, "a"), (riskier, "a"), (outward, "a"), (retold, "a"), (seen(), "another executor")];

    for (now, executor) in changed {
        let mut desk = Desk::new(100, 30, vec![under_terms(seen(), "a")]);
        desk.press("a");
        desk.world.insert(key("1"), under_terms(now, executor));

        desk.press("s");
        let screen = desk.screen();
        desk.wait(500);
        desk.press("y1<Enter>");

        assert!(screen.contains(&words::label(words::NOT_SENT, "Issue number 1")), "{screen}");
        assert!(screen.contains(words::CANNOT), "{screen}");
        assert!(desk.submitted.is_empty());
        desk.press("<Esc>aa");
        desk.press("s");
        desk.wait(500);
        desk.press("y");
        assert_eq!(desk.submitted.len(), 1, "decided again under the new terms: {}", desk.screen());
    }
}

#[test]
fn equal_or_missing_terms_are_accepted() {
    for (staged, now) in [(Some("a"), Some("a")), (None, Some("a")), (Some("a"), None)] {
        let with = |executor: Option<&str>| match executor {
            Some(executor) => under_terms(few(1).remove(0), executor),
            None => few(1).remove(0),
        };
        let mut desk = Desk::new(100, 30, vec![with(staged)]);
        desk.press("a");
        desk.world.insert(key("1"), with(now));

        desk.press("s");
        desk.wait(500);
        desk.press("y");

        assert_eq!(desk.submitted.len(), 1, "{staged:?} {now:?}");
    }
}

#[test]
fn report_settles_successes_and_restages_failures() {
    let mut desk = Desk::new(100, 30, few(4));
    desk.press("axas");
    desk.wait(500);
    desk.press("y");
    desk.saved.clear();

    desk.reports(|kind| match kind {
        DecisionKind::Reject => Outcome::Skipped { status: Some(Status::Approved), by: Some("lee".into()) },
        _ => Outcome::Failed { why: "\u{202e}no".into() },
    });

    assert_eq!(desk.staged(), "1A 3A", "failed decisions stay staged");
    assert_eq!(desk.saved, [Write::Settle(vec![key("2")])]);
    desk.press("gr");
    insta::assert_snapshot!(desk.sheet(), @"
Sent: 3 decisions  14:22
  batch                                     approved  rejected   skipped    failed
  support:create_linear_issue                      0         0         1         2

  ✓ Issue number 1  failed  ⟦U+202E⟧no
  ✓ Issue number 3  failed  ⟦U+202E⟧no
  ✗ Issue number 2  skipped  approved by lee
  1 stays pending

  Enter closes   w writes a file   y copies   o shows the first skipped
failed decisions stay staged
");
    desk.press("<Enter>");
    assert_eq!(desk.slot("1").state, State::Pending);
}

#[test]
fn page_of_a_decided_action_is_read_again() {
    for outcome in [Outcome::Rejected, Outcome::Skipped { status: Some(Status::Rejected), by: None }] {
        let mut desk = Desk::new(100, 30, few(1));
        desk.press("xs");
        desk.wait(500);
        desk.press("y");
        desk.answers = false;

        desk.reports(|_| outcome.clone());

        let is_read = |effect: &Effect| matches!(effect, Effect::Load(keys) if *keys == [key("1")]);
        assert!(desk.effects.iter().any(is_read), "{:?}", desk.effects);
    }
}

#[test]
fn an_unknown_outcome_is_neither_staged_nor_sent_again() {
    let mut desk = Desk::new(100, 30, few(2));
    desk.press("as");
    desk.wait(500);
    desk.press("y");

    desk.reports(|_| Outcome::Unknown { why: "no answer".into() });
    desk.press("s");

    assert_eq!(desk.staged(), "");
    assert_eq!(desk.slot("1").state, State::Unknown);
    assert_eq!(desk.submitted.len(), 1);
    desk.wait(10_000);
    desk.say(What::Tick);
    assert!(desk.effects.contains(&Effect::Reconcile), "it is reconciled");
}

#[test]
fn a_decision_that_never_landed_is_staged_again() {
    let mut desk = Desk::new(100, 30, few(2));
    desk.press("as");
    desk.wait(500);
    desk.press("y");
    let staged = desk.model.decide.draft.get(&key("1")).unwrap().clone();
    desk.reports(|_| Outcome::Unknown { why: "no answer".into() });
    let mut report = desk.model.submit.last_report.clone().unwrap().report;
    report.lines[0].outcome = Outcome::Failed { why: "it never arrived".into() };
    let id = report.id.clone();

    desk.say(What::Reconciled(Ok(vec![Reconciled {
        report,
        learnt: vec![key("1")],
        lost: Vec::new(),
        begun_at: Timestamp::default(),
        next_look: None,
    }])));
    assert!(desk.effects.contains(&Effect::TakeBack { id, keys: vec![key("1")] }));
    desk.say(What::TakenBack(Ok(vec![(key("1"), staged)])));

    assert_eq!(desk.staged(), "1A");
    assert_eq!(desk.slot("1").state, State::Pending);
    assert!(matches!(desk.saved.last(), Some(Write::Step { .. })));
}

#[test]
fn approved_actions_are_followed_until_they_run() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("aas");
    desk.wait(500);
    desk.press("y");
    desk.accepts();
    assert!(desk.effects.contains(&Effect::Follow(vec![key("1"), key("2")])));
    let followed = |id: &str, status, error: Option<&str>| Followed {
        key: key(id),
        title: format!("Issue number {id}").as_str().into(),
        status,
        result: None,
        error: error.map(Into::into),
        outcome: None,
        at: Timestamp::default(),
    };

    desk.say(What::Followed(followed("1", Status::Executed, None)));
    desk.say(What::Followed(followed("2", Status::Failed, Some("403 from Linear"))));

    desk.press("gr");
    assert_eq!(desk.message(), "FAILED after approval: Issue number 2: 403 from Linear");
    insta::assert_snapshot!(desk.sheet_line(4), @"  ✓ Issue number 2  failed after approval  403 from Linear");
    insta::assert_snapshot!(desk.sheet_line(5), @"  ✓ Issue number 1  ran");
    desk.press("<Enter>");
    insta::assert_snapshot!(desk.row(1), @"   │ Issue number 1                            executed");
    desk.press("gr");
    insta::assert_snapshot!(desk.sheet_line(4), @"  ✓ Issue number 2  failed after approval  403 from Linear");
}

#[test]
fn failed_submission_leaves_everything_staged() {
    let mut desk = Desk::new(100, 30, few(2));
    desk.press("as");
    desk.wait(500);
    desk.press("y");
    let id = desk.submitted[0].id().clone();

    let problem = Problem { source: None, what: "the journal is full".to_owned(), why: None };
    desk.say(What::Submitted(id, Err(problem)));

    assert_eq!((desk.staged().as_str(), &desk.slot("1").state), ("1A", &State::Pending));
    assert_eq!(desk.message(), "nothing was sent, everything stays staged: the journal is full");
}

#[test]
fn report_does_not_close_an_open_form() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("as");
    desk.wait(500);
    desk.press("y");
    desk.press("e");

    desk.accepts();

    insta::assert_snapshot!(desk.status_line(), @" 1 approved · 0 rejected · 0 skipped   gr report");
    assert!(desk.model.sheet.is::<EditForm>());
}

#[test]
fn a_second_review_waits_for_the_first_submission() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("as");
    desk.wait(500);
    desk.press("y");

    desk.press("as");

    assert_eq!(desk.message(), "still sending; new decisions go next");
    assert!(!sheet(&desk));
}

#[test]
fn drawn_content_is_recorded_once() {
    let mut desk = Desk::new(100, 30, few(2));
    for _ in 0..3 {
        desk.wait(1_000);
        desk.drawn();
    }

    let digest = desk.world[&key("1")].digest();
    assert_eq!(desk.saved, [Write::Seen { key: key("1"), digest, seen: Seen::InFull }]);
}

#[test]
fn tiny_screen_stages_and_sends_nothing() {
    let mut desk = Desk::new(100, 30, few(2));
    desk.press("as");
    desk.wait(500);

    desk.say(What::Resize(20, 5));
    desk.wait(500);
    desk.press("y");
    desk.press("<Esc>x");
    assert!(desk.submitted.is_empty());
    assert_eq!(desk.staged(), "1A");

    desk.say(What::Resize(100, 30));
    desk.press("y");
    assert!(desk.submitted.is_empty(), "the sheet was just drawn again");
    desk.wait(500);
    desk.press("y");
    assert_eq!(desk.submitted.len(), 1);
}

#[test]
fn report_counts_arrivals_during_sending_as_left_pending() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("axs");
    desk.wait(500);
    desk.press("y");
    assert!(desk.effects.iter().any(|effect| matches!(effect, Effect::Submit { left_pending: 1, .. })));

    let mut more = few(5).split_off(3);
    more.push(action("m1 send_email crm low 5", "Mail", r#"{"to":"x"}"#));
    desk.changes(more);
    desk.accepts();

    assert_eq!(
        desk.model.submit.last_report.as_ref().unwrap().report.left_pending,
        3,
        "4 and 5 arrived meanwhile"
    );
    desk.press("gr");
    insta::assert_snapshot!(desk.sheet_line(6), @"  3 stay pending");
}

fn answered(width: u16, height: u16) -> Desk {
    let mut desk = Desk::new(width, height, few(5));
    desk.press("aaxs");
    desk.wait(500);
    desk.press("y");
    desk.accepts();
    desk
}

fn ends(desk: &mut Desk, id: &str, status: Status) {
    let (title, at) = (format!("Issue number {id}").as_str().into(), Timestamp::default());
    desk.say(What::Followed(Followed {
        key: key(id),
        title,
        status,
        result: None,
        error: None,
        outcome: None,
        at,
    }));
}

#[test]
fn report_opens_nothing_and_takes_no_key() {
    let mut desk = answered(100, 30);

    assert!(desk.model.sheet.is_none(), "{}", desk.screen());
    desk.effects.clear();
    desk.press("yy");
    desk.press("<Esc>e");

    let leaves = |effect: &Effect| matches!(effect, Effect::Copy(_) | Effect::Export { .. });
    assert!(!desk.effects.iter().any(leaves), "{:?}", desk.effects);
    assert!(desk.model.sheet.is::<EditForm>(), "e opens the form");
}

#[test]
fn status_line_shows_the_report_until_the_next_decision() {
    let mut desk = answered(80, 24);
    insta::assert_snapshot!(desk.status_line(), @" 2 approved · 1 rejected · 0 skipped   gr report");

    ends(&mut desk, "1", Status::Executed);
    ends(&mut desk, "2", Status::Failed);
    desk.wait(3_600_000);
    desk.say(What::Tick);
    desk.press("jk");
    insta::assert_snapshot!(desk.status_line(), @" 2 approved · 1 rejected · 0 skipped   then 1 ran · 1 failed   gr report");

    desk.press("x");
    insta::assert_snapshot!(desk.status_line(), @" staged 1 exclude                                                         saved");
}

#[test]
fn later_failure_shows_the_report_line_again() {
    let mut desk = answered(80, 24);
    desk.press("x");

    ends(&mut desk, "2", Status::Failed);
    assert_eq!(desk.message(), "FAILED after approval: Issue number 2");
    desk.wait(31_000);
    desk.say(What::Tick);

    insta::assert_snapshot!(desk.status_line(), @" 2 approved · 1 rejected · 0 skipped   then 1 failed   gr report          saved");
}

#[test]
fn failures_come_first_in_a_cut_line() {
    let mut said = Vec::new();
    for (width, height) in [(40, 10), (40, 24), (60, 20)] {
        let mut desk = Desk::new(100, 30, few(5));
        desk.press("aaxs");
        desk.wait(500);
        desk.press("y");
        desk.reports(|kind| match kind {
            DecisionKind::Reject => Outcome::Unknown { why: "no answer".into() },
            _ => Outcome::Approved,
        });
        ends(&mut desk, "2", Status::Failed);
        desk.say(What::Resize(width, height));
        desk.model.screen.message = None;
        said.push(desk.status_line());
    }
    insta::assert_snapshot!(said.join("\n"), @"
gr  1 unknown · then 1 failed · 2 appr…
gr  1 unknown · then 1 failed · 2 appr…
gr  1 unknown · then 1 failed · 2 approved · 0 rejected · …
");
}
