//! G12 over HTTP: a decision is refused if the content changed since the reviewer saw it, and an approved action runs
//! only with the executor that was approved.

use std::collections::BTreeMap;
use std::path::Path;

use crate::config::{Executor, GateConfig, ToolConfig};
use crate::domain::Digest;
use crate::gate::Gate;
use crate::gate::tests::support::{Answer, TestGate, config, plain, script, serve, start};

fn with(folder: &Path, tool: ToolConfig) -> GateConfig {
    GateConfig { tools: [("t".to_owned(), tool)].into(), ..config(folder) }
}

/// Executors that must not run an action approved for `script("cat")`.
fn others(folder: &Path) -> Vec<ToolConfig> {
    let proof = folder.join("proof");
    let touch = script(&format!("touch {}", proof.display()));
    let mut env = script("cat");
    if let Executor::Command { env, .. } = &mut env.executor {
        *env = BTreeMap::from([("ACCOUNT".to_owned(), "another".to_owned())]);
    }
    vec![touch, env, ToolConfig::default()]
}

#[tokio::test]
async fn g12_approval_names_the_terms_seen() {
    for n in 0..3 {
        let folder = tempfile::tempdir().unwrap();
        let gate = start(with(folder.path(), script("cat"))).await;
        let id = gate.propose("t", r#"{"n":1.10}"#).await;
        let seen = gate.action(&id).await.at("/terms");
        gate.stop().await;

        let gate = start(with(folder.path(), others(folder.path()).remove(n))).await;
        let stale = gate.approve(&id, &format!(r#"{{"expectedTerms":"{seen}"}}"#)).await;
        let now = gate.action(&id).await.at("/terms");
        let fresh = gate.approve(&id, &format!(r#"{{"expectedTerms":"{now}"}}"#)).await;

        assert_eq!(stale.code(), (412, "CHANGED".to_owned()));
        assert!(stale.at("/error/message").contains("executor is not the one you saw"));
        assert_eq!(fresh.status, 200, "the terms now shown may be approved");
        gate.stop().await;
    }
}

#[tokio::test]
async fn g12_approval_for_one_executor_does_not_run_another() {
    for n in 0..3 {
        let folder = tempfile::tempdir().unwrap();
        let gate = start(with(folder.path(), script("cat"))).await;
        gate.gate.pause(None, None).await.unwrap();
        let id = gate.propose("t", "{}").await;
        gate.approve(&id, "").await;
        gate.stop().await;

        let other = Gate::open(&with(folder.path(), others(folder.path()).remove(n))).await.unwrap();
        other.resume(None, None).await.unwrap();
        let gate = serve(other).await;
        let refused = ended(&gate, &id).await;
        gate.stop().await;

        assert_eq!(refused.at("/status"), "failed");
        assert!(refused.at("/error").contains("changed after the approval; it was not run"));
        assert!(!folder.path().join("proof").exists());
    }
}

/// Waits for the gate's own executor. For a pull tool, claims it first.
async fn ended(gate: &TestGate, id: &str) -> Answer {
    if gate.get("/api/tools").await.at("/items/0/executor") == "pull" {
        let claim = gate.post_as(&gate.agent, &format!("/api/pending-actions/{id}/claim"), "").await;
        assert_eq!(claim.code(), (412, "CHANGED".to_owned()));
    }
    gate.until_final(id).await
}

#[tokio::test]
async fn g12_other_edits_than_seen_are_refused() {
    let (_folder, gate) = plain().await;
    let id = gate.propose("t", r#"{"a":1,"n":1.10}"#).await;
    let shown = Digest::of("t", "w", r#"{"a":2,"n":1.10}"#);

    for edits in [r#"{"a":3}"#, r#"{"a":2,"b":1}"#, r#"{"a":2.0}"#, "{}", "null"] {
        let body = format!(r#"{{"userEdits":{edits},"expectedEffectiveDigest":"{shown}"}}"#);
        assert_eq!(gate.approve(&id, &body).await.code(), (412, "CHANGED".to_owned()), "{edits}");
    }
    assert_eq!(gate.status(&id).await, "pending");

    let body = format!(r#"{{"userEdits":{{"a":2}},"expectedEffectiveDigest":"{shown}"}}"#);
    assert_eq!(gate.approve(&id, &body).await.status, 200);
}

#[tokio::test]
async fn g12_superseded_version_is_not_approved() {
    let (_folder, gate) = plain().await;
    let (old, approved) = (gate.propose("t", "{}").await, gate.propose("t", "{}").await);
    gate.propose_with("t", "{}", &format!(r#","supersedes":"{old}""#)).await;
    gate.approve(&approved, "").await;

    let late = gate.approve(&old, "").await;
    let body = format!(r#"{{"toolName":"t","workspaceId":"w","toolInput":{{}},"supersedes":"{approved}"}}"#);
    let newer = gate.post_as(&gate.agent, "/api/pending-actions", &body).await;

    assert_eq!((late.status, late.at("/error/status").as_str()), (409, "superseded"));
    assert_eq!((newer.status, newer.at("/error/status").as_str()), (409, "approved"));
    assert_eq!(gate.list("&view=row").await.json()["items"].as_array().unwrap().len(), 3);
}
