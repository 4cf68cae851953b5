//! Arrivals, departures, and the row under the cursor.

use crate::config::{GroupBy, SortBy};
use crate::domain::{BatchKey, Briefing, Decision, Draft, Revision, Staged, Status, Timestamp};
use crate::inbox::{Connection, Event, EventKind, Problem, Rows, Synced};
use crate::journal::{Restored, Write};
use crate::rounds::{Random, rounds};
use crate::tui::core::msg::{Effect, What};
use crate::tui::core::router;
use crate::tui::queue::slots::State;
use crate::tui::queue::state::Cursor;
use crate::tui::queue::update;
use crate::tui::testing::{CAN, Desk, action, decided, few, key, source};

fn newcomer() -> crate::domain::PendingAction {
    action("0 create_linear_issue support low 90", "Came late, made early", r#"{"title":"x"}"#)
}

fn event(kind: EventKind) -> What {
    What::Source(Event { source: source(), kind })
}

fn syncs(desk: &mut Desk) -> Vec<Effect> {
    let all = std::mem::take(&mut desk.effects);
    all.into_iter().filter(|effect| matches!(effect, Effect::Sync { .. })).collect()
}

#[test]
fn first_page_is_on_screen_before_the_rest() {
    let mut desk = Desk::unstarted(100, 30, CAN);
    desk.say(What::Restored(Ok(Box::default())));
    let mut newest = few(6).split_off(4);

    desk.page(newest.clone(), true);
    assert!(desk.row(1).contains("Issue number 5"), "{}", desk.screen());
    desk.page(few(4), false);
    assert_eq!(desk.here(), "1", "no key was pressed yet");
    desk.last_page(&["1", "2", "3", "4", "5", "6"]);
    assert_eq!(desk.model.list.stats.pending, 6);

    // A second list: rows missing from all its pages are settled, but the row under the cursor stays.
    desk.press("jj");
    desk.page(newest.split_off(1), true);
    desk.page(few(3), false);
    assert_eq!(desk.model.list.stats.pending, 6, "more pages may follow");
    desk.last_page(&["6", "1", "2", "3"]);
    assert_eq!((desk.model.list.stats.pending, desk.here().as_str()), (4, "3"));
}

#[test]
fn pages_of_an_interrupted_list_are_shown() {
    let mut desk = Desk::unstarted(100, 30, CAN);
    desk.say(What::Restored(Ok(Box::default())));
    desk.page(few(6).split_off(2), true);
    desk.page(few(2), false);
    assert_eq!(
        (desk.model.list.stats.pending, desk.model.queue.n_shown()),
        (6, 4),
        "too few rows to move them all"
    );

    let problem = Problem { source: Some(source()), what: "broke off".to_owned(), why: None };
    desk.say(What::Synced(source(), Err(problem)));

    assert_eq!((desk.here().as_str(), desk.model.queue.n_shown()), ("3", 6));
}

#[test]
fn freezing_between_two_pages_loses_no_row() {
    for was_frozen in [false, true] {
        let mut before = few(6);
        before.drain(3..5);
        let mut desk = Desk::new(100, 30, before);
        if was_frozen {
            desk.press("f");
        }
        desk.page(few(2), true);
        desk.press("f");
        desk.page(few(5).split_off(2), false);
        desk.last_page(&["1", "2", "3", "4", "5"]);
        assert_eq!(desk.model.list.stats.pending, 5, "frozen before: {was_frozen}");

        if desk.model.list.frozen.is_some() {
            desk.press("f");
        }
        assert_eq!(desk.model.list.stats.pending, 5, "frozen before: {was_frozen}");
        let over = desk.model.queue.slots.iter().filter(|slot| !slot.is_open());
        assert_eq!(
            over.map(|slot| slot.entry.key.id.as_raw()).collect::<Vec<_>>(),
            ["6"],
            "frozen before: {was_frozen}"
        );
    }
}

#[test]
fn row_removed_between_two_pages_does_not_hide_another_departure() {
    let mut desk = Desk::new(100, 30, few(4));

    desk.page(few(1), true);
    // The first row is decided and removed by the reload, so the list keeps its length.
    desk.changes(vec![decided(few(1).remove(0), Status::Approved, "lee")]);
    desk.press("R");
    desk.page(few(3).split_off(1), false);
    desk.last_page(&["1", "2", "3"]);

    let open = desk.model.queue.slots.iter().filter(|slot| slot.is_open());
    assert_eq!(open.map(|slot| slot.entry.key.id.as_raw()).collect::<Vec<_>>(), ["2", "3"]);
}

#[test]
fn unused_tools_are_forgotten() {
    let mut desk = Desk::new(100, 30, few(1));
    for nth in 0..1_200 {
        let mut same = few(1).remove(0);
        same.row.tool = format!("tool-{nth}").as_str().into();
        desk.changes(vec![same]);
    }

    assert!(desk.model.queue.tally.kinds.all().len() < 300, "{}", desk.model.queue.tally.kinds.all().len());
    assert_eq!(desk.model.list.stats.by_tool, [("tool-1199".into(), 1)]);
}

#[test]
fn arrival_above_the_cursor_waits_for_the_next_move() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("j");
    let before = desk.screen();

    desk.changes(vec![newcomer()]);

    assert_eq!(desk.here(), "2");
    let row = |screen: &str| screen.lines().position(|line| line.starts_with('▌'));
    assert_eq!(row(&desk.screen()), row(&before));
    insta::assert_snapshot!(desk.header(), @" placet  4 to decide   1 new above   F 1 blocked                          ● gate   kim@acme   14:22");
    desk.press("?<Esc>");
    assert_eq!(desk.model.queue.held.len(), 1, "nothing moved");
    desk.press("j");
    assert_eq!(desk.here(), "3", "the cursor stays on its action");
    assert_eq!(desk.model.queue.at, 4);
    insta::assert_snapshot!(desk.header(), @" placet  4 to decide   F 1 blocked                                        ● gate   kim@acme   14:22");
}

