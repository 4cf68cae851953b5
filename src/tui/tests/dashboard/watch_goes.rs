//! Ways out of the watch view: into the inbox, by mouse, and into files.

use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

use crate::domain::{ActionId, PendingAction, Queue, Status, Untrusted};
use crate::inbox::figures::{AlertKind, HappeningKind};
use crate::tui::core::msg::{Effect, What};
use crate::tui::dashboard::state::{Panel, RowId};
use crate::tui::history::state::ViewKind;
use crate::tui::testing::{Desk, action, key};

use super::boards::{about, alert, calm, growing, happening};
use super::watch_screens::{shows, watching};

const NAMES: [&str; 8] = [
    "refunds-agent",
    "Refunds-Agent",
    "a \"b\": c, -d",
    "a\\",
    "\u{202e}yrollam",
    "line\nbreak",
    "退款",
    "'x",
];

fn hostile() -> Vec<PendingAction> {
    let mut all = Vec::new();
    for (nth, name) in NAMES.iter().enumerate() {
        let mut one = action(&format!("h{nth} refund_payment x low {}", nth + 1), "title", r#"{"a":1}"#);
        one.row.agent = Some(Untrusted::from(*name));
        let mut none = action(&format!("t{nth} tool x low {}", nth + 20), "title", r#"{"a":1}"#);
        none.row.agent = None;
        none.row.tool = Untrusted::from(*name);
        all.extend([one, none]);
    }
    all
}

#[test]
fn enter_filters_the_inbox_to_the_queue_under_any_name() {
    let mut desk = Desk::new(160, 60, hostile());
    desk.press("gw");
    let queues = desk.model.dashboard.watch.board.sources[0].queues.len();
    assert_eq!(queues, 2 * NAMES.len());
    for row in 1..=queues {
        desk.press("gwgg");
        for _ in 0..row {
            desk.press("j");
        }
        let Some(RowId::Queue(_, Some(queue))) = desk.model.dashboard.watch.here() else { panic!("{row}") };
        desk.press("<Enter>");
        assert!(!desk.model.watches());
        let is_shown = |id: &ActionId| desk.model.queue.is_shown(&key(id.as_raw()));
        for action in hostile() {
            assert_eq!(
                is_shown(&action.row.id),
                Queue::of(&action.row) == queue,
                "{queue:?}: {:?}",
                action.row
            );
        }
    }
    desk.press("gwgg<Enter>");
    assert_eq!(desk.model.queue.n_shown(), 2 * NAMES.len());
}

#[test]
fn enter_opens_the_subject_of_an_event_or_alert() {
    let mut desk = watching(160, 45, calm());
    let mut board = calm();
    let arrived = |count| HappeningKind::Arrived {
        queue: Queue::Agent("agent".into()),
        count,
        high: 0,
        first: about("3", "tool", "title", false),
    };
    board.events = vec![
        happening(1, "gate", arrived(1)),
        happening(
            2,
            "gate",
            HappeningKind::Ended { status: Status::Failed, about: about("gone", "tool", "title", false) },
        ),
    ];
    board.alerts = vec![alert(AlertKind::HighRisk, "gate", 1)];
    shows(&mut desk, board.clone());

    desk.press("<BackTab><Enter>");
    assert_eq!((desk.here().as_str(), desk.model.watches()), ("3", false));
    desk.press("gw");
    shows(&mut desk, board.clone());
    desk.press("j<Enter>");
    assert!(desk.model.history.open.as_ref().is_some_and(|view| view.kind == ViewKind::Failed));
    desk.press("<Esc>");
    shows(&mut desk, board);
    desk.press("A<Enter>");
    let filter = desk.model.list.filtering.applied.as_ref().unwrap().text().to_owned();
    assert_eq!(filter, "source:==gate is:high age:>15m");
}

#[test]
fn mouse_only_selects() {
    let mut desk = watching(160, 45, growing());
    desk.model.screen.window.mouse = true;
    let mouse = |desk: &mut Desk, kind, column, row| {
        desk.wait(500);
        desk.say(What::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }));
    };
    mouse(&mut desk, MouseEventKind::Down(MouseButton::Left), 20, 6);
    assert_eq!(desk.model.dashboard.watch.at(Panel::Queues), 2);
    mouse(&mut desk, MouseEventKind::ScrollDown, 20, 6);
    assert_eq!(desk.model.dashboard.watch.at(Panel::Queues), 5);
    mouse(&mut desk, MouseEventKind::Down(MouseButton::Left), 20, 12);
    assert_eq!(desk.model.dashboard.watch.at(Panel::Queues), 5, "a click below the last row selects nothing");
    mouse(&mut desk, MouseEventKind::Down(MouseButton::Left), 20, 36);
    assert_eq!(desk.model.dashboard.watch.focus(), Panel::Events);
    assert!(desk.model.watches() && desk.model.decide.draft.is_empty());
}

#[test]
fn figures_export_as_json_and_formula_safe_csv() {
    let mut board = growing();
    board.sources[0].queues[0].queue = Queue::Agent("=cmd|'x'!A1, \"q\"".into());
    let mut desk = watching(100, 30, board);

    desk.press("e");

    let Some(Effect::ExportBoard { json, csv, .. }) = desk.effects.last() else {
        panic!("{:?}", desk.effects)
    };
    let json: serde_json::Value = serde_json::from_str(json).unwrap();
    assert_eq!((json["version"].as_u64(), json["type"].as_str()), (Some(1), Some("board")));
    assert_eq!(json["sources"][0]["queues"][0]["queue"]["agent"], "=cmd|'x'!A1, \"q\"");
    assert_eq!(json["total"]["netPerMinute"], 3.6);
    let row = csv.split('\n').nth(2).unwrap();
    insta::assert_snapshot!(row, @r#"2026-11-21T14:22:31.716Z,gate,agent,"'=cmd|'x'!A1, ""q""",58,0,2026-11-21T14:00:31.000Z,0,0,7.2,4.8,2.4,growing,,live,2026-11-21T14:22:30.600Z,false,growing,8,4"#);
    assert_eq!(csv.matches('\n').count(), 7);
    desk.say(What::BoardExported(Ok(vec!["/state/watch.json".into(), "/state/watch.csv".into()])));
    assert_eq!(desk.message(), "figures written to /state/watch.json and .csv");
}
