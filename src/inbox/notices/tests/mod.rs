use std::time::Duration;

use jiff::tz::TimeZone;

use super::*;
use crate::config::{NotifyTo, Quiet};
use crate::domain::{Queue, Untrusted};
use crate::inbox::Connection;
use crate::inbox::figures::{Alert, QueueLine, SourceBoard, Standing};

mod model;

/// 2026-11-20T12:00Z, a Friday.
pub(super) const NOON: i64 = 1_795_176_000_000;
pub(super) const MINUTE: i64 = 60_000;
const FAILED: NotifyOn = NotifyOn::Alert(AlertKind::Failed);
const OVER: NotifyOn = NotifyOn::Alert(AlertKind::OverTarget);
const DOWN: NotifyOn = NotifyOn::Alert(AlertKind::Down);
const GROWING: NotifyOn = NotifyOn::Alert(AlertKind::Growing);

pub(super) fn rule(on: &[NotifyOn]) -> NotifyRule {
    NotifyRule {
        number: 1,
        line: 1,
        on: on.to_vec(),
        source: None,
        queue: None,
        at_least: 0,
        to: NotifyTo::Bell,
        every: Duration::from_mins(10),
        quiet: None,
        unfocused_only: false,
    }
}

pub(super) fn source(name: &str, pending: u64) -> SourceBoard {
    SourceBoard {
        name: SourceName::new(name),
        standing: Standing { pending, ..Standing::default() },
        connection: Connection::Live,
        connected_at: Timestamp::from_millis(0),
        heard: Some(Timestamp::from_millis(0)),
        stale: false,
        cut: false,
        truncated: false,
        paused: None,
        blocked: 0,
        queues: Vec::new(),
    }
}

pub(super) fn alert(kind: AlertKind, source: &str, count: u64) -> Alert {
    Alert { kind, source: SourceName::new(source), count }
}

struct Evening {
    notices: Notices,
    board: Board,
    zone: TimeZone,
    in_front: bool,
}

impl Evening {
    /// Sources `a` and `b`, seen empty a minute ago.
    fn of(rules: &[NotifyRule]) -> Self {
        let mut evening = Self::unseen(rules);
        evening.look();
        evening.wait(MINUTE);
        evening
    }

    fn unseen(rules: &[NotifyRule]) -> Self {
        let sources = vec![source("a", 0), source("b", 0)];
        let board = Board { at: Timestamp::from_millis(NOON), sources, ..Board::default() };
        let notices = Notices::new(rules, Targets::default());
        Self { notices, board, zone: TimeZone::UTC, in_front: false }
    }

    fn wait(&mut self, millis: i64) {
        self.board.at = Timestamp::from_millis(self.board.at.as_millis() + millis);
    }

    fn look(&mut self) -> Vec<Notice> {
        let wall = Wall::at(self.board.at, &self.zone);
        self.notices.look(&self.board, wall, self.in_front)
    }

    fn told(&mut self) -> Vec<String> {
        self.look().iter().map(Notice::text).collect()
    }

    fn after(&mut self, millis: i64, alerts: &[Alert]) -> Vec<String> {
        self.wait(millis);
        self.board.alerts = alerts.to_vec();
        self.told()
    }
}

#[test]
fn event_notifies_on_start_growth_and_return() {
    let mut evening = Evening::of(&[NotifyRule { every: Duration::from_mins(1), ..rule(&[OVER]) }]);
    let over = |count| [alert(AlertKind::OverTarget, "a", count)];

    assert_eq!(evening.after(0, &over(2)), ["placet: 2 over 1 h (a); 0 pending"]);
    assert_eq!(evening.after(2 * MINUTE, &over(2)), [""; 0]);
    assert_eq!(evening.after(2 * MINUTE, &over(3)), ["placet: 3 over 1 h (a); 0 pending"]);
    assert_eq!(evening.after(2 * MINUTE, &over(1)), [""; 0], "a decrease does not notify");
    assert_eq!(evening.after(2 * MINUTE, &over(2)), ["placet: 2 over 1 h (a); 0 pending"], "it grew again");
    assert_eq!(evening.after(2 * MINUTE, &[]), [""; 0]);
    assert_eq!(evening.after(2 * MINUTE, &over(2)), ["placet: 2 over 1 h (a); 0 pending"], "it came back");
}

