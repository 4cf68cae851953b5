//! Keys of the watch view: navigation and alerts. No key stages a decision.

use crate::domain::{Flows, Minute, Timestamp};
use crate::inbox::figures::AlertKind;
use crate::rounds::rounds;
use crate::tui::core::command::{COMMANDS, KeyContext};
use crate::tui::core::msg::{Effect, What};
use crate::tui::core::router;
use crate::tui::dashboard::panels::layout_on_screen;
use crate::tui::dashboard::state::{Panel, RowId, StartView, WatchSort};
use crate::tui::testing;
use crate::tui::testing::{Desk, few, source};

use super::boards::{alert, calm, growing};
use super::watch_screens::{quick, shows, watching};

/// Keys that leave the view or open something over it.
const LEAVE: [&str; 8] = ["g i", "V p", "g h", "V m", "Esc", "q", "Enter", "g w"];

fn written(keys: &str) -> String {
    let named = |key: &str| match key {
        "Space" => " ".to_owned(),
        key if key.chars().count() > 1 => format!("<{}>", key.replace("Shift-", "S-").replace("Ctrl-", "C-")),
        key => key.to_owned(),
    };
    keys.split(' ').map(named).collect()
}

fn ticks(desk: &mut Desk, seconds: i64) {
    for _ in 0..seconds {
        desk.wait(1_000);
        desk.say(What::Tick);
    }
}

#[test]
fn inbox_keys_stage_and_send_nothing_in_the_watch_view() {
    let mut at_work = Desk::new(160, 45, few(6));
    at_work.press("axjjgw");
    let (staged, steps) = (at_work.staged(), at_work.model.decide.draft.position());
    assert!(!staged.is_empty());
    let keys = COMMANDS.iter().filter(|spec| {
        spec.places.iter().any(|it| [KeyContext::Inbox, KeyContext::List, KeyContext::Preview].contains(it))
    });
    for (spec, keys) in keys.flat_map(|spec| spec.keys.iter().map(move |keys| (spec, *keys))) {
        if LEAVE.contains(&keys) || ["Ctrl-N", "Ctrl-P"].contains(&keys) || ["Home", "PageUp"].contains(&keys)
        {
            continue;
        }
        let pressed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| written(keys))).unwrap();
        let mut desk = watching(160, 45, calm());
        desk.model.decide.draft = at_work.model.decide.draft.clone();
        desk.model.decide.tally = at_work.model.decide.tally.clone();
        desk.model.screen.message = None;
        desk.saved.clear();

        desk.press(&pressed);

        assert_eq!((desk.staged(), desk.model.decide.draft.position()), (staged.clone(), steps), "{keys}");
        assert!(desk.submitted.is_empty() && desk.model.sheet.is_none(), "{keys}");
        assert!(desk.saved.is_empty(), "{keys}: {:?}", desk.saved);
        assert!(desk.model.watches(), "{keys}");
        let means_something = spec.places.contains(&KeyContext::Watch)
            || COMMANDS.iter().any(|it| it.places.contains(&KeyContext::Watch) && it.keys.contains(&keys));
        if spec.command.is_of_the_queue() && !means_something && !keys.contains(' ') {
            assert_eq!(desk.message(), "nothing is decided here: gi goes to the inbox", "{keys}");
        }
    }
}

#[test]
fn palette_and_paste_stage_nothing_in_the_watch_view() {
    let mut desk = watching(100, 30, calm());

    desk.press(":approve<Enter>");
    assert_eq!(desk.message(), "approve does nothing here");
    desk.press("<Esc>:review-all<Enter><Esc>");
    desk.say(What::Paste("aS".to_owned()));

    assert!(desk.model.decide.draft.is_empty() && desk.model.sheet.is_none() && desk.model.watches());
}

#[test]
fn actions_under_the_watch_view_do_not_become_seen() {
    let mut desk = Desk::new(100, 30, few(6));
    desk.press("gw");
    let before = desk.model.reader.seen.clone();
    desk.saved.clear();

    desk.press("jjkGgg");
    desk.wait(60_000);
    desk.drawn();

    assert_eq!(format!("{:?}", desk.model.reader.seen), format!("{before:?}"));
    desk.press("gi");
    assert!(desk.saved.is_empty(), "no seen-record either: {:?}", desk.saved);
}