#[test]
fn arrival_below_the_cursor_comes_in_at_once() {
    let mut desk = Desk::new(100, 30, few(2));
    desk.press("j");

    desk.changes(few(3).split_off(2));

    insta::assert_snapshot!(desk.row(3), @" • │ Issue number 3                                57 m");
    insta::assert_snapshot!(desk.header(), @" placet  3 to decide   F 1 blocked                                        ● gate   kim@acme   14:22");
    assert_eq!((desk.here().as_str(), desk.model.queue.at), ("2", 2));
}

#[test]
fn arrival_above_the_screen_moves_no_visible_row() {
    let mut desk = Desk::new(80, 24, few(60));
    desk.press("Gkk");
    let before = desk.list();

    desk.changes(vec![newcomer()]);

    assert_eq!(desk.list(), before);
    assert!(desk.model.queue.get(&key("0")).is_some() && desk.model.queue.held.is_empty());
}

#[test]
fn empty_list_takes_held_arrivals_in() {
    let mut desk = Desk::new(100, 30, few(2));
    desk.press("j");
    desk.changes(few(2).into_iter().map(|action| decided(action, Status::Rejected, "lee")).collect());

    desk.changes(vec![newcomer()]);

    insta::assert_snapshot!(desk.row(1), @" • │ Came late, made early                          1 h");
    desk.press("n");
    assert_eq!(desk.here(), "0");
}

#[test]
fn next_goes_to_held_arrivals_above() {
    let mut desk = Desk::new(100, 30, few(2));
    desk.press("x");
    desk.changes(vec![newcomer()]);
    desk.press("x");
    assert_eq!(desk.staged(), "1X 2X");
    assert_eq!(desk.message(), "1 just arrived: n goes there. s review and send");

    desk.press("n");

    assert_eq!(desk.here(), "0");
}

