//! Staging: toggles, guards, locks, undo, and writes to the journal.

use crate::domain::{Capabilities, Decision, ReasonRule};
use crate::journal::Write;
use crate::tui::core::msg::{Effect, What};
use crate::tui::testing::{CAN, Desk, action, few, key};

#[test]
fn approve_and_exclude_toggle_and_send_nothing() {
    let mut desk = Desk::new(100, 30, few(3));

    desk.press("ax");
    assert_eq!((desk.staged().as_str(), desk.here().as_str()), ("1A 2X", "3"));
    desk.press("kka");
    assert_eq!((desk.staged().as_str(), desk.here().as_str()), ("2X", "1"), "clearing leaves the cursor");

    assert!(desk.submitted.is_empty());
    assert!(!desk.effects.iter().any(|effect| matches!(effect, Effect::Submit { .. })));
}

#[test]
fn every_step_is_saved_with_its_position() {
    let mut desk = Desk::new(100, 30, few(3));

    desk.press("axu");

    let positions: Vec<usize> = desk
        .saved
        .iter()
        .filter_map(|write| match write {
            Write::Step { position, .. } | Write::Position(position) => Some(*position),
            _ => None,
        })
        .collect();
    assert_eq!(positions, [1, 2, 1]);
    assert_eq!(desk.staged(), "1A");
    desk.press("U");
    assert_eq!(desk.staged(), "1A 2X");
    assert_eq!(desk.model.decide.tally.total.total(), 2);
}

#[test]
fn decision_records_the_digest_on_screen() {
    let mut desk = Desk::new(100, 30, few(4));
    let digest = desk.world[&key("1")].digest();

    desk.press("a");

    assert_eq!(desk.model.decide.draft.get(&key("1")).unwrap().digest, Some(digest));
    desk.answers = false;
    desk.press("Ga");
    assert_eq!(desk.model.decide.draft.get(&key("4")).unwrap().digest, None);
}

#[test]
fn deciding_marked_actions_clears_the_marks() {
    let mut desk = Desk::new(100, 30, few(4));

    desk.press("  ");
    assert_eq!(desk.model.queue.marks.len(), 2);
    desk.press("x");

    assert_eq!(desk.staged(), "1X 2X");
    assert!(desk.model.queue.marks.is_empty());
    desk.press("u");
    assert_eq!(desk.staged(), "", "one undo step");
}

#[test]
fn high_risk_must_be_read_to_the_end_first() {
    let body = (1..60).map(|i| format!("\"k{i}\":{i}")).collect::<Vec<_>>().join(",");
    let risky = action("9 refund_payment billing critical 5", "Refund everything", &format!("{{{body}}}"));
    let mut desk = Desk::new(100, 30, vec![risky]);

    desk.press("a");
    assert_eq!(desk.staged(), "");
    assert_eq!(desk.message(), "critical: it was on screen too briefly to be read; look at it, then approve");
    desk.slowly("a");
    assert_eq!(desk.staged(), "");
    assert_eq!(
        desk.message(),
        "critical: read it to the end first (J scrolls, z zooms; next is line 24), then approve"
    );
    desk.slowly("<PageDown><PageDown><PageDown><PageDown>a");

    assert_eq!(desk.staged(), "9A");
}

#[test]
fn hidden_characters_and_duplicate_keys_lock() {
    let body = (1..60).map(|i| format!("\"k{i}\":{i}")).collect::<Vec<_>>().join(",");
    for flagged in [format!("{{\"to\":\"a\\u202eb\",{body}}}"), format!("{{\"to\":1,\"t\\u006f\":2,{body}}}")]
    {
        let mut desk = Desk::new(100, 30, vec![action("1 send_email crm low 5", "Mail", &flagged)]);

        desk.press("a");

        assert_eq!(desk.staged(), "");
        assert_eq!(
            desk.message(),
            "flagged: it was on screen too briefly to be read; look at it, then approve"
        );
    }
}