#[test]
fn key_typed_while_leaving_the_view_stages_nothing() {
    let mut desk = watching(100, 30, calm());

    desk.press("gi");
    desk.hurry("a", 100);

    assert!(!desk.model.watches());
    assert_eq!(desk.staged(), "");
}

#[test]
fn back_returns_to_the_previous_view() {
    for keys in ["<Esc>", "q", "gi"] {
        let mut desk = watching(100, 30, calm());
        desk.press("A");
        desk.press(keys);
        if keys == "<Esc>" {
            assert!(
                desk.model.watches() && !desk.model.dashboard.watch.alerts_only,
                "back leaves the alerts first"
            );
            desk.press(keys);
        }
        assert!(!desk.model.watches() && !desk.model.screen.leaving, "{keys}");
    }
    let mut desk = watching(100, 30, calm());
    desk.press("gh");
    assert!(desk.model.history.open.is_some() && !desk.model.watches());
    desk.press("<Esc>");
    assert!(desk.model.watches(), "the history was opened from here");
    desk.press("ghgi");
    assert!(desk.model.history.open.is_none() && !desk.model.watches(), "gi goes to the inbox");
}

#[test]
fn q_quits_if_started_in_the_watch_view() {
    let mut desk = Desk::unstarted(100, 30, testing::CAN);
    desk.model.settings.opens = StartView::Watch;
    drop(router::start(&mut desk.model));
    // Before the first read the count is unknown, not zero.
    insta::assert_snapshot!(desk.line(0), @" placet watch  ? pending                                                                      14:22");
    assert!(desk.model.watches(), "{}", desk.screen());

    desk.press("q");
    assert!(desk.effects.contains(&Effect::Quit));
}

#[test]
fn quitting_asks_about_staged_decisions() {
    let mut desk = Desk::new(100, 30, few(6));
    desk.model.settings.opens = StartView::Watch;
    desk.press("agwq");
    assert!(!desk.effects.contains(&Effect::Quit) && desk.model.sheet.is_some(), "{}", desk.screen());
    desk.press("r");
    assert!(!desk.model.watches(), "the review opens over the inbox");
}

#[test]
fn tab_cycles_panels_and_the_terminal_cursor_follows() {
    let mut desk = watching(100, 30, growing());
    assert_eq!(desk.cursor(), Some((0, 4)));
    quick(&mut desk, "jj");
    assert_eq!(desk.cursor(), Some((0, 6)));
    let mut names = Vec::new();
    for _ in 0..5 {
        quick(&mut desk, "<Tab>");
        let title = desk.screen().lines().nth(15).unwrap_or_default().to_owned();
        names.push(title.trim_matches('─').split([',', '─']).next().unwrap_or_default().trim().to_owned());
        assert!(desk.cursor().is_some(), "{names:?}");
    }
    assert_eq!(names, ["roadmap", "By tool", "By age", "By reviewer", "Events"], "{}", desk.screen());
    quick(&mut desk, "<Tab>");
    assert_eq!(desk.model.dashboard.watch.focus(), Panel::Queues);
    assert_eq!(desk.cursor(), Some((0, 6)), "back at the first panel");
    quick(&mut desk, "<BackTab>j");
    assert_eq!(desk.model.dashboard.watch.at(Panel::Events), 1);
}

#[test]
fn focused_panel_is_drawn_at_every_size() {
    for (tabs, size) in (0..6).flat_map(|tabs| [(tabs, (100, 30)), (tabs, (160, 45))]) {
        let mut desk = watching(size.0, size.1, growing());
        for _ in 0..tabs {
            quick(&mut desk, "<Tab>");
        }
        for (width, height) in [(160, 45), (80, 24), (100, 30), (160, 45)] {
            desk.say(What::Resize(width, height));

            let watch = &desk.model.dashboard.watch;
            let drawn = layout_on_screen(&desk.model).panes;
            assert!(
                drawn.iter().any(|(panel, area)| *panel == watch.focus() && area.height > 0),
                "{tabs} tabs, {width}x{height}: {:?}",
                watch.focus()
            );
        }
    }
}

