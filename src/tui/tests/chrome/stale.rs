//! The header says how old its data is, at most 45 s late.

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

fn head(desk: &mut Desk) -> String {
    desk.say(What::Tick);
    desk.screen().lines().next().unwrap_or_default().to_owned()
}

fn passes(desk: &mut Desk, seconds: i64) -> String {
    desk.wait(seconds * 1_000);
    head(desk)
}

#[test]
fn g30_every_source_state_fits_80_columns() {
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
    placet  3 to decide   F 1 blocked                    ● gate   kim@acme   14:22
    placet  3 to decide   F 1 blocked         ○ gate STALE, data 100 s old   14:24
    placet  3 to decide   F 1 blocked            ● gate polling   kim@acme   14:22
    placet  3 to decide   F 1 blocked         ○ gate STALE, data 100 s old   14:24
    placet  3 to decide   F 1 blocked    ○ gate RETRY in 7 s, data 5 s old   14:22
    placet  3 to decide   F 1 blocked      ○ gate RETRYING, data 100 s old   14:24
    placet  3 to decide   F 1 blocked         ○ gate REFUSED, data 5 s old   14:22
    placet  3 to decide   F 1 blocked       ○ gate REFUSED, data 100 s old   14:24
    placet  3 to decide   F 1 blocked         ○ gate STOPPED, data 5 s old   14:22
    placet  3 to decide   F 1 blocked       ○ gate STOPPED, data 100 s old   14:24
    placet  3 to decide   F 1 blocked      ○ gate CONNECTING, data 5 s old   14:22
    placet  3 to decide   F 1 blocked    ○ gate CONNECTING, data 100 s old   14:24
    ");
}

#[test]
fn g30_silent_source_is_stale_exactly_at_its_limit() {
    let mut desk = Desk::new(100, 30, few(1));

    // The limit here is 40 s.
    insta::assert_snapshot!(passes(&mut desk, 39), @" placet  1 to decide   F 1 blocked                                        ● gate   kim@acme   14:23");
    insta::assert_snapshot!(passes(&mut desk, 1), @" placet  1 to decide   F 1 blocked                   ○ gate STALE, data 40 s old   kim@acme   14:23");
    insta::assert_snapshot!(passes(&mut desk, 3_600), @" placet  1 to decide   F 1 blocked                    ○ gate STALE, data 1 h old   kim@acme   15:23");
    hears(&mut desk, EventKind::Tick);
    insta::assert_snapshot!(head(&mut desk), @" placet  1 to decide   F 1 blocked                                        ● gate   kim@acme   15:23");
}

#[test]
fn g30_first_tick_after_sleep_shows_stale() {
    let mut desk = Desk::new(100, 30, few(1));
    desk.wait(8 * 3_600_000);
    desk.model.screen.dirty = false;

    desk.say(What::Tick);

    assert!(desk.model.screen.dirty, "it must be drawn");
    insta::assert_snapshot!(head(&mut desk), @" placet  1 to decide   F 1 blocked                    ○ gate STALE, data 8 h old   kim@acme   22:22");
    becomes(&mut desk, Connection::Connecting);
    insta::assert_snapshot!(head(&mut desk), @" placet  1 to decide   F 1 blocked               ○ gate CONNECTING, data 8 h old   kim@acme   22:22");
}

#[test]
fn polled_source_is_stale_after_three_intervals() {
    let mut desk = Desk::new(100, 30, few(1));
    desk.model.list.sources[0].poll = Duration::from_mins(1);
    becomes(&mut desk, Connection::Polling);

    insta::assert_snapshot!(passes(&mut desk, 179), @" placet  1 to decide   F 1 blocked                                ● gate polling   kim@acme   14:25");
    insta::assert_snapshot!(passes(&mut desk, 1), @" placet  1 to decide   F 1 blocked                    ○ gate STALE, data 3 m old   kim@acme   14:25");
}

#[test]
fn heartbeat_does_not_refresh_the_age_of_missing_data() {
    let mut desk = Desk::new(100, 30, few(1));
    hears(&mut desk, EventKind::Changed);
    insta::assert_snapshot!(passes(&mut desk, 39), @" placet  1 to decide   F 1 blocked                                        ● gate   kim@acme   14:23");

    hears(&mut desk, EventKind::Tick);
    hears(&mut desk, EventKind::Briefing(Briefing { revision: Some(Revision(9)), ..Briefing::default() }));

    insta::assert_snapshot!(passes(&mut desk, 1), @" placet  1 to decide   F 1 blocked                   ○ gate STALE, data 40 s old   kim@acme   14:23");
    let problem = Problem { source: Some(source()), what: "gave no usable answer".to_owned(), why: None };
    desk.say(What::Synced(source(), Err(problem)));
    hears(&mut desk, EventKind::Tick);
    insta::assert_snapshot!(head(&mut desk), @" placet  1 to decide   F 1 blocked                   ○ gate STALE, data 40 s old   kim@acme   14:23");
    desk.changes(Vec::new());
    insta::assert_snapshot!(head(&mut desk), @" placet  1 to decide   F 1 blocked                                        ● gate   kim@acme   14:23");
}

#[test]
fn list_error_disappears_after_a_successful_read() {
    let mut desk = Desk::new(100, 30, few(1));
    let problem = Problem { source: Some(source()), what: "cannot be reached".to_owned(), why: None };
    desk.say(What::Synced(source(), Err(problem)));
    insta::assert_snapshot!(desk.status_line(), @" the list could not be read: gate cannot be reached");

    desk.changes(Vec::new());

    assert_eq!(desk.status_line(), "");
}

#[test]
fn review_of_stale_data_shows_its_age() {
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
