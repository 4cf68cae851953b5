use serde_json::json;
use sqlx::Connection as _;

use super::support::{Answer, TestGate, plain, script, with_tool};
use crate::domain::Digest;
use crate::gate::Scope;
use crate::gate::tests::postgres;

async fn batch_of(gate: &TestGate, count: usize) -> Vec<String> {
    let mut ids = Vec::new();
    for n in 0..count {
        ids.push(gate.propose_with("t", &format!(r#"{{"n":{n}}}"#), r#","missionId":"m""#).await);
    }
    ids
}

async fn decide(gate: &TestGate, items: &serde_json::Value) -> Answer {
    gate.post("/api/pending-actions/batch/m:t/approve", &json!({ "items": items }).to_string()).await
}

/// Approved, rejected, skipped and failed.
fn counts(answer: &Answer) -> [String; 4] {
    assert_eq!(answer.status, 200, "{}", answer.text);
    ["/approved", "/rejected", "/skipped", "/failed"].map(|at| answer.at(at))
}

#[tokio::test]
async fn unlisted_item_stays_pending() {
    let (_folder, gate) = plain().await;
    let ids = batch_of(&gate, 4).await;

    let reply = decide(
        &gate,
        &json!([
            {"pendingActionId": ids[0], "userEdits": {"priority": 2}},
            {"pendingActionId": ids[1]},
            {"pendingActionId": ids[2], "exclude": true, "reason": "no"},
        ]),
    )
    .await;

    assert_eq!(counts(&reply), ["2", "1", "0", "0"]);
    assert_eq!(reply.at("/batchId"), "m:t");
    let mut statuses = Vec::new();
    for id in &ids {
        statuses.push(gate.status(id).await);
    }
    assert_eq!(statuses, ["approved", "approved", "rejected", "pending"]);
    assert!(gate.action(&ids[0]).await.text.contains(r#""effectiveInput":{"n":0,"priority":2}"#));
}

#[tokio::test]
async fn long_batch_runs_entirely() {
    let (_folder, gate) = with_tool(script("cat")).await;
    let ids = batch_of(&gate, 40).await;

    let items = ids.iter().map(|id| json!({"pendingActionId": id})).collect::<Vec<_>>();
    let reply = decide(&gate, &json!(items)).await;

    assert_eq!(counts(&reply), ["40", "0", "0", "0"]);
    for (n, id) in ids.iter().enumerate() {
        let done = gate.until_final(id).await;
        assert_eq!(done.at("/status"), "executed");
        assert!(done.text.contains(&format!(r#""result":{{"n":{n}}}"#)));
    }
}

#[tokio::test]
async fn action_decided_before_is_skipped_and_counted() {
    let (_folder, gate) = plain().await;
    let ids = batch_of(&gate, 3).await;
    gate.reject(&ids[0], "").await;

    let reply =
        decide(&gate, &json!(ids.iter().map(|id| json!({"pendingActionId": id})).collect::<Vec<_>>())).await;

    assert_eq!(counts(&reply), ["2", "0", "1", "0"]);
    let first = ["/items/0/outcome", "/items/0/status", "/items/0/resolvedBy"].map(|at| reply.at(at));
    assert_eq!(first, ["skipped", "rejected", "owner"]);
}

#[tokio::test]
async fn failed_item_does_not_affect_others() {
    let (_folder, gate) = plain().await;
    let ids = batch_of(&gate, 3).await;
    let elsewhere = gate.propose_with("t", "{}", r#","missionId":"another""#).await;
    let other = Digest::of("t", "w", "{}").to_string();

    let reply = decide(
        &gate,
        &json!([
            {"pendingActionId": ids[0], "expectedDigest": other},
            {"pendingActionId": ids[1], "userEdits": {"missionId": "x"}},
            {"pendingActionId": "no-such-id"},
            {"pendingActionId": elsewhere},
            {"pendingActionId": ids[2]},
        ]),
    )
    .await;

    assert_eq!(counts(&reply), ["1", "0", "0", "4"]);
    let outcomes = [0, 1, 2, 3, 4].map(|n| reply.at(&format!("/items/{n}/outcome")));
    assert_eq!(outcomes, ["changed", "invalid", "missing", "missing", "approved"]);
    assert_eq!(gate.status(&elsewhere).await, "pending");
}

#[tokio::test]
async fn duplicate_id_refuses_the_whole_request() {
    let (_folder, gate) = plain().await;
    let ids = batch_of(&gate, 1).await;

    let reply =
        decide(&gate, &json!([{"pendingActionId": ids[0]}, {"pendingActionId": ids[0], "exclude": true}]))
            .await;

    assert_eq!(reply.code(), (422, "INVALID".to_owned()));
    assert_eq!(gate.status(&ids[0]).await, "pending");
}

#[tokio::test]
async fn batch_belongs_to_one_workspace() {
    let (_folder, gate) = plain().await;
    batch_of(&gate, 1).await;
    let stranger = gate.gate.create_token("stranger", "elsewhere", &[Scope::Decide], None).await.unwrap();
    let body = r#"{"items":[]}"#;

    let foreign = gate.post_as(&stranger, "/api/pending-actions/batch/m:t/approve", body).await;
    let unknown = gate.post_as(&stranger, "/api/pending-actions/batch/m:none/approve", body).await;
    let encoded = gate.post("/api/pending-actions/batch/m%3At/approve", body).await;

    assert_eq!(foreign.code(), (403, "FORBIDDEN".to_owned()));
    assert_eq!(unknown.code(), (404, "NOT_FOUND".to_owned()));
    assert_eq!(counts(&encoded), ["0", "0", "0", "0"]);
}

#[tokio::test]
async fn batch_that_crosses_workspaces_decides_nothing() {
    let (_folder, gate) = plain().await;
    let id = gate.propose_with("t", "{}", r#","missionId":"m","checkpointId":"c""#).await;
    let stranger =
        gate.gate.create_token("stranger", "elsewhere", &[Scope::Propose, Scope::Read], None).await.unwrap();
    let body = r#"{"toolName":"t","workspaceId":"elsewhere","missionId":"m","toolInput":{}}"#;
    let foreign = gate.post_as(&stranger, "/api/pending-actions", body).await.at("/pending_action_id");
    let before = gate.list("").await.at("/revision");

    let items = json!({"items": [{"pendingActionId": id}, {"pendingActionId": foreign}]}).to_string();
    for path in ["pending-actions/batch/m:t/approve", "checkpoints/c/approve", "checkpoints/c/reject"] {
        let answer = gate.post(&format!("/api/{path}"), &items).await;

        assert_eq!(answer.code(), (409, "INVALID_BATCH".to_owned()), "{path}");
        assert!(answer.at("/error/message").contains("nothing was decided"), "{}", answer.text);
    }

    assert_eq!((gate.status(&id).await.as_str(), gate.list("").await.at("/revision")), ("pending", before));
}

#[tokio::test]
async fn batch_reply_begins_with_the_contracts_keys() {
    let (_folder, gate) = plain().await;
    let ids = batch_of(&gate, 1).await;

    let reply = decide(&gate, &json!([{"pendingActionId": ids[0]}])).await;

    let first = r#"{"batchId":"m:t","approved":1,"rejected":0,"skipped":0,"failed":0,"items":["#;
    assert!(reply.text.starts_with(first), "{}", reply.text);
}

#[tokio::test]
async fn repeated_batch_gets_the_first_answer() {
    let (_folder, gate) = plain().await;
    let ids = batch_of(&gate, 2).await;
    let send = async |key: &str, id: &str| {
        let body = json!({"items": [{"pendingActionId": id}]}).to_string();
        let request = gate
            .request(reqwest::Method::POST, "/api/pending-actions/batch/m:t/approve", &gate.owner)
            .header("content-type", "application/json")
            .header("idempotency-key", key);
        super::support::answer(request.body(body)).await
    };

    let first = send("k", &ids[0]).await;
    let again = send("k", &ids[0]).await;
    let reused = send("k", &ids[1]).await;
    let without = send("another", &ids[0]).await;

    assert_eq!(counts(&first), ["1", "0", "0", "0"]);
    assert_eq!(again.text, first.text);
    assert_eq!(again.headers.get("idempotency-replayed").unwrap(), "true");
    assert_eq!(reused.code(), (422, "IDEMPOTENCY_KEY_REUSED".to_owned()));
    assert_eq!(counts(&without), ["0", "0", "1", "0"]);
}

#[tokio::test]
async fn damaged_item_does_not_hide_others() {
    if postgres::is_used() {
        // Opens SQLite's file.
        return;
    }
    let (folder, gate) = plain().await;
    let ids = batch_of(&gate, 3).await;
    let url = format!("sqlite:{}", folder.path().join("gate.db").display());
    let mut behind = sqlx::SqliteConnection::connect(&url).await.unwrap();
    let damage = sqlx::query("UPDATE actions SET effective_digest = 'none' WHERE id = ?1").bind(&ids[1]);
    assert_eq!(damage.execute(&mut behind).await.unwrap().rows_affected(), 1);

    let items = ids.iter().map(|id| json!({"pendingActionId": id})).collect::<Vec<_>>();
    let reply = decide(&gate, &json!(items)).await;

    assert_eq!(counts(&reply), ["2", "0", "0", "1"]);
    assert_eq!(reply.at("/items/1/outcome"), "invalid");
    assert!(reply.at("/items/1/message").contains("audit verify"), "{}", reply.text);
}
