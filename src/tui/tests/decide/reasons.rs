//! What is said beside a decision: reasons, comments, guidance; and that none of it is lost.

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
fn one_reason_for_everything_that_is_marked() {
    let mut desk = Desk::new(100, 30, few(4));

    desk.press("  Xother team<Enter>");

    assert_eq!((desk.staged().as_str(), decision(&desk, "1")), ("1X 2X", rejected("other team")));
    assert_eq!(decision(&desk, "2"), rejected("other team"));
    desk.press("u");
    assert_eq!(desk.staged(), "", "one step");
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
    assert_eq!(decision(&desk, "2"), rejected("duplicate"), "round again");
    desk.press("Xby 2<Tab><Enter>");
    assert_eq!(decision(&desk, "3"), rejected("by 2"), "what was typed by hand stays");
}

#[test]
fn a_comment_is_staged_with_the_approval_it_stands_beside() {
    let mut desk = Desk::new(100, 30, few(4));

    desk.press("akcas agreed<Enter>");
    assert_eq!((decision(&desk, "1"), desk.here().as_str()), (approved(Some("as agreed")), "1"));
    desk.press("a");
    assert_eq!(desk.staged(), "", "the toggle takes both");
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
fn a_comment_opens_no_lock() {
    let body = (1..60).map(|i| format!("\"k{i}\":{i}")).collect::<Vec<_>>().join(",");
    let risky = action("9 refund_payment billing critical 5", "Refund everything", &format!("{{{body}}}"));
    let mut desk = Desk::new(100, 30, vec![risky]);

    desk.press("c");

    assert_eq!(desk.staged(), "");
    assert_eq!(
        desk.message(),
        "high-risk: it was on screen too briefly to be read; look at it, then approve"
    );
    assert!(desk.model.modal.is_none(), "{}", desk.message());
}

#[test]
fn where_the_source_keeps_no_comment_it_is_said() {
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
    assert!(desk.model.modal.is_none());
}

#[test]
fn retry_goes_with_guidance_to_a_source_that_can_and_is_explained_elsewhere() {
    let mut desk = Desk::new(100, 30, few(2));
    desk.press("r");
    assert!(desk.model.modal.is_none());
    assert_eq!(
        desk.message(),
        "its source cannot ask the agent to try again; X excludes it with a reason instead"
    );

    let mut desk = Desk::with(100, 30, few(2), Capabilities { retry: true, ..CAN });
    desk.press("r<Enter>");
    assert_eq!(desk.staged(), "", "without guidance there is nothing to try");
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
fn what_is_typed_is_on_disk_within_a_second_and_comes_back_after_a_crash() {
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
fn shift_tab_and_letters_in_the_field_are_text_and_decide_nothing() {
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
fn a_reason_outlives_the_toggle_and_stands_on_the_sheet() {
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

/// It would be bound to what is on screen now, read or not.
#[test]
fn a_comment_beside_an_approval_asks_for_what_approving_asks_for() {
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
        "high-risk: it was on screen too briefly to be read; look at it, then approve"
    );
    desk.press("<Esc>a");
    assert_eq!(desk.staged(), "", "taking it back asks for nothing");
}
