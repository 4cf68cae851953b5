//! Texts that go with a decision: reasons, comments, guidance.

use crate::domain::{Capabilities, Decision, DecisionKind, ReasonRule};
use crate::journal::{Restored, Write};
use crate::tui::core::msg::What;
use crate::tui::testing::{CAN, Desk, action, few, key};

fn decision(desk: &Desk, id: &str) -> Decision {
    desk.model.decide.draft.get(&key(id)).unwrap().decision.clone()
}

fn rejected(reason: &str) -> Decision {
    Decision::Reject { reason: Some(reason.to_owned()) }
}

fn approved(comment: Option<&str>) -> Decision {
    Decision::Approve { edits: None, comment: comment.map(str::to_owned) }
}

#[test]
fn one_reason_applies_to_all_marked() {
    let mut desk = Desk::new(100, 30, few(4));

    desk.press("  Xother team<Enter>");

    assert_eq!((desk.staged().as_str(), decision(&desk, "1")), ("1X 2X", rejected("other team")));
    assert_eq!(decision(&desk, "2"), rejected("other team"));
    desk.press("u");
    assert_eq!(desk.staged(), "", "one undo step");
}

#[test]
fn a_configured_reason_takes_a_digit_or_tab() {
    let mut desk = Desk::new(100, 30, few(4));
    desk.model.settings.reasons = vec!["duplicate".to_owned(), "wrong team".to_owned()];

    desk.press("X");
    desk.pictured("reason");
    insta::assert_snapshot!(desk.sheet_line(6), @"  1 duplicate");
    insta::assert_snapshot!(desk.sheet_line(7), @"  2 wrong team");
    desk.press("2<Enter>");
    assert_eq!(decision(&desk, "1"), rejected("wrong team"));
    desk.press("X<Tab><Tab><Tab><Enter>");
    assert_eq!(decision(&desk, "2"), rejected("duplicate"), "the choices wrap around");
    desk.press("Xby 2<Tab><Enter>");
    assert_eq!(decision(&desk, "3"), rejected("by 2"), "typed text stays");
}

