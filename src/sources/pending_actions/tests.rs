//! The source against a fake gate and a fake Praxiom.

use crate::config::SourceKind;
use crate::domain::Resolution;
use crate::domain::Resolved;
use crate::domain::Row;
use crate::sources::{Connection, EventKind};
use std::sync::Arc;

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::*;
use crate::config::Praxiom;
use crate::domain::{Decision, Digest, Edits, Outcome, RawJson, Status, Verdict};
use crate::net::testing::nobody;

mod claims;
mod deciding;
mod edits;
mod fake;
mod guarded;
mod past;
mod people;
mod poison;
mod praxiom;
mod suite;
pub(in crate::sources) mod world;

use fake::{Backend, approve, batch, reject};

fn id(id: &str) -> ActionId {
    ActionId::new(id)
}

fn skipped(status: &str, by: Option<&str>) -> Outcome {
    Outcome::Skipped { status: Some(Status::parse(status)), by: by.map(Untrusted::from) }
}

fn failed(why: &str) -> Outcome {
    Outcome::Failed { why: why.into() }
}

fn row_ids(rows: &[Row]) -> Vec<&str> {
    rows.iter().map(|row| row.id.as_raw()).collect()
}

#[tokio::test]
async fn list_is_read_whole_and_bad_items_hide_no_other() {
    let gate = Backend::default();
    let page = |items: &[&str], next: &str| {
        let items = items.join(",");
        format!(
            r#"{{"items":[{items}],"nextCursor":{next},"revision":{}}}"#,
            if next == "null" { 9 } else { 7 }
        )
    };
    let row = |id: &str| format!(r#"{{"id":"{id}","toolName":"t","status":"pending","title":"x"}}"#);
    gate.on(
        "GET",
        "/api/pending-actions?workspace_id=w%2F1&status=pending%2Cunknown&view=row&nulls=false&limit=100",
    )
    .reply(200, page(&[&row("1"), r#"{"id":"poison","status":NaN}"#, "17", &row("2")], r#""c&1""#));
    gate.on(
        "GET",
        "/api/pending-actions?workspace_id=w%2F1&status=pending%2Cunknown&view=row&nulls=false&limit=1000&cursor=c%261",
    )
    .reply(200, page(&[&row("2"), &row("3"), r#"{"id":"4","toolName":"t","status":"executed"}"#], "null"));

    let synced = gate.source(SourceKind::Gate, Some("w/1")).await.sync(None).await.unwrap();

    let Synced::All { rows, unreadable, revision } = synced else { panic!("expected a list") };
    assert_eq!(row_ids(&rows), ["1", "2", "3"]);
    assert_eq!(
        unreadable.iter().map(|bad| bad.what).collect::<Vec<_>>(),
        ["it has no toolName", "it is no object"]
    );
    assert_eq!(revision, Some(Revision(7)), "changes during paging are requested again");
}

#[tokio::test]
async fn changes_are_followed_until_there_are_no_more() {
    let gate = Backend::default();
    let row = |status: &str| json!({"id": "1", "toolName": "t", "status": status, "revision": 6});
    gate.on("GET", "/api/pending-actions/changes?since=5&limit=5000").reply(
        200,
        json!({"changes": [{"revision": 6, "id": "1", "row": row("pending")}, {"revision": 7, "id": "gone", "row": null},
            {"revision": 7, "id": "bad", "row": {"id": "bad"}}], "revision": 7, "more": true, "complete": true}).to_string(),
    );
    gate.on("GET", "/api/pending-actions/changes?since=7&limit=5000").reply(
        200,
        json!({"changes": [{"revision": 8, "id": "1", "row": row("approved")}], "revision": 8, "more": false,
            "complete": true})
        .to_string(),
    );

    let synced = gate.source(SourceKind::Gate, None).await.sync(Some(Revision(5))).await.unwrap();

    let Synced::Changes { rows, unreadable, purged, revision } = synced else { panic!("expected changes") };
    assert_eq!(rows.iter().map(|row| row.status.clone()).collect::<Vec<_>>(), [Status::Approved]);
    assert_eq!((unreadable.len(), purged, revision), (1, vec![id("gone")], Revision(8)));
}

#[tokio::test]
async fn incomplete_changes_cause_a_full_list() {
    let gate = Backend::default();
    gate.always("GET", 200, r#"{"items":[],"revision":9}"#);
    gate.on("GET", "/api/pending-actions/changes?since=5&limit=5000")
        .reply(200, r#"{"changes":[],"revision":9,"more":false,"complete":false}"#);
    let source = gate.source(SourceKind::Gate, None).await;

    let synced = source.sync(Some(Revision(5))).await;

    assert!(matches!(synced, Ok(Synced::All { revision: Some(Revision(9)), .. })), "{synced:?}");
}

#[tokio::test]
async fn token_without_the_decide_scope_is_read_only() {
    let workspaces =
        |scopes: Value| json!({"items": [{"workspaceId": "w", "subject": "ada", "scopes": scopes}]});
    for (status, body, may_decide) in [
        (200, workspaces(json!(["read", "propose"])), false),
        (200, workspaces(json!(["read", "decide"])), true),
        (200, json!({"items": [{"workspaceId": "w"}]}), true),
        (404, json!({}), true),
    ] {
        let gate = Backend::default();
        gate.always("GET", 200, &format!(r#"{{"items":[{}]}}"#, fake::text("1", "{}", "pending")));
        gate.on("GET", "/api/workspaces").reply(status, body.to_string());
        let source = gate.source(SourceKind::Gate, Some("w")).await;

        let Synced::All { rows, .. } = source.sync(None).await.unwrap() else { panic!("expected a list") };

        assert_eq!(rows[0].can.can_decide(), may_decide, "{body}");
    }
}

#[tokio::test]
async fn many_actions_are_fetched_by_their_ids() {
    let gate = Backend::default();
    let text =
        |id: &str| format!(r#"{{"id":"{id}","toolName":"t","status":"pending","toolInput":{{"n":1.10}}}}"#);
    gate.on("GET", "/api/pending-actions?ids=1%2C2%2C3%2C..&view=full&limit=5000")
        .reply(200, format!(r#"{{"items":[{},{},{{"id":"2"}}]}}"#, text("1"), text("other")));
    let source = gate.source(SourceKind::Gate, None).await;

    let actions = source.get(&["1", "2", "3", ".."].map(id)).await.unwrap();

    let (good, bad): (Vec<_>, Vec<_>) = actions.into_iter().partition(Result::is_ok);
    let good: Vec<_> = good.into_iter().flatten().map(|action| (action.row.id, action.input)).collect();
    assert_eq!(good, [(id("1"), RawJson::parse(r#"{"n":1.10}"#).unwrap())]);
    assert_eq!(bad.len(), 1);
}

#[tokio::test]
async fn action_with_another_id_is_refused() {
    let praxiom = Backend::default();
    praxiom.on("GET", "/api/pending-actions/1").reply(200, fake::text("2", "{}", "pending"));
    let source = praxiom.source(SourceKind::Praxiom(Praxiom::default()), Some("w")).await;

    let actions = source.get(&[id("1")]).await.unwrap();

    assert_eq!(actions[0].as_ref().unwrap_err().what, "another action came than was asked for");
}

#[tokio::test]
async fn gate_pushes_briefings() {
    use futures_util::StreamExt as _;
    let gate = Backend::default();
    gate.on("GET", "/api/pending-actions/events?workspace_id=w&batches=none")
        .events("event: briefing\nid: 7\ndata: {\"pending\":3}\n\nevent: tick\ndata: 1\n\n");
    let source = gate.source(SourceKind::Gate, Some("w")).await;

    let signals = source.watch().unwrap().take(3).collect::<Vec<_>>();
    let signals = tokio::time::timeout(Duration::from_mins(1), signals).await.unwrap();

    let briefing = crate::domain::Briefing { pending: 3, ..crate::domain::Briefing::default() };
    let live = EventKind::Connection(Connection::Live);
    assert_eq!(signals, [live, EventKind::Briefing(briefing), EventKind::Tick]);
}

#[test]
fn praxiom_needs_a_workspace_and_every_source_a_url() {
    let config = fake::config(SourceKind::Praxiom(Praxiom::default()), "http://127.0.0.1:1", None);
    let name = config.name.clone();

    assert_eq!(crate::sources::open(&config).unwrap_err(), OpenError::NoWorkspace(name));
    let config = fake::config(SourceKind::Gate, "gate", None);
    assert!(matches!(crate::sources::open(&config).unwrap_err(), OpenError::Setup(..)));
}

#[tokio::test]
async fn gate_lists_unknown_outcomes_and_praxiom_does_not() {
    let listed = format!(
        r#"{{"items":[{},{},{}]}}"#,
        fake::text("1", "{}", "pending"),
        fake::text("2", "{}", "unknown"),
        fake::text("3", "{}", "failed")
    );
    for (kind, want) in
        [(SourceKind::Gate, &["1", "2"][..]), (SourceKind::Praxiom(Praxiom::default()), &["1"])]
    {
        let backend = Backend::default();
        backend.always("GET", 200, &listed);
        let source = backend.source(kind, Some("w")).await;

        let Synced::All { rows, .. } = source.sync(None).await.unwrap() else { panic!("expected a list") };

        assert_eq!(rows.iter().map(|row| row.id.as_raw()).collect::<Vec<_>>(), want);
        let settles = |row: &Row| row.can.settle;
        assert_eq!(rows.iter().map(settles).collect::<Vec<_>>(), [false, true][..want.len()]);
    }
}

#[tokio::test]
async fn resolution_is_sent_once_and_its_answer_reported() {
    let path = "/api/pending-actions/1/settle";
    let conflict =
        r#"{"error":{"code":"INVALID_STATE","message":"m","status":"failed","resolvedBy":"approver"}}"#;
    let at = "2026-04-21T18:02:11.420Z";
    let event = |word: &str, by: &str| json!({"revision": 1, "event": word, "at": at, "by": by});
    let timeline =
        json!({"items": [event("approved", "approver"), event("settled", "lee"), event("x", "y")]});
    let timeline = timeline.to_string();
    let already = Resolved::Already { status: Some(Status::Failed), by: Some("lee".into()) };
    let refused = SourceError::Forbidden { why: "HTTP 403: your own".into() };
    for (status, body, want) in [
        (200, fake::text("1", "{}", "approved"), Ok(Resolved::Settled(Status::Approved))),
        (409, conflict.to_owned(), Ok(already)),
        (403, r#"{"error":{"code":"FORBIDDEN","message":"your own"}}"#.to_owned(), Err(refused)),
        (404, String::new(), Err(SourceError::Refused { why: wire::GONE.into() })),
    ] {
        let gate = Backend::default();
        gate.on("POST", path).reply(status, body);
        gate.on("GET", "/api/pending-actions/1/events").reply(200, &timeline);
        let source = gate.source(SourceKind::Gate, None).await;

        let settling = source
            .abilities()
            .resolve_unknown
            .unwrap()
            .resolve(&id("1"), Resolution::RunAgain, Some("seen".to_owned()))
            .await;

        assert_eq!(settling, want);
        assert_eq!(gate.requests()[0].body, r#"{"as":"retry","reason":"seen"}"#);
    }
    let praxiom = Backend::default();
    let source = praxiom.source(SourceKind::Praxiom(Praxiom::default()), Some("w")).await;
    assert!(source.abilities().resolve_unknown.is_none());
}

#[tokio::test]
async fn doctor_reports_readiness_and_differing_gates() {
    let told = async |status, ready: &str| {
        let gate = Backend::default();
        gate.always("GET", 200, r#"{"items":[],"nextCursor":null,"revision":1}"#);
        gate.on("GET", "/readyz").reply(status, ready);
        let checks = gate.source(SourceKind::Gate, None).await.check(Duration::from_secs(20)).await;
        let checks = checks.into_iter().filter(|check| ["gates", "ready"].contains(&check.what));
        checks.map(|check| (check.what, check.verdict, check.said, check.advice)).collect::<Vec<_>>()
    };
    let differing =
        r#"{"status":"ready","warnings":[{"gate":"b:2","tools":["t"],"message":"the gate b:2 …"}]}"#;
    let away = r#"{"error":{"code":"UNAVAILABLE","message":"the disk is full"}}"#;

    assert_eq!(told(200, r#"{"status":"ready"}"#).await, []);
    assert_eq!(told(404, "").await, [], "a proxy may hide it");
    let advice = "give both the same [gate.tools] and restart the older".to_owned();
    assert_eq!(told(200, differing).await, [("gates", Verdict::Warn, Some("the gate b:2 …".into()), advice)]);
    let (said, advice) = ("HTTP 503: the disk is full".into(), "see to what it said".to_owned());
    assert_eq!(told(503, away).await, [("ready", Verdict::Bad, Some(said), advice)]);
}

#[tokio::test]
async fn doctor_warns_of_too_few_approvers() {
    let told = async |approvals: &str| {
        let gate = Backend::default();
        gate.always("GET", 200, r#"{"items":[],"nextCursor":null,"revision":1}"#);
        let me = format!(
            r#"{{"items":[{{"id":"w","workspaceId":"w","subject":"kim","scopes":["decide"]{approvals}}}]}}"#
        );
        gate.on("GET", "/api/workspaces").reply(200, me);
        let checks = gate.source(SourceKind::Gate, Some("w")).await.check(Duration::from_secs(20)).await;
        let check = checks.into_iter().find(|check| check.what == "approvals")?;
        Some((check.verdict, check.found))
    };

    assert_eq!(told("").await, None);
    let enough = "some actions take 2 people, and 2 can decide in this workspace".to_owned();
    assert_eq!(told(r#","approvals":{"needed":2,"deciders":2}"#).await, Some((Verdict::Good, enough)));
    let (verdict, found) = told(r#","approvals":{"needed":3,"deciders":1}"#).await.unwrap();
    assert_eq!((verdict, found.contains("take 3 people, and 1 can decide")), (Verdict::Warn, true));
}
