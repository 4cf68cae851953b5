//! Sample boards: calm, growing, with a source down, with a failure after approval.

use std::time::Duration;

use crate::domain::{
    ActionId, ActionKey, Decider, Flow, LastMinute, Queue, QueueState, Rate, SourceName, Status, Timestamp,
    ToolDecided, Trend,
};
use crate::inbox::Connection;
use crate::inbox::figures::{
    About, Ages, Alert, AlertKind, Board, Happening, HappeningKind, QueueLine, ReviewerLine, SourceBoard,
    Standing, ToolLine,
};
use crate::tui::testing::NOW;

const MINUTE: i64 = 60_000;

pub(crate) fn ago(minutes: i64) -> Timestamp {
    Timestamp::from_millis(NOW - minutes * MINUTE)
}

/// `oldest` in minutes; `arrived` and `resolved` in the last quarter of an hour; `from` pending an hour ago.
fn standing(pending: u64, high: u64, oldest: i64, arrived: u64, resolved: u64, from: u64) -> Standing {
    let rate = Rate { arrived, resolved, over: 15 * MINUTE };
    let step = |nth: u64| from + (pending.max(from) - from.min(pending)) * nth / 59;
    let spark = |nth: u64| if pending >= from { step(nth) } else { from - (from - pending) * nth / 59 };
    let trend = Trend::of(pending, Some(&rate), Some(arrived.cast_signed() - resolved.cast_signed()));
    let over_target = u64::from(oldest > 60) * pending.min(9);
    Standing {
        pending,
        high,
        oldest: (pending > 0).then(|| ago(oldest)),
        over_target,
        unknown: 0,
        rate: Some(rate),
        last: Some(LastMinute { arrived: arrived.div_ceil(15), resolved: resolved / 15 }),
        trend,
        state: QueueState::of(trend, over_target),
        spark: (0..60).map(|nth| Some(spark(nth))).collect(),
        arrivals: wave(arrived),
        resolves: wave(resolved),
        growing_for: if arrived > resolved { 22 } else { 0 },
    }
}

/// Returns 60 minutes with about `in_a_quarter` events per quarter of an hour, unevenly spread.
fn wave(in_a_quarter: u64) -> Vec<Option<u64>> {
    (0..60).map(|nth| Some(in_a_quarter * (nth % 7) / 45)).collect()
}

fn agent(name: &str, standing: Standing) -> QueueLine {
    QueueLine { queue: Queue::Agent(name.into()), target: 3_600_000, standing }
}

fn source(name: &str, standing: Standing, queues: Vec<QueueLine>) -> SourceBoard {
    SourceBoard {
        name: SourceName::new(name),
        standing,
        connection: Connection::Live,
        connected_at: ago(90),
        heard: Some(Timestamp::from_millis(NOW - 400)),
        stale: false,
        cut: false,
        truncated: false,
        paused: None,
        blocked: 0,
        queues,
    }
}

fn tool(name: &str, pending: u64, high: u64, oldest: i64, decided: (u64, u64, u64)) -> ToolLine {
    let (approved, edited, rejected) = decided;
    let decided = ToolDecided { tool: name.into(), approved, edited: Some(edited), rejected, failed: 0 };
    ToolLine { tool: name.into(), pending, high, oldest: Some(ago(oldest)), decided: Some(decided) }
}

#[expect(clippy::unnecessary_box_returns, reason = "as a happening has it")]
pub(crate) fn about(id: &str, tool: &str, title: &str, high: bool) -> Box<About> {
    let key = ActionKey { source: SourceName::new("gate"), id: ActionId::new(id) };
    Box::new(About { key, tool: tool.into(), title: title.into(), rank: if high { 2 } else { 1 } })
}

pub(crate) fn happening(seconds: i64, source: &str, what: HappeningKind) -> Happening {
    Happening { at: Timestamp::from_millis(NOW - seconds * 1_000), source: SourceName::new(source), what }
}

pub(crate) fn alert(kind: AlertKind, source: &str, count: u64) -> Alert {
    Alert { kind, source: SourceName::new(source), count }
}

pub(crate) fn calm() -> Board {
    Board {
        at: Timestamp::from_millis(NOW),
        window: 60,
        total: standing(12, 0, 18, 9, 12, 14),
        sources: vec![
            source(
                "gate",
                standing(9, 0, 18, 6, 9, 12),
                vec![
                    agent("refunds-agent", standing(6, 0, 18, 3, 6, 9)),
                    agent("drive-sync", standing(3, 0, 4, 3, 3, 3)),
                ],
            ),
            source(
                "sagas",
                standing(3, 0, 7, 3, 3, 2),
                vec![QueueLine {
                    queue: Queue::Tool("saga commit crm.*".into()),
                    target: 60 * MINUTE,
                    standing: standing(3, 0, 7, 3, 3, 2),
                }],
            ),
        ],
        tools: vec![
            tool("refund_payment", 6, 0, 18, (88, 4, 12)),
            tool("google_drive_write", 3, 0, 4, (83, 9, 17)),
            tool("saga commit crm.*", 3, 0, 7, (79, 0, 21)),
        ],
        ages: Ages {
            counts: [5, 4, 3, 0, 0],
            median: Some(6 * MINUTE),
            p90: Some(17 * MINUTE),
            target: 60 * MINUTE,
            over_target: 0,
        },
        reviewers: None,
        groups: None,
        outcomes: Flow { arrived: 40, approved: 33, edited: 4, rejected: 7, executed: 33, ..Flow::default() },
        edits_told: true,
        events: events(),
        alerts: Vec::new(),
    }
}

