//! Features that the specification leaves to the future and other systems have: expiry, reasons, deciders, single use,
//! resolving unknown outcomes, pausing.

use serde_json::json;

use crate::contract::settle::SettleAs;
use crate::contract::time;
use crate::gate::tests::support::{TestGate, plain, script, with_tool};
use crate::gate::{Scope, reconcile};

#[tokio::test]
async fn expired_action_is_never_approved_or_run() {
    let folder = tempfile::tempdir().unwrap();
    let proof = folder.path().join("proof");
    let (_folder, gate) = with_tool(script(&format!("touch {}", proof.display()))).await;
    gate.gate.inner.clock.stop();
    let until = time::write(gate.gate.inner.clock.now().plus_millis(60_000));
    let id = gate.propose_with("t", "{}", &format!(r#","expiresAt":"{until}""#)).await;

    gate.gate.inner.clock.pass(59_000);
    reconcile::sweep(&gate.gate).await.unwrap();
    let in_time = gate.status(&id).await;
    gate.gate.inner.clock.pass(1_001);
    let late = gate.approve(&id, "").await;
    reconcile::sweep(&gate.gate).await.unwrap();
    let expired = gate.action(&id).await;
    let again = gate.approve(&id, "").await;
    gate.stop().await;

    assert_eq!((in_time.as_str(), expired.at("/status").as_str()), ("pending", "expired"));
    for refused in [late, again] {
        assert_eq!(
            (refused.code().1.as_str(), refused.at("/error/status").as_str()),
            ("INVALID_STATE", "expired")
        );
    }
    assert_eq!([expired.at("/resolvedBy"), expired.at("/expiresAt")], ["null", &until], "no decider");
    assert_eq!(expired.at("/toolResult/ok"), "false");
    assert!(!proof.exists());
}

#[tokio::test]
async fn decision_keeps_reason_decider_and_time() {
    let (_folder, gate) = plain().await;

    for (verb, status) in [("approve", "approved"), ("reject", "rejected")] {
        let id = gate.propose("t", "{}").await;
        let before = gate.gate.inner.clock.now();
        let forged = r#"{"reason":"because","resolvedBy":"mallory","decidedBy":"mallory"}"#;
        let path = format!("/api/pending-actions/{id}/{verb}");
        let refused = gate.post(&path, forged).await;
        gate.post(&path, r#"{"reason":"because"}"#).await;

        let action = gate.action(&id).await;
        assert_eq!(refused.code(), (400, "BAD_REQUEST".to_owned()), "a body cannot name the decider");
        let told = ["/status", "/reason", "/resolvedBy"].map(|at| action.at(at));
        assert_eq!(told, [status, "because", "owner"], "the decider is the token's subject");
        let at = time::read(&action.at("/resolvedAt")).unwrap();
        assert!(before <= at && at <= gate.gate.inner.clock.now());
        let timeline = gate.get(&format!("/api/pending-actions/{id}/events")).await;
        let told = ["/items/1/event", "/items/1/by", "/items/1/details/reason"].map(|at| timeline.at(at));
        assert_eq!(told, [status, "owner", "because"]);
    }
}

#[tokio::test]
async fn denied_call_has_a_tool_result() {
    let (_folder, gate) = plain().await;
    let call = r#","toolCallId":"call-1""#;
    let (withdrawn, superseded) =
        (gate.propose_with("t", "{}", call).await, gate.propose_with("t", "{}", call).await);

    gate.post_as(&gate.agent, &format!("/api/pending-actions/{withdrawn}/withdraw"), "").await;
    gate.propose_with("t", "{}", &format!(r#","supersedes":"{superseded}""#)).await;

    for (id, word) in [(withdrawn, "withdrawn"), (superseded, "Another proposal")] {
        let told = gate.action(&id).await;
        assert_eq!(["/toolResult/toolCallId", "/toolResult/ok"].map(|at| told.at(at)), ["call-1", "false"]);
        assert!(told.at("/toolResult/content").contains(word), "{}", told.text);
    }
    let pending = gate.action(&gate.propose("t", "{}").await).await;
    assert!(pending.json().get("toolResult").is_none(), "a pending action has no result");
}

async fn lost(gate: &TestGate) -> String {
    let id = gate.propose("t", r#"{"n":1.10}"#).await;
    gate.approve(&id, "").await;
    let claim = format!("/api/pending-actions/{id}/claim");
    assert_eq!(gate.post_as(&gate.agent, &claim, r#"{"leaseSeconds":1}"#).await.status, 200);
    gate.gate.inner.clock.pass(1_001);
    reconcile::sweep(&gate.gate).await.unwrap();
    assert_eq!(gate.status(&id).await, "unknown");
    id
}

#[tokio::test]
async fn unknown_run_is_resolved_by_a_human() {
    let (_folder, gate) = plain().await;

    for (how, status) in [("executed", "executed"), ("failed", "failed"), ("retry", "approved")] {
        let id = lost(&gate).await;
        let body = format!(r#"{{"as":"{how}","reason":"I looked"}}"#);
        let settled = gate.post(&format!("/api/pending-actions/{id}/settle"), &body).await;
        let again = gate.post(&format!("/api/pending-actions/{id}/settle"), &body).await;

        assert_eq!((settled.status, settled.at("/status").as_str()), (200, status));
        assert_eq!(again.code(), (409, "INVALID_STATE".to_owned()));
        let timeline = gate.get(&format!("/api/pending-actions/{id}/events")).await.json();
        let last = timeline["items"].as_array().unwrap().last().unwrap().clone();
        assert_eq!(
            [&last["event"], &last["by"], &last["details"]["reason"]],
            ["settled", "owner", "I looked"]
        );
        assert_eq!(gate.action(&id).await.at("/reason"), "null", "the approval has no reason");
    }
}

#[tokio::test]
async fn retried_run_has_a_new_fence_and_the_same_key() {
    let (_folder, gate) = plain().await;
    let id = lost(&gate).await;
    let claim = format!("/api/pending-actions/{id}/claim");
    gate.gate.settle(&id, SettleAs::Retry, None, "owner").await.unwrap();

    let again = gate.post_as(&gate.agent, &claim, "").await;

    assert_eq!(again.at("/fence"), "2");
    let revision = gate.gate.store().get(&id).await.unwrap().unwrap().decision_revision.unwrap();
    assert_eq!(again.at("/idempotencyKey"), format!("{id}:{revision}"));
    assert!(again.text.contains(r#""toolInput":{"n":1.10}"#));
}

#[tokio::test]
async fn only_unknown_actions_of_others_can_be_settled() {
    let (_folder, gate) = plain().await;
    let pending = gate.propose("t", "{}").await;
    let both = [Scope::Propose, Scope::Read, Scope::Decide];
    let own = gate.gate.create_token("agent", "w", &both, None).await.unwrap();
    let id = lost(&gate).await;
    let settle = |id: &str| format!("/api/pending-actions/{id}/settle");

    let early = gate.post(&settle(&pending), r#"{"as":"executed"}"#).await;
    let mine = gate.post_as(&own, &settle(&id), r#"{"as":"executed"}"#).await;
    let scopeless = gate.post_as(&gate.agent, &settle(&id), r#"{"as":"executed"}"#).await;
    let vague = gate.post(&settle(&id), r#"{"as":"perhaps"}"#).await;
    let by_hand = gate.gate.settle(&id, SettleAs::Executed, None, "agent").await;

    assert_eq!(early.code(), (409, "INVALID_STATE".to_owned()));
    assert_eq!((mine.status, scopeless.status, vague.status), (403, 403, 400));
    assert!(by_hand.unwrap_err().to_string().contains("own proposal"));
    assert_eq!([gate.status(&pending).await, gate.status(&id).await], ["pending", "unknown"]);
}

#[tokio::test]
async fn paused_gate_runs_no_action() {
    let (_folder, gate) = with_tool(script("cat")).await;
    let other = gate.propose("pulled", "{}").await;

    let paused = gate.post("/api/gate/pause", "").await;
    let twice = gate.post("/api/gate/pause", "").await;
    let id = gate.propose("t", r#"{"n":1.10}"#).await;
    let approved = gate.approve(&id, "").await;
    gate.approve(&other, "").await;
    reconcile::sweep(&gate.gate).await.unwrap();
    let claim = gate.post_as(&gate.agent, &format!("/api/pending-actions/{other}/claim"), "").await;
    let meanwhile = gate.status(&id).await;
    let resumed = gate.post("/api/gate/resume", "").await;
    let done = gate.until_final(&id).await;

    assert_eq!(paused.json(), json!({"paused": true, "changed": true}));
    assert_eq!(twice.json(), json!({"paused": true, "changed": false}));
    assert_eq!(
        (approved.status, meanwhile.as_str()),
        (200, "approved"),
        "decisions are possible during a pause"
    );
    assert_eq!(claim.code(), (409, "PAUSED".to_owned()), "agents cannot claim during a pause");
    assert_eq!(resumed.json(), json!({"paused": false, "changed": true}));
    assert_eq!(done.at("/status"), "executed");
    assert_eq!(gate.post_as(&gate.agent, "/api/gate/pause", "").await.status, 403);
}

#[tokio::test]
async fn local_pause_covers_one_or_all_workspaces() {
    for workspace in [Some("w"), None] {
        let (_folder, gate) = with_tool(script("cat")).await;

        assert!(
            gate.gate.pause(Some("another"), Some("me")).await.is_err(),
            "the workspace does not exist yet"
        );
        gate.gate.create_token("kim", "another", &[Scope::Read], None).await.unwrap();
        assert!(gate.gate.pause(Some("another"), Some("me")).await.unwrap());
        let free = gate.propose("t", "{}").await;
        gate.approve(&free, "").await;
        assert_eq!(
            gate.until_final(&free).await.at("/status"),
            "executed",
            "only the other workspace is paused"
        );

        assert!(gate.gate.pause(workspace, Some("me")).await.unwrap());
        assert!(!gate.gate.pause(workspace, Some("me")).await.unwrap());
        let held = gate.propose("t", "{}").await;
        gate.approve(&held, "").await;
        reconcile::sweep(&gate.gate).await.unwrap();
        assert_eq!(gate.status(&held).await, "approved");

        assert!(gate.gate.resume(workspace, None).await.unwrap());
        assert_eq!(gate.until_final(&held).await.at("/status"), "executed");
    }
}
