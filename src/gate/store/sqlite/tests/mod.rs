//! Tests of SQLite only; the rest is in `store/tests`.

use std::sync::atomic::AtomicU64;

use futures_util::future::join_all;
use sqlx::Executor as _;

use super::*;
use crate::domain::{BatchId, Risk};
use crate::gate::store::action_fields::{packed_listing, whole_listing};
use crate::gate::store::sql::{Statement, outstanding, read};
use crate::gate::store::tests::{Shelf, action, action_with, approval, context};
use crate::gate::store::{Actor, Counts, Reads as _, Ruling, Verdict, Writes as _};

mod choosing;
mod plans;
mod torn;

async fn plan(store: &SqliteStore, sql: &str) -> Vec<String> {
    let explained = sqlx::AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}"));
    let steps: Vec<(i64, i64, i64, String)> =
        sqlx::query_as(explained).fetch_all(&store.database.write).await.unwrap();
    steps.into_iter().map(|(.., step)| step).collect()
}

async fn shelf() -> Shelf<SqliteStore> {
    let folder = tempfile::tempdir().unwrap();
    let clock = Clock::default();
    let path = folder.path().join("gate.db");
    let store = SqliteStore::open(&path, context(&clock)).await.unwrap();
    Shelf { store: Box::new(store), clock, folder }
}

#[tokio::test]
async fn refused_write_makes_a_store_unready_until_there_is_room() {
    let mut shelf = shelf().await;
    shelf.store.ping().await.unwrap();
    sqlx::query("PRAGMA query_only = ON").execute(&shelf.store.database.write).await.unwrap();
    assert!(shelf.record("refused").await.is_err());
    sqlx::query("PRAGMA query_only = OFF").execute(&shelf.store.database.write).await.unwrap();
    let folder = std::mem::replace(&mut shelf.store.folder, "/nonexistent".into());

    for _ in 0..3 {
        let said = shelf.store.ping().await.unwrap_err().to_string();
        assert!(said.contains("read-only"), "{said}");
        // The next one tries again.
        let mut tried = shelf.store.tried.lock().await;
        tried.as_mut().unwrap().0 -= TRIED;
    }

    shelf.store.folder = folder;
    assert!(shelf.store.ping().await.is_ok());
}

#[tokio::test]
async fn newest_audit_row_is_found_by_an_index() {
    let shelf = shelf().await;
    let plan = plan(&shelf.store, crate::gate::store::sql::tx::NEWEST_DETAILS).await;
    assert_eq!(plan, ["SEARCH audit USING INDEX audit_by_action (action=?)"]);
}

#[tokio::test]
async fn nothing_is_acknowledged_that_was_not_committed() {
    let shelf = shelf().await;

    // A deferred foreign key makes the commit fail after the work succeeded.
    let work = shelf.store.writer.run(|tx| {
        Box::pin(async move {
            sqlx::query("PRAGMA defer_foreign_keys = ON").execute(tx.conn().await?).await?;
            sqlx::query("INSERT INTO payloads (seq, input) VALUES (999, '{}')")
                .execute(tx.conn().await?)
                .await?;
            Ok(())
        })
    });
    // Both are queued before the writer runs, so they are one group.
    let (work, beside) = tokio::join!(work, shelf.record("beside"));

    assert!(matches!(work, Err(StoreError::Commit(_))), "{work:?}");
    assert!(matches!(beside, Err(StoreError::Commit(_))), "{beside:?}");
    assert!(shelf.store.get("beside").await.unwrap().is_none());
    shelf.record("after").await.unwrap();
    assert_eq!(shelf.store.get("after").await.unwrap().unwrap().action.row.revision.0, 1);
}