#[test]
fn text_that_fits_the_screen_counts_as_read() {
    let risky = action("9 refund_payment billing critical 5", "Refund", r#"{"amount":"1.10"}"#);
    let mut desk = Desk::new(100, 30, vec![risky]);

    desk.press("a");

    assert_eq!(desk.staged(), "9A");
}

#[test]
fn a_held_key_stages_one_action_in_eighty_milliseconds() {
    let mut desk = Desk::new(100, 30, few(9));

    desk.hurry("aaaa", 30);

    assert_eq!(desk.staged(), "1A 2A", "the first, and the one ninety milliseconds later");
}

#[test]
fn a_burst_of_keys_decides_nothing() {
    let mut desk = Desk::new(100, 30, few(9));

    desk.wait(500);
    desk.hurry("aaxjxa", 2);

    assert_eq!(desk.staged(), "", "the staging of the first keys is undone");
    assert_eq!(desk.message(), "Ignored 6 pasted keys");
    assert_eq!(desk.model.decide.tally.total.total(), 0);
    desk.press("a");
    assert_ne!(desk.staged(), "", "a typed key counts again");
}

#[test]
fn burst_of_undo_keys_is_reverted() {
    let mut desk = Desk::new(100, 30, few(9));
    desk.press("ax");

    for paste in ["uuj", "uaj", "uja"] {
        desk.wait(500);
        desk.hurry(paste, 2);
        assert_eq!(desk.staged(), "1A 2X", "{paste}");
        assert_eq!(desk.message(), "Ignored 3 pasted keys", "{paste}");
        assert_eq!(desk.model.decide.tally.total.total(), 2, "{paste}");
    }
}

#[test]
fn a_burst_that_opens_the_review_leaves_no_sheet() {
    let mut desk = Desk::new(100, 30, few(9));

    desk.wait(500);
    desk.hurry("asy", 2);

    assert_eq!((desk.staged().as_str(), desk.model.sheet.is_none()), ("", true), "{}", desk.screen());
}

/// An input method commits a whole text at once. That is not a paste of keys.
#[test]
fn committed_text_keeps_its_decision_after_any_key() {
    for (next, millis) in [("<Down>", 5_000), ("j", 5_000), ("<Esc>", 20), ("<Tab>", 300), ("?", 20)] {
        let mut desk = Desk::new(100, 30, few(9));
        desk.press("X");
        desk.wait(400);
        desk.hurry("重複した請求です", 0);
        desk.wait(200);
        desk.press("<Enter>");
        assert_eq!(desk.staged(), "1X", "{next}");
        desk.wait(millis);

        desk.hurry(next, 0);
        desk.press("<Down><Esc>");

        assert_eq!(desk.staged(), "1X", "{next}: {}", desk.message());
    }
}

#[test]
fn a_bulk_edit_of_text_committed_at_once_survives_esc() {
    let mut desk = Desk::new(100, 30, few(9));
    desk.press("  e<C-u>");
    desk.hurry("Outage in EU", 0);
    desk.press("<Enter>");
    desk.wait(500);
    desk.press("<Enter>");
    assert_eq!(desk.staged(), "1E 2E", "{}", desk.screen());

    desk.wait(5_000);
    desk.press("<Esc>");

    assert_eq!(desk.staged(), "1E 2E", "{}", desk.message());
}

#[test]
fn backspace_after_committed_text_clears() {
    let mut desk = Desk::new(100, 30, few(9));
    desk.press("X");
    desk.hurry("duplicate", 0);
    desk.press("<Enter>");
    desk.press("k<Backspace>");

    assert_eq!(desk.staged(), "", "{}", desk.message());
}

/// Excludes 1 with a reason, approves 2 with an edit and 3 with a comment, excludes 4 without a reason.
fn typed_for_each() -> Desk {
    let mut desk = Desk::new(100, 30, few(6));
    desk.press("Xduplicate<Enter>");
    desk.press("e (EU)<Enter>");
    desk.press("curgent<Enter>");
    desk.press("x");
    assert_eq!(desk.staged(), "1X 2E 3A 4X", "{}", desk.screen());
    desk
}

#[test]
fn bulk_key_skips_decisions_with_text_or_edits() {
    for (keys, staged) in
        [("*a", "1X 2E 3A 4A 5A 6A"), ("*x", "1X 2E 3A 4X 5X 6X"), ("*Xother<Enter>", "1X 2E 3A 4X 5X 6X")]
    {
        let mut desk = typed_for_each();
        let kept = |desk: &Desk| {
            let decision = |id| desk.model.decide.draft.get(&key(id)).map(|staged| staged.decision.clone());
            ["1", "2", "3"].map(decision)
        };
        let before = kept(&desk);
        desk.press(keys);

        assert_eq!((desk.staged().as_str(), kept(&desk)), (staged, before), "{keys}");
        assert!(desk.message().contains("with text or edits"), "{keys}: {}", desk.message());
        desk.press("u");
        assert_eq!(desk.staged(), "1X 2E 3A 4X", "one undo step");
    }
}

#[test]
fn repeated_bulk_key_skips_decisions_with_text_or_edits() {
    let mut desk = typed_for_each();
    desk.press("gg*a");
    assert_eq!(desk.staged(), "1X 2E 3A 4A 5A 6A", "{}", desk.screen());
    // All marked actions are approved, so the key takes it back.
    desk.press("ggjj     a");

    assert_eq!(desk.staged(), "1X 2E 3A", "{}", desk.message());
    assert_eq!(
        desk.message(),
        "3 undecided again; u brings them back; 2 with text or edits stay unchanged; decide those one by one"
    );
}

#[test]
fn bulk_edit_skips_decisions_with_text() {
    let mut desk = typed_for_each();
    desk.press("gg*e (US)<Enter>");
    desk.wait(500);
    desk.press("<Enter>");

    let reason = Decision::Reject { reason: Some("duplicate".to_owned()) };
    assert_eq!(desk.model.decide.draft.get(&key("1")).map(|staged| &staged.decision), Some(&reason));
    assert_eq!(desk.message(), "3 staged with these edits; 3 left unchanged");
}

#[test]
fn single_key_reports_what_it_replaced_for_undo() {
    let told = [
        ("ggja", "approve now; u brings back exclude, because \"duplicate\""),
        ("ggjjx", "exclude now; u brings back approve with edits (title)"),
        ("ggjja", "undecided again; u brings back approve with edits (title)"),
        ("ggjjjx", "exclude now; u brings back approve, comment \"urgent\""),
        ("ggj<Backspace>", "undecided again; u brings back exclude, because \"duplicate\""),
        ("ggjjjjx", "undecided again; u brings back exclude"),
    ];
    for (keys, message) in told {
        let mut desk = typed_for_each();
        let before = desk.model.decide.draft.clone();
        desk.press(keys);
        assert_eq!(desk.message(), message, "{keys}");

        desk.press("u");
        let decision = |desk: &Desk, id: &str| desk.model.decide.draft.get(&key(id)).cloned();
        for id in ["1", "2", "3", "4"] {
            assert_eq!(decision(&desk, id), before.get(&key(id)).cloned(), "{keys} {id}");
        }
    }
}

#[test]
fn edit_keeps_the_comment() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("curgent<Enter>");
    desk.press("ke (EU)<Enter>");

    let staged = desk.model.decide.draft.get(&key("1")).map(|staged| &staged.decision);
    let kept = matches!(staged, Some(Decision::Approve { edits: Some(_), comment: Some(_) }));
    assert!(kept, "{staged:?}");
}

