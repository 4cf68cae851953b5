//! Capability notes: the preview shows the source's limits before a key is pressed.

use crate::domain::{Capabilities, Note, Notes, On, PendingAction};
use crate::tui::edit::form::EditForm;
use crate::tui::testing::{CAN, Desk, action, few, key};

const COMMIT: Note = Note { on: On::Edit, words: "no edits on commit steps" };
const COMPENSATES: Note = Note { on: On::Reject, words: "completed steps will be compensated" };
const SAGA: Capabilities = Capabilities {
    edit: false,
    notes: Notes::of(&[COMPENSATES, COMMIT, Note::UNVERIFIED]),
    also_rejects: 1,
    ..CAN
};

#[test]
fn notes_show_above_the_content_at_every_size() {
    let mut desk = Desk::with(100, 30, few(2), SAGA);
    desk.press("j");
    desk.pictured("told");
}

#[test]
fn ordinary_source_has_no_notes() {
    let mut desk = Desk::new(80, 24, few(2));
    desk.press("j");
    let text = desk.model.layout().text;
    assert!(desk.model.layout().notes.is_empty());
    let mut other = Desk::with(80, 24, few(2), SAGA);
    other.press("j");
    assert_eq!(other.model.layout().text.height + 2, text.height);
}

#[test]
fn keys_without_effect_are_not_hinted_and_explain() {
    let mut desk = Desk::with(100, 30, few(2), Capabilities { reject: false, ..SAGA });
    desk.press("j");
    let hints = desk.hints();
    insta::assert_snapshot!(hints, @" a approve  Space mark  / filter  n next  ] tabs  z zoom  q quit                         ? all keys");

    desk.press("e");
    assert_eq!(desk.message(), "no edits on commit steps");
    desk.press("x");
    assert_eq!(desk.message(), "completed steps will be compensated");
    desk.press("r");
    assert_eq!(desk.message(), "its source cannot ask the agent to try again");
    assert_eq!(desk.staged(), "");

    let mut desk = Desk::with(100, 30, few(2), Capabilities { retry: true, ..CAN });
    desk.press("j");
    insta::assert_snapshot!(desk.hints(), @" a approve  x exclude  e edit  r retry  Space mark  / filter  n next  ] tabs             ? all keys");
}

#[test]
fn read_only_action_gives_its_own_reason() {
    const CLIENT: &[Note] = &[Note { on: On::Any, words: "its client answers it, not this inbox" }];
    let can = Capabilities { notes: Notes::of(CLIENT), ..Capabilities::READ_ONLY };
    let mut desk = Desk::with(100, 30, few(2), can);
    desk.press("j");
    insta::assert_snapshot!(desk.preview_line(1), @"! its client answers it, not this inbox");
    for keys in ["a", "x", "X", "c"] {
        desk.press(keys);
        assert_eq!(desk.message(), "its client answers it, not this inbox", "{keys}");
    }
    insta::assert_snapshot!(desk.hints(), @" Space mark  / filter  n next  ] tabs  z zoom  q quit                                    ? all keys");
}

#[test]
fn review_shows_notes_per_kind_of_decision() {
    let mut desk = Desk::with(100, 40, few(3), SAGA);
    desk.press("jaxxS");
    insta::assert_snapshot!(desk.sheet(), @"
    Send 3 decisions to gate
      create_linear_issue · low · creates one issue in Linear
        ✓ 1 approve
        ✗ 2 exclude   rejected, final

        create_linear_issue  support:create_linear_issue
         ✗  Issue number 1
         ✓  Issue number 2
         ✗  Issue number 3

      ! rejecting 2: 1 ungated call is rejected with it
      ! rejecting 2: completed steps will be compensated
      ! rejecting 2: identity not verified by this backend: it keeps the name
      it is told
      ! approving 1: identity not verified by this backend: it keeps the name
      it is told

      gate, as kim@acme
      The gate refuses any action that changed after you saw it.


      Press y to send.                                                Esc back
    Nothing is sent yet
    ");
}

#[test]
fn help_starts_with_the_notes() {
    let mut desk = Desk::with(100, 40, few(1), SAGA);
    desk.press("?");
    insta::assert_snapshot!(desk.sheet_line(2), @"  THIS ACTION");
    insta::assert_snapshot!(desk.sheet_line(4), @"  ! completed steps will be compensated");
}

fn question() -> PendingAction {
    action("q-1 ask_human support low 5", "Which plan?", r#"{"question":"Which plan?","answer":null}"#)
}

#[test]
fn approving_a_question_opens_the_form_at_the_answer() {
    let can = Capabilities { answer: true, reject: false, ..CAN };
    let mut desk = Desk::with(100, 30, vec![question()], can);
    desk.press("a");
    assert_eq!(desk.staged(), "");
    assert_eq!(desk.message(), "it needs an answer: write it here, then Enter approves with it");
    let Some(form) = desk.model.sheet.get::<EditForm>() else { panic!("the form is open") };
    assert_eq!(form.here().map(|field| field.key.as_str()), Some("answer"));

    desk.press("<Enter>");
    assert_eq!(desk.staged(), "");
    assert_eq!(desk.message(), "no answer yet: write it, then Enter approves with it; Esc closes");

    desk.press("<C-u>\"the small one\"<Enter>");
    assert_eq!(desk.staged(), "q-1E", "{}", desk.screen());
    let edits = desk.model.decide.draft.get(&key("q-1")).unwrap().decision.edits().unwrap().clone();
    assert_eq!(edits.as_json().as_str().replace(' ', ""), r#"{"answer":"thesmallone"}"#);
    desk.press("a");
    assert_eq!(desk.staged(), "", "the same key takes it back");
}