#[tokio::test]
async fn panic_in_a_write_does_not_stop_the_writer() {
    let shelf = shelf().await;

    let broken = shelf.store.writer.run(|tx| {
        Box::pin(async move {
            sqlx::query("UPDATE heads SET revision = 7").execute(tx.conn().await?).await?;
            assert!(tx.state.now.as_millis() < 0, "broken");
            Ok(())
        })
    });
    let (broken, beside) = tokio::join!(broken, shelf.record("beside"));

    assert!(matches!(broken, Err(StoreError::Commit(_))), "{broken:?}");
    assert!(matches!(beside, Err(StoreError::Commit(_))), "{beside:?}");
    shelf.record("after").await.unwrap();
    assert_eq!(shelf.store.get("after").await.unwrap().unwrap().action.row.revision.0, 1);
}

#[tokio::test]
async fn write_refused_by_the_database_does_not_fail_its_group() {
    let shelf = shelf().await;
    shelf.record("a").await.unwrap();
    // Another process took the next revision.
    let row = "INSERT INTO audit (workspace, revision, kind, at, hash) VALUES ('w', 2, 'created', 1, x'')";
    sqlx::query(row).execute(&shelf.store.database.write).await.unwrap();
    let elsewhere = action_with("c", |it| it.row.workspace = Some("v".into()));

    let (refused, recorded) = tokio::join!(shelf.record("b"), shelf.store.record(elsewhere, u64::MAX, None));

    assert!(refused.is_err(), "{refused:?}");
    assert!(recorded.is_ok(), "{recorded:?}");
    assert!(shelf.store.get("b").await.unwrap().is_none());
    assert!(shelf.store.get("c").await.unwrap().is_some());
    shelf.store.ping().await.expect("other writes succeed");
}

#[tokio::test]
async fn what_one_group_does_to_a_count_is_added_up() {
    let shelf = shelf().await;
    let propose = async |n: usize| {
        let action = action_with(&format!("a-{n}"), |it| {
            it.row.batch = Some(BatchId::new(format!("b-{}", n % 3)));
            it.row.mission = n.is_multiple_of(2).then(|| "m".into());
            it.row.risk = [Risk::Low, Risk::Medium, Risk::High, Risk::Critical][n % 4].clone();
        });
        shelf.store.record(action, u64::MAX, None).await.map(drop)
    };
    let reject = async |n: usize| {
        let by = Actor { subject: "owner".to_owned(), workspace: "w".to_owned() };
        let ruling = Ruling { verdict: Verdict::Reject, ..approval(&format!("a-{n}")) };
        shelf.store.decide(ruling, by, None).await.map(drop)
    };

    for done in join_all((0..45).map(propose)).await {
        done.unwrap();
    }
    let (more, fewer) = tokio::join!(join_all((45..80).map(propose)), join_all((0..40).map(reject)));
    for done in more.into_iter().chain(fewer) {
        done.unwrap();
    }

    let verified = shelf.store.verify(&[]).await.unwrap();
    assert_eq!((verified.problems, verified.actions), (vec![], 80));
    assert_eq!(shelf.store.outstanding("w").await.unwrap().pending, 40);
}

#[tokio::test]
async fn missing_batch_is_looked_up_by_an_index() {
    let shelf = shelf().await;
    for (sql, column) in tx::SqliteTx::ELSEWHERE.into_iter().zip(["batch", "checkpoint"]) {
        let plan = sqlx::AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}"));
        let plan: Vec<(i64, i64, i64, String)> =
            sqlx::query_as(plan).bind("x").fetch_all(shelf.store.reader()).await.unwrap();

        let index = format!("actions_by_{column} (workspace=? AND {column}=?)");
        assert!(plan.iter().any(|(.., step)| step.contains(&index)), "{plan:?}");
    }
}

#[tokio::test]
async fn counts_of_a_part_are_looked_up_by_an_index() {
    let shelf = shelf().await;
    for (column, counts) in [
        ("mission", Counts { mission: Some("m".to_owned()), ..Counts::all("w") }),
        ("session", Counts { session: Some("s".to_owned()), ..Counts::all("w") }),
    ] {
        let query = outstanding::batches_of::<SqliteConnection>(&counts, 1);
        let plan = plan(&shelf.store, query.text()).await;

        let index = format!("actions_by_{column} (workspace=? AND {column}=?)");
        assert!(plan.iter().any(|step| step.contains(&index)), "{plan:?}");
    }
}

