//! Bulk edits, and the draft in an external editor.

use crate::domain::{Decision, PendingAction, Status};
use crate::tui::core::msg::{Effect, What};
use crate::tui::edit::form::EditForm;
use crate::tui::submit::words as review_words;
use crate::tui::testing::{Desk, action, decided, few, key};

fn edits(desk: &Desk, id: &str) -> Option<String> {
    match &desk.model.decide.draft.get(&key(id))?.decision {
        Decision::Approve { edits, .. } => edits.as_ref().map(|edits| edits.as_json().as_str().to_owned()),
        _ => None,
    }
}

fn issue(id: usize, input: &str) -> PendingAction {
    action(&format!("{id} create_linear_issue support low {}", 60 - id), &format!("Issue {id}"), input)
}

/// Presses keys and returns how many there were, without texts.
fn count(desk: &mut Desk, keys: &str) -> usize {
    desk.press(keys);
    keys.matches('<').count() + keys.split(['<', '>']).step_by(2).map(str::len).sum::<usize>()
}

#[test]
fn bulk_edit_of_twelve_takes_ten_keys() {
    let mut desk = Desk::new(100, 30, few(12));
    desk.press("gg");
    let mut keys = count(&mut desk, " e<C-u>");

    desk.press("Outage in EU");
    keys += count(&mut desk, "<Enter>");
    insta::assert_snapshot!(desk.sheet_line(1), @"  Applies to 12 of 12 marked");
    desk.wait(500);
    keys += count(&mut desk, "<Enter>");

    assert_eq!(desk.model.decide.draft.len(), 12);
    assert_eq!(edits(&desk, "7").unwrap(), r#"{"title":"Outage in EU"}"#);
    keys += count(&mut desk, "s");
    desk.wait(500);
    let counted = review_words::type_count("12", "Enter");
    let typed = format!("{}<Enter>", if desk.screen().contains(&counted) { "12" } else { "" });
    keys += count(&mut desk, if typed == "<Enter>" { "y" } else { typed.as_str() });
    assert_eq!(desk.submitted.len(), 1, "{}", desk.screen());
    assert!(keys <= 10, "{keys}");
}

#[test]
fn one_undo_reverts_the_bulk_edit() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("gg eZ<Enter>");
    desk.wait(500);
    desk.press("<Enter>");
    assert_eq!(desk.staged(), "1E 2E 3E");

    desk.press("u");

    assert_eq!(desk.staged(), "");
}

