//! The edit form.

use crate::domain::{Decision, EditError};
use crate::journal::{EditText, Restored, Write};
use crate::tui::model::Modal;
use crate::tui::msg::What;

use super::desk::{CAN, Desk, few, key};

/// Opens the form and puts a `Z` into the title of `Issue number 1`.
fn edited() -> Desk {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("e<Down>");
    for _ in 0..13 {
        desk.press("<Right>");
    }
    desk.press("Z");
    desk
}

fn edits(desk: &Desk) -> Option<String> {
    match &desk.model.draft.get(&key("1"))?.decision {
        Decision::Approve { edits, .. } => edits.as_ref().map(|edits| edits.as_json().as_str().to_owned()),
        _ => None,
    }
}

#[test]
fn closing_keeps_a_draft_and_stages_nothing() {
    let mut desk = edited();
    assert!(desk.screen().contains("will be sent as userEdits: {title}"), "{}", desk.screen());

    desk.press("<Esc>");

    assert_eq!(desk.staged(), "");
    assert!(desk.saved.iter().any(|write| matches!(write, Write::EditText { text: Some(_), .. })));
    assert!(desk.screen().contains("(edited)"), "{}", desk.screen());
    desk.press("a");
    assert_eq!(edits(&desk).unwrap(), r#"{"title":"IZssue number 1"}"#);
    assert_eq!(desk.staged(), "1E");
}

#[test]
fn the_forms_button_stages_an_approval_with_what_changed() {
    let mut desk = edited();

    desk.press("<Tab><Enter>");

    assert_eq!(edits(&desk).unwrap(), r#"{"title":"IZssue number 1"}"#, "1.10 is not touched");
    assert!(desk.model.modal.is_none());
    desk.press("kd");
    assert!(desk.screen().contains("+   IZssue number 1"), "{}", desk.screen());
    assert!(desk.screen().contains("[Diff 1]"));
}

#[test]
fn decision_keys_are_text_in_the_form_and_nothing_on_its_buttons() {
    let mut desk = edited();

    desk.press("axsy");
    assert_eq!(desk.staged(), "");
    desk.press("<Tab>axsy");

    assert_eq!(desk.staged(), "");
    assert!(matches!(desk.model.modal, Some(Modal::Edit(_))));
}

#[test]
fn a_text_that_cannot_be_sent_says_where() {
    let mut desk = edited();

    desk.press("\"");
    assert!(desk.screen().contains("cannot be sent: not valid JSON"), "{}", desk.screen());
    assert!(desk.screen().contains("at line 2, column"));
    desk.press("<Tab><Enter>");
    assert_eq!(desk.staged(), "");
    desk.press("<Esc>a");

    assert_eq!(desk.staged(), "", "the approve key does not send another thing than the text says");
    assert!(desk.message().contains("cannot be sent"), "{}", desk.message());
}

#[test]
fn back_to_proposed_forgets_the_draft() {
    let mut desk = edited();

    desk.press("<Tab><Tab><Enter><Esc>a");

    assert_eq!((desk.staged().as_str(), edits(&desk)), ("1A", None));
}

#[test]
fn a_paste_goes_into_the_text_with_hidden_characters_in_sight() {
    let mut desk = edited();

    desk.say(What::Paste("a\u{202e}b".to_owned()));

    assert!(desk.screen().contains("a⟦U+202E⟧b"), "{}", desk.screen());
    assert!(desk.screen().contains("1 hidden characters in this text"));
}

#[test]
fn what_is_typed_is_saved_every_second() {
    let mut desk = edited();
    desk.saved.clear();

    desk.wait(1_000);
    desk.say(What::Tick);
    desk.say(What::Tick);

    assert_eq!(desk.saved.len(), 1);
}

#[test]
fn a_draft_from_last_time_counts_only_for_the_same_input() {
    let text = |of| EditText { text: r#"{"title":"from last time","n":1.10}"#.to_owned(), of };
    let digest = few(1)[0].digest();
    let other = few(2)[1].digest();
    for (of, want) in [(digest, "1E"), (other, "")] {
        let mut desk = Desk::unstarted(100, 30, CAN);
        let _ = crate::tui::update::start(&mut desk.model);
        let edit_texts = [(key("1"), text(of))].into();
        desk.restored(Restored { edit_texts, ..Restored::default() });
        desk.lists(few(1));

        desk.press("a");

        assert_eq!(desk.staged(), want, "{}", desk.message());
    }
}

#[test]
fn identity_keys_cannot_be_edited_in() {
    let mut desk = Desk::new(100, 30, few(1));
    desk.press("e<Right>");

    desk.say(What::Paste("\"workspace_id\":\"other\",".to_owned()));

    let Some(Modal::Edit(form)) = &desk.model.modal else { panic!("no form") };
    assert_eq!(form.check, Err(EditError::IdentityKey("workspace_id".to_owned())));
}
