//! G22: whatever is changed behind the gate's back is found.

use futures_util::future::join_all;
use sqlx::Executor as _;

use super::*;
use crate::contract::settle::SettleAs;
use crate::domain::Effect;
use crate::gate::audit::AuditHead;
use crate::gate::tests::rounds::{Random, rounds};
use crate::gate::token::{Scope, Token};

/// A proposal that says everything that can be said.
fn full(id: &str) -> NewAction {
    let text = |it: &str| Some(it.to_owned());
    NewAction {
        mission: text("m"),
        preview: Some(RawJson::parse(r#"{"p":1}"#).unwrap()),
        summary: text("s"),
        session: text("session"),
        run: text("run"),
        tool_call: text(id),
        agent: text("a"),
        requested_by: text("r"),
        batch: text("b"),
        checkpoint: text("c"),
        effect: Some(Effect::External),
        ..action(id)
    }
}

/// A shelf on which everything has happened that can happen, and its head.
async fn lived_in() -> (Shelf, Vec<AuditHead>) {
    let shelf = shelf().await;
    let store = &shelf.store;
    let (token, _) =
        Token::issue("agent", "w", &[Scope::Propose], Some(shelf.clock.now().plus_millis(1_000_000)));
    store.add_token(token.clone(), vec![7; 32]).await.unwrap();
    store.add_token(Token { id: "other".to_owned(), expires_at: None, ..token }, vec![8; 32]).await.unwrap();
    store.revoke_token("other".to_owned()).await.unwrap();
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
        let new = NewAction { expires_at, ..full(id) };
        store.record(new, 1_000, None).await.unwrap();
    }
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

/// Tables whose every cell the audit answers for, with their keys.
const TABLES: [(&str, &str, &[&str]); 6] = [
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
    ("payloads", "seq", &["input", "preview", "user_edits", "effective_input", "result"]),
    (
        "tokens",
        "id",
        &["id", "hash", "subject", "workspace", "scopes", "created_at", "revoked_at", "expires_at"],
    ),
    ("heads", "workspace", &["workspace", "revision", "pending", "hash"]),
    ("pauses", "workspace", &["workspace"]),
];

/// One random change as SQL: a cell, what is absent or 0 in a column, a whole row away, the newest audit rows away, two rows
/// swapped, or a row more.
fn change(random: &mut Random) -> String {
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
        // What is absent is not empty, and nothing is not less than nothing.
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
                "payloads" => "seq = (SELECT MAX(seq) + 1 FROM payloads)",
                "tokens" => "id = id || 'x', hash = zeroblob(32)",
                _ => "workspace = workspace || 'x'",
            };
            format!(
                "CREATE TEMP TABLE a AS SELECT * FROM {table} WHERE {key} = {one}; UPDATE a SET {fresh}; \
                 INSERT INTO {table} SELECT * FROM a; DROP TABLE a"
            )
        }
        _ => format!(
            "UPDATE {table} SET {column} = CASE typeof({column}) WHEN 'integer' THEN {column} + 1 \
             WHEN 'text' THEN {column} || ' ' WHEN 'blob' THEN x'00' ELSE NULL END WHERE {key} = {one}"
        ),
    }
}

/// Everything that counts, to know whether a change changed anything.
async fn contents(store: &SqliteStore) -> String {
    let mut all = String::new();
    for (table, key, columns) in TABLES {
        let list: Vec<_> = columns.iter().map(|column| format!("quote({column})")).collect();
        let sql = format!(
            "SELECT group_concat({}, '|') FROM (SELECT * FROM {table} ORDER BY {key})",
            list.join(" || ',' || ")
        );
        let text: Option<String> =
            sqlx::query_scalar(sqlx::AssertSqlSafe(sql)).fetch_one(&store.database.write).await.unwrap();
        all.push_str(&text.unwrap_or_default());
        all.push('\n');
    }
    all
}

