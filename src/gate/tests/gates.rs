//! Gates with different tools on one database. Skipped on SQLite, which allows one gate.

use std::path::Path;

use serde_json::{Value, json};
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _};

use super::postgres;
use super::support::{LIMIT, TestGate, config, script, serve};
use crate::config::{GateConfig, ToolConfig};
use crate::gate::Gate;
use crate::gate::heartbeat::beat;

async fn gate(folder: &Path, tools: &[(&str, ToolConfig)], denied: &[&str]) -> TestGate {
    let tools = tools.iter().map(|(name, tool)| ((*name).to_owned(), tool.clone())).collect();
    let denied = denied.iter().map(|name| (*name).to_owned()).collect();
    let config = GateConfig { denied, tools, ..config(folder) };
    let gate = serve(Gate::open(&config).await.unwrap()).await;
    // A serving gate has registered its name.
    assert_eq!(gate.get("/healthz").await.status, 200);
    gate
}

fn name(gate: &TestGate) -> String {
    gate.gate.inner.registered.get().unwrap().name.clone()
}

/// Beats until `/readyz` warns of exactly these gates.
async fn until_warned(gate: &TestGate, of: &[(&TestGate, &[&str])]) -> Value {
    let expected: Vec<_> = of.iter().map(|(gate, tools)| (json!(name(gate)), json!(tools))).collect();
    let looking = async {
        loop {
            beat(&gate.gate).await.unwrap();
            let answer = gate.get("/readyz").await;
            assert_eq!((answer.status, answer.at("/status").as_str()), (200, "ready"));
            let warnings = answer.json().get("warnings").cloned().unwrap_or_else(|| json!([]));
            let told = warnings.as_array().unwrap().iter();
            if told.map(|it| (it["gate"].clone(), it["tools"].clone())).eq(expected.iter().cloned()) {
                return warnings;
            }
        }
    };
    tokio::time::timeout(LIMIT, looking).await.unwrap_or_else(|_| panic!("not warned of {expected:?}"))
}

async fn count(folder: &Path, sql: &str) -> i64 {
    let options: PgConnectOptions = postgres::past_pooler(&config(folder).server.unwrap()).parse().unwrap();
    let mut conn = options.options([("search_path", "placet")]).connect().await.unwrap();
    sqlx::query_scalar(AssertSqlSafe(sql.to_owned())).fetch_one(&mut conn).await.unwrap()
}

#[tokio::test]
async fn gates_with_differing_tools_are_ready_and_warn() {
    if !postgres::is_used() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let [secret, other] = ["echo secret-1", "echo secret-2"].map(script);
    let old = gate(folder.path(), &[("t", secret.clone()), ("same", secret.clone())], &["no.*"]).await;
    let new = gate(folder.path(), &[("t", other), ("same", secret)], &[]).await;

    let warnings = until_warned(&old, &[(&new, &["no.*", "t"])]).await;
    until_warned(&new, &[(&old, &["no.*", "t"])]).await;

    let message = warnings[0]["message"].as_str().unwrap();
    let advice = "give both the same [gate.tools] and the same denied, and restart the older, ";
    assert!(message.contains(advice) && message.ends_with(&name(&old)), "{message}");
    assert_eq!(count(folder.path(), "SELECT count(*) FROM gates WHERE policies LIKE '%secret%'").await, 0);
    new.stop().await;
    assert_eq!(
        count(folder.path(), "SELECT count(*) FROM gates").await,
        1,
        "the stopped gate deleted its row"
    );
    until_warned(&old, &[]).await;
    old.stop().await;
    assert_eq!(count(folder.path(), "SELECT count(*) FROM gates").await, 0);
}

#[tokio::test]
async fn silent_gate_disappears_and_returns() {
    if !postgres::is_used() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let usual = [("t", script("true"))];
    let same = [gate(folder.path(), &usual, &[]).await, gate(folder.path(), &usual, &[]).await];
    let silent = gate(folder.path(), &[], &[]).await;
    until_warned(&same[0], &[(&silent, &["t"])]).await;

    let id = &silent.gate.inner.registered.get().unwrap().id;
    let age = format!("UPDATE gates SET seen_at = seen_at - 36000 WHERE id = '{id}' RETURNING seen_at");
    count(folder.path(), &age).await;

    until_warned(&same[0], &[]).await;
    let there = format!("SELECT count(*) FROM gates WHERE id = '{id}'");
    assert_eq!(count(folder.path(), &there).await, 0, "the silent gate's row is swept");
    let mut both = [(&same[0], ["t"].as_slice()), (&same[1], ["t"].as_slice())];
    both.sort_by_key(|(gate, _)| name(gate));
    until_warned(&silent, &both).await;
    until_warned(&same[1], &[(&silent, &["t"])]).await;
}
