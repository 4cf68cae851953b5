//! Screens of settled actions.

use crate::domain::{DecisionKind, Outcome, PendingAction, Status, Timestamp};
use crate::inbox::Problem;
use crate::tui::history::state::{OwnDecision, PageRequest, ViewPage, ViewRow};
use crate::tui::testing::{Desk, NOW, few, source};

use super::views::{MINUTE, asks, knows, looking, over, page, rest, row};

#[test]
fn failed_list_on_a_narrow_screen() {
    insta::assert_snapshot!(looking(80, 24).without_tabs(), @"
     placet  5 to decide   F 3 blocked   1 critical       ● gate   kim@acme   14:22
     Failed   as of 14:22                                                row 1 of 3
    ▌ Refund 120 EUR to alice  card expired                    lee              3 m
      Refund 3 EUR to bob  HTTP 502 ⟦ESC⟧[31mBad Gateway       kim@acme         1 h
      退款申请 世界 [] 客户                                    lee              1 h







    ── refund_payment · HIGH ───────────────────────────────────────────── 1-9/12 ──
    │ failed  decided by lee
      reason
    │   they paid twice
      error
    │   card expired
    │   ask for another

      approved with edits that replace: amount (the Diff tab shows them)

     Read-only · gi back to the inbox   staged 1 approve · 1 edit · 1 exclude saved
     / filter  ] tabs  z zoom  gi inbox  q quit                          ? all keys
    ");
}

#[test]
fn failed_list_in_two_panes() {
    insta::assert_snapshot!(looking(100, 30).without_tabs(), @"
     placet  5 to decide   F 3 blocked   1 critical                           ● gate   kim@acme   14:22
     Failed   as of 14:22                        row 1 of 3 │ refund_payment · HIGH
    ▌ Refund 120 EUR to alice  card expired             3 m │
      Refund 3 EUR to bob  HTTP 502 ⟦ESC⟧[31mBad Ga…    1 h │ Refund 120 EUR to alice
      退款申请 世界 [] 客户                             1 h │ │ failed  decided by lee
                                                            │   reason
                                                            │ │   they paid twice
                                                            │   error
                                                            │ │   card expired
                                                            │ │   ask for another
                                                            │
                                                            │   approved with edits that replace:
                                                            │   amount (the Diff tab shows them)
                                                            │
                                                            │   What ran, with the approver's edits
                                                            │ │ amount    120 → 100 EUR
                                                            │ │ currency  EUR
                                                            │
                                                            │
                                                            │
                                                            │
                                                            │
                                                            │
                                                            │
                                                            │
                                                            │
                                                            │
                                                            │ (tabs)
     Read-only · gi back to the inbox   staged 1 approve · 1 edit · 1 exclude                     saved
     / filter  ] tabs  z zoom  gi inbox  q quit                                              ? all keys
    ");
}

#[test]
fn failed_list_in_three_panes() {
    insta::assert_snapshot!(looking(160, 45).without_tabs(), @"
    placet  5 to decide   F 3 blocked   1 critical                                                                                       ● gate   kim@acme   14:22
    All                    8 │ Failed   as of 14:22                                          row 1 of 3 │ refund_payment · HIGH
                             │▌ Refund 120 EUR to alice  card expired              lee              3 m │
    Agents                   │  Refund 3 EUR to bob  HTTP 502 ⟦ESC⟧[31mBad Gateway kim@acme         1 h │ Refund 120 EUR to alice
    billing-agent          1 │  退款申请 世界 [] 客户                              lee              1 h │ │ failed  decided by lee
    drive-sync             3 │                                                                          │   reason
    refunds-agent          4 │                                                                          │ │   they paid twice
                             │                                                                          │   error
    Tools                    │                                                                          │ │   card expired
    create_linear_issue    3 │                                                                          │ │   ask for another
    google_drive_write     3 │                                                                          │
    refund_payment         1 │                                                                          │   approved with edits that replace: amount (the Diff
    update_linear_issue    1 │                                                                          │   tab shows them)
                             │                                                                          │
                             │                                                                          │   What ran, with the approver's edits
                             │                                                                          │ │ amount    120 → 100 EUR
                             │                                                                          │ │ currency  EUR
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │
                             │                                                                          │ (tabs) unread 1-13/13
    Read-only · gi back to the inbox   staged 1 approve · 1 edit · 1 exclude                                                                                 saved
    / filter  ] tabs  z zoom  gi inbox  q quit                                                                                                          ? all keys
    ");
}

#[test]
fn mixed_states_are_named() {
    let actions = [
        over("e1 refund_payment billing high 90", "Refund 9 EUR to eve", Status::Expired, "", 5),
        over("e2 refund_payment billing high 95", "Refund 8 EUR to eve", Status::Withdrawn, "billing", 15),
        over("e3 refund_payment billing high 99", "Refund 7 EUR to eve", Status::Superseded, "billing", 25),
    ];
    let mut desk = Desk::new(80, 24, few(2));
    knows(&mut desk, &actions);
    let why = Some("no route \u{7}".into());
    let problem = Problem { source: Some(source()), what: "gave no usable answer".to_owned(), why };
    desk.pages.push_back(ViewPage { problems: vec![problem], unreadable: 2, ..page(&actions) });

    desk.press("Vxj");

    insta::assert_snapshot!(desk.without_tabs(), @"
     placet  2 to decide   F 1 blocked                    ● gate   kim@acme   14:22
     Expired, withdrawn, superseded   as of 14:22                        row 2 of 3
     ! gate gave no usable answer: no route ⟦BEL⟧
     ! 2 actions cannot be read
      Refund 9 EUR to eve                           expired                     5 m
    ▌ Refund 8 EUR to eve                           withdrawn  billing         15 m
      Refund 7 EUR to eve                           superseded billing         25 m





    ── refund_payment · HIGH ────────────────────────────────────────────── 1-4/4 ──
    │ withdrawn  decided by billing

    │ amount    120 EUR
    │ currency  EUR





     Read-only · gi back to the inbox
     / filter  ] tabs  z zoom  gi inbox  q quit                          ? all keys
    ");
}

#[test]
fn own_decisions_come_from_the_journal_with_current_states() {
    let actions = [
        over("m1 refund_payment billing high 90", "Refund 9 EUR to eve", Status::Executed, "kim@acme", 5),
        over("m2 refund_payment billing high 95", "Refund 8 EUR to eve", Status::Approved, "lee", 15),
    ];
    let gone = over("m3 refund_payment billing high 99", "Refund 7 EUR to eve", Status::Unknown, "", 25);
    let mut desk = Desk::new(100, 30, few(2));
    knows(&mut desk, &actions);
    let own = |action: &PendingAction, decision, outcome| {
        let at = Timestamp::from_millis(NOW - 30 * MINUTE);
        ViewRow { own: Some(OwnDecision { decision, at, outcome, ended: None }), ..row(action) }
    };
    let skipped = Outcome::Skipped { status: Some(Status::Approved), by: Some("lee".into()) };
    let rows = vec![
        own(&actions[0], DecisionKind::ApproveWithEdits, Some(Outcome::Approved)),
        own(&actions[1], DecisionKind::Reject, Some(skipped)),
        own(&gone, DecisionKind::Approve, None),
        own(&actions[0], DecisionKind::Approve, Some(Outcome::Failed { why: "changed".into() })),
    ];
    desk.pages.push_back(ViewPage { rows, ..page(&[]) });

    desk.press("gh");
    rest(&mut desk);

    assert_eq!(asks(&desk)[0].1, PageRequest::Decided { skip: 0 });
    insta::assert_snapshot!(desk.without_tabs(), @"
     placet  2 to decide   F 1 blocked                                        ● gate   kim@acme   14:22
     Decided by me   as of 14:22                 row 1 of 3 │ refund_payment · HIGH
    ▌ ✎ HIGH Refund 9 EUR to eve          executed    13:52 │
      ✗ HIGH Refund 8 EUR to eve          skipped     13:52 │ Refund 9 EUR to eve
      ✓ HIGH Refund 7 EUR to eve          UNKNOWN     13:52 │ │ executed  decided by kim@acme
                                                            │
                                                            │ │ amount    120 EUR
                                                            │ │ currency  EUR
                                                            │
                                                            │
                                                            │
                                                            │
                                                            │
                                                            │
                                                            │
                                                            │
                                                            │
                                                            │
                                                            │
                                                            │
                                                            │
                                                            │
                                                            │
                                                            │
                                                            │
                                                            │
                                                            │
                                                            │ (tabs)
     Read-only · gi back to the inbox
     / filter  ] tabs  z zoom  gi inbox  q quit                                              ? all keys
    ");
}

#[test]
fn own_decisions_show_outcomes_before_the_source_answers() {
    let risky =
        |id: &str, risk: &str| over(&format!("{id} pay billing {risk} 90"), "Pay", Status::Approved, "", 5);
    let own = |outcome, ended, minutes: i64| OwnDecision {
        decision: DecisionKind::Approve,
        at: Timestamp::from_millis(NOW - minutes * MINUTE),
        outcome,
        ended,
    };
    let day = 24 * 60;
    let rows = [
        ("m1", "critical", own(Some(Outcome::Approved), Some(Status::Executed), 30)),
        ("m2", "high", own(Some(Outcome::Approved), Some(Status::Failed), 31)),
        ("m3", "low", own(Some(Outcome::Approved), Some(Status::Unknown), 32)),
        ("m4", "medium", own(Some(Outcome::Accepted), None, 33)),
        ("m5", "low", own(Some(Outcome::Approved), None, 2 * day)),
    ];
    let rows = rows.map(|(id, risk, own)| ViewRow { own: Some(own), ..row(&risky(id, risk)) }).to_vec();
    let mut desk = Desk::new(80, 24, few(2));
    desk.pages.push_back(ViewPage { rows, ..page(&[]) });

    desk.press("gh");

    desk.pictured("decided_by_me");
    insta::assert_snapshot!(desk.list(), @"
 Decided by me   as of 14:22                                         row 1 of 5
▌ ✓ CRIT Pay                              executed                        13:52
  ✓ HIGH Pay                              FAILED                          13:51
  ✓ low  Pay                              UNKNOWN                         13:50
  ✓ med  Pay                              accepted                        13:49
  ✓ low  Pay                              approved                 Nov 19 14:22
");
}
