//! What expires: counted down, and never offered after it has passed.

use crate::domain::{PendingAction, Status, Timestamp};
use crate::tui::core::modal::Modal;
use crate::tui::core::msg::What;
use crate::tui::queue::slots::State;
use crate::tui::submit::words;
use crate::tui::testing::{Desk, NOW, decided, few};

const SECOND: i64 = 1_000;
const MINUTE: i64 = 60_000;

/// Actions of one batch, the second one with so long to live.
fn queue(n: usize, left: i64) -> Vec<PendingAction> {
    let mut actions = few(n);
    actions[1].row.expires_at = Some(Timestamp::from_millis(NOW + left));
    actions
}

/// So long after the beginning, a second goes by.
fn tick(desk: &mut Desk, after: i64) {
    desk.wait(after);
    desk.say(What::Tick);
    desk.drawn();
}

fn row(desk: &Desk, title: &str) -> String {
    let screen = desk.screen();
    let line = screen.lines().find(|line| line.contains(title)).unwrap_or_else(|| panic!("{screen}"));
    line.split('│').next().unwrap_or_default().trim_end().to_owned()
}

#[test]
fn a_row_counts_its_last_hour_down_in_place_of_its_age() {
    for (left, want) in [
        (26 * 60 * MINUTE, " 58 m"),
        (59 * MINUTE, " 58 m left"),
        (5 * MINUTE, " 4 m left"),
        (40 * SECOND, " <1 m left"),
    ] {
        let mut desk = Desk::new(100, 30, queue(3, left));
        desk.press("jjk");

        let row = row(&desk, "Issue number 2");
        assert!(row.starts_with("▌ · low  Issue number 2  ") && row.ends_with(want), "{left}: {row}");
    }
}

#[test]
fn the_preview_says_when_and_counts_seconds_only_at_the_end() {
    let mut desk = Desk::new(100, 30, queue(3, 5 * MINUTE));
    desk.press("j");
    insta::assert_snapshot!(desk.preview_line(0), @"Issue number 2             expires in 4 m");
    // It is read by then.
    tick(&mut desk, SECOND);

    desk.model.screen.dirty = false;
    tick(&mut desk, SECOND);
    assert!(!desk.model.screen.dirty, "nothing on screen is another one");

    tick(&mut desk, 3 * MINUTE + 20 * SECOND);
    desk.model.screen.dirty = false;
    tick(&mut desk, SECOND);
    insta::assert_snapshot!(desk.preview_line(0), @"Issue number 2        expires in 1 m 36 s");
    assert!(desk.model.screen.dirty, "seconds are counted now");
}

#[test]
fn what_ran_out_cannot_be_staged_even_before_a_second_went_by() {
    let mut desk = Desk::new(100, 30, queue(3, 900));
    desk.press("j");
    desk.wait(700);

    desk.press("a");

    assert_eq!(desk.staged(), "");
    let row = row(&desk, "Issue number 2");
    insta::assert_snapshot!(row, @"▌   low  Issue number 2                         expired");
    assert_eq!(desk.message(), "the row under the cursor just changed: check it, then decide");
    desk.wait(300);
    desk.press("a");
    assert_eq!(desk.message(), "it expired and cannot be decided");
}

#[test]
fn a_staged_decision_is_dropped_with_a_message_and_the_row_stays() {
    let mut desk = Desk::new(100, 30, queue(3, MINUTE));
    desk.press("aa");
    assert_eq!(desk.staged(), "1A 2A");

    tick(&mut desk, MINUTE);

    assert_eq!(desk.staged(), "1A");
    assert_eq!(desk.message(), "Issue number 2 expired; your staged decision was dropped");
    assert!(
        matches!(&desk.slot("2").state, State::Settled(settled) if settled.status == Some(Status::Expired))
    );
    assert_eq!(desk.model.list.stats.pending, 2);
    desk.press("u");
    assert_eq!(desk.staged(), "", "undo brings no decision back that cannot be made any more");
    desk.press("U");
    assert_eq!(desk.staged(), "1A");
}

#[test]
fn next_undecided_marks_and_the_rest_of_the_batch_leave_it_out() {
    let mut desk = Desk::new(100, 30, queue(4, MINUTE));
    desk.press("   ");
    assert_eq!(desk.model.queue.marks.len(), 3);
    tick(&mut desk, MINUTE);
    assert!(!desk.model.queue.is_marked(&crate::tui::testing::key("2")));
    desk.press("<Esc>ggj");
    assert_eq!(desk.here(), "1");
    desk.press("n");
    assert_eq!(desk.here(), "3", "2 is over");

    desk.press("A");

    assert_eq!(desk.staged(), "1A 3A 4A");
}

#[test]
fn an_open_review_closes_when_something_in_it_runs_out() {
    let mut desk = Desk::new(100, 30, queue(3, MINUTE));
    desk.press("aas");
    assert!(matches!(desk.model.modal, Some(Modal::Review(_))));

    tick(&mut desk, MINUTE);

    assert_eq!(desk.message(), "review closed: Issue number 2 expired; your staged decision was dropped");
    assert!(desk.model.modal.is_none());
}

#[test]
fn the_review_warns_of_what_runs_out_soon() {
    let mut desk = Desk::new(100, 30, queue(3, 9 * MINUTE));
    desk.press("aas");

    assert!(
        desk.screen().contains(&words::warned(words::EXPIRES_SOON, "Issue number 2")),
        "{}",
        desk.screen()
    );

    let mut desk = Desk::new(100, 30, queue(3, 30 * MINUTE));
    desk.press("aas");
    assert!(!desk.screen().contains(words::EXPIRES_SOON), "{}", desk.screen());
}

#[test]
fn a_source_whose_clock_is_behind_gets_no_decision_but_the_last_word() {
    let mut desk = Desk::new(100, 30, queue(3, MINUTE));
    desk.press("j");
    tick(&mut desk, MINUTE);

    // It still lists it as pending: to us it is over.
    desk.changes(queue(3, MINUTE));
    desk.press("a");
    assert_eq!(desk.staged(), "");

    // Somebody made it in time.
    desk.changes(vec![decided(queue(3, MINUTE).remove(1), Status::Approved, "lee")]);
    insta::assert_snapshot!(row(&desk, "Issue number 2"), @"▌   low  Issue number 2                        approved");
}

#[test]
fn arrival_that_expires_while_it_waits_is_counted_no_more() {
    let mut desk = Desk::new(100, 30, few(1));
    desk.press("k");
    let mut late = queue(2, MINUTE).remove(1);
    late.row.created_at = Timestamp::from_millis(NOW - 90 * MINUTE);
    desk.changes(vec![late]);
    assert_eq!((desk.model.list.stats.pending, desk.model.queue.n_held()), (2, 1));

    tick(&mut desk, MINUTE);
    assert_eq!(desk.model.list.stats.pending, 1);

    desk.press("R");
    assert!(!desk.slot("2").is_pending(), "and it is not offered when it is taken in");
}
