//! Effects against a real journal.

use std::path::Path;
use std::time::Duration;

use sqlx::{Connection as _, SqliteConnection};
use tokio::sync::mpsc;

use crate::domain::{BatchKey, Decision, Draft, Staged, Timestamp};
use crate::inbox::Inbox;
use crate::journal::{Journal, Write};
use crate::tui::effects::Effects;
use crate::tui::msg::{Effect, Msg, What};

use super::desk::key;

async fn next(msgs: &mut mpsc::Receiver<Msg>) -> What {
    tokio::time::timeout(Duration::from_secs(10), msgs.recv()).await.unwrap().unwrap().what
}

async fn sql(path: &Path, sql: &'static str) {
    let mut connection = SqliteConnection::connect(path.to_str().unwrap()).await.unwrap();
    sqlx::query(sql).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

fn step(draft: &mut Draft, id: &str) -> Effect {
    let at = Timestamp::default();
    let staged = Staged { decision: Decision::APPROVE, batch: BatchKey::Alone(key(id)), digest: None, at };
    let step = draft.stage([(key(id), Some(staged))]).unwrap();
    Effect::Save(vec![Write::Step { position: draft.position(), step }])
}

#[tokio::test]
async fn what_could_not_be_saved_is_saved_before_what_comes_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let journal = Journal::open(&path).await.unwrap();
    let inbox = Inbox::open(Vec::new(), journal, Duration::from_secs(9), None);
    inbox.restore().await.unwrap();
    let (sender, mut msgs) = mpsc::channel(64);
    let effects = Effects::new(inbox.clone(), sender);
    let mut draft = Draft::default();
    sql(&path, "CREATE TRIGGER full BEFORE INSERT ON change BEGIN SELECT RAISE(ABORT, 'full'); END").await;

    effects.perform(step(&mut draft, "1"));
    assert!(matches!(next(&mut msgs).await, What::Saved { saves: 0, answer: Err(_) }));
    effects.perform(step(&mut draft, "2"));
    assert!(matches!(next(&mut msgs).await, What::Saved { saves: 0, answer: Err(_) }));
    sql(&path, "DROP TRIGGER full").await;
    effects.perform(step(&mut draft, "3"));

    assert!(matches!(next(&mut msgs).await, What::Saved { saves: 3, answer: Ok(()) }));
    assert_eq!(inbox.restore().await.unwrap().draft, draft);
}

#[tokio::test]
async fn what_could_not_be_saved_is_tried_again_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let journal = Journal::open(&path).await.unwrap();
    let inbox = Inbox::open(Vec::new(), journal, Duration::from_secs(9), None);
    inbox.restore().await.unwrap();
    let (sender, mut msgs) = mpsc::channel(64);
    let effects = Effects::new(inbox.clone(), sender);
    let mut draft = Draft::default();
    sql(&path, "CREATE TRIGGER full BEFORE INSERT ON change BEGIN SELECT RAISE(ABORT, 'full'); END").await;

    effects.perform(step(&mut draft, "1"));
    assert!(matches!(next(&mut msgs).await, What::Saved { answer: Err(_), .. }));
    sql(&path, "DROP TRIGGER full").await;

    // Quitting waits for it too.
    tokio::time::timeout(Duration::from_secs(10), effects.finish()).await.unwrap();
    assert!(matches!(next(&mut msgs).await, What::Saved { saves: 1, answer: Ok(()) }));
    assert_eq!(inbox.restore().await.unwrap().draft, draft);
}