#[test]
fn bulk_edit_lists_and_leaves_out_unsuitable_actions() {
    let mut desk = Desk::new(
        160,
        45,
        vec![
            issue(1, r#"{"title":"a","labels":["x"]}"#),
            issue(2, r#"{"title":"b","labels":["x"]}"#),
            issue(3, r#"{"name":"c"}"#),
            action("4 send_email support low 5", "Mail", r#"{"title":"d"}"#),
            issue(5, r#"{"title":"e","title":"f"}"#),
            issue(6, r#"{"title":"new"}"#),
        ],
    );
    desk.press("*");
    if desk.model.queue.marks.is_empty() {
        let rows: Vec<_> = desk.model.queue.slots.ids().collect();
        desk.model.queue.turn_marks(&rows);
    }

    desk.press("e<C-u>new<Enter>");

    desk.pictured("same_change");
    insta::assert_snapshot!(desk.sheet(), @"
    The same change, action by action
      Applies to 3 of 6 marked. 3 skipped

      * Issue 1                                 title  a → new
      * Issue 2                                 title  b → new
      - Issue 3                                 skipped: it has no title
      - Issue 5                                 skipped: flagged, unread
      = Issue 6                                 already has these values: approved as proposed
      - Mail                                    skipped: different tool



      Enter stages 3 approvals with these edits; u undoes them together. Esc: back to the form
    nothing is sent from here
    ");
    desk.wait(500);
    desk.press("<Enter>");
    assert_eq!(desk.staged(), "1E 2E 6A");
}

#[test]
fn bulk_edit_does_not_copy_lists() {
    let mut desk = Desk::new(
        160,
        45,
        vec![issue(1, r#"{"l":["x","y"]}"#), issue(2, r#"{"l":["x","y"]}"#), issue(3, r#"{"l":["z"]}"#)],
    );

    desk.press("gg e <Enter>");

    insta::assert_snapshot!(desk.sheet_line(5), @"  - Issue 3                                 skipped: its l is another list or object");
    desk.wait(500);
    desk.press("<Enter>");
    assert_eq!((desk.staged().as_str(), edits(&desk, "2").unwrap().as_str()), ("1E 2E", r#"{"l":["y"]}"#));
}

#[test]
fn esc_returns_to_the_form_and_double_enter_stages_nothing() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("gg eZ<Enter>");

    desk.hurry("<Enter>", 100);
    assert_eq!(desk.staged(), "");
    desk.press("<Esc>");
    insta::assert_snapshot!(desk.sheet_line(2), @"  > title  Issue number 1                           Issue number 1Z *");
    assert!(desk.model.sheet.is::<EditForm>());
    desk.press("<Esc>");

    assert!(desk.model.sheet.is_none());
    assert_eq!(desk.model.edit.texts.len(), 1, "the text is kept");
}

#[test]
fn bulk_edit_leaves_out_actions_decided_meanwhile() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("gg eZ<Enter>");

    desk.changes(vec![decided(few(3).remove(1), Status::Rejected, "maria")]);
    desk.wait(500);
    desk.press("<Enter>");

    assert_eq!(desk.staged(), "1E 3E");
}

fn given(desk: &Desk) -> String {
    let asked = desk.effects.iter().rev().find_map(|effect| match effect {
        Effect::Editor { text, .. } => Some(text.clone()),
        _ => None,
    });
    asked.expect("the editor was not opened")
}

fn comes_back(desk: &mut Desk, answer: Result<&str, &str>) {
    let (key, digest) = (key("1"), few(1)[0].digest());
    let answer = answer.map(str::to_owned).map_err(str::to_owned);
    desk.say(What::Edited { key, digest, answer });
}

#[test]
fn external_editor_reads_and_writes_the_draft() {
    let mut desk = Desk::new(100, 30, few(1));

    desk.press("E");
    assert_eq!(given(&desk), "{\n  \"title\": \"Issue number 1\",\n  \"n\": 1.10\n}");
    comes_back(&mut desk, Ok("{\n  \"title\": \"Mended\",\n  \"n\": 1.10\n}\n"));
    insta::assert_snapshot!(desk.sheet_line(11), @"  Edits: title");
    desk.press("<Enter>");

    assert_eq!(edits(&desk, "1").unwrap(), r#"{"title":"Mended"}"#);
}

#[test]
fn invalid_json_from_the_editor_shows_the_error_position() {
    let mut desk = Desk::new(100, 30, few(1));
    desk.press("eZ<C-g>");
    // The text includes what was typed in the form.
    insta::assert_snapshot!(given(&desk), @r#"
{
  "title": "Issue number 1Z",
  "n": 1.10
}
"#);

    comes_back(&mut desk, Ok("{\n  \"title\": Mended,\n"));

    assert_eq!(
        desk.message(),
        "the edited text cannot be sent: not valid JSON at byte 19: a word that is no value; text needs \"quotes\"; fix it here"
    );
    insta::assert_snapshot!(desk.sheet_line(4), @r#"    "title": Mended,"#);
    desk.press("<Esc>");
    insta::assert_snapshot!(desk.model.edit.texts[&key("1")].text, @r#"
{
  "title": Mended,
"#);
}

#[test]
fn failed_editor_changes_nothing() {
    let mut desk = Desk::new(100, 30, few(1));
    desk.press("eZ<C-g>");

    comes_back(&mut desk, Err("the editor vi ended with exit status: 1; nothing was changed"));

    assert_eq!(desk.message(), "the editor vi ended with exit status: 1; nothing was changed");
    desk.press("<Enter>");
    assert_eq!(edits(&desk, "1").unwrap(), r#"{"title":"Issue number 1Z"}"#);
}

/// Bulk edits are undone together. No edit stays behind as text.
#[test]
fn undo_of_a_bulk_edit_leaves_no_draft() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("gg e<C-u>New<Enter>");
    desk.wait(500);
    desk.press("<Enter>");
    assert_eq!(desk.staged(), "1E 2E 3E");

    desk.press("u");
    insta::assert_snapshot!(desk.list(), @"
     ▾ create_linear_issue  low  support             3 left
    ▌  │ Issue number 1                                59 m
     • │ Issue number 2                                58 m
     • │ Issue number 3                                57 m
    ");
    desk.press("a");
    assert!(desk.staged().ends_with('A'), "{}", desk.staged());
}

#[test]
fn edited_approval_toggles_and_reopens_with_its_edits() {
    let mut desk = Desk::new(100, 30, few(2));
    desk.press("gg e<C-u>New<Enter>");
    desk.wait(500);
    desk.press("<Enter>gg");
    desk.press("j");

    desk.press("e");
    insta::assert_snapshot!(desk.sheet_line(2), @"  > title  Issue number 1                           New *");
    desk.press("<Esc>");
    assert_eq!(desk.staged(), "1E 2E");
    desk.press("a");
    assert_eq!(desk.staged(), "2E", "the same key again: undecided");
}
