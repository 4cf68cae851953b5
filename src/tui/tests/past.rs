//! What is over, as it looks.

use crate::domain::{DecisionKind, Outcome, PendingAction, Status, Timestamp};
use crate::inbox::Problem;
use crate::tui::history::state::{OwnDecision, PageRequest, ViewPage, ViewRow};
use crate::tui::testing::{Desk, NOW, few, source};

use super::views::{MINUTE, asks, knows, looking, over, page, rest, row};

#[test]
fn what_failed_on_a_narrow_screen() {
    insta::assert_snapshot!(looking(80, 24).without_tabs(), @r"
 placet  8 pending  5 undecided  3 staged         as kim@acme  LIVE  oldest 44m
── Failed   as of 14:22 ────────────────────────────────────────── row 1 of 3 ──
> Refund 120 EUR to alice  card expired                    lee               3m
  Refund 3 EUR to bob  HTTP 502 ⟦ESC⟧[31mBad Gateway       kim@acme       1h05m
  退款申请 世界 [] 客户                                    lee            1h15m







── (tabs) f1 1-6 of 14
refund_payment · HIGH
│ failed  decided by lee
  reason
│   they paid twice
  error
│   card expired
│   ask for another
────────────────────────────────────────────────────────────────────────────────
 FOR READING: gi goes back to the inbox, where a1 e1 x1 staged   saved 14:22:38

 ] tabs  z zoom  gi inbox  q quit                                        ? help
");
}

#[test]
fn what_failed_in_two_panes() {
    insta::assert_snapshot!(looking(100, 30).without_tabs(), @r"
 placet   gate   pending 8   undecided 5   staged 3 (a1 e1 x1)             as kim@acme  LIVE  14:22
                                                       blocked until decided: 3 agents   oldest 44m
┌─ Failed   as of 14:22 ─────────────────────┐┌─ Preview ──────────────────────────────────────────┐
│> Refund 120 EUR t…  card expired        3m ││ refund_payment · HIGH                              │
│  Refund 3 EUR to …  HTTP 502 ⟦ESC⟧…  1h05m ││                                                    │
│  退款申请 世界 []…                   1h15m ││ unread   billing   40m old                         │
│                                            ││ (tabs)                                             │
│                                            ││ id f1                                              │
│                                            │││ failed  decided by lee                            │
│                                            ││  reason                                            │
│                                            │││   they paid twice                                 │
│                                            ││  error                                             │
│                                            │││   card expired                                    │
│                                            │││   ask for another                                 │
│                                            ││                                                    │
│                                            ││  approved with edits that replace: amount (the     │
│                                            ││  Diff tab shows them)                              │
│                                            ││                                                    │
│                                            ││  What ran, with the approver's edits               │
│                                            │││ amount    100 EUR                                 │
│                                            │││ currency  EUR                                     │
│                                            ││                                                    │
│                                            ││  Hidden characters: none.  31 bytes                │
│                                            ││                                                    │
│                                            ││                                                    │
└─ row 1 of 3 ───────────────────────────────┘└─ J/K scroll   1-15 of 15 ──────────────────────────┘
────────────────────────────────────────────────────────────────────────────────────────────────────
 FOR READING: gi goes back to the inbox, where a1 e1 x1 staged   saved 14:22:38

 ] tabs  z zoom  gi inbox  q quit                                                            ? help
");
}

#[test]
fn what_failed_in_three_panes() {
    insta::assert_snapshot!(looking(160, 45).without_tabs(), @r"
 placet   gate   pending 8   undecided 5   staged 3 (a1 e1 x1)                                                                         as kim@acme  LIVE  14:22
                                                                                                                                                     oldest 44m
┌─ Queues ───────────────────┐┌─ Failed   as of 14:22 ──────────────────────────────────────────────────┐┌─ Preview ───────────────────────────────────────────┐
│ gate                     8 ││> Refund 120 EUR to alice  card expired             lee               3m ││ refund_payment · HIGH                               │
│ agents blocked           3 ││  Refund 3 EUR to bob  HTTP 502 ⟦ESC⟧[31mBad Gatew… kim@acme       1h05m ││                                                     │
│                            ││  退款申请 世界 [] 客户                             lee            1h15m ││ unread   billing   40m old                          │
│ Risk                       ││                                                                         ││ (tabs)                                              │
│   critical     1  ###      ││                                                                         ││ id f1                                               │
│   high         2  ######   ││                                                                         │││ failed  decided by lee                             │
│   medium       3  ######## ││                                                                         ││  reason                                             │
│   low          2  ######   ││                                                                         │││   they paid twice                                  │
│                            ││                                                                         ││  error                                              │
│ Age                        ││                                                                         │││   card expired                                     │
│   < 15 m       2  ###      ││                                                                         │││   ask for another                                  │
│   15-60 m      6  ######## ││                                                                         ││                                                     │
│   1-4 h        0           ││                                                                         ││  approved with edits that replace: amount (the Diff │
│   > 4 h        0           ││                                                                         ││  tab shows them)                                    │
│                            ││                                                                         ││                                                     │
│ Staged                     ││                                                                         ││  What ran, with the approver's edits                │
│   approve      1  ######## ││                                                                         │││ amount    100 EUR                                  │
│   edit         1  ######## ││                                                                         │││ currency  EUR                                      │
│   exclude      1  ######## ││                                                                         ││                                                     │
│                            ││                                                                         ││  Hidden characters: none.  31 bytes                 │
│                            ││                                                                         ││                                                     │
│                            ││                                                                         ││                                                     │
│                            ││                                                                         ││                                                     │
│                            ││                                                                         ││                                                     │
│                            ││                                                                         ││                                                     │
│                            ││                                                                         ││                                                     │
│                            ││                                                                         ││                                                     │
│                            ││                                                                         ││                                                     │
│                            ││                                                                         ││                                                     │
│                            ││                                                                         ││                                                     │
│                            ││                                                                         ││                                                     │
│                            ││                                                                         ││                                                     │
│                            ││                                                                         ││                                                     │
│                            ││                                                                         ││                                                     │
│                            ││                                                                         ││                                                     │
│                            ││                                                                         ││                                                     │
│                            ││                                                                         ││                                                     │
└────────────────────────────┘└─ row 1 of 3 ────────────────────────────────────────────────────────────┘└─ J/K scroll   1-15 of 15 ───────────────────────────┘
────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
 FOR READING: gi goes back to the inbox, where a1 e1 x1 staged   saved 14:22:38                                                            unopened approvals 0

 ] tabs  z zoom  gi inbox  q quit                                                                                                                        ? help
");
}

#[test]
fn states_that_differ_are_named() {
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

    insta::assert_snapshot!(desk.without_tabs(), @r"
 placet  2 pending  2 undecided                   as kim@acme  LIVE  oldest 59m
── Expired, withdrawn, superseded   as of 14:22 ────────────────── row 2 of 3 ──
 ! gate gave no usable answer: no route ⟦BEL⟧
 ! 2 actions cannot be read
  Refund 9 EUR to eve                           expired                      5m
> Refund 8 EUR to eve                           withdrawn  billing          15m
  Refund 7 EUR to eve                           superseded billing          25m





── (tabs) e2 1-6 of 6
refund_payment · HIGH
│ withdrawn  decided by billing

│ amount    120 EUR
│ currency  EUR

  Hidden characters: none.  31 bytes
────────────────────────────────────────────────────────────────────────────────
 FOR READING: gi goes back to the inbox   saved 14:22:31

 ] tabs  z zoom  gi inbox  q quit                                        ? help
");
}

#[test]
fn my_decisions_come_from_the_journal_and_say_where_the_actions_stand_now() {
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
    insta::assert_snapshot!(desk.without_tabs(), @r"
 placet   gate   pending 2   undecided 2                                   as kim@acme  LIVE  14:22
                                                        blocked until decided: 1 agent   oldest 59m
┌─ Decided by me   as of 14:22 ──────────────┐┌─ Preview ──────────────────────────────────────────┐
│> E HIGH Refund 9 EUR to… executed    13:52 ││ refund_payment · HIGH                              │
│  X HIGH Refund 8 EUR to… skipped     13:52 ││                                                    │
│  A HIGH Refund 7 EUR to… UNKNOWN     13:52 ││ unread   billing   1h30m old                       │
│                                            ││ (tabs)                                             │
│                                            ││ id m1                                              │
│                                            │││ executed  decided by kim@acme                     │
│                                            ││                                                    │
│                                            │││ amount    120 EUR                                 │
│                                            │││ currency  EUR                                     │
│                                            ││                                                    │
│                                            ││  Hidden characters: none.  31 bytes                │
│                                            ││                                                    │
│                                            ││                                                    │
│                                            ││                                                    │
│                                            ││                                                    │
│                                            ││                                                    │
│                                            ││                                                    │
│                                            ││                                                    │
│                                            ││                                                    │
│                                            ││                                                    │
│                                            ││                                                    │
│                                            ││                                                    │
└─ row 1 of 3 ───────────────────────────────┘└─ J/K scroll   1-6 of 6 ────────────────────────────┘
────────────────────────────────────────────────────────────────────────────────────────────────────
 FOR READING: gi goes back to the inbox   saved 14:22:31

 ] tabs  z zoom  gi inbox  q quit                                                            ? help
");
}

#[test]
fn my_decision_says_what_became_of_it_before_its_source_answers() {
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

    let screen = desk.screen();
    for (word, risk) in [
        ("executed", "CRIT"),
        ("FAILED", "HIGH"),
        ("UNKNOWN", "low"),
        ("accepted", "med"),
        ("approved", "low"),
    ] {
        let line =
            screen.lines().find(|line| line.contains(word)).unwrap_or_else(|| panic!("{word}: {screen}"));
        assert!(line.contains(risk), "{word}: {screen}");
    }
    assert!(screen.contains(" 13:52") && screen.contains(" Nov 19 14:22"), "the time of day: {screen}");
}
