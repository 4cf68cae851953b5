//! Claims: shown on row and preview, skipped by `next`, filterable, never a lock.

use crate::domain::{ActionId, Briefing, Claim, Revision, Timestamp};
use crate::inbox::{Event, EventKind, Problem};
use crate::tui::core::msg::{Effect, What};
use crate::tui::testing::{Desk, NOW, few, key, source};

const MINUTE: i64 = 60_000;

fn claim(id: &str, by: &str, minutes: i64) -> Claim {
    Claim { id: ActionId::new(id), by: by.into(), since: Timestamp::from_millis(NOW - minutes * MINUTE) }
}

/// The gate reports its claims, without a new revision.
fn told(desk: &mut Desk, claims: Option<Vec<Claim>>) {
    let briefing = Briefing { revision: Some(Revision(7)), claims, ..Briefing::default() };
    desk.say(What::Source(Event { source: source(), kind: EventKind::Briefing(briefing) }));
}

/// Returns lee's desk, whose source keeps claims.
fn lees(claims: Vec<Claim>) -> Desk {
    let mut desk = Desk::new(100, 30, few(4));
    desk.model.list.sources[0].subject = Some("lee".into());
    told(&mut desk, Some(claims));
    desk
}

/// Takes the claim requests sent so far: `claim 1`, `end 1`.
fn asked(desk: &mut Desk) -> Vec<String> {
    let asked = desk.effects.iter().filter_map(|effect| match effect {
        Effect::Claim { key, end: false } => Some(format!("claim {}", key.id.as_raw())),
        Effect::Claim { key, end: true } => Some(format!("end {}", key.id.as_raw())),
        _ => None,
    });
    let asked = asked.collect();
    desk.effects.clear();
    asked
}

fn answers(desk: &mut Desk, id: &str, by: Option<&str>) {
    let claim = by.map(|by| Claim { since: desk.model.now, ..claim(id, by, 0) });
    desk.say(What::Claimed(key(id), Ok(claim)));
}

#[test]
fn row_and_preview_show_the_claimant() {
    let mut desk = lees(vec![claim("1", "kim", 2), claim("3", "lee", 1)]);

    let screen = desk.screen();
    assert!(screen.contains("kim · 2 min") && screen.contains("you · 1 min"), "{screen}");
    assert!(screen.contains("! kim has been on it for 2 min"), "{screen}");
    told(&mut desk, Some(vec![claim("1", "kim", 3)]));
    let screen = desk.screen();
    assert!(screen.contains("kim · 3 min") && !screen.contains("you ·"), "{screen}");
    assert!(
        !desk.effects.iter().any(|effect| matches!(effect, Effect::Sync { .. })),
        "a claim does not change an action"
    );
}

#[test]
fn claimant_name_is_escaped() {
    let desk = lees(vec![claim("1", "k\u{202e}im\u{1b}[2J", 2)]);

    let screen = desk.screen();
    assert!(!screen.contains('\u{202e}') && !screen.contains('\u{1b}'), "{screen}");
}

#[test]
fn key_claims_and_releases() {
    let mut desk = lees(Vec::new());

    desk.press("C");
    assert_eq!(asked(&mut desk), ["claim 1"]);
    answers(&mut desk, "1", Some("lee"));
    assert!(desk.screen().contains("you · <1 min"));
    assert!(desk.status_line().contains("Anyone can still decide"), "{}", desk.status_line());
    desk.press("C");
    assert_eq!(asked(&mut desk), ["end 1"]);
    answers(&mut desk, "1", None);
    assert!(!desk.screen().contains("you ·"));
}

#[test]
fn foreign_claim_is_kept_and_does_not_block_deciding() {
    let mut desk = lees(vec![claim("1", "kim", 2)]);

    desk.press("C");
    assert_eq!(asked(&mut desk), Vec::<String>::new());
    assert!(
        desk.status_line().contains("kim has been on it for 2 min; you can decide it"),
        "{}",
        desk.status_line()
    );
    desk.press("a");
    assert_eq!(desk.staged(), "1A");
}

#[test]
fn losing_a_claim_race_names_the_winner() {
    let mut desk = lees(Vec::new());

    desk.press("C");
    answers(&mut desk, "1", Some("kim"));

    assert!(desk.status_line().contains("kim has been on it for <1 min"), "{}", desk.status_line());
}

