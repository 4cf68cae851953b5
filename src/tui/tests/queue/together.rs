//! Several sources on one screen.

use crate::domain::Row;
use std::time::Duration;

use crate::domain::{
    ActionKey, Entry, Outcome, PendingAction, Report, ReportLine, Revision, SourceName, Timestamp,
};
use crate::inbox::{Connection, Event, EventKind, Problem, Rows, Sending, Synced};
use crate::tui::core::msg::{Effect, What};
use crate::tui::queue::list::SourceState;
use crate::tui::queue::slots::State;
use crate::tui::submit::state::{ReportSheet, ReviewSheet};
use crate::tui::testing::{CAN, Desk, NOW, action, few, key, source};

const OTHERS: [&str; 4] = ["praxiom", "warden", "dendrux", "woo"];

fn named(name: &str) -> SourceName {
    SourceName::new(name)
}

fn at(name: &str, id: &str) -> ActionKey {
    ActionKey { source: named(name), id: crate::domain::ActionId::new(id) }
}

/// Returns a desk with five sources: the gate lists `mine`, each other source one action with the id `1`.
fn five(width: u16, height: u16, mine: Vec<PendingAction>) -> Desk {
    let mut desk = Desk::new(width, height, Vec::new());
    for name in OTHERS {
        desk.model.list.sources.push(SourceState::of(named(name), &desk.model.settings));
    }
    desk.lists(mine);
    for name in OTHERS {
        let kind = EventKind::Connection(Connection::Polling);
        desk.say(What::Source(Event { source: named(name), kind }));
        let theirs = action("1 change_plan billing low 30", &format!("Change at {name}"), r#"{"plan":"a"}"#);
        desk.world.insert(at(name, "1"), theirs.clone());
        let rows = Rows::All(vec![Entry { key: at(name, "1"), row: Row { can: CAN, ..theirs.row } }]);
        let at = Timestamp::from_millis(NOW);
        let synced = Synced {
            source: named(name),
            subject: None,
            claims: None,
            rows,
            revision: Some(Revision(1)),
            unreadable: Vec::new(),
            at,
        };
        desk.say(What::Synced(named(name), Ok(synced)));
    }
    desk.press("R");
    desk
}

fn breaks(desk: &mut Desk, name: &str) {
    let (why, retry_in) = ("connection refused".into(), Duration::from_secs(20));
    let kind = EventKind::Connection(Connection::Retrying { why, retry_in });
    desk.say(What::Source(Event { source: named(name), kind }));
}

#[test]
fn header_counts_healthy_sources_and_names_a_broken_one() {
    let mut said = Vec::new();
    for (width, height) in [(80, 24), (100, 30), (160, 45)] {
        let mut desk = five(width, height, few(2));
        said.push(desk.header());
        breaks(&mut desk, "warden");
        said.push(desk.header());
        breaks(&mut desk, "woo");
        said.push(desk.header());
    }
    insta::assert_snapshot!(said.join("\n"), @"
    placet  6 to decide   F 5 blocked            ● 5 sources up   kim@acme   14:22
    placet  6 to decide   F 5 blocked    4 of 5 sources up, ○ warden RETRY in 20 s
    placet  6 to decide   F 5 blocked         3 of 5 sources up   kim@acme   14:22
    placet  6 to decide   F 5 blocked                                ● 5 sources up   kim@acme   14:22
    placet  6 to decide   F 5 blocked     4 of 5 sources up, ○ warden RETRY in 20 s   kim@acme   14:22
    placet  6 to decide   F 5 blocked                             3 of 5 sources up   kim@acme   14:22
    placet  6 to decide   F 5 blocked                                                                                            ● 5 sources up   kim@acme   14:22
    placet  6 to decide   F 5 blocked                                                                 4 of 5 sources up, ○ warden RETRY in 20 s   kim@acme   14:22
    placet  6 to decide   F 5 blocked                                                                                         3 of 5 sources up   kim@acme   14:22
    ");
}

#[test]
fn wide_screen_counts_per_source_and_preview_names_it() {
    let mut desk = five(160, 45, few(2));
    breaks(&mut desk, "warden");
    desk.pictured("five_sources");
    insta::assert_snapshot!(desk.places(), @"
All                    6

Sources
gate                   2
praxiom                1
warden                 1
dendrux                1
woo                    1

Agents
billing                4
support                2

Tools
change_plan            4
create_linear_issue    2
");

    desk.press("gg");
    desk.press(",s");
    desk.press("G");
    assert_eq!(desk.model.here().unwrap().entry.key.source, named("woo"));
    insta::assert_snapshot!(desk.tabs(), @"[Rendered]  ] tabs                  woo   unread   1-5/5");
}

#[test]
fn the_same_id_at_two_sources_is_two_actions() {
    let mut desk = five(100, 30, few(1));
    desk.press(",o");
    desk.press("gg");
    let n = desk.model.queue.slots.iter().filter(|slot| slot.entry.key.id.as_raw() == "1").count();
    assert_eq!(n, 5);
    let index = desk.model.queue.index(&at("woo", "1")).unwrap();
    desk.model.queue.go_to_action(index);
    desk.press("x");
    let staged: Vec<_> = desk.model.decide.draft.iter().map(|(key, _)| key.clone()).collect();
    assert_eq!(staged, [at("woo", "1")]);
}

fn report(desk: &Desk, only: Option<&str>, outcome: &Outcome) -> Report {
    let submission = desk.submitted.last().unwrap();
    let lines = submission.batches().iter().flat_map(|batch| {
        batch.items().iter().map(move |item| ReportLine {
            key: ActionKey { source: batch.source().clone(), id: item.id.clone() },
            batch: batch.key().unwrap(),
            tool: item.tool.clone(),
            title: item.title.clone(),
            decision: item.kind(),
            outcome: outcome.clone(),
        })
    });
    let lines = lines.filter(|line| only.is_none_or(|only| line.key.source.as_str() == only));
    Report { id: submission.id().clone(), lines: lines.collect(), left_pending: 0 }
}

fn follows(desk: &Desk) -> usize {
    desk.effects.iter().filter(|effect| matches!(effect, Effect::Follow(_))).count()
}

#[test]
fn slow_source_delays_neither_results_nor_other_submissions() {
    let mut desk = five(100, 30, few(3));
    for key in [key("1"), at("warden", "1")] {
        let index = desk.model.queue.index(&key).unwrap();
        desk.model.queue.go_to_action(index);
        desk.press("a");
    }
    desk.press("S");
    desk.wait(500);
    desk.press("2<Enter>");
    assert_eq!(desk.submitted.len(), 1, "{}", desk.screen());

    let id = desk.submitted[0].id().clone();
    insta::assert_snapshot!(desk.status_line(), @" sending 0 of 1 · gate; 0 of 1 · warden · staged 2 approve                                    saved");
    desk.say(What::Sending(id.clone(), Sending::Answered(source(), 1)));
    insta::assert_snapshot!(desk.status_line(), @" sending 0 of 1 · warden · staged 2 approve                                                   saved");
    let so_far = report(&desk, Some("gate"), &Outcome::Approved);
    desk.say(What::Sending(id.clone(), Sending::Partly(so_far)));
    insta::assert_snapshot!(desk.status_line(), @" 1 approved · 0 rejected · 0 skipped   1 on the way to warden   gr report                     saved");
    desk.press("gr");
    insta::assert_snapshot!(desk.sheet_line(6), @"  sending 1 to warden: no answer yet");
    assert!(matches!(desk.slot("1").state, State::Settled(_)));
    assert_eq!(desk.model.queue.get(&at("warden", "1")).unwrap().state, State::Sending);
    assert_eq!(follows(&desk), 1);

    // Another submission can start; an action being sent is not sent again.
    desk.press("<Esc>");
    let index = desk.model.queue.index(&key("2")).unwrap();
    desk.model.queue.go_to_action(index);
    desk.press("aS");
    let Some(sheet) = desk.model.sheet.get::<ReviewSheet>() else { panic!("{}", desk.screen()) };
    assert_eq!(sheet.keys, [key("2")]);
    desk.press("<Esc>");

    let all = report(&desk, None, &Outcome::Approved);
    desk.say(What::Submitted(id, Ok(all)));
    assert!(!desk.model.is_sending());
    assert!(matches!(desk.model.queue.get(&at("warden", "1")).unwrap().state, State::Settled(_)));
    assert_eq!(follows(&desk), 2, "each is followed once");
    assert_eq!(desk.staged(), "2A");
    desk.press("gr");
    let Some(sheet) = desk.model.sheet.get::<ReportSheet>() else { panic!("{}", desk.screen()) };
    assert!(sheet.waits.is_empty() && sheet.report.lines.len() == 2);
    assert_eq!(source().as_str(), "gate");
}

#[test]
fn unread_source_says_so_and_reports_failure_once() {
    let mut desk = five(160, 45, few(2));
    desk.model.list.sources[2].heard = None;
    insta::assert_snapshot!(desk.header(), @" placet  6 to decide   F 5 blocked                                                                       4 of 5 sources up, ○ warden READING   kim@acme   14:22");
    let fails = |desk: &mut Desk| {
        let problem =
            Problem { source: Some(named("warden")), what: "cannot be reached".to_owned(), why: None };
        desk.say(What::Synced(named("warden"), Err(problem)));
    };
    fails(&mut desk);
    assert_eq!(desk.message(), "the list could not be read: warden cannot be reached");
    insta::assert_snapshot!(desk.header(), @" placet  6 to decide   F 5 blocked                                                                4 of 5 sources up, ○ warden CANNOT BE READ   kim@acme   14:22");

    desk.model.say("something else that matters");
    fails(&mut desk);
    assert_eq!(desk.message(), "something else that matters");
    desk.press("R");
    fails(&mut desk);
    assert_eq!(desk.message(), "the list could not be read: warden cannot be reached");
}

#[test]
fn review_names_the_source_of_each_batch() {
    let mut desk = five(100, 30, few(2));
    for key in [key("1"), at("warden", "1")] {
        let index = desk.model.queue.index(&key).unwrap();
        desk.model.queue.go_to_action(index);
        desk.press("x");
    }
    desk.press("S");
    insta::assert_snapshot!(desk.sheet_line(5), @"    create_linear_issue  support:create_linear_issue  on gate");
    insta::assert_snapshot!(desk.sheet_line(7), @"    change_plan  billing:change_plan  on warden");
}
