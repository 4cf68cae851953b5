//! Keys for thousands of actions run in chunks; keys that do not touch the draft run between chunks.

use crate::domain::{PendingAction, Status, Step};
use crate::journal::Write;
use crate::rounds::{Random, rounds};
use crate::tui::core::msg::What;
use crate::tui::testing::{Desk, action, decided, key_of};

/// Enough rows for several chunks.
const MANY: usize = 11_000;

fn issue(i: usize) -> PendingAction {
    let title = format!("Issue number {i}");
    action(&format!("pa-{i:05} create_linear_issue support low {i}"), &title, r#"{"title":"x"}"#)
}

fn many(rows: usize) -> Desk {
    Desk::new(100, 30, (0..rows).map(issue).collect())
}

fn until_done(desk: &mut Desk) {
    while desk.model.decide.job.is_some() {
        desk.say(What::Wake);
    }
}

fn steps(desk: &Desk) -> Vec<&Step> {
    let mut steps = Vec::new();
    for write in &desk.saved {
        if let Write::Step { step, .. } = write {
            steps.push(step);
        }
    }
    steps
}

#[test]
fn bulk_key_runs_in_chunks_and_saves_one_step() {
    let mut desk = many(MANY);

    desk.press("*x");
    let begun = desk.model.decide.draft.len();
    assert!(begun > 0 && begun < MANY, "{begun}");
    assert!(steps(&desk).is_empty(), "saved only when every action is decided");
    assert!(desk.status_line().ends_with("saving"), "{}", desk.status_line());
    let before = desk.here();
    desk.press("j");
    assert_ne!(desk.here(), before, "the cursor moves");
    assert_eq!(desk.model.decide.draft.len(), begun);
    until_done(&mut desk);

    assert_eq!(desk.model.decide.draft.len(), MANY);
    assert_eq!(steps(&desk).iter().map(|step| step.changes.len()).collect::<Vec<_>>(), [MANY]);
    assert!(desk.model.queue.marks.is_empty());
    assert!(desk.status_line().ends_with("saved"), "{}", desk.status_line());
}

#[test]
fn help_opens_between_chunks() {
    let mut desk = many(MANY);
    desk.press("*x");
    let begun = desk.model.decide.draft.len();

    desk.press("]wpp?");
    assert!(desk.model.screen.overlay.is_some());
    desk.press("j<Esc>");

    assert_eq!(desk.model.decide.draft.len(), begun, "these keys do not read the draft");
    until_done(&mut desk);
    assert_eq!(desk.model.decide.draft.len(), MANY);
}

#[test]
fn suspending_from_help_saves_the_whole_step() {
    let mut desk = many(MANY);
    desk.press("*x?");

    desk.press("<C-z>");

    assert_eq!(steps(&desk).len(), 1);
}

#[test]
fn burst_begins_no_bulk_step() {
    let mut desk = many(MANY);
    desk.press("*");

    desk.wait(350);
    desk.hurry("xjj", 2);

    assert!(desk.model.decide.job.is_none());
    assert!(desk.model.decide.draft.is_empty());
    assert_eq!(steps(&desk), Vec::<&Step>::new());
}

#[test]
fn committed_text_does_not_revert_an_earlier_key() {
    let mut desk = many(MANY);
    desk.press("*x?");

    desk.wait(350);
    desk.hurry("kim", 2);
    until_done(&mut desk);

    assert_eq!(desk.model.decide.draft.len(), MANY);
}

#[test]
fn staging_key_waits_for_the_previous_bulk_step() {
    let mut desk = many(MANY);

    desk.press("*xu");
    assert_eq!(steps(&desk).len(), 1, "the step is saved before it is undone");
    let left = desk.model.decide.draft.len();
    assert!(left > 0 && left < MANY, "{left}");
    desk.press("U");
    assert_eq!(desk.saved.last(), Some(&Write::Position(0)), "it is undone before it is redone");
    until_done(&mut desk);

    assert_eq!(desk.model.decide.draft.len(), MANY);
    assert_eq!(desk.saved.last(), Some(&Write::Position(1)));
}

#[test]
fn action_decided_elsewhere_during_a_bulk_key_is_not_staged() {
    let mut desk = many(MANY);
    desk.press("*x");

    desk.changes(vec![decided(issue(MANY - 1), Status::Approved, "lee")]);

    assert!(desk.model.decide.job.is_none());
    assert_eq!(desk.model.decide.draft.len(), MANY - 1);
    assert_eq!(desk.model.decide.draft.get(&key_of(&issue(MANY - 1))), None);
}

#[test]
fn result_does_not_depend_on_chunk_timing() {
    let mut random = Random::seeded();
    for round in 0..rounds(1, 40) {
        let (mut waits, mut hurries) = (many(5_100), many(5_100));
        for _ in 0..8 {
            let keys = ["*", "*x", "a", "*a", "u", "U", "j", "G", "*<Backspace>"][random.below(9)];
            waits.press(keys);
            until_done(&mut waits);
            hurries.press(keys);
            (0..random.below(2)).for_each(|_| hurries.say(What::Wake));
        }
        until_done(&mut hurries);

        // `assert_eq!` would print thousands of rows.
        assert!(hurries.model.decide.draft == waits.model.decide.draft, "round {round}");
        assert_eq!(hurries.model.queue.marked(), waits.model.queue.marked(), "round {round}");
        let decisions = |desk: &Desk| {
            let is_about_deciding = |write: &&Write| !write.is_about_looking();
            desk.saved.iter().filter(is_about_deciding).cloned().collect::<Vec<_>>()
        };
        assert!(decisions(&hurries) == decisions(&waits), "round {round}");
    }
}
