//! What is not done by accident.

use std::time::Duration;

use crate::domain::Status;
use crate::journal::Write;
use crate::tui::plain::session::How;
use crate::tui::testing::{action, decided, few, lost};

use super::talk::{SCRIPT, TERMINAL, Talk};

#[test]
fn pasted_lines_decide_and_send_nothing_by_themselves() {
    let mut talk = Talk::new(TERMINAL, few(5));
    talk.at += 1_000;

    for line in ["some text", "approve", "exclude", "submit", "1", "yes"] {
        talk.types_now(line);
        talk.at += 2;
    }
    let heard = talk.waits(1);

    assert_eq!(talk.staged(), "");
    assert!(heard.contains("Ignored 5 lines that came as fast as pasted text."), "{heard}");
}

#[test]
fn an_answer_that_was_typed_before_its_question_sends_nothing() {
    let mut talk = Talk::new(TERMINAL, few(1));
    talk.types("show\napprove");
    talk.slow = true;
    talk.types("submit\nyes");

    talk.answers();

    assert!(talk.submitted.is_empty());
    assert!(
        talk.heard.contains("Ignored: that was typed before the question. Type yes to send"),
        "{}",
        talk.heard
    );
    talk.types("yes");
    assert_eq!(talk.submitted.len(), 1);
}

#[test]
fn only_the_exact_answer_sends() {
    for answer in ["y", "Yes", "YES please", "1", "", "submit", "approve"] {
        let mut talk = Talk::new(TERMINAL, few(1));
        talk.types("show\napprove\nsubmit");
        let heard = talk.types(answer);

        assert!(talk.submitted.is_empty(), "{answer:?}");
        assert!(heard.contains("Nothing was sent. Everything stays staged."), "{heard}");
        assert_eq!(talk.staged(), "1A");
    }
}

#[test]
fn a_decision_is_about_the_action_that_was_read_out() {
    let mut talk = Talk::new(TERMINAL, few(3));
    let mut changed = few(1).pop().unwrap();
    changed.row.title = "Another title".into();
    talk.changes(vec![changed]);
    let heard = talk.types("approve");
    assert!(heard.contains("Nothing was decided: it changed since it was read out. Here it is."), "{heard}");
    assert!(heard.contains("Another title"), "{heard}");
    assert_eq!(talk.staged(), "");

    talk.types_now("approve");
    assert_eq!(talk.staged(), "", "in the same instant");
    talk.types("approve");
    assert_eq!(talk.staged(), "1A");
}

#[test]
fn what_somebody_else_decided_is_told_and_not_decided_again() {
    let mut talk = Talk::new(TERMINAL, few(2));
    talk.types("where");

    talk.changes(vec![decided(few(1).pop().unwrap(), Status::Rejected, "lee")]);
    let heard = talk.waits(4);
    assert!(heard.contains("Action 1 of 2, which was read out last: Decided by lee: rejected."), "{heard}");
    let heard = talk.types("approve");

    assert!(heard.contains("Already decided by lee."), "{heard}");
    assert_eq!(talk.staged(), "");
}

#[test]
fn what_must_be_read_is_read_to_its_end_first() {
    let text = (1..60).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\\n");
    let long = action("1 tool agent high 5", "Long", &format!("{{\"text\":\"{text}\"}}"));
    let mut talk = Talk::new(TERMINAL, vec![long]);

    assert!(talk.types("approve").contains("Not approved: it is high-risk"), "never read");
    let heard = talk.types("show");
    assert!(heard.contains("line 1\n") && !heard.contains("line 59"), "{heard}");
    assert!(heard.contains("more lines. more reads on."), "{heard}");
    assert!(talk.types("approve").contains("Not approved"), "read in part");
    let mut heard = String::new();
    while !heard.contains("End. Read in full.") {
        assert!(!heard.contains("Nothing is being read"), "{heard}");
        heard = talk.types("more");
    }
    talk.types("approve");

    assert_eq!(talk.staged(), "1A");
    let every = (1..60).all(|n| {
        talk.heard.lines().filter(|it| it.trim_start_matches(['|', ' ']) == format!("line {n}")).count() == 1
    });
    assert!(every, "each line once");
}