#[test]
fn cursor_stays_on_its_queue_in_every_order() {
    let mut desk = watching(100, 30, growing());
    quick(&mut desk, "jjj");
    let here = desk.model.dashboard.watch.here();
    for sort in [WatchSort::Oldest, WatchSort::Net, WatchSort::Name, WatchSort::Pending] {
        quick(&mut desk, ",");
        assert_eq!(
            (desk.model.dashboard.watch.sort, desk.model.dashboard.watch.here()),
            (sort, here.clone())
        );
    }
    quick(&mut desk, ",gg");
    let sagas = desk.screen().find("\n sagas").unwrap();
    assert!(desk.screen().find("\n▌gate ").unwrap() < sagas, "gate has the oldest action");
    quick(&mut desk, ",,");
    quick(&mut desk, "G");
    assert!(
        matches!(desk.model.dashboard.watch.here(), Some(RowId::Queue(source, None)) if source.as_str() == "sagas")
    );
}

#[test]
fn hidden_rows_are_counted_and_reachable() {
    let mut desk = watching(40, 10, growing());
    insta::assert_snapshot!(desk.line(7), @" and 3 more");
    quick(&mut desk, "G");
    insta::assert_snapshot!(desk.line(6), @"▌sagas                 22     3  1 h 05!");
    insta::assert_snapshot!(desk.line(7), @" and 3 more above");
    quick(&mut desk, "gg");
    insta::assert_snapshot!(desk.line(4), @"▌gate                  88     1  3 h 12!");
}

#[test]
fn alerts_can_be_acknowledged_and_muted() {
    let mut desk = watching(160, 45, growing());
    insta::assert_snapshot!(desk.line(1), @" ! sagas: 3 high over 15 m  ! 28 over 1 h  ! gate: growing for 22 min  ! gate: 3 missions blocked");

    quick(&mut desk, "AjK");
    assert_eq!(desk.message(), "1 alert acknowledged until one grows or comes back");
    insta::assert_snapshot!(desk.line(1), @" ! sagas: 3 high over 15 m  ! sagas: 9 over 1 h  ! gate: growing for 22 min  ! gate: 3 missions blocked  1 acknowledged");
    quick(&mut desk, "K");
    assert_eq!(desk.message(), "no longer acknowledged");
    quick(&mut desk, "Ggg");
    quick(&mut desk, "m");
    insta::assert_snapshot!(desk.line(3), @"▌  sagas  3 high over 15 m                                                                                                                   muted until 15:22");
    quick(&mut desk, "A");
    quick(&mut desk, "K");
    insta::assert_snapshot!(desk.line(1), @" 4 acknowledged, 1 muted");
    quick(&mut desk, "m");
    assert_eq!(desk.message(), "1 alert no longer muted");
    insta::assert_snapshot!(desk.line(1), @" ! sagas: 3 high over 15 m  4 acknowledged");
}

#[test]
fn acknowledged_alert_returns_when_it_grows() {
    let mut desk = watching(100, 30, growing());
    quick(&mut desk, "K");
    let mut board = growing();
    board.alerts = vec![alert(AlertKind::HighRisk, "sagas", 3), alert(AlertKind::OverTarget, "gate", 20)];
    desk.model.dashboard.watch.alarms.look(&board.alerts, desk.model.now);
    shows(&mut desk, board);

    insta::assert_snapshot!(desk.line(1), @" ! gate: 20 over 1 h  1 acknowledged");
}

#[test]
fn frozen_figures_do_not_change_and_show_since_when() {
    let mut desk = Desk::new(100, 30, few(6));
    desk.press("gwf");
    desk.pictured("frozen");
    let frozen = desk.screen();
    insta::assert_snapshot!(desk.line(0), @" placet watch  6 pending · oldest 59 m                                FROZEN since 14:22:31   14:22");
    insta::assert_snapshot!(desk.line(2), @"── Queues, most pending first (frozen) ────────────────────────────────── 1 of 2   Tab next panel ──");

    desk.lists(few(9));
    ticks(&mut desk, 5);
    let body = |screen: &str| screen.lines().take(27).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(body(&desk.screen()), body(&frozen));
    desk.press("w");
    assert_eq!(desk.message(), "the figures are frozen: press f, then change the window");
    desk.press("f");
    insta::assert_snapshot!(desk.line(16), @" pending 9   from 9, most 9                       ⠤ in ? now · ? mean   • out ? now · ? mean");
    insta::assert_snapshot!(desk.line(0), @" placet watch  9 pending · oldest 59 m                                                        14:22");
}

