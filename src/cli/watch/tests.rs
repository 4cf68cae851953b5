//! The forms of the board, for boards made by hand.

use std::time::Duration;

use serde_json::{Value, json};

use super::line::Format;
use super::observer::Problems;
use super::*;
use crate::cli::output::Versioned;
use crate::cli::schema;
use crate::config::Targets;
use crate::domain::{
    ActionId, ActionKey, Decider, Flow, LastMinute, Queue, QueueState, Rate, SourceName, Status, Timestamp,
    ToolDecided, Trend,
};
use crate::inbox::figures::{
    About, Ages, Alert, AlertKind, Happening, HappeningKind, QueueLine, ReviewerLine, SourceBoard, Standing,
    ToolLine,
};
use crate::inbox::{Connection, Problem};
use crate::schema::Schema;

const NOW: Timestamp = Timestamp::from_millis(1_776_794_531_420);

fn ago(minutes: i64) -> Timestamp {
    NOW.plus_millis(-minutes * 60_000)
}

fn standing(pending: u64, oldest: i64) -> Standing {
    let rate = Rate { arrived: 135, resolved: 98, over: 15 * 60_000 };
    let (trend, over_target) = (Trend::of(pending, Some(&rate), Some(1)), u64::from(oldest > 60) * 7);
    Standing {
        pending,
        high: pending / 10,
        oldest: (pending > 0).then(|| ago(oldest)),
        over_target,
        unknown: 0,
        rate: Some(rate),
        last: Some(LastMinute { arrived: 3, resolved: 0 }),
        trend,
        state: QueueState::of(trend, over_target),
        spark: vec![None, Some(3), Some(pending)],
        arrivals: Vec::new(),
        resolves: Vec::new(),
        growing_for: 0,
    }
}

fn source(name: &str, pending: u64, heard: Option<i64>) -> SourceBoard {
    SourceBoard {
        name: SourceName::new(name),
        standing: standing(pending, 192),
        connection: Connection::Live,
        connected_at: ago(100),
        heard: heard.map(|seconds| NOW.plus_millis(-seconds * 1_000)),
        stale: heard.is_some_and(|seconds| seconds > 45),
        cut: false,
        truncated: false,
        paused: None,
        blocked: 2,
        queues: Vec::new(),
    }
}

fn decided(name: &str, approved: u64) -> ReviewerLine {
    let (edited, rejected, median_wait) = (None, 1, 14_000);
    let decider = Decider { name: name.into(), approved, edited, rejected, median_wait, last: ago(1) };
    ReviewerLine { source: SourceName::new("team"), decider }
}

/// A source in good state, one with old data, and one that never answered.
fn board() -> Board {
    let queue =
        |queue, pending, oldest| QueueLine { queue, target: 3_600_000, standing: standing(pending, oldest) };
    let hostile = "refunds\u{1b}[2J\u{202e}\n";
    let trend = Trend::ClearsIn(23 * 60_000);
    let clears = Standing { trend, state: QueueState::Clearing, ..standing(9, 40) };
    let queues = vec![
        queue(Queue::Agent(hostile.into()), 9, 192),
        QueueLine { queue: Queue::Tool("save_document".into()), target: 900_000, standing: clears },
        QueueLine {
            queue: Queue::Rest,
            target: 3_600_000,
            standing: Standing { pending: 1, ..Standing::default() },
        },
    ];
    let away = SourceBoard {
        standing: Standing::default(),
        connection: Connection::Polling,
        ..source("away", 0, None)
    };
    let of_tool = ToolDecided { tool: "t".into(), approved: 3, edited: Some(1), rejected: 2, failed: 1 };
    Board {
        at: NOW,
        window: 60,
        total: standing(110, 192),
        sources: vec![
            SourceBoard { queues, ..source("team", 88, Some(0)) },
            source("old", 22, Some(71)),
            away,
        ],
        tools: vec![ToolLine {
            tool: "t".into(),
            pending: 4,
            high: 1,
            oldest: Some(ago(3)),
            decided: Some(of_tool),
        }],
        ages: Ages {
            counts: [1, 2, 3, 4, 5],
            median: Some(9),
            p90: Some(90),
            target: 3_600_000,
            over_target: 7,
        },
        groups: Some(vec![decided("support", 3), decided("", 1)]),
        reviewers: Some(vec![decided("kim", 3)]),
        outcomes: Flow { arrived: 9, approved: 5, edited: 2, failed: 1, ..Flow::default() },
        edits_told: true,
        alerts: vec![
            Alert { kind: AlertKind::Down, source: SourceName::new("old"), count: 1 },
            Alert { kind: AlertKind::OverTarget, source: SourceName::new("team"), count: 7 },
        ],
        ..Board::default()
    }
}

