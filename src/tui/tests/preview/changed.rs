//! Content that changed after it was seen: the mark is dropped, the tab compares old, new and edited content.

use crate::domain::{Binding, Capabilities, Decision, PendingAction, ReadFirst, Seen};
use crate::tui::preview::page::made::Tab;
use crate::tui::submit::words;
use crate::tui::testing::{CAN, Desk, action, few, key};

fn pay(amount: &str) -> PendingAction {
    let input = format!(r#"{{"to":"alice","amount":{amount},"note":"for May"}}"#);
    let mut action = action("p pay_invoice billing low 5", "Pay", &input);
    action.row.digest = Some(action.digest());
    action
}

/// Returns a desk with an approved action whose content then changed.
fn changed(width: u16, height: u16) -> Desk {
    let mut desk = Desk::new(width, height, vec![pay("1.10")]);
    desk.press("a");
    assert_eq!(desk.staged(), "pA");
    desk.changes(vec![pay("9.90")]);
    desk.wait(1_000);
    desk.drawn();
    desk
}

#[test]
fn changed_action_is_not_sent_and_opens_the_diff() {
    let mut said = Vec::new();
    for (width, height) in [(80, 24), (100, 30), (160, 45)] {
        let mut desk = Desk::new(width, height, vec![pay("1.10")]);
        desk.press("a");
        // The source has not reported the change; only the fresh read finds it.
        desk.world.insert(key("p"), pay("9.90"));

        desk.press("S");
        assert!(desk.screen().contains(words::NOT_SENT), "{}", desk.screen());
        desk.wait(200);
        desk.press("d");
        desk.press("z");

        assert_eq!(desk.model.preview.tab, Tab::Diff, "{}", desk.screen());
        said.push(format!("{width}x{height}\n{}", desk.preview()));
    }
    insta::assert_snapshot!(said.join("\n"), @"
    80x24
    Pay
    ! it changed since you saw it
    amount
      saw   1.10
      now   9.90

    2 other fields unchanged since you saw it

    The agent did not report the state before.
    100x30
    Pay
    ! it changed since you saw it
    what you saw                   │ what it is now                 │ your edit
    amount
    1.10                           │ 9.90                           │ -

    2 other fields unchanged since you saw it

    The agent did not report the state before.
    160x45
    Pay
    ! it changed since you saw it
    what you saw                                       │ what it is now                                     │ your edit
    amount
    1.10                                               │ 9.90                                               │ -

    2 other fields unchanged since you saw it

    The agent did not report the state before.
    ");
}

#[test]
fn changed_row_is_unstaged_and_marked_until_decided_again() {
    let mut desk = changed(100, 30);
    insta::assert_snapshot!(desk.row(0), @"▌• pay_invoice │ Pay                      low ↻ changed");
    assert_eq!(desk.message(), "Pay changed after you decided it: your decision was undone");
    assert_eq!(desk.staged(), "");

    desk.press("u");
    assert_eq!(desk.staged(), "", "undo does not restore a decision on other content");
    assert_eq!(desk.message(), "nothing to undo");
    desk.press("a");

    assert_eq!(desk.staged(), "pA");
    insta::assert_snapshot!(desk.row(0), @"▌✓ pay_invoice │ Pay                                low");
}

#[test]
fn reason_of_a_decision_on_changed_content_is_offered_again() {
    let mut desk = Desk::new(100, 30, vec![pay("1.10")]);
    desk.press("Xtwice<Enter>");
    assert_eq!(desk.staged(), "pX");
    desk.changes(vec![pay("9.90")]);
    assert_eq!(desk.staged(), "");
    desk.wait(1_000);
    desk.press("X<Enter>");

    let reasons = desk.model.decide.draft.iter().map(|(_, staged)| staged.decision.clone());
    assert_eq!(reasons.collect::<Vec<_>>(), [Decision::Reject { reason: Some("twice".into()) }]);
}

#[test]
fn review_of_a_decision_on_changed_content_closes() {
    let mut desk = Desk::new(100, 30, vec![pay("1.10")]);
    desk.press("aS");
    assert!(desk.model.sheet.is_some());
    desk.changes(vec![pay("9.90")]);

    assert_eq!(desk.message(), "review closed: Pay changed after you decided it: your decision was undone");
    assert!(desk.model.sheet.is_none(), "{}", desk.screen());
}

#[test]
fn diff_shows_seen_current_and_edited_content() {
    let mut desk = Desk::new(160, 45, vec![pay("1.10")]);
    desk.press("e<C-u>7.70<C-s>");
    desk.press("<Esc>");
    desk.changes(vec![pay("9.90")]);
    desk.wait(1_000);
    desk.press("zd");

    desk.pictured("edit_beside");
    insta::assert_snapshot!(desk.preview(), @"
    Pay  amount 9.90 → 7.70
    ! it changed since you saw it
    what you saw                                       │ what it is now                                     │ your edit
    amount
    1.10                                               │ 9.90                                               │ 7.70

    2 other fields unchanged since you saw it

    The agent did not report the state before.
    ");
}

#[test]
fn read_mark_is_dropped_when_the_content_changes() {
    let mut desk = Desk::new(100, 30, vec![pay("1.10")]);
    desk.slowly("k");
    assert_eq!(desk.model.seen_of(desk.slot("p")), Some(Seen::InFull));
    desk.changes(vec![pay("9.90")]);

    assert_eq!(desk.model.seen_of(desk.slot("p")), None);
}

#[test]
fn deciding_again_ends_the_comparison() {
    let mut desk = changed(100, 30);
    desk.press("a");

    assert_eq!(desk.staged(), "pA", "{}", desk.message());
    assert_eq!(desk.model.seen_otherwise(&key("p"), &pay("9.90").digest()), None);
}

#[test]
fn diff_says_if_the_seen_content_is_not_cached() {
    let mut desk = Desk::new(100, 30, vec![pay("1.10")]);
    desk.press("a");
    desk.model.reader.contents.forget(&key("p"));
    desk.changes(vec![pay("9.90")]);
    desk.wait(1_000);
    desk.press("zd");

    insta::assert_snapshot!(pay("1.10").digest(), @"sha256:17ed4431445bde39565144b5e460dbcf9d46081d5853b5aa7001c14a5342e9c4");
    insta::assert_snapshot!(desk.preview(), @"
Pay
! it changed since you saw it
What you saw is no longer available: it was longer than 256 kB, or placet was restarted.
saw  sha256:17ed4431445bde39565144b5e460dbcf9d46081d5853b5aa7001c14a5342e9c4
now  sha256:ecb2606a64a74216cd98226b80fbed1581f1c6fa3ca6e527bea4a1e32061f6ab

No edits: it runs as proposed.

The agent did not report the state before.
");
}

#[test]
fn flagged_action_is_not_sent_unread() {
    let mut actions = few(3);
    actions.push(action("9 create_linear_issue support low 1", "Twice", r#"{"to":"a","to":"b"}"#));
    actions[3].row.size = 1;
    let mut desk = Desk::new(100, 30, actions);
    desk.answers = false;
    desk.press("h a");
    assert_eq!(desk.staged(), "1A 2A 3A 9A", "its content was not loaded: {}", desk.message());
    desk.answers = true;
    desk.press("S");
    if desk.model.sheet.is_none() {
        desk.press("S");
    }

    insta::assert_snapshot!(desk.sheet_line(8), @"                   flagged, unread");
}

/// Actions with harmless inputs and misleading names.
fn misleading() -> [PendingAction; 3] {
    let plain = || action("9 create_linear_issue support low 1", "Plain", r#"{"to":"a"}"#);
    let (mut letter, mut line, mut title) = (plain(), plain(), plain());
    letter.row.tool = "save_docum\u{435}nt".into();
    line.row.tool = "read_file\nrisk: low".into();
    title.row.title = "pay\u{202e}100".into();
    [letter, line, title]
}

#[test]
fn misleading_name_in_the_list_locks() {
    for odd in misleading() {
        let mut actions = few(3);
        actions.push(odd.clone());
        let mut desk = Desk::new(100, 30, actions);
        desk.answers = false;
        desk.press("*a");

        assert_eq!(desk.message(), "1 of 4 marked skipped: read them to the end first");
        assert_eq!(desk.staged(), "1A 2A 3A", "{:?}", odd.row.tool);
    }
}

#[test]
fn misleading_name_found_by_the_review_locks() {
    for odd in misleading() {
        let mut actions = few(3);
        actions.push(action("9 create_linear_issue support low 1", "Plain", r#"{"to":"a"}"#));
        let mut desk = Desk::new(100, 30, actions);
        desk.answers = false;
        desk.press("*a");
        assert_eq!(desk.staged(), "1A 2A 3A 9A", "{}", desk.message());
        desk.answers = true;
        desk.world.insert(key("9"), odd);
        desk.press("S");

        assert_eq!(desk.sheet_line(8).trim(), "flagged, unread");
    }
}

#[test]
fn read_first_everything_locks_every_action() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.model.settings.read_first = ReadFirst::Everything;
    desk.press("h a");

    assert_ne!(desk.staged(), "1A 2A 3A", "unopened actions are left out");
    desk.press("<Esc>");
    assert_eq!(desk.model.seen_of(desk.slot("3")), None::<Seen>);
}

#[test]
fn review_says_who_compares_the_content() {
    let mut said = Vec::new();
    for binding in [Binding::Source, Binding::FreshRead] {
        let mut desk = Desk::with(100, 30, few(2), Capabilities { binding, ..CAN });
        desk.press("as");
        said.push(desk.sheet());
    }
    insta::assert_snapshot!(said.join("\n\n"), @"
    Send 1 decision to gate
      create_linear_issue · low · creates one issue in Linear
        ✓ 1 approve
          1 stays pending in this batch

        create_linear_issue  support:create_linear_issue
         ✓  Issue number 1

      gate, as kim@acme
      The gate refuses any action that changed after you saw it.


      Press y to send.                                                Esc back
    Nothing is sent yet

    Send 1 decision to gate
      create_linear_issue · low · creates one issue in Linear
        ✓ 1 approve
          1 stays pending in this batch

        create_linear_issue  support:create_linear_issue
         ✓  Issue number 1

      gate, as kim@acme
      The gate compares nothing itself: placet reads each action again just
      before it sends, and misses a change in that instant.


      Press y to send.                                                Esc back
    Nothing is sent yet
    ");
}

#[test]
fn another_action_opens_on_the_first_tab() {
    for tab in ["d", "]]", "["] {
        let mut desk = Desk::new(100, 30, few(3));
        desk.press(tab);
        assert_ne!(desk.model.preview.tab, Tab::Rendered);

        desk.press("n");

        assert_eq!(desk.model.preview.tab, Tab::Rendered, "{tab}");
    }
}

#[test]
fn locked_action_shows_what_is_to_be_read() {
    let input = |n: usize| format!(r#"{{"text":"{}"}}"#, format!("line {n}\\n").repeat(90));
    let one = |n| {
        let mut action = action("1 send_email support high 9", "Long", &input(n));
        action.row.digest = Some(action.digest());
        action
    };
    let mut desk = Desk::new(100, 30, vec![one(1)]);
    desk.press("d");
    desk.changes(vec![one(2)]);
    assert_eq!(desk.model.preview.tab, Tab::Rendered, "its content is another one");

    desk.press("d");
    desk.press("a");
    assert_eq!((desk.staged().as_str(), desk.model.preview.tab), ("", Tab::Rendered), "{}", desk.message());
}
