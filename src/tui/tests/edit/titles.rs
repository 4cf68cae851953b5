//! Edits in titles, wherever an action is named.

use crate::domain::{Approval, Approvals, Edits, Followed, PendingAction, RawJson, Status, Timestamp, merge};
use crate::tui::core::msg::What;
use crate::tui::edit::form::EditForm;
use crate::tui::preview::page::made::Tab;
use crate::tui::testing::{Desk, action, decided, key};
use crate::tui::tests::history::views::{knows, page, rest};
use crate::tui::tests::plain::talk::{TERMINAL, Talk};

const INPUT: &str = r#"{"amount":129.90,"currency":"EUR","customer":"pim","order_id":"129.90"}"#;
const EDITED: &str = "Refund 129.90 → 129.00 EUR to pim";

fn refund() -> PendingAction {
    action("1 refund_payment billing low 5", "Refund 129.90 EUR to pim", INPUT)
}

/// The same, approved by kim with another amount, as its source tells it.
fn ran(status: Status) -> PendingAction {
    let mut ran = decided(refund(), status, "kim");
    let edits = Edits::new(RawJson::parse(r#"{"amount":129.00}"#).unwrap()).unwrap();
    ran.effective_input = merge(&ran.input, &edits).ok();
    ran.user_edits = Some(edits);
    ran.row.edited = Some(EDITED.into());
    ran
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn times(text: &str, what: &str) -> usize {
    text.matches(what).count()
}

#[test]
fn form_opens_on_the_amount() {
    let mut desk = Desk::new(120, 40, vec![refund()]);
    desk.press("e");
    let Some(form) = desk.model.sheet.get::<EditForm>() else { panic!("no form") };
    assert_eq!(form.here().unwrap().key, "amount");
}

#[test]
fn own_edit_has_one_title_from_row_to_report() {
    let mut desk = Desk::new(160, 45, vec![refund()]);
    desk.press("e<Backspace><Backspace>00<Enter>k");
    assert_eq!(desk.staged(), "1E");
    assert!(desk.list().contains(EDITED), "{}", desk.list());
    assert_eq!(times(&desk.preview(), "129.90 → 129.00"), 2, "title and page: {}", desk.preview());

    desk.press("s");
    assert!(desk.sheet().contains(EDITED), "{}", desk.sheet());
    assert!(words(&desk.sheet()).contains("amount 129.90 → 129.00"), "{}", desk.sheet());
    desk.wait(500);
    desk.press("y");
    assert!(desk.list().contains(EDITED), "while it is sent: {}", desk.list());
    assert_eq!(desk.submitted[0].batches()[0].items()[0].title.as_raw(), EDITED, "journal and log");
    desk.accepts();
    assert!(desk.list().contains(EDITED), "after the answer: {}", desk.list());

    desk.say(What::Followed(Followed {
        key: key("1"),
        title: ran(Status::Failed).row.shown_title().clone(),
        status: Status::Failed,
        result: None,
        error: Some("no".into()),
        outcome: None,
        at: Timestamp::default(),
    }));
    assert!(desk.message().contains(EDITED), "{}", desk.message());
    desk.press("gr");
    assert!(desk.sheet().contains(EDITED), "{}", desk.sheet());
    desk.press("<Enter>");
    desk.changes(vec![decided(refund(), Status::Executed, "me")]);
    assert!(desk.list().contains(EDITED), "its source tells no edits: {}", desk.list());
}

#[test]
fn edit_of_another_approver_is_in_row_title_and_page() {
    let mut desk =
        Desk::new(280, 45, vec![refund(), action("2 refund_payment billing low 4", "Refund 5 EUR", "{}")]);
    knows(&mut desk, &[ran(Status::Executed)]);
    desk.press("jk");
    desk.changes(vec![ran(Status::Executed)]);
    assert!(desk.list().contains(EDITED), "{}", desk.list());
    rest(&mut desk);
    assert_eq!(times(&desk.preview(), "129.90 → 129.00"), 2, "{}", desk.preview());
    assert!(!desk.preview().contains("amount    129.90 EUR"), "{}", desk.preview());

    desk.pages.push_back(page(&[ran(Status::Executed)]));
    desk.press("Ve");
    rest(&mut desk);
    assert!(desk.list().contains(EDITED), "history: {}", desk.list());
}

#[test]
fn first_approvers_edit_is_in_title_and_page() {
    let mut pending = refund();
    let edits = Edits::new(RawJson::parse(r#"{"amount":129.00}"#).unwrap()).unwrap();
    let effective = pending.digest_of(merge(&pending.input, &edits).unwrap().as_str());
    let at = Timestamp::default();
    pending.approvals = vec![Approval { by: "kim".into(), at, effective, edits: Some(edits) }];
    pending.row.approvals = Some(Approvals { needed: 2, by: vec!["kim".into()] }.into());
    let mut desk = Desk::new(280, 45, vec![pending]);
    rest(&mut desk);

    assert!(desk.list().contains(EDITED), "{}", desk.list());
    assert_eq!(times(&desk.preview(), "129.90 → 129.00"), 2, "{}", desk.preview());
}

#[test]
fn dropped_element_is_named_in_the_review() {
    let input = r#"{"recommendations":[{"title":"Ship it","n":1},{"title":"Fix it"},{"title":"Wait"}]}"#;
    let title = "Save recommendations (3): Ship it";
    let mut desk = Desk::new(220, 45, vec![action("1 save_recommendations product low 5", title, input)]);
    desk.press("e <Enter>k");
    assert_eq!(desk.staged(), "1E", "{}", desk.screen());

    let edited = "Save recommendations (3 → 2): Ship it → Fix it";
    assert!(desk.list().contains("Save recommendations (3 → 2): Ship it →"), "{}", desk.list());
    assert!(desk.preview().contains("recommendations dropped Ship it"), "{}", desk.preview());
    desk.press("s");
    assert!(desk.sheet().contains(edited), "{}", desk.sheet());
    assert!(words(&desk.sheet()).contains("recommendations dropped Ship it"), "{}", desk.sheet());
}

#[test]
fn page_writes_every_kind_of_edit_once() {
    let input = r#"{"title":"a","n":1,"body":"one\ntwo","in":{"deep":{"x":1}},"to":["ann","bo"],"odd":null}"#;
    let edits =
        r#"{"title":"世","n":2,"body":"one\nthree","in":{"deep":{"x":9}},"to":["bo"],"odd":null,"new":true}"#;
    let edits = Edits::new(RawJson::parse(edits).unwrap()).unwrap();
    let mut ran = decided(action("1 act agent low 5", "act a", input), Status::Executed, "kim");
    ran.effective_input = merge(&ran.input, &edits).ok();
    ran.user_edits = Some(edits);
    let other = action("2 act agent low 4", "act b", "{}");
    let mut desk = Desk::new(120, 60, vec![action("1 act agent low 5", "act a", input), other]);
    knows(&mut desk, &[ran.clone()]);
    desk.press("jk");
    desk.changes(vec![ran]);
    rest(&mut desk);
    desk.press("z");

    assert_eq!(desk.model.preview.tab, Tab::Rendered);
    let page = words(&desk.screen().replace('│', " "));
    for want in [
        "title a → 世",
        "n 1 → 2",
        "body one two → one three",
        "in.deep.x 1 → 9",
        r#"to ["bo"] to dropped ann"#,
        "new true new added true",
    ] {
        assert_eq!(times(&page, want), 1, "{want}: {page}");
    }
}

#[test]
fn plain_mode_says_the_edited_title() {
    let mut talk = Talk::new(TERMINAL, vec![refund()]);
    talk.types("edit amount=129.00");
    talk.types("quiet");
    for word in ["list", "where", "show"] {
        let said = talk.types(word);
        assert!(said.contains(EDITED), "{word}: {said}");
    }
    talk.types("approve");
    for word in ["staged", "submit"] {
        let said = talk.types(word);
        assert!(said.contains(EDITED), "{word}: {said}");
    }
}
