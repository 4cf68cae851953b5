//! "A single batch endpoint resolves them together", and one decision for all batches of a subtask.

use serde_json::{Value, json};

use crate::domain::Digest;
use crate::gate::Scope;
use crate::gate::tests::support::{TestGate, plain};

const BATCH: &str = "/api/pending-actions/batch/mission-uuid:save_recommendations/approve";

async fn batch_of(gate: &TestGate, count: usize) -> Vec<String> {
    let mut ids = Vec::new();
    for n in 0..count {
        let input = format!(r#"{{"n":{n}}}"#);
        ids.push(gate.propose_with("save_recommendations", &input, r#","missionId":"mission-uuid""#).await);
    }
    ids
}

async fn statuses(gate: &TestGate, ids: &[String]) -> Vec<String> {
    let mut statuses = Vec::new();
    for id in ids {
        statuses.push(gate.status(id).await);
    }
    statuses
}

#[tokio::test]
async fn batch_reply_has_the_specified_counts() {
    let (_folder, gate) = plain().await;
    let ids = batch_of(&gate, 3).await;
    let body = json!({"items": [
        {"pendingActionId": ids[0], "userEdits": {"priority": 2}},
        {"pendingActionId": ids[1]},
        {"pendingActionId": ids[2], "exclude": true},
    ]});

    let reply = gate.post(BATCH, &body.to_string()).await;

    // The specification's reply, to which the gate adds fields.
    let want =
        json!({"batchId": "mission-uuid:save_recommendations", "approved": 2, "rejected": 1, "skipped": 0});
    let said = reply.json();
    for (name, value) in want.as_object().unwrap() {
        assert_eq!(&said[name], value, "{name}");
    }
    assert_eq!(statuses(&gate, &ids).await, ["approved", "approved", "rejected"]);
}

#[tokio::test]
async fn unlisted_action_is_left_pending() {
    let (_folder, gate) = plain().await;
    let ids = batch_of(&gate, 4).await;
    let before = [gate.action(&ids[2]).await.text, gate.action(&ids[3]).await.text];

    let nothing = gate.post(BATCH, r#"{"items":[]}"#).await;
    let some = json!({"items": [{"pendingActionId": ids[0]}, {"pendingActionId": ids[1], "exclude": true}]});
    gate.post(BATCH, &some.to_string()).await;

    assert_eq!((nothing.at("/approved"), nothing.at("/skipped")), ("0".to_owned(), "0".to_owned()));
    assert_eq!(statuses(&gate, &ids).await, ["approved", "rejected", "pending", "pending"]);
    let after = [gate.action(&ids[2]).await.text, gate.action(&ids[3]).await.text];
    assert_eq!(after, before, "not even the revision changes");
}

#[tokio::test]
async fn skipped_counts_actions_decided_by_others() {
    let (_folder, gate) = plain().await;
    let ids = batch_of(&gate, 4).await;
    let other = gate.gate.create_token("ann", "w", &[Scope::Decide], None).await.unwrap();
    for (id, verb) in [(&ids[0], "approve"), (&ids[1], "reject")] {
        gate.post_as(&other, &format!("/api/pending-actions/{id}/{verb}"), "").await;
    }

    let items: Vec<Value> =
        ids.iter().enumerate().map(|(n, id)| json!({"pendingActionId": id, "exclude": n == 0})).collect();
    let reply = gate.post(BATCH, &json!({"items": items}).to_string()).await;

    let counts = ["/approved", "/rejected", "/skipped", "/failed"].map(|at| reply.at(at));
    assert_eq!((reply.status, counts), (200, ["2", "0", "2", "0"].map(str::to_owned)));
    let named = ["/items/0/status", "/items/0/resolvedBy", "/items/1/status"].map(|at| reply.at(at));
    assert_eq!(named, ["approved", "ann", "rejected"]);
    assert_eq!(statuses(&gate, &ids).await, ["approved", "rejected", "approved", "approved"]);
}

#[tokio::test]
async fn cross_workspace_batch_is_refused() {
    let (_folder, gate) = plain().await;
    let ours = batch_of(&gate, 1).await;
    let proposer = gate.gate.create_token("agent", "x", &[Scope::Propose], None).await.unwrap();
    let decider = gate.gate.create_token("owner", "x", &[Scope::Read, Scope::Decide], None).await.unwrap();
    let body =
        r#"{"toolName":"save_recommendations","workspaceId":"x","missionId":"mission-uuid","toolInput":{}}"#;
    let theirs = gate.post_as(&proposer, "/api/pending-actions", body).await.at("/pending_action_id");

    // Both workspaces have this batch id. A request for both is refused, and each workspace decides its own part.
    let both = json!({"items": [{"pendingActionId": ours[0]}, {"pendingActionId": theirs}]}).to_string();
    let crossing = gate.post_as(&decider, BATCH, &both).await;
    let half = json!({"items": [{"pendingActionId": theirs}]}).to_string();
    // A batch cannot hold an action of another workspace.
    let smuggled = r#"{"toolName":"t","workspaceId":"w","batchId":"b","toolInput":{}}"#;
    let refused = gate.post_as(&proposer, "/api/pending-actions", smuggled).await;

    assert_eq!(crossing.code(), (409, "INVALID_BATCH".to_owned()));
    assert_eq!(gate.post_as(&decider, BATCH, &half).await.at("/approved"), "1");
    assert_eq!(refused.code(), (403, "FORBIDDEN".to_owned()));
    assert_eq!(gate.status(&ours[0]).await, "pending");
}

async fn subtask(gate: &TestGate) -> Vec<String> {
    let mut ids = Vec::new();
    for tool in ["save_insights", "save_insights", "send_email"] {
        let more = r#","missionId":"m","checkpointId":"subtask-1""#;
        ids.push(gate.propose_with(tool, r#"{"n":1}"#, more).await);
    }
    ids
}

#[tokio::test]
async fn checkpoint_approval_decides_all_its_batches() {
    let (_folder, gate) = plain().await;
    let ids = subtask(&gate).await;
    let shown = gate.get("/api/checkpoints?mission_id=m").await;
    let late = subtask(&gate).await;

    let digest = |tool| Digest::of(tool, "w", r#"{"n":1}"#).to_string();
    let body = json!({"items": [
        {"pendingActionId": ids[0], "expectedDigest": digest("save_insights")},
        {"pendingActionId": ids[1], "exclude": true},
        {"pendingActionId": ids[2], "expectedDigest": digest("send_email")},
    ]});
    let reply = gate.post("/api/checkpoints/subtask-1/approve", &body.to_string()).await;

    let batches = [
        "/items/0/checkpointId",
        "/items/0/pending",
        "/items/0/batches/0/batchId",
        "/items/0/batches/1/batchId",
    ];
    assert_eq!(batches.map(|at| shown.at(at)), ["subtask-1", "3", "m:save_insights", "m:send_email"]);
    assert_eq!(
        ["/approved", "/rejected", "/skipped", "/failed"].map(|at| reply.at(at)),
        ["2", "1", "0", "0"]
    );
    let per_batch = json!([
        {"batchId": "m:save_insights", "approved": 1, "rejected": 1, "skipped": 0, "failed": 0},
        {"batchId": "m:send_email", "approved": 1, "rejected": 0, "skipped": 0, "failed": 0},
    ]);
    assert_eq!(reply.json()["batches"], per_batch);
    assert_eq!(statuses(&gate, &ids).await, ["approved", "rejected", "approved"]);
    assert_eq!(statuses(&gate, &late).await, ["pending"; 3], "actions that arrived later stay pending");
}

#[tokio::test]
async fn checkpoint_rejection_decides_all_its_batches() {
    let (_folder, gate) = plain().await;
    let ids = subtask(&gate).await;
    let elsewhere = gate.propose_with("t", "{}", r#","missionId":"m","checkpointId":"subtask-2""#).await;
    let listed = [&ids[0], &ids[2], &elsewhere];
    let items: Vec<Value> = listed.iter().map(|id| json!({"pendingActionId": id, "reason": "no"})).collect();

    let reply = gate.post("/api/checkpoints/subtask-1/reject", &json!({"items": items}).to_string()).await;
    let left = gate.get("/api/checkpoints").await;
    let unknown = gate.post("/api/checkpoints/subtask-3/reject", r#"{"items":[]}"#).await;

    assert_eq!(["/rejected", "/failed"].map(|at| reply.at(at)), ["2", "1"]);
    assert_eq!(reply.at("/items/2/outcome"), "missing");
    assert_eq!(statuses(&gate, &ids).await, ["rejected", "pending", "rejected"]);
    assert_eq!(gate.action(&ids[2]).await.at("/reason"), "no");
    assert_eq!(["/items/0/pending", "/items/1/pending"].map(|at| left.at(at)), ["1", "1"]);
    assert_eq!(unknown.code(), (404, "NOT_FOUND".to_owned()));
}
