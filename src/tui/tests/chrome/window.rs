//! Mouse, focus, notifications, and the terminal's background.

use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

use crate::domain::Timestamp;
use crate::inbox::{Connection, Event, EventKind};
use crate::tui::chrome::state::Focus;
use crate::tui::chrome::theme::palette::{Rgb, Theme};
use crate::tui::core::msg::{Effect, What};
use crate::tui::core::router;
use crate::tui::testing::{Desk, action, few, source};

use crate::tui::tests::history::views;

const CLICK: MouseEventKind = MouseEventKind::Down(MouseButton::Left);

fn desk(width: u16, height: u16, n: usize) -> Desk {
    let mut desk = Desk::new(width, height, few(n));
    desk.model.screen.window.mouse = true;
    desk
}

fn mouse(desk: &mut Desk, kind: MouseEventKind, (column, row): (u16, u16)) {
    desk.wait(500);
    desk.say(What::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }));
    desk.drawn();
}

fn find(desk: &Desk, text: &str) -> (u16, u16) {
    let screen = desk.screen();
    let (row, line) = screen.lines().enumerate().find(|(_, line)| line.contains(text)).unwrap();
    let column = line.split(text).next().unwrap().chars().count();
    (column as u16, row as u16)
}

fn notes(desk: &Desk) -> Vec<&str> {
    let notes = desk.effects.iter().filter_map(|effect| match effect {
        Effect::Notify(text) => Some(text.as_str()),
        _ => None,
    });
    notes.collect()
}

fn heard(desk: &mut Desk) {
    desk.say(What::Source(Event { source: source(), kind: EventKind::Tick }));
}

#[test]
fn click_selects_a_row_and_stages_nothing() {
    for (width, height) in [(80, 24), (100, 30), (160, 45)] {
        let mut desk = desk(width, height, 3);
        let at = find(&desk, "Issue number 3");
        mouse(&mut desk, CLICK, at);
        assert_eq!(desk.here(), "3");
        assert_eq!(desk.message(), "hold Shift (Option on a Mac) to select text, or switch the mouse off: %");

        for row in 0..height {
            for column in (0..width).step_by(7) {
                mouse(&mut desk, CLICK, (column, row));
                mouse(&mut desk, MouseEventKind::Down(MouseButton::Right), (column, row));
            }
        }
        assert_eq!((desk.staged().as_str(), desk.submitted.len()), ("", 0));
        assert!(desk.model.sheet.is_none() && !desk.model.screen.zoom);
    }
}

#[test]
fn a_click_in_a_sheet_does_nothing() {
    let mut desk = desk(100, 30, 2);
    desk.press("jas");
    desk.wait(1_000);
    for row in 0..30 {
        for column in (0..100).step_by(5) {
            mouse(&mut desk, CLICK, (column, row));
        }
    }
    assert!(desk.model.sheet.is_some(), "the review is still open");
    assert_eq!((desk.staged().as_str(), desk.submitted.len()), ("2A", 0));
}

#[test]
fn click_that_focuses_the_window_is_ignored() {
    let mut desk = desk(100, 30, 3);
    let (before, at) = (desk.here(), find(&desk, "Issue number 3"));
    desk.say(What::Focus(false));
    desk.wait(5_000);
    desk.say(What::Focus(true));
    desk.say(What::Mouse(MouseEvent { kind: CLICK, column: at.0, row: at.1, modifiers: KeyModifiers::NONE }));
    assert_eq!(desk.here(), before);

    mouse(&mut desk, CLICK, at);
    assert_eq!(desk.here(), "3", "the next click selects");
}

#[test]
fn wheel_scrolls_the_pane_under_the_pointer() {
    let mut desk = desk(100, 30, 40);
    let list = find(&desk, "Issue number 5");
    mouse(&mut desk, MouseEventKind::ScrollDown, list);
    assert_eq!(desk.here(), "4");
    mouse(&mut desk, MouseEventKind::ScrollUp, list);
    assert_eq!(desk.here(), "1");

    let before = desk.here();
    mouse(&mut desk, MouseEventKind::ScrollDown, (95, 15));
    assert_eq!(desk.here(), before, "the wheel over the preview leaves the cursor");
    mouse(&mut desk, CLICK, (95, 15));
    assert_eq!(desk.model.screen.focus, Focus::Preview);
}

#[test]
fn the_mouse_can_be_switched_off_at_any_time() {
    let mut desk = desk(100, 30, 3);
    desk.press("%");
    assert_eq!(desk.effects.last(), Some(&Effect::Mouse(false)));
    let (before, at) = (desk.here(), find(&desk, "Issue number 3"));
    mouse(&mut desk, CLICK, at);
    assert_eq!(desk.here(), before);
    desk.press("%");
    assert_eq!(desk.effects.last(), Some(&Effect::Mouse(true)));
    assert_eq!(
        desk.message(),
        "mouse on: the wheel scrolls, a click selects a row; hold Shift to select text"
    );
}

