//! Orders and groups of the list.

use crate::config::{GroupBy, SortBy};
use crate::domain::Timestamp;
use crate::inbox::Rows;
use crate::tui::core::job::Job as _;
use crate::tui::core::msg::What;
use crate::tui::queue::sort::Sorting;
use crate::tui::testing::{Desk, NOW, action, few, key, source};

use super::screens::queue;
use super::triage::{checkpoints, ids, top};

#[test]
fn cursor_stays_on_its_action_in_every_order_and_grouping() {
    let mut desk = Desk::new(160, 45, queue());
    desk.press("jj");
    let here = desk.here();

    for keys in [",r", ",e", ",t", ",s", ",a", ",m", ",c", ",g", ",o", ",b"] {
        desk.press(keys);
        assert_eq!(desk.here(), here, "{keys}");
    }
    desk.press(",x,b");
    assert_ne!(desk.here(), "-");
}

#[test]
fn rows_move_only_on_a_sort_key() {
    let mut desk = Desk::new(100, 30, checkpoints());
    desk.press(",o,r");
    assert_eq!(ids(&desk), "4 3 1 2 5 6", "high risk first, then the oldest");
    let mut changed = checkpoints().remove(5);
    changed.row.risk = crate::domain::Risk::Critical;

    desk.changes(vec![changed]);
    assert_eq!(ids(&desk), "4 3 1 2 5 6", "rows move only on a key");
    desk.press("R");

    assert_eq!(ids(&desk), "6 4 3 1 2 5");
}

