//! Effects against a real journal.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sqlx::{Connection as _, SqliteConnection};
use tokio::sync::mpsc;

use crate::domain::{
    ActionId, ActionKey, BatchKey, Decision, Draft, Revision, SourceName, Staged, SubmissionBatch, Timestamp,
};
use crate::inbox::{Inbox, Problem};
use crate::journal::{Journal, Write};
use crate::sources::{Full, Outcomes, Source, SourceError, SourceInfo, Synced};
use crate::tui::app::effects::Effects;
use crate::tui::core::msg::{Effect, Msg, What};
use crate::tui::testing::{action, key, source};

#[derive(Debug)]
struct Broken(SourceName);

impl SourceInfo for Broken {
    fn name(&self) -> &SourceName {
        &self.0
    }
}

#[async_trait::async_trait]
impl Source for Broken {
    async fn sync(&self, _: Option<Revision>) -> Result<Synced, SourceError> {
        panic!("a bug")
    }

    async fn get(&self, _: &[ActionId]) -> Result<Vec<Full>, SourceError> {
        panic!("a bug")
    }

    async fn submit(&self, _: &SubmissionBatch, _: &str) -> Result<Outcomes, SourceError> {
        panic!("a bug")
    }
}

#[tokio::test]
async fn panic_in_a_source_becomes_an_error() {
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
    let What::Loaded(loaded) = next(&mut msgs).await else { panic!("no loaded actions") };
    assert!(matches!(loaded.as_slice(), [(of, Err(problem))] if *of == key("1") && ours(problem)));
    effects.perform(Effect::LoadForReview { review: 7, keys: vec![key("1")] });
    assert!(matches!(next(&mut msgs).await, What::ReviewLoaded { review: 7, .. }));
}

async fn next(msgs: &mut mpsc::Receiver<Msg>) -> What {
    tokio::time::timeout(Duration::from_mins(1), msgs.recv()).await.unwrap().unwrap().what
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
async fn failed_writes_are_saved_before_later_ones() {
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
async fn failed_writes_are_retried() {
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

    // Quitting waits for the retry, too.
    let passing = async {
        tokio::time::pause();
        tokio::time::advance(Duration::from_secs(2)).await;
        tokio::time::resume();
    };
    let finishing = tokio::time::timeout(Duration::from_mins(1), effects.finish());
    let (finished, ()) = tokio::join!(finishing, passing);
    finished.unwrap();
    assert!(matches!(next(&mut msgs).await, What::Saved { saves: 1, answer: Ok(()) }));
    assert_eq!(inbox.restore().await.unwrap().draft, draft);
}

/// A source with two actions, or one that never answers.
#[derive(Debug)]
struct Still {
    name: SourceName,
    answers: bool,
}

impl Still {
    async fn answer(&self) {
        if !self.answers {
            std::future::pending::<()>().await;
        }
    }
}

impl SourceInfo for Still {
    fn name(&self) -> &SourceName {
        &self.name
    }
}

#[async_trait::async_trait]
impl Source for Still {
    async fn sync(&self, _: Option<Revision>) -> Result<Synced, SourceError> {
        self.answer().await;
        Ok(Synced::All { rows: Vec::new(), unreadable: Vec::new(), revision: None })
    }

    async fn get(&self, _: &[ActionId]) -> Result<Vec<Full>, SourceError> {
        self.answer().await;
        let long = format!("{{\"body\":\"{}\"}}", "long ".repeat(20_000));
        Ok(vec![
            Ok(action("1 refund billing low 9", "Refund", "{}")),
            Ok(action("2 refund billing low 9", "Long", &long)),
        ])
    }

    async fn submit(&self, _: &SubmissionBatch, _: &str) -> Result<Outcomes, SourceError> {
        self.answer().await;
        Ok(Vec::new())
    }
}

fn at(source: &str) -> ActionKey {
    ActionKey { source: SourceName::new(source), id: ActionId::new("1") }
}

async fn good_and_hung(folder: &Path) -> (Effects, mpsc::Receiver<Msg>) {
    let journal = Journal::open(&folder.join("journal.db")).await.unwrap();
    let source = |name: &str, answers| Arc::new(Still { name: SourceName::new(name), answers });
    let sources: Vec<Arc<dyn Source>> = vec![source("hung", false), source("good", true)];
    let inbox = Inbox::open(sources, journal, Duration::from_secs(9), None);
    let (sender, msgs) = mpsc::channel(64);
    (Effects::new(inbox, sender), msgs)
}

#[tokio::test]
async fn hanging_source_does_not_block_preview_or_review_of_another() {
    let folder = tempfile::tempdir().unwrap();
    let (effects, mut msgs) = good_and_hung(folder.path()).await;
    let keys = vec![at("hung"), at("good")];
    // No task waits for a disk here, so paused time advances when all are idle.
    tokio::time::pause();

    effects.perform(Effect::Load(keys.clone()));
    let What::Loaded(loaded) = next(&mut msgs).await else { panic!("no loaded actions") };
    assert!(matches!(loaded.as_slice(), [(of, Ok(_))] if *of == at("good")), "{loaded:?}");

    effects.perform(Effect::LoadForReview { review: 1, keys });
    let What::ReviewLoaded { actions, .. } = next(&mut msgs).await else { panic!("no answer to the review") };
    let answers: Vec<_> = actions.iter().map(|(key, answer)| (key.clone(), answer.is_ok())).collect();
    assert_eq!(answers, [(at("good"), true), (at("hung"), false)]);
    let problem = actions[1].1.as_ref().unwrap_err();
    assert!(problem.what.starts_with("could not be read"), "{problem:?}");
}

#[tokio::test]
async fn long_action_is_parsed_before_it_reaches_the_screen() {
    let folder = tempfile::tempdir().unwrap();
    let (effects, mut msgs) = good_and_hung(folder.path()).await;
    let long = ActionKey { id: ActionId::new("2"), ..at("good") };

    effects.perform(Effect::Load(vec![long.clone(), at("good")]));

    let What::Loaded(loaded) = next(&mut msgs).await else { panic!("the short action does not wait") };
    assert!(matches!(loaded.as_slice(), [(of, Ok(_))] if *of == at("good")), "{loaded:?}");
    let What::LoadedLong(key, cached) = next(&mut msgs).await else { panic!("the long action follows") };
    assert_eq!((key, cached.digest), (long, cached.action.digest()));
}

#[tokio::test]
async fn no_task_outlives_the_journal() {
    let folder = tempfile::tempdir().unwrap();
    let (effects, mut msgs) = good_and_hung(folder.path()).await;
    effects.perform(Effect::Follow(vec![at("hung")]));
    effects.perform(Effect::Sync { source: SourceName::new("hung"), since: None });
    effects.perform(Effect::LoadForReview { review: 1, keys: vec![at("hung")] });
    effects.watch();

    effects.end().await;
    drop(effects);

    let ended = async { while msgs.recv().await.is_some() {} };
    tokio::time::timeout(Duration::from_mins(1), ended).await.expect("a task still holds the inbox");
}
