//! The figures against simple models.

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;

use super::AlertKind as K;
use super::*;
use crate::domain::{
    ActionId, Entry, Flow, LastMinute, QueueFlow, QueueState, Rate, Revision, Row, Status, Trend, Untrusted,
};
use crate::inbox::{Connection, Rows};

mod books;
mod states;
mod telling;

const START: i64 = 1_795_270_920_000;

fn source() -> SourceName {
    SourceName::new("team")
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(START + seconds * 1_000)
}

fn targets() -> Targets {
    Targets { stale_after: Duration::from_secs(70), ..Targets::default() }
}

fn figures() -> Figures {
    Figures::new(targets(), true, &[source()])
}

fn row(id: &str, agent: &str, created: i64, status: Status) -> Row {
    Row {
        agent: Some(agent.into()),
        created_at: at(created),
        status,
        ..Row::new(ActionId::new(id), Untrusted::from("send_email"), Untrusted::from("a title"))
    }
}

fn decided(id: &str, agent: &str, created: i64, status: Status, resolved: i64) -> Row {
    Row {
        resolved_at: Some(at(resolved)),
        resolved_by: Some("lee".into()),
        ..row(id, agent, created, status)
    }
}

fn synced(rows: Vec<Row>, all: bool) -> Synced {
    let entry =
        |row: Row| Entry { key: crate::domain::ActionKey { source: source(), id: row.id.clone() }, row };
    let entries: Vec<Entry> = rows.into_iter().map(entry).collect();
    Synced {
        source: source(),
        subject: None,
        claims: None,
        rows: if all { Rows::All(entries) } else { Rows::Changes { entries, gone: Vec::new() } },
        revision: Some(Revision(1)),
        unreadable: Vec::new(),
        at: at(0),
    }
}

fn all(rows: Vec<Row>) -> Synced {
    synced(rows, true)
}

fn changes(rows: Vec<Row>) -> Synced {
    synced(rows, false)
}

fn hour() -> BoardRequest {
    BoardRequest { window: 60, columns: 60 }
}

fn line(figures: &Figures, seconds: i64) -> Standing {
    figures.board(hour(), at(seconds)).sources.remove(0).standing
}

#[test]
fn first_list_has_no_arrivals_and_rates_need_a_minute() {
    let mut figures = figures();
    figures.listed(&all(vec![row("1", "kim", -9_000, Status::Pending)]), at(0));

    let first = line(&figures, 30);
    assert_eq!((first.pending, first.rate, first.trend), (1, None, Trend::NotKnown));
    assert_eq!((first.last, first.state), (None, QueueState::OverTarget), "over target needs no history");

    figures.listed(&all(vec![row("1", "kim", -9_000, Status::Pending)]), at(61));
    let rate = line(&figures, 61).rate.unwrap();
    assert_eq!(rate, Rate { arrived: 0, resolved: 0, over: 61_000 });
}

#[test]
fn paged_list_counts_the_ids_of_its_last_page() {
    let page = |ids: &[&str], first| {
        let rows = ids.iter().map(|id| row(id, "kim", 0, Status::Pending)).collect();
        Synced { rows: Rows::Page { entries: all(rows).rows.into_entries(), first }, ..all(Vec::new()) }
    };
    let last = |ids: &[&str]| {
        let listed = ids.iter().map(|id| ActionId::new(*id)).collect();
        Synced { rows: Rows::LastPage { entries: Vec::new(), listed }, ..all(Vec::new()) }
    };
    let mut unreadable = figures();
    unreadable.listed(&page(&["1", "gone"], true), at(0));
    let Synced { rows: Rows::LastPage { listed, .. }, .. } = last(&["1", "cannot be read"]) else { panic!() };
    let stands_in = all(vec![row("cannot be read", "kim", 0, Status::Pending)]).rows.into_entries();
    let rows = Rows::LastPage { entries: stands_in, listed };
    unreadable.listed(&Synced { rows, ..all(Vec::new()) }, at(1));
    let ids: Vec<&str> = unreadable.sources[0].open.ids().map(ActionId::as_raw).collect();
    assert!(ids.len() == 2 && !ids.contains(&"gone"), "the count matches, but not the ids: {ids:?}");

    let mut figures = figures();
    // The first list breaks off, and `gone` is settled before it is read again.
    figures.listed(&page(&["1", "gone"], true), at(0));
    figures.listed(&page(&["1", "2"], true), at(5));
    assert_eq!(line(&figures, 5).pending, 3, "arrivals count at once");

    figures.listed(&last(&["1", "2"]), at(6));
    assert_eq!(line(&figures, 6).pending, 2);

    figures.listed(&page(&["1", "3"], true), at(60));
    figures.listed(&last(&["1", "3"]), at(61));
    assert_eq!(line(&figures, 61).pending, 2, "the same number of other actions");
}