#[test]
fn arrival_is_decided_only_after_250_ms_on_screen() {
    for (after, staged) in [(100, ""), (249, ""), (250, "3X")] {
        let mut desk = Desk::new(100, 30, few(2));
        desk.press("j");
        desk.changes(few(3).split_off(2));
        desk.wait(5_000);
        desk.drawn();
        desk.hurry("j", 50);
        desk.hurry("x", after - 50);

        assert_eq!(desk.staged(), staged, "{after}: {}", desk.message());
    }
}

#[test]
fn cursor_does_not_advance_to_a_new_arrival() {
    for (after, here) in [(100, "2"), (249, "2"), (250, "3")] {
        let mut desk = Desk::new(100, 30, few(2));
        desk.press("x");
        desk.changes(few(3).split_off(2));
        desk.drawn();
        desk.hurry("x", after);

        assert_eq!((desk.staged().as_str(), desk.here().as_str()), ("1X 2X", here), "{after}");
    }
}

#[test]
fn bulk_keys_leave_out_new_arrivals() {
    for (keys, marked) in [("*", 2), ("vG ", 2)] {
        for (after, more) in [(249, 0), (250, 2)] {
            let mut desk = Desk::new(100, 30, few(2));
            desk.press("jk");
            desk.changes(few(4).split_off(2));
            desk.drawn();
            desk.hurry(keys, after / keys.len() as i64 + i64::from(after == 250));

            assert_eq!(desk.model.queue.marks.len(), marked + more, "{keys} {after}");
            let said = desk.message().contains("2 just arrived, not marked");
            assert_eq!(said, more == 0, "{keys} {after}: {}", desk.message());
        }
    }
}

#[test]
fn approving_the_rest_leaves_out_new_arrivals() {
    let mut desk = Desk::new(100, 30, few(2));
    desk.press("jk");
    desk.changes(few(4).split_off(2));
    desk.drawn();
    desk.hurry("A", 249);

    assert_eq!(desk.staged(), "1A 2A");
    assert_eq!(desk.message(), "approved the rest of this batch: 2; 2 just arrived, not marked");
}

/// Returns the lines from the top of the screen to the cursor.
fn above(desk: &Desk) -> Vec<Option<Cursor>> {
    let queue = &desk.model.queue;
    let lines = queue.lines.get(queue.top..=queue.at).unwrap_or_default();
    lines.iter().map(|line| queue.identity(*line)).collect()
}

#[test]
fn arrivals_do_not_move_rows_above_the_cursor() {
    let mut random = Random::seeded();
    let (mut came, mut waited) = (0, 0);
    for round in 0..rounds(50, 5_000) {
        let some = |random: &mut Random, id: usize| {
            let tool = ["t", "u", "v", "w", "x", "y"][random.below(6)];
            let risk = ["low", "medium", "high"][random.below(3)];
            let spec = format!("{id} {tool} agent {risk} {}", random.below(100));
            action(&spec, &format!("Title {}", random.below(3)), "{}")
        };
        let n = 1 + random.below(40);
        let mut desk =
            Desk::new(100, 16 + random.below(20) as u16, (0..n).map(|id| some(&mut random, id)).collect());
        update::sort(&mut desk.model, [SortBy::Age, SortBy::Risk, SortBy::Tool][random.below(3)]);
        update::group(&mut desk.model, [GroupBy::Batch, GroupBy::Source, GroupBy::Shape][random.below(3)]);
        for _ in 0..=random.below(30) {
            desk.press(["j", "k", "zc", "zo", "G", "gg", "n"][random.below(7)]);
        }
        for step in 0..8 {
            let (before, cursor) = (above(&desk), desk.model.queue.cursor().cloned());
            let new = (0..=random.below(3)).map(|nth| some(&mut random, 1_000 + step * 10 + nth)).collect();
            desk.changes(new);

            assert_eq!(desk.model.queue.cursor().cloned(), cursor, "round {round}");
            assert_eq!(above(&desk), before, "round {round}");
            waited += desk.model.queue.held.len();
            desk.press(["j", "k", "G", "gg", "?<Esc>"][random.below(5)]);
            if desk.model.queue.cursor().cloned() != cursor {
                assert_eq!(desk.model.queue.held.len(), 0, "round {round}");
            }
        }
        came += desk.model.queue.slots.len() - n;
        let shown: usize = desk.model.queue.groups.iter().map(|group| group.rows.len()).sum();
        assert_eq!(shown, desk.model.queue.slots.len(), "round {round}: a row is in no group");
    }
    assert!(came > 500 && waited > 100, "{came} came, {waited} waited: the test covers too little");
}

