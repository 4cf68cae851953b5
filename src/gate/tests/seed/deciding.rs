//! "Lets the user decide whether it lands": statuses, approving and rejecting one action.

use serde_json::json;

use crate::gate::tests::support::{Answer, TestGate, plain, script, with_tool};
use crate::gate::{Scope, reconcile};

/// A tool that fails if its input contains `raise`.
async fn touchy() -> (tempfile::TempDir, TestGate) {
    with_tool(script("if grep -q raise; then echo 'no such repository' >&2; exit 1; fi; echo '{\"url\":1}'"))
        .await
}

async fn run(gate: &TestGate, input: &str) -> Answer {
    let id = gate.propose("t", input).await;
    assert_eq!(gate.approve(&id, "").await.status, 200);
    gate.until_final(&id).await
}

#[tokio::test]
async fn action_passes_through_the_five_statuses() {
    let (_folder, gate) = touchy().await;

    let pending = gate.action(&gate.propose("t", "{}").await).await;
    let rejected = gate.reject(&gate.propose("t", "{}").await, "").await;
    let approved = gate.approve(&gate.propose("t", "{}").await, "").await;
    let executed = run(&gate, "{}").await;
    let failed = run(&gate, r#"{"raise":true}"#).await;

    let all = [&pending, &rejected, &approved, &executed, &failed];
    assert_eq!(all.map(|it| it.at("/status")), ["pending", "rejected", "approved", "executed", "failed"]);
    assert_eq!(all.map(|it| it.at("/resolvedAt") == "null"), [true, false, false, false, false]);
    assert_eq!(all.map(|it| it.at("/executedAt") == "null"), [true, true, true, false, false]);
    assert_eq!(executed.json()["result"], json!({"url": 1}), "result is populated");
    assert_eq!(executed.at("/error"), "null");
    assert!(failed.at("/error").contains("no such repository"), "error is populated");
    assert_eq!(failed.at("/result"), "null");
}

#[tokio::test]
async fn only_pending_actions_can_be_decided() {
    let (_folder, gate) = touchy().await;

    for (input, status) in [("{}", "executed"), (r#"{"raise":true}"#, "failed")] {
        let done = run(&gate, input).await;
        for answer in [gate.approve(&done.at("/id"), "").await, gate.reject(&done.at("/id"), "").await] {
            assert_eq!(answer.code(), (409, "INVALID_STATE".to_owned()));
            assert_eq!(answer.at("/error/status"), status);
        }
        assert_eq!(gate.action(&done.at("/id")).await.text, done.text, "the action is unchanged");
    }
}

#[tokio::test]
async fn user_edits_are_shallow_merged() {
    let (_folder, gate) = with_tool(script("cat")).await;
    let input = r#"{"recommendations":[{"title":"a","impact_score":0.82},{"title":"b"}],"kept":1.0}"#;
    let id = gate.propose("t", input).await;
    // The specification's example: a nested list is replaced, other keys stay.
    let edits = r#"{"recommendations":[{"title":"Streamline onboarding","effort_weeks":2}]}"#;

    let approved = gate.approve(&id, &format!(r#"{{"user_edits":{edits}}}"#)).await;
    let done = gate.until_final(&id).await;

    let merged = r#"{"recommendations":[{"title":"Streamline onboarding","effort_weeks":2}],"kept":1.0}"#;
    assert!(approved.text.contains(&format!(r#""userEdits":{edits}"#)), "{}", approved.text);
    assert!(approved.text.contains(&format!(r#""toolInput":{input}"#)), "the proposed input is kept");
    assert!(done.text.contains(&format!(r#""result":{merged}"#)), "{}", done.text);
}

#[tokio::test]
async fn raising_handler_fails_its_action_only() {
    let (_folder, gate) = touchy().await;

    let mut raised = Vec::new();
    for _ in 0..20 {
        let id = gate.propose("t", r#"{"raise":true}"#).await;
        gate.approve(&id, "").await;
        raised.push(id);
    }
    for id in raised {
        let failed = gate.until_final(&id).await;
        assert_eq!(failed.at("/status"), "failed");
        assert!(failed.at("/error").contains("no such repository"));
    }

    assert_eq!(run(&gate, "{}").await.at("/status"), "executed", "the next action runs");
    assert_eq!(gate.get("/readyz").await.status, 200);
}

#[tokio::test]
async fn rejection_is_final() {
    let folder = tempfile::tempdir().unwrap();
    let proof = folder.path().join("proof");
    let (_folder, gate) = with_tool(script(&format!("touch {}", proof.display()))).await;
    let id = gate.propose("t", "{}").await;
    let path = |verb: &str| format!("/api/pending-actions/{id}/{verb}");
    let rejected = gate.reject(&id, "").await;

    let undone = [
        gate.approve(&id, "").await,
        gate.reject(&id, "").await,
        gate.post_as(&gate.agent, &path("withdraw"), "").await,
        gate.post(&path("settle"), r#"{"as":"retry"}"#).await,
        gate.post_as(&gate.agent, &path("result"), r#"{"fence":0,"result":1}"#).await,
    ];
    reconcile::sweep(&gate.gate).await.unwrap();
    // An action approved later has run, so the dispatcher has passed the rejected one.
    let later = run(&gate, "{}").await;
    std::fs::remove_file(&proof).unwrap();
    reconcile::sweep(&gate.gate).await.unwrap();
    let as_it_was = gate.action(&id).await.text;
    gate.stop().await;

    for answer in undone {
        assert_eq!(answer.code(), (409, "INVALID_STATE".to_owned()), "{}", answer.text);
    }
    assert_eq!(later.at("/status"), "executed");
    assert_eq!(as_it_was, rejected.text);
    assert!(!proof.exists(), "the handler of a rejected action ran");
}

#[tokio::test]
async fn rejected_actions_stay_listed() {
    let (_folder, gate) = plain().await;
    let input = r#"{"title":"Exactly this","n":1.10}"#;
    let id = gate.propose_with("t", input, r#","missionId":"m""#).await;
    gate.reject(&id, r#"{"reason":"not now"}"#).await;
    // Sweeping does not remove it.
    gate.gate.inner.clock.pass(400 * 24 * 60 * 60 * 1_000);
    reconcile::sweep(&gate.gate).await.unwrap();

    let listed = gate.list("&status=rejected&mission_id=m").await;
    let timeline = gate.get(&format!("/api/pending-actions/{id}/events")).await;

    // The agent's proposal and the user's refusal.
    assert_eq!(listed.at("/items/0/id"), id);
    assert!(listed.text.contains(&format!(r#""toolInput":{input}"#)));
    let refused = ["/items/0/status", "/items/0/resolvedBy", "/items/0/reason"].map(|at| listed.at(at));
    assert_eq!(refused, ["rejected", "owner", "not now"]);
    assert!(listed.at("/items/0/resolvedAt").ends_with('Z'), "reject sets resolved_at");
    let told = ["/items/0/event", "/items/0/by", "/items/1/event", "/items/1/by"].map(|at| timeline.at(at));
    assert_eq!(told, ["created", "agent", "rejected", "owner"]);
}

#[tokio::test]
async fn any_member_of_the_workspace_may_decide() {
    let (_folder, gate) = plain().await;

    for member in ["ann", "bob"] {
        let token = gate.gate.create_token(member, "w", &[Scope::Read, Scope::Decide], None).await.unwrap();
        for (verb, status) in [("approve", "approved"), ("reject", "rejected")] {
            let id = gate.propose("t", "{}").await;
            let answer = gate.post_as(&token, &format!("/api/pending-actions/{id}/{verb}"), "").await;
            assert_eq!(
                (answer.status, answer.at("/status"), answer.at("/resolvedBy")),
                (200, status.into(), member.into())
            );
        }
    }
}

#[tokio::test]
async fn pending_actions_do_not_expire_unless_asked() {
    let (_folder, gate) = plain().await;
    let patient = gate.propose("t", "{}").await;
    let asked = gate.propose_with("t", "{}", r#","ttlSeconds":60"#).await;

    gate.gate.inner.clock.pass(10 * 365 * 24 * 60 * 60 * 1_000);
    reconcile::sweep(&gate.gate).await.unwrap();

    assert_eq!([gate.status(&patient).await, gate.status(&asked).await], ["pending", "expired"]);
    assert_eq!(gate.approve(&patient, "").await.status, 200);
}