#[test]
fn start_notifies_only_of_sources_that_are_down() {
    let mut evening = Evening::unseen(&[rule(&[OVER, FAILED, NotifyOn::First, DOWN])]);
    evening.board.sources[0].standing.pending = 3;
    evening.board.sources[1].heard = None;
    let there = [alert(AlertKind::OverTarget, "a", 2), alert(AlertKind::Failed, "a", 1)];
    let down = alert(AlertKind::Down, "b", 0);

    let with_down = [there.as_slice(), std::slice::from_ref(&down)].concat();
    assert_eq!(evening.after(0, &with_down), ["placet: down (b); 3 pending"]);

    evening.board.sources[1] = SourceBoard { ..source("b", 4) };
    let listed = [there.as_slice(), &[alert(AlertKind::OverTarget, "b", 4)]].concat();
    assert_eq!(evening.after(11 * MINUTE, &listed), [""; 0], "the first list of b");
    let more = [listed.as_slice(), &[alert(AlertKind::Failed, "b", 9)]].concat();
    assert_eq!(evening.after(5_000, &more), [""; 0], "failures before the watching began");
    let most = [alert(AlertKind::Failed, "b", 10), alert(AlertKind::OverTarget, "b", 4)];
    assert_eq!(evening.after(6_000, &most), ["placet: 10 failed after approval (b); 7 pending"]);
}

#[test]
fn first_action_after_an_empty_inbox_notifies_once() {
    let mut evening =
        Evening::of(&[NotifyRule { every: Duration::from_mins(1), ..rule(&[NotifyOn::First]) }]);
    evening.board.sources[1].standing = Standing { pending: 2, high: 1, ..Standing::default() };
    evening.board.sources[1].standing.oldest = Some(Timestamp::from_millis(NOON - 2 * 3_600_000));

    assert_eq!(evening.told(), ["placet: 2 pending, 1 high, oldest 2 h 01"]);
    evening.wait(5 * MINUTE);
    evening.board.sources[0].standing.pending = 7;
    assert_eq!(evening.told(), [""; 0], "the inbox was not empty");
    for at in [0, 1] {
        evening.board.sources[at].standing = Standing::default();
    }
    assert_eq!(evening.told(), [""; 0]);
    evening.board.sources[0].standing.pending = 1;
    assert_eq!(evening.told(), ["placet: 1 pending"]);
}

#[test]
fn early_events_are_delayed_and_merged() {
    let mut evening = Evening::of(&[rule(&[OVER, FAILED])]);
    let (over, failed) = (|n| alert(AlertKind::OverTarget, "a", n), |n| alert(AlertKind::Failed, "b", n));
    assert_eq!(evening.after(0, &[over(1)]).len(), 1);

    assert_eq!(evening.after(MINUTE, &[over(2)]), [""; 0]);
    assert_eq!(evening.after(MINUTE, &[over(9), failed(1)]), [""; 0]);
    assert_eq!(evening.after(7 * MINUTE, &[over(5), failed(1)]), [""; 0]);
    let told = evening.after(MINUTE, &[over(5), failed(1)]);
    assert_eq!(
        told,
        ["placet: 1 failed after approval (b), 5 over 1 h (a); 0 pending"],
        "the gravest event comes first"
    );

    assert_eq!(evening.after(MINUTE, &[over(6)]), [""; 0]);
    assert_eq!(evening.after(20 * MINUTE, &[]), [""; 0], "the event has ended");
}

#[test]
fn storm_notifies_once_in_ten_minutes() {
    let mut evening = Evening::of(&[rule(&[FAILED]), NotifyRule { number: 2, ..rule(&[OVER]) }]);
    let mut told = [0; 2];
    for second in 0..7_200_u64 {
        evening.wait(1_000);
        evening.board.alerts =
            vec![alert(AlertKind::Failed, "a", second + 1), alert(AlertKind::OverTarget, "b", second % 2)];
        for notice in evening.look() {
            told[notice.rule - 1] += 1;
        }
    }
    assert_eq!(told, [12, 12]);
}

#[test]
fn clock_set_back_does_not_block_notices() {
    let mut evening = Evening::of(&[rule(&[FAILED])]);
    assert_eq!(evening.after(0, &[alert(AlertKind::Failed, "a", 1)]).len(), 1);
    assert_eq!(evening.after(-5 * 60 * MINUTE, &[alert(AlertKind::Failed, "a", 2)]).len(), 1);
    assert!(evening.notices.is_due(Timestamp::from_millis(0)));
}

#[test]
fn passing_minutes_are_not_growth() {
    let mut evening =
        Evening::of(&[NotifyRule { at_least: 20, every: Duration::from_mins(1), ..rule(&[GROWING]) }]);
    let told: Vec<_> = (0..60).map(|n| evening.after(MINUTE, &[alert(AlertKind::Growing, "a", n)])).collect();
    assert_eq!(told.concat(), ["placet: growing for 20 min (a); 0 pending"]);
}

