//! Guards against accidental decisions.

use std::time::Duration;

use crate::domain::Status;
use crate::journal::{Restored, Write};
use crate::tui::core::msg::What;
use crate::tui::plain::session::{How, Why};
use crate::tui::testing::{CAN, action, decided, few, lost};

use super::talk::{SCRIPT, TERMINAL, Talk};

#[test]
fn pasted_lines_stage_and_send_nothing() {
    let mut talk = Talk::new(TERMINAL, few(5));
    talk.at += 1_000;

    for line in ["some text", "approve", "exclude", "submit", "1", "yes"] {
        talk.types_now(line);
        talk.at += 2;
    }
    let heard = talk.waits(1);

    assert_eq!(talk.staged(), "");
    insta::assert_snapshot!(heard, @"

Ignored 5 lines that came as fast as pasted text. Nothing was done with them.
>
");
}

#[test]
fn second_inbox_says_that_the_folder_is_shared() {
    let mut talk = Talk::started(TERMINAL, CAN);
    talk.take(What::Restored(Ok(Box::new(Restored { is_shared: true, ..Restored::default() }))));
    talk.connects();
    talk.lists(few(1));

    let said = "Another inbox uses this state folder; neither shows what the other stages.";
    assert!(talk.heard.contains(said), "{}", talk.heard);
    assert!(!Talk::new(TERMINAL, few(1)).heard.contains(said));
}

#[test]
fn empty_term_opens_plain_mode_in_a_terminal() {
    let why = |term: Option<&str>, is_terminal| {
        let variable = |name: &str| (name == "TERM").then(|| term.map(str::to_owned)).flatten();
        Why::of(false, variable, is_terminal)
    };

    assert_eq!(why(Some(""), true), Some(Why::UnnamedTerminal));
    assert_eq!(why(None, true), Some(Why::UnnamedTerminal));
    assert_eq!(why(None, false), None, "the screen says what it needs");
    assert_eq!(why(Some("xterm"), true), None);
    assert_eq!(why(Some("dumb"), false), Some(Why::DumbTerminal));
}

#[test]
fn answer_typed_before_the_question_sends_nothing() {
    let mut talk = Talk::new(TERMINAL, few(1));
    talk.types("show\napprove");
    talk.slow = true;
    talk.types("submit\nyes");

    talk.answers();

    insta::assert_snapshot!(talk.heard, @"
    Plain mode on, because --plain. 1 pending, 1 undecided, oldest 59 min.
    Action 1 of 1. Low risk. create_linear_issue from support. Title: Issue number 1. Waiting 59 min.
    Words: show, approve, exclude [because TEXT], edit, next, undo, submit, help, quit. Nothing is sent before submit asks.
    > show
    Action 1 of 1, Issue number 1.
    | title  Issue number 1
    | n      1.10

    What approving does
      creates one issue in Linear
      can be undone by hand: cancel the issue in Linear
    End. Read in full.
    > approve
    Staged: approve. 0 undecided left.
    Everything here is decided. submit reviews it, and asks before it sends.
    > submit
    yes
    1 batch, 1 decision: 1 approve.
    Approve: create_linear_issue. Title: Issue number 1.
    The gate refuses any action that changed after you saw it.
    Type yes to send, anything else goes back.
    Ignored: that was typed before the question. Type yes to send, anything else goes back.
    >
    ");
    assert!(talk.submitted.is_empty());
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
fn decision_needs_the_current_content_read_out() {
    let mut talk = Talk::new(TERMINAL, few(3));
    let mut changed = few(1).pop().unwrap();
    changed.row.title = "Another title".into();
    talk.changes(vec![changed]);
    let heard = talk.types("approve");
    insta::assert_snapshot!(heard, @"
approve
Nothing was decided: it changed since it was read out. Here it is.
Action 1 of 3. Low risk. create_linear_issue from support. Title: Another title. Waiting 59 min.
>
");
    assert_eq!(talk.staged(), "");

    talk.types_now("approve");
    assert_eq!(talk.staged(), "", "too soon after reading out");
    talk.types("approve");
    assert_eq!(talk.staged(), "1A");
}

#[test]
fn foreign_decision_is_announced_and_blocks_staging() {
    let mut talk = Talk::new(TERMINAL, few(2));
    talk.types("where");

    talk.changes(vec![decided(few(1).pop().unwrap(), Status::Rejected, "lee")]);
    let heard = talk.waits(4);
    insta::assert_snapshot!(heard, @"

Action 1 of 2, which was read out last: Decided by lee: rejected. next goes on.
>
");
    let heard = talk.types("approve");

    insta::assert_snapshot!(heard, @"
approve
Already decided by lee.
>
");
    assert_eq!(talk.staged(), "");
}

#[test]
fn high_risk_must_be_read_to_the_end_first() {
    let text = (1..60).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\\n");
    let long = action("1 tool agent high 5", "Long", &format!("{{\"text\":\"{text}\"}}"));
    let mut talk = Talk::new(TERMINAL, vec![long]);

    insta::assert_snapshot!(talk.types("approve"), @"
    approve
    Not approved: it is high risk, so read it to the end first; show reads it.
    >
    ");
    let heard = talk.types("show");
    insta::assert_snapshot!(heard, @"
    show
    Action 1 of 1, Long.
    | text
    |   line 1
    |   line 2
    |   line 3
    |   line 4
    |   line 5
    |   line 6
    |   line 7
    |   line 8
    |   line 9
    |   line 10
    |   line 11
    |   line 12
    |   line 13
    |   line 14
    |   line 15
    |   line 16
    |   line 17
    45 more lines. more reads on.
    >
    ");
    insta::assert_snapshot!(talk.types("approve"), @"
    approve
    Not approved: it is high risk, so read it to the end first; show reads it.
    >
    ");
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
fn end_of_input_sends_nothing_and_keeps_the_draft() {
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
fn open_question_suppresses_news() {
    let mut talk = Talk::new(TERMINAL, few(2));
    talk.types("show\napprove\nsubmit");
    talk.changes(few(3).split_off(2));
    assert_eq!(talk.waits(10), "");

    talk.changes(vec![decided(few(1).pop().unwrap(), Status::Rejected, "lee")]);

    insta::assert_snapshot!(talk.heard, @"
    Plain mode on, because --plain. 2 pending, 2 undecided, oldest 59 min.
    Action 1 of 2. Low risk. create_linear_issue from support. Title: Issue number 1. Waiting 59 min.
    Words: show, approve, exclude [because TEXT], edit, next, undo, submit, help, quit. Nothing is sent before submit asks.
    > show
    Action 1 of 2, Issue number 1.
    | title  Issue number 1
    | n      1.10

    What approving does
      creates one issue in Linear
      can be undone by hand: cancel the issue in Linear
    End. Read in full.
    > approve
    Staged: approve. 1 undecided left.
    Action 2 of 2. Low risk. create_linear_issue from support. Title: Issue number 2. Waiting 58 min.
    > submit
    1 batch, 1 decision: 1 approve.
    1 stays pending in this batch.
    Approve: create_linear_issue. Title: Issue number 1.
    The gate refuses any action that changed after you saw it.
    Type yes to send, anything else goes back.
    > 
    The review is closed and nothing was sent. Review closed: Issue number 1 was decided by lee; your staged decision was dropped.
    >
    ");
    talk.types("yes");
    assert!(talk.submitted.is_empty());
}

#[test]
fn settling_asks_for_yes() {
    let mut talk = Talk::new(TERMINAL, vec![lost(few(1).pop().unwrap())]);

    insta::assert_snapshot!(talk.types("settle"), @"
settle
Say settle landed, settle failed or settle again. Look in the target first.
>
");
    talk.types("settle landed because the invoice is there\ny");
    assert_eq!(talk.settled, 0);
    talk.types("settle landed because the invoice is there\nyes");
    assert_eq!(talk.settled, 1);
}

#[test]
fn unknown_or_ambiguous_word_does_nothing() {
    let mut talk = Talk::new(TERMINAL, few(2));

    insta::assert_snapshot!(talk.types("aprove"), @"
aprove
Unknown word. The nearest is approve. Nothing was done; help names all words.
>
");
    insta::assert_snapshot!(talk.types("re"), @"
re
Unclear: that begins revert, retry, rest, redo, report, reload. Nothing was done.
>
");
    insta::assert_snapshot!(talk.types("approve it"), @"
approve it
Nothing was decided. Put the text after the word because.
>
");
    insta::assert_snapshot!(talk.types("\u{1b}[A"), @"
[A
Ignored: the line holds a control character, from an arrow key perhaps.
>
");
    assert_eq!(talk.staged(), "");
}

/// Returns a session just after the answer to a review, while the submission is held.
fn confirmed(how: How) -> Talk {
    let mut talk = Talk::new(how, few(2));
    talk.session.model.settings.hold = Duration::from_secs(3);
    talk.types("show\napprove\nsubmit\nyes");
    assert!(talk.heard.contains("Confirmed. It is sent in 3 seconds; undo recalls it."), "{}", talk.heard);
    talk
}

#[test]
fn confirmed_submission_can_be_recalled_or_is_sent() {
    let mut talk = confirmed(TERMINAL);
    insta::assert_snapshot!(talk.types("undo"), @"
undo
Recalled: nothing was sent, 1 decision staged as before.
>
");
    assert!(talk.waits(10).is_empty() && talk.submitted.is_empty());

    let mut talk = confirmed(TERMINAL);
    let heard = talk.waits(5);
    assert_eq!((talk.submitted.len(), heard.as_str()), (1, "\nSending 1 decision.\n> "));
}

#[test]
fn end_of_input_recalls_on_terminals_and_waits_in_scripts() {
    let mut talk = confirmed(TERMINAL);
    talk.ends_input();
    insta::assert_snapshot!(talk.heard, @"
    Plain mode on, because --plain. 2 pending, 2 undecided, oldest 59 min.
    Action 1 of 2. Low risk. create_linear_issue from support. Title: Issue number 1. Waiting 59 min.
    Words: show, approve, exclude [because TEXT], edit, next, undo, submit, help, quit. Nothing is sent before submit asks.
    > show
    Action 1 of 2, Issue number 1.
    | title  Issue number 1
    | n      1.10

    What approving does
      creates one issue in Linear
      can be undone by hand: cancel the issue in Linear
    End. Read in full.
    > approve
    Staged: approve. 1 undecided left.
    Action 2 of 2. Low risk. create_linear_issue from support. Title: Issue number 2. Waiting 58 min.
    > submit
    1 batch, 1 decision: 1 approve.
    1 stays pending in this batch.
    Approve: create_linear_issue. Title: Issue number 1.
    The gate refuses any action that changed after you saw it.
    Type yes to send, anything else goes back.
    > yes
    Confirmed. It is sent in 3 seconds; undo recalls it.
    > Recalled: nothing was sent. Everything stays staged.
    ");
    assert!(talk.left && talk.submitted.is_empty());

    let mut talk = confirmed(SCRIPT);
    talk.ends_input();
    assert!(!talk.left);
    talk.waits(4);
    talk.accepts();
    assert!(talk.left && talk.submitted.len() == 1, "{}", talk.heard);
}

#[test]
fn misleading_tool_name_is_announced_and_locked() {
    let mut odd = action("1 create_linear_issue support low 5", "Plain", r#"{"to":"a"}"#);
    odd.row.tool = "save_docum\u{435}nt".into();
    let mut talk = Talk::new(TERMINAL, vec![odd]);
    insta::assert_snapshot!(talk.heard, @"
Plain mode on, because --plain. 1 pending, 1 undecided, oldest 5 min.
Action 1 of 1. Low risk. save_docum⟦е U+0435⟧nt from support. Title: Plain. Waiting 5 min. Warning: look twice: mixed-script.
Words: show, approve, exclude [because TEXT], edit, next, undo, submit, help, quit. Nothing is sent before submit asks.
>
");

    let heard = talk.types("approve");

    assert_eq!(talk.staged(), "");
    insta::assert_snapshot!(heard, @"
approve
Not approved: it is flagged, so read it to the end first; show reads it.
>
");
}
