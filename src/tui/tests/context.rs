//! The Context tab: what a source knows around an action, and what to know before it is decided.

use crate::domain::{
    Capabilities, ContextEntry, Fact, FactValue, Note, Notes, On, PendingAction, RawJson, Revision, Timestamp,
};
use crate::inbox::{Answer, Problem, Question};
use crate::tui::core::msg::{Effect, What};
use crate::tui::testing::{CAN, Desk, NOW, action, source};

const NOTES: &[Note] =
    &[Note { on: On::Reject, words: "completed steps will be compensated" }, Note::UNVERIFIED];

fn refund() -> PendingAction {
    action("pa-1 refund_payment billing low 40", "Refund 120 EUR to alice", r#"{"amount":120}"#)
}

fn passages() -> Vec<ContextEntry> {
    let step = |name: &str, value: &str, minutes: i64| Fact {
        name: name.into(),
        value: FactValue::Text(value.into()),
        at: Some(Timestamp::from_millis(NOW - minutes * 60_000)),
    };
    vec![
        ContextEntry {
            title: "Saga",
            facts: vec![
                Fact::id("id", "saga-\u{430}7".into()),
                Fact::text("state", "AWAITING_HUMAN\u{202e}".into()),
                Fact::json(
                    "facts",
                    RawJson::parse(r#"{"total":1.10,"note":"a longer text, so that it does not fit"}"#)
                        .unwrap(),
                ),
            ],
        },
        ContextEntry {
            title: "Earlier steps",
            facts: vec![step("charge", "COMPLETED", 50), step("notify", "", 45)],
        },
    ]
}

fn asked(desk: &Desk) -> usize {
    desk.effects
        .iter()
        .filter(|effect| matches!(effect, Effect::Ask { asked: (_, Question::Context), .. }))
        .count()
}

#[test]
fn what_the_source_knows_is_asked_when_the_tab_is_looked_at_and_kept_until_the_action_moves_on() {
    let mut desk = Desk::new(100, 30, vec![refund()]);
    desk.press("]]");
    assert_eq!(asked(&desk), 0, "nobody looks at it");

    desk.press("][]jk");
    assert_eq!(asked(&desk), 1);
    desk.press("R");
    assert_eq!(asked(&desk), 2, "a reload asks again");

    let mut moved = refund();
    moved.row.revision = Revision(9);
    desk.changes(vec![moved]);
    desk.press("J");
    assert_eq!(asked(&desk), 3);
}

#[test]
fn passages_stand_below_what_the_action_says_and_come_through_the_door() {
    let can = Capabilities { notes: Notes::of(NOTES), ..CAN };
    let mut desk = Desk::with(110, 44, vec![refund()], can);
    desk.told.insert(Question::Context, Ok(Answer::Context(passages())));
    desk.press("]]]z");
    let screen = desk.screen();
    let lines: Vec<&str> =
        screen.lines().skip(15).take(12).map(|line| line.trim_matches(['│', ' '])).collect();
    assert_eq!(
        lines,
        [
            "Before you decide",
            "- completed steps will be compensated",
            "- identity not verified by this backend: it keeps the name it is told",
            "",
            "Saga",
            "id     saga-⟦а U+0430⟧7",
            "state  AWAITING_HUMAN⟦U+202E⟧",
            r#"facts  {"total":1.10,"note":"a longer text, so that it does not fit"}"#,
            "",
            "Earlier steps",
            "charge  COMPLETED  2026-11-21 13:32:31 UTC",
            "notify  ⟦empty⟧  2026-11-21 13:37:31 UTC",
        ],
        "{screen}"
    );
    assert!(screen.contains("│ charge"), "what is theirs stands behind the gutter");
}

#[test]
fn what_cannot_be_read_is_told_in_place_and_the_rest_is_there_all_the_same() {
    let mut desk = Desk::new(100, 30, vec![refund()]);
    let problem = Problem {
        source: Some(source()),
        what: "gave no usable answer".to_owned(),
        why: Some("proxy \u{1b}[31m says no".into()),
    };
    desk.told.insert(Question::Context, Err(problem));
    desk.press("]]]z");

    let screen = desk.screen();
    assert!(screen.contains("cannot be read: it gave no usable answer"), "{screen}");
    assert!(screen.contains("proxy \u{27e6}ESC\u{27e7}[31m says no"), "{screen}");
    assert!(screen.contains("digest"), "{screen}");
}

#[test]
fn an_answer_that_does_not_come_holds_nothing_up() {
    let mut desk = Desk::new(100, 30, vec![refund()]);
    desk.answers = false;
    desk.press("]]]");
    assert!(desk.screen().contains("asking its source"), "{}", desk.screen());

    desk.press("[a");
    assert_eq!(desk.staged(), "pa-1A");
    let effect = desk
        .effects
        .iter()
        .rev()
        .find(|effect| matches!(effect, Effect::Ask { asked: (_, Question::Context), .. }))
        .cloned();
    let Some(Effect::Ask { asked, stood, .. }) = effect else { panic!("it was asked") };
    let answer = Box::new(Ok(Answer::Context(passages())));
    desk.say(What::Answered { asked, stood, answer });
    desk.press("]");
    assert!(desk.screen().contains("digest"));
}

#[test]
fn a_very_long_value_is_laid_out_as_it_is_scrolled_to() {
    let mut desk = Desk::new(100, 30, vec![refund()]);
    let long = format!("begin {} the end of it", "word ".repeat(400_000));
    let output = ContextEntry { title: "Log", facts: vec![Fact::text("output", long.as_str().into())] };
    desk.told.insert(Question::Context, Ok(Answer::Context(vec![output])));
    desk.press("]]]z");
    desk.say(What::Wake);
    desk.press("<End>");
    desk.press("ge");

    let screen = desk.screen();
    assert!(screen.contains("the end of it"), "{screen}");
}
