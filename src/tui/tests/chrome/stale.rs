//! Whether the screen can be trusted: always said, with the age of what it shows, and never later than 45 s.

use std::time::Duration;

use crate::domain::{Briefing, Revision};
use crate::inbox::{Connection, Event, EventKind, Problem};
use crate::tui::core::msg::What;
use crate::tui::submit::words;
use crate::tui::testing::{Desk, few, source};

use crate::tui::tests::queue::screens::at_work;

fn hears(desk: &mut Desk, kind: EventKind) {
    desk.say(What::Source(Event { source: source(), kind }));
}

fn becomes(desk: &mut Desk, connection: Connection) {
    hears(desk, EventKind::Connection(connection));
}

/// The first line of the screen, as the second that passes leaves it.
fn head(desk: &mut Desk) -> String {
    desk.say(What::Tick);
    desk.screen().lines().next().unwrap_or_default().to_owned()
}

fn passes(desk: &mut Desk, seconds: i64) -> String {
    desk.wait(seconds * 1_000);
    head(desk)
}

#[test]
fn g30_every_state_of_a_source_is_on_a_screen_of_80_columns() {
    let retrying = Connection::Retrying { why: "reset".into(), retry_in: Duration::from_secs(12) };
    let refused = Connection::Refused { why: "the server answered 401".into() };
    let stopped = Connection::Stopped { why: "the server answered 204".into() };
    let mut said = Vec::new();
    for connection in
        [Connection::Live, Connection::Polling, retrying, refused, stopped, Connection::Connecting]
    {
        let mut desk = Desk::new(80, 24, few(3));
        becomes(&mut desk, connection);
        said.push(passes(&mut desk, 5));
        said.push(passes(&mut desk, 95));
    }

    insta::assert_snapshot!(said.join("\n"), @"
    placet  3 to decide · 1 agent blocked             gate live   kim@acme   14:22
    placet  3 to decide · 1 agent blocked       gate STALE, data 100 s old   14:24
    placet  3 to decide · 1 agent blocked          gate polling   kim@acme   14:22
    placet  3 to decide · 1 agent blocked       gate STALE, data 100 s old   14:24
    placet  3 to decide · 1 agent blocked  gate RETRY in 7 s, data 5 s old   14:22
    placet  3 to decide · 1 agent blocked    gate RETRYING, data 100 s old   14:24
    placet  3 to decide · 1 agent blocked       gate REFUSED, data 5 s old   14:22
    placet  3 to decide · 1 agent blocked     gate REFUSED, data 100 s old   14:24
    placet  3 to decide · 1 agent blocked       gate STOPPED, data 5 s old   14:22
    placet  3 to decide · 1 agent blocked     gate STOPPED, data 100 s old   14:24
    placet  3 to decide · 1 agent blocked    gate CONNECTING, data 5 s old   14:22
    placet  3 to decide · 1 agent blocked  gate CONNECTING, data 100 s old   14:24
    ");
}

#[test]
fn g30_a_live_source_without_a_sign_of_life_is_stale_at_its_limit_and_not_before() {
    let mut desk = Desk::new(100, 30, few(1));

    // The desk's limit is 40 s.
    insta::assert_snapshot!(passes(&mut desk, 39), @" placet  1 to decide · 1 agent blocked                                 gate live   kim@acme   14:23");
    insta::assert_snapshot!(passes(&mut desk, 1), @" placet  1 to decide · 1 agent blocked                 gate STALE, data 40 s old   kim@acme   14:23");
    insta::assert_snapshot!(passes(&mut desk, 3_600), @" placet  1 to decide · 1 agent blocked                  gate STALE, data 1 h old   kim@acme   15:23");
    hears(&mut desk, EventKind::Tick);
    insta::assert_snapshot!(head(&mut desk), @" placet  1 to decide · 1 agent blocked                                 gate live   kim@acme   15:23");
}

#[test]
fn g30_a_computer_that_slept_shows_stale_data_with_the_next_second() {
    let mut desk = Desk::new(100, 30, few(1));
    desk.wait(8 * 3_600_000);
    desk.model.screen.dirty = false;

    desk.say(What::Tick);

    assert!(desk.model.screen.dirty, "it must be drawn");
    insta::assert_snapshot!(head(&mut desk), @" placet  1 to decide · 1 agent blocked                  gate STALE, data 8 h old   kim@acme   22:22");
    becomes(&mut desk, Connection::Connecting);
    insta::assert_snapshot!(head(&mut desk), @" placet  1 to decide · 1 agent blocked             gate CONNECTING, data 8 h old   kim@acme   22:22");
}

#[test]
fn who_is_only_asked_is_stale_after_three_askings() {
    let mut desk = Desk::new(100, 30, few(1));
    desk.model.list.sources[0].poll = Duration::from_mins(1);
    becomes(&mut desk, Connection::Polling);

    insta::assert_snapshot!(passes(&mut desk, 179), @" placet  1 to decide · 1 agent blocked                              gate polling   kim@acme   14:25");
    insta::assert_snapshot!(passes(&mut desk, 1), @" placet  1 to decide · 1 agent blocked                  gate STALE, data 3 m old   kim@acme   14:25");
}

#[test]
fn a_sign_of_life_says_nothing_of_data_that_is_not_here_yet() {
    let mut desk = Desk::new(100, 30, few(1));
    hears(&mut desk, EventKind::Changed);
    insta::assert_snapshot!(passes(&mut desk, 39), @" placet  1 to decide · 1 agent blocked                                 gate live   kim@acme   14:23");

    hears(&mut desk, EventKind::Tick);
    hears(&mut desk, EventKind::Briefing(Briefing { revision: Some(Revision(9)), ..Briefing::default() }));

    // The list is still awaited.
    insta::assert_snapshot!(passes(&mut desk, 1), @" placet  1 to decide · 1 agent blocked                 gate STALE, data 40 s old   kim@acme   14:23");
    let problem = Problem { source: Some(source()), what: "gave no usable answer".to_owned(), why: None };
    desk.say(What::Synced(source(), Err(problem)));
    hears(&mut desk, EventKind::Tick);
    // The list failed.
    insta::assert_snapshot!(head(&mut desk), @" placet  1 to decide · 1 agent blocked                 gate STALE, data 40 s old   kim@acme   14:23");
    desk.changes(Vec::new());
    insta::assert_snapshot!(head(&mut desk), @" placet  1 to decide · 1 agent blocked                                 gate live   kim@acme   14:23");
}

#[test]
fn a_notice_that_a_list_cannot_be_read_goes_when_it_is_read() {
    let mut desk = Desk::new(100, 30, few(1));
    let problem = Problem { source: Some(source()), what: "cannot be reached".to_owned(), why: None };
    desk.say(What::Synced(source(), Err(problem)));
    insta::assert_snapshot!(desk.status_line(), @" the list could not be read: gate cannot be reached");

    desk.changes(Vec::new());

    assert_eq!(desk.status_line(), "");
}

#[test]
fn what_was_decided_on_old_counts_can_be_sent_and_the_sheet_says_how_old_they_are() {
    let mut desk = at_work(80, 24);
    desk.wait(90_000);
    desk.say(What::Tick);

    desk.press("S");

    let doubt = format!("gate: STALE, data 91 s old; {}", words::COUNTS_MAY_BE_OLD);
    assert!(desk.screen().contains(&doubt), "{}", desk.screen());
    desk.changes(Vec::new());
    assert!(!desk.screen().contains(words::COUNTS_MAY_BE_OLD));
    desk.wait(60_000);
    desk.press("y");
    assert_eq!(desk.submitted.len(), 1);
}
