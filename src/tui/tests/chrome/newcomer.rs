//! Hints for newcomers.

use crate::journal::{Learned, Restored};
use crate::tui::core::msg::{Effect, What};
use crate::tui::testing::{Desk, few};

fn newcomer(width: u16, height: u16) -> Desk {
    let mut desk = Desk::new(width, height, few(9));
    desk.model.settings.hints = true;
    desk
}

fn shown(desk: &Desk) -> String {
    desk.model.hint().filter(|hint| desk.screen().contains(hint.as_str())).unwrap_or_default()
}

#[test]
fn newcomer_sees_the_next_step_until_taken_twice() {
    let mut desk = newcomer(80, 24);
    assert_eq!(shown(&desk), "a approve · x exclude · e edit. Nothing is sent yet.");

    desk.press("a");
    assert_eq!(shown(&desk), "s: review, then send");
    desk.press("uu");
    desk.wait(20_000);
    desk.say(What::Tick);
    assert_eq!(shown(&desk), "a approve · x exclude · e edit. Nothing is sent yet.");
    desk.press("xu");
    desk.wait(20_000);
    desk.say(What::Tick);
    assert_eq!(shown(&desk), "? keys · : commands");
    desk.press("nn??:<Esc>");
    assert_eq!(shown(&desk), "");
    let kept = desk.effects.iter().rev().find_map(|effect| match effect {
        Effect::Learn(learned) => Some(learned.clone()),
        _ => None,
    });
    let kept: Vec<_> = kept.unwrap().into_iter().collect();
    let all = [("approve", 1), ("exclude", 1), ("help", 1), ("palette", 1)];
    assert_eq!(kept, all.map(|(name, times)| (name.to_owned(), times)));
}

#[test]
fn learned_commands_show_no_hint_and_save_nothing() {
    let mut desk = newcomer(80, 24);
    let names = ["approve", "review-batch", "next-undecided", "help"];
    let learned = Learned::from(names.map(|name| (name.to_owned(), 2)));
    desk.restored(Restored { learned, ..Restored::default() });

    desk.press("axn?");

    assert!(!desk.effects.iter().any(|effect| matches!(effect, Effect::Learn(_))), "{:?}", desk.effects);
    assert_eq!(desk.model.hint(), None);
}

#[test]
fn hints_use_only_blank_lines() {
    let mut keys = Vec::new();
    for (width, height) in [(80, 24), (80, 20), (100, 30), (40, 10)] {
        let mut desk = newcomer(width, height);
        let with = desk.screen();
        keys.push(desk.hints());
        desk.model.settings.hints = false;
        let without = desk.screen();
        for (with, without) in with.lines().zip(without.lines()) {
            assert!(with == without || without.trim().is_empty(), "{width}x{height}:\n{with}\n{without}");
        }
    }
    insta::assert_snapshot!(keys.join("\n"), @"
    a approve  x exclude  e edit  Space mark  / filter  n next          ? all keys
    a approve  x exclude  e edit  Space mark  / filter  n next          ? all keys
    a approve  x exclude  e edit  Space mark  / filter  n next  ] tabs  z zoom              ? all keys
    a approve  x exclude        ? all keys
    ");
}

#[test]
fn first_decision_takes_only_keys_named_on_screen() {
    for (width, height) in [(80, 24), (100, 30), (160, 45)] {
        let mut desk = newcomer(width, height);
        let keys = [("a", "a approve"), ("s", "s: review, then send"), ("y", "Press y to send")];
        for (key, named) in keys {
            assert!(desk.screen().contains(named), "{width}x{height} {key}:\n{}", desk.screen());
            desk.wait(500);
            desk.press(key);
        }
        assert_eq!(desk.submitted.len(), 1, "{}", desk.screen());
    }
}

#[test]
fn empty_inbox_says_how_to_fill_it() {
    let mut desk = Desk::new(80, 24, Vec::new());
    desk.model.settings.hints = true;
    desk.pictured("empty");
}