#[test]
fn rates_cover_the_watched_time() {
    let mut figures = figures();
    figures.listed(&all(Vec::new()), at(0));
    figures.listed(
        &all(vec![row("1", "kim", 20, Status::Pending), row("2", "lee", 40, Status::Pending)]),
        at(60),
    );
    figures.listed(&all(vec![row("2", "lee", 40, Status::Pending)]), at(120));

    let standing = line(&figures, 120);

    assert_eq!(standing.rate, Some(Rate { arrived: 2, resolved: 1, over: 120_000 }));
    assert_eq!(standing.rate.map(|rate| (rate.arrivals(), rate.resolves(), rate.net())), Some((10, 5, 5)));
    assert_eq!((standing.trend, standing.state), (Trend::NotKnown, QueueState::Starting));
    assert_eq!(standing.last, Some(LastMinute::default()), "it left in the current minute");
    assert_eq!(
        standing.spark.iter().rev().take(4).rev().copied().collect::<Vec<_>>(),
        [None, Some(2), Some(2), Some(1)]
    );
}

#[test]
fn action_seen_only_settled_counts_as_arrived_and_resolved() {
    let mut figures = figures();
    figures.listed(&all(Vec::new()), at(0));

    figures.listed(&changes(vec![decided("1", "kim", 10, Status::Rejected, 50)]), at(65));

    let board = figures.board(hour(), at(65));
    assert_eq!(board.outcomes, Flow { arrived: 1, rejected: 1, ..Flow::default() });
    assert_eq!((board.total.pending, board.total.spark[58]), (0, Some(0)));
}

#[test]
fn wrong_source_clock_keeps_events_in_the_watched_time() {
    let mut figures = figures();
    figures.listed(&all(Vec::new()), at(0));

    figures.listed(
        &all(vec![row("1", "kim", -86_400, Status::Pending), row("2", "kim", 86_400, Status::Pending)]),
        at(30),
    );

    assert_eq!(figures.board(BoardRequest { window: 1, columns: 1 }, at(30)).outcomes.arrived, 2);
}

#[test]
fn approved_and_later_failed_action_counts_once_as_each() {
    let mut figures = figures();
    figures.listed(&all(vec![row("1", "kim", -60, Status::Pending)]), at(0));
    figures.listed(&changes(vec![decided("1", "kim", -60, Status::Approved, 5)]), at(10));
    figures.listed(&changes(vec![decided("1", "kim", -60, Status::Running, 5)]), at(11));
    figures.listed(&changes(vec![decided("1", "kim", -60, Status::Failed, 5)]), at(12));
    figures.listed(&changes(vec![decided("1", "kim", -60, Status::Failed, 5)]), at(13));

    let board = figures.board(hour(), at(14));

    assert_eq!(board.outcomes, Flow { approved: 1, failed: 1, ..Flow::default() });
    assert_eq!(board.alerts, [Alert { kind: AlertKind::Failed, source: source(), count: 1 }]);
    assert!(
        matches!(board.events[0].what, HappeningKind::Ended { status: Status::Failed, .. }),
        "{:?}",
        board.events
    );
    let tool = board.tools[0].decided.clone().unwrap();
    assert_eq!((tool.approved, tool.failed, tool.edited), (1, 1, None));
}