#[tokio::test]
async fn tokens_that_are_asked_for_together_are_each_told_apart() {
    let shelf = shelf().await;
    let now = shelf.clock.now();
    for (n, expires_at) in [(1, None), (2, Some(now.plus_millis(60_000))), (3, Some(now.plus_millis(-1)))] {
        let token = Token {
            id: format!("t{n}"),
            subject: format!("s{n}"),
            name: None,
            groups: Vec::new(),
            workspace: "w".to_owned(),
            scopes: Vec::new(),
            created_at: now,
            revoked_at: None,
            expires_at,
            last_used_at: None,
        };
        shelf.store.add_token(token, vec![n]).await.unwrap();
    }

    let subjects = join_all((0..40).map(async |n: u8| {
        let found = shelf.store.token(&[n % 5], now).await.unwrap();
        found.map(|token| token.subject)
    }));
    let subjects = subjects.await;
    assert!(shelf.store.revoke_token("t1".to_owned(), false, None).await.unwrap().is_some());

    for (n, subject) in subjects.into_iter().enumerate() {
        let live = [None, Some("s1".to_owned()), Some("s2".to_owned()), None, None];
        assert_eq!(subject, live[n % 5], "{n}");
    }
    assert!(shelf.store.token(&[1], now).await.unwrap().is_none());
    shelf.store.close().await;
    assert!(shelf.store.token(&[2], now).await.is_err());
}

/// Neither reads a workspace's history for a few rows, nor sorts.
#[tokio::test]
async fn every_list_is_looked_up_in_its_order() {
    let shelf = shelf().await;
    let columns = ["batch", "mission", "session", "run", "agent", "tool", "risk"];
    let statuses: [&[&str]; 4] =
        [&[], &["pending"], &["pending", "unknown"], &["executed", "failed", "rejected"]];
    for names in [None].into_iter().chain(columns.map(Some)) {
        for (statuses, before) in statuses.into_iter().flat_map(|it| [(it, None), (it, Some(7))]) {
            let filter = Filter {
                workspace: "w".to_owned(),
                statuses: statuses.iter().map(|&status| status.to_owned()).collect(),
                equal: names.iter().map(|&name| (name, "x".to_owned())).collect(),
                before,
                limit: 10,
                ..Filter::default()
            };
            for select in
                [packed_listing(&Tools::none()), packed_listing(&shelf.store.tools), whole_listing()]
            {
                let mut list = Statement::new("");
                read::push_list::<SqliteConnection>(&mut list, &select, &filter, filter.limit);
                let plan = plan(&shelf.store, list.text()).await;

                let walks = |step: &String| step.starts_with("SCAN") && step != "SCAN newest";
                assert!(!plan.iter().any(walks), "{filter:?}: {plan:?}");
                assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{filter:?}: {plan:?}");
                let everything = plan.iter().any(|step| step.contains("actions_by_workspace"));
                assert_eq!(everything, names.is_none() && statuses.is_empty(), "{filter:?}: {plan:?}");
            }
        }
    }
}

#[tokio::test]
async fn page_of_several_texts_has_each_row_once_in_order() {
    let shelf = shelf().await;
    for n in 0..9 {
        shelf.record(&format!("a{n}")).await.unwrap();
    }
    for (statuses, limit) in [(&["pending"][..], 7), (&["pending", "unknown"], 7), (&[], 6), (&[], 8)] {
        let statuses = statuses.iter().map(|&status| status.to_owned()).collect();
        let mut filter =
            Filter { workspace: "w".to_owned(), statuses, limit, bytes: u64::MAX, ..Filter::default() };
        let (mut ids, mut pages) = (Vec::new(), 0);
        loop {
            let mut take = |row: &crate::domain::Row| {
                ids.push(row.id.as_raw().to_owned());
                Ok(())
            };
            let page = shelf.store.rows(&filter, &mut take).await.unwrap();
            pages += 1;
            match page.next {
                Some(next) => filter.before = Some(next),
                None => break,
            }
        }

        assert_eq!(ids, (0..9).rev().map(|n| format!("a{n}")).collect::<Vec<_>>());
        assert_eq!(pages, 2, "{limit}");
    }
}

