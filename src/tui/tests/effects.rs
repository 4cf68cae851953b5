//! Effects against a real journal.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::BoxStream;
use sqlx::{Connection as _, SqliteConnection};
use tokio::sync::mpsc;

use crate::contract::action::Unreadable;
use crate::domain::{
    ActionId, BatchKey, Capabilities, Decision, Draft, Finding, Outcome, PendingAction, Revision, Row,
    Settling, SourceName, Staged, SubmissionBatch, Timestamp,
};
use crate::inbox::{Inbox, Problem};
use crate::journal::{Journal, Write};
use crate::sources::{Signal, Source, SourceError, Synced};
use crate::tui::effects::Effects;
use crate::tui::msg::{Effect, Msg, What};

use super::desk::{key, source};

/// A source with a bug.
#[derive(Debug)]
struct Broken(SourceName);

#[async_trait::async_trait]
impl Source for Broken {
    fn name(&self) -> &SourceName {
        &self.0
    }

    fn capabilities(&self, _: &Row) -> Capabilities {
        Capabilities::READ_ONLY
    }

    async fn sync(&self, _: Option<Revision>) -> Result<Synced, SourceError> {
        panic!("a bug")
    }

    async fn get(&self, _: &[ActionId]) -> Result<Vec<Result<PendingAction, Unreadable>>, SourceError> {
        panic!("a bug")
    }

    async fn submit(&self, _: &SubmissionBatch, _: &str) -> Result<Vec<(ActionId, Outcome)>, SourceError> {
        panic!("a bug")
    }

    async fn settle(&self, _: &ActionId, _: Finding, _: Option<String>) -> Result<Settling, SourceError> {
        panic!("a bug")
    }

    fn watch(&self) -> Option<BoxStream<'static, Signal>> {
        None
    }
}

#[tokio::test]
async fn a_panic_is_an_answer() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(&folder.path().join("journal.db")).await.unwrap();
    let sources: Vec<Arc<dyn Source>> = vec![Arc::new(Broken(source()))];
    let inbox = Inbox::open(sources, journal, Duration::from_secs(9), None);
    let (sender, mut msgs) = mpsc::channel(64);
    let effects = Effects::new(inbox, sender);
    let ours = |problem: &Problem| problem.what.starts_with("failed inside placet");

    effects.perform(Effect::Sync { source: source(), since: None });
    assert!(matches!(next(&mut msgs).await, What::Synced(_, Err(problem)) if ours(&problem)));
    effects.perform(Effect::Load(vec![key("1")]));
    let What::Loaded(loaded) = next(&mut msgs).await else { panic!("it answers with what was loaded") };
    assert!(matches!(loaded.as_slice(), [(of, Err(problem))] if *of == key("1") && ours(problem)));
    effects.perform(Effect::LoadForReview { review: 7, keys: vec![key("1")] });
    assert!(matches!(next(&mut msgs).await, What::ReviewLoaded { review: 7, .. }));
}

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
    let staged = Staged {
        decision: Decision::APPROVE,
        batch: BatchKey::Alone(key(id)),
        digest: None,
        terms: None,
        at,
    };
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