fn problems() -> Problems {
    let name = SourceName::new("away");
    let problem = Problem {
        source: Some(name.clone()),
        what: "cannot be reached".to_owned(),
        why: Some("refused\u{9b}31m".into()),
    };
    [(name, problem)].into()
}

fn targets() -> Targets {
    Targets { age: Duration::from_hours(1), ..Targets::default() }
}

#[test]
fn table_marks_old_numbers_and_leaves_out_missing_ones() {
    let lines = table::lines(&board(), targets(), "18:02");

    let want = "\
placet watch  110 pending, 11 high, oldest 3 h 12!, 7 over 1 h  at 18:02  window 60 min

SOURCE / QUEUE                 STATE          PENDING   HIGH    OLDEST   OVER  IN NOW  IN 15M  OUT NOW  OUT 15M  CLEARS IN  SOURCE
team                           OVER TARGET         88      8   3 h 12!      7       3     9.0        0      6.5          -  ok
  refunds⟦ESC⟧[2J⟦U+202E⟧⟦LF⟧  OVER TARGET          9      0   3 h 12!      7       3     9.0        0      6.5          -
  tool save_document           CLEARING             9      0      40 m      0       3     9.0        0      6.5     23 min
  all others                   NO DATA              1      0         -      0       ?       ?        ?        ?          -
old                            OVER TARGET?       22?     2?  3 h 12!?     7?      3?    9.0?       0?     6.5?          -  STALE, data 71 s old
away                           NO DATA              -      -         -      -       -       -        -        -          -  NO ANSWER
all                            OVER TARGET?      110?    11?  3 h 12!?     7?      3?    9.0?       0?     6.5?          -

DECIDED BY, LAST 60 MIN  ALL  APPR  EXCL  EDIT  MEDIAN
group support              4     3     1     -    14 s
no group                   2     1     1     -    14 s
kim                        4     3     1     -    14 s

! old: down for 1 min
! team: 7 over 1 h";
    assert_eq!(lines.join("\n"), want);
}

#[test]
fn line_shows_counts_and_names_old_sources() {
    let line = |format: Option<&str>, board: &Board, problems: &Problems| {
        let missing = missing::of(board, problems);
        Format::of(format).unwrap().line(board, &missing, targets())
    };
    let (board, problems) = (board(), problems());
    let calm = Board { at: NOW, sources: vec![source("team", 0, Some(1))], ..Board::default() };

    assert_eq!(
        line(None, &board, &problems),
        "placet: 110 pending, 11 high, oldest 3 h 12!, 7 over 1 h (old 1 m old, away cannot be read)"
    );
    assert_eq!(line(None, &calm, &Problems::new()), "placet: 0 pending");
    assert_eq!(line(Some("{{{pending}}} {oldest} {net} {clears}"), &calm, &Problems::new()), "{0} - ? -");
    assert_eq!(
        line(Some("{state}"), &board, &Problems::new()),
        "OVER TARGET (old 1 m old, away has not answered)"
    );
    assert_eq!(
        line(
            Some("{pending}/{high} +{arrivals_now} {arrivals} -{resolves_now} {resolves} {net}"),
            &board,
            &Problems::new()
        ),
        "110/11 +3 9.0 -0 6.5 +2.5 (old 1 m old, away has not answered)"
    );
    let unheard = Board { sources: vec![source("team", 0, None)], ..calm };
    assert_eq!(line(None, &unheard, &Problems::new()), "placet: no numbers (team has not answered)");
    assert_eq!(
        line(Some("{pending} of {target}"), &unheard, &Problems::new()),
        "? of 1 h (team has not answered)"
    );
    assert_eq!(
        line(
            Some("[{missing}] {over} over {target}, {approved} {rejected} {failed}!, {alerts}"),
            &board,
            &problems
        ),
        "[old 1 m old, away cannot be read] 7 over 1 h, 5 0 1!, 2"
    );
}

#[test]
fn invalid_format_is_refused_with_the_known_fields() {
    for (format, why) in [
        ("{pendign}", "has no field \"pendign\"; the fields are: state, pending, high"),
        ("{pending", "written twice"),
        ("pending}", "written twice"),
        ("{}", "has no field \"\""),
        ("two\nlines", "one line of text"),
        ("\u{1b}]0;x", "one line of text"),
    ] {
        let refused = Format::of(Some(format)).unwrap_err().to_string();
        assert!(refused.contains(why), "{format:?}: {refused}");
    }
}

#[test]
fn help_lists_exactly_the_known_fields() {
    use clap::CommandFactory as _;
    let mut command = crate::cli::Args::command();
    let help = command.find_subcommand_mut("watch").unwrap().render_long_help().to_string();
    let (_, fields) = help.split_once("Fields of --format:").unwrap();
    let (named, _) = fields.split_once(';').unwrap();
    let named: Vec<&str> = named.split_whitespace().map(|field| field.trim_matches(['{', '}'])).collect();

    assert_eq!(named, line::FIELDS.map(|(name, _)| name));
}

/// Returns the output as JSON, after checking it against the schema.
fn value(of: &impl serde::Serialize) -> Value {
    let schema = Schema::parse(serde_json::to_string(&schema::of("watch").unwrap()).unwrap()).unwrap();
    let text = serde_json::to_string(of).unwrap();
    assert_eq!(schema.check(&text), Ok(()), "{text}");
    serde_json::from_str(&text).unwrap()
}

#[test]
fn board_json_has_all_figures_but_unknown_ones() {
    let (board, problems) = (board(), problems());
    let told = value(&board.json(|name| problems.get(name).map(problem)));

    assert_eq!(
        (&told["version"], &told["type"], &told["complete"]),
        (&json!(1), &json!("board"), &json!(false))
    );
    assert_eq!(told["sources"][0]["queues"][1]["queue"], json!({"tool": "save_document"}));
    assert_eq!(told["sources"][0]["queues"][1]["standing"]["clearsInMs"], 23 * 60_000);
    assert_eq!(told["sources"][0]["queues"][2]["queue"], json!({"rest": true}));
    assert_eq!(told["sources"][0]["standing"]["netPerMinute"], 2.5);
    assert_eq!(told["sources"][0]["standing"]["arrivalsLastMinute"], 3);
    assert_eq!(told["sources"][0]["queues"][1]["standing"]["state"], "clearing");
    assert_eq!(told["sources"][2]["standing"]["state"], "no-data");
    assert_eq!(told["sources"][1]["stale"], true);
    assert_eq!(told["sources"][2].get("heardAt"), None);
    assert_eq!(told["sources"][2]["problem"], "away cannot be reached: refused⟦U+009B⟧31m");
    assert_eq!(told["sources"][2]["standing"].get("netPerMinute"), None);
    assert_eq!(told["total"]["pendingOverWindow"], json!([null, 3, 110]));
    let tool = json!({"toolName": "t", "pending": 4, "high": 1, "oldestAt": "2026-04-21T17:59:11.420Z",
        "approved": 3, "edited": 1, "rejected": 2, "failed": 1});
    assert_eq!(told["tools"], json!([tool]));
    let ages = json!({"under5Minutes": 1, "under15Minutes": 2, "under1Hour": 3, "under4Hours": 4, "older": 5,
        "medianMs": 9, "p90Ms": 90, "targetMs": 3_600_000});
    assert_eq!(told["ages"], ages);
    assert_eq!(told["reviewers"][0]["medianWaitMs"], 14_000);
    assert_eq!(told["alerts"][0], json!({"kind": "source-down", "source": "old", "count": 1}));

    assert_eq!((&told["groups"][0]["group"], told["groups"][1].get("group")), (&json!("support"), None));
    assert_eq!(told["sources"][0]["queues"][1]["targetMs"], 900_000);

    let quiet = Board { reviewers: None, groups: None, edits_told: false, ..board };
    let told = value(&quiet.json(|_| None));
    assert_eq!((told.get("reviewers"), told.get("groups")), (None, None));
    assert_eq!(told["outcomes"].get("edited"), None);
}

#[test]
fn what_only_the_clock_changes_is_no_new_board() {
    let board = board();
    let mut later = Board { at: NOW.plus_millis(900), ..board.clone() };
    later.sources[0].heard = Some(later.at);
    later.ages.median = Some(909);
    assert_eq!(changes::figures(&board), changes::figures(&later));

    later.sources[0].stale = true;
    assert_ne!(changes::figures(&board), changes::figures(&later));
}

fn happening(at: i64, what: HappeningKind) -> Happening {
    Happening { at: Timestamp::from_millis(at), source: SourceName::new("team"), what }
}

#[test]
fn only_what_is_new_is_told() {
    let all: Vec<Happening> = (0..6).rev().map(|at| happening(at, HappeningKind::Paused)).collect();
    let new = |now: &[Happening], told: &[Happening]| {
        let (new, is_missed) = event::news(now, told);
        (new.len(), is_missed)
    };

    assert_eq!([new(&all, &[]), new(&all, &all), new(&all[..0], &[])], [(6, false), (0, false), (0, false)]);
    assert_eq!(new(&all, &all[2..]), (2, false));
    assert_eq!(new(&all[..4], &all[1..5]), (1, false), "what is too old is forgotten there");
    assert_eq!(new(&all[..2], &all[4..]), (2, true), "so much happened that nothing is known any more");
}

#[test]
fn that_some_is_missed_is_told_and_before_what_follows() {
    let first = happening(7_000, HappeningKind::Paused);
    let want = json!({"version": 1, "type": "event", "at": "1970-01-01T00:00:07.000Z", "event": "missed"});
    assert_eq!(value(&Versioned::of(event::missed(&first))), want);
}

#[test]
fn each_kind_of_event_has_its_fields() {
    let about = || {
        Box::new(About {
            key: ActionKey { source: SourceName::new("team"), id: ActionId::new("a-1") },
            tool: "t".into(),
            title: "x\u{1b}".into(),
            rank: 2,
        })
    };
    let it = json!({"id": "a-1", "toolName": "t", "title": "x\u{1b}", "highRisk": true});
    let with = |more: Value| {
        let mut all = it.as_object().unwrap().clone();
        all.extend(more.as_object().unwrap().clone());
        Value::Object(all)
    };
    let retrying = Connection::Retrying { why: "reset".into(), retry_in: Duration::from_secs(1) };
    let agent = Queue::Agent("a".into());
    let kinds = [
        (
            HappeningKind::Arrived { queue: agent, count: 3, high: 1, first: about() },
            with(json!({"event": "arrived", "queue": {"agent": "a"}, "count": 3, "high": 1})),
        ),
        (
            HappeningKind::Decided { status: Status::Approved, by: Some("kim".into()), about: about() },
            with(json!({"event": "decided", "status": "approved", "by": "kim"})),
        ),
        (
            HappeningKind::DecidedMany { approved: 5, rejected: 1, by: None },
            json!({"event": "decided", "count": 6, "approved": 5, "rejected": 1}),
        ),
        (
            HappeningKind::Left { status: Some(Status::Expired), about: about() },
            with(json!({"event": "left", "status": "expired"})),
        ),
        (HappeningKind::LeftMany { count: 4 }, json!({"event": "left", "count": 4})),
        (
            HappeningKind::Ended { status: Status::Executed, about: about() },
            with(json!({"event": "executed"})),
        ),
        (HappeningKind::Ended { status: Status::Failed, about: about() }, with(json!({"event": "failed"}))),
        (HappeningKind::Ended { status: Status::Unknown, about: about() }, with(json!({"event": "unknown"}))),
        (
            HappeningKind::Connection(retrying),
            json!({"event": "connection", "connection": "retrying", "why": "reset"}),
        ),
        (
            HappeningKind::Unreadable { why: "cannot be reached".to_owned() },
            json!({"event": "unreadable", "why": "cannot be reached"}),
        ),
        (HappeningKind::Paused, json!({"event": "paused"})),
        (HappeningKind::Resumed, json!({"event": "resumed"})),
    ];
    for (what, want) in kinds {
        let mut want = want;
        let all = want.as_object_mut().unwrap();
        let common =
            json!({"version": 1, "type": "event", "at": "1970-01-01T00:00:07.000Z", "source": "team"});
        all.extend(common.as_object().unwrap().clone());
        assert_eq!(value(&Versioned::of(event::event_json(&happening(7_000, what)))), want);
    }
}
