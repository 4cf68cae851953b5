//! Actions that need several approvals.

use std::sync::Arc;

use crate::domain::{
    Approval, Approvals, Decision, Edits, Outcome, PendingAction, RawJson, Seen, Timestamp, merge,
};
use crate::tui::core::msg::{Effect, What};
use crate::tui::queue::slots::State;
use crate::tui::submit::state::ReviewSheet;
use crate::tui::submit::words;
use crate::tui::testing::{Desk, few, key};

/// Returns `action` needing two approvals, with these given.
fn approved(action: &PendingAction, by: &[&str], edits: Option<&str>) -> PendingAction {
    let edits = edits.map(|edits| Edits::new(RawJson::parse(edits).unwrap()).unwrap());
    let merged = edits.as_ref().map(|edits| merge(&action.input, edits).unwrap());
    let effective = action.digest_of(merged.as_ref().unwrap_or(&action.input).as_str());
    let approval = |by: &&str| Approval {
        by: (*by).into(),
        at: Timestamp::from_millis(1_800_000_000_000),
        effective,
        edits: edits.clone(),
    };
    let mut action = action.clone();
    let by = by.iter();
    action.row.approvals =
        Some(Arc::new(Approvals { needed: 2, by: by.clone().map(|by| (*by).into()).collect() }));
    action.approvals = by.map(approval).collect();
    action
}

fn desk(by: &[&str], edits: Option<&str>) -> Desk {
    let mut actions = few(2);
    actions[0] = approved(&actions[0], by, edits);
    let mut desk = Desk::new(110, 30, actions);
    desk.model.list.sources[0].subject = Some("lee".into());
    desk.drawn();
    desk
}

fn edits(desk: &Desk) -> Option<String> {
    let staged = desk.model.decide.draft.get(&key("1"))?;
    staged.decision.edits().map(|edits| edits.as_json().as_str().to_owned())
}

fn told(desk: &Desk) -> Vec<String> {
    let Some(sheet) = desk.model.sheet.get::<ReviewSheet>() else { panic!("no review is open") };
    sheet.review.as_ref().unwrap().told.iter().map(|told| told.words.to_string()).collect()
}

