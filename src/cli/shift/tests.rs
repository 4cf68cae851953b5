use super::*;
use crate::domain::{DecisionKind, SourceName, StagedCounts};

/// 2026-11-20T06:00Z.
const BEGIN: i64 = 1_795_154_400_000;

fn at(minutes: i64) -> Timestamp {
    Timestamp::from_millis(BEGIN + minutes * Minute::MILLIS)
}

fn of(approved: usize) -> Decided {
    let mut kinds = vec![DecisionKind::Approve; approved - 1];
    kinds.extend([DecisionKind::ApproveWithEdits, DecisionKind::Reject, DecisionKind::Reject]);
    Decided { taken: StagedCounts::of(kinds), failed_after: 3, unknown_after: 2, ..Decided::default() }
}

fn some() -> Shift {
    let queues = Stood {
        source: SourceName::new("praxiom"),
        arrived: 88,
        resolved: 71,
        first: 31,
        last: 48,
        watched: 440 * Minute::MILLIS,
        gaps: vec![(Minute::of(at(180)), Minute::of(at(220)))],
    };
    Shift {
        from: at(0),
        until: at(480),
        reviewers: vec!["kim".into()],
        all: Decided { skipped: 4, unknown: 1, ..of(61) },
        sources: vec![(SourceName::new("praxiom"), of(61))],
        tools: vec![("save_document".into(), of(40)), ("=cmd|' /C calc'!A0".into(), of(21))],
        on_screen: Some((14_000, 60)),
        unopened: 2,
        without_receipt: 3,
        busiest: Some((at(240), 31)),
        queues: vec![queues],
    }
}

#[test]
fn a_report_can_be_pasted_into_a_chat() {
    assert_eq!(
        lines(&some(), &TimeZone::UTC, at(500)).join("\n"),
        "placet: shift of kim, as of 2026-11-20 14:20
2026-11-20 06:00 to 2026-11-20 14:00 (8 h, +00:00)

68 decisions: approved 61 (1 with edits), excluded 2, retried 0
skipped 4 (settled before), failed 0, unknown 1
after approval: failed 3, unknown 2
median time on screen before deciding: 14 s (of 60); approved without opening: 2
no record of what was on screen: 3
busiest hour: from 10:00 on, 31

by source                    approved edited excluded skipped unknown  failed
praxiom                            61      1        2       0       2       3

by tool                      approved edited excluded skipped unknown  failed
save_document                      40      1        2       0       2       3
=cmd|' /C calc'!A0                 21      1        2       0       2       3

queues                        arrived resolved at start  at end  watched
praxiom                            88       71       31      48   7 h 20
gap: nobody watched praxiom from 09:00 to 09:40"
    );
}

#[test]
fn long_shift_is_cut_and_terminal_safe() {
    let mut shift = some();
    let hostile =
        |n: usize| Untrusted::from(format!("tool {n}\u{1b}]0;x\u{7}\n\u{202e}{}", "long ".repeat(90)));
    shift.tools = (0..300).map(|n| (hostile(n), of(1))).collect();
    shift.reviewers = vec![hostile(0)];
    shift.sources = (0..40).map(|n| (SourceName::new(format!("s{n}")), of(1))).collect();
    shift.queues = (0..40)
        .map(|n| Stood { source: SourceName::new(format!("s{n}")), ..shift.queues[0].clone() })
        .collect();

    let lines = lines(&shift, &TimeZone::UTC, at(500));

    assert!(lines.len() <= 42, "{} lines", lines.len());
    assert!(lines.iter().all(|line| line.chars().all(|c| !c.is_control() && c != '\u{202e}')));
    assert_eq!(lines.iter().filter(|line| line.starts_with("and ")).count(), 4, "{lines:?}");
    assert!(lines.iter().skip(1).all(|line| line.chars().count() <= 90), "{lines:?}");
}

#[test]
fn empty_shift_says_so() {
    let shift = Shift { from: at(0), until: at(60), ..Shift::default() };
    let lines = lines(&shift, &TimeZone::UTC, at(500));
    assert!(lines.contains(&"nothing was decided here".to_owned()));
    assert!(lines.last().unwrap().starts_with("queues: no record"), "{lines:?}");
}

#[test]
fn the_json_and_the_table_have_the_same_counts() {
    let shift = some();
    let json = serde_json::to_string(&output::Versioned::of(json(&shift, at(500)).unwrap())).unwrap();
    let begin = r#"{"version":1,"from":"2026-11-20T06:00:00.000Z","until":"2026-11-20T14:00:00.000Z","asOf":"2026-11-20T14:20:00.000Z","reviewers":["kim"],"decided":{"approved":61,"withEdits":1,"excluded":2,"retried":0,"skipped":4,"failed":0,"unknown":1,"failedAfterApproval":3,"unknownAfterApproval":2},"sources":[{"name":"praxiom","approved":61,"#;
    assert!(json.starts_with(begin), "{json}");
    let end = r#""medianDwellMs":14000,"dwellKnown":60,"unopenedApprovals":2,"withoutReceipt":3,"busiestHour":{"from":"2026-11-20T10:00:00.000Z","decisions":31},"queues":[{"source":"praxiom","arrived":88,"resolved":71,"pendingAtStart":31,"pendingAtEnd":48,"watchedMinutes":440,"gaps":[{"from":"2026-11-20T09:00:00.000Z","until":"2026-11-20T09:40:00.000Z"}]}]}"#;
    assert!(json.ends_with(end), "{json}");

    let schema = include_str!("../../../assets/contract/cli.schema.json");
    let mut schema: Value = serde_json::from_str(schema).unwrap();
    schema["$ref"] = "#/$defs/log%20shift".into();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let json = serde_json::from_str(&json).unwrap();
    assert!(
        schema.is_valid(&json),
        "{:?}",
        schema.iter_errors(&json).map(|it| it.to_string()).collect::<Vec<_>>()
    );

    let rows = csv(&shift);
    let text: String = rows.iter().skip(1).map(|row| text::csv::record(row)).collect();
    assert_eq!(
        text,
        "all,,61,1,2,0,4,0,1,3,2,,,,,\nsource,praxiom,61,1,2,0,0,0,0,3,2,88,71,31,48,440\n\
         tool,save_document,40,1,2,0,0,0,0,3,2,,,,,\ntool,'=cmd|' /C calc'!A0,21,1,2,0,0,0,0,3,2,,,,,\n"
    );
    assert!(rows.iter().all(|row| row.len() == rows[0].len()));
}
