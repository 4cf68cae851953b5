//! `[[notify]]` rules on the screen: terminal notices, commands, and failures.

use std::time::Duration;

use crate::config::{NotifyOn, NotifyRule, NotifyTo};
use crate::domain::AlertKind;
use crate::inbox::notices::Notices;
use crate::inbox::{Connection, Event, EventKind};
use crate::tui::core::msg::{Effect, What};
use crate::tui::testing::{Desk, action, few, source};

const FIRST: NotifyOn = NotifyOn::First;
const DOWN: NotifyOn = NotifyOn::Alert(AlertKind::Down);

fn rule(number: usize, on: NotifyOn, to: NotifyTo) -> NotifyRule {
    NotifyRule {
        number,
        line: number,
        on: vec![on],
        source: None,
        queue: None,
        at_least: 0,
        unfocused_only: to.is_of_the_screen(),
        to,
        every: Duration::from_mins(10),
        quiet: None,
    }
}

fn command() -> NotifyTo {
    NotifyTo::Command { argv: vec!["tell".to_owned()], json: false, limit: Duration::from_secs(5) }
}

/// Returns an empty inbox with `rules`, evaluated once.
fn desk(rules: Vec<NotifyRule>) -> Desk {
    let mut desk = Desk::new(100, 30, Vec::new());
    desk.model.dashboard.notices = Notices::new(&rules, desk.model.settings.targets);
    desk.model.settings.rules = rules;
    later(&mut desk, 1_000);
    desk.effects.clear();
    desk
}

/// Lets time pass, then ticks the source.
fn later(desk: &mut Desk, millis: i64) {
    desk.wait(millis);
    desk.say(What::Source(Event { source: source(), kind: EventKind::Tick }));
}

fn calls(desk: &mut Desk) -> Vec<String> {
    let calls = desk.effects.iter().filter_map(|effect| match effect {
        Effect::Notify(text) => Some(format!("terminal: {text}")),
        Effect::Ring => Some("ring".to_owned()),
        Effect::Tell(notice) => Some(format!("rule {}: {}", notice.rule, notice.text())),
        _ => None,
    });
    let calls = calls.collect();
    desk.effects.clear();
    calls
}

#[test]
fn each_rule_notifies_its_target_and_replaces_the_default() {
    let rules = vec![
        rule(1, FIRST, NotifyTo::Terminal),
        rule(2, FIRST, NotifyTo::Bell),
        rule(3, FIRST, command()),
        rule(4, DOWN, command()),
    ];
    let mut desk = desk(rules);
    desk.wait(1_000);
    desk.changes(vec![action("9 pay billing critical 1", "secret \u{7} title", "{}")]);
    let said = calls(&mut desk);
    assert_eq!(said.len(), 3, "{said:?}");
    assert!(said[0].starts_with("terminal: placet: 1 pending, 1 high, oldest "), "{said:?}");
    assert!(said[1] == "ring" && said[2].starts_with("rule 3: placet: 1 pending"), "{said:?}");
    assert!(!said.concat().contains("secret"));

    desk.wait(61_000);
    desk.changes(vec![action("10 pay billing critical 1", "Refund", "{}")]);
    assert_eq!(calls(&mut desk), [""; 0], "no rule covers a second high-risk action");
}

#[test]
fn keys_do_not_evaluate_rules() {
    let mut desk = desk(vec![rule(1, FIRST, command())]);
    desk.changes(few(2));
    assert_eq!(calls(&mut desk), [""; 0], "too soon after the last evaluation");
    desk.wait(2_000);
    desk.press("jk");
    assert_eq!(calls(&mut desk), [""; 0]);
    assert!(desk.model.dashboard.notices.is_due(desk.model.now), "keys do not evaluate rules");
    later(&mut desk, 0);
    assert_eq!(calls(&mut desk).len(), 1);
}

#[test]
fn focused_window_gets_no_bell_but_the_command_runs() {
    let mut desk = desk(vec![rule(1, FIRST, NotifyTo::Bell), rule(2, FIRST, command())]);
    desk.say(What::Focus(true));
    desk.wait(2_000);
    desk.changes(few(1));
    let said = calls(&mut desk);
    assert!(said.len() == 1 && said[0].starts_with("rule 2: "), "{said:?}");
}

#[test]
fn source_down_at_start_notifies() {
    let mut desk = Desk::new(100, 30, Vec::new());
    let rules = vec![rule(1, DOWN, command())];
    desk.model.dashboard.notices = Notices::new(&rules, desk.model.settings.targets);
    desk.model.settings.rules = rules;
    let stopped = Connection::Refused { why: "the token was refused".into() };
    desk.say(What::Source(Event { source: source(), kind: EventKind::Connection(stopped) }));
    assert_eq!(calls(&mut desk), ["rule 1: placet: down (gate); 0 pending"]);
}

#[test]
fn failing_rule_is_reported_once_until_it_succeeds() {
    let mut desk = desk(vec![rule(1, FIRST, command())]);
    let mut noticed = |answer: Result<(), &str>| {
        desk.model.screen.message = None;
        desk.say(What::Noticed { rule: 1, answer: answer.map_err(str::to_owned) });
        desk.model.screen.message.is_some().then(|| desk.message())
    };
    let failed = Err("notify rule 1 (command, line 1): the command failed: no such file");
    let said = noticed(failed).unwrap();
    insta::assert_snapshot!(said, @"not notified: notify rule 1 (command, line 1): the command failed: no such file");
    assert_eq!(noticed(failed), None);
    desk.model.screen.message = None;
    desk.press("gw");
    insta::assert_snapshot!(desk.line(1), @" ! not notified: notify rule 1 (command, line 1): the command failed: no such file");
    desk.say(What::Noticed { rule: 1, answer: Ok(()) });
    assert_eq!(desk.line(1), "");
    desk.say(What::Noticed { rule: 1, answer: failed.map_err(str::to_owned) });
    assert!(desk.model.screen.message.is_some());
}
