use super::*;
use crate::domain::{
    ActionId, ActionKey, BatchKey, Decision, DecisionKind, Digest, Edits, Flow, KeptQueue, Queue, RawJson,
    Risk, SubmissionId,
};
use crate::journal::LastSeen;

/// 2026-11-20T12:00Z.
const NOON: i64 = 1_795_176_000_000;

fn at(minutes: i64) -> Timestamp {
    Timestamp::from_millis(NOON + minutes * Minute::MILLIS)
}

fn sent(id: &str, tool: &str, decision: Decision, outcome: Option<Outcome>) -> Sent {
    let key = ActionKey { source: SourceName::new("gate"), id: ActionId::new(id) };
    let digest = Digest::of("t", "w", id);
    Sent {
        batch: BatchKey::Alone(key.clone()),
        key,
        tool: tool.into(),
        title: "a title that is in no report".into(),
        decision,
        digest,
        effective: digest,
        terms: None,
        risk: Risk::Medium,
        input: None,
        outcome,
        followed: None,
    }
}

fn past(minutes: i64, reviewer: &str, items: Vec<Sent>) -> SubmissionRecord {
    SubmissionRecord {
        id: SubmissionId::new(format!("{minutes}")),
        reviewer: Some(reviewer.to_owned()),
        begun_at: at(minutes),
        finished_at: None,
        left_pending: 0,
        items,
    }
}

fn receipt(id: &str, seen: Option<&str>, dwell: Option<i64>) -> Receipt {
    Receipt {
        source: "gate".to_owned(),
        action: id.to_owned(),
        seen: seen.map(str::to_owned),
        dwell_ms: dwell,
        ..Receipt::default()
    }
}

fn approve() -> Decision {
    Decision::Approve { edits: None, comment: None }
}

fn receipts() -> [Vec<Receipt>; 2] {
    let first = vec![
        receipt("1", Some("in_full"), Some(9_000)),
        receipt("2", Some("opened"), Some(3_000)),
        receipt("3", Some("never"), None),
        receipt("4", Some("in_full"), Some(1_000)),
    ];
    [first, vec![receipt("8", Some("never"), Some(0)), receipt("9", None, None)]]
}

#[test]
fn decisions_are_counted_once_by_outcome() {
    let edits = Edits::new(RawJson::parse("{\"n\":1}").unwrap()).unwrap();
    let edited = Decision::Approve { edits: Some(edits), comment: None };
    let reject = Decision::Reject { reason: None };
    let skipped = Outcome::Skipped { status: None, by: None };
    let why = || Untrusted::from("x");
    let then = |sent: Sent, status| Sent { followed: Some(LastSeen { status, error: None }), ..sent };
    let first = past(
        10,
        "kim",
        vec![
            then(sent("1", "pay", approve(), Some(Outcome::Approved)), Status::Failed),
            sent("2", "pay", edited, Some(Outcome::Accepted)),
            then(sent("3", "pay", reject.clone(), Some(Outcome::Rejected)), Status::Failed),
            sent("4", "mail", approve(), Some(skipped)),
        ],
    );
    let second = past(
        70,
        "lee",
        vec![
            sent("5", "mail", approve(), Some(Outcome::Failed { why: why() })),
            sent("6", "pay", approve(), Some(Outcome::Unknown { why: why() })),
            sent("7", "pay", reject, None),
            then(sent("8", "pay", approve(), Some(Outcome::Approved)), Status::Unknown),
            sent("9", "pay", approve(), Some(Outcome::Approved)),
        ],
    );
    let mut counting = Counting::new(at(0), at(120), TimeZone::UTC);
    let [of_first, of_second] = receipts();
    counting.add(&first, &of_first);
    counting.add(&second, &of_second);
    let shift = counting.end(&[]);

    let all = Decided {
        taken: StagedCounts::of([
            DecisionKind::Approve,
            DecisionKind::Approve,
            DecisionKind::Approve,
            DecisionKind::ApproveWithEdits,
            DecisionKind::Reject,
        ]),
        skipped: 1,
        failed: 1,
        unknown: 2,
        failed_after: 1,
        unknown_after: 1,
    };
    assert_eq!((shift.all, shift.all.total()), (all, 9));
    assert_eq!(shift.reviewers, [Untrusted::from("kim"), Untrusted::from("lee")]);
    let tools: Vec<_> = shift.tools.iter().map(|(tool, of)| (tool.as_raw(), of.total())).collect();
    assert_eq!(tools, [("pay", 7), ("mail", 2)]);
    assert_eq!(shift.sources, [(SourceName::new("gate"), all)]);
    assert_eq!(shift.on_screen, Some((3_000, 3)));
    assert_eq!((shift.unopened, shift.without_receipt), (2, 3), "a rejection may be unopened");
    assert_eq!(shift.busiest, Some((at(60), 5)));
}

#[test]
fn hours_are_in_local_time() {
    let zone = TimeZone::fixed(jiff::tz::Offset::from_seconds(5 * 3_600 + 1_800).unwrap());
    assert_eq!(hour(at(29), &zone), at(-30));
    assert_eq!(hour(at(30), &zone), at(30));
    assert_eq!(hour(Timestamp::from_millis(-1), &TimeZone::UTC), Timestamp::from_millis(-HOUR));
}

fn kept(source: &str, minutes: i64, pending: [u64; 2], flow: Flow) -> KeptMinute {
    let queue = |name: &str, pending, flow| KeptQueue { queue: Queue::Agent(name.into()), flow, pending };
    KeptMinute {
        source: SourceName::new(source),
        minute: Minute::of(at(minutes)),
        watched: 45_000,
        queues: vec![queue("a", pending[0], flow), queue("b", pending[1], Flow::default())],
    }
}

#[test]
fn queues_come_from_saved_minutes_with_gaps() {
    let flow = |arrived, approved, left| Flow { arrived, approved, left, ..Flow::default() };
    let mut minutes = vec![kept("gate", -1, [50, 50], flow(9, 9, 9))];
    minutes.extend((0..10).map(|n| kept("gate", n, [4, n.unsigned_abs()], flow(1, 0, 0))));
    minutes.extend((40..59).map(|n| kept("gate", n, [2, 1], flow(0, 1, 1))));
    minutes.push(kept("sagas", 59, [0, 0], flow(0, 3, 0)));
    minutes.push(kept("gate", 60, [50, 50], flow(9, 9, 9)));

    let stood = stood(&minutes, at(0), at(60));

    let gap = |from, until| (Minute::of(at(from)), Minute::of(at(until)));
    let gate = Stood {
        source: SourceName::new("gate"),
        arrived: 10,
        resolved: 38,
        first: 3,
        last: 3,
        watched: 29 * 45_000,
        gaps: vec![gap(10, 40)],
    };
    let sagas = Stood {
        source: SourceName::new("sagas"),
        arrived: 0,
        resolved: 3,
        first: 3,
        last: 0,
        watched: 45_000,
        gaps: vec![gap(0, 59)],
    };
    assert_eq!(stood, [gate, sagas]);
}