#[test]
fn comment_is_staged_with_its_approval() {
    let mut desk = Desk::new(100, 30, few(4));

    desk.press("akcas agreed<Enter>");
    assert_eq!((decision(&desk, "1"), desk.here().as_str()), (approved(Some("as agreed")), "1"));
    desk.press("a");
    assert_eq!(desk.staged(), "", "the toggle clears approval and comment");
    desk.press("c");
    insta::assert_snapshot!(desk.sheet(), @"
Approve, with a comment
  create_linear_issue   Issue number 1
  The source keeps the comment with the approval.

  > as agreed
Enter approves   Esc closes and keeps the text
");
    desk.press("<Enter>");
    assert_eq!((decision(&desk, "1"), desk.here().as_str()), (approved(Some("as agreed")), "2"));
    desk.press("xkc too late<Enter>");
    assert_eq!(decision(&desk, "2"), rejected("too late"), "a rejection's comment is its reason");
}

#[test]
fn comment_does_not_unlock_high_risk() {
    let body = (1..60).map(|i| format!("\"k{i}\":{i}")).collect::<Vec<_>>().join(",");
    let risky = action("9 refund_payment billing critical 5", "Refund everything", &format!("{{{body}}}"));
    let mut desk = Desk::new(100, 30, vec![risky]);

    desk.press("c");

    assert_eq!(desk.staged(), "");
    assert_eq!(desk.message(), "critical: it was on screen too briefly to be read; look at it, then approve");
    assert!(desk.model.sheet.is_none(), "{}", desk.message());
}

#[test]
fn form_says_if_the_source_keeps_no_comment() {
    let mut desk = Desk::with(100, 30, few(2), Capabilities { comment: false, ..CAN });

    desk.press("c");

    insta::assert_snapshot!(desk.sheet(), @"
Approve, with a comment
  create_linear_issue   Issue number 1
  This source keeps no comment; it stays in your journal.

  >
Enter approves   Esc closes and keeps the text
");
    let mut desk = Desk::with(100, 30, few(2), Capabilities::READ_ONLY);
    desk.press("c");
    assert_eq!(desk.message(), "read-only: its source takes no decision on it from here");
    assert!(desk.model.sheet.is_none());
}

#[test]
fn retry_needs_guidance_and_a_source_that_supports_it() {
    let mut desk = Desk::new(100, 30, few(2));
    desk.press("r");
    assert!(desk.model.sheet.is_none());
    assert_eq!(
        desk.message(),
        "its source cannot ask the agent to try again; X excludes it with a reason instead"
    );

    let mut desk = Desk::with(100, 30, few(2), Capabilities { retry: true, ..CAN });
    desk.press("r<Enter>");
    assert_eq!(desk.staged(), "", "a retry needs guidance");
    desk.press("use the owner<Enter>");
    assert_eq!(desk.staged(), "1R");
    desk.press("s");
    desk.wait(500);
    desk.press("y");

    let item = &desk.submitted[0].batches()[0].items()[0];
    assert_eq!(item.kind(), DecisionKind::Retry);
    assert_eq!(item.decision, Decision::Retry { guidance: "use the owner".to_owned() });
}

#[test]
fn typed_reason_is_saved_within_a_second_and_restored() {
    let mut desk = Desk::new(100, 30, few(2));
    desk.press("Xnot this");
    desk.saved.clear();

    desk.say(What::Tick);

    let text = Some("not this".to_owned());
    assert_eq!(
        desk.saved,
        [Write::ReasonText { key: key("1"), says: DecisionKind::Reject, text: text.clone() }]
    );
    let mut next = Desk::unstarted(100, 30, CAN);
    let reason_texts = [((key("1"), DecisionKind::Reject), "not this".to_owned())].into();
    next.restored(Restored { reason_texts, ..Restored::default() });
    next.lists(few(2));
    next.press("X");
    insta::assert_snapshot!(next.sheet(), @"
Exclude, because
  create_linear_issue   Issue number 1
  The source keeps the reason with the rejection.

  > not this
Enter excludes   Esc closes and keeps the text
");
}

#[test]
fn letters_in_the_reason_field_are_text() {
    let mut desk = Desk::with(100, 30, few(2), Capabilities { reason: ReasonRule::Required, ..CAN });

    desk.press("xaxAsSyX");

    assert_eq!(desk.staged(), "");
    insta::assert_snapshot!(desk.sheet(), @"
Exclude, because
  create_linear_issue   Issue number 1
  This source asks for a reason with every rejection.

  > axAsSyX
Enter excludes   Esc closes and keeps the text
");
    desk.press("<Esc>");
    assert_eq!(desk.staged(), "");
}

#[test]
fn reason_survives_the_toggle_and_shows_in_the_review() {
    let mut desk = Desk::new(100, 30, few(2));

    desk.press("Xa duplicate<Enter>");
    desk.press("gg");
    desk.press("jxx");

    let reason = |desk: &Desk| match &desk.model.decide.draft.get(&key("1")).unwrap().decision {
        Decision::Reject { reason } => reason.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(reason(&desk).as_deref(), Some("a duplicate"));
    desk.press("s");
    desk.wait(500);
    insta::assert_snapshot!(desk.sheet_line(7), @"        because  a duplicate");
}

/// A comment re-stages the approval with the current content, which may be unread.
#[test]
fn commenting_needs_the_same_reading_as_approving() {
    let long = |n: usize| {
        let body: Vec<String> = (1..60).map(|i| format!("\"k{i}\":{n}")).collect();
        action("1 create_linear_issue support high 57", "Risky", &format!("{{{}}}", body.join(",")))
    };
    let mut desk = Desk::new(100, 30, vec![long(1)]);
    desk.press("z");
    for _ in 0..6 {
        desk.slowly("<PageDown>");
    }
    desk.press("<Esc>a");
    let before = desk.model.decide.draft.get(&key("1")).unwrap().clone();
    let mut changed = long(2);
    changed.row.title = "Risky, too".into();
    desk.changes(vec![changed]);
    desk.wait(1_000);
    desk.press("z<Esc>");

    desk.press("cfine<Enter>");

    assert_eq!(desk.model.decide.draft.get(&key("1")), Some(&before), "{}", desk.message());
    assert_eq!(
        desk.message(),
        "high risk: it was on screen too briefly to be read; look at it, then approve"
    );
    desk.press("<Esc>a");
    assert_eq!(desk.staged(), "", "taking it back needs no reading");
}
