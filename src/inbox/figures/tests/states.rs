//! Queue states and rates, and that an end of traffic is noticed.

use super::books::{History, Life};
use super::*;
use crate::rounds::runner;

/// Traffic until `stop` seconds, and reads for twelve minutes after it.
fn stopping() -> impl Strategy<Value = (History, i64)> {
    let life = (0_u8..3, 0..1_500_i64, proptest::option::of((1..600_i64, 0_u8..4)));
    let gaps = proptest::collection::vec(1..40_i64, 200);
    (proptest::collection::vec(life, 0..120), gaps, 0..1_500_i64, any::<bool>()).prop_map(
        |(lives, gaps, stop, tells)| {
            let lives =
                lives.into_iter().filter(|(_, comes, _)| *comes < stop).map(|(agent, comes, goes)| Life {
                    agent,
                    comes,
                    goes: goes.map(|(after, how)| (comes + after, how)).filter(|(goes, _)| *goes < stop),
                });
            let looks = gaps.iter().scan(0, |now, gap| {
                *now += gap;
                Some(*now)
            });
            let looks = std::iter::once(0).chain(looks.take_while(|look| *look < stop + 720)).collect();
            let looks: Vec<i64> = looks;
            // Without changes, a departure is seen when the list is read.
            let seen = looks.iter().copied().find(|look| *look >= stop).unwrap_or(stop);
            (History { lives: lives.collect(), looks, tells }, if tells { stop } else { seen })
        },
    )
}

/// Returns the own counts of a gate that started at second 0.
fn counted(lives: &[Life], asked: &FlowsAsked, now: i64) -> Flows {
    let of_agent = |agent: u8| {
        let lives = || lives.iter().filter(move |life| life.agent == agent);
        let mut minutes: BTreeMap<Minute, Flow> = BTreeMap::new();
        for life in lives().filter(|life| life.comes <= now) {
            minutes.entry(Minute::of(at(life.comes))).or_default().arrived += 1;
            if let Some((goes, _)) = life.goes.filter(|(goes, _)| *goes <= now) {
                minutes.entry(Minute::of(at(goes))).or_default().left += 1;
            }
        }
        QueueFlow {
            queue: Queue::Agent(format!("agent-{agent}").into()),
            pending: lives().filter(|life| life.is_pending(now)).count() as u64,
            minutes: minutes.into_iter().collect(),
        }
    };
    Flows {
        at: at(now),
        from: asked.since.max(at(0)),
        queues: (0..3).map(of_agent).collect(),
        ..Flows::default()
    }
}

fn standings(board: &Board) -> impl Iterator<Item = &Standing> {
    let source = &board.sources[0];
    [&board.total, &source.standing].into_iter().chain(source.queues.iter().map(|line| &line.standing))
}

fn check_stopped(figures: &Figures, now: i64, stop: i64) -> Result<(), TestCaseError> {
    let board = figures.board(hour(), at(now));
    for standing in standings(&board) {
        if now >= stop + 120 {
            prop_assert_eq!(standing.last, Some(LastMinute::default()), "{} s after the stop", now - stop);
        }
        if now >= stop + 240 {
            prop_assert!(!matches!(standing.trend, Trend::Growing | Trend::ClearsIn(_)), "{standing:?}");
            prop_assert!(
                !matches!(standing.state, QueueState::Growing | QueueState::Clearing),
                "{standing:?}"
            );
            prop_assert_eq!(standing.growing_for, 0);
        }
        if now < 180 {
            prop_assert!(standing.trend == Trend::NotKnown, "{now} s after the start: {standing:?}");
        }
        prop_assert!(i64::from(standing.growing_for) <= now / 60 + 1, "it grows for longer than it exists");
    }
    let grows = board.alerts.iter().any(|alert| alert.kind == K::Growing);
    prop_assert!(now < stop + 240 || !grows, "{:?}", board.alerts);
    Ok(())
}

#[test]
fn end_of_traffic_is_noticed() {
    let cases = (stopping(), any::<bool>());
    let ran = runner(24, 5_000).run(&cases, |((history, stop), counts)| {
        let mut checked = Ok(());
        history.playing(|figures, now| {
            if counts && let Some(asked) = figures.flows_due(&source(), 60, at(now)) {
                figures.told(&source(), counted(&history.lives, &asked, now), at(now));
            }
            if checked.is_ok() {
                checked = check_stopped(figures, now, stop);
            }
        });
        checked
    });
    ran.unwrap_or_else(|failed| panic!("{failed}"));
}

