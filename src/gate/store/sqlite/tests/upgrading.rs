//! A database of the first version, brought to today's.

use sqlx::Executor as _;

use super::*;
use crate::domain::{Flow, Minute, Queue};

/// As the first version left it: one action that waits, one that was approved, one that ran; a token.
const FIRST: &str = "
INSERT INTO heads VALUES ('w', 7, 1);
INSERT INTO actions (seq, id, workspace, batch, mission, proposer, tool, title, risk, size, digest, status, created_at,
    resolved_at, resolved_by, effective_digest, decision_revision, fence, executed_at, revision) VALUES
    (1, 'waits', 'w', 'm:t', 'm', 'agent', 't', 't', 'critical', 10, ?, 'pending', 1, NULL, NULL, NULL, NULL, 0, NULL, 1),
    (2, 'agreed', 'w', 'm:t', 'm', 'agent', 't', 't', 'low', 10, ?, 'approved', 2, 4, 'owner', ?, 4, 0, NULL, 4),
    (3, 'done', 'w', NULL, NULL, 'agent', 't', 't', 'low', 10, ?, 'executed', 3, 5, 'owner', ?, 5, 1, 7, 7);
INSERT INTO payloads (seq, input, result) VALUES (1, '{\"n\":1.10}', NULL), (2, '{\"n\":1.10}', NULL), (3, '{\"n\":1.10}', '1');
INSERT INTO events VALUES
    ('w', 1, 'waits', 'created', 1, 'agent'), ('w', 2, 'agreed', 'created', 2, 'agent'),
    ('w', 3, 'done', 'created', 3, 'agent'), ('w', 4, 'agreed', 'approved', 4, 'owner'),
    ('w', 5, 'done', 'approved', 5, 'owner'), ('w', 6, 'done', 'dispatched', 6, NULL), ('w', 7, 'done', 'executed', 7, NULL);
INSERT INTO tokens VALUES ('t1', x'00', 'owner', 'w', 'read', 1, NULL);
";

