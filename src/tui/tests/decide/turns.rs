//! Turns: sources that take one decision for all calls of a batch, or decisions only together.

use crate::domain::{Capabilities, PendingAction, Together};
use crate::tui::core::model::Model;
use crate::tui::submit::state::ReviewSheet;
use crate::tui::testing::{CAN, Desk, action, few};

const SAME: Capabilities = Capabilities { together: Together::Same, edit: false, ..CAN };
const ALL: Capabilities = Capabilities { together: Together::All, edit: false, ..CAN };

fn refusal(model: &Model) -> String {
    let Some(sheet) = model.sheet.get::<ReviewSheet>() else { panic!("no review is open") };
    let review = sheet.review.as_ref().unwrap();
    assert!(review.submission.is_none(), "a refused turn must not be sent");
    review.refused[0].why.clone()
}

/// Returns three calls; the second is high-risk and long.
fn with_a_risky_one() -> Vec<PendingAction> {
    let mut calls = few(3);
    let long = format!(r#"{{"text":"{}"}}"#, "word ".repeat(400));
    calls[1] = action("2 create_linear_issue support high 58", "Issue number 2", &long);
    calls
}

#[test]
fn one_key_decides_a_turn_and_one_undo_clears_it() {
    let mut desk = Desk::with(100, 30, few(3), SAME);
    desk.press("ja");
    assert_eq!(desk.staged(), "1A 2A 3A");
    assert_eq!(desk.message(), "the whole turn: 3 calls; All decided. s review and send");

    desk.press("u");
    assert_eq!(desk.staged(), "");
    desk.press("x");
    assert_eq!(desk.staged(), "1X 2X 3X");
    desk.press("x");
    assert_eq!(desk.staged(), "", "the same key again takes it back");
    assert_eq!(desk.message(), "the whole turn: 3 calls, undecided again; u brings back exclude");

    desk.press("a<Backspace>");
    assert_eq!(desk.staged(), "");
    desk.press("Xtoo late<Enter>");
    assert_eq!(desk.staged(), "1X 2X 3X", "the reason applies to every call");
    desk.press("S");
    let Some(sheet) = desk.model.sheet.get::<ReviewSheet>() else { panic!("no review is open") };
    assert_eq!(sheet.review.as_ref().unwrap().submission.as_ref().unwrap().len(), 3);
}

#[test]
fn marking_one_call_marks_its_turn() {
    let mut desk = Desk::with(100, 30, few(3), SAME);
    desk.press("j<Down>");
    desk.press(" a");
    assert_eq!(desk.staged(), "1A 2A 3A");
}

#[test]
fn partly_hidden_turn_is_not_decided() {
    let mut desk = Desk::with(100, 30, few(3), SAME);
    desk.press("/1<Enter>");
    assert_eq!(desk.model.queue.n_shown(), 1, "{}", desk.screen());
    desk.press("a");
    assert_eq!(desk.staged(), "");
    assert_eq!(
        desk.message(),
        "2 of the 3 calls of its turn are hidden by the filter, and one decision covers the whole turn: show them first"
    );

    desk.press("<Esc>");
    desk.press("a");
    assert_eq!(desk.staged(), "1A 2A 3A");
}

#[test]
fn grown_turn_is_refused_until_fully_shown() {
    let mut desk = Desk::with(100, 30, few(2), SAME);
    desk.press("ja");
    assert_eq!(desk.staged(), "1A 2A");
    desk.lists(few(3));
    desk.press("S");
    insta::assert_snapshot!(refusal(&desk.model), @"its turn changed since you decided it: 1 new call; R shows it, then decide again");
    desk.press("<Esc>");

    desk.press("u");
    assert_eq!(desk.staged(), "");
    desk.press("a");
    assert_eq!(desk.staged(), "1A 2A 3A");
}

#[test]
fn turn_with_a_held_or_new_call_is_refused() {
    let mut desk = Desk::with(100, 30, few(2), SAME);
    desk.press("j");
    let mut early = few(3).remove(2);
    early.row.created_at = crate::domain::Timestamp::from_millis(0);
    desk.changes(vec![early]);
    desk.press("a");
    assert_eq!(desk.message(), "its turn grew: 1 new call above; R shows it, then decide the whole turn");

    desk.press("R");
    desk.changes(few(4).split_off(3));
    desk.drawn();
    desk.hurry("a", 249);
    assert_eq!(desk.message(), "its turn grew: 1 new call just arrived; read it, then decide the whole turn");
    assert_eq!(desk.staged(), "");
    desk.wait(100);
    desk.press("a");
    assert_eq!(desk.staged(), "1A 2A 3A 4A");
}

#[test]
fn joint_calls_are_decided_singly_and_sent_together() {
    let mut desk = Desk::with(100, 30, few(3), ALL);
    desk.press("a");
    assert_eq!(desk.staged(), "1A");
    insta::assert_snapshot!(desk.row(0), @" ▾ create_linear_issue  low        turn, 1 of 3 decided");

    desk.press("S");
    insta::assert_snapshot!(refusal(&desk.model), @"its source takes the decisions on a turn only all together, and 2 of this turn are undecided: decide all of it, or leave all of it");
    desk.press("d");
    assert_eq!(desk.here(), "2", "the cursor goes to the first undecided call");

    desk.press("xaS");
    let Some(sheet) = desk.model.sheet.get::<ReviewSheet>() else { panic!("no review is open") };
    assert_eq!(sheet.review.as_ref().unwrap().submission.as_ref().unwrap().len(), 3);
}

#[test]
fn reading_lock_blocks_the_whole_turn() {
    let mut desk = Desk::with(100, 30, with_a_risky_one(), SAME);
    desk.press("ja");
    assert_eq!(desk.staged(), "");
    assert_eq!(
        desk.message(),
        "1 of the 3 calls of this turn: high risk: it was on screen too briefly to be read; look at it, then approve"
    );

    desk.press("x");
    assert_eq!(desk.staged(), "1X 2X 3X");
    desk.press("u");

    desk.press("jjA");
    assert_eq!(desk.staged(), "", "a part of a turn is not staged");
    assert_eq!(
        desk.message(),
        "approved the rest of this batch: 0; skipped: 1 high-risk, 2 to be read, answered or decided as a whole turn"
    );
}
