//! G12 over the wire: a reviewer who says what they saw is refused when it is not that any more, and what was approved is not
//! run by another executor than the one they agreed to.

use std::collections::BTreeMap;
use std::path::Path;

use crate::config::{Executor, GateConfig, ToolConfig};
use crate::domain::Digest;
use crate::gate::Gate;
use crate::gate::tests::support::{Answer, TestGate, config, plain, script, serve, start};

fn with(folder: &Path, tool: ToolConfig) -> GateConfig {
    GateConfig { tools: [("t".to_owned(), tool)].into(), ..config(folder) }
}

/// Other executors than `script("cat")`, of which none must run what was approved for that.
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
async fn g12_an_approval_names_the_terms_that_were_on_screen() {
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
        assert_eq!(fresh.status, 200, "who has read it again may approve it");
        gate.stop().await;
    }
}

#[tokio::test]
async fn g12_what_was_approved_for_one_executor_is_not_run_by_another() {
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

/// The gate's own executor finds out by itself; of a pulled tool, whoever claims it.
async fn ended(gate: &TestGate, id: &str) -> Answer {
    if gate.get("/api/tools").await.at("/items/0/executor") == "pull" {
        let claim = gate.post_as(&gate.agent, &format!("/api/pending-actions/{id}/claim"), "").await;
        assert_eq!(claim.code(), (412, "CHANGED".to_owned()));
    }
    gate.until_final(id).await
}

#[tokio::test]
async fn g12_other_edits_than_those_on_screen_approve_nothing() {
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
async fn g12_an_older_version_is_not_approved_and_an_approved_one_has_no_newer() {
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
