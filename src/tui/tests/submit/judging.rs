//! Help for judging: duplicates of pending or approved actions, and sums.

use crate::domain::{Capabilities, PendingAction, Status, Timestamp};
use crate::inbox::Ran;
use crate::tui::core::msg::What;
use crate::tui::testing::{CAN, Desk, NOW, action, decided, key};

fn refund(id: &str, minutes: i64, customer: &str, amount: &str) -> PendingAction {
    let input = format!(r#"{{"amount":{amount},"currency":"EUR","customer":"{customer}","note":"{id}"}}"#);
    let title = format!("Refund {amount} EUR to {customer}");
    action(&format!("{id} refund_payment refunds low {minutes}"), &title, &input)
}

/// Returns two equal refunds, apart from an insignificant field, and another one.
fn three() -> Vec<PendingAction> {
    vec![
        refund("a1", 40, "ada@a.example", "12.50"),
        refund("a2", 30, "ada@a.example", "12.50"),
        refund("b1", 20, "bob@b.example", "9.00"),
    ]
}

fn rows_with(desk: &Desk, words: &str) -> usize {
    desk.screen().lines().filter(|line| line.contains(words)).count()
}

#[test]
fn duplicates_are_marked_until_one_is_decided() {
    let mut desk = Desk::new(160, 45, three());
    assert_eq!(rows_with(&desk, "▲ same as another"), 2, "{}", desk.screen());
    insta::assert_snapshot!(desk.preview_line(1), @"! another pending action has the same title");

    let [first, second, third] = three().try_into().unwrap();
    desk.lists(vec![decided(first.clone(), Status::Rejected, "lee"), second.clone(), third.clone()]);
    assert_eq!(rows_with(&desk, "▲ same"), 0, "an excluded action is no duplicate: {}", desk.screen());

    let mut approved = decided(first, Status::Executed, "lee");
    approved.row.resolved_at = Some(Timestamp::from_millis(NOW - 12 * 60_000));
    let mut desk = Desk::new(160, 45, three());
    desk.lists(vec![approved, second, third]);
    assert_eq!(rows_with(&desk, "▲ same as one approved"), 1, "{}", desk.screen());
    desk.press("jR");
    assert_eq!(
        rows_with(&desk, "▲ same as one approved"),
        1,
        "after its row left the list: {}",
        desk.screen()
    );
}

#[test]
fn duplicates_approved_within_a_day_come_from_the_source() {
    let ran = |id: &str, hours: i64| Ran {
        key: key(id),
        workspace: Some("acme".into()),
        tool: "refund_payment".into(),
        title: "Refund 9.00 EUR to bob@b.example".into(),
        digest: None,
        at: Timestamp::from_millis(NOW - hours * 3_600_000),
    };
    let mut desk = Desk::new(160, 45, three());
    desk.press("jj");
    for (id, hours, why) in [("old", 25, "more than a day ago"), ("b1", 1, "the action itself")] {
        desk.say(What::Ran(vec![ran(id, hours)]));
        assert_eq!(rows_with(&desk, "▲ same as one"), 0, "{why}: {}", desk.screen());
    }
    desk.say(What::Ran(vec![Ran { workspace: Some("other".into()), ..ran("b9", 1) }]));
    assert_eq!(rows_with(&desk, "▲ same as one"), 0, "in another workspace: {}", desk.screen());

    let mut desk = Desk::new(160, 45, three());
    desk.press("jj");
    desk.say(What::Ran(vec![ran("b0", 3), ran("b7", 20)]));
    assert_eq!(rows_with(&desk, "▲ same as one approved"), 1, "{}", desk.screen());
    insta::assert_snapshot!(desk.preview_line(1), @"! the same title was approved 3 h ago");
}

#[test]
fn different_actions_are_not_duplicates() {
    let one = |id: &str, tool: &str, title: &str| action(&format!("{id} {tool} x low 9"), title, "{}");
    let mut elsewhere = one("6", "act", "act Hello");
    elsewhere.row.workspace = Some("other".into());
    let desk = Desk::new(
        160,
        45,
        vec![
            one("1", "scrap", "scrap machine=lathe-2"),
            one("2", "scrap", "scrap machine=lathe-2"),
            one("3", "act", "act Hello"),
            one("4", "deed", "act Hello"),
            elsewhere,
        ],
    );
    assert_eq!(rows_with(&desk, "▲ same"), 0, "{}", desk.screen());

    let theirs = Capabilities { titled: false, ..CAN };
    let desk = Desk::with(160, 45, three(), theirs);
    assert_eq!(rows_with(&desk, "▲ same"), 0, "titles of the source are not compared: {}", desk.screen());
}

#[test]
fn review_shows_sums_and_possible_duplicates() {
    let mut desk = Desk::new(100, 30, three());
    desk.press("aaaS");
    insta::assert_snapshot!(desk.sheet(), @"
    Send 3 decisions to gate
      refund_payment · low · sends money · cannot be undone
      Approving 34.00 EUR
        ✓ 3 approve

        ! same as      Refund 12.50 EUR to ada@a.example   also approved here
        ! same as      Refund 12.50 EUR to ada@a.example   also approved here

        refund_payment  refunds:refund_payment
         ✓  Refund 12.50 EUR to ada@a.example
         ✓  Refund 12.50 EUR to ada@a.example
         ✓  Refund 9.00 EUR to bob@b.example

      gate, as kim@acme
      The gate refuses any action that changed after you saw it.


      Press y to send.                                                Esc back
    Nothing is sent yet
    ");

    let mut desk = Desk::new(100, 30, three());
    desk.press("axaS");
    // Excluding one of two duplicates shows that the reviewer noticed.
    insta::assert_snapshot!(desk.sheet(), @"
    Send 3 decisions to gate
      refund_payment · low · sends money · cannot be undone
      Approving 21.50 EUR
        ✓ 2 approve
        ✗ 1 exclude   rejected, final

        refund_payment  refunds:refund_payment
         ✓  Refund 12.50 EUR to ada@a.example
         ✗  Refund 12.50 EUR to ada@a.example
         ✓  Refund 9.00 EUR to bob@b.example

      gate, as kim@acme
      The gate refuses any action that changed after you saw it.


      Press y to send.                                                Esc back
    Nothing is sent yet
    ");

    let mut desk = Desk::new(100, 30, three());
    desk.press("aS");
    insta::assert_snapshot!(desk.sheet_line(6), @"    ! same as      Refund 12.50 EUR to ada@a.example   still pending");
}

#[test]
fn status_line_shows_the_sum_of_marked_actions() {
    let mut desk = Desk::new(100, 30, three());
    desk.press(" j ");
    desk.say(What::Tick);
    insta::assert_snapshot!(desk.status_line(), @" 2 marked: 21.50 EUR");
}

#[test]
fn enter_in_context_goes_to_the_duplicate() {
    let mut desk = Desk::new(100, 30, three());
    desk.press("]]]<Enter>");
    assert_eq!(desk.model.here().map(|slot| slot.entry.key.clone()), Some(key("a2")), "{}", desk.screen());
}
