//! Undo send: a confirmed submission can be recalled before it is sent.

use std::time::Duration;

use crate::domain::{Outcome, Status, SubmissionId};
use crate::inbox::Problem;
use crate::tui::core::msg::{Effect, What};
use crate::tui::core::router::end;
use crate::tui::queue::slots::State;
use crate::tui::testing::{Desk, decided, few, key};

/// Returns a desk that has just confirmed an approval and an exclusion.
fn confirmed() -> Desk {
    let mut desk = Desk::new(100, 30, few(4));
    desk.model.settings.hold = Duration::from_secs(3);
    confirm(&mut desk);
    desk
}

fn confirm(desk: &mut Desk) {
    desk.press("axs");
    desk.wait(500);
    desk.press("y");
}

fn recalls(desk: &Desk) -> usize {
    desk.effects.iter().filter(|effect| matches!(effect, Effect::Recall(_))).count()
}

#[test]
fn message_does_not_cover_the_undo_countdown() {
    let mut desk = confirmed();

    desk.model.warn("gate gave no usable answer");

    insta::assert_snapshot!(desk.status_line(), @" sending 2 decisions in 3 s   u takes them back                                               saved");
}

#[test]
fn held_submission_is_sent_after_the_hold() {
    let mut desk = confirmed();
    insta::assert_snapshot!(desk.status_line(), @" sending 2 decisions in 3 s   u takes them back                                               saved");
    assert!(desk.submitted.is_empty());
    assert!(desk.effects.iter().any(|effect| matches!(effect, Effect::Hold { left_pending: 2, .. })));
    assert!(desk.effects.contains(&Effect::WakeIn(3_000)));

    desk.wait(1_900);
    desk.say(What::Tick);
    insta::assert_snapshot!(desk.status_line(), @" sending 2 decisions in 2 s   u takes them back                                               saved");
    assert!(desk.submitted.is_empty());
    desk.wait(1_200);
    desk.say(What::Wake);

    assert_eq!((desk.submitted.len(), desk.submitted[0].len()), (1, 2));
    assert_eq!(desk.slot("1").state, State::Sending);
    desk.accepts();
    assert_eq!(desk.staged(), "");
}

#[test]
fn undo_recalls_first_and_restages_everything() {
    let mut desk = confirmed();

    desk.press("u");

    assert_eq!((desk.staged().as_str(), recalls(&desk)), ("1A 2X", 1));
    assert_eq!(desk.message(), "recalled: nothing was sent, 2 decisions staged as before");
    assert_eq!((&desk.slot("1").state, &desk.slot("2").state), (&State::Pending, &State::Pending));
    desk.wait(60_000);
    desk.say(What::Wake);
    assert!(desk.submitted.is_empty());
    desk.press("u");
    assert_eq!(desk.staged(), "1A", "the second undo undoes a staging step");
}

#[test]
fn recalled_submission_can_be_confirmed_again() {
    let mut desk = confirmed();
    desk.press("us");
    desk.wait(500);

    desk.press("y");
    desk.wait(3_000);
    desk.say(What::Wake);

    assert_eq!(desk.submitted.len(), 1);
}

#[test]
fn submission_without_a_hold_is_sent_at_once() {
    let mut desk = Desk::new(100, 30, few(4));

    confirm(&mut desk);

    assert_eq!(desk.submitted.len(), 1);
    assert!(!desk.effects.iter().any(|effect| matches!(effect, Effect::Hold { .. })));
}

#[test]
fn quitting_recalls_a_held_submission() {
    for quit in ["q<Enter>", "<C-c><C-c>"] {
        let mut desk = confirmed();
        desk.press(quit);
        assert!(desk.effects.contains(&Effect::Quit) && desk.submitted.is_empty(), "{quit}");
        assert_eq!((recalls(&desk), desk.model.unsent()), (1, 2));
    }
    let mut desk = confirmed();
    let effects = end(&mut desk.model);
    assert_eq!(effects, [Effect::Recall(SubmissionId::new("sub-1"))], "a signal");
    desk.wait(5_000);
    desk.say(What::Wake);
    assert!(desk.submitted.is_empty());
    assert_eq!((desk.model.unsent(), desk.model.under_way()), (2, 0));
}

#[test]
fn suspending_and_undo_on_a_tiny_screen_recall() {
    let mut desk = confirmed();
    desk.press("<C-z>");
    assert_eq!((recalls(&desk), desk.effects.last()), (1, Some(&Effect::Suspend)));

    let mut desk = confirmed();
    desk.say(What::Resize(20, 5));
    desk.press("u");
    assert_eq!(recalls(&desk), 1);
}

