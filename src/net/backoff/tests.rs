use std::collections::BTreeMap;

use super::*;
use crate::rounds::{Random, rounds};

const SECOND: Duration = Duration::from_secs(1);
const BASE: Duration = Duration::from_millis(500);
const CAP: Duration = Duration::from_secs(30);

fn roll(chance: &mut Random) -> f64 {
    f64::from(u32::try_from(chance.below(1 << 30)).unwrap()) / f64::from(1 << 30)
}

#[test]
fn waits_grow_up_to_the_cap() {
    let mut backoff = Backoff::new(BASE, 3 * SECOND);

    let longest: Vec<_> = (0..4).map(|_| backoff.next(1.0)).collect();

    assert_eq!(longest, [BASE, 2 * SECOND, 3 * SECOND, 3 * SECOND]);
    backoff.reset();
    assert_eq!([backoff.next(0.0), backoff.next(0.0)], [BASE / 2, 2 * SECOND / 5]);
    assert_eq!(backoff.next(0.5), (3 * SECOND + 3 * SECOND / 5) / 2);
}

#[test]
fn a_requested_wait_is_kept_within_limits() {
    let mut backoff = Backoff::new(SECOND, 30 * SECOND);

    backoff.ask(Duration::MAX, SECOND / 2);
    assert_eq!(backoff.next(1.0), 30 * SECOND);
    backoff.reset();
    backoff.ask(Duration::ZERO, SECOND / 2);
    assert_eq!([backoff.next(0.0), backoff.next(1.0)], [SECOND / 2, 2 * SECOND]);
}

#[test]
fn a_thousand_tries_wait_at_most_the_cap() {
    let mut backoff = Backoff::new(SECOND, 30 * SECOND);

    let last = (0..1_000).map(|_| backoff.next(1.0)).last();

    assert_eq!(last, Some(30 * SECOND));
    assert!((0..100).map(|_| dice()).all(|dice| (0.0..1.0).contains(&dice)));
}

fn outage(clients: usize, chance: &mut Random) -> Vec<Vec<Duration>> {
    let tries = |chance: &mut Random| {
        let (mut backoff, mut at, mut tries) = (Backoff::new(BASE, CAP), Duration::ZERO, Vec::new());
        loop {
            at += backoff.next(roll(chance));
            if at >= 60 * SECOND {
                return tries;
            }
            tries.push(at);
        }
    };
    (0..clients).map(|_| tries(chance)).collect()
}

fn seconds(clients: &[Vec<Duration>]) -> BTreeMap<u64, usize> {
    let mut seconds: BTreeMap<u64, usize> = (0..60).map(|second| (second, 0)).collect();
    for at in clients.iter().flatten() {
        *seconds.entry(at.as_secs()).or_default() += 1;
    }
    seconds
}

#[test]
fn g31_a_hundred_clients_spare_a_server_that_is_down() {
    let mut chance = Random::seeded();

    for _ in 0..rounds(200, 20_000) {
        let clients = outage(100, &mut chance);
        assert!(clients.iter().all(|tries| tries.len() <= 12));
        let closest =
            clients.iter().flat_map(|tries| tries.windows(2).map(|two| two[1].saturating_sub(two[0]))).min();
        assert!(closest >= Some(SECOND / 4), "{closest:?}");
        assert!(clients.iter().all(|tries| tries[0] >= SECOND / 4));
    }
    // With this many clients the random part averages out.
    let crowd = seconds(&outage(100_000, &mut chance));
    let busy: Vec<u64> = crowd.iter().filter(|(_, n)| **n > 10_000).map(|(second, _)| *second).collect();
    assert_eq!(busy, (0..busy.len() as u64).collect::<Vec<_>>(), "one burst at the start");
    assert!(busy.len() <= 10, "{busy:?}");
}