#[test]
fn arrivals_show_at_once_before_the_first_key() {
    let mut desk = Desk::new(100, 30, Vec::new());
    insta::assert_snapshot!(desk.row(1), @"    Nothing is pending.");

    desk.lists(few(2));
    assert_eq!(desk.here(), "1");
    desk.lists(few(2).into_iter().chain([newcomer()]).collect());

    assert_eq!(desk.model.queue.lines.len(), 4);
    assert_eq!(desk.here(), "1");
}

#[test]
fn foreign_decision_keeps_the_row_and_drops_the_staging() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("jaj");
    desk.saved.clear();

    desk.changes(vec![decided(few(3).remove(1), Status::Rejected, "maria")]);

    assert_eq!(desk.staged(), "");
    assert_eq!(desk.message(), "Issue number 2 was decided by maria; your staged decision was dropped");
    assert_eq!(desk.saved, [Write::Settle(vec![key("2")])]);
    assert_eq!(desk.model.queue.lines.len(), 4, "nothing moved");
    insta::assert_snapshot!(desk.row(2), @"   │ Issue number 2                   rejected by maria");
    desk.press("u");
    assert_eq!(desk.staged(), "", "undo cannot bring it back");
    desk.press("R");
    assert_eq!(desk.model.queue.lines.len(), 3);
}

#[test]
fn action_missing_from_the_list_is_settled() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("j");

    desk.lists(few(3).into_iter().filter(|action| action.row.id.as_raw() != "3").collect());

    assert!(matches!(&desk.slot("3").state, State::Settled(settled) if settled.status.is_none()));
    insta::assert_snapshot!(desk.list(), @"
     ▾ create_linear_issue  low  support             2 left
       │ Issue number 1                                59 m
    ▌• │ Issue number 2                                58 m
       │ Issue number 3                             settled
    ");
}

#[test]
fn cursor_moves_to_the_nearest_row_after_its_own_leaves() {
    let mut desk = Desk::new(100, 30, few(4));
    desk.press("j");
    desk.changes(vec![decided(few(4).remove(1), Status::Approved, "lee")]);
    assert_eq!(desk.here(), "2", "the row stays until the reload");

    desk.press("R");

    assert_eq!(desk.here(), "3");
}

#[test]
fn marks_of_settled_actions_are_removed() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("  ");

    desk.changes(vec![decided(few(3).remove(0), Status::Approved, "lee")]);
    desk.press("x");

    assert_eq!(desk.staged(), "2X");
}

#[test]
fn changes_during_a_sync_cause_one_more() {
    let mut desk = Desk::unstarted(100, 30, CAN);
    let first = router::start(&mut desk.model);
    assert_eq!(first, [Effect::Restore, Effect::RestoreMinutes]);
    desk.say(event(EventKind::Changed));
    assert_eq!(syncs(&mut desk), [Effect::Sync { source: source(), since: None }]);

    for _ in 0..5 {
        desk.say(event(EventKind::Changed));
    }
    assert_eq!(syncs(&mut desk), []);
    desk.lists(few(1));
    assert_eq!(syncs(&mut desk), [Effect::Sync { source: source(), since: Some(Revision(7)) }]);
    desk.lists(few(1));
    assert_eq!(syncs(&mut desk), []);
}