#[test]
fn source_without_claims_says_so() {
    let mut desk = Desk::new(100, 30, few(2));
    told(&mut desk, None);

    desk.press("C");
    assert!(desk.status_line().contains("keeps no claims"), "{}", desk.status_line());
    assert_eq!(asked(&mut desk), Vec::<String>::new());
    desk.press("a");
    assert_eq!(desk.staged(), "1A");
}

#[test]
fn refused_claim_is_reported() {
    let mut desk = lees(Vec::new());

    desk.press("C");
    let problem = Problem { source: Some(source()), what: "refused it".to_owned(), why: None };
    desk.say(What::Claimed(key("1"), Err(problem)));

    assert!(desk.status_line().contains("could not be claimed"), "{}", desk.status_line());
}

#[test]
fn next_skips_foreign_claims_unless_urgent() {
    let mut desk = lees(vec![claim("2", "kim", 2), claim("3", "lee", 2)]);

    desk.press("n");
    assert_eq!(desk.here(), "3", "skips kim's claim, not the reviewer's own");
    desk.press("nn");
    assert_eq!(desk.here(), "1", "wraps around");
    let mut high = few(4);
    high[1].row.risk = crate::domain::Risk::Critical;
    desk.changes(vec![high[1].clone()]);
    desk.press("n");
    assert_eq!(desk.here(), "2", "critical actions are not skipped");
}

#[test]
fn next_says_when_others_claimed_the_rest() {
    let mut desk = lees(vec![claim("2", "kim", 2), claim("3", "kim", 2), claim("4", "kim", 2)]);

    desk.press("a");
    desk.press("n");

    assert!(desk.status_line().contains("claimed by others"), "{}", desk.status_line());
}

#[test]
fn the_filter_knows_claims() {
    let mut desk = lees(vec![claim("2", "kim", 2), claim("3", "lee", 1)]);

    for (text, shown) in [("claimed:me", 1), ("claimed:none", 2), ("claimed:kim", 1), ("-claimed:none", 2)] {
        desk.press("/");
        for c in text.chars() {
            desk.press(&c.to_string());
        }
        desk.press("<Enter>");
        assert_eq!(desk.model.queue.n_shown(), shown, "{text}");
        desk.press("<Esc>");
    }
}

#[test]
fn bulk_staging_claims_nothing_and_work_keeps_a_claim() {
    let mut desk = lees(Vec::new());

    desk.press("*a");
    assert_eq!(asked(&mut desk), Vec::<String>::new());
    desk.press("uC");
    assert_eq!(asked(&mut desk), ["claim 1"]);
    answers(&mut desk, "1", Some("lee"));
    desk.press("J");
    assert_eq!(asked(&mut desk), Vec::<String>::new(), "the claim was sent a moment ago");
    desk.wait(2 * MINUTE);
    desk.press("J");
    assert_eq!(asked(&mut desk), ["claim 1"], "a claim ends after five quiet minutes");
    desk.wait(2 * MINUTE);
    desk.press("j");
    assert_eq!(asked(&mut desk), Vec::<String>::new(), "the key worked on another action");
}

#[test]
fn auto_claim_follows_the_setting_and_ends_on_leaving() {
    for wanted in [false, true] {
        let mut desk = lees(Vec::new());
        desk.model.settings.claim_by_itself = wanted;

        desk.wait(60_000);
        desk.say(What::Tick);
        assert_eq!(asked(&mut desk), Vec::<String>::new(), "no key was pressed yet");
        desk.press("j");
        desk.wait(9_000);
        desk.say(What::Tick);
        assert_eq!(asked(&mut desk), Vec::<String>::new());
        desk.wait(1_000);
        desk.say(What::Tick);
        let claimed = asked(&mut desk);
        assert_eq!(claimed, if wanted { vec!["claim 2"] } else { Vec::new() });
        if wanted {
            answers(&mut desk, "2", Some("lee"));
            assert!(!desk.status_line().contains("claimed"), "no message for an automatic claim");
            desk.press("j");
            assert_eq!(asked(&mut desk), ["end 2"]);
        }
    }
}