#[test]
fn rule_can_select_source_queue_and_count() {
    let of_b = NotifyRule { source: Some(SourceName::new("b")), ..rule(&[OVER]) };
    let many = NotifyRule { number: 2, at_least: 5, ..rule(&[OVER]) };
    let on = [NotifyOn::Alert(AlertKind::HighRisk), OVER, GROWING];
    let queue = NotifyRule { number: 3, queue: Some("refunds".to_owned()), ..rule(&on) };
    let mut evening = Evening::of(&[of_b, many, queue]);

    assert_eq!(evening.after(0, &[alert(AlertKind::OverTarget, "a", 4)]), [""; 0]);
    let line = |name: &str, standing| QueueLine {
        queue: Queue::Agent(Untrusted::from(name)),
        target: 3_600_000,
        standing,
    };
    let busy = Standing { pending: 9, high: 2, over_target: 3, growing_for: 15, ..Standing::default() };
    evening.board.sources[0].queues =
        vec![line("other", Standing { over_target: 50, ..busy.clone() }), line("refunds", busy)];
    evening.board.sources[0].queues.push(QueueLine {
        queue: Queue::Rest,
        target: 3_600_000,
        standing: Standing { high: 7, ..Standing::default() },
    });
    let told =
        evening.after(MINUTE, &[alert(AlertKind::OverTarget, "a", 5), alert(AlertKind::OverTarget, "b", 1)]);

    assert_eq!(
        told,
        [
            "placet: 1 over 1 h (b); 0 pending",
            "placet: 5 over 1 h (a); 0 pending",
            "placet: 2 high (a queue of a), 3 over 1 h (a queue of a); 9 pending, 2 high",
        ]
    );
    evening.board.sources[0].queues[1].standing.growing_for = 16;
    let told = evening.after(20 * MINUTE, &evening.board.alerts.clone());
    assert_eq!(told, ["placet: growing for 16 min (a queue of a); 9 pending, 2 high"]);
}

#[test]
fn focused_window_is_not_notified() {
    let mut evening = Evening::of(&[
        NotifyRule { unfocused_only: true, ..rule(&[OVER]) },
        NotifyRule { number: 2, ..rule(&[OVER]) },
    ]);
    evening.in_front = true;
    assert_eq!(evening.after(0, &[alert(AlertKind::OverTarget, "a", 1)]).len(), 1, "only the other rule");
    evening.in_front = false;
    assert_eq!(
        evening.after(20 * MINUTE, &[alert(AlertKind::OverTarget, "a", 1)]),
        [""; 0],
        "seen on the focused window"
    );
    assert_eq!(evening.after(MINUTE, &[alert(AlertKind::OverTarget, "a", 2)]).len(), 2);
}

fn night(days: [bool; 7]) -> NotifyRule {
    NotifyRule { quiet: Some(Quiet { from: 22 * 60, until: 7 * 60, days }), ..rule(&[OVER, FAILED]) }
}

#[test]
fn quiet_hours_end_with_one_summary() {
    let mut evening = Evening::of(&[night([true; 7])]);
    assert_eq!(
        evening.after((10 * 60 - 2) * MINUTE, &[alert(AlertKind::OverTarget, "a", 1)]).len(),
        1,
        "21:59"
    );

    let mut told = Vec::new();
    for n in 0..540 {
        let noise = [alert(AlertKind::OverTarget, "a", 2 + n), alert(AlertKind::Failed, "b", 1)];
        told.extend(evening.after(MINUTE, &noise[..if n < 30 { 1 } else { 2 }]));
    }
    assert_eq!(told, [""; 0], "22:00 to 06:59");
    let told =
        evening.after(MINUTE, &[alert(AlertKind::OverTarget, "a", 4), alert(AlertKind::Failed, "b", 1)]);
    assert_eq!(
        told,
        ["placet: 1 failed after approval (b), 4 over 1 h (a); 0 pending"],
        "the state at 07:00"
    );
    assert_eq!(evening.after(20 * MINUTE, &evening.board.alerts.clone()), [""; 0]);
}

#[test]
fn quiet_days_apply_to_the_start() {
    // Quiet hours begin on Fridays only, and it is Friday noon.
    let mut evening = Evening::of(&[night([false, false, false, false, true, false, false])]);
    assert_eq!(
        evening.after(11 * 60 * MINUTE, &[alert(AlertKind::OverTarget, "a", 1)]),
        [""; 0],
        "Friday 23:00"
    );
    assert_eq!(
        evening.after(7 * 60 * MINUTE, &[alert(AlertKind::OverTarget, "a", 2)]),
        [""; 0],
        "Saturday 06:00"
    );
    assert_eq!(
        evening.after(17 * 60 * MINUTE, &[alert(AlertKind::OverTarget, "a", 3)]).len(),
        1,
        "Saturday 23:00"
    );
}

