//! Sources that count by themselves.

use super::*;

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
fn what_a_source_counted_itself_is_what_counts_and_what_was_pending_follows_from_it() {
    let mut figures = figures();
    figures.listed(
        &all(vec![row("1", "kim", -60, Status::Pending), row("2", "kim", -60, Status::Pending)]),
        at(0),
    );

    // Three came a quarter of an hour ago, two of five went a minute ago.
    figures.told(&source(), flows(-3_600, 0, 2, &[(-900, 3, 0), (-60, 0, 3)]), at(0));

    let standing = line(&figures, 0);
    assert_eq!(standing.rate.map(|rate| (rate.arrived, rate.resolved)), Some((0, 3)));
    assert_eq!(&standing.spark[43..46], [Some(2), Some(5), Some(5)]);
    assert_eq!(&standing.spark[57..], [Some(5), Some(2), Some(2)]);
    let queue = &figures.board(hour(), at(0)).sources[0].queues[0];
    assert_eq!((&queue.queue, queue.standing.pending), (&Queue::Agent("kim".into()), 2));
}

#[test]
fn before_it_counted_nothing_is_known() {
    let mut figures = figures();
    figures.listed(&all(Vec::new()), at(0));

    figures.told(&source(), flows(-120, 0, 0, &[]), at(0));

    let standing = line(&figures, 0);
    assert_eq!(standing.spark.iter().filter(|value| value.is_some()).count(), 3);
    assert_eq!(standing.rate, Some(Rate { arrived: 0, resolved: 0, over: 120_000 }));
}

#[test]
fn when_it_does_not_tell_any_more_what_was_seen_from_here_counts() {
    let mut figures = figures();
    figures.listed(&all(Vec::new()), at(0));
    figures.told(&source(), flows(-3_600, 0, 0, &[(-30, 7, 7)]), at(0));
    assert_eq!(figures.board(hour(), at(0)).outcomes.approved, 7);

    figures.listed(&changes(vec![decided("1", "kim", 5, Status::Approved, 6)]), at(60));

    assert_eq!(figures.board(hour(), at(60)).outcomes.approved, 7);
    assert_eq!(figures.board(hour(), at(121)).outcomes.approved, 1);
}

#[test]
fn its_counts_are_asked_for_at_once_then_every_half_minute_and_sooner_after_a_change() {
    let mut figures = figures();
    let mut due =
        |seconds| figures.flows_due(&source(), 60, at(seconds)).map(|since| since == at(seconds - 3_600));
    assert_eq!([due(0), due(4), due(29), due(30)], [Some(true), None, None, Some(true)]);

    figures.listed(&all(Vec::new()), at(31));
    figures.listed(&all(vec![row("1", "kim", 31, Status::Pending)]), at(32));

    let mut due = |seconds, window| figures.flows_due(&source(), window, at(seconds)).is_some();
    assert_eq!([due(34, 60), due(35, 60), due(36, 60)], [false, true, false]);
    assert!(due(36, 15), "another window is another question");
}
