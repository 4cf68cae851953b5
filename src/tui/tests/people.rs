//! Names of people: shown if the source reports them, subjects otherwise, never ambiguous.

use std::sync::Arc;

use crate::domain::{
    ActionId, Approval, Approvals, Briefing, Claim, HistoryEvent, Person, Revision, Status, Timestamp,
};
use crate::inbox::{Answer, Event, EventKind, History, Problem, Question};
use crate::tui::core::msg::{Effect, What};
use crate::tui::plain::sentences;
use crate::tui::testing::{Desk, NOW, decided, few, key, source};

fn person(subject: &str, name: &str) -> Person {
    Person { subject: subject.into(), name: (!name.is_empty()).then(|| name.into()) }
}

fn asked(desk: &mut Desk) -> usize {
    let asked = desk.effects.iter().filter(|effect| **effect == Effect::AskPeople(source())).count();
    desk.effects.clear();
    asked
}

fn told(desk: &mut Desk, people: Vec<Person>) {
    desk.say(What::People(source(), Ok(Some(people))));
}

fn claims(desk: &mut Desk, all: &[(&str, &str)]) {
    let claim = |(id, by): &(&str, &str)| Claim {
        id: ActionId::new(*id),
        by: (*by).into(),
        since: Timestamp::from_millis(NOW - 120_000),
    };
    let briefing = Briefing {
        revision: Some(Revision(7)),
        claims: Some(all.iter().map(claim).collect()),
        ..Briefing::default()
    };
    desk.say(What::Source(Event { source: source(), kind: EventKind::Briefing(briefing) }));
}

/// Returns lee's desk; `k-81` approved the first action, which needs one more approval.
fn desk(width: u16) -> Desk {
    let mut actions = few(4);
    let effective = actions[0].digest();
    actions[0].row.approvals = Some(Arc::new(Approvals { needed: 2, by: vec!["k-81".into()] }));
    let at = Timestamp::from_millis(NOW);
    actions[0].approvals = vec![Approval { by: "k-81".into(), at, effective, edits: None }];
    let mut desk = Desk::new(width, 30, actions);
    desk.model.list.sources[0].subject = Some("lee".into());
    desk.drawn();
    desk
}

#[test]
fn row_and_preview_show_names_from_the_source() {
    let mut desk = desk(160);
    claims(&mut desk, &[("2", "k-81"), ("3", "lee")]);
    let before = desk.screen();
    assert!(before.contains("1 of 2 · k-81") && before.contains("k-81 · 2 min"), "{before}");

    told(&mut desk, vec![person("k-81", "Kim Example"), person("lee", "Lee")]);
    desk.drawn();

    let screen = desk.screen();
    assert!(screen.contains("1 of 2 · Kim Example"), "{screen}");
    assert!(screen.contains("Kim Example · 2 min") && screen.contains("you · 2 min"), "{screen}");
    assert!(screen.contains("Kim Example  as proposed"), "{screen}");
    assert!(!screen.contains("k-81"), "{screen}");
    let said = sentences::action(&desk.model, desk.model.queue.get(&key("1")).unwrap());
    assert!(said.contains("1 of 2 approvals, by Kim Example."), "{said}");
}

#[test]
fn equal_names_and_names_like_subjects_show_the_subject() {
    let mut desk = desk(160);
    claims(&mut desk, &[("2", "mallory"), ("3", "k2")]);

    told(
        &mut desk,
        vec![person("k-81", "Kim"), person("k2", "kim"), person("mallory", "lee"), person("lee", "")],
    );
    desk.drawn();

    let screen = desk.screen();
    for called in ["Kim (k-81)", "kim (k2) · 2 min", "lee (mallory) · 2 min"] {
        assert!(screen.contains(called), "{called}\n{screen}");
    }
}

#[test]
fn narrow_row_shows_the_subject() {
    let mut desk = desk(60);
    claims(&mut desk, &[("2", "k-81")]);

    told(&mut desk, vec![person("k-81", "Kim Longname of Example")]);
    desk.drawn();

    let screen = desk.screen();
    assert!(screen.contains("k-81 · 2 min") && !screen.contains("Kim Longn… ·"), "{screen}");
}

#[test]
fn people_are_requested_at_start_for_newcomers_and_on_reload() {
    let mut desk = desk(100);
    assert_eq!(asked(&mut desk), 1, "once with the first list");
    claims(&mut desk, &[("2", "max")]);
    assert_eq!(asked(&mut desk), 0, "the answer is on its way");
    told(&mut desk, vec![person("k-81", "Kim Example")]);

    claims(&mut desk, &[("2", "max"), ("3", "k-81")]);
    assert_eq!(asked(&mut desk), 1, "max is new");
    told(&mut desk, vec![person("k-81", "Kim Example")]);
    claims(&mut desk, &[("2", "max")]);
    claims(&mut desk, &[("2", "max"), ("3", "max")]);
    assert_eq!(asked(&mut desk), 0, "max stays unknown");
    desk.press("R");
    assert_eq!(asked(&mut desk), 1);
}

#[test]
fn source_without_people_is_silently_not_asked_again() {
    let mut desk = desk(100);
    let said = desk.status_line();

    desk.say(What::People(source(), Ok(None)));
    asked(&mut desk);
    claims(&mut desk, &[("2", "max")]);

    assert_eq!(asked(&mut desk), 0);
    assert!(desk.screen().contains("max · 2 min"), "{}", desk.screen());
    let problem = Problem { source: Some(source()), what: "did not answer".to_owned(), why: None };
    desk.say(What::People(source(), Err(problem)));
    assert!(desk.screen().contains("max · 2 min") && !desk.screen().contains("did not answer"));
    assert!(said.is_empty() || !desk.status_line().contains("people"), "{said}");
}

#[test]
fn filters_take_names_and_subjects() {
    for filter in ["claimed:kim", "claimed:k-81"] {
        let mut desk = desk(100);
        claims(&mut desk, &[("2", "k-81")]);
        told(&mut desk, vec![person("k-81", "Kim Example")]);

        desk.press("/");
        filter.chars().for_each(|c| desk.press(&c.to_string()));
        desk.press("<Enter>");

        assert_eq!(desk.model.queue.n_shown(), 1, "{filter}\n{}", desk.screen());
    }
}

#[test]
fn timeline_and_settled_row_show_the_name() {
    let mut desk = desk(120);
    let event = |kind: &str, by: &str| HistoryEvent {
        kind: kind.into(),
        at: Timestamp::from_millis(NOW),
        by: Some(by.into()),
        details: None,
    };
    let events = Some(vec![event("created", "max"), event("approved", "k-81")]);
    let history = History { events, problem: None, sent: Vec::new() };
    desk.told.insert(Question::History, Ok(Answer::History(history)));
    desk.press("]]]]");

    told(&mut desk, vec![person("k-81", "Kim Example"), person("max", "")]);
    let screen = desk.screen();
    assert!(screen.contains("by Kim Example") && screen.contains("by max"), "{screen}");
    desk.changes(vec![decided(few(4)[1].clone(), Status::Executed, "k-81")]);
    assert!(desk.screen().contains("executed (approved by Kim Example)"), "{}", desk.screen());
    desk.changes(vec![decided(few(4)[2].clone(), Status::Failed, "k-81")]);
    assert!(desk.screen().contains("failed (approved by Kim Example)"), "{}", desk.screen());
}