fn events() -> Vec<Happening> {
    vec![
        happening(
            8,
            "gate",
            HappeningKind::Decided {
                status: Status::Approved,
                by: Some("maria".into()),
                about: about("pa-1", "refund_payment", "Refund 120 EUR to alice", false),
            },
        ),
        happening(
            31,
            "sagas",
            HappeningKind::Arrived {
                queue: Queue::Tool("saga commit crm.*".into()),
                count: 1,
                high: 0,
                first: about("s-5", "saga commit crm.*", "step 5: update the contact", false),
            },
        ),
        happening(
            95,
            "gate",
            HappeningKind::DecidedMany { approved: 5, rejected: 1, by: Some("kim".into()) },
        ),
    ]
}

pub(crate) fn growing() -> Board {
    let calm = calm();
    let mut gate = source(
        "gate",
        standing(88, 1, 192, 135, 98, 31),
        vec![
            agent("weekly-digest", standing(58, 0, 22, 108, 72, 0)),
            agent("roadmap", standing(12, 0, 48, 3, 0, 0)),
            agent("refunds-agent", standing(9, 1, 192, 18, 14, 3)),
            agent("退款 \u{202e}agent", standing(9, 0, 40, 6, 12, 33)),
        ],
    );
    gate.blocked = 3;
    Board {
        total: Standing { over_target: 28, ..standing(110, 4, 192, 182, 128, 40) },
        sources: vec![gate, source("sagas", standing(22, 3, 65, 47, 30, 9), Vec::new())],
        ages: Ages {
            counts: [24, 37, 21, 28, 0],
            median: Some(19 * MINUTE),
            p90: Some(70 * MINUTE),
            target: 60 * MINUTE,
            over_target: 28,
        },
        reviewers: Some(vec![
            reviewer("kim", 101, Some(5), 12, 14_000),
            reviewer("maria", 60, Some(0), 14, 22_000),
            reviewer("lee", 41, None, 0, 180_000),
        ]),
        groups: Some(vec![reviewer("support", 161, Some(5), 26, 18_000)]),
        alerts: vec![
            alert(AlertKind::HighRisk, "sagas", 3),
            alert(AlertKind::OverTarget, "gate", 19),
            alert(AlertKind::OverTarget, "sagas", 9),
            alert(AlertKind::Growing, "gate", 22),
            alert(AlertKind::Blocked, "gate", 3),
        ],
        ..calm
    }
}

fn reviewer(name: &str, approved: u64, edited: Option<u64>, rejected: u64, median_wait: i64) -> ReviewerLine {
    let decider = Decider { name: name.into(), approved, edited, rejected, median_wait, last: ago(1) };
    ReviewerLine { source: SourceName::new("gate"), decider }
}

pub(crate) fn down() -> Board {
    let mut board = calm();
    let mut woo = source(
        "woo-store",
        standing(19, 0, 55, 15, 6, 8),
        vec![agent("shop-agent", standing(19, 0, 55, 15, 6, 8))],
    );
    woo.connection =
        Connection::Retrying { why: "connection refused".into(), retry_in: Duration::from_secs(12) };
    woo.connected_at = Timestamp::from_millis(NOW);
    woo.heard = Some(Timestamp::from_millis(NOW - 71_000));
    woo.stale = true;
    for standing in [&mut woo.standing, &mut woo.queues[0].standing] {
        let from = standing.spark.len() - 8;
        standing.spark[from..].fill(None);
        (standing.trend, standing.last) = (Trend::NotKnown, None);
        standing.state = QueueState::Starting;
    }
    board.total = standing(31, 0, 55, 24, 18, 22);
    let why =
        Connection::Retrying { why: "connection refused\u{1b}[2J".into(), retry_in: Duration::from_secs(12) };
    board.sources.push(woo);
    board.alerts = vec![alert(AlertKind::Down, "woo-store", 1)];
    board.events.insert(0, happening(2, "woo-store", HappeningKind::Connection(why)));
    board
}

pub(crate) fn failed() -> Board {
    let mut board = calm();
    board.total.unknown = 1;
    board.outcomes.failed = 3;
    board.outcomes.unknown = 1;
    board.alerts = vec![alert(AlertKind::Failed, "gate", 3), alert(AlertKind::Unknown, "gate", 1)];
    let lost = about("pa-9", "refund_payment", "Refund 1.10 EUR to \u{202e}yrollam", true);
    board
        .events
        .insert(0, happening(1, "gate", HappeningKind::Ended { status: Status::Unknown, about: lost }));
    let about = about("pa-7", "google_drive_write", "Overwrite Q3 plan.docx", false);
    board.events.insert(0, happening(0, "gate", HappeningKind::Ended { status: Status::Failed, about }));
    board
}