#[tokio::test]
async fn a_closed_store_says_so() {
    let shelf = shelf().await;
    shelf.record("a").await.unwrap();

    shelf.store.close().await;

    assert!(matches!(shelf.record("b").await, Err(StoreError::Closed)));
}

#[tokio::test]
async fn ping_fails_if_the_store_cannot_write() {
    let shelf = shelf().await;
    let log = || std::fs::metadata(shelf.folder.path().join("gate.db-wal")).unwrap().len();
    let before = log();
    shelf.store.ping().await.unwrap();
    assert!(log() > before, "a full disk is found by writing only");
    sqlx::query("PRAGMA query_only = ON").execute(&shelf.store.database.write).await.unwrap();
    let believed = shelf.store.ping().await;

    shelf.store.tried.lock().await.take();
    let failed = shelf.store.ping().await.unwrap_err();
    let (failed, told) = (failed.to_string(), format!("{:?}", crate::gate::error::ApiError::from(failed)));
    sqlx::query("PRAGMA query_only = OFF").execute(&shelf.store.database.write).await.unwrap();
    shelf.store.tried.lock().await.take();

    assert!(believed.is_ok(), "one try is enough for a while");
    assert!(failed.contains("read-only") && told.contains("read-only"), "{failed}, {told}");
    shelf.store.ping().await.unwrap();
}

#[tokio::test]
async fn read_only_store_is_verified_without_writing() {
    let shelf = shelf().await;
    shelf.approved("a").await;
    let (folder, path) = (tempfile::tempdir().unwrap(), shelf.folder.path().join("gate.db"));
    let copy = folder.path().join("copy.db");
    sqlite::backup(&path, &copy, &AtomicU64::new(0)).await.unwrap();

    let store = SqliteStore::open_to_read(&copy, context(&shelf.clock)).await.unwrap();
    let verified = store.verify(&shelf.store.audit_heads(None).await.unwrap()).await.unwrap();
    let refused = store.pause("w".to_owned(), true, None).await;
    store.close().await;

    assert_eq!((verified.problems, verified.actions), (vec![], 1));
    assert!(refused.unwrap_err().to_string().contains("read-only"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn what_only_sqlite_can_see_is_found() {
    let shelf = shelf().await;
    let new = action_with("a", |it| it.row.batch = Some(BatchId::new("b")));
    shelf.store.record(new, 10, None).await.unwrap();
    let heads = shelf.store.audit_heads(None).await.unwrap();
    let (path, copy) = (shelf.folder.path().join("whole.db"), shelf.folder.path().join("changed.db"));
    let vacuum = format!("VACUUM INTO '{}'", path.display());
    shelf.store.database.write.execute(sqlx::AssertSqlSafe(vacuum)).await.unwrap();
    std::fs::copy(&path, &copy).unwrap();
    let store = SqliteStore::open(&copy, context(&shelf.clock)).await.unwrap();
    let mut conn = store.database.write.acquire().await.unwrap();
    // An index with wrong content: all rows of all tables are unchanged.
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

/// The writer remembers heads from its last group.
#[tokio::test]
async fn heads_that_another_process_changed_are_read_again() {
    let shelf = shelf().await;
    let path = shelf.folder.path().join("gate.db");
    let other = SqliteStore::open(&path, context(&shelf.clock)).await.unwrap();

    shelf.record("a").await.unwrap();
    other.record(action("b"), u64::MAX, None).await.unwrap();
    shelf.record("c").await.unwrap();
    other.record(action("d"), u64::MAX, None).await.unwrap();
    let together = tokio::join!(shelf.record("e"), shelf.record("f"));

    assert!(together.0.is_ok() && together.1.is_ok(), "{together:?}");
    let verified = shelf.store.verify(&[]).await.unwrap();
    assert_eq!((verified.problems, verified.actions), (vec![], 6));
    assert_eq!(shelf.store.revision("w").await.unwrap(), 6);
}