#[test]
fn lost_run_counts_once_as_what_it_was_settled_as() {
    let mut figures = figures();
    let two = |status: &Status| ["1", "2"].map(|id| decided(id, "kim", -60, status.clone(), 5)).to_vec();
    figures.listed(
        &all(vec![row("1", "kim", -60, Status::Pending), row("2", "kim", -60, Status::Pending)]),
        at(0),
    );
    figures.listed(&changes(two(&Status::Unknown)), at(10));
    assert_eq!(figures.board(hour(), at(11)).outcomes, Flow { approved: 2, unknown: 2, ..Flow::default() });

    figures.listed(&changes(vec![decided("1", "kim", -60, Status::Failed, 5)]), at(12));
    let board = figures.board(hour(), at(13));
    assert_eq!(board.outcomes, Flow { approved: 2, failed: 1, unknown: 1, ..Flow::default() });
    assert_eq!(board.total.unknown, 1);
}

#[test]
fn unwatched_minutes_are_unknown_and_excluded_from_rates() {
    let mut figures = figures();
    figures.event(&Event { source: source(), kind: EventKind::Connection(Connection::Live) }, at(0));
    figures.listed(&all(Vec::new()), at(0));
    figures.listed(&all(vec![row("old", "kim", 10, Status::Pending)]), at(30));
    // After ten minutes of sleep, arrivals and departures are known at once.
    figures.listed(&all(vec![row("1", "kim", 300, Status::Pending)]), at(630));
    figures.listed(&all(vec![row("1", "kim", 300, Status::Pending)]), at(690));

    let standing = line(&figures, 690);

    assert_eq!(standing.spark.iter().rev().take(3).copied().collect::<Vec<_>>(), [Some(1), Some(1), None]);
    assert_eq!(standing.rate, Some(Rate { arrived: 1, resolved: 0, over: 90_000 }), "only the watched time");
    assert_eq!(figures.board(hour(), at(690)).outcomes, Flow { arrived: 2, left: 1, ..Flow::default() });
}

#[test]
fn truncated_list_removes_nothing_and_is_marked_bad() {
    let mut figures = figures();
    let rest = || {
        let cut = crate::contract::action::Unreadable::new(
            crate::contract::action::Unreadable::CUT_OFF,
            "(the rest of the list)",
        );
        cut.stand_in().row
    };
    figures
        .listed(&all(vec![row("1", "kim", 0, Status::Pending), row("2", "kim", 0, Status::Pending)]), at(0));
    figures.listed(&all(vec![row("1", "kim", 0, Status::Pending), rest()]), at(10));

    let board = figures.board(hour(), at(10));
    assert!(board.sources[0].cut && !board.sources[0].is_good());
    assert_eq!(board.outcomes.resolved(), 0);

    figures.listed(&all(vec![row("2", "kim", 0, Status::Pending)]), at(20));
    let board = figures.board(hour(), at(20));
    assert!(board.sources[0].is_good());
    assert_eq!((board.total.pending, board.outcomes.left), (1, 2), "action 1 and the stand-in for the rest");
}

#[test]
fn restart_continues_with_the_saved_minutes() {
    let mut before = figures();
    before.listed(&all(Vec::new()), at(0));
    before.listed(&all(vec![row("1", "kim", 30, Status::Pending)]), at(60));
    before.listed(&all(vec![row("1", "kim", 30, Status::Pending)]), at(100));
    let kept = before.take_unkept(at(100));
    assert_eq!(before.take_unkept(at(100)), [], "no change since");

    let mut after = figures();
    after.listed(&all(vec![row("1", "kim", 30, Status::Pending)]), at(120));
    after.restore(&kept);

    let standing = line(&after, 120);
    assert_eq!(standing.rate, Some(Rate { arrived: 1, resolved: 0, over: 100_000 }));
    assert_eq!(&standing.spark[57..], [Some(1), Some(1), Some(1)]);
}