#[test]
fn first_action_after_empty_notifies_an_unfocused_window() {
    let mut desk = Desk::new(100, 30, Vec::new());
    assert_eq!(notes(&desk), [""; 0]);
    desk.changes(few(2));
    assert_eq!(notes(&desk), ["placet: 2 pending"], "unknown focus counts as unfocused");

    desk.changes(vec![action("9 pay billing high 1", "secret \u{7} title", "{}")]);
    assert_eq!(notes(&desk).len(), 1, "once a minute");
    desk.wait(61_000);
    heard(&mut desk);
    assert_eq!(
        notes(&desk).last(),
        Some(&"placet: 3 pending, 1 high"),
        "the delayed notification, without titles"
    );
    desk.wait(61_000);
    heard(&mut desk);
    assert_eq!(notes(&desk).len(), 2, "no news, no notification");
}

#[test]
fn delayed_notification_arrives_on_time_without_earlier_wakeups() {
    let mut desk = Desk::new(100, 30, Vec::new());
    let minute = |now: Timestamp| Timestamp::from_millis((now.as_millis() / 60_000 + 1) * 60_000);
    desk.wait(20_000);
    desk.say(What::Tick);
    assert_eq!(router::quiet_until(&desk.model), Some(minute(desk.model.now)), "the focus is not known");

    desk.changes(few(2));
    let called = desk.model.now;
    desk.changes(vec![action("9 pay billing high 1", "Refund", "{}")]);
    desk.wait(50_000);
    heard(&mut desk);
    desk.say(What::Tick);
    assert!(minute(desk.model.now) > called.plus_millis(60_000), "the due time comes before the next minute");
    assert_eq!(router::quiet_until(&desk.model), Some(called.plus_millis(60_000)));

    // An event without news must not swallow the tick's notification.
    desk.wait(10_500);
    desk.say(What::Wake);
    assert_eq!((notes(&desk).len(), router::quiet_until(&desk.model)), (1, None));
    desk.rest(1_000);
    assert_eq!(notes(&desk).len(), 2);
}

#[test]
fn pending_at_start_and_focused_windows_do_not_notify() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.say(What::Focus(true));
    desk.changes(vec![action("9 pay billing critical 1", "Refund", "{}")]);
    desk.wait(70_000);
    desk.say(What::Tick);
    assert_eq!(notes(&desk), [""; 0]);

    desk.say(What::Focus(false));
    desk.changes(vec![action("10 pay billing critical 1", "Refund", "{}")]);
    assert_eq!(notes(&desk), ["placet: 5 pending, 2 high"]);
}

#[test]
fn source_down_notifies() {
    let mut desk = Desk::new(100, 30, few(1));
    let stopped = Connection::Stopped { why: "the token was refused".into() };
    desk.say(What::Source(Event { source: source(), kind: EventKind::Connection(stopped) }));
    assert_eq!(notes(&desk), ["placet: 1 pending, 1 source down"]);
}

#[test]
fn background_reply_within_100_ms_sets_the_theme() {
    let light = Rgb(0xff, 0xff, 0xff);
    for (after, taken) in [(40, true), (101, false)] {
        let mut desk = Desk::new(100, 30, few(1));
        desk.model.screen.window.asked(desk.model.now);
        desk.wait(after);
        desk.say(What::Background(light));
        assert_eq!(desk.model.screen.theme != Theme::Names, taken, "{after} ms");
    }
    let mut desk = Desk::new(100, 30, few(1));
    desk.say(What::Background(light));
    assert_eq!(desk.model.screen.theme, Theme::Names, "an unrequested reply is ignored");
}

#[test]
fn reduced_motion_does_not_count_seconds() {
    let mut desk = Desk::new(160, 45, few(1));
    desk.model.list.sources[0].still = true;
    desk.wait(49_000);
    desk.say(What::Tick);
    desk.wait(1_000);
    desk.say(What::Tick);
    desk.model.screen.dirty = false;
    let before = desk.screen();
    for _ in 0..5 {
        desk.wait(1_000);
        desk.say(What::Tick);
    }
    assert!(!desk.model.screen.dirty, "nothing is drawn");
    assert_eq!(desk.screen(), before);
}

#[test]
fn mouse_in_history_does_not_move_the_queue() {
    let mut desk = views::looking(100, 30);
    desk.model.screen.window.mouse = true;
    let queue = desk.model.queue.cursor().cloned();
    let second = find(&desk, "Refund 3 EUR");

    mouse(&mut desk, CLICK, second);
    assert_eq!(desk.here(), "f2");
    mouse(&mut desk, MouseEventKind::ScrollDown, second);
    assert_eq!(desk.here(), "f3");
    mouse(&mut desk, CLICK, (second.0, 20));

    assert_eq!(desk.here(), "f3", "there is no such row");
    assert_eq!(desk.model.queue.cursor().cloned(), queue);
}
