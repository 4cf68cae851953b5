//! Before the journal is read, and when reading fails.

use crate::domain::{BatchId, BatchKey, Decision, Draft, Staged, Timestamp};
use crate::inbox::Problem;
use crate::journal::{Restored, Write};
use crate::tui::core::msg::What;
use crate::tui::testing::{CAN, Desk, few, key, source};

fn unread() -> Desk {
    let mut desk = Desk::unstarted(100, 30, CAN);
    desk.lists(few(3));
    desk
}

fn steps(desk: &Desk) -> usize {
    desk.saved.iter().filter(|write| !write.is_about_looking()).count()
}

/// The second action is excluded.
fn one_staged() -> Draft {
    let mut draft = Draft::default();
    let batch = BatchKey::Batch(source(), BatchId::new("support:create_linear_issue"));
    let staged =
        Staged { decision: Decision::REJECT, batch, digest: None, terms: None, at: Timestamp::default() };
    draft.stage([(key("2"), Some(staged))]);
    draft
}

#[test]
fn staging_waits_for_the_journal() {
    let mut desk = unread();

    for keys in ["a", "x", "A", "c", "u", "e", " a"] {
        desk.press(keys);
        assert_eq!((desk.staged().as_str(), steps(&desk)), ("", 0), "{keys}");
        assert!(desk.model.sheet.is_none(), "{keys}");
    }
    assert_eq!(desk.message(), "one moment: still reading your staged decisions");
    desk.restored(Restored { draft: one_staged(), ..Restored::default() });

    assert_eq!(desk.staged(), "2X");
    assert_eq!(desk.message(), "1 staged decision from last time; S reviews it");
    desk.press("a");
    assert_eq!(desk.staged(), "1A 2X");
    assert!(matches!(desk.saved.last(), Some(Write::Step { position: 2, .. })));
}

#[test]
fn second_inbox_says_that_the_folder_is_shared() {
    let mut desk = unread();
    let shared = || Restored { is_shared: true, ..Restored::default() };
    desk.restored(shared());
    assert_eq!(desk.message(), "another inbox uses this state folder; neither shows what the other stages");

    let mut desk = unread();
    desk.restored(Restored { draft: one_staged(), ..shared() });
    assert!(
        desk.message().ends_with("; 1 staged decision from last time; S reviews it"),
        "{}",
        desk.message()
    );
}

#[test]
fn where_the_journal_cannot_be_read_the_inbox_goes_on() {
    let mut desk = unread();
    let problem = Problem { source: None, what: "the disk is gone".to_owned(), why: None };

    desk.say(What::Restored(Err(problem)));
    desk.press("a");

    assert_eq!(desk.staged(), "1A");
}

#[test]
fn status_line_says_not_saved_until_all_writes_succeed() {
    let mut desk = unread();
    desk.restored(Restored::default());
    desk.drawn();
    // Reading the action saves a seen-record, which must happen before the failures.
    desk.wait(1_000);
    desk.drawn();
    let failed = || {
        let problem = Problem { source: None, what: "the disk is full".to_owned(), why: None };
        What::Saved { saves: 0, answer: Err(problem) }
    };

    desk.say(failed());
    assert_eq!(desk.message(), "not saved yet: the disk is full");
    desk.press("<Esc>");
    desk.say(failed());
    assert_eq!(desk.message(), "", "reported once");

    insta::assert_snapshot!(desk.status_line(), @"                                                                        NOT SAVED: the disk is full");
    desk.say(What::Saved { saves: 1, answer: Ok(()) });
    assert_eq!(desk.status_line(), "");
}