#[test]
fn paste_into_the_list_is_ignored_with_a_message() {
    let mut desk = Desk::new(100, 30, few(2));

    desk.say(What::Paste("axax".to_owned()));

    assert_eq!(desk.staged(), "");
    assert_eq!(desk.message(), "ignored a paste of 4 characters: only forms take text");
}

#[test]
fn row_that_just_changed_is_not_decided() {
    let mut desk = Desk::new(100, 30, few(2));
    desk.press("jk");
    let mut changed = few(2).remove(0);
    changed.row.title = "Another title".into();

    desk.changes(vec![changed]);
    desk.wait(100);
    desk.hurry("a", 1);
    assert_eq!(desk.staged(), "");
    assert_eq!(desk.message(), "the row under the cursor just changed: check it, then decide");
    desk.press("a");

    assert_eq!(desk.staged(), "1A", "after a while it does stage");
}

#[test]
fn a_read_only_token_decides_nothing() {
    let mut desk = Desk::with(100, 30, few(2), Capabilities::READ_ONLY);

    desk.press("axAe");

    assert_eq!(desk.staged(), "");
    assert_eq!(desk.message(), "read-only: its source takes no decision on it from here");
    desk.model.screen.message = None;
    insta::assert_snapshot!(desk.status_line(), @" Read-only: this token cannot decide");
}