#[tokio::test]
async fn a_database_of_the_first_version_is_brought_up_to_date_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gate.db");
    let first = sqlite::open(&path, &MIGRATIONS[..1]).await.unwrap();
    let rows = FIRST.replace('?', &format!("'{}'", Digest::of("t", "w", r#"{"n":1.10}"#)));
    first.write.execute(sqlx::AssertSqlSafe(rows)).await.unwrap();
    first.close().await;

    let clock = Clock::default();
    let store = SqliteStore::open(&path, context(&clock)).await.unwrap();
    let briefing = store.briefing(&Counts::all("w"), Batches::All).await.unwrap();
    let batches = briefing.batches.unwrap();
    let timeline = store.timeline("done").await.unwrap();
    let waits = store.outstanding("w").await.unwrap();
    store.decide(approval("waits"), owner(), None).await.unwrap();
    let run = store.dispatch("agreed".to_owned(), Lease { by: None, millis: 1_000 }, None).await.unwrap();
    let verified = store.verify(&[]).await.unwrap();

    assert_eq!((briefing.pending, briefing.blocked_missions, briefing.revision), (1, 1, 7));
    assert_eq!((waits.pending, waits.high, waits.oldest), (1, 1, Some(Timestamp::from_millis(1))));
    assert_eq!((batches[0].batch_id.as_str(), batches[0].highest_risk.as_str()), ("m:t", "critical"));
    assert_eq!(
        timeline.iter().map(|row| row.kind.as_str()).collect::<Vec<_>>(),
        ["created", "approved", "dispatched", "executed"]
    );
    assert!(matches!(run, Dispatched::Run(_)), "an approval from before the terms is still one");
    assert_eq!(verified.problems, Vec::<String>::new());
    assert_eq!((verified.rows, verified.unchained), (9, 7));
    assert!(store.token(&[0], clock.now()).await.unwrap().is_some());
}

#[tokio::test]
async fn an_approval_from_before_has_its_whole_time_from_the_upgrade_on() {
    const WEEK: i64 = 7 * 24 * 60 * 60 * 1_000;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gate.db");
    let first = sqlite::open(&path, &MIGRATIONS[..1]).await.unwrap();
    let rows = FIRST.replace('?', &format!("'{}'", Digest::of("t", "w", r#"{"n":1.10}"#)));
    first.write.execute(sqlx::AssertSqlSafe(rows)).await.unwrap();
    first.close().await;
    let clock = Clock::default();
    let tools = Tools::open(&crate::gate::tests::settings(folder.path())).unwrap();
    let context = Context { tools: Arc::new(tools), ..context(&clock) };

    let store = SqliteStore::open(&path, context).await.unwrap();
    clock.pass(WEEK - 60_000);
    let early = store.lapse().await.unwrap();
    clock.pass(120_000);
    let late = store.lapse().await.unwrap();

    assert_eq!((early, late), (0, 1));
    let agreed = store.get("agreed").await.unwrap().unwrap().action;
    assert!(agreed.row.has_lapsed());
    assert_eq!(store.verify(&[]).await.unwrap().problems, Vec::<String>::new());
}

/// As the second version left it, with two days between the first row and the others.
const SECOND: &str = r#"
INSERT INTO heads VALUES ('w', 12, 1, NULL);
INSERT INTO actions (seq, id, workspace, agent, proposer, tool, title, risk, size, digest, status, created_at, resolved_at,
    resolved_by, effective_digest, decision_revision, fence, executed_at, revision) VALUES
    (1, 'old', 'w', NULL, 'agent', 't', 't', 'low', 10, 'd', 'executed', 1, 2, 'owner', 'd', 2, 1, 3, 3),
    (2, 'waits', 'w', 'refunds', 'agent', 't', 't', 'low', 10, 'd', 'pending', 172860010, NULL, NULL, NULL, NULL, 0, NULL, 4),
    (3, 'again', 'w', '', 'agent', 't', 't', 'low', 10, 'd', 'executed', 172860020, 172860040, 'owner', 'e', 6, 2, 172920010, 10),
    (4, 'no', 'w', NULL, 'agent', 'u', 't', 'low', 10, 'd', 'rejected', 172860030, 172920020, 'owner', NULL, NULL, 0, NULL, 12);
INSERT INTO payloads (seq, input) VALUES (1, '1'), (2, '1'), (3, '1'), (4, '1');
INSERT INTO audit (workspace, revision, action, kind, at, details) VALUES
    ('w', 1, 'old', 'created', 1, '{}'), ('w', 2, 'old', 'approved', 2, '{}'), ('w', 3, 'old', 'executed', 3, '{}'),
    ('w', 4, 'waits', 'created', 172860010, '{}'), ('w', 5, 'again', 'created', 172860020, '{}'),
    ('w', 6, 'again', 'approved', 172860040, '{}'), ('w', 7, 'again', 'dispatched', 172860041, '{}'),
    ('w', 8, 'again', 'lost', 172860042, '{}'), ('w', 9, 'again', 'settled', 172860043, '{"status":"approved"}'),
    ('w', 10, 'again', 'settled', 172920010, '{"status":"executed","reason":"found"}'),
    ('w', 11, 'no', 'created', 172860030, '{}'), ('w', 12, 'no', 'rejected', 172920020, '{}');
"#;

#[tokio::test]
async fn the_last_two_days_of_a_database_of_the_second_version_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gate.db");
    let second = sqlite::open(&path, &MIGRATIONS[..2]).await.unwrap();
    second.write.execute(sqlx::AssertSqlSafe(SECOND)).await.unwrap();
    second.close().await;

    let clock = Clock::default();
    let store = SqliteStore::open(&path, context(&clock)).await.unwrap();
    let asked = AskedFlows {
        workspace: "w".to_owned(),
        from: Minute::new(0),
        decided: Minute::new(0),
        now: clock.now(),
        reviewers: true,
        groups: None,
    };
    let flows = store.flows(&asked).await.unwrap();

    let nothing = Flow::default();
    let told: Vec<_> = flows.queues.into_iter().map(|it| (it.queue, it.pending, it.minutes)).collect();
    let minute = Minute::new(2_881);
    let again = Flow { arrived: 1, approved: 1, edited: 1, unknown: 1, ..nothing };
    let want = [
        (Queue::Agent("refunds".into()), 1, vec![(minute, Flow { arrived: 1, ..nothing })]),
        (
            Queue::Tool("t".into()),
            0,
            vec![(minute, again), (minute.plus(1), Flow { executed: 1, ..nothing })],
        ),
        (
            Queue::Tool("u".into()),
            0,
            vec![(minute, Flow { arrived: 1, ..nothing }), (minute.plus(1), Flow { rejected: 1, ..nothing })],
        ),
    ];
    assert_eq!(told, want);
    let who: Vec<_> = flows.reviewers.iter().map(|it| (it.approved, it.edited, it.rejected)).collect();
    assert_eq!(who, [(2, Some(1), 1)], "decisions are those of the actions");
}

/// Keys as the sixth version kept them: of a proposal, of one that was pruned, of a decision and of a claim.
const KEYS: &str = r#"
INSERT INTO replies VALUES
    ('w', 'agent', 'kept', x'01', '{"status":"queued","pending_action_id":"waits","tool_name":"t","message":"m"}', 1),
    ('w', 'agent', 'pruned', x'01', '{"status":"queued","pending_action_id":"gone","tool_name":"t","message":"m"}', 1),
    ('w', 'owner', 'decided', x'01', '{"status":"executed","toolInput":{}}', 1),
    ('w', 'agent', 'claimed', x'01', '1', 1);
"#;

#[tokio::test]
async fn keys_of_an_older_version_live_as_long_as_their_action() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gate.db");
    let sixth = sqlite::open(&path, &MIGRATIONS[..6]).await.unwrap();
    let rows = "INSERT INTO actions (seq, id, workspace, proposer, tool, title, risk, size, digest, status, created_at, revision) \
        VALUES (1, 'waits', 'w', 'agent', 't', 't', 'low', 10, 'd', 'pending', 1, 1); \
        INSERT INTO payloads (seq, input) VALUES (1, '{}')";
    sixth.write.execute(rows).await.unwrap();
    sixth.write.execute(KEYS).await.unwrap();
    sixth.close().await;

    let clock = Clock::default();
    let store = SqliteStore::open(&path, context(&clock)).await.unwrap();
    clock.pass(1_000);
    let forgotten = store.forget_replies(0, 10_000).await.unwrap();
    let record = async |key: &str| {
        let key = Some(Keyed { key: key.to_owned(), fingerprint: vec![1] });
        store.record(action("new"), 10, key).await
    };

    assert_eq!(forgotten, 2, "those of a decision and of a claim");
    assert_eq!(record("kept").await.unwrap(), Recorded { id: "waits".to_owned(), again: true });
    assert!(matches!(record("pruned").await, Err(StoreError::Refused(Refused::RecordedAndPruned))));
    let indexes = ["replies_by_age", "replies_pruned", "pruned_calls_by_age"];
    for (sql, index) in tx::FORGETTING.into_iter().zip(indexes) {
        let steps = plan(&store, sql).await;
        assert!(steps.iter().any(|step| step.contains("SEARCH") && step.contains(index)), "{steps:#?}");
    }
}
