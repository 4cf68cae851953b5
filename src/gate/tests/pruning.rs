//! Retention: prunes old settled actions only, and the rest stays valid.

use crate::gate::which::Which;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use sqlx::Connection as _;

use super::support::{TestGate, answer, config, ids, plain, start};
use crate::config::GateConfig;
use crate::domain::Timestamp;
use crate::gate::prune::Pruned;
use crate::gate::tests::postgres;
use crate::gate::{GateError, reconcile};

const DAY: i64 = 24 * 60 * 60 * 1_000;

fn now(gate: &TestGate) -> Timestamp {
    gate.gate.inner.clock.now()
}

async fn prune(gate: &TestGate, before: Timestamp) -> u64 {
    let Pruned { actions } = gate
        .gate
        .prune(before, Some("operator"), &AtomicU64::new(0), |_| Ok::<_, GateError>(()))
        .await
        .unwrap();
    actions
}

async fn rejected(gate: &TestGate) -> String {
    let id = gate.propose("t", "{}").await;
    assert_eq!(gate.reject(&id, r#"{"reason":"no"}"#).await.status, 200);
    id
}

async fn claimed(gate: &TestGate) -> (String, String) {
    let id = gate.propose("t", "{}").await;
    gate.approve(&id, "").await;
    let path = format!("/api/pending-actions/{id}/claim");
    let fence = gate.post(&path, r#"{"leaseSeconds":60}"#).await.at("/fence");
    (id, fence)
}

async fn problems(gate: &TestGate, kept: &[crate::gate::AuditHead]) -> Vec<String> {
    gate.gate.verify_audit(kept).await.unwrap().problems
}

#[tokio::test]
async fn only_old_settled_actions_are_pruned() {
    let (_folder, gate) = plain().await;
    let old = rejected(&gate).await;
    let (executed, fence) = claimed(&gate).await;
    let done = format!(r#"{{"fence":{fence},"result":1}}"#);
    gate.post(&format!("/api/pending-actions/{executed}/result"), &done).await;
    let (unknown, _) = claimed(&gate).await;
    let (pending, approved) = (gate.propose("t", "{}").await, gate.propose("t", "{}").await);
    gate.approve(&approved, "").await;
    let late = gate.propose("t", "{}").await;
    let (heads, seen) = (gate.gate.audit_heads().await.unwrap(), gate.list("").await.at("/revision"));
    gate.gate.inner.clock.pass(3 * DAY);
    gate.gate.store().recover(Which::default(), Vec::new()).await.unwrap();
    gate.reject(&late, "").await;

    assert_eq!(prune(&gate, now(&gate).plus_millis(-DAY)).await, 2);
    assert_eq!(prune(&gate, now(&gate).plus_millis(-DAY)).await, 0);

    for id in [&old, &executed] {
        let gone = gate.action(id).await;
        assert_eq!(gone.code(), (404, "NOT_FOUND".to_owned()));
        assert!(gone.at("/error/message").contains("pruned"), "{}", gone.text);
    }
    let mut left = ids(&gate.list("").await);
    left.sort();
    let mut kept = vec![unknown.clone(), pending, approved, late];
    kept.sort();
    assert_eq!(left, kept);
    assert_eq!(gate.status(&unknown).await, "unknown");
    assert_eq!(problems(&gate, &heads).await, Vec::<String>::new());
    let change = async |since: &str| {
        let changes = gate.get(&format!("/api/pending-actions/changes?since={since}")).await;
        (changes.at("/complete"), changes.at("/revision"))
    };
    let head = gate.list("").await.at("/revision");
    assert_eq!(change(&seen).await, ("false".to_owned(), head.clone()));
    assert_eq!(change(&head).await, ("true".to_owned(), head.clone()));
    let row = gate.get(&format!("/api/audit?since={}", head.parse::<u64>().unwrap() - 1)).await;
    assert_eq!(["/items/0/event", "/items/0/by"].map(|at| row.at(at)), ["pruned", "operator"]);
    let listed = row.json()["items"][0]["details"]["actions"].as_array().unwrap().clone();
    assert_eq!(
        listed.iter().map(|it| it["id"].clone()).collect::<Vec<Value>>(),
        [json!(old), json!(executed)]
    );
    assert!(listed.iter().all(|it| it["record"].as_str().unwrap().starts_with("sha256:")), "{listed:?}");
}

#[tokio::test]
async fn unknown_action_is_never_pruned() {
    let (_folder, gate) = plain().await;
    let (id, _) = claimed(&gate).await;
    gate.gate.inner.clock.pass(400 * DAY);
    gate.gate.store().recover(Which::default(), Vec::new()).await.unwrap();

    assert_eq!(prune(&gate, now(&gate).plus_millis(DAY)).await, 0);

    assert_eq!(gate.status(&id).await, "unknown");
}

#[tokio::test]
async fn repeated_request_of_a_pruned_action_is_refused() {
    let (_folder, gate) = plain().await;
    let send = async |token, path: &str, body: &str| {
        let request = gate.request(Method::POST, path, token).header("content-type", "application/json");
        answer(request.header("idempotency-key", "k").body(body.to_owned())).await
    };
    let body = r#"{"toolName":"t","workspaceId":"w","missionId":"m","toolInput":{}}"#;
    let first = send(&gate.agent, "/api/pending-actions", body).await;
    let id = first.at("/pending_action_id");
    let items = json!({"items": [{"pendingActionId": id, "exclude": true}]}).to_string();
    let batch = "/api/pending-actions/batch/m:t/approve";
    let decided = send(&gate.owner, batch, &items).await;
    assert_eq!(prune(&gate, now(&gate).plus_millis(DAY)).await, 1);

    let (again, decided_again) =
        (send(&gate.agent, "/api/pending-actions", body).await, send(&gate.owner, batch, &items).await);

    assert_eq!(again.code(), (409, "ACTION_PRUNED".to_owned()));
    assert_eq!((decided_again.status, &decided_again.text), (200, &decided.text));
    assert!(ids(&gate.list("").await).is_empty(), "the action was recorded again");
}

#[tokio::test]
async fn audit_distinguishes_pruned_deleted_and_restored_rows() {
    if postgres::is_used() {
        // Opens SQLite's file.
        return;
    }
    let (folder, gate) = plain().await;
    let (pruned, taken) = (rejected(&gate).await, rejected(&gate).await);
    let url = format!("sqlite:{}", folder.path().join("gate.db").display());
    let mut behind = sqlx::SqliteConnection::connect(&url).await.unwrap();
    let mut behind = async |sql: &'static str, id: &str| {
        sqlx::query(sql).bind(id.to_owned()).execute(&mut behind).await.unwrap();
    };
    behind("CREATE TABLE kept AS SELECT * FROM actions WHERE id = ?1", &pruned).await;
    behind(
        "CREATE TABLE kept_input AS SELECT * FROM payloads WHERE seq IN (SELECT seq FROM kept) OR ?1 = ''",
        "x",
    )
    .await;
    behind("UPDATE actions SET created_at = created_at + 1 WHERE id = ?1", &pruned).await;
    gate.gate.inner.clock.pass(DAY);
    let late = rejected(&gate).await;
    assert_eq!(prune(&gate, now(&gate).plus_millis(-1_000)).await, 2);

    let found = problems(&gate, &[]).await;
    assert!(found.len() == 1 && found[0].contains("was not what was proposed"), "{found:?}");

    behind("INSERT INTO actions SELECT * FROM kept WHERE ?1 <> ''", "x").await;
    behind("INSERT INTO payloads SELECT * FROM kept_input WHERE ?1 <> ''", "x").await;
    behind("DELETE FROM payloads WHERE seq = (SELECT seq FROM actions WHERE id = ?1)", &late).await;
    behind("DELETE FROM actions WHERE id = ?1", &late).await;
    let found = problems(&gate, &[]).await;
    let told = |what: String| found.contains(&what);
    assert!(told(format!("action {pruned:?}: it was pruned, and is there")), "{found:?}");
    assert!(told(format!("action {late:?}: it is gone")), "{found:?}");
    assert!(!found.iter().any(|it| it.contains(&taken)), "{found:?}");
}

#[tokio::test]
async fn action_that_cannot_be_exported_is_not_pruned() {
    let (_folder, gate) = plain().await;
    let id = gate.propose("t", r#"{"amount":1.10}"#).await;
    gate.reject(&id, "").await;
    let before = now(&gate).plus_millis(DAY);

    let full = gate
        .gate
        .prune(before, None, &AtomicU64::new(0), |_| Err(GateError::Refused("full".to_owned())))
        .await;
    let mut lines = Vec::new();
    let gone = AtomicU64::new(0);
    let kept = gate.gate.prune(before, None, &gone, |some| {
        lines.extend_from_slice(some);
        Ok::<_, GateError>(())
    });

    assert!(full.is_err());
    assert_eq!(kept.await.unwrap().actions, 1);
    assert_eq!(lines.len(), 1);
    let line: Value = serde_json::from_str(&lines[0]).unwrap();
    assert_eq!((&line["proposer"], &line["pendingAction"]["id"]), (&json!("agent"), &json!(id)));
    assert!(lines[0].contains(r#""toolInput":{"amount":1.10}"#), "{}", lines[0]);
}

#[tokio::test]
async fn gate_prunes_after_its_retention_time() {
    let folder = tempfile::tempdir().unwrap();
    let keep = Some(Duration::from_hours(48));
    let gate = start(GateConfig { keep_settled: keep, ..config(folder.path()) }).await;
    let old = rejected(&gate).await;
    gate.gate.inner.clock.pass(DAY);
    let young = rejected(&gate).await;
    gate.gate.inner.clock.pass(DAY + 1_000);

    let mut last = None;
    reconcile::prune(&gate.gate, &mut last).await.unwrap();
    let at = last.unwrap();
    reconcile::prune(&gate.gate, &mut last).await.unwrap();

    assert_eq!(last, Some(at), "the next check is due an hour later");
    assert_eq!(gate.action(&old).await.status, 404);
    assert_eq!(gate.status(&young).await, "rejected");
    gate.stop().await;
}