#[test]
fn hold_begins_when_the_journal_saved_it() {
    let mut desk = Desk::new(100, 30, few(4));
    desk.model.settings.hold = Duration::from_secs(3);
    desk.press("as");
    desk.wait(500);
    desk.answers = false;
    desk.press("y");
    desk.wait(9_000);
    desk.say(What::Wake);
    assert!(desk.submitted.is_empty());

    desk.say(What::Held(SubmissionId::new("sub-1"), Ok(())));
    desk.wait(2_900);
    desk.say(What::Wake);
    assert!(desk.submitted.is_empty());
    desk.wait(100);
    desk.say(What::Wake);
    assert_eq!(desk.submitted.len(), 1);
}

#[test]
fn recall_before_the_save_also_recalls_in_the_journal() {
    let mut desk = Desk::new(100, 30, few(4));
    desk.model.settings.hold = Duration::from_secs(3);
    desk.press("as");
    desk.wait(500);
    desk.answers = false;
    desk.press("yu");
    assert_eq!((desk.staged().as_str(), recalls(&desk)), ("1A", 0));

    desk.say(What::Held(SubmissionId::new("sub-1"), Ok(())));

    assert_eq!(recalls(&desk), 1);
}

#[test]
fn failed_save_restages_everything() {
    let mut desk = Desk::new(100, 30, few(4));
    desk.model.settings.hold = Duration::from_secs(3);
    desk.press("as");
    desk.wait(500);
    desk.answers = false;
    desk.press("y");

    let problem = Problem { source: None, what: "the journal is full".to_owned(), why: None };
    desk.say(What::Held(SubmissionId::new("sub-1"), Err(problem)));

    assert_eq!((desk.staged().as_str(), &desk.slot("1").state), ("1A", &State::Pending));
    assert_eq!(desk.message(), "nothing was sent, everything stays staged: the journal is full");
}

#[test]
fn held_actions_are_locked_others_can_be_decided() {
    let mut desk = confirmed();
    assert_eq!(desk.here(), "3");

    desk.press("akkx");
    assert_eq!(desk.staged(), "1A 2X 3A");
    assert_eq!(desk.message(), "2 decisions about to be sent (u recalls); new decisions go next");
    desk.press("s");
    assert!(desk.model.sheet.is_none(), "one submission at a time");
    desk.press("U");
    desk.wait(3_000);
    desk.say(What::Tick);

    assert_eq!(desk.submitted[0].len(), 2);
    desk.accepts();
    assert_eq!(desk.staged(), "3A", "it goes with the next submission");
}

#[test]
fn recall_does_not_restage_actions_decided_elsewhere() {
    let mut desk = confirmed();

    desk.changes(vec![decided(few(1).remove(0), Status::Approved, "lee")]);
    assert_eq!(desk.message(), "Issue number 1 was decided by lee; your staged decision was dropped");
    desk.press("u");
    assert_eq!(desk.staged(), "2X");
    assert!(matches!(desk.slot("1").state, State::Settled(_)));

    let mut desk = confirmed();
    desk.changes(vec![decided(few(1).remove(0), Status::Approved, "lee")]);
    desk.wait(3_000);
    desk.say(What::Wake);
    desk.reports(|_| Outcome::Skipped { status: Some(Status::Approved), by: Some("lee".into()) });
    assert_eq!(
        desk.model.submit.last_report.as_ref().unwrap().report.counts().skipped,
        2,
        "the source says so"
    );
    assert!(desk.model.decide.draft.get(&key("1")).is_none());
}

#[test]
fn failed_submission_is_not_called_sent_and_says_why() {
    let mut desk = Desk::new(80, 24, few(4));
    desk.press("axs");
    desk.wait(500);
    desk.press("y");
    let why = "the source cannot be reached: its certificate is not accepted: it has expired; renew it there";

    desk.reports(|_| Outcome::Failed { why: why.into() });

    insta::assert_snapshot!(desk.status_line(), @" gr  2 failed · nothing landed, all stay staged · 0 approved · 0 rejected…saved");
    desk.press("gr");
    insta::assert_snapshot!(desk.sheet(), @"
Nothing landed: 2 decisions  14:22
  batch                             approved  rejected   skipped    failed
  support:create_linear_issue              0         0         0         2

  ✓ Issue number 1  failed
      the source cannot be reached: its certificate is not accepted: it
      has expired; renew it there
  ✗ Issue number 2  failed
      the source cannot be reached: its certificate is not accepted: it
      has expired; renew it there
  2 stay pending

  Enter closes   w writes a file   y copies
everything stays staged
");
    assert_eq!(desk.staged(), "1A 2X");
}
