//! The Context tab: facts of the source about an action, and notes to read before deciding.

use crate::domain::{
    Capabilities, ContextEntry, Fact, FactValue, Note, Notes, On, PendingAction, RawJson, Revision, Timestamp,
};
use crate::inbox::{Answer, DecidedBefore, Problem, Question};
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
fn context_is_requested_on_opening_and_after_changes() {
    let mut desk = Desk::new(100, 30, vec![refund()]);
    desk.press("]]");
    assert_eq!(asked(&desk), 0, "the tab is closed");

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
fn context_passages_follow_the_action_and_are_escaped() {
    let can = Capabilities { notes: Notes::of(NOTES), ..CAN };
    let mut desk = Desk::with(110, 44, vec![refund()], can);
    desk.told.insert(Question::Context, Ok(Answer::Context(passages(), None)));
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
    insta::assert_snapshot!(desk.line(25), @" │ charge  COMPLETED  2026-11-21 13:32:31 UTC");
}

#[test]
fn context_error_shows_in_place() {
    let mut desk = Desk::new(100, 30, vec![refund()]);
    let problem = Problem {
        source: Some(source()),
        what: "gave no usable answer".to_owned(),
        why: Some("proxy \u{1b}[31m says no".into()),
    };
    desk.told.insert(Question::Context, Err(problem));
    desk.press("]]]z");

    insta::assert_snapshot!(desk.preview(), @"
Refund 120 EUR to alice
id          pa-1
source      gate
tool        refund_payment
batch       billing:refund_payment
workspace   acme
agent       billing
risk        low
status      pending
created     2026-11-21 13:42:31 UTC
size        14 bytes
digest      sha256:53657e350924965f221c043544d648f22f1d0d5150b35704f2498f0c2a429582

More context could not be read: the source gave no usable answer
  proxy ⟦ESC⟧[31m says no
");
}

#[test]
fn missing_context_blocks_nothing() {
    let mut desk = Desk::new(100, 30, vec![refund()]);
    desk.answers = false;
    desk.press("]]]");
    insta::assert_snapshot!(desk.preview_line(15), @"asking the source for more context…");

    desk.press("[a");
    assert_eq!(desk.staged(), "pa-1A");
    let effect = desk
        .effects
        .iter()
        .rev()
        .find(|effect| matches!(effect, Effect::Ask { asked: (_, Question::Context), .. }))
        .cloned();
    let Some(Effect::Ask { asked, stood, .. }) = effect else { panic!("it was asked") };
    let answer = Box::new(Ok(Answer::Context(passages(), None)));
    desk.say(What::Answered { asked, stood, answer });
    desk.press("]");
    insta::assert_snapshot!(desk.preview_line(11), @"digest      sha256:53657e350924965f221c");
}

#[test]
fn long_context_value_is_laid_out_on_scrolling() {
    let mut desk = Desk::new(100, 30, vec![refund()]);
    let long = format!("begin {} the end of it", "word ".repeat(400_000));
    let output = ContextEntry { title: "Log", facts: vec![Fact::text("output", long.as_str().into())] };
    desk.told.insert(Question::Context, Ok(Answer::Context(vec![output], None)));
    desk.press("]]]z");
    desk.say(What::Wake);
    desk.press("<End>");
    desk.press("ge");

    insta::assert_snapshot!(desk.preview_line(24), @"  word word word word word  the end of it");
}

/// Opens the Context tab of an action with another one of its mission pending.
fn desk_in_context(before: Option<DecidedBefore>, title: &str) -> Desk {
    let one = |spec: &str, title: &str| {
        let mut action = action(spec, title, r#"{"amount":120}"#);
        action.row.mission = Some("m-7".into());
        action
    };
    let mut apart = action("pa-3 other_tool billing low 38", "Apart", "{}");
    apart.row.mission = Some("m-8".into());
    let actions = vec![
        one("pa-1 add_comment billing low 40", title),
        one("pa-2 add_tag billing low 39", "Tag it"),
        apart,
    ];
    let mut desk = Desk::new(110, 40, actions);
    desk.told.insert(Question::Context, Ok(Answer::Context(Vec::new(), before)));
    desk.press("]]]z");
    desk
}

fn fifteen() -> DecidedBefore {
    DecidedBefore { excluded: 1, approved: 14, reasons: vec!["dupl\u{202e}icate".into()], at_least: false }
}

#[test]
fn context_counts_earlier_decisions_and_enter_lists_them() {
    let mut desk = desk_in_context(Some(fifteen()), "Say thanks");
    insta::assert_snapshot!(desk.preview(), @r#"
Say thanks
id          pa-1
source      gate
tool        add_comment
batch       billing:add_comment
workspace   acme
agent       billing
mission     m-7
risk        low
status      pending
created     2026-11-21 13:42:31 UTC
size        14 bytes
digest      sha256:29768e1b63e5c134f5dc5013c6878d5d077b1a680f51bd59b3285dd4c72ca11f

Same tool, other values
  1 excluded ("dupl⟦U+202E⟧icate"), 14 approved in 7 days
Enter lists them
"#);

    desk.press("<Enter>");
    insta::assert_snapshot!(desk.without_tabs(), @"
    placet  3 to decide   F 2 blocked                                                  ● gate   kim@acme   14:22
    add_comment · low · no description for this tool
    Say thanks
    │ id          pa-1
    │ source      gate
    │ tool        add_comment
    │ batch       billing:add_comment
    │ workspace   acme
    │ agent       billing
    │ mission     m-7
    │ risk        low
    │ status      pending
      created     2026-11-21 13:42:31 UTC
      size        14 bytes
      digest      sha256:29768e1b63e5c134f5dc5013c6878d5d077b1a680f51bd59b3285dd4c72ca11f

      Same to┌─ Go where? ────────────────────────────────────────────────────────────────────────────┐
    │   1 exc│                                                                                        │
      Enter l│  > 1 other pending action of mission m-7                                               │
             │    decisions on add_comment                                                            │
             │                                                                                        │
             └─ Enter goes there   Esc closes ────────────────────────────────────────────────────────┘















    (tabs) read 1-16/16

    Esc back
    ");
    desk.press("j<Enter>");
    let view = desk.model.history.open.as_ref().expect("the list of decisions is closed");
    assert_eq!(
        view.filter.as_ref().map(|filter| filter.text().to_owned()).as_deref(),
        Some("tool:==add_comment")
    );
}

#[test]
fn flagged_action_shows_no_earlier_decisions() {
    let desk = desk_in_context(Some(fifteen()), "Say th\u{200b}anks");
    insta::assert_snapshot!(desk.preview(), @"
Say th⟦U+200B⟧anks                                                                       ! hidden characters
id          pa-1
source      gate
tool        add_comment
batch       billing:add_comment
workspace   acme
agent       billing
mission     m-7
risk        low
status      pending
created     2026-11-21 13:42:31 UTC
size        14 bytes
digest      sha256:29768e1b63e5c134f5dc5013c6878d5d077b1a680f51bd59b3285dd4c72ca11f
");
}

#[test]
fn enter_in_context_goes_to_another_action_of_the_mission() {
    let mut desk = desk_in_context(None, "Say thanks");
    desk.press("<Enter>");
    insta::assert_snapshot!(desk.list(), @"
    ▌  add_comment │ Say thanks                         low 40 m
     • add_tag │ Tag it                                 low 39 m
    ");

    let mut alone = Desk::new(100, 30, vec![refund()]);
    alone.press("]]]z<Enter>");
    assert_eq!(alone.message(), "no other action of this mission is pending");
}