#[test]
fn growing_compares_arrivals_and_departures_per_quarter_hour() {
    let mut figures = figures();
    let mut rows = Vec::new();
    figures.listed(&all(Vec::new()), at(0));
    for minute in 1..=40 {
        if minute > 10 {
            rows.push(row(&minute.to_string(), "kim", minute * 60 - 30, Status::Pending));
        }
        figures.listed(&all(rows.clone()), at(minute * 60));
    }

    assert_eq!(line(&figures, 40 * 60).growing_for, 30);
    let alerts = figures.board(hour(), at(40 * 60)).alerts;
    assert!(alerts.contains(&Alert { kind: AlertKind::Growing, source: source(), count: 30 }), "{alerts:?}");
}

#[test]
fn every_alert_starts_and_ends_with_its_cause() {
    let mut figures = figures();
    let mut rows = vec![row("old", "kim", -3_601, Status::Pending), row("lost", "kim", -5, Status::Unknown)];
    rows[0].mission = Some("m-1".into());
    rows.push(Row { mission: Some("m-2".into()), ..row("young", "kim", -1, Status::Pending) });
    rows.push(Row { risk: crate::domain::Risk::High, ..row("risky", "kim", -901, Status::Pending) });
    rows.push(Row { expires_at: Some(at(600)), ..row("expiring", "kim", -1, Status::Pending) });
    rows.push(Row { expires_at: Some(at(-1)), ..row("over", "kim", -1, Status::Pending) });
    figures.listed(&all(rows), at(0));

    let told = |figures: &Figures, seconds| {
        let alerts = figures.board(hour(), at(seconds)).alerts;
        alerts.into_iter().map(|alert| (alert.kind, alert.count)).collect::<Vec<_>>()
    };
    assert_eq!(
        told(&figures, 0),
        [(K::Unknown, 1), (K::HighRisk, 1), (K::Expiring, 1), (K::OverTarget, 1), (K::Blocked, 2)]
    );
    assert_eq!(figures.board(hour(), at(0)).sources[0].blocked, 2, "the same number as in the alert");
    assert_eq!(told(&figures, 71)[0], (K::Down, 1), "silent for too long");
    let mut new = self::figures();
    new.not_listed(&source(), "cannot be reached", at(0));
    assert_eq!(told(&new, 5), [(K::Down, 0)], "down for less than a minute");

    figures.listed(&all(Vec::new()), at(80));
    assert_eq!(told(&figures, 80), []);
}

#[test]
fn ages_are_bucketed_with_median_and_90th_percentile() {
    let mut figures = figures();
    let ages = [10_i64, 299, 300, 899, 900, 3_599, 3_600, 14_399, 14_400, 90_000];
    let rows = ages.iter().enumerate().map(|(n, age)| row(&n.to_string(), "kim", -age, Status::Pending));
    figures.listed(&all(rows.collect()), at(0));

    let ages = figures.board(hour(), at(0)).ages;

    assert_eq!(ages.counts, [2, 2, 2, 2, 2]);
    assert_eq!((ages.median, ages.p90), (Some(900_000), Some(14_400_000)));
    assert_eq!((ages.target, ages.over_target), (3_600_000, 3));
}

#[test]
fn queues_beyond_the_maximum_are_merged() {
    let mut figures = figures();
    let rows = (0..100).map(|n| row(&n.to_string(), &format!("agent-{n}"), -10, Status::Pending));
    figures.listed(&all(rows.collect()), at(0));

    let queues = figures.board(hour(), at(0)).sources.remove(0).queues;

    assert_eq!(queues.len(), Queue::MOST + 1);
    let rest = queues.iter().find(|line| line.queue == Queue::Rest).unwrap();
    assert_eq!(rest.standing.pending, 100 - Queue::MOST as u64);
}

#[test]
fn reviewers_are_reported_only_on_request() {
    let one = |reviewers| {
        let mut figures = Figures::new(Targets::default(), reviewers, &[source()]);
        figures.listed(&all(vec![row("1", "kim", -20, Status::Pending)]), at(0));
        figures.listed(&changes(vec![decided("1", "kim", -20, Status::Approved, 10)]), at(10));
        figures.board(hour(), at(10)).reviewers
    };

    assert_eq!(one(false), None);
    let lines = one(true).unwrap();
    assert_eq!((lines[0].decider.name.as_raw(), lines[0].decider.approved), ("lee", 1));
    assert_eq!(lines[0].decider.median_wait, 30_000);
}
