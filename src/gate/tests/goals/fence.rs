//! G19: an executor whose lease ended does not overwrite the outcome of another.

use secrecy::SecretString;

use crate::config::{GateConfig, Retry, ToolConfig};
use crate::gate::tests::rounds::rounds;
use crate::gate::tests::support::{Answer, TestGate, config, start};
use crate::gate::{Scope, reconcile};

async fn claim(gate: &TestGate, token: &SecretString, id: &str, seconds: u32) -> Answer {
    let body = format!(r#"{{"leaseSeconds":{seconds}}}"#);
    gate.post_as(token, &format!("/api/pending-actions/{id}/claim"), &body).await
}

async fn report(gate: &TestGate, token: &SecretString, id: &str, fence: &str, result: &str) -> Answer {
    let body = format!(r#"{{"fence":{fence},"result":"{result}"}}"#);
    gate.post_as(token, &format!("/api/pending-actions/{id}/result"), &body).await
}

/// The first executor's lease ends and the second takes over. The first reports before and after the second.
async fn sleeper(gate: &TestGate, first: &SecretString, second: &SecretString, tool: &str) {
    let id = gate.propose(tool, "{}").await;
    gate.approve(&id, "").await;
    let stale = claim(gate, first, &id, 1).await.at("/fence");
    gate.gate.inner.clock.pass(1_001);
    reconcile::sweep(&gate.gate).await.unwrap();
    if tool == "manual" {
        assert_eq!(gate.status(&id).await, "unknown");
        gate.post(&format!("/api/pending-actions/{id}/settle"), r#"{"as":"retry"}"#).await;
    }
    // The action has no holder now, and the old fence is refused, too.
    let waking = report(gate, first, &id, &stale, "stale").await;

    let fresh = claim(gate, second, &id, 60).await.at("/fence");
    let late = report(gate, first, &id, &stale, "stale").await;
    let done = report(gate, second, &id, &fresh, "fresh").await;
    let later = report(gate, first, &id, &stale, "stale").await;

    assert_eq!((stale.as_str(), fresh.as_str()), ("1", "2"));
    assert_eq!(waking.status, 409, "{}", waking.text);
    for refused in [late, later] {
        assert_eq!(refused.code(), (409, "STALE_FENCE".to_owned()));
    }
    assert_eq!((done.at("/status"), done.at("/result")), ("executed".to_owned(), "fresh".to_owned()));
    assert_eq!(gate.action(&id).await.text, done.text);
}

#[tokio::test]
async fn g19_late_result_of_a_stale_executor_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let pulled = |retry| ToolConfig { retry, ..ToolConfig::default() };
    let tools =
        [("safe".to_owned(), pulled(Retry::Safe)), ("manual".to_owned(), pulled(Retry::Manual))].into();
    let gate = start(GateConfig { tools, ..config(folder.path()) }).await;
    let other = gate.gate.create_token("another", "w", &[Scope::Execute], None).await.unwrap();

    for round in 0..rounds(12, 200) {
        let tool = if round % 2 == 0 { "safe" } else { "manual" };
        // Two agents, or one that was started twice and differs only by its fence.
        let second = if round % 4 < 2 { &other } else { &gate.agent };
        sleeper(&gate, &gate.agent, second, tool).await;
    }
}
