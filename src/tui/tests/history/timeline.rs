//! The History tab: events of the source and decisions sent from here.

use crate::domain::{
    BatchKey, Decision, Digest, HistoryEvent, Outcome, PendingAction, RawJson, Revision, Risk, Status,
    Timestamp,
};
use crate::inbox::{Answer, History, Problem, Question, SentHere};
use crate::journal::Sent;
use crate::tui::core::msg::{Effect, What};
use crate::tui::testing::{Desk, NOW, action, decided, key, source};

fn at(minutes: i64) -> Timestamp {
    Timestamp::from_millis(NOW - minutes * 60_000)
}

fn event(kind: &str, minutes: i64, by: Option<&str>, details: &str) -> HistoryEvent {
    HistoryEvent {
        kind: kind.into(),
        at: at(minutes),
        by: by.map(Into::into),
        details: Some(RawJson::parse(details).unwrap()),
    }
}

fn refund() -> PendingAction {
    action("pa-1 refund_payment billing high 40", "Refund 120 EUR to alice", r#"{"amount":120}"#)
}

fn failed() -> PendingAction {
    let mut action = decided(refund(), Status::Failed, "lee");
    action.row.resolved_at = Some(at(10));
    action.row.revision = Revision(9);
    action.executed_at = Some(at(9));
    action.user_edits =
        Some(crate::domain::Edits::new(RawJson::parse(r#"{"amount":100}"#).unwrap()).unwrap());
    action.error = Some("card expired\nask for another".into());
    action
}

fn sent(decision: Decision, outcome: Option<Outcome>) -> SentHere {
    let digest = Digest::of("refund_payment", "acme", "{}");
    let sent = Sent {
        key: key("pa-1"),
        batch: BatchKey::Alone(key("pa-1")),
        tool: "refund_payment".into(),
        title: "Refund".into(),
        decision,
        digest,
        effective: digest,
        terms: None,
        risk: Risk::Medium,
        input: None,
        outcome,
        followed: None,
    };
    SentHere { at: at(10), reviewer: Some("kim@acme".to_owned()), sent }
}

fn asked(desk: &Desk) -> usize {
    desk.effects
        .iter()
        .filter(|effect| matches!(effect, Effect::Ask { asked: (_, Question::History), .. }))
        .count()
}

#[test]
fn timeline_is_requested_on_opening_and_after_changes() {
    let mut desk = Desk::new(100, 30, vec![refund()]);
    desk.press("]]]");
    assert_eq!(asked(&desk), 0, "the tab is closed");

    desk.press("]");
    desk.press("[]jk");
    assert_eq!(asked(&desk), 1, "known and unchanged");

    desk.changes(vec![failed()]);
    desk.press("J");
    assert_eq!(asked(&desk), 2, "its row has another revision");

    desk.press("R");
    desk.changes(vec![failed()]);
    assert_eq!(asked(&desk), 2, "the row left the list, and the tab closed");
}

#[test]
fn timeline_shows_time_person_and_reason() {
    let mut desk = Desk::new(100, 30, vec![refund()]);
    let history = History {
        events: Some(vec![
            event("created", 40, Some("billing"), r#"{"tool":"refund_payment"}"#),
            event("approved", 10, Some("lee"), r#"{"status":"approved","reason":"they paid twice"}"#),
            event("dispatched", 10, None, r#"{"status":"running"}"#),
            event("failed", 9, None, r#"{"status":"failed","error":"card expired\nask for another"}"#),
        ]),
        problem: None,
        sent: vec![sent(
            Decision::APPROVE,
            Some(Outcome::Skipped { status: Some(Status::Approved), by: Some("lee".into()) }),
        )],
    };
    desk.told.insert(Question::History, Ok(Answer::History(history)));
    desk.press("]]]]z");
    desk.changes(vec![failed()]);
    desk.press("k");

    insta::assert_snapshot!(desk.without_tabs(), @"
    placet  0 to decide                                                      ● gate   kim@acme   14:22
    refund_payment · HIGH
    Refund 120 EUR to alice
    │ created      2026-11-21 13:42:31 UTC  by billing
    │ approved     2026-11-21 14:12:31 UTC  by lee
    │   edits    amount
    │   reason   they paid twice
    │ dispatched   2026-11-21 14:12:31 UTC  by the source itself
    │ failed       2026-11-21 14:13:31 UTC  by the source itself
        error
    │     card expired
    │     ask for another

      Sent from here
    │ approve      2026-11-21 14:12:31 UTC  by kim@acme
    │   answer   skipped: approved by lee











    (tabs) read 1-13/13

    ] tabs  z zoom  q quit                                                                  ? all keys
    ");
}

#[test]
fn source_without_a_timeline_shows_known_facts() {
    let mut desk = Desk::new(80, 24, vec![refund()]);
    let history = History {
        events: None,
        problem: None,
        sent: vec![sent(Decision::Reject { reason: Some("twice".to_owned()) }, None)],
    };
    desk.told.insert(Question::History, Ok(Answer::History(history)));
    desk.press("]]]]z");
    desk.changes(vec![failed()]);
    desk.press("k");

    insta::assert_snapshot!(desk.without_tabs(), @"
    placet  0 to decide                                  ● gate   kim@acme   14:22
    refund_payment · HIGH
    Refund 120 EUR to alice
      This source keeps no timeline. placet knows this:

      created      2026-11-21 13:42:31 UTC
    │ decided      2026-11-21 14:12:31 UTC  by lee
    │   edits    amount
      ran          2026-11-21 14:13:31 UTC
    │ now          failed
        error
    │     card expired
    │     ask for another

      Sent from here
    │ exclude      2026-11-21 14:12:31 UTC  by kim@acme
    │   reason   twice
    │   answer   none: it may not have been sent



    (tabs) read 1-15/15

    ] tabs  z zoom  q quit                                              ? all keys
    ");
}

#[test]
fn unreadable_timeline_says_why_and_can_be_reloaded() {
    let mut desk = Desk::new(120, 30, vec![refund()]);
    let why = Some("HTTP \u{1b}[31m502".into());
    let problem = Problem { source: Some(source()), what: "gave no usable answer".to_owned(), why };
    let history = History { events: None, problem: Some(problem), sent: Vec::new() };
    desk.told.insert(Question::History, Ok(Answer::History(history)));
    desk.press("]]]]");

    insta::assert_snapshot!(desk.preview(), @"
Refund 120 EUR to alice
The timeline cannot be read: the source gave no
usable answer
  HTTP ⟦ESC⟧[31m502

created      2026-11-21 13:42:31 UTC
now          pending
");
    let before = asked(&desk);
    desk.press("R");
    assert_eq!(asked(&desk), before + 1);
}

#[test]
fn late_timeline_goes_to_its_own_action() {
    let other = action("pa-2 refund_payment billing low 30", "Refund 3 EUR to bob", r#"{"amount":3}"#);
    let mut desk = Desk::new(100, 30, vec![refund(), other]);
    desk.answers = false;
    desk.press("]]]]");
    let Some(Effect::Ask { asked, stood, .. }) = desk.effects.last().cloned() else { panic!("no request") };
    desk.press("j]]]]");
    let answer = History {
        events: Some(vec![event("created", 40, Some("late"), "{}")]),
        problem: None,
        sent: Vec::new(),
    };
    let answer = Box::new(Ok(Answer::History(answer)));
    desk.say(What::Answered { asked, stood, answer });

    insta::assert_snapshot!(desk.preview(), @"
    Refund 3 EUR to bob
    asking what happened…
    ");
    desk.press("k]]]]");
    insta::assert_snapshot!(desk.preview(), @"
    Refund 120 EUR to alice
    created      2026-11-21 13:42:31 UTC
      by late
    ");
}