#[test]
fn a_checkpoints_batches_are_decided_together() {
    let mut desk = Desk::new(100, 30, checkpoints());
    desk.press(",cgg");
    desk.pictured("checkpoints");
    insta::assert_snapshot!(desk.list(), @"
    ▌▾ checkpoint onboarding  2 batches  low         3 left
       │ Issue about login                              1 h
     • │ Guide for login                               50 m
     • │ Issue about billing                       med 40 m
     ▾ checkpoint refunds  1 batch  HIGH             2 left
     • │ Refund 1.10 EUR to ilka@example.com           30 m
     • │ Refund 49.00 EUR to bram@example.com      low 20 m
     • send_email │ Mail to oda                    low 10 m
    ");

    desk.press(" a");
    assert_eq!(desk.staged(), "1A 2A 3A");
    desk.press("s");

    insta::assert_snapshot!(desk.sheet(), @"
    Send 3 decisions in 2 batches to gate
      1 create_linear_issue medium, 1 create_linear_issue low, 1 save_document
       low
        ✓ 3 approve

        ! unread       Guide for login   (o shows)
        ! unread       Issue about billing

        create_linear_issue  support:create_linear_issue
         ✓  Issue about login
         ✓  Issue about billing
        save_document  support:save_document
         ✓  Guide for login

      gate, as kim@acme
      The gate refuses any action that changed after you saw it.


      2 unread. Type 3 and press Enter to send.  [    ]               Esc back
    Nothing is sent yet
    ");
}

#[test]
fn near_identical_actions_are_one_row_until_unfolded() {
    let close = |i: usize| {
        let spec = format!("{i} update_linear_issue support low {}", 60 - i);
        let input = format!("{{\"issue_id\":\"LIN-{i}\",\"state\":\"Done\",\"note\":\"n{i}\"}}");
        action(&spec, &format!("Close stale ticket LIN-{i}"), &input)
    };
    let mut actions: Vec<_> = (1..=9).map(close).collect();
    actions.push(action("90 refund_payment billing low 5", "Refund 3 EUR", r#"{"amount":3}"#));
    let mut desk = Desk::new(160, 45, actions);

    desk.press(",xgg");
    desk.pictured("near_identical");
    assert_eq!(desk.model.queue.lines.len(), 2, "{}", desk.screen());
    insta::assert_snapshot!(desk.row(0), @"▌▸ Close stale ticket …  update_linear_issue  low                  9 left");
    insta::assert_snapshot!(desk.preview(), @r#"
A approves the rest   Space marks all   s reviews

  issue_id                  note
  "LIN-1"                   "n1"
  "LIN-2"                   "n2"
  "LIN-3"                   "n3"
  "LIN-4"                   "n4"
  "LIN-5"                   "n5"
  "LIN-6"                   "n6"
  "LIN-7"                   "n7"
  "LIN-8"                   "n8"
  "LIN-9"                   "n9"
"#);
    desk.press(" x");
    assert_eq!(desk.model.decide.draft.len(), 9);
    desk.press("ggl");
    assert_eq!(desk.model.queue.lines.len(), 11);
}

#[test]
fn approving_a_groups_rest_covers_shown_rows_only() {
    let mut desk = Desk::new(100, 30, checkpoints());
    desk.press("jjjjjjjjjgg");
    desk.press(",c/login<Enter>A");

    assert_eq!(desk.message(), "approved the rest of this checkpoint (shown rows only): 2");
    assert!(
        desk.model.decide.draft.iter().all(|(key, _)| ["1", "2"].contains(&key.id.as_raw())),
        "{}",
        desk.staged()
    );
}

#[test]
fn expiry_order_starts_with_the_earliest() {
    let mut actions = few(3);
    actions[2].row.expires_at = Some(Timestamp::from_millis(NOW + 60_000));
    actions[1].row.expires_at = Some(Timestamp::from_millis(NOW + 90_000));
    let mut desk = Desk::new(100, 30, actions);

    desk.press(",e");

    assert_eq!(ids(&desk), "3 2 1");
    assert_eq!(desk.model.queue.group_by, GroupBy::Batch);
}

#[test]
fn checkpoints_in_two_panes() {
    let mut desk = Desk::new(100, 30, checkpoints());
    desk.press(",cggvjj");

    insta::assert_snapshot!(top(&desk, 16), @"
     placet  6 to decide   F 2 blocked   by checkpoint                        ● gate   kim@acme   14:22
     ▾ checkpoint onboarding  2 batches  low         3 left │ save_document · low
      +│ Issue about login                              1 h
    ▌•+│ Guide for login                               50 m
     • │ Issue about billing                       med 40 m
     ▾ checkpoint refunds  1 batch  HIGH             2 left
     • │ Refund 1.10 EUR to ilka@example.com           30 m
     • │ Refund 49.00 EUR to bram@example.com      low 20 m
     • send_email │ Mail to oda                    low 10 m







                                                            │ [Rendered]  ] tabs         unread   1-7/7
     grouped by checkpoint
     range: v marks it  a approve  x exclude  Esc drop it  e edit  Space mark  / filter      ? all keys
    ");
}

#[test]
fn shapes_in_two_panes() {
    let mut desk = Desk::new(100, 30, checkpoints());
    desk.press(",xggjjj");

    insta::assert_snapshot!(top(&desk, 16), @"
     placet  6 to decide   F 2 blocked   by shape                             ● gate   kim@acme   14:22
       create_linear_issue │ Issue about login      low 1 h │ Refund … EUR to …  refund_payment
       save_document │ Guide for login             low 50 m
       create_linear_issue │ Issue about billing   med 40 m
    ▌▸ Refund … EUR to …  refund_payment  HIGH 1     2 left
     • send_email │ Mail to oda                    low 10 m










                                                            │
     grouped by shape: near-identical actions are one row; l opens it
     Enter unfold  Space mark  / filter  n next  q quit                                      ? all keys
    ");
}

#[test]
fn old_groups_stay_until_the_last_requested_ones_are_ready() {
    let issue = |i: usize| {
        let title = format!("Issue number {i}");
        action(&format!("pa-{i:05} create_linear_issue support low {i}"), &title, r#"{"title":"x"}"#)
    };
    let mut desk = Desk::new(100, 30, (0..11_000).map(issue).collect());
    let until_found = |desk: &mut Desk| {
        while desk.model.list.regrouping.is_some() {
            desk.say(What::Wake);
        }
    };

    desk.press(",x");
    assert_eq!(desk.model.queue.group_by, GroupBy::Batch);
    let here = desk.here();
    desk.changes(vec![issue(30_000)]);
    desk.press("j");
    assert_ne!(desk.here(), here, "the cursor moves");
    let here = desk.here();
    until_found(&mut desk);
    assert_eq!(desk.model.queue.group_by, GroupBy::Shape);
    assert_eq!(desk.model.queue.groups.iter().map(|group| group.rows.len()).collect::<Vec<_>>(), [11_001]);
    desk.press("l");
    assert!(desk.model.queue.is_shown(&key(&here)));

    // Only the last of several requested groupings is applied.
    desk.press(",g,x,o");
    until_found(&mut desk);
    assert_eq!(desk.model.queue.group_by, GroupBy::Source);
    (0..3).for_each(|_| desk.say(What::Wake));
    assert_eq!(desk.model.queue.group_by, GroupBy::Source);
}

#[test]
fn row_changed_during_a_sort_is_placed_correctly() {
    let mut desk = Desk::new(100, 30, few(6));
    let sorting = Sorting::new(SortBy::Tool, &desk.model.queue).step(&mut desk.model, 4).unwrap();

    let mut last = desk.model.queue.slots.iter().last().map(|slot| (*slot.entry).clone()).unwrap();
    last.row.tool = "aa_another".into();
    desk.model.queue.merge(&source(), Rows::Changes { entries: vec![last], gone: Vec::new() });
    assert!(sorting.step(&mut desk.model, usize::MAX).is_none());

    let order: Vec<_> =
        desk.model.queue.order.iter().filter_map(|index| desk.model.queue.slot(*index)).collect();
    assert!(order.is_sorted_by(|a, b| SortBy::Tool.compare_slots(a, b).is_lt()));
    assert_eq!(order.first().map(|slot| slot.entry.row.tool.as_raw()), Some("aa_another"));
}

#[test]
fn finished_sort_ends_a_range_begun_meanwhile() {
    let mut desk = Desk::new(100, 30, few(6));
    let sorting = Sorting::new(SortBy::Tool, &desk.model.queue).step(&mut desk.model, 4).unwrap();
    desk.model.queue.begin_range();

    assert!(sorting.step(&mut desk.model, usize::MAX).is_none());

    assert_eq!(desk.model.queue.sort_by, SortBy::Tool);
    assert!(!desk.model.queue.has_range(), "the range would cover other rows");
}