#[test]
fn briefing_with_a_known_revision_requests_nothing() {
    let mut desk = Desk::new(100, 30, few(1));
    desk.effects.clear();

    desk.say(event(EventKind::Briefing(Briefing { revision: Some(Revision(7)), ..Briefing::default() })));
    assert_eq!(syncs(&mut desk), []);
    desk.say(event(EventKind::Briefing(Briefing { revision: Some(Revision(8)), ..Briefing::default() })));

    assert_eq!(syncs(&mut desk).len(), 1);
}

#[test]
fn unreachable_source_shows_its_age_and_retry() {
    let mut desk = Desk::new(100, 30, few(1));
    let retrying = Connection::Retrying {
        why: "connection refused".into(),
        retry_in: std::time::Duration::from_secs(12),
    };

    desk.wait(71_000);
    desk.say(event(EventKind::Connection(retrying)));
    insta::assert_snapshot!(desk.header(), @" placet  1 to decide   F 1 blocked           ○ gate RETRY in 12 s, data 71 s old   kim@acme   14:23");
    desk.wait(5_000);
    desk.model.screen.dirty = false;
    desk.say(What::Tick);

    insta::assert_snapshot!(desk.header(), @" placet  1 to decide   F 1 blocked            ○ gate RETRY in 7 s, data 76 s old   kim@acme   14:23");
    assert!(desk.model.screen.dirty, "the count-down is drawn");
    desk.say(event(EventKind::Connection(Connection::Live)));
    insta::assert_snapshot!(desk.header(), @" placet  1 to decide   F 1 blocked                   ○ gate STALE, data 76 s old   kim@acme   14:23");
    desk.changes(Vec::new());
    desk.model.screen.dirty = false;
    desk.say(What::Tick);
    assert!(!desk.model.screen.dirty, "no redraw without a change");
}

#[test]
fn failed_sync_is_shown_and_keeps_the_list() {
    let mut desk = Desk::new(100, 30, Vec::new());
    let problem = Problem {
        source: Some(source()),
        what: "cannot be reached".to_owned(),
        why: Some("\u{1b}[2Jboom".into()),
    };

    desk.say(What::Synced(source(), Err(problem)));

    insta::assert_snapshot!(desk.status_line(), @" the list could not be read: gate cannot be reached: ⟦ESC⟧[2Jboom");
    let mut desk = Desk::new(100, 30, few(2));
    let problem = Problem { source: Some(source()), what: "cannot be reached".to_owned(), why: None };
    desk.say(What::Synced(source(), Err(problem)));
    insta::assert_snapshot!(desk.header(), @" placet  2 to decide   F 1 blocked                      ○ gate LIVE, list failed   kim@acme   14:22");
    insta::assert_snapshot!(desk.row(2), @" • │ Issue number 2                                58 m");
}

#[test]
fn unreadable_action_is_reported_once() {
    let mut desk = Desk::new(100, 30, few(1));
    let synced = |desk: &mut Desk| {
        let rows = Rows::Changes { entries: Vec::new(), gone: Vec::new() };
        let unreadable = vec!["pa-7: \u{7}no tool name".into()];
        let at = Timestamp::default();
        desk.say(What::Synced(
            source(),
            Ok(Synced {
                source: source(),
                subject: None,
                claims: None,
                rows,
                revision: None,
                unreadable,
                at,
            }),
        ));
    };

    synced(&mut desk);
    assert_eq!(desk.message(), "1 of gate cannot be read: pa-7: ⟦BEL⟧no tool name");
    desk.press("<Esc>");
    synced(&mut desk);

    assert_eq!(desk.message(), "");
}

