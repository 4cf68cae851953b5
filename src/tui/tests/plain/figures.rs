//! The figures in sentences: when they are read out, whose counts they use, what is unknown.

use crate::domain::{Flow, Flows, Minute, Queue, QueueFlow};
use crate::inbox::Problem;
use crate::tui::core::msg::What;
use crate::tui::dashboard::state::StartView;
use crate::tui::plain::session::How;
use crate::tui::testing::{CAN, few, source};

use super::talk::{SCRIPT, TERMINAL, Talk, risky};

/// Returns flows of a gate with 90 arrivals in each of the last 20 minutes.
fn told(talk: &Talk) -> What {
    let now = Minute::of(talk.now());
    let minutes =
        (0..20).rev().map(|ago| (now.plus(-ago), Flow { arrived: 90, ..Flow::default() })).collect();
    let queue = QueueFlow { queue: Queue::Agent("support".into()), pending: 2, minutes };
    let from = now.plus(-59).start();
    let flows = Flows { at: talk.now(), from, queues: vec![queue], ..Flows::default() };
    What::Flows(source(), Ok(Some(flows)))
}

fn counting(how: How) -> Talk {
    let mut talk = Talk::started(how, CAN);
    talk.session.model.list.sources[0].records.flows = true;
    talk.connects();
    talk
}

#[test]
fn watch_start_reads_the_figures_first_then_the_inbox() {
    for how in [TERMINAL, SCRIPT] {
        let mut talk = Talk::started(How { opens: StartView::Watch, ..how }, CAN);
        talk.connects();
        assert_eq!(talk.heard, "", "no source has answered yet");
        talk.lists(vec![risky()]);

        let at =
            |text: &str| talk.heard.find(text).unwrap_or_else(|| panic!("no {text:?} in {}", talk.heard));
        let order = [
            "Plain mode on",
            "The last 60 minutes. All: 1 pending",
            "Alert. gate: 1 over 1 h.",
            "Action 1 of 1.",
            "Words: show",
        ];
        assert!(order.map(at).is_sorted(), "{}", talk.heard);
        talk.types("show\nexclude");
        assert_eq!(talk.staged(), "rX", "{}", talk.heard);
    }
}

#[test]
fn figures_wait_at_most_five_seconds() {
    let mut talk = Talk::started(How { opens: StartView::Watch, ..TERMINAL }, CAN);
    assert_eq!(talk.waits(4), "");
    let heard = talk.waits(1);

    insta::assert_snapshot!(heard, @"
Plain mode on, because --plain. No source has answered yet.
Source gate has not answered yet.
The last 60 minutes. All: nothing was read yet.
Source gate: nothing was read yet: CONNECTING.
Alerts are not known yet.
Nothing is pending. New actions are announced as they come.
Words: show, approve, exclude [because TEXT], edit, next, undo, submit, help, quit. Nothing is sent before submit asks.
>
");
}

#[test]
fn unread_counts_are_not_reported_as_zero() {
    let mut talk = Talk::started(SCRIPT, CAN);
    talk.waits(5);
    let heard = talk.types("watch");
    insta::assert_snapshot!(heard, @r"
    The last 60 minutes. All: nothing was read yet.
    Source gate: nothing was read yet: CONNECTING.
    Alerts are not known yet.
    ");

    talk.connects();
    talk.lists(Vec::new());
    let heard = talk.types("watch");
    insta::assert_snapshot!(heard, @"
The last 60 minutes. All: 0 pending, starting.
Source gate: 0 pending, starting.
Approved 0, excluded 0, left undecided 0, failed after approval 0, outcome unknown 0.
No alerts.
");
}

#[test]
fn watch_requests_and_reads_out_its_counts() {
    let mut talk = counting(TERMINAL);
    talk.lists(few(2));
    assert_eq!(talk.asked, 0, "requested without the word");

    assert_eq!(talk.types("watch"), "watch\n", "the counts are on the way");
    assert_eq!(talk.asked, 1);
    let before = talk.heard.len();
    let answer = told(&talk);
    talk.take(answer);
    let heard = talk.heard[before..].to_owned();
    insta::assert_snapshot!(heard, @"
    The last 60 minutes. All: 2 pending, growing, oldest 59 min, now 90 in and 0 out a minute, in 15 minutes 92.9 in and 0.0 out a minute.
    Source gate: 2 pending, growing, oldest 59 min, now 90 in and 0 out a minute, in 15 minutes 92.9 in and 0.0 out a minute.
    Queue support: 2 pending, growing, oldest 59 min, now 90 in and 0 out a minute, in 15 minutes 92.9 in and 0.0 out a minute.
    Approved 0, excluded 0, left undecided 0, failed after approval 0, outcome unknown 0.
    Alert. gate: growing for 19 min.
    >
    ");

    assert_eq!(talk.waits(30), "");
    assert_eq!(talk.asked, 1, "requested without the word");
    talk.types("watch");
    assert_eq!(talk.asked, 2, "requested again");
}

#[test]
fn figures_wait_at_most_two_seconds_for_counts() {
    let mut talk = counting(TERMINAL);
    talk.lists(few(2));
    talk.types("watch");
    talk.at += 100;
    talk.types_now("where");
    assert_eq!(talk.waits(1), "");
    let heard = talk.waits(1);
    let figures = heard.find("The last 60 minutes.").unwrap();
    assert!(
        heard.find("undecided").is_some_and(|place| place > figures),
        "the later line is answered later: {heard}"
    );

    let mut talk = counting(TERMINAL);
    talk.lists(few(2));
    talk.types("watch");
    let problem = Problem { source: None, what: "timed out".to_owned(), why: None };
    talk.take(What::Flows(source(), Err(problem)));
    insta::assert_snapshot!(talk.heard, @"
Plain mode on, because --plain. 2 pending, 2 undecided, oldest 59 min.
Action 1 of 2. Low risk. create_linear_issue from support. Title: Issue number 1. Waiting 59 min.
Words: show, approve, exclude [because TEXT], edit, next, undo, submit, help, quit. Nothing is sent before submit asks.
> watch
The last 60 minutes. All: 2 pending, starting, oldest 59 min.
Source gate: 2 pending, starting, oldest 59 min.
Queue support: 2 pending, starting, oldest 59 min.
Approved 0, excluded 0, left undecided 0, failed after approval 0, outcome unknown 0.
No alerts.
>
");
}
