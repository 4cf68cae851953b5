//! Property tests: the figures of random histories against the list of all events.

use super::*;
use crate::rounds;

#[derive(Clone, Debug)]
pub(super) struct Life {
    pub(super) agent: u8,
    pub(super) comes: i64,
    pub(super) goes: Option<(i64, u8)>,
}

#[derive(Clone, Debug)]
pub(super) struct History {
    pub(super) lives: Vec<Life>,
    pub(super) looks: Vec<i64>,
    /// Whether the source reports changes, not just the current list.
    pub(super) tells: bool,
}

const LENGTH: i64 = 40 * 60;

fn history() -> impl Strategy<Value = History> {
    let life = (0_u8..3, 0..LENGTH, proptest::option::of((1..900_i64, 0_u8..4)));
    let life = life.prop_map(|(agent, comes, goes)| Life {
        agent,
        comes,
        goes: goes.map(|(after, how)| (comes + after, how)),
    });
    let gaps = proptest::collection::vec(1..40_i64, 20..90);
    let lives = proptest::collection::vec(life, 0..60);
    (lives, gaps, any::<bool>()).prop_map(|(lives, gaps, tells)| {
        let looks = gaps.iter().scan(0, |now, gap| {
            *now += gap;
            Some(*now)
        });
        History { lives, looks: std::iter::once(0).chain(looks).collect(), tells }
    })
}

impl Life {
    fn status(&self, now: i64) -> Option<Status> {
        if self.comes > now {
            return None;
        }
        Some(match self.goes {
            Some((goes, how)) if goes <= now => match how {
                0 => Status::Approved,
                1 => Status::Rejected,
                2 => Status::Expired,
                _ => Status::Executed,
            },
            _ => Status::Pending,
        })
    }

    fn row(&self, n: usize, now: i64) -> Option<Row> {
        let status = self.status(now)?;
        let name = format!("agent-{}", self.agent);
        let row = row(&n.to_string(), &name, self.comes, status);
        let resolved_at = self.goes.filter(|(goes, _)| *goes <= now).map(|(goes, _)| at(goes));
        Some(Row { resolved_at, ..row })
    }

    pub(super) fn is_pending(&self, now: i64) -> bool {
        self.status(now) == Some(Status::Pending)
    }
}

impl History {
    fn played(&self) -> Figures {
        self.playing(|_, _| {})
    }

    /// Calls `looked` after each read, with its time.
    pub(super) fn playing(&self, mut looked: impl FnMut(&mut Figures, i64)) -> Figures {
        let mut figures = figures();
        let mut told: BTreeMap<usize, Status> = BTreeMap::new();
        for (nth, now) in self.looks.iter().enumerate() {
            let rows = self.lives.iter().enumerate().filter_map(|(n, life)| Some((n, life.row(n, *now)?)));
            if self.tells && nth > 0 {
                let changed =
                    rows.filter(|(n, row)| told.insert(*n, row.status.clone()) != Some(row.status.clone()));
                figures.listed(&changes(changed.map(|(_, row)| row).collect()), at(*now));
            } else {
                let rows: Vec<_> = rows.collect();
                told.extend(rows.iter().map(|(n, row)| (*n, row.status.clone())));
                let pending = rows.into_iter().map(|(_, row)| row).filter(|row| row.status.is_pending());
                figures.listed(&all(pending.collect()), at(*now));
            }
            looked(&mut figures, *now);
        }
        figures
    }

    /// Returns arrival and departure of the actions that a read could see, at the source's time if it reports changes.
    fn seen(&self) -> Vec<(i64, Option<i64>)> {
        let look_after = |moment: i64| self.looks.iter().copied().find(|look| *look >= moment);
        let seen = self.lives.iter().filter_map(|life| {
            let first = look_after(life.comes)?;
            let goes = life.goes.map(|(goes, _)| goes);
            let gone = goes.and_then(look_after);
            if self.tells || gone != Some(first) {
                // Without changes, a departure is seen when the list is read.
                let gone = gone.map(|look| if self.tells { goes.unwrap_or(look) } else { look });
                // Present in the first list: no arrival, and counted only when it leaves.
                Some((
                    if first == 0 { i64::MIN } else { life.comes },
                    gone.filter(|_| first != 0 || goes > Some(0)),
                ))
            } else {
                None
            }
        });
        seen.collect()
    }
}

