//! Expiry: counted down, and no decision after it.

use crate::domain::{PendingAction, Status, Timestamp};
use crate::tui::core::msg::What;
use crate::tui::queue::slots::State;
use crate::tui::submit::state::ReviewSheet;
use crate::tui::submit::words;
use crate::tui::testing::{Desk, NOW, decided, few};

const SECOND: i64 = 1_000;
const MINUTE: i64 = 60_000;

/// Returns `n` actions of one batch; the second expires in `left` ms.
fn queue(n: usize, left: i64) -> Vec<PendingAction> {
    let mut actions = few(n);
    actions[1].row.expires_at = Some(Timestamp::from_millis(NOW + left));
    actions
}

fn tick(desk: &mut Desk, after: i64) {
    desk.wait(after);
    desk.say(What::Tick);
    desk.drawn();
}

fn row(desk: &Desk, title: &str) -> String {
    let screen = desk.screen();
    let line = screen.lines().find(|line| line.contains(title)).unwrap_or_else(|| panic!("{screen}"));
    let (row, _) = line.rsplit_once('│').unwrap_or((line, ""));
    row.trim_end().to_owned()
}

#[test]
fn row_counts_down_its_last_hour() {
    for (left, want) in [
        (26 * 60 * MINUTE, " 58 m"),
        (59 * MINUTE, " 58 m left"),
        (5 * MINUTE, " 4 m left"),
        (40 * SECOND, " <1 m left"),
    ] {
        let mut desk = Desk::new(100, 30, queue(3, left));
        desk.press("jjk");

        let row = row(&desk, "Issue number 2");
        assert!(row.starts_with("▌  │ Issue number 2  ") && row.ends_with(want), "{left}: {row}");
    }
}

#[test]
fn preview_counts_seconds_only_at_the_end() {
    let mut desk = Desk::new(100, 30, queue(3, 5 * MINUTE));
    desk.press("j");
    insta::assert_snapshot!(desk.preview_line(0), @"Issue number 2             expires in 4 m");
    // The action becomes read at this tick.
    tick(&mut desk, SECOND);

    desk.model.screen.dirty = false;
    tick(&mut desk, SECOND);
    assert!(!desk.model.screen.dirty, "nothing on screen changed");

    tick(&mut desk, 3 * MINUTE + 20 * SECOND);
    desk.model.screen.dirty = false;
    tick(&mut desk, SECOND);
    insta::assert_snapshot!(desk.preview_line(0), @"Issue number 2        expires in 1 m 36 s");
    assert!(desk.model.screen.dirty, "seconds are counted at the end");
}

#[test]
fn expired_action_cannot_be_staged_before_the_next_tick() {
    let mut desk = Desk::new(100, 30, queue(3, 900));
    desk.press("j");
    desk.wait(700);

    desk.press("a");

    assert_eq!(desk.staged(), "");
    let row = row(&desk, "Issue number 2");
    insta::assert_snapshot!(row, @"▌  │ Issue number 2                             expired");
    assert_eq!(desk.message(), "the row under the cursor just changed: check it, then decide");
    desk.wait(300);
    desk.press("a");
    assert_eq!(desk.message(), "it expired and cannot be decided");
}

#[test]
fn expiry_drops_the_staged_decision_and_keeps_the_row() {
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
    assert_eq!(desk.staged(), "", "undo does not restore a decision on an expired action");
    desk.press("U");
    assert_eq!(desk.staged(), "1A");
}

#[test]
fn next_marks_and_bulk_keys_skip_expired_actions() {
    let mut desk = Desk::new(100, 30, queue(4, MINUTE));
    desk.press("   ");
    assert_eq!(desk.model.queue.marks.len(), 3);
    tick(&mut desk, MINUTE);
    assert!(!desk.model.queue.is_marked(&crate::tui::testing::key("2")));
    desk.press("<Esc>ggj");
    assert_eq!(desk.here(), "1");
    desk.press("n");
    assert_eq!(desk.here(), "3", "2 has expired");

    desk.press("A");

    assert_eq!(desk.staged(), "1A 3A 4A");
}

#[test]
fn review_closes_when_one_of_its_actions_expires() {
    let mut desk = Desk::new(100, 30, queue(3, MINUTE));
    desk.press("aas");
    assert!(desk.model.sheet.is::<ReviewSheet>());

    tick(&mut desk, MINUTE);

    assert_eq!(desk.message(), "review closed: Issue number 2 expired; your staged decision was dropped");
    assert!(desk.model.sheet.is_none());
}

#[test]
fn review_warns_of_actions_about_to_expire() {
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
fn source_with_a_late_clock_still_decides_the_outcome() {
    let mut desk = Desk::new(100, 30, queue(3, MINUTE));
    desk.press("j");
    tick(&mut desk, MINUTE);

    // The source still lists it as pending; here it has expired.
    desk.changes(queue(3, MINUTE));
    desk.press("a");
    assert_eq!(desk.staged(), "");

    desk.changes(vec![decided(queue(3, MINUTE).remove(1), Status::Approved, "lee")]);
    insta::assert_snapshot!(row(&desk, "Issue number 2"), @"▌  │ Issue number 2                            approved");
}

#[test]
fn expired_held_arrival_is_not_counted() {
    let mut desk = Desk::new(100, 30, few(1));
    desk.press("k");
    let mut late = queue(2, MINUTE).remove(1);
    late.row.created_at = Timestamp::from_millis(NOW - 90 * MINUTE);
    desk.changes(vec![late]);
    assert_eq!((desk.model.list.stats.pending, desk.model.queue.held.len()), (2, 1));

    tick(&mut desk, MINUTE);
    assert_eq!(desk.model.list.stats.pending, 1);

    desk.press("R");
    assert!(!desk.slot("2").is_pending(), "it stays expired when it is taken in");
}