#[test]
fn unchanged_view_is_not_redrawn() {
    let mut desk = Desk::new(100, 30, few(6));
    desk.press("gw");
    ticks(&mut desk, 4);
    desk.model.screen.message = None;
    desk.model.screen.dirty = false;
    ticks(&mut desk, 4);
    assert!(!desk.model.screen.dirty, "{}", desk.screen());

    desk.changes(few(7).split_off(6));
    desk.model.screen.dirty = false;
    ticks(&mut desk, 1);
    insta::assert_snapshot!(desk.line(16), @" pending 7   from 7, most 7                       ⠤ in ? now · ? mean   • out ? now · ? mean");
    assert!(desk.model.screen.dirty, "{}", desk.screen());
}

#[test]
fn reduced_motion_updates_every_ten_seconds() {
    let mut desk = Desk::new(100, 30, few(6));
    desk.model.settings.reduced_motion = true;
    desk.press("gw");
    desk.changes(few(7).split_off(6));
    ticks(&mut desk, 9);
    insta::assert_snapshot!(desk.line(16), @" pending 6   from 6, most 6                       ⠤ in ? now · ? mean   • out ? now · ? mean");
    ticks(&mut desk, 2);
    insta::assert_snapshot!(desk.line(16), @" pending 7   from 7, most 7                       ⠤ in ? now · ? mean   • out ? now · ? mean");
}

/// Takes the requested spans of decided actions, in minutes.
fn asked(desk: &mut Desk) -> Vec<i64> {
    let now = desk.model.now;
    let flows = |effect: &Effect| match effect {
        Effect::Flows { asked, .. } if !asked.reviewers => {
            Some((now.since(asked.decided_since) + 30_000) / 60_000)
        }
        _ => None,
    };
    let asked = desk.effects.iter().filter_map(flows).collect();
    desk.effects.clear();
    asked
}

#[test]
fn source_flows_are_requested_at_first_then_seldom() {
    let mut desk = Desk::new(100, 30, few(6));
    desk.model.list.sources[0].records.flows = true;
    let minute = |minutes: i64| Minute::of(Timestamp::from_millis(testing::NOW)).plus(-minutes).start();
    desk.press("gw");
    assert_eq!(asked(&mut desk), [60]);
    let answer = |desk: &mut Desk| {
        let flows = Flows { at: desk.model.now, from: minute(60), ..Flows::default() };
        desk.say(What::Flows(source(), Ok(Some(flows))));
    };

    answer(&mut desk);
    ticks(&mut desk, 10);
    assert_eq!(asked(&mut desk), Vec::<i64>::new(), "no change, no request");
    desk.changes(few(7).split_off(6));
    desk.changes(few(8).split_off(7));
    assert_eq!(asked(&mut desk).len(), 1);
    answer(&mut desk);
    desk.changes(few(9).split_off(8));
    ticks(&mut desk, 3);
    assert_eq!(asked(&mut desk), Vec::<i64>::new(), "too soon after its answer");
    ticks(&mut desk, 3);
    assert_eq!(asked(&mut desk).len(), 1);
    desk.press("w");
    assert_eq!(asked(&mut desk), [24 * 60]);
    desk.press("gi");
    desk.changes(few(10).split_off(9));
    ticks(&mut desk, 10);
    assert_eq!(asked(&mut desk), Vec::<i64>::new(), "the view is closed");
}

#[test]
fn every_size_and_every_panel_can_be_drawn() {
    // The short form draws a third of the panels at each size, in turn.
    let (mut nth, every) = (0, rounds(3, 1));
    for width in (1..=200).step_by(23).chain([39, 40, 89, 90, 139, 140, 300]) {
        for height in (1..=60).step_by(11).chain([9, 10, 15, 16, 23, 24, 27, 28, 35, 36, 100]) {
            let mut desk = watching(width, height, growing());
            for keys in ["", "<Tab>", "<Tab>", "<Tab>", "<Tab>", "<Tab>", "A"] {
                desk.press(keys);
                nth += 1;
                if nth % every == 0 {
                    drop(desk.screen());
                }
            }
        }
    }
}
