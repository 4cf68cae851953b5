//! Rows in columns, the bands above them, and the notes at their right.

use crate::contract::tool::definition;
use crate::domain::{PendingAction, Risk, Status, Timestamp};
use crate::tui::testing::{Desk, NOW, action, decided, lost};

/// Returns a proposal with the title and the fields that the gate gives it.
fn proposed(spec: &str, input: &str) -> PendingAction {
    let tool = spec.split(' ').nth(1).unwrap();
    let known = definition(tool);
    let mut action = action(spec, &known.title(tool, input), input);
    action.row.brief = known.brief(tool, action.row.title.as_raw(), input);
    action
}

fn refund(id: &str, amount: &str, currency: &str, customer: &str, why: &str) -> PendingAction {
    let input = format!(
        r#"{{"amount":{amount},"currency":"{currency}","customer":"{customer}","order_id":"ORD-{id}","reason":"{why}"}}"#
    );
    proposed(&format!("{id} refund_payment refunds-agent critical 13"), &input)
}

fn queue() -> Vec<PendingAction> {
    let twice = "Charged twice on 21 November";
    let mut all = vec![
        refund("88402", "129.90", "EUR", "ilka@brightfern.example.com", twice),
        refund("88410", "1188.00", "USD", "accounts@tallowgate.example.com", twice),
        refund("88411", "12.5", "GBP", "rowan@example.com", twice),
        refund("88412", "4980.00", "EUR", "Marla Q\u{200b}uist  ✓ paid │ ok", "The parcel never came"),
        refund("88413", "0.99", "USD", "sunniva@example.com", twice),
    ];
    let note = |nth: usize, team: &str, text: &str| {
        let input = format!(r#"{{"issue_id":"{team}-{nth}","body":"{text}"}}"#);
        proposed(&format!("c{nth} create_linear_comment triage-agent low 12"), &input)
    };
    all.push(note(2214, "SUP", "Goodwill month is in review."));
    all.push(note(
        731,
        "BIL",
        "Three more accounts bought extra storage on a plan that already includes it.",
    ));
    all.push(proposed(
        "l add_label triage-agent low 1",
        r#"{"issue_id":"SUP-2251","label":"refund-pending"}"#,
    ));
    all
}

#[test]
fn batch_is_a_band_and_rows_in_columns() {
    let desk = Desk::new(100, 30, queue());
    insta::assert_snapshot!(desk.list(), @"
     ▾ refund_payment  CRIT   5109.90 EUR + 2 more   5 left
    ▌• │  129.90 EUR  ilka@brightfern.example.com
     • │ 1188.00 USD  accounts@tallowgate.example.com
     • │   12.5  GBP  rowan@example.com
     • │ 4980.00 EUR  Marla Q⟦U+200B⟧uist…         ! hidden
     • │    0.99 USD  sunniva@example.com
     ▾ create_linear_comment  low  triage-agent      2 left
     • │ SUP-2214  Goodwill month is in review.
     • │ BIL-731   Three more accounts bought extra storag…
     • add_label │ SUP-2251  refund-pending             low
    ");
    insta::assert_snapshot!(Desk::new(160, 45, queue()).list(), @"
     ▾ refund_payment  CRIT    5109.90 EUR + 1188.99 USD + 12.50 GBP   5 left
    ▌• │  129.90 EUR  ilka@brightfern.example.com               ORD-88402
     • │ 1188.00 USD  accounts@tallowgate.example.com           ORD-88410
     • │   12.5  GBP  rowan@example.com                         ORD-88411
     • │ 4980.00 EUR  Marla Q⟦U+200B⟧uist⟦2 blanks⟧⟦✓⟧ paid …   ORD… ! hidden
     • │    0.99 USD  sunniva@example.com                       ORD-88413
     ▾ create_linear_comment  low  triage-agent  12 m                  2 left
     • │ SUP-2214  Goodwill month is in review.
     • │ BIL-731   Three more accounts bought extra storage on a plan that a…
     • add_label │ SUP-2251  refund-pending                               low
    ");
    insta::assert_snapshot!(Desk::new(80, 24, queue()).list(), @"
     ▾ refund_payment  CRIT  13 m    5109.90 EUR + 1188.99 USD + 12.50 GBP   5 left
    ▌• │  129.90 EUR  ilka@brightfern.example.com               ORD-88402
     • │ 1188.00 USD  accounts@tallowgate.example.com           ORD-88410
     • │   12.5  GBP  rowan@example.com                         ORD-88411
     • │ 4980.00 EUR  Marla Q⟦U+200B⟧uist⟦2 blanks⟧⟦✓⟧ paid …   ORD-88412  ! hidden
     • │    0.99 USD  sunniva@example.com                       ORD-88413
     ▾ create_linear_comment  low  triage-agent  12 m                        2 left
     • │ SUP-2214  Goodwill month is in review.
     • │ BIL-731   Three more accounts bought extra storage on a plan that already…
     • add_label │ SUP-2251  refund-pending                                     low
    ");
}

#[test]
fn folded_band_shows_what_it_contains() {
    let mut all = queue();
    all[1].row.risk = Risk::High;
    let mut desk = Desk::new(100, 30, all);
    desk.press("-");
    insta::assert_snapshot!(desk.list(), @"
    ▌▸ refund_payment  CRIT 4  HIGH 1  ! 1  13 m     5 left
     ▸ create_linear_comment  low  triage-agent      2 left
     • add_label │ SUP-2251  refund-pending             low
    ");
}

#[test]
fn edited_row_shows_the_new_value_and_the_old() {
    let mut desk = Desk::new(100, 30, queue());
    desk.press("e<Backspace><Backspace>00<Enter>");
    assert_eq!(desk.staged(), "88402E", "{}", desk.screen());
    desk.press("kk");
    insta::assert_snapshot!(desk.list().lines().nth(1).unwrap_or_default(), @" ✎ │  129.00 EUR  ilka@brightfern.example.c… was 129.90");
}

#[test]
fn sum_counts_undecided_rows_only() {
    let mut desk = Desk::new(160, 45, queue());
    let band = |desk: &Desk| desk.list().lines().next().unwrap_or_default().to_owned();
    assert!(band(&desk).contains("5109.90 EUR + 1188.99 USD + 12.50 GBP"), "{}", band(&desk));
    desk.press("x");
    assert!(band(&desk).contains("1188.99 USD + 4980.00 EUR + 12.50 GBP"), "{}", band(&desk));
    assert!(band(&desk).contains("4 left"), "{}", band(&desk));
}

#[test]
fn sum_stays_before_the_agent_of_a_narrow_band() {
    let all =
        (10..23).map(|id| refund(&id.to_string(), "400.00", if id < 20 { "EUR" } else { "USD" }, "ann", "x"));
    let desk = Desk::new(100, 30, all.collect());
    assert!(desk.row(0).contains("4000.00 EUR + 1 more   13 left"), "{}", desk.row(0));
    assert!(!desk.row(0).contains("refunds-agent"), "{}", desk.row(0));
}

#[test]
fn row_that_differs_from_its_band_says_so() {
    let note = |id: &str, issue: &str, text: &str| {
        let input = format!(r#"{{"issue_id":"{issue}","body":"{text}"}}"#);
        proposed(&format!("{id} note x low 2"), &input)
    };
    let mut desk = Desk::new(160, 45, vec![note("1", "SUP-1", "One"), note("2", "SUP-1", "Two")]);
    assert!(desk.row(0).contains("issue_id SUP-1") && !desk.row(1).contains("SUP-1"), "{}", desk.list());

    let mut changed = note("2", "SUP-9", "Two");
    changed.row.revision.0 = 2;
    desk.changes(vec![changed]);
    assert!(desk.list().contains("SUP-9"), "{}", desk.list());
}

#[test]
fn settled_row_keeps_its_columns() {
    let mut desk = Desk::new(100, 30, queue());
    let ran = decided(queue().remove(1), Status::Executed, "lee");
    desk.changes(vec![ran]);
    insta::assert_snapshot!(desk.list().lines().find(|line| line.contains("lee")).unwrap_or_default(), @"");
}

fn with_mission(mut action: PendingAction, mission: &str) -> PendingAction {
    action.row.mission = Some(mission.into());
    action
}

#[test]
fn key_visits_the_rows_that_the_header_counts() {
    let mut all: Vec<_> = queue().into_iter().map(|it| with_mission(it, "week-47")).collect();
    all[1] = with_mission(all[1].clone(), "week-48");
    all[4].row.expires_at = Some(Timestamp::from_millis(NOW + 5 * 60_000));
    let mut desk = Desk::new(160, 45, all);
    desk.press("-");
    let header = desk.screen().lines().next().unwrap().to_owned();
    assert!(header.contains("8 to decide   F 1 expiring   2 blocked   5 critical"), "{header}");

    let mut told = Vec::new();
    for _ in 0..9 {
        desk.press("F");
        told.push(desk.status_line().split(" · ").next().unwrap_or_default().trim().to_owned());
    }
    insta::assert_debug_snapshot!(told, @r#"
    [
        "expires in 4 m, 1 of 1",
        "blocked, 1 of 2",
        "blocked, 2 of 2",
        "critical, 1 of 5",
        "critical, 2 of 5",
        "critical, 3 of 5",
        "critical, 4 of 5",
        "critical, 5 of 5",
        "expires in 4 m, 1 of 1",
    ]
    "#);
}

#[test]
fn key_says_what_the_filter_hides() {
    let mut desk = Desk::new(160, 45, queue());
    desk.press("/tool:create_linear_comment<Enter>F");
    assert!(desk.status_line().contains("the filter hides 6"), "{}", desk.status_line());
    let mut alone = action("1 t x low 1", "T", "{}");
    alone.row.agent = None;
    let mut desk = Desk::new(160, 45, vec![alone]);
    desk.press("F");
    assert!(
        desk.status_line().contains("Nothing unknown, expiring, blocked or critical"),
        "{}",
        desk.status_line()
    );
}

#[test]
fn values_that_only_look_equal_are_not_common() {
    let note = |id: &str, to: &str| {
        proposed(&format!("{id} note x low 2"), &format!(r#"{{"subject":"{id}","to":{to}}}"#))
    };
    let mut desk = Desk::new(160, 45, vec![note("1", r#"["ann","bo"]"#), note("2", r#"["ann","eve"]"#)]);
    assert!(!desk.row(0).contains("to ann"), "{}", desk.list());
    desk = Desk::new(160, 45, vec![note("1", r#"["ann","bo"]"#), note("2", r#"["ann","bo"]"#)]);
    assert!(desk.row(0).contains("│ to ann and 1 more"), "{}", desk.list());
}

#[test]
fn amount_that_is_no_number_keeps_its_currency() {
    let mut desk = Desk::new(
        160,
        45,
        vec![refund("1", "\"1,000\"", "USD", "ann", "x"), refund("2", "5", "EUR", "bo", "y")],
    );
    assert!(desk.list().contains("1,000 USD"), "{}", desk.list());
    assert!(desk.row(0).contains("5.00 EUR, 1 not summed"), "{}", desk.list());
    desk = Desk::new(
        160,
        45,
        vec![refund("1", "\"1,000\"", "USD", "ann", "x"), refund("2", "1e3", "EUR", "bo", "y")],
    );
    assert!(desk.row(0).contains("2 not summed"), "{}", desk.list());
}

#[test]
fn risk_of_an_agent_does_not_speak_for_us() {
    let mut one = refund("1", "5", "EUR", "ann", "x");
    one.row.risk = Risk::parse("HIGH  ✓ approved by kim");
    let desk =
        Desk::new(160, 45, vec![one, refund("2", "6", "EUR", "bo", "y"), refund("3", "7", "EUR", "cy", "z")]);
    assert!(!desk.list().contains("approved by"), "{}", desk.list());
}

#[test]
fn excluded_row_shows_what_was_proposed() {
    let mut desk = Desk::new(100, 30, queue());
    desk.press("e<Backspace><Backspace>00<Enter>kx");
    let row = desk.list().lines().find(|line| line.contains("ilka")).unwrap().to_owned();
    assert!(row.contains("✗") && row.contains("129.90") && !row.contains("was"), "{row}");
}

#[test]
fn key_does_not_return_to_a_decided_row() {
    let mut all = queue();
    for nth in [0, 4] {
        all[nth].row.expires_at = Some(Timestamp::from_millis(NOW + 5 * 60_000));
    }
    let mut desk = Desk::new(160, 45, all);
    desk.press("FxF");
    assert_eq!(desk.here(), "88413", "{}", desk.screen());
    assert!(desk.header().contains("1 expiring"), "{}", desk.header());
}

#[test]
fn staged_rows_are_neither_counted_nor_visited() {
    let all = queue().into_iter().map(|it| with_mission(it, "week-47"));
    let alone = with_mission(refund("9", "1", "EUR", "zoe", "x"), "week-48");
    let mut desk = Desk::new(160, 45, all.chain([alone]).collect());
    assert!(desk.header().contains("F 2 blocked   6 critical"), "{}", desk.header());
    desk.press("/zoe<Enter>x<Esc>");
    assert!(desk.header().contains("F 1 blocked   5 critical"), "{}", desk.header());
    desk.press("u");
    assert!(desk.header().contains("F 2 blocked   6 critical"), "{}", desk.header());
    desk.press("U");
    for _ in 0..6 {
        desk.press("F");
        assert_ne!(desk.here(), "9", "{}", desk.status_line());
    }
    assert!(desk.status_line().contains("critical, 5 of 5"), "{}", desk.status_line());
}

#[test]
fn unknown_outcomes_are_counted_under_a_filter() {
    let mut all = queue();
    all[1] = lost(all[1].clone());
    let mut desk = Desk::new(100, 30, all);
    desk.press("/SUP<Enter>");
    assert!(desk.header().contains("F 1 unknown"), "{}", desk.header());
}

#[test]
fn sum_follows_arrivals_and_what_others_settle() {
    let mut desk = Desk::new(160, 45, queue());
    desk.changes(vec![refund("99", "1000.00", "EUR", "zoe", "x")]);
    desk.press("j");
    assert!(desk.row(0).contains("6109.90 EUR"), "{}", desk.list());
    desk.changes(vec![decided(queue().remove(3), Status::Rejected, "lee")]);
    assert!(desk.row(0).contains("1129.90 EUR"), "{}", desk.list());
}

#[test]
fn band_says_nothing_of_rows_that_it_did_not_read() {
    let all = (1..=1_001).map(|id| refund(&id.to_string(), "1.00", "EUR", "ann", "x")).collect();
    let desk = Desk::new(160, 45, all);
    assert_eq!(
        desk.row(0).split_whitespace().collect::<Vec<_>>(),
        ["▾", "refund_payment", "CRIT", "1001", "left"]
    );
    assert!(desk.row(1).contains("1.00 EUR  ann"), "{}", desk.list());
}
