//! Every hint on screen does something when its key is pressed.

use crate::domain::{Capabilities, Outcome, PendingAction, Status};
use crate::tui::testing::{CAN, Desk, action, decided, few, lost};
use crate::tui::tests::dashboard::boards::growing;
use crate::tui::tests::dashboard::watch_screens::watching;

/// The keys of the hint bar.
fn hints(desk: &Desk) -> Vec<String> {
    let screen = desk.screen();
    let line = screen.lines().last().unwrap_or_default();
    let line = line.rsplit_once(": ").map_or(line, |(_, hints)| hints);
    let all = line.split("  ").map(str::trim).filter(|hint| !hint.is_empty());
    all.filter_map(|hint| hint.split_once(' ')).map(|(key, _)| key.to_owned()).collect()
}

fn as_pressed(key: &str) -> String {
    match key {
        "Space" => " ".to_owned(),
        "Esc" | "Enter" | "Tab" | "Backspace" => format!("<{key}>"),
        key => key.to_owned(),
    }
}

/// Describes the state that a key may change, and the effects.
fn state(desk: &Desk) -> String {
    let (model, watch) = (&desk.model, &desk.model.dashboard.watch);
    let (screen, queue) = (&model.screen, &model.queue);
    let shown = (screen.overlay.is_some(), screen.zoom, screen.focus, screen.leaving, model.preview.tab);
    let list = (queue.cursor(), queue.marks.len(), queue.has_range(), queue.lines.len(), queue.is_filtered);
    let draft =
        (model.decide.draft.len(), model.decide.draft.position(), model.decide.draft.next().is_some());
    let figures =
        (watch.open, watch.panel, watch.sort, watch.window, watch.alerts_only, watch.at(watch.panel));
    let alarms = !watch.alarms.is_empty();
    let history = model.history.open.as_ref().map(|view| view.kind);
    let held = model.submit.held.is_some();
    format!(
        "{shown:?} {list:?} {draft:?} {figures:?} {alarms} {history:?} {held} {:?} {}",
        model.sheet,
        desk.effects.len()
    )
}

fn long() -> PendingAction {
    let text = "a line of it\\n".repeat(200);
    action("long send_email support high 9", "Long", &format!(r#"{{"text":"{text}"}}"#))
}

/// Returns each place, with the keys that lead there.
#[expect(clippy::too_many_lines, reason = "a table of places")]
fn desks(size: (u16, u16)) -> Vec<(String, Box<dyn Fn() -> Desk>)> {
    let mut all: Vec<(String, Box<dyn Fn() -> Desk>)> = Vec::new();
    let mut add = |name: &str, desk: Box<dyn Fn() -> Desk>| all.push((name.to_owned(), desk));
    let new = move |actions: Vec<PendingAction>| Desk::new(size.0, size.1, actions);
    for keys in [
        "",
        "k",
        "a",
        "aaaa",
        "aaa",
        "x",
        "au",
        "  ",
        "*",
        "*a",
        "v",
        "vj",
        "<Tab>",
        "z",
        "d",
        "1",
        "1j",
        "s",
        "as",
        "e",
        "X",
        "/",
        "?",
        ":",
        "aq",
        "gw",
        "gw<Tab>",
        "gw<Tab><Tab>",
        "gwA",
        "gwf",
        "gh",
        "Ve",
        "o",
        "/zz<Enter>",
        "kh",
        "akh",
        "kha",
    ] {
        add(
            &format!("four, {keys}"),
            Box::new(move || {
                let mut desk = new(few(4));
                desk.press(keys);
                desk.wait(1_000);
                desk.drawn();
                desk
            }),
        );
    }
    for keys in ["", "A"] {
        add(
            &format!("alerts, {keys}"),
            Box::new(move || {
                let mut desk = watching(size.0, size.1, growing());
                desk.press(keys);
                desk
            }),
        );
    }
    add("nothing", Box::new(move || new(Vec::new())));
    add("one", Box::new(move || new(few(1))));
    add(
        "one, approved",
        Box::new(move || {
            let mut desk = new(few(1));
            desk.press("a");
            desk
        }),
    );
    add("unread", Box::new(move || new(vec![long()])));
    add("lost", Box::new(move || new(vec![lost(few(1).remove(0)), few(2).remove(1)])));
    add(
        "header of lost ones",
        Box::new(move || {
            let mut desk = new(vec![lost(few(1).remove(0)), lost(few(2).remove(1))]);
            desk.press("gg");
            desk
        }),
    );
    add(
        "settled by another",
        Box::new(move || {
            let mut desk = new(few(2));
            desk.changes(vec![decided(few(1).remove(0), Status::Rejected, "lee")]);
            desk.press("gg");
            desk
        }),
    );
    add(
        "sent",
        Box::new(move || {
            let mut desk = new(few(2));
            desk.press("as");
            desk.wait(500);
            desk.press("y");
            desk
        }),
    );
    add(
        "answered",
        Box::new(move || {
            let mut desk = new(few(2));
            desk.press("as");
            desk.wait(500);
            desk.press("y");
            desk.reports(|_| Outcome::Unknown { why: "no answer".into() });
            desk.press("gg");
            desk
        }),
    );
    for (name, can) in [
        ("read-only", Capabilities::READ_ONLY),
        ("no rejection", Capabilities { reject: false, ..CAN }),
        ("no edit", Capabilities { edit: false, ..CAN }),
        ("retry", Capabilities { retry: true, ..CAN }),
    ] {
        add(name, Box::new(move || Desk::with(size.0, size.1, few(2), can)));
    }
    all
}

#[test]
fn every_hint_changes_something() {
    let (mut pressed, mut idle) = (std::collections::BTreeSet::new(), Vec::new());
    for size in [(80, 24), (100, 30), (160, 45)] {
        for (name, desk) in desks(size) {
            for key in hints(&desk()) {
                let mut desk = desk();
                let before = state(&desk);

                desk.press(&as_pressed(&key));

                if state(&desk) == before {
                    idle.push(format!("{key} on {name} at {size:?}: {}", desk.message()));
                }
                pressed.insert(key);
            }
        }
    }
    assert_eq!(idle, Vec::<String>::new());
    let least =
        ["a", "x", "e", "s", "S", "u", "n", "t", "Space", "/", "]", "z", "q", "r", "gi", "Tab", "m", "w"];
    for key in least {
        assert!(pressed.contains(key), "{key} is no hint anywhere: {pressed:?}");
    }
}

#[test]
fn key_that_does_nothing_is_no_hint() {
    let shows = |desk: &Desk, key: &str| hints(desk).iter().any(|hint| hint == key);
    let mut desk = Desk::new(160, 45, few(2));
    for key in ["u", "s", "S"] {
        assert!(!shows(&desk, key), "nothing is staged: {key}");
    }
    desk.press("a");
    for key in ["u", "s", "S"] {
        assert!(shows(&desk, key), "{key}: {}", desk.screen());
    }
    let desk = Desk::new(160, 45, vec![long()]);
    assert!(!shows(&desk, "a") && shows(&desk, "x"), "it is not read: {}", desk.screen());
    let desk = Desk::new(160, 45, vec![lost(few(1).remove(0))]);
    assert!(shows(&desk, "t"), "{}", desk.screen());
    for key in ["a", "x", "e", "Space"] {
        assert!(!shows(&desk, key), "{key}: {}", desk.screen());
    }
}