/// Reads every ten seconds and returns the queue's standing after each read.
fn looked(came: impl Fn(i64) -> Vec<Row>, until: i64) -> Vec<(i64, Standing)> {
    let mut figures = figures();
    let mut seen = Vec::new();
    for now in (0..=until).step_by(10) {
        figures.listed(&all(came(now)), at(now));
        seen.push((now, line(&figures, now)));
    }
    seen
}

#[test]
fn queue_is_starting_for_three_minutes() {
    let every_ten =
        |now: i64| (1..=now / 10).map(|n| row(&n.to_string(), "kim", n * 10 - 5, Status::Pending));

    for (now, standing) in looked(|now| every_ten(now).collect(), 600) {
        let want = if now < 180 { QueueState::Starting } else { QueueState::Growing };
        assert_eq!(standing.state, want, "{now} s");
    }
}

#[test]
fn burst_at_the_start_is_not_growth() {
    let burst =
        |now: i64| (0..67).filter(move |_| now > 0).map(|n| row(&n.to_string(), "kim", 5, Status::Pending));

    for (now, standing) in looked(|now| burst(now).collect(), 1_200) {
        let want = if now < 180 { QueueState::Starting } else { QueueState::Ok };
        assert_eq!(standing.state, want, "{now} s");
    }
}

#[test]
fn queue_with_more_departures_is_clearing() {
    let left = |now: i64| (now / 10..100).map(|n| row(&n.to_string(), "kim", -5, Status::Pending)).collect();

    let (_, standing) = looked(left, 600).pop().unwrap();

    assert_eq!(standing.state, QueueState::Clearing);
    assert_eq!(standing.trend, Trend::ClearsIn(400_000), "40 are left, 6 leave per minute");
    assert_eq!(standing.last, Some(LastMinute { arrived: 0, resolved: 6 }));
}

#[test]
fn a_source_silent_for_minutes_has_no_data() {
    let mut figures = figures();
    figures.listed(&all(vec![row("1", "kim", 0, Status::Pending)]), at(0));
    let state = |figures: &Figures, now: i64| (line(figures, now).state, line(figures, now).last);

    assert_eq!(state(&figures, 71).0, QueueState::Starting, "the source is only stale");
    assert_eq!(state(&figures, 300), (QueueState::NoData, None));
    assert_eq!(figures.board(hour(), at(300)).total.state, QueueState::NoData);
    assert_eq!(self::figures().board(hour(), at(0)).total.state, QueueState::NoData, "never heard");
}

#[test]
fn queue_is_measured_by_its_own_target() {
    let own = [("kim".to_owned(), Duration::from_mins(5))].into();
    let mut figures = figures().with_queue_targets(&own);
    let rows = ["kim", "lee"].map(|agent| row(agent, agent, -301, Status::Pending));
    figures.listed(&all(rows.to_vec()), at(0));

    let board = figures.board(hour(), at(0));

    let over: Vec<_> = board.sources[0].queues.iter().map(|line| line.standing.over_target).collect();
    assert_eq!((over, board.total.over_target), (vec![1, 0], 1));
    let targets: Vec<_> = board.sources[0].queues.iter().map(|line| line.target / Minute::MILLIS).collect();
    assert_eq!(targets, [5, 60]);
    assert_eq!(board.alerts, [Alert { kind: K::OverTarget, source: source(), count: 1 }]);
}

#[test]
fn counts_are_requested_at_the_end_of_a_minute() {
    let mut figures = figures();
    figures.listed(&all(Vec::new()), at(0));
    let asked = figures.flows_due(&source(), 60, at(50)).unwrap();
    figures.told(&source(), counted(&[], &asked, 50), at(50));

    assert!(figures.flows_due(&source(), 60, at(59)).is_none());
    assert!(figures.flows_due(&source(), 60, at(61)).is_some(), "the minute ended");
    assert!(figures.flows_due(&source(), 60, at(62)).is_none(), "requested a moment ago");
}
