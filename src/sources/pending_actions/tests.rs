//! The source against backends of this test's own making: a gate, and a Praxiom.

use std::sync::Arc;

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::*;
use crate::domain::{Decision, Digest, Edits, RawJson, Status};
use crate::net::testing::nobody;

mod fake;
mod praxiom;

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
async fn a_list_is_read_to_its_end_and_one_bad_item_hides_no_other() {
    let gate = Backend::default();
    let page = |items: &[&str], next: &str| {
        let items = items.join(",");
        format!(
            r#"{{"items":[{items}],"nextCursor":{next},"revision":{}}}"#,
            if next == "null" { 9 } else { 7 }
        )
    };
    let row = |id: &str| format!(r#"{{"id":"{id}","toolName":"t","status":"pending","title":"x"}}"#);
    gate.on("GET", "/api/pending-actions?workspace_id=w%2F1&status=pending&view=row&limit=5000")
        .reply(200, page(&[&row("1"), r#"{"id":"poison","status":NaN}"#, "17", &row("2")], r#""c&1""#));
    gate.on("GET", "/api/pending-actions?workspace_id=w%2F1&status=pending&view=row&limit=5000&cursor=c%261")
        .reply(
            200,
            page(&[&row("2"), &row("3"), r#"{"id":"4","toolName":"t","status":"executed"}"#], "null"),
        );

    let synced = gate.source(SourceKind::Gate, Some("w/1")).await.sync(None).await.unwrap();

    let Synced::All { rows, unreadable, revision } = synced else { panic!("a list was asked for") };
    assert_eq!(row_ids(&rows), ["1", "2", "3"]);
    assert_eq!(
        unreadable.iter().map(|bad| bad.what).collect::<Vec<_>>(),
        ["it has no toolName", "it is no object"]
    );
    assert_eq!(revision, Some(Revision(7)), "what changed while paging is asked for again");
}

#[tokio::test]
async fn a_list_that_does_not_move_on_is_an_error() {
    let gate = Backend::default();
    gate.always("GET", 200, r#"{"items":[],"nextCursor":"same"}"#);

    let error = gate.source(SourceKind::Gate, None).await.sync(None).await.unwrap_err();

    assert_eq!(error, SourceError::Protocol { why: "its pages do not move on".into() });
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

    let Synced::Changes { rows, unreadable, purged, revision } = synced else {
        panic!("changes were asked for")
    };
    assert_eq!(rows.iter().map(|row| row.status.clone()).collect::<Vec<_>>(), [Status::Approved]);
    assert_eq!((unreadable.len(), purged, revision), (1, vec![id("gone")], Revision(8)));
}

#[tokio::test]
async fn where_changes_cannot_tell_everything_is_listed() {
    for (status, body) in [
        (200, r#"{"changes":[],"revision":9,"more":false,"complete":false}"#),
        (404, r#"{"error":{"code":"NOT_FOUND","message":"no"}}"#),
        (405, ""),
    ] {
        let gate = Backend::default();
        gate.always("GET", 200, r#"{"items":[],"revision":9}"#);
        gate.on("GET", "/api/pending-actions/changes?since=5&limit=5000").reply(status, body.to_owned());
        let source = gate.source(SourceKind::Gate, None).await;

        let synced = source.sync(Some(Revision(5))).await;

        assert!(
            matches!(synced, Ok(Synced::All { revision: Some(Revision(9)), .. })),
            "{status}: {synced:?}"
        );
    }
}

#[tokio::test]
async fn a_token_without_the_decide_scope_is_read_only() {
    let workspaces =
        |scopes: Value| json!({"items": [{"workspaceId": "w", "subject": "ada", "scopes": scopes}]});
    for (status, body, may_decide) in [
        (200, workspaces(json!(["read", "propose"])), false),
        (200, workspaces(json!(["read", "decide"])), true),
        (200, json!({"items": [{"workspaceId": "w"}]}), true),
        (404, json!({}), true),
    ] {
        let gate = Backend::default();
        gate.always("GET", 200, r#"{"items":[]}"#);
        gate.on("GET", "/api/workspaces").reply(status, body.to_string());
        let source = gate.source(SourceKind::Gate, Some("w")).await;
        let row = fake::action("1", "{}").row;

        source.sync(None).await.unwrap();

        assert_eq!(source.capabilities(&row).can_decide(), may_decide, "{body}");
    }
}

#[tokio::test]
async fn many_actions_are_fetched_by_their_ids() {
    let gate = Backend::default();
    let text =
        |id: &str| format!(r#"{{"id":"{id}","toolName":"t","status":"pending","toolInput":{{"n":1.10}}}}"#);
    gate.on("GET", "/api/pending-actions?ids=1%2C2%2C3%2C..&view=full&limit=5000")
        .reply(200, format!(r#"{{"items":[{},{},{{"id":"2"}}]}}"#, text("1"), text("other")));
    gate.on("GET", "/api/pending-actions/a%2Cb%2F..%2Fc").reply(200, text("a,b/../c"));
    let source = gate.source(SourceKind::Gate, None).await;

    let actions = source.get(&[id("1"), id("2"), id("3"), id("a,b/../c"), id("..")]).await.unwrap();

    let (good, bad): (Vec<_>, Vec<_>) = actions.into_iter().partition(Result::is_ok);
    let good: Vec<_> = good.into_iter().flatten().map(|action| (action.row.id, action.input)).collect();
    let input = RawJson::parse(r#"{"n":1.10}"#).unwrap();
    assert_eq!(good, [(id("1"), input.clone()), (id("a,b/../c"), input)]);
    assert_eq!(bad.len(), 1);
}

#[tokio::test]
async fn an_older_gate_is_asked_for_one_after_the_other() {
    let gate = Backend::default();
    gate.on("GET", "/api/pending-actions?ids=1%2C2&view=full&limit=5000").reply(422, String::new());
    gate.on("GET", "/api/pending-actions/1").reply(200, fake::text("1", "{}", "pending"));
    gate.on("GET", "/api/pending-actions/2").reply(404, String::new());

    let actions = gate.source(SourceKind::Gate, None).await.get(&[id("1"), id("2")]).await.unwrap();

    assert_eq!(actions.into_iter().map(|action| action.unwrap().row.id).collect::<Vec<_>>(), [id("1")]);
}

#[tokio::test]
async fn another_action_than_asked_for_is_not_taken() {
    let gate = Backend::default();
    gate.always("GET", 422, "");
    gate.on("GET", "/api/pending-actions/1").reply(200, fake::text("2", "{}", "pending"));

    let actions = gate.source(SourceKind::Gate, None).await.get(&[id("1")]).await.unwrap();

    assert_eq!(actions[0].as_ref().unwrap_err().what, "another action came than was asked for");
}

#[tokio::test]
async fn a_batch_is_one_request_bound_to_what_was_seen() {
    let gate = Backend::default();
    let edits = Edits::new(RawJson::parse(r#"{"n":18446744073709551616}"#).unwrap()).unwrap();
    let edited = Decision::Approve { edits: Some(edits), comment: Some("go".to_owned()) };
    let rejected = Decision::Reject { reason: Some("no".to_owned()) };
    let batch = batch(Some("m:send/x"), &[("1", edited), ("2", rejected), ("3", Decision::APPROVE)]);
    gate.on("POST", "/api/pending-actions/batch/m%3Asend%2Fx/approve").reply(
        200,
        json!({"batchId": "m:send/x", "approved": 1, "rejected": 1, "skipped": 1, "failed": 0, "items": [
            {"pendingActionId": "1", "outcome": "approved", "status": "approved"},
            {"pendingActionId": "2", "outcome": "rejected", "status": "rejected"},
            {"pendingActionId": "3", "outcome": "skipped", "status": "expired", "resolvedBy": "clock"}]})
        .to_string(),
    );

    let outcomes = gate.source(SourceKind::Gate, Some("w")).await.submit(&batch, "key-1").await.unwrap();

    let want = [
        (id("1"), Outcome::Approved),
        (id("2"), Outcome::Rejected),
        (id("3"), skipped("expired", Some("clock"))),
    ];
    assert_eq!(outcomes, want);
    let sent = gate.requests();
    let (seen, after) =
        (Digest::of("t", "w", r#"{"n":1.10}"#), Digest::of("t", "w", r#"{"n":18446744073709551616}"#));
    assert_eq!(
        (sent[0].body.as_str(), sent[0].key.as_deref(), sent.len()),
        (
            format!(
                concat!(
                    r#"{{"items":[{{"pendingActionId":"1","userEdits":{{"n":18446744073709551616}},"expectedDigest":"{seen}","#,
                    r#""expectedEffectiveDigest":"{after}","reason":"go"}},"#,
                    r#"{{"pendingActionId":"2","exclude":true,"expectedDigest":"{seen}","reason":"no"}},"#,
                    r#"{{"pendingActionId":"3","expectedDigest":"{seen}","expectedEffectiveDigest":"{seen}"}}]}}"#
                ),
                seen = seen,
                after = after
            )
            .as_str(),
            Some("key-1"),
            1
        )
    );
}

#[tokio::test]
async fn every_word_about_an_item_is_understood_and_others_are_read() {
    let gate = Backend::default();
    let ids = ["1", "2", "3", "4", "5"];
    let batch = batch(Some("b"), &ids.map(|id| (id, Decision::APPROVE)));
    gate.on("POST", "/api/pending-actions/batch/b/approve").reply(
        200,
        json!({"batchId": "b", "approved": 1, "rejected": 0, "skipped": 0, "failed": 3, "items": [
            {"pendingActionId": "1", "outcome": "changed"},
            {"pendingActionId": "2", "outcome": "invalid", "message": "n must be small"},
            {"pendingActionId": "3", "outcome": "missing"},
            {"pendingActionId": "4", "outcome": "frobnicated"}]})
        .to_string(),
    );
    gate.on("GET", "/api/pending-actions?ids=4%2C5&view=full&limit=5000").reply(
        200,
        format!(
            r#"{{"items":[{},{}]}}"#,
            fake::text("4", "{}", "executed"),
            fake::text("5", "{}", "pending")
        ),
    );

    let outcomes = gate.source(SourceKind::Gate, None).await.submit(&batch, "k").await.unwrap();

    let want = [
        failed(submit::CHANGED),
        failed("n must be small"),
        failed(submit::GONE),
        Outcome::Approved,
        failed("the source left it pending"),
    ];
    assert_eq!(outcomes, ids.map(id).into_iter().zip(want).collect::<Vec<_>>());
}

#[tokio::test]
async fn an_action_that_stands_alone_has_endpoints_of_its_own() {
    let gate = Backend::default();
    gate.on("POST", "/api/pending-actions/a%2Fb/approve").reply(200, fake::text("a/b", "{}", "approved"));
    gate.on("POST", "/api/pending-actions/2/reject")
        .reply(200, format!(r#"{{"item":{}}}"#, fake::text("2", "{}", "rejected")));
    gate.on("POST", "/api/pending-actions/3/approve").reply(202, String::new());
    let source = gate.source(SourceKind::Gate, Some("w")).await;

    let one = source.submit(&approve("a/b"), "k1").await.unwrap();
    let two = source.submit(&reject("2"), "k2").await.unwrap();
    let three = source.submit(&approve("3"), "k3").await.unwrap();

    assert_eq!(one, [(id("a/b"), Outcome::Approved)]);
    assert_eq!(two, [(id("2"), Outcome::Rejected)]);
    assert_eq!(three, [(id("3"), Outcome::Accepted)]);
    let seen = Digest::of("t", "w", r#"{"n":1.10}"#);
    let bodies: Vec<_> =
        gate.requests().into_iter().map(|request| (request.body, request.key.unwrap())).collect();
    assert_eq!(bodies[0].0, format!(r#"{{"expectedDigest":"{seen}","expectedEffectiveDigest":"{seen}"}}"#));
    assert_eq!(bodies[1], (format!(r#"{{"expectedDigest":"{seen}"}}"#), "k2".to_owned()));
}

#[tokio::test]
async fn a_refusal_of_one_action_says_what_became_of_it() {
    let invalid =
        r#"{"error":{"code":"INVALID_STATE","message":"m","status":"rejected","resolvedBy":"bob"}}"#;
    let read_later = r#"{"detail":"already resolved"}"#;
    let now = format!(r#"{{"items":[{}]}}"#, fake::text("1", "{}", "executed"));
    for (status, body, want) in [
        (409, invalid, skipped("rejected", Some("bob"))),
        (409, read_later, skipped("executed", None)),
        (412, "{}", failed(submit::CHANGED)),
        (404, "{}", failed(submit::GONE)),
    ] {
        let gate = Backend::default();
        gate.always("GET", 200, &now);
        gate.on("POST", "/api/pending-actions/1/approve").reply(status, body.to_owned());

        let outcomes = gate.source(SourceKind::Gate, None).await.submit(&approve("1"), "k").await;

        assert_eq!(outcomes, Ok(vec![(id("1"), want)]), "{status} {body}");
    }
}

#[tokio::test]
async fn a_failed_request_tells_whether_it_may_have_landed() {
    for (status, want) in [
        (401, SourceError::Unauthorized),
        (403, SourceError::Forbidden { why: "HTTP 403: m".into() }),
        (422, SourceError::Refused { why: "HTTP 422: m".into() }),
        (429, SourceError::RateLimited { retry_after: None }),
        (500, SourceError::Unreachable { why: "HTTP 500: m".into() }),
        (503, SourceError::Unreachable { why: "HTTP 503: m".into() }),
    ] {
        for batch in [approve("1"), batch(Some("b"), &[("1", Decision::APPROVE)])] {
            let gate = Backend::default();
            gate.always("POST", status, r#"{"detail":"m"}"#);

            let error = gate.source(SourceKind::Gate, None).await.submit(&batch, "k").await.unwrap_err();

            assert_eq!(error, want);
            assert_eq!((error.lost_sight(), gate.requests().len()), (status >= 500, 1));
        }
    }
}

#[tokio::test]
async fn nobody_there_means_that_nothing_was_sent() {
    let config = fake::config(SourceKind::Gate, &nobody().await, None);

    let error = crate::sources::open(&config).unwrap().submit(&approve("1"), "k").await.unwrap_err();

    assert!(matches!(error, SourceError::NotSent { .. }), "{error:?}");
}

#[tokio::test]
async fn the_gate_pushes_its_briefings() {
    use futures_util::StreamExt as _;
    let gate = Backend::default();
    gate.on("GET", "/api/pending-actions/events?workspace_id=w")
        .events("event: briefing\nid: 7\ndata: {\"pending\":3}\n\nevent: tick\ndata: 1\n\n");
    let source = gate.source(SourceKind::Gate, Some("w")).await;

    let signals = source.watch().unwrap().take(3).collect::<Vec<_>>();
    let signals = tokio::time::timeout(Duration::from_secs(5), signals).await.unwrap();

    let briefing = crate::domain::Briefing { pending: 3, ..crate::domain::Briefing::default() };
    assert_eq!(signals, [Signal::Up, Signal::Briefing(briefing), Signal::Tick]);
}

#[test]
fn praxiom_needs_a_workspace_and_every_source_a_url() {
    let config = fake::config(SourceKind::Praxiom, "http://127.0.0.1:1", None);
    let name = config.name.clone();

    assert_eq!(crate::sources::open(&config).unwrap_err(), OpenError::NoWorkspace(name));
    let config = fake::config(SourceKind::Gate, "gate", None);
    assert!(matches!(crate::sources::open(&config).unwrap_err(), OpenError::Setup(..)));
}
