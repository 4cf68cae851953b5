//! Random events against a model that recomputes each answer from the whole history.

use super::*;
use crate::rounds::{Random, rounds};

struct Look {
    at: i64,
    counts: [[u64; 2]; 2],
    in_front: bool,
    quiet: bool,
}

/// Returns the due events of the last evaluation, from all evaluations and the times of notices.
fn expected(looks: &[Look], rule: &NotifyRule, told: &[i64]) -> Vec<(usize, usize, u64)> {
    let least = rule.at_least.max(1);
    let level = |look: &Look, source: usize, kind: usize| {
        Some(look.counts[source][kind]).filter(|it| *it >= least).unwrap_or(0)
    };
    let now = looks.last().unwrap();
    let every = rule.every.as_millis() as i64;
    if now.quiet || rule.unfocused_only && now.in_front || told.iter().any(|at| now.at - at < every) {
        return Vec::new();
    }
    let mut due = Vec::new();
    for (kind, source) in [(1, 0), (1, 1), (0, 0), (0, 1)] {
        // An event is open since the last notice, focus or absence.
        let open = (1..looks.len()).rev().take_while(|n| {
            level(&looks[*n], source, kind) > 0
                && !told.contains(&looks[*n].at)
                && !(rule.unfocused_only && looks[*n].in_front)
        });
        let is_news = |n: &usize| {
            let settling = kind == 1 && looks[*n].at - looks[0].at < SETTLING;
            level(&looks[*n], source, kind) > level(&looks[*n - 1], source, kind) && !settling
        };
        if open.into_iter().any(|n| is_news(&n)) {
            due.push((kind, source, level(now, source, kind)));
        }
    }
    due
}

#[test]
fn notices_match_a_model_on_random_events() {
    let mut random = Random::seeded();
    let (mut notices_seen, mut joined) = (0, 0);
    for _ in 0..rounds(300, 10_000) {
        let quiet = Quiet { from: 12 * 60 + 20, until: 13 * 60, days: [true; 7] };
        let rule = NotifyRule {
            at_least: random.below(4) as u64,
            every: Duration::from_mins(1 + random.below(12) as u64),
            quiet: (random.below(2) == 0).then_some(quiet.clone()),
            unfocused_only: random.below(2) == 0,
            ..rule(&[OVER, FAILED])
        };
        let mut evening = Evening::unseen(std::slice::from_ref(&rule));
        let (mut looks, mut told) = (Vec::new(), Vec::new());
        let mut counts = [[0; 2]; 2];
        for _ in 0..80 {
            let cell = &mut counts[random.below(2)][random.below(2)];
            *cell = match random.below(4) {
                0 => 0,
                1 => *cell,
                _ => random.below(6) as u64,
            };
            evening.wait([1_000, 20_000, 90_000, 400_000][random.below(4)]);
            evening.in_front = random.below(3) == 0;
            let named = |kind, at: usize| {
                counts.iter().zip(["a", "b"]).map(move |(of, name)| alert(kind, name, of[at]))
            };
            let alerts = named(AlertKind::OverTarget, 0).chain(named(AlertKind::Failed, 1));
            evening.board.alerts = alerts.filter(|alert| alert.count > 0).collect();
            let wall = Wall::at(evening.board.at, &evening.zone);
            looks.push(Look {
                at: evening.board.at.as_millis(),
                counts,
                in_front: evening.in_front,
                quiet: rule.quiet.is_some() && (12 * 60 + 20..13 * 60).contains(&wall.minute),
            });
            let want = expected(&looks, &rule, &told);
            let got = evening.look();
            let lines = got.iter().flat_map(|notice| &notice.told).map(|it| {
                (usize::from(it.on == FAILED), usize::from(it.source == Some(SourceName::new("b"))), it.count)
            });
            assert_eq!(lines.collect::<Vec<_>>(), want);
            if !got.is_empty() {
                told.push(evening.board.at.as_millis());
                notices_seen += 1;
                joined += usize::from(want.len() > 1);
            }
        }
    }
    assert!(notices_seen > 1_000 && joined > 100, "{notices_seen} notices, {joined} of several events");
}
