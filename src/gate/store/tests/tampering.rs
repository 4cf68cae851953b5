//! G22: every change outside the gate is found.

use futures_util::future::join_all;

use super::behind::Audited;
use super::*;
use crate::contract::settle::SettleAs;
use crate::domain::Effect;
use crate::gate::audit::AuditHead;
use crate::gate::tests::rounds::{Random, rounds};
use crate::gate::token::{Scope, Token};

fn full(id: &str) -> NewAction {
    let new = action_with(id, |it| {
        it.row.mission = Some("m".into());
        it.row.session = Some("session".into());
        it.row.run = Some("run".into());
        it.row.agent = Some("a".into());
        it.row.batch = Some(BatchId::new("b"));
        it.row.checkpoint = Some("c".into());
        it.row.effect = Some(Effect::External);
        it.preview = Some(RawJson::parse(r#"{"p":1}"#).unwrap());
        it.summary = Some("s".into());
        it.tool_call = Some(id.into());
        it.requested_by = Some("r".into());
    });
    let callback = Some("orchestrator".to_owned());
    let traceparent = Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned());
    NewAction { origin: Origin { callback, traceparent }, ..new }
}

/// Returns a store in which every kind of change has happened, and its heads.
async fn lived_in() -> (Shelf, Vec<AuditHead>) {
    let shelf = shelf().await;
    let store = &shelf.store;
    let (token, _) =
        Token::issue("agent", "w", &[Scope::Propose], Some(shelf.clock.now().plus_millis(1_000_000)));
    store.add_token(token.clone(), vec![7; 32]).await.unwrap();
    store.add_token(Token { id: "other".to_owned(), expires_at: None, ..token }, vec![8; 32]).await.unwrap();
    store.revoke_token("other".to_owned(), false, None).await.unwrap();
    for id in [
        "waits",
        "rejected",
        "withdrawn",
        "expired",
        "approved",
        "running",
        "done",
        "failed",
        "lost",
        "ended",
    ] {
        let expires_at = (id == "expired").then(|| shelf.clock.now().plus_millis(500));
        let mut new = full(id);
        new.action.row.expires_at = expires_at;
        store.record(new, 1_000, None).await.unwrap();
    }
    let mut half = full("half");
    half.action.row.risk = Risk::Critical;
    store.record(half, 1_000, None).await.unwrap();
    store.decide(approval("half"), owner(), None).await.unwrap();
    shelf.clock.pass(1_000);
    store.expire().await.unwrap();
    store.withdraw("withdrawn".to_owned(), Actor { subject: "agent".to_owned(), ..owner() }).await.unwrap();
    let no = Ruling { verdict: Verdict::Reject, reason: Some("no".to_owned()), ..approval("rejected") };
    store.decide(no, owner(), None).await.unwrap();
    for id in ["approved", "running", "done", "failed", "lost", "ended"] {
        let edits = (id == "done").then(|| RawJson::parse(r#"{"n":2.0}"#).unwrap());
        store
            .decide(Ruling { verdict: Verdict::Approve { edits }, ..approval(id) }, owner(), None)
            .await
            .unwrap();
    }
    for id in ["running", "done", "failed", "lost", "ended"] {
        shelf.dispatch(id).await;
    }
    shelf.finish("done", 1).await.unwrap();
    store.finish("failed".to_owned(), 1, None, Finished::Failed("no".to_owned())).await.unwrap();
    for id in ["lost", "ended"] {
        store.finish(id.to_owned(), 1, None, Finished::Lost("away".to_owned())).await.unwrap();
    }
    store.settle("ended".to_owned(), SettleAs::Executed, Some("seen".to_owned()), owner()).await.unwrap();
    store.pause("w".to_owned(), true, None).await.unwrap();
    let heads = store.audit_heads(None).await.unwrap();
    (shelf, heads)
}

const TABLES: [Audited; 7] = [
    ("audit", "revision", &["workspace", "revision", "action", "kind", "at", "who", "details", "hash"]),
    (
        "actions",
        "seq",
        &[
            "id",
            "workspace",
            "batch",
            "checkpoint",
            "mission",
            "session",
            "run",
            "tool_call",
            "agent",
            "requested_by",
            "proposer",
            "tool",
            "title",
            "summary",
            "risk",
            "effect",
            "size",
            "digest",
            "status",
            "created_at",
            "expires_at",
            "resolved_at",
            "resolved_by",
            "resolved_via",
            "reason",
            "effective_digest",
            "decision_revision",
            "fence",
            "lease_until",
            "lease_by",
            "error",
            "executed_at",
            "revision",
            "approved_terms",
        ],
    ),
    ("approvals", "seq", &["revision", "subject", "at", "effective_digest", "terms", "policy", "edits"]),
    ("payloads", "seq", &["input", "preview", "user_edits", "effective_input", "result"]),
    (
        "tokens",
        "id",
        &["id", "hash", "subject", "workspace", "scopes", "created_at", "revoked_at", "expires_at"],
    ),
    ("heads", "workspace", &["workspace", "revision", "pending", "hash"]),
    ("pauses", "workspace", &["workspace"]),
];

/// Returns a random change as SQL: a changed cell, NULL or 0 replaced, rows deleted, the newest audit rows deleted, two
/// rows swapped, or a row added.
fn change(random: &mut Random, behind: &Behind) -> String {
    let (table, key, columns) = TABLES[random.below(TABLES.len())];
    let nth = |random: &mut Random| {
        let offset = random.below(40);
        format!(
            "(SELECT {key} FROM {table} ORDER BY {key} LIMIT 1 OFFSET {offset} % (SELECT COUNT(*) FROM {table}))"
        )
    };
    let (one, other) = (nth(random), nth(random));
    let column = columns[random.below(columns.len())];
    match random.below(11) {
        0 => format!("DELETE FROM {table} WHERE {key} = {one}"),
        1 => format!(
            "DELETE FROM audit WHERE revision > (SELECT MAX(revision) FROM audit) - {}",
            1 + random.below(5)
        ),
        2 => format!(
            "CREATE TEMP TABLE a AS SELECT {column} AS x FROM {table} WHERE {key} = {one}; \
             UPDATE {table} SET {column} = (SELECT {column} FROM {table} WHERE {key} = {other}) WHERE {key} = {one}; \
             UPDATE {table} SET {column} = (SELECT x FROM a) WHERE {key} = {other}; DROP TABLE a"
        ),
        3 => format!("UPDATE {table} SET {column} = NULL WHERE {key} = {one}"),
        // NULL replaced by empty or 0, or 0 by a negative number.
        5 | 6 => {
            let (from, to) = [("IS NULL", "''"), ("IS NULL", "0"), ("= 0", "-1")][random.below(3)];
            format!("UPDATE {table} SET {column} = {to} WHERE {column} {from}")
        }
        4 => {
            let fresh = match table {
                "audit" => "revision = (SELECT MAX(revision) + 1 FROM audit)",
                "actions" => {
                    "seq = (SELECT MAX(seq) + 1 FROM actions), id = id || 'x', revision = revision + 1000"
                }
                "approvals" => "revision = revision + 1000",
                "payloads" => "seq = (SELECT MAX(seq) + 1 FROM payloads)",
                "tokens" => &format!("id = id || 'x', hash = {}", behind.blob(32)),
                _ => "workspace = workspace || 'x'",
            };
            format!(
                "CREATE TEMP TABLE a AS SELECT * FROM {table} WHERE {key} = {one}; UPDATE a SET {fresh}; \
                 INSERT INTO {table} SELECT * FROM a; DROP TABLE a"
            )
        }
        _ => format!("UPDATE {table} SET {column} = {} WHERE {key} = {one}", behind.other(table, column)),
    }
}

#[tokio::test]
async fn another_way_of_deciding_is_found() {
    let (shelf, heads) = lived_in().await;
    for way in ["'plain'", "NULL"] {
        shelf.run(&format!("UPDATE actions SET resolved_via = {way} WHERE id = 'rejected'")).await;

        let problems = shelf.store.verify(&heads).await.unwrap().problems;

        assert!(problems.iter().any(|it| it.contains("way of deciding")), "{way}: {problems:?}");
    }
}

#[tokio::test]
async fn g22_every_change_behind_the_gates_back_is_found() {
    let (shelf, heads) = lived_in().await;
    assert_eq!(shelf.store.verify(&heads).await.unwrap().problems, Vec::<String>::new());
    let mut behind = Behind::the(&shelf).await;
    let before = behind.contents(&TABLES).await;
    for (table, ..) in TABLES {
        behind.run(&format!("CREATE TEMP TABLE whole_{table} AS SELECT * FROM {table}")).await.unwrap();
    }
    let back = TABLES.map(|(it, ..)| format!("DELETE FROM {it}; INSERT INTO {it} SELECT * FROM whole_{it}"));
    let mut random = Random::seeded();
    let mut changed = 0;
    while changed < rounds(50, 1_000) {
        let sql = change(&mut random, &behind);
        if behind.run(&sql).await.is_err() || behind.contents(&TABLES).await == before {
            continue;
        }
        changed += 1;
        let found = shelf.store.verify(&heads).await.map(|verified| verified.problems);
        assert!(found.as_ref().map_or(true, |problems| !problems.is_empty()), "not found: {sql}");
        behind.run(&back.join("; ")).await.unwrap();
    }
    assert_eq!(shelf.store.verify(&heads).await.unwrap().problems, Vec::<String>::new());
}

#[tokio::test]
async fn the_audit_refuses_to_be_changed_or_cut() {
    let (shelf, _) = lived_in().await;
    for sql in ["UPDATE audit SET who = 'me'", "DELETE FROM audit"] {
        let refused = Behind::the(&shelf).await.try_with_guards(sql).await.unwrap_err();
        assert!(refused.to_string().contains("append-only"), "{refused}");
    }
}

#[tokio::test]
async fn a_guard_that_is_taken_away_is_missed() {
    let (shelf, _) = lived_in().await;
    let mut behind = Behind::the(&shelf).await;
    for sql in behind.ways_to_lose_a_guard() {
        behind.try_with_guards(sql).await.unwrap();

        let problems = shelf.store.verify(&[]).await.unwrap().problems;

        assert_eq!(problems, ["\"audit_is_never_cut\": this guard of the tables is gone"], "{sql}");
    }
}

#[tokio::test]
async fn what_a_kept_head_proves_cannot_be_rewritten() {
    let (shelf, heads) = lived_in().await;
    shelf.record("later").await.unwrap();
    assert_eq!(shelf.store.verify(&heads).await.unwrap().problems, Vec::<String>::new());

    let forged = AuditHead { hash: "00".repeat(32), ..heads[0].clone() };
    let cut = AuditHead { revision: 10_000, ..heads[0].clone() };
    let empty = AuditHead { workspace: "new".to_owned(), revision: 0, hash: String::new() };

    assert_eq!(shelf.store.verify(&[empty]).await.unwrap().problems, Vec::<String>::new());
    assert!(shelf.store.verify(&[forged]).await.unwrap().problems[0].contains("head was kept"));
    assert!(shelf.store.verify(&[cut]).await.unwrap().problems[0].contains("it is gone"));
}

#[tokio::test]
async fn every_decision_has_exactly_one_row() {
    let (shelf, _) = lived_in().await;
    let doubled = "SELECT COUNT(*) || '' FROM actions a WHERE (SELECT COUNT(*) FROM audit WHERE action = a.id \
         AND kind IN ('approved', 'rejected', 'expired', 'withdrawn', 'superseded')) \
         <> CASE WHEN a.resolved_at IS NULL THEN 0 ELSE 1 END";

    assert_eq!(Behind::the(&shelf).await.text(doubled).await, "0");
}

#[tokio::test]
async fn what_is_gone_or_unknown_is_found_in_every_part() {
    let shelf = shelf().await;
    // Many at once, so that they share SQLite's commits; few enough to get a turn on PostgreSQL in time.
    for first in (0..1_203).step_by(100) {
        let ids = (first..1_203).take(100).map(|n| format!("a{n:04}"));
        let records = ids.map(async |id: String| shelf.store.record(action(&id), 10_000, None).await);
        for recorded in join_all(records).await {
            recorded.unwrap();
        }
    }
    assert_eq!(shelf.store.verify(&[]).await.unwrap().actions, 1_203);
    assert_eq!(shelf.store.verify(&[]).await.unwrap().problems, Vec::<String>::new());
    shelf.run("UPDATE actions SET reason = 'x' WHERE id IN ('a0000', 'a0500', 'a0501', 'a1202')").await;
    shelf.run("UPDATE actions SET id = 'b' WHERE id = 'a0777'").await;

    let problems = shelf.store.verify(&[]).await.unwrap().problems;

    let named = |id: &str| problems.iter().filter(|problem| problem.contains(&format!("\"{id}\""))).count();
    for id in ["a0000", "a0500", "a0501", "a1202", "a0777", "b"] {
        assert_eq!(named(id), 1, "{id}: {problems:?}");
    }
}
