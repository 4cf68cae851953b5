//! The watch view's figures after a restart.

use super::*;
use crate::domain::{Flow, KeptMinute, KeptQueue, Minute, Queue, SourceName};

fn minute(number: i64, arrived: u64, pending: u64) -> KeptMinute {
    let queue = |queue, more| KeptQueue {
        queue,
        flow: Flow { arrived: arrived + more, rejected: 1, left: 2, ..Flow::default() },
        pending: pending + more,
    };
    KeptMinute {
        source: SourceName::new("team"),
        minute: Minute::new(number),
        watched: 30_000,
        queues: vec![queue(Queue::Agent("a\u{202e}b".into()), 0), queue(Queue::Tool("t".into()), 5)],
    }
}

#[tokio::test]
async fn minutes_are_restored_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let kept = vec![minute(100, 3, 7), minute(101, 4, 8)];
    let journal = Journal::open(&path).await.unwrap();
    journal.keep_minutes(&kept).await.unwrap();
    journal.close().await;

    let journal = Journal::open(&path).await.unwrap();

    assert_eq!(journal.kept_minutes(Minute::new(0)).await.unwrap(), kept);
    assert_eq!(journal.kept_minutes(Minute::new(101)).await.unwrap(), kept[1..]);
}

#[tokio::test]
async fn greater_counts_win_when_two_runs_saw_a_minute() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(&folder.path().join("journal.db")).await.unwrap();
    journal.keep_minutes(&[minute(100, 3, 7)]).await.unwrap();

    journal.keep_minutes(&[minute(100, 1, 6)]).await.unwrap();

    let kept = journal.kept_minutes(Minute::new(0)).await.unwrap();
    let agent = &kept[0].queues[0];
    assert_eq!((agent.flow.arrived, agent.pending), (3, 6), "the last write decides what is pending");
}

#[tokio::test]
async fn minutes_older_than_two_days_are_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(&folder.path().join("journal.db")).await.unwrap();
    journal.keep_minutes(&[minute(100, 3, 7), minute(101, 3, 7)]).await.unwrap();

    journal.keep_minutes(&[minute(100 + 48 * 60, 1, 1)]).await.unwrap();

    let kept = journal.kept_minutes(Minute::new(0)).await.unwrap();
    let minutes: Vec<i64> = kept.iter().map(|it| it.minute.number()).collect();
    assert_eq!(minutes, [101, 100 + 48 * 60]);
    let queues: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM minute_queue WHERE minute = 100")
        .fetch_one(journal.read())
        .await
        .unwrap();
    assert_eq!(queues, 0);
}
