//! What a source lets a reviewer do with an action is told before a key is pressed.

use crate::domain::{Capabilities, Note, Notes, On, PendingAction};
use crate::tui::core::modal::Modal;
use crate::tui::testing::{CAN, Desk, action, few, key};

const COMMIT: Note = Note { on: On::Edit, words: "no edits on commit steps" };
const COMPENSATES: Note = Note { on: On::Reject, words: "completed steps will be compensated" };
const SAGA: Capabilities = Capabilities {
    edit: false,
    notes: Notes::of(&[COMPENSATES, COMMIT, Note::UNVERIFIED]),
    also_rejects: 1,
    ..CAN
};

fn last_line(desk: &Desk) -> String {
    desk.screen().lines().last().unwrap_or_default().to_owned()
}

#[test]
fn it_stands_above_the_content_at_every_size() {
    for (width, height, rows) in [(80, 24, 1), (100, 30, 4), (160, 45, 5)] {
        let mut desk = Desk::with(width, height, few(2), SAGA);
        desk.press("j");
        let screen = desk.screen();
        assert!(screen.contains("! reject also rejects 1 ungated call"), "{width}x{height}\n{screen}");
        let told = screen.lines().filter(|line| line.contains("! ") || line.contains(": Context")).count();
        assert!(told >= rows.min(4), "{width}x{height}\n{screen}");
        assert!(screen.contains("title"), "the content is there, too\n{screen}");
    }
}

#[test]
fn where_nothing_is_out_of_the_ordinary_no_row_is_taken() {
    let mut desk = Desk::new(80, 24, few(2));
    desk.press("j");
    let text = desk.model.layout().text;
    assert!(desk.model.layout().notes.is_empty());
    let mut other = Desk::with(80, 24, few(2), SAGA);
    other.press("j");
    assert_eq!(other.model.layout().text.height + 2, text.height);
}

#[test]
fn keys_that_cannot_work_are_no_hints_and_say_why() {
    let mut desk = Desk::with(100, 30, few(2), Capabilities { reject: false, ..SAGA });
    desk.press("j");
    let hints = last_line(&desk);
    assert!(hints.contains("a approve") && !hints.contains("exclude") && !hints.contains(" edit"), "{hints}");

    desk.press("e");
    assert_eq!(desk.message(), "no edits on commit steps");
    desk.press("x");
    assert_eq!(desk.message(), "completed steps will be compensated");
    desk.press("r");
    assert_eq!(desk.message(), "its source cannot ask the agent to try again");
    assert_eq!(desk.staged(), "");

    let mut desk = Desk::with(100, 30, few(2), Capabilities { retry: true, ..CAN });
    desk.press("j");
    assert!(last_line(&desk).contains("r retry"), "{}", last_line(&desk));
}

#[test]
fn what_can_only_be_looked_at_says_why_and_not_why_another_kind_would() {
    const CLIENT: &[Note] = &[Note { on: On::Any, words: "its client answers it, not this inbox" }];
    let can = Capabilities { notes: Notes::of(CLIENT), ..Capabilities::READ_ONLY };
    let mut desk = Desk::with(100, 30, few(2), can);
    desk.press("j");
    assert!(desk.screen().contains("! its client answers it"), "{}", desk.screen());
    for keys in ["a", "x", "X", "c"] {
        desk.press(keys);
        assert_eq!(desk.message(), "its client answers it, not this inbox", "{keys}");
    }
    assert!(!last_line(&desk).contains("a approve"));
}

#[test]
fn the_review_tells_what_goes_with_the_decisions_by_kind() {
    let mut desk = Desk::with(100, 40, few(3), SAGA);
    desk.press("jaxxS");
    let screen = desk.screen();
    assert!(screen.contains("! rejecting 2: 1 ungated call is rejected with it"), "{screen}");
    assert!(screen.contains("! rejecting 2: completed steps will be compensated"), "{screen}");
    assert!(screen.contains("! approving 1: identity not verified"), "{screen}");
    assert!(!screen.contains("approving 1: completed"), "{screen}");
}

#[test]
fn the_help_begins_with_it() {
    let mut desk = Desk::with(100, 40, few(1), SAGA);
    desk.press("?");
    assert!(desk.screen().contains("THIS ACTION"), "{}", desk.screen());
    assert!(desk.screen().contains("! completed steps will be compensated"), "{}", desk.screen());
}

fn question() -> PendingAction {
    action("q-1 ask_human support low 5", "Which plan?", r#"{"question":"Which plan?","answer":null}"#)
}

#[test]
fn approving_what_asks_for_an_answer_opens_the_form_at_the_answer() {
    let can = Capabilities { answer: true, reject: false, ..CAN };
    let mut desk = Desk::with(100, 30, vec![question()], can);
    desk.press("a");
    assert_eq!(desk.staged(), "");
    assert!(desk.message().starts_with("it asks for an answer"), "{}", desk.message());
    let Some(Modal::Edit(form)) = &desk.model.modal else { panic!("the form is open") };
    assert_eq!(form.here().map(|field| field.key.as_str()), Some("answer"));

    desk.press("<Enter>");
    assert_eq!(desk.staged(), "");
    assert!(desk.message().contains("not written yet"), "{}", desk.message());

    // It holds null, so it takes JSON.
    desk.press("<C-u>\"the small one\"<Enter>");
    assert_eq!(desk.staged(), "q-1E", "{}", desk.screen());
    let edits = desk.model.decide.draft.get(&key("q-1")).unwrap().decision.edits().unwrap().clone();
    assert_eq!(edits.as_json().as_str().replace(' ', ""), r#"{"answer":"thesmallone"}"#);
    desk.press("a");
    assert_eq!(desk.staged(), "", "again takes it back");
}