proptest! {
    #![proptest_config(rounds::config(64, 2_000))]

    #[test]
    fn counts_ages_and_rates_match_the_history(history in history()) {
        let figures = history.played();
        let now = *history.looks.last().unwrap();
        let board = figures.board(hour(), at(now));

        let open: Vec<&Life> = history.lives.iter().filter(|life| life.is_pending(now)).collect();
        prop_assert_eq!(board.total.pending, open.len() as u64);
        prop_assert_eq!(board.total.oldest, open.iter().map(|life| at(life.comes)).min());
        for queue in &board.sources[0].queues {
            let name = |life: &&&Life| Queue::Agent(format!("agent-{}", life.agent).into()) == queue.queue;
            prop_assert_eq!(queue.standing.pending, open.iter().filter(name).count() as u64);
        }
        let seen = history.seen();
        let arrived = seen.iter().filter(|(comes, _)| *comes >= 0).count() as u64;
        let resolved = seen.iter().filter(|(_, goes)| goes.is_some()).count() as u64;
        prop_assert_eq!((board.outcomes.arrived, board.outcomes.resolved()), (arrived, resolved));
        if history.tells {
            let expired = history.lives.iter().filter(|life| {
                matches!(life.goes, Some((goes, 2)) if goes <= now && goes > 0)
            });
            prop_assert_eq!(board.outcomes.left, expired.count() as u64);
        }
        let quarter = (at(now).as_millis().div_euclid(60_000) - 14) * 60_000 - START;
        let within = |moment: i64| moment * 1_000 >= quarter;
        let rate = board.total.rate;
        let over = now.min((now * 1_000 - quarter) / 1_000);
        prop_assert_eq!(rate.is_some(), over >= 60);
        if let Some(rate) = rate {
            prop_assert_eq!(rate.over, over * 1_000);
            prop_assert_eq!(rate.arrived, seen.iter().filter(|(comes, _)| within((*comes).max(-9_999)) && *comes >= 0).count() as u64);
            prop_assert_eq!(rate.resolved, seen.iter().filter(|(_, goes)| goes.is_some_and(within)).count() as u64);
        }
    }

    #[test]
    fn sparkline_shows_pending_at_the_end_of_each_minute(history in history()) {
        let figures = history.played();
        let now = *history.looks.last().unwrap();
        let spark = figures.board(hour(), at(now)).total.spark;

        let last = Minute::of(at(now));
        for (nth, value) in spark.iter().enumerate() {
            let minute = last.plus(nth as i64 - 59);
            let end = (minute.plus(1).start().as_millis() - START) / 1_000;
            let Some(value) = value else {
                prop_assert!(end <= 0, "every minute after the start is known");
                continue;
            };
            let seen_at_end = |(comes, goes): &(i64, Option<i64>)| {
                *comes < end && goes.is_none_or(|goes| goes >= end)
            };
            let expected = if nth == 59 {
                history.lives.iter().filter(|life| life.is_pending(now)).count()
            } else {
                history.seen().iter().filter(|it| seen_at_end(it)).count()
            };
            prop_assert_eq!(*value, expected as u64, "minute {} of {:?}", nth, history.looks);
        }
    }

    #[test]
    fn restart_changes_no_earlier_figure(history in history()) {
        let mut figures = history.played();
        let now = *history.looks.last().unwrap();
        let before = figures.board(hour(), at(now));

        let mut after = self::figures();
        after.restore(&figures.take_unkept(at(now)));
        let pending = history.lives.iter().enumerate().filter(|(_, life)| life.is_pending(now));
        after.listed(&all(pending.filter_map(|(n, life)| life.row(n, now)).collect()), at(now));

        let after = after.board(hour(), at(now));
        prop_assert_eq!(after.outcomes, before.outcomes);
        prop_assert_eq!(after.total, before.total);
    }
}

#[test]
fn silent_source_is_stale_after_its_limit() {
    let mut figures = figures();
    figures.event(&Event { source: source(), kind: EventKind::Connection(Connection::Live) }, at(0));
    figures.listed(&all(Vec::new()), at(0));
    let patience = targets().stale_after;
    let stale = |figures: &Figures, after: Duration| {
        let now = at(0).plus_millis(i64::try_from(after.as_millis()).unwrap());
        figures.board(hour(), now).sources[0].stale
    };

    assert!(!stale(&figures, patience.checked_sub(Duration::from_millis(1)).unwrap()));
    assert!(stale(&figures, patience));
    figures.event(&Event { source: source(), kind: EventKind::Tick }, at(69));
    assert!(!stale(&figures, Duration::from_secs(130)));
    figures.event(&Event { source: source(), kind: EventKind::Changed }, at(100));
    figures.event(&Event { source: source(), kind: EventKind::Tick }, at(138));
    assert!(stale(&figures, Duration::from_secs(139)), "a heartbeat does not refresh an unread list");
}