#[test]
fn staged_decisions_are_restored_or_dropped() {
    let staged = |id: &str| Staged {
        decision: Decision::APPROVE,
        batch: BatchKey::Alone(key(id)),
        digest: None,
        terms: None,
        at: Timestamp::default(),
    };
    let mut draft = Draft::default();
    draft.stage([(key("1"), Some(staged("1"))), (key("gone"), Some(staged("gone")))]);
    let mut desk = Desk::unstarted(100, 30, CAN);
    let _ = router::start(&mut desk.model);

    desk.restored(Restored { draft, ..Restored::default() });
    assert_eq!(desk.staged(), "1A goneA");
    desk.lists(few(2));

    assert_eq!(desk.staged(), "1A");
    assert!(desk.saved.contains(&Write::Settle(vec![key("gone")])));
    assert!(desk.effects.contains(&Effect::Reconcile));
}

#[test]
fn folding_moves_the_cursor_to_the_header_and_next_unfolds() {
    let mut actions = few(3);
    actions.push(action("m1 send_email crm low 5", "Mail", r#"{"to":"x"}"#));
    let mut desk = Desk::new(100, 30, actions);

    desk.press("h");
    assert!(matches!(desk.model.queue.cursor(), Some(Cursor::Header(_))));
    assert_eq!(desk.model.queue.lines.len(), 2);
    desk.press("n");
    assert_eq!((desk.here().as_str(), desk.model.queue.lines.len()), ("1", 5), "next unfolds the group");
    desk.press("aaa");
    assert_eq!(desk.here(), "m1", "next crosses batches");
    desk.press("N");
    assert_eq!(desk.here(), "m1", "nothing else is undecided");
    desk.press("gg");
    assert_eq!(desk.model.queue.at, 0);
    desk.press("G");
    assert_eq!(desk.here(), "m1");
}

#[test]
fn a_long_list_scrolls_with_the_cursor() {
    let mut desk = Desk::new(100, 30, few(50));

    desk.press("G");
    desk.wait(1_000);
    desk.say(What::Wake);
    insta::assert_snapshot!(desk.row(26), @"▌  │ Issue number 50                               10 m");
    desk.press("<C-u><C-u><C-u><C-u><C-u><C-u>");

    insta::assert_snapshot!(desk.row(0), @"▌▾ create_linear_issue  low  support            50 left");
    assert_eq!(desk.model.queue.at, 0);
}

#[test]
fn review_closes_when_one_of_its_actions_is_settled() {
    let mut desk = Desk::new(100, 30, few(2));
    desk.press("as");
    desk.wait(500);

    desk.changes(vec![decided(few(2).remove(0), Status::Rejected, "lee")]);
    desk.press("y");

    assert!(desk.submitted.is_empty());
    assert_eq!(
        desk.message(),
        "review closed: Issue number 1 was decided by lee; your staged decision was dropped"
    );
}

#[test]
fn header_names_an_unreachable_source_before_the_counts() {
    let mut said = Vec::new();
    for (width, height) in [(80, 24), (100, 30), (64, 20)] {
        let mut actions = few(30);
        actions[29].row.status = Status::Unknown;
        let mut desk = Desk::new(width, height, actions);
        desk.press("*x");
        let retrying = Connection::Retrying {
            why: "connection refused".into(),
            retry_in: std::time::Duration::from_secs(90),
        };
        desk.say(event(EventKind::Connection(retrying)));
        desk.wait(40_000);
        desk.say(What::Tick);

        said.push(desk.header());
    }
    insta::assert_snapshot!(said.join("\n"), @"
    placet  0 to decide   F 1 unknown  ○ gate RETRY in 50 s, data 40 s old   14:23
    placet  0 to decide   F 1 unknown           ○ gate RETRY in 50 s, data 40 s old   kim@acme   14:23
    placet  0 to decide   F 1 unknown         ○ gate RETRY in 50 s
    ");
}

#[test]
fn withdrawn_action_is_not_reported_as_decided() {
    let mut desk = Desk::new(100, 30, few(2));
    desk.press("x");
    desk.changes(vec![decided(few(2).remove(0), Status::Withdrawn, "support")]);

    assert_eq!(desk.message(), "Issue number 1 was withdrawn; your staged decision was dropped");
}