#[test]
fn row_and_preview_show_approvers_and_edits() {
    let desk = desk(&["kim"], Some(r#"{"n":5}"#));

    let screen = desk.screen();

    assert!(screen.contains("1 of 2 · kim"), "{screen}");
    assert!(screen.contains("1 of 2 approvals"), "{screen}");
    assert!(screen.contains("kim  with edits: n"), "{screen}");
    assert!(screen.contains("What runs, with the approver's edits"), "{screen}");
    assert!(screen.contains("n      1.10 → 5"), "{screen}");
}

#[test]
fn approve_key_stages_the_already_approved_content() {
    let mut desk = desk(&["kim"], Some(r#"{"n":5}"#));

    desk.press("a");
    assert_eq!(edits(&desk).as_deref(), Some(r#"{"n":5}"#));
    desk.press("S");
    assert_eq!(told(&desk), Vec::<String>::new(), "the last approval gets no warning");
    desk.press("<Esc>ka");
    assert_eq!(desk.staged(), "", "the same key takes it back");
}

#[test]
fn first_approval_leaves_the_action_pending() {
    let mut desk = desk(&[], None);

    let page = desk.preview().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains("Counts as approval 1 of 2. After the last one:"), "{page}");
    desk.press("aS");
    assert_eq!(told(&desk), [words::waits_for_others(2)]);
    desk.wait(500);
    desk.press("y");
    desk.reports(|_| Outcome::PartlyApproved { given: 1, needed: 2 });

    assert_eq!(desk.slot("1").state, State::Pending);
    assert_eq!(desk.staged(), "");
    assert!(desk.screen().contains("1 accepted"), "{}", desk.screen());
    desk.press("gr");
    assert!(
        desk.screen().contains("accepted  1 of 2: 1 more person must approve"),
        "the report: {}",
        desk.screen()
    );
}

#[test]
fn review_warns_that_other_content_replaces_approvals() {
    let mut desk = desk(&[], None);
    desk.press("ak");
    let now = approved(&few(1)[0], &["kim"], Some(r#"{"n":5}"#));
    desk.changes(vec![now]);

    desk.wait(1_000);
    desk.press("S");

    assert_eq!(edits(&desk), None);
    assert_eq!(told(&desk), [words::OTHER_THAN_APPROVED]);
}

#[test]
fn edits_of_others_must_be_seen_before_approving() {
    let mut desk = desk(&[], None);
    desk.press("j");
    let now = approved(&few(1)[0], &["kim"], Some(r#"{"n":5}"#));
    desk.changes(vec![now]);
    desk.wait(1_000);

    // Bulk: the action is marked and not under the cursor.
    desk.press("k j");
    desk.answers = false;
    desk.press("a");

    let staged = desk.model.decide.draft.get(&key("1")).map(|staged| staged.decision.clone());
    assert_ne!(staged, Some(Decision::APPROVE), "unseen content must not be approved");
}

#[test]
fn separate_key_takes_back_own_approval() {
    let mut mine = desk(&["lee"], None);
    mine.press("u");
    assert!(mine.message().contains("takes back your approval"), "{}", mine.message());

    mine.press("gu");
    let asked = |desk: &Desk| {
        desk.effects.iter().filter(|effect| matches!(effect, Effect::TakeBackApproval(_))).count()
    };
    assert_eq!(asked(&mine), 1);
    mine.say(What::ApprovalTakenBack(key("1"), Ok(())));
    assert!(mine.message().contains("your approval is taken back"), "{}", mine.message());

    let mut theirs = desk(&["kim"], None);
    theirs.press("gu");
    assert_eq!(asked(&theirs), 0);
}

#[test]
fn edits_of_an_approver_must_be_read_first() {
    let memo = (0..60).map(|n| format!("line {n}\\n")).collect::<Vec<_>>().concat();
    let edit = format!(r#"{{"title":"{memo}"}}"#);
    for high in [true, false] {
        let mut one = few(1).remove(0);
        if high {
            one.row.risk = crate::domain::Risk::High;
        }
        let mut desk = Desk::new(110, 30, vec![approved(&one, &[], None)]);
        desk.drawn();
        desk.rest(3_000);
        desk.press("k");
        assert_eq!(desk.model.seen_of(desk.slot("1")), Some(Seen::InFull));

        desk.changes(vec![approved(&one, &["kim"], Some(&edit))]);
        desk.rest(3_000);
        desk.press("a");
        assert_eq!(desk.staged(), "", "high {high}: {}", desk.message());
        desk.slowly("]]");
        desk.rest(3_000);
        desk.press("a");
        assert_eq!(desk.staged(), "", "Raw shows the proposal: {}", desk.message());

        for _ in 0..5 {
            desk.slowly("<PageDown>");
        }
        desk.press("a");
        assert_eq!(desk.staged(), "1E", "high {high}: {}", desk.message());
        assert_eq!(edits(&desk).as_deref(), Some(edit.as_str()));
    }
}

#[test]
fn review_counts_the_edits_that_were_read() {
    let mut one = few(1).remove(0);
    one.row.risk = crate::domain::Risk::High;
    let mut desk = Desk::new(110, 30, vec![approved(&one, &["kim"], Some(r#"{"n":5}"#))]);
    desk.drawn();
    desk.rest(3_000);
    assert!(!desk.preview().contains("Counts as approval"), "the last approval has no counter");

    desk.press("aS");

    let Some(sheet) = desk.model.sheet.get::<ReviewSheet>() else { panic!("no review is open") };
    let review = sheet.review.as_ref().unwrap();
    assert!(review.submission.is_some() && review.refused.is_empty() && review.unopened.is_empty());
}

#[test]
fn edits_of_an_approver_are_checked_for_hidden_text() {
    let one = approved(
        &few(1)[0],
        &["kim"],
        Some(r#"{"title":"a\u202eb","url":"https://ok.example@evil.example/"}"#),
    );
    let flags = crate::text::Flags::of(&one);

    assert!(flags.any() && !flags.leads_to.is_empty(), "{flags:?}");
}