#[test]
fn rest_of_a_batch_leaves_out_unread_actions() {
    let mut actions = few(5);
    actions[4] = action("5 create_linear_issue support high 1", "Risky", r#"{"title":"x"}"#);
    let mut desk = Desk::new(100, 30, actions);

    desk.press("jA");

    assert_eq!(desk.staged(), "1A 2A");
    assert_eq!(desk.message(), "approved the rest of this batch: 2; skipped: 2 unread, 1 high-risk");
}

#[test]
fn source_that_demands_a_reason_opens_the_form() {
    let mut desk = Desk::with(100, 30, few(2), Capabilities { reason: ReasonRule::Required, ..CAN });

    desk.press("x<Enter>");
    assert_eq!(desk.staged(), "", "an empty reason does not count");
    desk.press("other team<Enter>");

    assert_eq!(
        desk.model.decide.draft.get(&key("1")).unwrap().decision,
        Decision::Reject { reason: Some("other team".to_owned()) }
    );
    assert_eq!(desk.here(), "2");
}

#[test]
fn typed_reason_is_kept() {
    let mut desk = Desk::with(100, 30, few(2), Capabilities { reason: ReasonRule::NotKept, ..CAN });

    desk.press("Xwrong<Esc>");
    assert_eq!(desk.staged(), "");
    desk.press("X");

    insta::assert_snapshot!(desk.sheet(), @"
Exclude, because
  create_linear_issue   Issue number 1
  This source keeps no reason; it stays in your journal.

  > wrong
Enter excludes   Esc closes and keeps the text
");
}

#[test]
fn backspace_only_clears() {
    let mut desk = Desk::new(100, 30, few(2));

    desk.press("ak<Backspace><Backspace>");

    assert_eq!((desk.staged().as_str(), desk.here().as_str()), ("", "1"));
}

#[test]
fn held_key_stops_at_an_unopened_high_risk_action() {
    let body = (1..60).map(|i| format!("\"k{i}\":{i}")).collect::<Vec<_>>().join(",");
    let mut actions = few(5);
    actions[2] = action("3 create_linear_issue support high 57", "Risky", &format!("{{{body}}}"));
    let mut desk = Desk::new(100, 30, actions);

    desk.hurry("aaaaaaaaaaaa", 90);

    assert_eq!((desk.staged().as_str(), desk.here().as_str()), ("1A 2A", "3"));
    assert_eq!(
        desk.message(),
        "high risk: it was on screen too briefly to be read; look at it, then approve"
    );
}

#[test]
fn two_capital_keys_in_a_row_suggest_caps_lock() {
    let mut desk = Desk::new(100, 30, few(5));

    desk.press("A");
    insta::assert_snapshot!(desk.message(), @"approved the rest of this batch: 1; skipped: 4 unread");
    desk.press("S");
    assert_eq!(desk.message(), "approved the rest of this batch: 1; skipped: 4 unread   Caps Lock?");
    assert!(desk.submitted.is_empty(), "neither key sends");
    desk.press("<Esc>jA");
    // A small letter between the capitals rules out Caps Lock.
    insta::assert_snapshot!(desk.message(), @"approved the rest of this batch: 1; skipped: 3 unread");
}

#[test]
fn backspace_clears_without_moving_the_cursor() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("aak<Backspace>");
    assert_eq!((desk.staged().as_str(), desk.here().as_str()), ("1A", "2"));
}

#[test]
fn key_release_is_ignored() {
    let mut desk = Desk::new(100, 30, few(3));
    let mut key = crossterm::event::KeyEvent::from(crossterm::event::KeyCode::Char('a'));
    key.kind = crossterm::event::KeyEventKind::Release;

    desk.press("a");
    desk.wait(200);
    desk.say(What::Key(key));

    assert_eq!((desk.staged().as_str(), desk.here().as_str()), ("1A", "2"));
}

#[test]
fn comment_on_one_row_is_kept_while_others_are_marked() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("Xdup<Enter>  ");
    let first = key("1");
    let index = desk.model.queue.index(&first).unwrap();
    desk.model.queue.go_to_action(index);
    assert!(!desk.model.queue.marks.is_empty());
    desk.press("c more<Enter>");

    let said = desk.model.decide.draft.get(&first).map(|staged| staged.decision.clone());
    assert_eq!(said, Some(Decision::Reject { reason: Some("dup more".into()) }), "{}", desk.message());
}

#[test]
fn reason_for_marked_actions_is_not_offered_for_one() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("*Xall spam<Esc><Esc>x");

    let said: Vec<_> = desk.model.decide.draft.iter().map(|(_, staged)| staged.decision.clone()).collect();
    assert_eq!(said, [Decision::Reject { reason: None }]);
}

#[test]
fn message_of_a_decision_disappears_with_the_next() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("xk");
    desk.press("x");
    let message = desk.message();
    desk.press("a");

    assert_ne!(desk.message(), message, "the message was about the previous key");
}
