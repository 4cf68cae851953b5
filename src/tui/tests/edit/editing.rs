//! The edit form.

use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::domain::{Decision, EditError, KnownTool, Risk};
use crate::inbox::Tool;
use crate::journal::{EditText, Restored, Write};
use crate::schema::Schema;
use crate::tui::core::draw::view;
use crate::tui::core::msg::What;
use crate::tui::core::router;
use crate::tui::edit::form::EditForm;
use crate::tui::testing;
use crate::tui::testing::{CAN, Desk, action, few, key};

/// Opens the form and appends a `Z` to the title.
fn edited() -> Desk {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("eZ");
    desk
}

/// Does the same in the JSON text.
fn edited_raw() -> Desk {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("e<C-t><Down>");
    for _ in 0..13 {
        desk.press("<Right>");
    }
    desk.press("Z");
    desk
}

fn edits(desk: &Desk) -> Option<String> {
    match &desk.model.decide.draft.get(&key("1"))?.decision {
        Decision::Approve { edits, .. } => edits.as_ref().map(|edits| edits.as_json().as_str().to_owned()),
        _ => None,
    }
}

#[test]
fn closing_keeps_a_draft_and_stages_nothing() {
    let mut desk = edited();
    insta::assert_snapshot!(desk.sheet_line(11), @"  Edits: title");

    desk.press("<Esc>");

    assert_eq!(desk.staged(), "");
    insta::assert_snapshot!(desk.row(1), @"▌  │ Issue number 1 → Issue number 1Z              59 m");
    assert!(desk.saved.iter().any(|write| matches!(write, Write::EditText { text: Some(_), .. })));
    desk.press("a");
    assert_eq!(edits(&desk).unwrap(), r#"{"title":"Issue number 1Z"}"#);
    assert_eq!(desk.staged(), "1E");
}

#[test]
fn enter_in_a_line_stages_an_approval_with_the_changes() {
    let mut desk = edited();

    desk.press("<Enter>");

    assert_eq!(edits(&desk).unwrap(), r#"{"title":"Issue number 1Z"}"#, "1.10 keeps its spelling");
    assert!(desk.model.sheet.is_none());
    desk.press("kd");
    insta::assert_snapshot!(desk.preview_line(3), @"+   Issue number 1Z");
    insta::assert_snapshot!(desk.tabs(), @"[Diff 1]  ] tabs             read   1-8/8");
}

#[test]
fn decision_keys_in_the_form_stage_nothing() {
    let mut desk = edited();

    desk.press("axsy");
    assert_eq!(desk.staged(), "");
    desk.press("<Tab><Tab>axsy");

    assert_eq!(desk.staged(), "");
    assert!(desk.model.sheet.is::<EditForm>());
}

#[test]
fn invalid_text_shows_the_error_position() {
    let mut desk = edited_raw();

    desk.press("\"");
    insta::assert_snapshot!(desk.sheet_line(13), @"  cannot be sent: a comma or the end is missing, line 2, column 16");
    desk.press("<Tab><Enter>");
    assert_eq!(desk.staged(), "");
    desk.press("<Esc>a");

    assert_eq!(desk.staged(), "", "the approve key refuses invalid text");
    assert_eq!(
        desk.message(),
        "your edited text cannot be sent: not valid JSON at byte 17: a comma or the end is missing; open the form"
    );
}

#[test]
fn revert_deletes_the_draft() {
    let mut desk = edited();

    desk.press("<Tab><Tab><Tab><Enter><Esc>a");

    assert_eq!((desk.staged().as_str(), edits(&desk)), ("1A", None));
}

#[test]
fn pasted_hidden_characters_are_visible() {
    let mut desk = edited();

    desk.say(What::Paste("a\u{202e}b".to_owned()));

    insta::assert_snapshot!(desk.sheet_line(2), @"  > title  Issue number 1                           Issue number 1Za⟦U+202E⟧b *");
    insta::assert_snapshot!(desk.sheet_line(11), @"  ! 1 hidden character in this text, shown as ⟦…⟧");
}

#[test]
fn draft_is_saved_every_second() {
    let mut desk = edited();
    desk.saved.clear();

    desk.wait(1_000);
    desk.say(What::Tick);
    desk.say(What::Tick);

    assert_eq!(desk.saved.len(), 1);
}

#[test]
fn restored_draft_applies_only_to_the_same_input() {
    let text = |of| EditText { text: r#"{"title":"from last time","n":1.10}"#.to_owned(), of };
    let digest = few(1)[0].digest();
    let other = few(2)[1].digest();
    for (of, want) in [(digest, "1E"), (other, "")] {
        let mut desk = Desk::unstarted(100, 30, CAN);
        let _ = router::start(&mut desk.model);
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
    desk.press("e<C-t><Right>");

    desk.say(What::Paste("\"workspace_id\":\"other\",".to_owned()));

    let Some(form) = desk.model.sheet.get::<EditForm>() else { panic!("no form") };
    assert_eq!(form.check, Err(EditError::IdentityKey("workspace_id".to_owned())));
}

fn form(desk: &Desk) -> &EditForm {
    desk.model.sheet.get().unwrap_or_else(|| panic!("no form: {:?}", desk.model.sheet))
}

fn one(input: &str) -> Desk {
    Desk::new(100, 30, vec![action("1 create_linear_issue support low 5", "t", input)])
}

fn learns(desk: &mut Desk, schema: &str) {
    let known = KnownTool {
        name: "create_linear_issue".into(),
        risk: Risk::Low,
        effect: None,
        approving: None,
        preview: None,
        schema: None,
    };
    let tool = Arc::new(Tool { known, schema: Some(Schema::parse(schema).unwrap()) });
    let (source, name) = (testing::source(), "create_linear_issue".into());
    desk.say(What::ToolLearnt { source, tool: name, answer: Ok(Some(tool)) });
}

const SCHEMA: &str = r#"{"required":["title"],"properties":{
    "title":{"type":"string","maxLength":12},
    "priority":{"type":"integer","minimum":0,"maximum":4},
    "state":{"enum":["todo","done"]},
    "urgent":{"type":"boolean"}}}"#;

#[test]
fn numbers_and_strings_keep_their_type_and_spelling() {
    let mut desk = one(r#"{"title":"a","price":1.10,"code":"7"}"#);

    desk.press("e<Down><C-u>2.50<Down><C-u>12<Enter>");

    assert_eq!(edits(&desk).unwrap(), r#"{"price":2.50,"code":"12"}"#);
}

#[test]
fn invalid_number_is_reported_and_cannot_be_approved() {
    let mut desk = one(r#"{"title":"a","price":1.10}"#);

    desk.press("e<Down><C-u>-<Enter>");

    assert_eq!(desk.staged(), "");
    assert_eq!(desk.message(), "cannot be sent: price: type a number, such as 3, -1.50 or 2e6");
    insta::assert_snapshot!(desk.sheet_line(11), @"  ! type a number, such as 3, -1.50 or 2e6");
    desk.press("x,\"1<Enter>");
    assert_eq!(edits(&desk).unwrap(), r#"{"price":-1}"#, "other characters are ignored");
}

#[test]
fn late_schema_adds_fields_and_validates() {
    let mut desk = one(r#"{"title":"a","priority":3}"#);
    desk.press("eb");

    learns(&mut desk, SCHEMA);

    assert_eq!(form(&desk).text(), "{\n  \"title\": \"ab\",\n  \"priority\": 3\n}", "typed text stays");
    insta::assert_snapshot!(desk.sheet(), @"
    Edit before approving
      create_linear_issue   t
        field     proposed                               yours
      > title     a                                      ab *
        priority  3                                      =
        state     (none)                                 (not set)
        urgent    (none)                                 (not set)

      title, string, required, at most 12 characters                                     2 of 12
      > ab

      Edits: title
      An edited field is sent whole                              valid against the tool's schema
      Ctrl-G $EDITOR  Ctrl-R back to proposed  Ctrl-T JSON
      [approve with these edits]  [back to proposed]  [close]                          Tab: next
    nothing is sent from here; closing keeps your text
    ");
    desk.press("<Down><C-u>9<Enter>");
    assert_eq!(desk.staged(), "");
    insta::assert_snapshot!(desk.sheet_line(10), @"  ! 9 is greater than the maximum of 4");
    desk.press("<C-r><Down><Right><Down>t<Enter>");
    assert_eq!(edits(&desk).unwrap(), r#"{"title":"ab","state":"todo","urgent":true}"#);
}

#[test]
fn one_field_can_be_reverted() {
    let mut desk = one(r#"{"title":"a","body":"b"}"#);

    desk.press("ex<Down>y<C-r><Enter>");
    assert_eq!(desk.staged(), "1E", "{}", desk.screen());
    assert_eq!(edits(&desk).unwrap(), r#"{"title":"ax"}"#);
}

#[test]
fn identity_is_locked() {
    let mut desk = one(r#"{"workspace_id":"w","title":"a"}"#);

    desk.press("e<Up>x");

    assert_eq!(desk.message(), "this key identifies whose action it is and cannot be edited");
    insta::assert_snapshot!(desk.sheet_line(2), @"  > workspace_id  w                                    = locked");
    assert_eq!(form(&desk).check, Ok(None));
}

#[test]
fn an_element_of_a_list_is_dropped_and_restored() {
    let input = r#"{"recommendations":[{"title":"One","n":1.0},{"title":"Two"},{"title":"Three"}]}"#;
    let mut desk = Desk::new(100, 60, vec![action("1 create_linear_issue support low 5", "t", input)]);

    desk.press("e<Down> ");
    insta::assert_snapshot!(desk.sheet_line(8), @"  > drop  2  Two                                    Space drops or restores   Right: as JSON");
    desk.press("<Enter>");

    let want = r#"{"recommendations":[{"title":"One","n":1.0},{"title":"Three"}]}"#;
    assert_eq!(edits(&desk).unwrap(), want, "the whole new list, numbers as written");
    desk.press("ke<Down> <Enter>");
    assert_eq!(desk.message(), "nothing is changed; Esc closes, and a approves it as proposed");
    desk.press("<Esc>a");
    assert_eq!(desk.staged(), "", "it was approved with edits, so the key toggles");
    desk.press("a");
    assert_eq!((desk.staged().as_str(), edits(&desk)), ("1A", None));
}

#[test]
fn enter_in_a_multiline_text_adds_a_line() {
    let mut desk = one(r#"{"title":"a","body":"b\nc"}"#);

    desk.press("e<Down><Enter>d");
    assert_eq!(desk.staged(), "");
    insta::assert_snapshot!(desk.sheet_line(7), @"  body, text                                                                 Enter: new line");
    desk.press("<Esc>a");

    assert_eq!(edits(&desk).unwrap(), r#"{"body":"b\nc\nd"}"#);
}

#[test]
fn a_line_break_can_be_typed_into_one_line() {
    let mut desk = one(r#"{"title":"a"}"#);

    desk.press("e<C-j>b<Tab><Enter>");

    assert_eq!(edits(&desk).unwrap(), r#"{"title":"a\nb"}"#);
}

#[test]
fn enter_without_a_change_approves_nothing() {
    let mut desk = one(r#"{"title":"a"}"#);

    desk.press("e<Enter>");

    assert_eq!(desk.staged(), "");
    assert_eq!(desk.message(), "nothing is changed; Esc closes, and a approves it as proposed");
}

#[test]
fn line_pasted_as_keys_approves_nothing() {
    let mut desk = one(r#"{"title":"a"}"#);
    desk.press("e");

    desk.hurry("pasted<Enter>", 1);

    assert_eq!(desk.staged(), "");
    assert!(desk.model.sheet.is::<EditForm>());
    desk.press("<Enter>");
    assert_eq!(desk.staged(), "1E", "an input method commits words at once; the Enter after it is typed");
}

#[test]
fn fields_and_json_text_share_a_draft() {
    let mut desk = one(r#"{"title":"a","n":1.10}"#);

    desk.press("eb<C-t>");
    insta::assert_snapshot!(desk.sheet_line(4), @r#"    "title": "ab","#);
    desk.press("x<C-t>");
    assert_eq!(
        desk.message(),
        "it cannot be shown as fields yet: not valid JSON at byte 1: a word that is no value; text needs \"quotes\""
    );
    assert!(form(&desk).is_raw(), "invalid JSON stays text");
    desk.press("<Backspace><C-t><Enter>");

    assert_eq!(edits(&desk).unwrap(), r#"{"title":"ab"}"#);
}

#[test]
fn invalid_draft_is_kept_and_opens_as_text() {
    let mut desk = one(r#"{"title":"a","n":1.10}"#);

    desk.press("e<Down><C-u>-<Esc>");
    insta::assert_snapshot!(desk.model.edit.texts[&key("1")].text, @r#"
{
  "title": "a",
  "n": -
}
"#);
    desk.press("e");

    insta::assert_snapshot!(desk.sheet_line(13), @r#"  cannot be sent: a word that is no value; text needs "quotes", line 3, column 9"#);
    assert!(form(&desk).is_raw());
}

#[test]
fn trailing_json_is_rejected() {
    let mut desk = one(r#"{"title":"a","o":{"x":1}}"#);

    desk.press("e<Down>");
    desk.say(What::Paste(r#","p":2"#.to_owned()));
    desk.press("<Esc>a");

    assert_eq!(desk.staged(), "", "trailing JSON adds no key");
}

fn caret(desk: &Desk) -> Option<(u16, u16)> {
    let area = Rect::new(0, 0, desk.model.screen.size.width, desk.model.screen.size.height);
    view(&desk.model, area, &mut Buffer::empty(area)).map(|at| (at.x, at.y))
}

#[test]
fn the_terminals_cursor_is_at_the_caret() {
    let mut desk = one(r#"{"title":"ab"}"#);
    desk.press("e");
    let (x, y) = caret(&desk).unwrap();
    let line: String = desk.screen().lines().nth(usize::from(y)).unwrap().chars().take(x.into()).collect();
    insta::assert_snapshot!(line, @"  │  > ab");
    desk.press("字");

    assert_eq!(caret(&desk), Some((x + 2, y)), "a wide character takes two columns");
    desk.press("<Tab>");
    assert_eq!(caret(&desk), None, "no text field, no caret");
}

#[test]
fn keys_typed_before_the_content_arrives_are_text() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.answers = false;
    desk.press("G");
    desk.press("eaxq<Backspace><Enter>");
    assert_eq!(desk.staged(), "");
    insta::assert_snapshot!(desk.sheet(), @"
Edit before approving

  Reading 1 action …
");

    let loaded = desk.world[&key("3")].clone();
    desk.say(What::Loaded(vec![(key("3"), Ok(loaded))]));

    assert!(form(&desk).key == key("3"));
    assert!(desk.sheet().contains("ax *"), "{}", desk.sheet());
    desk.press("Z<Enter>");
    assert_eq!(desk.staged(), "3E");
}
