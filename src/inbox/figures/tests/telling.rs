//! Sources that report their own counts.

use super::*;
use crate::domain::{Decider, ToolDecided};

fn flows(from: i64, now: i64, pending: u64, minutes: &[(i64, u64, u64)]) -> Flows {
    let minute = |&(seconds, arrived, approved)| {
        (Minute::of(at(seconds)), Flow { arrived, approved, ..Flow::default() })
    };
    Flows {
        at: at(now),
        from: at(from),
        queues: vec![QueueFlow {
            queue: Queue::Agent("kim".into()),
            pending,
            minutes: minutes.iter().map(minute).collect(),
        }],
        ..Flows::default()
    }
}

#[test]
fn source_counts_win_and_past_pending_is_derived() {
    let mut figures = figures();
    figures.listed(
        &all(vec![row("1", "kim", -60, Status::Pending), row("2", "kim", -60, Status::Pending)]),
        at(0),
    );

    // Three arrived 15 minutes ago; three of five left a minute ago.
    figures.told(&source(), flows(-3_600, 0, 2, &[(-900, 3, 0), (-60, 0, 3)]), at(0));

    let standing = line(&figures, 0);
    assert_eq!(standing.rate.map(|rate| (rate.arrived, rate.resolved)), Some((0, 3)));
    assert_eq!(&standing.spark[43..46], [Some(2), Some(5), Some(5)]);
    assert_eq!(&standing.spark[57..], [Some(5), Some(2), Some(2)]);
    let queue = &figures.board(hour(), at(0)).sources[0].queues[0];
    assert_eq!((&queue.queue, queue.standing.pending), (&Queue::Agent("kim".into()), 2));
}

#[test]
fn figures_before_the_sources_counts_are_unknown() {
    let mut figures = figures();
    figures.listed(&all(Vec::new()), at(0));

    figures.told(&source(), flows(-120, 0, 0, &[]), at(0));

    let standing = line(&figures, 0);
    assert_eq!(standing.spark.iter().filter(|value| value.is_some()).count(), 3);
    assert_eq!(standing.rate, Some(Rate { arrived: 0, resolved: 0, over: 120_000 }));
}

#[test]
fn own_observations_count_when_the_source_stops_reporting() {
    let mut figures = figures();
    figures.listed(&all(Vec::new()), at(0));
    figures.told(&source(), flows(-3_600, 0, 0, &[(-30, 7, 7)]), at(0));
    assert_eq!(figures.board(hour(), at(0)).outcomes.approved, 7);

    figures.listed(&changes(vec![decided("1", "kim", 5, Status::Approved, 6)]), at(60));

    assert_eq!(figures.board(hour(), at(60)).outcomes.approved, 7);
    assert_eq!(figures.board(hour(), at(121)).outcomes.approved, 1);
}

#[test]
fn counts_are_requested_every_half_minute_and_after_changes() {
    let mut figures = figures();
    let mut due = |seconds| {
        let asked = figures.flows_due(&source(), 60, at(seconds));
        asked.map(|it| (it.since, it.decided_since) == (at(seconds - 255 * 60), at(seconds - 3_600)))
    };
    assert_eq!([due(0), due(4), due(29), due(30)], [Some(true), None, None, Some(true)]);

    figures.listed(&all(Vec::new()), at(31));
    figures.listed(&all(vec![row("1", "kim", 31, Status::Pending)]), at(32));

    let mut due = |seconds, window| figures.flows_due(&source(), window, at(seconds)).is_some();
    assert_eq!([due(34, 60), due(35, 60), due(36, 60)], [false, true, false]);
    assert!(due(36, 15), "another window needs another request");
}

#[test]
fn counts_are_requested_after_a_skipped_revision() {
    let mut figures = figures();
    let looked = |revision| Synced { revision: Some(Revision(revision)), ..all(Vec::new()) };
    figures.listed(&looked(1), at(0));
    assert!(figures.flows_due(&source(), 60, at(0)).is_some());

    figures.listed(&looked(1), at(1));
    assert!(figures.flows_due(&source(), 60, at(6)).is_none(), "no new revision");
    figures.listed(&looked(3), at(7));
    assert!(figures.flows_due(&source(), 60, at(8)).is_some());
}

#[test]
fn queues_not_named_by_the_source_are_not_empty() {
    let mut figures = figures();
    let name = |n: usize| format!("agent-{n:03}");
    let rows = (0..100).map(|n| row(&n.to_string(), &name(n), -10, Status::Pending));
    figures.listed(&all(rows.collect()), at(0));
    // The source names the last 60 agents; placet saw the first ones first.
    let told =
        (40..100).map(|n| QueueFlow { queue: Queue::Agent(name(n).into()), pending: 1, minutes: Vec::new() });
    figures.told(
        &source(),
        Flows { at: at(0), from: at(-3_600), queues: told.collect(), ..Flows::default() },
        at(0),
    );

    let board = figures.board(hour(), at(0));

    let queues = &board.sources[0].queues;
    assert!(queues.iter().all(|line| line.standing.pending > 0), "{queues:?}");
    assert_eq!(queues.iter().map(|line| line.standing.pending).sum::<u64>(), 100);
    assert!(queues.len() <= Queue::MOST + 1);
    assert_eq!(board.sources[0].standing.spark.last(), Some(&Some(100)));
}