#[test]
fn the_end_of_the_input_sends_nothing_and_keeps_what_is_staged() {
    for how in [TERMINAL, SCRIPT] {
        let mut talk = Talk::new(how, few(2));
        talk.types("show\napprove\nsubmit");
        talk.ends_input();

        assert!(talk.left && talk.submitted.is_empty());
        assert!(talk.heard.ends_with("Nothing was sent.\n"), "{}", talk.heard);
        assert_eq!(talk.staged(), "1A");
        assert!(talk.saved.iter().any(|write| matches!(write, Write::Step { .. })));
    }
}

#[test]
fn nothing_is_told_between_a_question_and_its_answer_but_that_it_is_closed() {
    let mut talk = Talk::new(TERMINAL, few(2));
    talk.types("show\napprove\nsubmit");
    talk.changes(few(3).split_off(2));
    assert_eq!(talk.waits(10), "");

    talk.changes(vec![decided(few(1).pop().unwrap(), Status::Rejected, "lee")]);

    assert!(talk.heard.contains("The review is closed and nothing was sent."), "{}", talk.heard);
    talk.types("yes");
    assert!(talk.submitted.is_empty());
}

#[test]
fn settling_asks_for_yes() {
    let mut talk = Talk::new(TERMINAL, vec![lost(few(1).pop().unwrap())]);

    assert!(talk.types("settle").contains("Say settle landed, settle failed or settle again."));
    talk.types("settle landed because the invoice is there\ny");
    assert_eq!(talk.settled, 0);
    talk.types("settle landed because the invoice is there\nyes");
    assert_eq!(talk.settled, 1);
}

#[test]
fn a_word_that_is_none_or_could_be_two_does_nothing() {
    let mut talk = Talk::new(TERMINAL, few(2));

    assert!(talk.types("aprove").contains("The nearest is approve. Nothing was done"));
    assert!(talk.types("re").contains("Unclear: that begins"));
    assert!(talk.types("approve it").contains("A text comes after the word because."));
    assert!(talk.types("\u{1b}[A").contains("control character"));
    assert_eq!(talk.staged(), "");
}

/// A moment after the answer to a review, which holds what it sends.
fn confirmed(how: How) -> Talk {
    let mut talk = Talk::new(how, few(2));
    talk.session.model.settings.hold = Duration::from_secs(3);
    talk.types("show\napprove\nsubmit\nyes");
    assert!(talk.heard.contains("Confirmed. It is sent in 3 seconds; undo recalls it."), "{}", talk.heard);
    talk
}

#[test]
fn what_was_confirmed_can_be_recalled_and_is_sent_after_its_time() {
    let mut talk = confirmed(TERMINAL);
    assert!(talk.types("undo").contains("Recalled: nothing was sent, 1 decision staged as before."));
    assert!(talk.waits(10).is_empty() && talk.submitted.is_empty());

    let mut talk = confirmed(TERMINAL);
    let heard = talk.waits(5);
    assert_eq!((talk.submitted.len(), heard.as_str()), (1, "\nSending 1 decision.\n> "));
}

#[test]
fn the_end_of_the_input_recalls_what_a_person_confirmed_and_a_script_waits_for_it() {
    let mut talk = confirmed(TERMINAL);
    talk.ends_input();
    assert!(talk.left && talk.submitted.is_empty());
    assert!(talk.heard.ends_with("Recalled: nothing was sent. Everything stays staged.\n"), "{}", talk.heard);

    let mut talk = confirmed(SCRIPT);
    talk.ends_input();
    assert!(!talk.left);
    talk.waits(4);
    talk.accepts();
    assert!(talk.left && talk.submitted.len() == 1, "{}", talk.heard);
}

#[test]
fn misleading_tool_name_is_told_and_not_approved_unread() {
    let mut odd = action("1 create_linear_issue support low 5", "Plain", r#"{"to":"a"}"#);
    odd.row.tool = "save_docum\u{435}nt".into();
    let mut talk = Talk::new(TERMINAL, vec![odd]);
    assert!(talk.heard.contains("Warning: look twice: mixed-script."), "{}", talk.heard);

    let heard = talk.types("approve");

    assert_eq!(talk.staged(), "");
    assert!(heard.contains("flagged, so it must be read to its end first"), "{heard}");
}
