//! Odd backend answers, which every kind of source reports.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream::{self, StreamExt as _};

use crate::config::{self, Praxiom, SourceConfig, SourceKind};
use crate::contract::action::Unreadable;
use crate::domain::{Check, Status, Verdict};
use crate::net::testing::serve;
use crate::sources::{Source, SourceError, Synced};

type Answer = fn(&Uri) -> Option<String>;

/// Returns a source whose backend answers paths with `answer` or 404, and a counter of its requests.
async fn answered(kind: SourceKind, answer: Answer) -> (Arc<dyn Source>, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let app = Router::new().fallback(async move |request: Request| {
        count.fetch_add(1, Ordering::SeqCst);
        match answer(request.uri()) {
            Some(body) => ([("content-type", "application/json")], body).into_response(),
            None => StatusCode::NOT_FOUND.into_response(),
        }
    });
    let config =
        SourceConfig { workspace: Some("w".to_owned()), ..SourceConfig::of("s", kind, serve(app).await) };
    (crate::sources::open(&config).unwrap(), asked)
}

fn dendrux() -> SourceKind {
    SourceKind::Dendrux(config::Dendrux { prefix: String::new(), ..config::Dendrux::default() })
}

fn pending_actions(items: &str, next: &str) -> String {
    format!(r#"{{"items":[{items}],"nextCursor":{next}}}"#)
}

fn item(id: &str, status: &str) -> String {
    format!(
        r#"{{"id":"{id}","action_id":"{id}","runId":"r","kind":"t","toolName":"t","toolInput":{{}},"apply_input":{{}},"toolArguments":{{}},"status":"{status}"}}"#
    )
}

/// Lists a pending item, an approved one, and three with unknown statuses.
fn odd_statuses(uri: &Uri) -> Option<String> {
    let path = format!("{uri}");
    let items = [("1", "pending"), ("2", "approved"), ("3", "in_review"), ("4", "PENDING"), ("5", "")];
    let items = items.map(|(id, status)| item(id, status)).join(",");
    let body = match path {
        _ if path.contains("users/me") => r#"{"id":7}"#.to_owned(),
        _ if path.starts_with("/api/pending-actions") => pending_actions(&items, "null"),
        _ if path.contains("list-pending-actions") => format!(r#"{{"actions":[{items}]}}"#),
        _ if path.starts_with("/v1/approvals") => format!(r#"{{"approvals":[{items}]}}"#),
        _ if path.starts_with("/wp-json") => "{}".to_owned(),
        _ => return None,
    };
    Some(body)
}

#[tokio::test]
async fn unknown_status_is_reported_and_not_dropped() {
    let kinds = [
        SourceKind::Gate,
        SourceKind::Praxiom(Praxiom::default()),
        SourceKind::AgentsApi(config::AgentsApi::default()),
        SourceKind::ConfusedAi,
    ];
    for kind in kinds {
        let (source, _) = answered(kind.clone(), odd_statuses).await;

        let Synced::All { rows, unreadable, .. } = source.sync(None).await.unwrap() else { panic!("a list") };

        let pending = rows.iter().filter(|row| row.status.is_pending()).map(|row| row.id.as_raw());
        assert_eq!(pending.collect::<Vec<_>>(), ["1"], "{kind:?}");
        let told: Vec<_> = unreadable.iter().map(|bad| bad.stand_in().row).collect();
        let ids: Vec<_> = told.iter().map(|row| row.id.as_raw()).collect();
        assert_eq!(ids, ["3", "4", "5"], "{kind:?}");
        assert_eq!(
            told[0].title.as_raw(),
            "cannot be read: placet does not know its status, \"in_review\"",
            "{kind:?}"
        );
        assert!(told.iter().all(|row| row.status == Status::Pending), "listed as pending: {kind:?}");
    }
}

fn next_in_a_circle(uri: &Uri) -> Option<String> {
    let query = uri.query().unwrap_or_default();
    let nth = |letter: &str| query.contains(&format!("cursor={letter}"));
    let next = if nth("a") {
        r#""b""#
    } else if nth("b") {
        r#""c""#
    } else {
        r#""a""#
    };
    (uri.path() == "/api/pending-actions").then(|| pending_actions(&item("1", "pending"), next))
}

fn next_without_end(uri: &Uri) -> Option<String> {
    let query = uri.query().unwrap_or_default();
    let next = format!("\"x{}\"", query.len());
    (uri.path() == "/api/pending-actions").then(|| pending_actions(&item("1", "pending"), &next))
}

/// Returns a cursor that no page had before, and its length.
fn new_cursor(uri: &Uri) -> (String, usize) {
    let length = uri.query().and_then(|query| query.split_once("cursor=")).map_or(0, |(_, rest)| rest.len());
    (format!("\"{}\"", "x".repeat(length + 1)), length)
}

fn two_pages_in_turn(uri: &Uri) -> Option<String> {
    let (next, nth) = new_cursor(uri);
    let items = item(if nth % 2 == 0 { "1" } else { "2" }, "pending");
    (uri.path() == "/api/pending-actions").then(|| pending_actions(&items, &next))
}

fn empty_pages(uri: &Uri) -> Option<String> {
    (uri.path() == "/api/pending-actions").then(|| pending_actions("", &new_cursor(uri).0))
}

/// The engine and the router of dendrux ignore the offset.
fn same_page(uri: &Uri) -> Option<String> {
    match uri.path() {
        "/v1/sagas/pending-review" => {
            let step = |n| {
                format!(
                    r#"{{"sagaTraceId":"T","stepSpanId":"s{n}","stepKind":"commit","reviewPayload":{{}}}}"#
                )
            };
            let steps: Vec<_> = (0..100).map(step).collect();
            Some(format!(r#"{{"items":[{}],"hasMore":true}}"#, steps.join(",")))
        }
        "/runs" => {
            let run = |n| format!(r#"{{"run_id":"r{n}","status":"waiting_approval"}}"#);
            let runs: Vec<_> = (0..1_000).map(run).collect();
            Some(format!(r#"{{"items":[{}],"total":1000}}"#, runs.join(",")))
        }
        _ => None,
    }
}

#[tokio::test]
async fn circular_list_ends_with_an_error() {
    let praxiom = || SourceKind::Praxiom(Praxiom::default());
    let cases: [(SourceKind, Answer); 9] = [
        (SourceKind::Gate, two_pages_in_turn),
        (praxiom(), two_pages_in_turn),
        (praxiom(), empty_pages),
        (SourceKind::Gate, next_in_a_circle),
        (praxiom(), next_in_a_circle),
        (praxiom(), next_without_end),
        (SourceKind::Warden(config::Warden::default()), same_page),
        (dendrux(), same_page),
        (SourceKind::Gate, |uri| {
            (uri.path() == "/api/pending-actions").then(|| pending_actions("", r#""same""#))
        }),
    ];
    for (kind, answer) in cases {
        let (source, asked) = answered(kind.clone(), answer).await;

        let error = source.sync(None).await.unwrap_err();

        let SourceError::Protocol { why } = &error else { panic!("{kind:?}: {error:?}") };
        assert!(why.as_raw().contains("go in a circle"), "{kind:?}: {why:?}");
        let asked = asked.load(Ordering::SeqCst);
        assert!(asked <= 10, "{kind:?}: {asked} requests");
    }
}

#[tokio::test]
async fn odd_cursor_is_reported() {
    let answer: Answer = |uri| {
        (uri.path() == "/api/pending-actions").then(|| pending_actions(&item("1", "pending"), r#"{"a":1}"#))
    };
    for kind in [SourceKind::Gate, SourceKind::Praxiom(Praxiom::default())] {
        let (source, _) = answered(kind.clone(), answer).await;

        let Synced::All { rows, unreadable, .. } = source.sync(None).await.unwrap() else { panic!() };

        assert_eq!(rows.iter().map(|row| row.id.as_raw()).collect::<Vec<_>>(), ["1"], "{kind:?}");
        assert_eq!(unreadable.iter().map(|bad| bad.what).collect::<Vec<_>>(), [Unreadable::CUT_OFF]);
    }
}

#[tokio::test]
async fn cursor_too_long_for_a_url_ends_with_an_error() {
    let answer: Answer = |uri| {
        let next = format!("\"{}\"", "c".repeat(3_000_000));
        (uri.path() == "/api/pending-actions").then(|| pending_actions(&item("1", "pending"), &next))
    };
    for kind in [SourceKind::Gate, SourceKind::Praxiom(Praxiom::default())] {
        let (source, _) = answered(kind.clone(), answer).await;

        let error = source.sync(None).await.unwrap_err();

        let SourceError::Protocol { why } = &error else { panic!("{kind:?}: {error:?}") };
        assert!(why.as_raw().contains("cursor is too long"), "{kind:?}: {why:?}");
    }
}

#[tokio::test]
async fn list_that_only_grows_ends_with_an_error() {
    let answer: Answer = |uri| {
        let (next, nth) = new_cursor(uri);
        let rows: Vec<_> = (0..50_000).map(|n| item(&format!("{nth}-{n}"), "pending")).collect();
        (uri.path() == "/api/pending-actions").then(|| pending_actions(&rows.join(","), &next))
    };
    let (source, asked) = answered(SourceKind::Gate, answer).await;

    let error = source.sync(None).await.unwrap_err();

    let SourceError::Protocol { why } = &error else { panic!("{error:?}") };
    assert!(why.as_raw().contains("more than 500,000 actions"), "{why:?}");
    assert!(asked.load(Ordering::SeqCst) < 20);
}

#[tokio::test]
async fn unknown_reason_of_a_pause_is_reported() {
    let answer: Answer = |uri| match uri.path() {
        "/runs" => Some(r#"{"items":[{"run_id":"r","status":"waiting_approval"}],"total":1}"#.to_owned()),
        "/runs/r/pauses" => Some(
            r#"{"items":[{"pause_sequence_index":4,"reason":"waiting_moon","pending_tool_calls":[]}]}"#
                .to_owned(),
        ),
        _ => None,
    };
    let (source, _) = answered(dendrux(), answer).await;

    let Synced::All { rows, unreadable, .. } = source.sync(None).await.unwrap() else { panic!("a list") };

    assert_eq!(rows, []);
    assert_eq!(unreadable[0].what, "it waits for something that this version does not know");
}

/// Checks an event stream that sends `sent` and stays open; `None` sends no headers.
async fn checked(kind: SourceKind, head: &'static str, sent: Option<&'static str>, limit: Duration) -> Check {
    let events = async move |State(sent): State<Option<&'static str>>| -> Response {
        let Some(sent) = sent else { return std::future::pending().await };
        let first = stream::iter((!sent.is_empty()).then_some(Ok::<_, std::convert::Infallible>(sent)));
        let body = Body::from_stream(first.chain(stream::pending()));
        ([("content-type", "text/event-stream"), ("content-encoding", head)], body).into_response()
    };
    let app = Router::new().fallback(events).with_state(sent);
    let config =
        SourceConfig { workspace: Some("w".to_owned()), ..SourceConfig::of("s", kind, serve(app).await) };
    crate::sources::open(&config).unwrap().check_events(limit).await.unwrap()
}

#[tokio::test]
async fn doctor_reports_buffered_events() {
    let (long, short) = (Duration::from_mins(1), Duration::from_millis(100));
    let briefing = Some("event: briefing\ndata: {\"pending\":0}\n\n");
    let hints = || {
        let events_path = Some("/api/events".to_owned());
        SourceKind::Praxiom(Praxiom { events_path, ..Praxiom::default() })
    };
    let gate = || SourceKind::Gate;

    let told = |check: Check| (check.verdict, check.found);
    let good = (Verdict::Good, "the stream opens, and events come at once".to_owned());
    assert_eq!(told(checked(gate(), "identity", briefing, long).await), good);
    assert_eq!(told(checked(dendrux(), "identity", briefing, long).await), good);
    let (verdict, found) = told(checked(gate(), "identity", None, short).await);
    assert_eq!(verdict, Verdict::Warn);
    assert!(found.starts_with("events are held back (the stream does not open"), "{found}");
    let mut limit = short;
    let (verdict, found) = loop {
        let told = told(checked(gate(), "identity", Some(""), limit).await);
        // A busy machine may take longer to open it.
        if limit > long || !told.1.contains("does not open") {
            break told;
        }
        limit *= 2;
    };
    assert_eq!(verdict, Verdict::Warn);
    assert!(found.starts_with("events are held back (the stream opens, and then nothing comes"), "{found}");
    let half = checked(gate(), "identity", Some("event: briefing\ndata: {"), short).await;
    assert!(half.found.starts_with("events are held back"), "{}", half.found);
    let quiet = checked(hints(), "identity", Some(""), long).await;
    assert!(quiet.found.starts_with("the stream opens; nothing is sent at its start"), "{}", quiet.found);
    assert_eq!(quiet.verdict, Verdict::Good);
    let packed = checked(gate(), "gzip", briefing, long).await;
    assert_eq!(packed.verdict, Verdict::Warn);
    assert!(packed.said.unwrap().as_raw().contains("compressed"));
}