#[test]
fn tools_and_reviewers_belong_to_their_window() {
    let mut figures = figures();
    figures.listed(&all(Vec::new()), at(0));
    assert!(figures.flows_due(&source(), 1_440, at(0)).is_some());
    let tool = ToolDecided { tool: "t".into(), approved: 5, edited: Some(0), rejected: 0, failed: 0 };
    figures.told(&source(), Flows { tools: vec![tool], ..flows(-3_600, 0, 0, &[]) }, at(0));

    assert_eq!(figures.board(BoardRequest { window: 1_440, columns: 60 }, at(1)).tools.len(), 1);
    assert_eq!(figures.board(hour(), at(1)).tools, []);
}

#[test]
fn groups_need_the_setting_and_the_sources_report() {
    let group = |name: &str, approved| Decider { name: name.into(), approved, ..Decider::default() };
    let told = Flows { groups: vec![group("nights", 1), group("support", 2)], ..flows(-3_600, 0, 0, &[]) };
    let groups = |on: bool, told: Option<Flows>| {
        let mut figures = figures().with_groups(on);
        figures.listed(&all(Vec::new()), at(0));
        assert_eq!(
            figures.flows_due(&source(), 60, at(0)).unwrap().groups,
            on,
            "groups are requested only if switched on"
        );
        if let Some(told) = told {
            figures.told(&source(), told, at(0));
        }
        let groups = figures.board(hour(), at(1)).groups?;
        Some(groups.iter().map(|line| line.decider.name.as_raw().to_owned()).collect::<Vec<_>>())
    };

    assert_eq!(groups(true, Some(told.clone())), Some(vec!["support".to_owned(), "nights".to_owned()]));
    assert_eq!(groups(false, Some(told)), None);
    assert_eq!(groups(true, None), Some(Vec::new()), "the source reports no counts");
}

#[test]
fn requesting_counts_does_not_change_own_observations() {
    let mut figures = figures();
    figures.listed(&all(Vec::new()), at(0));
    let before = figures.board_as_seen(hour(), at(1));
    let failed = Flow { failed: 3, approved: 3, arrived: 3, ..Flow::default() };
    let queues = vec![QueueFlow {
        queue: Queue::Agent("kim".into()),
        pending: 0,
        minutes: vec![(Minute::of(at(-600)), failed)],
    }];
    figures.told(&source(), Flows { queues, ..flows(-3_600, 0, 0, &[]) }, at(1));

    assert_eq!(figures.board_as_seen(hour(), at(1)), before);
    assert_eq!(
        figures.board(BoardRequest { window: 5, columns: 5 }, at(1)).alerts[0].count,
        3,
        "failures of the last hour"
    );
}

#[test]
fn unreachable_source_is_down_since_the_first_attempt() {
    let mut figures = figures();
    let why = || "no way there".into();
    for minute in 0..5_i64 {
        let retry_in = Duration::from_millis(1_000 + minute.unsigned_abs());
        let kind = EventKind::Connection(Connection::Retrying { why: why(), retry_in });
        figures.event(&Event { source: source(), kind }, at(minute * 60));
        figures.not_listed(&source(), "cannot be reached", at(minute * 60));
    }

    let alerts = figures.board(hour(), at(300)).alerts;

    assert_eq!(alerts, [Alert { kind: AlertKind::Down, source: source(), count: 5 }]);
}

#[test]
fn source_clock_ahead_ages_nothing() {
    let mut figures = figures();
    let high = Row { risk: crate::domain::Risk::High, ..row("1", "kim", 7_200, Status::Pending) };
    figures.listed(&all(vec![high]), at(0));

    assert_eq!(figures.board(hour(), at(0)).alerts, []);
}

#[test]
fn lapsing_approvals_alert_until_the_source_clears_them() {
    let mut figures = figures();
    figures.listed(&all(Vec::new()), at(0));
    let mut alerts = |lapsing| {
        let briefing = crate::domain::Briefing { lapsing, ..Default::default() };
        figures.event(&Event { source: source(), kind: EventKind::Briefing(briefing) }, at(0));
        let alerts = figures.board(hour(), at(0)).alerts;
        alerts.iter().map(|alert| (alert.kind, alert.count)).collect::<Vec<_>>()
    };

    assert_eq!(alerts(Some(2)), [(AlertKind::Lapsing, 2)]);
    assert_eq!(alerts(Some(0)), []);
    assert_eq!(alerts(None), [], "the source does not report it");
}

#[test]
fn foreign_runs_are_the_second_gravest_alert() {
    let mut figures = figures();
    figures.listed(&all(Vec::new()), at(0));
    let briefing = crate::domain::Briefing { ran_other: Some(2), lapsing: Some(1), ..Default::default() };
    figures.event(&Event { source: source(), kind: EventKind::Briefing(briefing) }, at(0));

    let alerts = figures.board(hour(), at(0)).alerts;

    let kinds: Vec<_> = alerts.iter().map(|alert| (alert.kind, alert.count)).collect();
    assert_eq!(kinds, [(AlertKind::RanOther, 2), (AlertKind::Lapsing, 1)]);
    assert!(AlertKind::Down < AlertKind::RanOther && AlertKind::RanOther < AlertKind::Failed);
    assert_eq!(words::alert(AlertKind::RanOther, 2, &Targets::default()), "2 ran other than approved");
}