#[test]
fn quiet_hours_follow_daylight_saving_time() {
    let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
    let wall = |text: &str| {
        let at: jiff::Timestamp = text.parse().unwrap();
        let wall = Wall::at(Timestamp::from_millis(at.as_millisecond()), &zone);
        (wall.day, wall.minute / 60, wall.minute % 60)
    };
    assert_eq!(wall("2026-03-29T00:59:59Z"), (6, 1, 59));
    assert_eq!(wall("2026-03-29T01:00:00Z"), (6, 3, 0), "02:00 is skipped");
    assert_eq!(wall("2026-10-25T00:30:00Z"), (6, 2, 30));
    assert_eq!(wall("2026-10-25T01:30:00Z"), (6, 2, 30), "02:30 occurs twice");

    for (start, hours) in [("2026-03-28T20:30:00Z", 8), ("2026-10-24T19:30:00Z", 10)] {
        // It is 21:30 on Saturday; the night has an hour less or more.
        let start: jiff::Timestamp = start.parse().unwrap();
        let mut evening = Evening::unseen(&[night([true; 7])]);
        evening.zone = zone.clone();
        evening.board.at = Timestamp::from_millis(start.as_millisecond());
        evening.look();
        assert_eq!(evening.after(30 * MINUTE, &[alert(AlertKind::OverTarget, "a", 1)]), [""; 0], "22:00");
        let mut minutes = 0;
        while evening.after(MINUTE, &[alert(AlertKind::OverTarget, "a", 1)]).is_empty() {
            minutes += 1;
            assert!(minutes < 24 * 60);
        }
        assert_eq!(minutes + 1, hours * 60, "07:00 local time");
    }
}

#[test]
fn notices_contain_no_foreign_text() {
    let rules = [
        NotifyRule { queue: Some("\u{1b}]9;x\u{7}".to_owned()), ..rule(&[OVER, NotifyOn::First]) },
        NotifyRule { number: 2, ..rule(&NotifyOn::all().collect::<Vec<_>>()) },
    ];
    let mut evening = Evening::of(&rules);
    let hostile = Untrusted::from("\u{1b}]9;x\u{7}");
    let standing = Standing { pending: 3, over_target: 2, ..Standing::default() };
    evening.board.sources[0].standing.pending = 3;
    evening.board.sources[0].queues =
        vec![QueueLine { queue: Queue::Tool(hostile), target: 3_600_000, standing }];
    evening.board.alerts = AlertKind::ALL.map(|kind| alert(kind, "a", 3)).to_vec();
    let notices = evening.look();

    assert_eq!(notices.len(), 2);
    for notice in notices {
        for said in [notice.text(), notice.json()] {
            assert!(said.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{said:?}");
            assert!(!said.contains("]9;"), "{said}");
        }
        assert!(!notice.slack(None).contains("]9;"));
        assert_eq!(notice.text().matches("and 5 more").count(), notice.rule - 1);
    }
}

#[test]
fn json_contains_counts_and_configured_names() {
    let mut evening = Evening::of(&[rule(&[OVER, FAILED])]);
    evening.board.total = Standing { pending: 1, ..Standing::default() };
    evening.board.sources[0].standing = Standing { pending: 141, high: 4, ..Standing::default() };
    evening.board.sources[0].standing.oldest = Some(Timestamp::from_millis(NOON - 9 * MINUTE));
    evening.board.alerts = vec![alert(AlertKind::OverTarget, "a", 28), alert(AlertKind::Failed, "b", 3)];

    let notice = evening.look().remove(0);

    assert_eq!(
        notice.json(),
        r#"{"version":1,"type":"placet.alert","at":"2026-11-20T12:01:00.000Z","kind":"failed","source":"b","count":3,"pending":141,"highRisk":4,"oldestSeconds":600,"also":[{"kind":"over-target","source":"a","count":28}]}"#
    );
    evening.board.alerts.clear();
    evening.board.sources[0].standing = Standing::default();
    let mut first = Evening::of(&[rule(&[NotifyOn::First])]);
    first.board.sources[0].standing.pending = 1;
    assert_eq!(
        first.look().remove(0).json(),
        r#"{"version":1,"type":"placet.alert","at":"2026-11-20T12:01:00.000Z","kind":"first","source":null,"count":1,"pending":1,"highRisk":0,"oldestSeconds":null}"#
    );
}