#[tokio::test]
async fn g22_every_change_behind_the_gates_back_is_found() {
    let (shelf, heads) = lived_in().await;
    assert_eq!(shelf.store.verify(&heads).await.unwrap().problems, Vec::<String>::new());
    let (path, copy) = (shelf.folder.path().join("whole.db"), shelf.folder.path().join("changed.db"));
    let vacuum = format!("VACUUM INTO '{}'", path.display());
    sqlx::query(sqlx::AssertSqlSafe(vacuum)).execute(&shelf.store.database.write).await.unwrap();
    // In the journal mode that it is opened in from now on.
    SqliteStore::open(&path, context(&shelf.clock)).await.unwrap().close().await;
    let mut random = Random::seeded();
    let mut changed = 0;
    while changed < rounds(50, 1_000) {
        std::fs::copy(&path, &copy).unwrap();
        let store = SqliteStore::open(&copy, context(&shelf.clock)).await.unwrap();
        let before = contents(&store).await;
        let sql = change(&mut random);
        let mut conn = store.database.write.acquire().await.unwrap();
        // Whoever tampers does not let triggers and constraints stop them, and puts them back.
        let guards: Vec<(String, String)> =
            sqlx::query_as("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
                .fetch_all(&mut *conn)
                .await
                .unwrap();
        conn.execute("PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; BEGIN").await.unwrap();
        for (name, _) in &guards {
            conn.execute(sqlx::AssertSqlSafe(format!("DROP TRIGGER {name}"))).await.unwrap();
        }
        let done = conn.execute(sqlx::AssertSqlSafe(sql.clone())).await.is_ok();
        for (_, guard) in guards {
            conn.execute(sqlx::AssertSqlSafe(guard)).await.unwrap();
        }
        conn.execute("COMMIT").await.unwrap();
        drop(conn);
        if done && contents(&store).await != before {
            changed += 1;
            let found = store.verify(&heads).await.map(|verified| verified.problems);
            assert!(found.as_ref().map_or(true, |problems| !problems.is_empty()), "not found: {sql}");
        }
        store.close().await;
        std::fs::remove_file(copy.with_extension("db-wal")).ok();
        std::fs::remove_file(copy.with_extension("db-shm")).ok();
    }
}

#[tokio::test]
async fn the_audit_refuses_to_be_changed_or_cut() {
    let (shelf, _) = lived_in().await;
    for sql in ["UPDATE audit SET who = 'me'", "DELETE FROM audit"] {
        let refused = sqlx::query(sql).execute(&shelf.store.database.write).await.unwrap_err();
        assert!(refused.to_string().contains("append-only"), "{refused}");
    }
}

#[tokio::test]
async fn a_guard_that_is_taken_away_is_missed() {
    let (shelf, _) = lived_in().await;
    shelf.store.database.write.execute("DROP TRIGGER audit_is_never_cut").await.unwrap();

    let problems = shelf.store.verify(&[]).await.unwrap().problems;

    assert_eq!(problems, ["\"audit_is_never_cut\": this guard of the tables is gone"]);
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
    let doubled: i64 = sqlx::query_scalar(
        "SELECT COUNT(*) FROM actions a WHERE (SELECT COUNT(*) FROM audit WHERE action = a.id \
         AND kind IN ('approved', 'rejected', 'expired', 'withdrawn', 'superseded')) <> (a.resolved_at IS NOT NULL)",
    )
    .fetch_one(&shelf.store.database.read)
    .await
    .unwrap();

    assert_eq!(doubled, 0);
}

#[tokio::test]
async fn what_is_gone_or_unknown_is_found_in_every_part() {
    let shelf = shelf().await;
    // At once, so that they share their commits; the writer takes them in this order.
    let records = (0..1_203).map(|n| shelf.store.record(action(&format!("a{n:04}")), 10_000, None));
    for recorded in join_all(records).await {
        recorded.unwrap();
    }
    assert_eq!(shelf.store.verify(&[]).await.unwrap().actions, 1_203);
    assert_eq!(shelf.store.verify(&[]).await.unwrap().problems, Vec::<String>::new());
    let write = &shelf.store.database.write;
    for id in ["a0000", "a0500", "a0501", "a1202"] {
        sqlx::query("UPDATE actions SET reason = 'x' WHERE id = ?").bind(id).execute(write).await.unwrap();
    }
    write.execute("UPDATE actions SET id = 'b' WHERE id = 'a0777'").await.unwrap();

    let problems = shelf.store.verify(&[]).await.unwrap().problems;

    let named = |id: &str| problems.iter().filter(|problem| problem.contains(&format!("\"{id}\""))).count();
    for id in ["a0000", "a0500", "a0501", "a1202", "a0777", "b"] {
        assert_eq!(named(id), 1, "{id}: {problems:?}");
    }
}

#[tokio::test]
async fn what_only_sqlite_can_see_is_found() {
    let (shelf, heads) = lived_in().await;
    let (path, copy) = (shelf.folder.path().join("whole.db"), shelf.folder.path().join("changed.db"));
    let vacuum = format!("VACUUM INTO '{}'", path.display());
    shelf.store.database.write.execute(sqlx::AssertSqlSafe(vacuum)).await.unwrap();
    std::fs::copy(&path, &copy).unwrap();
    let store = SqliteStore::open(&copy, context(&shelf.clock)).await.unwrap();
    let mut conn = store.database.write.acquire().await.unwrap();
    // An index that holds something else than it says: every row of every table is as it was.
    conn.execute("PRAGMA writable_schema = ON").await.unwrap();
    let other = "UPDATE sqlite_master SET sql = replace(sql, '(workspace, batch)', '(workspace, mission)') \
                 WHERE name = 'actions_by_batch'";
    conn.execute(other).await.unwrap();
    drop(conn);
    store.close().await;

    let store = SqliteStore::open(&copy, context(&shelf.clock)).await.unwrap();
    let problems = store.verify(&heads).await.unwrap().problems;

    assert!(problems.iter().any(|problem| problem.starts_with("SQLite's check: ")), "{problems:?}");
}
