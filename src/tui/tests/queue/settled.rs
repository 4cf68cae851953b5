//! Rows that are settled already.

use crate::domain::Status;
use crate::tui::testing::{Desk, action, decided, few};

#[test]
fn row_that_others_settled_leaves_after_a_minute() {
    let mut desk = Desk::new(100, 30, few(5));
    desk.press("jj");
    let on = desk.here();
    desk.changes(vec![
        decided(few(5).remove(0), Status::Rejected, "lee"),
        decided(few(5).remove(4), Status::Executed, "lee"),
    ]);
    desk.rest(59_000);
    assert!(
        desk.list().contains("Issue number 1") && desk.list().contains("Issue number 5"),
        "{}",
        desk.list()
    );

    desk.rest(3_000);

    assert!(
        !desk.list().contains("Issue number 1") && !desk.list().contains("Issue number 5"),
        "{}",
        desk.list()
    );
    assert_eq!(desk.here(), on, "the cursor stays on its row");
}

#[test]
fn settled_row_under_the_cursor_stays_until_the_cursor_leaves() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("j");
    desk.changes(vec![decided(few(3).remove(1), Status::Rejected, "lee")]);
    desk.rest(120_000);
    assert_eq!(desk.here(), "2", "{}", desk.list());

    desk.press("k");

    assert!(!desk.list().contains("Issue number 2"), "{}", desk.list());
}

#[test]
fn cursor_goes_from_a_header_to_the_only_row_left() {
    for is_open in [false, true] {
        let mut actions: Vec<_> =
            ["m1", "m2"].map(|id| action(&format!("{id} send_email crm low 500"), "Mail", "{}")).into();
        actions.extend(few(2));
        let mut desk = Desk::new(100, 30, actions);
        desk.press("G");
        assert_eq!(desk.here(), "2", "{}", desk.list());
        desk.press("h");
        if is_open {
            desk.press("l");
        }
        assert_eq!(desk.here(), "-");

        desk.changes(vec![decided(few(2).remove(0), Status::Rejected, "lee")]);
        desk.press("R");

        assert_eq!(desk.here(), "2", "{}", desk.list());
    }
}

#[test]
fn hint_of_a_group_names_what_its_key_does() {
    let mut desk = Desk::new(100, 30, few(2));
    desk.press("h");
    for (key, does) in [("l", "l unfold"), ("h", "h fold")] {
        desk.press("a");
        assert!(desk.status_line().contains(does), "{}", desk.status_line());
        desk.press(key);
    }
}

#[test]
fn own_result_stays_until_a_reload() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("as");
    desk.wait(500);
    desk.press("y");
    desk.accepts();
    desk.changes(vec![decided(few(3).remove(0), Status::Executed, "kim")]);
    desk.rest(120_000);
    assert!(desk.list().contains("Issue number 1"), "{}", desk.list());

    desk.press("R");

    assert!(!desk.list().contains("Issue number 1"), "{}", desk.list());
}
