//! Unknown outcomes: listed first, never decided, resolved by hand.

use crate::domain::{
    Capabilities, Followed, Outcome, PendingAction, RawJson, Resolution, Resolved, Revision, Status,
    Timestamp,
};
use crate::inbox::Problem;
use crate::tui::core::msg::{Effect, What};
use crate::tui::queue::slots::State;
use crate::tui::submit::resolve_unknown::ResolveSheet;
use crate::tui::testing::{Desk, action, decided, few, key, lost, source};

/// Returns a desk with two of five outcomes unknown: one of the batch, one of another tool.
fn some_lost() -> Desk {
    Desk::new(100, 30, actions())
}

fn actions() -> Vec<PendingAction> {
    let mut actions = few(4);
    let last = actions.remove(3);
    actions.push(lost(last));
    actions.push(lost(action("mail send_email crm high 5", "Mail to everybody", r#"{"to":"all"}"#)));
    actions
}

fn followed(id: &str, status: Status) -> Followed {
    let title = format!("Issue number {id}").into();
    Followed {
        key: key(id),
        title,
        status,
        result: None,
        error: None,
        outcome: None,
        at: Timestamp::default(),
    }
}

fn settles(desk: &Desk) -> Vec<&Effect> {
    desk.effects.iter().filter(|effect| matches!(effect, Effect::ResolveUnknown { .. })).collect()
}

fn settle(id: &str, finding: Resolution, reason: Option<&str>) -> Effect {
    Effect::ResolveUnknown { key: key(id), finding, reason: reason.map(str::to_owned) }
}

#[test]
fn unknown_outcomes_are_listed_first_in_their_own_group() {
    let desk = some_lost();

    desk.pictured("unknown");
    let list: Vec<String> =
        desk.without_tabs().lines().take(10).map(|line| line.chars().take(62).collect()).collect();
    insta::assert_snapshot!(list.join("\n"), @"
     placet  3 to decide   F 2 unknown   1 blocked                
     ▾ outcome unknown: t resolves these                  2 │ crea
    ▌? create_linear_issue │ Issue number 4     low UNKNOWN │
     ? send_email │ Mail to everybody          HIGH UNKNOWN │ Issu
     ▾ create_linear_issue  low  support             3 left │ │ un
     • │ Issue number 1                                59 m │ │ ap
     • │ Issue number 2                                58 m │   er
     • │ Issue number 3                                57 m │ │   
                                                            │
                                                            │   Wh
    ");
    assert_eq!(desk.here(), "4", "unknown outcomes come first");
    assert_eq!(
        (desk.model.list.stats.pending, desk.model.undecided(), desk.model.list.stats.unknown),
        (3, 3, 2)
    );
}

#[test]
fn single_unknown_outcome_has_a_heading() {
    let desk = Desk::new(80, 24, vec![lost(few(1).remove(0))]);

    insta::assert_snapshot!(desk.without_tabs(), @"
     placet  0 to decide   F 1 unknown                    ● gate   kim@acme   14:22
     ▾ outcome unknown: t resolves these                                     1 left
    ▌? create_linear_issue │ Issue number 1                             low UNKNOWN









    ── create_linear_issue · low ────────────────────────────────────────── 1-8/8 ──
    │ unknown: the outcome is unknown
    │ approved by lee  2026-11-21 14:20:31 UTC
      error
    │   the command was ended by signal 9

      What may have run
    │ title  Issue number 1
    │ n      1.10


     t settle  / filter  ] tabs  z zoom  q quit                          ? all keys
    ");
}

#[test]
fn no_key_stages_an_unknown_outcome() {
    for place in ["", "k"] {
        for keys in ["a", "x", "X", "A"] {
            let mut desk = some_lost();

            desk.press(place);
            desk.press(keys);

            assert_eq!((desk.staged().as_str(), &desk.model.sheet.is_none()), ("", &true), "{place}{keys}");
            assert_eq!(
                desk.message(),
                "it was approved and ran, but the outcome is unknown: t resolves it",
                "{place}"
            );
        }
    }
    let mut desk = some_lost();
    desk.press("k a");
    assert_eq!(desk.staged(), "", "the unknown group cannot be marked");
    desk.press("n");
    assert_eq!(desk.here(), "1", "next skips unknown outcomes");
    desk.press("aaas");
    insta::assert_snapshot!(desk.sheet(), @"
    Send 3 decisions to gate
      create_linear_issue · low · creates one issue in Linear
        ✓ 3 approve

        create_linear_issue  support:create_linear_issue
         ✓  Issue number 1
         ✓  Issue number 2
         ✓  Issue number 3

      gate, as kim@acme
      The gate refuses any action that changed after you saw it.


      Press y to send.                                                Esc back
    Nothing is sent yet
    ");
    assert_eq!(desk.staged(), "1A 2A 3A");
}

#[test]
fn row_that_becomes_unknown_moves_to_the_top() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("jaj");
    assert_eq!(desk.staged(), "2A");
    let stood = desk.here();

    desk.changes(vec![lost(few(3).remove(1))]);

    assert_eq!(desk.staged(), "", "approved elsewhere, so it is unstaged");
    assert_eq!(desk.slot("2").state, State::ToResolve);
    assert_eq!((desk.model.list.stats.pending, desk.model.list.stats.unknown), (2, 1));
    assert_eq!(desk.here(), stood, "the cursor stays on its row");
    insta::assert_snapshot!(desk.list(), @"
     ▾ outcome unknown: t resolves these                  1
     ? create_linear_issue │ Issue number 2     low UNKNOWN
     ▾ create_linear_issue  low  support             2 left
       │ Issue number 1                                59 m
    ▌  │ Issue number 3                                57 m
    ");
}

#[test]
fn decision_without_an_answer_moves_to_the_top() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("jjas");
    desk.wait(500);
    desk.press("y");
    assert_eq!(desk.here(), "1");

    desk.reports(|_| Outcome::Unknown { why: "no answer".into() });

    assert_eq!(desk.here(), "1", "the cursor stays on its row");
    insta::assert_snapshot!(desk.list(), @"
     ▾ unknown: t resolves, next check 14:22:43           1
     ? create_linear_issue │ Issue number 3     low UNKNOWN
     ▾ create_linear_issue  low  support             2 left
    ▌  │ Issue number 1                                59 m
       │ Issue number 2                                58 m
    ");
}

#[test]
fn resolved_outcomes_leave_the_list() {
    let mut desk = some_lost();
    desk.press("j");

    desk.changes(vec![decided(few(4).remove(3), Status::Executed, "lee")]);

    assert_eq!(desk.model.list.stats.unknown, 1);
    insta::assert_snapshot!(desk.row(1), @"   │ Issue number 4                            executed");
    desk.press("R");
    assert!(desk.model.queue.get(&key("4")).is_none());
    desk.lists(few(3));
    desk.press("R");
    assert_eq!(desk.model.list.stats.unknown, 0);
    insta::assert_snapshot!(desk.list(), @"
     ▾ create_linear_issue  low  support             3 left
    ▌• │ Issue number 1                                59 m
     • │ Issue number 2                                58 m
     • │ Issue number 3                                57 m
    ");
}

#[test]
fn new_unknown_above_the_cursor_is_held_and_counted() {
    let mut desk = Desk::new(100, 30, few(1));
    desk.press("j");

    desk.changes(vec![lost(few(2).remove(1))]);

    assert_eq!((desk.model.list.stats.unknown, desk.model.list.stats.pending), (1, 1));
    insta::assert_snapshot!(desk.header(), @" placet  1 to decide   F 1 unknown   1 new above   1 blocked              ● gate   kim@acme   14:22");
    desk.changes(vec![decided(few(2).remove(1), Status::Failed, "lee")]);
    assert_eq!(desk.model.list.stats.unknown, 0);
}

#[test]
fn lost_approval_of_this_inbox_can_be_resolved() {
    let mut desk = Desk::new(100, 30, few(1));
    desk.press("as");
    desk.wait(500);
    desk.press("y");

    desk.changes(vec![lost(few(1).remove(0))]);
    desk.accepts();

    assert_eq!(desk.slot("1").state, State::ToResolve);
    desk.wait(500);
    desk.press("t");
    assert!(desk.model.sheet.is::<ResolveSheet>());
}

#[test]
fn preview_shows_known_facts_and_what_ran() {
    let mut edited = lost(few(1).remove(0));
    edited.effective_input = Some(RawJson::parse(r#"{"title":"Edited by lee"}"#.to_owned()).unwrap());
    let mut desk = Desk::new(100, 30, vec![edited]);

    desk.press("z");

    let text: Vec<String> = desk.screen().lines().skip(8).take(9).map(str::to_owned).collect();
    insta::assert_snapshot!(text.join("\n"), @"
      What may have run, with the approver's edits
    │ title  Edited by lee
    ");
}

#[test]
fn resolution_is_confirmed_by_a_different_key() {
    for (picks, finding) in [("e", Resolution::Landed), ("r", Resolution::RunAgain)] {
        let mut desk = some_lost();
        desk.press("t");
        desk.press(picks);
        desk.press("y");
        assert!(settles(&desk).is_empty(), "too soon after the sheet opened");
        desk.wait(500);
        desk.press(picks);
        assert!(settles(&desk).is_empty());
        desk.press("y");
        assert!(settles(&desk).is_empty(), "too soon after the pick");
        desk.wait(500);

        desk.press("y");

        assert_eq!(settles(&desk), [&settle("4", finding, None)]);
        desk.press("t");
        assert_eq!(desk.message(), "one moment: your last answer is being sent");
    }
}

#[test]
fn the_sheet() {
    let mut desk = Desk::new(80, 24, actions());
    desk.press("t");
    desk.wait(500);
    desk.press("e");

    insta::assert_snapshot!(desk.without_tabs(), @"
     placet  3 to decide   F 2 unknown   1 blocked        ● gate   kim@acme   14:22
     ▾ outcome unknown: t resolves these                                     2 left
    ▌? create_linear_issue │ Issue number 4                             low UNKNOWN
     ? send_email │ Mail to everybody                                  HIGH UNKNOWN
     ▾┌─ What became of it? ─────────────────────────────────────────────────────┐t
     •│  create_linear_issue   Issue number 4                                    │m
     •│  approved by lee 2 m ago; nobody knows                                   │m
     •│                                                                          │m
      │  > e  it ran           executed                                          │
      │    f  it did not run   failed; it is not run again                       │
      │    r  run it again     only if running twice does no harm                │
      │                                                                          │
    ──│  reason >                                                                │──
    │ │                                                                          │
    │ │  Press y to say: it ran. Esc takes it back.                              │
      │                                                                          │
    │ └─ look in the target first ───────────────────────────────────────────────┘

      What may have run
    │ title  Issue number 4
    │ n      1.10


     Esc back
    ");
    desk.press("<Esc>");
    insta::assert_snapshot!(desk.sheet_line(10), @"  Tab adds a reason   Esc closes");
    desk.press("<Esc>");
    assert_eq!((desk.message().as_str(), desk.model.sheet.is_none()), ("nothing was settled", true));
}

#[test]
fn resolution_takes_a_reason() {
    let mut desk = some_lost();
    desk.press("t<Tab>fey <Enter>");
    assert!(settles(&desk).is_empty(), "letters are text in the field");
    desk.press("<Tab>not in Linear<Esc>");
    desk.wait(500);

    desk.press("f");

    assert_eq!(settles(&desk), [&settle("4", Resolution::NotLanded, Some("fey not in Linear"))]);
}

#[test]
fn every_answer_to_a_resolution_is_reported() {
    let gone = || Problem {
        source: Some(source()),
        what: "does not allow this".to_owned(),
        why: Some("own".into()),
    };
    let lost = |status| Ok(Resolved::Lost { status, why: "no answer in time".into() });
    let already = Resolved::Already { status: Some(Status::Failed), by: Some("mia".into()) };
    for (finding, answer, says) in [
        (Resolution::Landed, Ok(Resolved::Settled(Status::Executed)), "Marked executed: Issue number 4"),
        (Resolution::RunAgain, Ok(Resolved::Settled(Status::Approved)), "Issue number 4 is run again"),
        (Resolution::Landed, Ok(already), "Issue number 4 was settled by mia already: it is failed"),
        (Resolution::Landed, Err(gone()), "it was not settled: gate does not allow this: own"),
        (
            Resolution::Landed,
            lost(Some(Status::Executed)),
            "no answer came, but Issue number 4 is executed now",
        ),
        (
            Resolution::Landed,
            lost(Some(Status::Unknown)),
            "whether Issue number 4 was settled is unknown (R looks again): no answer in time",
        ),
        (
            Resolution::Landed,
            lost(None),
            "whether Issue number 4 was settled is unknown (R looks again): no answer in time",
        ),
    ] {
        let mut desk = some_lost();
        desk.effects.clear();

        desk.say(What::Resolved(key("4"), finding, answer));

        assert_eq!(desk.message(), says);
        let again = says.ends_with("run again").then(|| Effect::Follow(vec![key("4")]));
        let sync = Effect::Sync { source: source(), since: Some(Revision(7)) };
        assert_eq!(desk.effects, [sync].into_iter().chain(again).collect::<Vec<_>>(), "{says}");
    }
}

#[test]
fn unresolvable_actions_open_no_sheet() {
    let mut desk = Desk::with(100, 30, actions(), Capabilities::READ_ONLY);
    desk.press("t");
    assert_eq!(desk.message(), "read-only: its source takes no decision on it from here");
    let mut desk = some_lost();
    desk.press("nt");
    assert_eq!(desk.message(), "only an action with an unknown outcome can be resolved");
    desk.press("ggt");
    assert_eq!(desk.message(), "Select an unknown row, then t");
    assert!(desk.model.sheet.is_none());
}

#[test]
fn sheet_closes_when_the_outcome_was_resolved_elsewhere() {
    let mut desk = some_lost();
    desk.press("t");
    desk.wait(500);

    desk.changes(vec![decided(few(4).remove(3), Status::Failed, "lee")]);
    assert_eq!(desk.message(), "Issue number 4 was settled meanwhile: it is failed now");
    desk.press("f");

    assert!(settles(&desk).is_empty());
    assert!(desk.model.sheet.is_none());
}

#[test]
fn run_that_is_lost_later_is_no_settled_row() {
    let mut desk = Desk::new(100, 30, few(2));
    desk.press("aas");
    desk.wait(500);
    desk.press("y");
    desk.accepts();

    desk.say(What::Followed(followed("1", Status::Unknown)));

    assert_eq!(desk.slot("1").state, State::ToResolve);
    let list = desk.list();
    assert!(!list.contains("all settled") || !list.contains("UNKNOWN"), "{list}");
    desk.lists(Vec::new());
    assert_eq!(desk.slot("1").state, State::ToResolve, "its source does not list what is unknown");
}

#[test]
fn settled_run_is_settled_in_row_report_and_history() {
    for by_me in [true, false] {
        let mut desk = Desk::new(100, 30, few(2));
        desk.press("aas");
        desk.wait(500);
        desk.press("y");
        desk.accepts();
        desk.changes(vec![lost(few(1).remove(0))]);
        desk.say(What::Followed(followed("1", Status::Unknown)));

        if by_me {
            desk.say(What::Resolved(key("1"), Resolution::NotLanded, Ok(Resolved::Settled(Status::Failed))));
        } else {
            desk.changes(vec![decided(few(1).remove(0), Status::Failed, "lee")]);
        }

        assert_eq!(desk.model.list.stats.unknown, 0, "by me: {by_me}");
        let report = desk.model.submit.last_report.as_ref().unwrap();
        assert_eq!(report.followed[&key("1")].status, Status::Failed, "by me: {by_me}");
        let list = desk.list();
        assert!(list.contains("outcome was unknown") && list.contains("FAILED"), "{list}");
    }
}
