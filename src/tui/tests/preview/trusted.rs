//! Tool, risk and effect are on screen wherever an action can be decided.

use crate::domain::{Decision, Staged, changed_keys};
use crate::rounds::rounds;
use crate::tui::queue::counts::StagedTotals;
use crate::tui::submit::state::ReviewSheet;
use crate::tui::testing::{Desk, action, key};

/// Actions whose input sets their title.
fn wipe() -> Vec<crate::domain::PendingAction> {
    let one = |id: &str| {
        action(&format!("{id} wipe_prod_db agent low 5"), "Weekly report", r#"{"title":"Weekly report"}"#)
    };
    vec![one("1"), one("2")]
}

fn refund() -> Vec<crate::domain::PendingAction> {
    vec![action("1 refund_payment billing critical 5", "Refund", r#"{"amount":1.10}"#)]
}

#[test]
fn tool_and_risk_are_on_screen_on_every_approval() {
    const KEYS: [&str; 5] = ["", "z", "p", "pp", "ppp"];
    let mut approved = 0;
    for (nth, (width, height)) in
        (10..=60).flat_map(|height| [40, 52, 64, 80, 90, 100, 120, 140, 200].map(|w| (w, height))).enumerate()
    {
        // The short form draws every third height and one of the five layouts in turn, so every width gets each layout.
        let all = height <= rounds(16, 60) as u16;
        if !all && height % 3 > 0 {
            continue;
        }
        for keys in if all { &KEYS[..] } else { &KEYS[nth % 5..=nth % 5] } {
            let mut desk = Desk::new(width, height, wipe());
            desk.press(keys);
            desk.slowly("k");
            desk.slowly("j");
            let screen = desk.screen();
            desk.press("a");
            if desk.staged().is_empty() {
                continue;
            }
            approved += 1;
            for told in ["wipe_prod_db", " low", "no description for this tool"] {
                assert!(screen.contains(told), "{width}x{height} {keys:?}: {told}\n{screen}");
            }
        }
    }
    assert!(approved > rounds(220, 1_000), "{approved}: the test covers too little");
}

#[test]
fn long_tool_name_leaves_room_for_its_risk() {
    let mut all = wipe();
    for action in &mut all {
        action.row.tool = "wipe_".repeat(60).as_str().into();
    }
    let sizes = [(40, 10), (80, 24), (100, 30), (160, 45)];
    let said = sizes.map(|(width, height)| Desk::new(width, height, all.clone()).trusted());
    insta::assert_snapshot!(said.join("\n"), @"
 wipe_wipe_wipe_wipe_wipe_wipe_wi… · low
 no description for this tool
── wipe_wipe_wipe_wipe_wipe_wipe_wipe_wipe_wipe_wipe_wipe_wipe_wipe_wi… · low…──
 wipe_wipe_wipe_wipe_wipe_wipe_wipe_… · low
 no description for this tool
 wipe_wipe_wipe_wipe_wipe_wipe_wipe_wipe_wipe_wipe_… · low
 no description for this tool
");
}

#[test]
fn effect_is_shown_once_at_every_size() {
    let mut said = Vec::new();
    for (width, height) in [(40, 10), (40, 12), (80, 24), (100, 30), (160, 45)] {
        for keys in ["", "z"] {
            let mut desk = Desk::new(width, height, refund());
            desk.press(keys);
            said.push(desk.trusted());
        }
    }
    insta::assert_snapshot!(said.join("\n"), @"
     refund_payment · CRITICAL
     sends money · cannot be undone
     refund_payment · CRITICAL
     sends money · cannot be undone
     refund_payment · CRITICAL
     sends money · cannot be undone
     refund_payment · CRITICAL
     sends money · cannot be undone
    ── refund_payment · CRITICAL · sends money · cannot be undone ───────── 1-5/5 ──
     refund_payment · CRITICAL · sends money · cannot be undone
     refund_payment · CRITICAL
     sends money · cannot be undone
     refund_payment · CRITICAL · sends money · cannot be undone
     refund_payment · CRITICAL
     sends money · cannot be undone
     refund_payment · CRITICAL · sends money · cannot be undone
    ");
}

#[test]
fn marked_tools_are_named_with_their_risk() {
    let mut all = wipe();
    all.extend(refund().into_iter().map(|mut action| {
        action.row.id = crate::domain::ActionId::new("9");
        action
    }));
    let mut said = Vec::new();
    for (width, height) in [(60, 12), (80, 24), (100, 30), (160, 45)] {
        let mut desk = Desk::new(width, height, all.clone());
        desk.press("*");
        said.push(desk.trusted());
    }
    insta::assert_snapshot!(said.join("\n"), @"
     wipe_prod_db · low · no description for this tool
     3 marked: 1 refund_payment CRITICAL, 2 wipe_prod_db low
    ── 3 marked: 1 refund_payment CRITICAL, 2 wipe_prod_db low ──────────── 1-4/4 ──
     3 marked: 1 refund_payment CRITICAL, 2
     wipe_prod_db low
     wipe_prod_db · low · no description for this tool
     3 marked: 1 refund_payment CRITICAL, 2 wipe_prod_db low
    ");
}

#[test]
fn scrolled_review_names_tool_and_risk_at_every_size() {
    for (width, height) in (10..=40).flat_map(|height| [40, 64, 80, 100, 160].map(|width| (width, height))) {
        let mut desk = Desk::new(width, height, wipe());
        desk.press("xx");
        desk.press("S<PageDown>");
        assert!(desk.model.sheet.is::<ReviewSheet>(), "{width}x{height}");
        let screen = desk.screen();
        for told in ["wipe_prod_db · low", "no description for this tool"] {
            assert!(screen.contains(told), "{width}x{height}: {told}\n{screen}");
        }
    }
}

#[test]
fn edited_row_and_sheet_show_old_and_new_values() {
    let input = r#"{"amount":"129.90","note":"x"}"#;
    let pay = action("1 pay_invoice billing low 5", "Pay 129.90 EUR to pim", input);
    let mut desk = Desk::new(240, 45, vec![pay]);
    desk.slowly("e");
    desk.press("<C-u>129.00<Tab><C-u>y<Enter>");
    assert_eq!(desk.staged(), "1E", "{}", desk.screen());

    insta::assert_snapshot!(desk.row(0), @"▌✎ pay_invoice │ Pay 129.90 EUR to pim  amount 129.90 → 129.00  note x → y       low");
    desk.press("S");
    insta::assert_snapshot!(desk.sheet_line(9), @r#"        amount  "129.90" → "129.00""#);
}

#[test]
fn review_scrolls_to_its_last_line_at_every_size() {
    let fields: Vec<String> = (0..24).map(|n| format!(r#""field_{n:02}":"old""#)).collect();
    let input = format!("{{{}}}", fields.join(","));
    for (width, height) in [(80, 24), (40, 12), (100, 30)] {
        let pay = action("1 pay agent low 5", "Pay", &input);
        let edits = changed_keys(&pay.input, &input.replace("old", "new")).unwrap();
        let mut desk = Desk::new(width, height, vec![pay.clone()]);
        let decision = Decision::Approve { edits, comment: None };
        let (batch, at) = (desk.slot("1").entry.batch(), desk.model.now);
        let staged = Staged { decision, batch, digest: Some(pay.digest()), terms: pay.terms, at };
        desk.model.decide.draft.stage([(key("1"), Some(staged))]);
        desk.model.decide.tally = StagedTotals::of(&desk.model.decide.draft);
        desk.press("S");
        desk.press(&"<PageDown>".repeat(30));
        let end = desk.screen();
        assert!(!end.contains("more lines"), "{end}");
        desk.press("<PageUp>");
        assert_ne!(desk.screen(), end, "scrolling went past the end");
    }
}
