//! Proposing and deciding, as the seed says it.

use super::support::{Answer, ids, plain, script, with_tool};

/// Numbers and keys that a JSON library would change.
const EXACT: &str = r#"{"amount": 1.10,"big":18446744073709551616,"a":1,"a":2,"t\u006f":"x"}"#;

#[tokio::test]
async fn a_proposal_is_queued_listed_approved_and_run() {
    let (_folder, gate) = with_tool(script("cat")).await;

    let id = gate.propose("t", EXACT).await;
    let listed = ids(&gate.list("&status=pending").await);
    let approved = gate.approve(&id, "").await;
    let done = gate.until_final(&id).await;

    assert_eq!(listed, [id.as_str()]);
    assert_eq!((approved.status, approved.at("/status").as_str()), (200, "approved"));
    assert_eq!(done.at("/status"), "executed");
    assert!(done.text.contains(&format!(r#""result":{EXACT}"#)), "{}", done.text);
    gate.stop().await;
}

#[tokio::test]
async fn the_agent_gets_the_queued_signal_and_nothing_runs() {
    let (folder, gate) = with_tool(script("touch \"$PROOF\"")).await;
    let body = r#"{"tool_name":"t","tool_input":{"workspace_id":"w","mission_id":"m","session_id":"s"}}"#;

    let queued = gate.post_as(&gate.agent, "/api/pending-actions", body).await;

    let id = queued.at("/pending_action_id");
    assert_eq!(queued.status, 202);
    assert_eq!((queued.at("/status").as_str(), queued.at("/tool_name").as_str()), ("queued", "t"));
    assert!(queued.at("/message").contains("did not run"));
    let action = gate.action(&id).await;
    let identity =
        ["/workspaceId", "/missionId", "/sessionId", "/batchId", "/status"].map(|at| action.at(at));
    assert_eq!(identity, ["w", "m", "s", "m:t", "pending"]);
    drop(folder);
}

#[tokio::test]
async fn what_is_settled_cannot_be_decided_again() {
    let (_folder, gate) = plain().await;
    let (kept, refused) = (gate.propose("t", "{}").await, gate.propose("t", "{}").await);

    assert_eq!(gate.approve(&kept, "{}").await.status, 200);
    assert_eq!(gate.reject(&refused, r#"{"reason":"no"}"#).await.status, 200);

    for answer in [gate.approve(&kept, "").await, gate.reject(&kept, "").await] {
        assert_conflict(&answer, "approved");
    }
    for answer in [gate.approve(&refused, "").await, gate.reject(&refused, "").await] {
        assert_conflict(&answer, "rejected");
    }
    assert_eq!(gate.action(&refused).await.at("/reason"), "no");
}

fn assert_conflict(answer: &Answer, status: &str) {
    assert_eq!(answer.code(), (409, "INVALID_STATE".to_owned()));
    assert_eq!(answer.at("/error/status"), status);
    assert_eq!(answer.at("/error/resolvedBy"), "owner");
    assert!(answer.at("/error/resolvedAt").ends_with('Z'));
}
