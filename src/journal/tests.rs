use std::collections::HashMap;
use std::path::PathBuf;

use tempfile::TempDir;

use super::*;
use crate::contract::action;
use crate::domain::{
    ActionId, ActionKey, BatchId, BatchKey, Binding, Capabilities, Decision, Digest, Draft, Edits, Outcome,
    PendingAction, RawJson, ReasonRule, Row, Seen, SeenLog, SourceName, Staged, Status, Submission,
    SubmissionId, Timestamp, freeze,
};
use crate::sqlite;

mod desks;
mod held;
mod minutes;
mod receipts;

struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("journal.db")
    }

    async fn open(&self) -> Journal {
        Journal::open(&self.path()).await.unwrap()
    }
}

/// Leaves the state after kill -9: the run's file without a lock.
async fn crash(journal: Journal) {
    let left = journal.path.with_file_name("journal.db.runs").join(&journal.owner.id);
    assert!(left.exists());
    journal.database.close().await;
    drop(journal);
    std::fs::write(left, "").unwrap();
}

fn key(id: &str) -> ActionKey {
    ActionKey { source: SourceName::new("s"), id: ActionId::new(id) }
}

fn digest(of: &str) -> Digest {
    Digest::of("t", "w", of)
}

fn staged(id: &str, decision: Decision) -> Staged {
    let batch = match id {
        "1" => BatchKey::Batch(SourceName::new("s"), BatchId::new("m:t")),
        _ => BatchKey::Alone(key(id)),
    };
    let terms = Some(digest("terms"));
    Staged { decision, batch, digest: Some(digest(id)), terms, at: Timestamp::from_millis(7) }
}

fn edited() -> Decision {
    let edits = Edits::new(RawJson::parse(r#"{"n": 1.10}"#).unwrap()).unwrap();
    Decision::Approve { edits: Some(edits), comment: Some("c\u{202e}".to_owned()) }
}

#[derive(Default)]
struct Desk {
    draft: Draft,
    writes: Vec<Write>,
}

impl Desk {
    fn stage(&mut self, wanted: &[(&str, Option<Decision>)]) {
        let wanted = wanted.iter().map(|(id, decision)| (key(id), decision.clone().map(|d| staged(id, d))));
        let step = self.draft.stage(wanted.collect::<Vec<_>>()).unwrap();
        self.writes.push(Write::Step { position: self.draft.position(), step });
    }

    fn undo(&mut self) {
        self.draft.undo().unwrap();
        self.writes.push(Write::Position(self.draft.position()));
    }

    fn settle(&mut self, ids: &[&str]) {
        for id in ids {
            self.draft.settle(&[key(id)]);
        }
        self.writes.push(Write::Settle(ids.iter().map(|id| key(id)).collect()));
    }

    async fn save(&mut self, journal: &Journal) {
        for write in self.writes.drain(..) {
            journal.save(&[write]).await.unwrap();
        }
    }
}

fn some_desk() -> Desk {
    let mut desk = Desk::default();
    desk.stage(&[("1", Some(edited())), ("2", Some(Decision::REJECT))]);
    desk.stage(&[("2", Some(Decision::APPROVE))]);
    desk.stage(&[("3", Some(Decision::Reject { reason: Some("no".to_owned()) }))]);
    desk
}

fn submission(id: &str) -> Submission {
    let can = Capabilities {
        edit: true,
        reason: ReasonRule::Optional,
        comment: true,
        retry: false,
        settle: true,
        binding: Binding::Source,
        ..Capabilities::PLAIN
    };
    let action = |id: &str| {
        let batch = if id == "1" { r#""batchId":"m:t","# } else { "" };
        let text = format!(
            r#"{{"id":"{id}",{batch}"toolName":"t","workspaceId":"w","toolInput":{{"n":1}},"status":"pending"}}"#
        );
        // The second action has no terms, as some sources give none.
        let terms = (id == "1").then(|| digest("terms"));
        let read = action::read(&text).unwrap();
        PendingAction { terms, row: Row { can, ..read.row }, ..read }
    };
    let loaded = HashMap::from(["1", "2"].map(|id| (key(id), action(id))));
    let decided = std::collections::BTreeMap::from(
        [("1", edited()), ("2", Decision::REJECT)]
            .map(|(id, decision)| (key(id), Staged { digest: None, terms: None, ..staged(id, decision) })),
    );
    freeze(SubmissionId::new(id), &decided, &loaded, |_| 1, Timestamp::default()).unwrap()
}

fn ids(pasts: &[SubmissionRecord]) -> Vec<&str> {
    pasts.iter().map(|past| past.id.as_str()).collect()
}

#[tokio::test]
async fn draft_survives_a_crash_step_by_step() {
    let place = Place::new();
    let mut desk = some_desk();
    desk.undo();
    desk.undo();
    let journal = place.open().await;
    desk.save(&journal).await;
    crash(journal).await;

    let restored = place.open().await.restore().await.unwrap();

    assert_eq!(restored.draft, desk.draft);
    assert_eq!(restored.draft.get(&key("1")).unwrap().decision, edited());
}

#[tokio::test]
async fn steps_of_any_size_are_restored_and_settled() {
    let ids: Vec<String> = (0..450).map(|n| n.to_string()).collect();
    let all =
        |decision: &Decision| ids.iter().map(|id| (id.as_str(), Some(decision.clone()))).collect::<Vec<_>>();
    let place = Place::new();
    let mut desk = Desk::default();
    desk.stage(&all(&Decision::APPROVE));
    desk.stage(&all(&edited()));
    desk.stage(&all(&Decision::APPROVE)[..201]);
    let journal = place.open().await;
    desk.save(&journal).await;
    assert_eq!(journal.restore().await.unwrap().draft, desk.draft);

    desk.settle(&ids.iter().map(String::as_str).take(401).collect::<Vec<_>>());
    desk.save(&journal).await;

    assert_eq!(journal.restore().await.unwrap().draft, desk.draft);
}

#[tokio::test]
async fn new_step_deletes_stored_redo_steps() {
    let place = Place::new();
    let mut desk = some_desk();
    desk.undo();
    desk.undo();
    desk.stage(&[("9", Some(Decision::APPROVE))]);
    let journal = place.open().await;

    desk.save(&journal).await;

    assert_eq!(journal.restore().await.unwrap().draft, desk.draft);
}

#[tokio::test]
async fn settling_changes_disk_and_draft_alike() {
    for settled in [&["1"][..], &["2"], &["3"], &["1", "2"], &["1", "2", "3"], &["none"]] {
        for undone in [0, 1] {
            let place = Place::new();
            let mut desk = some_desk();
            (0..undone).for_each(|_| desk.undo());
            desk.settle(settled);
            desk.stage(&[("4", Some(Decision::APPROVE))]);
            let journal = place.open().await;

            desk.save(&journal).await;

            assert_eq!(journal.restore().await.unwrap().draft, desk.draft, "{settled:?}, {undone} undone");
        }
    }
}

#[tokio::test]
async fn edit_texts_and_seen_content_are_restored_until_settled() {
    let place = Place::new();
    let text = |text: &str| EditText { text: text.to_owned(), of: digest("x") };
    let seen = |id: &str, seen| Write::Seen { key: key(id), digest: digest(id), seen };
    let edit = |id: &str, text| Write::EditText { key: key(id), text };
    let journal = place.open().await;
    journal
        .save(&[
            edit("1", Some(text("a"))),
            edit("1", Some(text("b"))),
            edit("2", Some(text("c"))),
            edit("3", Some(text("d"))),
            edit("3", None),
            seen("1", Seen::InFull),
            seen("2", Seen::Opened),
            Write::Settle(vec![key("2")]),
        ])
        .await
        .unwrap();
    crash(journal).await;

    let restored = place.open().await.restore().await.unwrap();

    assert_eq!(restored.edit_texts, HashMap::from([(key("1"), text("b"))]));
    let mut want = SeenLog::default();
    want.note(&key("1"), digest("1"), Seen::InFull);
    assert_eq!(restored.seen, want);
}

#[tokio::test]
async fn inboxes_have_separate_desks_and_take_over_abandoned_ones() {
    let place = Place::new();
    let (first, second) = (place.open().await, place.open().await);
    let mut desk = some_desk();
    desk.save(&first).await;

    let restored = second.restore().await.unwrap();
    assert!(restored.draft.is_empty() && restored.is_shared);
    let mut other = Desk::default();
    other.stage(&[("8", Some(Decision::APPROVE))]);
    other.save(&second).await;
    assert_eq!(
        first.restore().await.unwrap().draft,
        desk.draft,
        "the second run does not change the first run's desk"
    );

    crash(first).await;
    assert!(!second.restore().await.unwrap().is_shared, "the first has ended");
    let third = place.open().await;
    assert_eq!(third.restore().await.unwrap().draft, desk.draft);
    assert_eq!(second.restore().await.unwrap().draft, other.draft);
}

#[tokio::test]
async fn desk_with_work_is_taken_over_before_an_empty_one() {
    let place = Place::new();
    let (first, second) = (place.open().await, place.open().await);
    let mut desk = some_desk();
    desk.save(&first).await;
    second.restore().await.unwrap();
    crash(first).await;
    crash(second).await;

    assert_eq!(place.open().await.restore().await.unwrap().draft, desk.draft);
}

#[tokio::test]
async fn submitting_takes_no_desk() {
    let place = Place::new();
    let journal = place.open().await;
    some_desk().save(&journal).await;
    crash(journal).await;

    let script = place.open().await;
    script.begin(&submission("a"), 0, None).await.unwrap();
    let inbox = place.open().await;

    assert_eq!(inbox.restore().await.unwrap().draft, some_desk().draft);
}

#[tokio::test]
async fn submission_survives_a_crash_completely() {
    let place = Place::new();
    let journal = place.open().await;
    let submission = submission("a");
    journal.begin(&submission, 4, Some("ada")).await.unwrap();
    journal.note(submission.id(), &[(key("2"), Outcome::Rejected)]).await.unwrap();
    crash(journal).await;

    let next = place.open().await;
    let pasts = next.unsettled().await.unwrap();

    let past = &pasts[0];
    assert_eq!((ids(&pasts), past.reviewer.as_deref(), past.left_pending), (vec!["a"], Some("ada"), 4));
    let kept: Vec<_> = past
        .items
        .iter()
        .map(|sent| (sent.key.id.as_raw(), sent.decision.clone(), sent.outcome.clone()))
        .collect();
    assert_eq!(kept, [("1", edited(), None), ("2", Decision::REJECT, Some(Outcome::Rejected))]);
    let sent = &submission.batches()[0].items()[0];
    assert_eq!((past.items[0].digest, past.items[0].effective), (sent.digest, sent.effective));
    assert_eq!((past.items[0].terms, past.items[1].terms), (Some(digest("terms")), None));
    let lines = past.report().lines;
    assert!(matches!(lines[0].outcome, Outcome::Unknown { .. }));
    assert_eq!(lines[0].batch, submission.batches()[0].key().unwrap());
    assert_eq!(lines[1].batch, submission.batches()[1].key().unwrap());
}

#[tokio::test]
async fn unsettled_submissions_are_only_taken_over_from_ended_runs() {
    let place = Place::new();
    let (one, two) = (place.open().await, place.open().await);
    for id in ["in-flight", "open", "done"] {
        one.begin(&submission(id), 0, None).await.unwrap();
    }
    one.finish(&SubmissionId::new("open"), State::Open).await.unwrap();
    one.finish(&SubmissionId::new("done"), State::Done).await.unwrap();

    assert_eq!(ids(&two.unsettled().await.unwrap()), Vec::<&str>::new(), "the owner is alive");
    assert_eq!(ids(&one.unsettled().await.unwrap()), ["open"]);
    crash(one).await;
    let mut taken = two.unsettled().await.unwrap();
    taken.sort_by(|a, b| a.id.cmp(&b.id));
    assert_eq!(ids(&taken), ["in-flight", "open"]);
    let third = place.open().await;
    assert_eq!(ids(&third.unsettled().await.unwrap()), Vec::<&str>::new(), "the second run owns them");
    assert_eq!(two.unsettled().await.unwrap().len(), 2, "unsettled until the second run settles them");
}

#[tokio::test]
async fn submission_is_begun_only_once() {
    let place = Place::new();
    let journal = place.open().await;
    journal.begin(&submission("a"), 0, None).await.unwrap();

    let again = journal.begin(&submission("a"), 0, None).await;

    assert!(matches!(again, Err(JournalError::Database { .. })), "{again:?}");
    assert_eq!(ids(&journal.log(10).await.unwrap()), ["a"]);
}

#[tokio::test]
async fn damaged_journal_error_says_what_to_do() {
    let place = Place::new();
    std::fs::write(
        place.path(),
        "this is no database, and it is long enough to be taken for a header ".repeat(9),
    )
    .unwrap();

    let error = Journal::open(&place.path()).await.unwrap_err();

    assert!(matches!(error, JournalError::Damaged { .. }), "{error:?}");
    assert!(error.to_string().contains("move it away and start again"), "{error}");
}

#[tokio::test]
async fn corrupt_pages_are_found_when_opening() {
    use std::io::{Seek as _, SeekFrom, Write as _};
    let place = Place::new();
    let journal = place.open().await;
    some_desk().save(&journal).await;
    journal.begin(&submission("a"), 0, None).await.unwrap();
    crash(journal).await;
    let mut file = std::fs::OpenOptions::new().write(true).open(place.path()).unwrap();
    let pages = file.metadata().unwrap().len() / 4_096;
    for page in 2..pages {
        file.seek(SeekFrom::Start(page * 4_096)).unwrap();
        file.write_all(&[0xA5; 4_096]).unwrap();
    }

    let error = Journal::open(&place.path()).await.unwrap_err();

    assert!(matches!(error, JournalError::Damaged { .. }), "{error:?}");
}

#[tokio::test]
async fn unreadable_decision_is_reported_as_damage() {
    let place = Place::new();
    let journal = place.open().await;
    some_desk().save(&journal).await;
    sqlx::query("UPDATE change SET after = '{' WHERE step = 1")
        .execute(&journal.database.write)
        .await
        .unwrap();

    let error = journal.restore().await.unwrap_err();

    assert!(matches!(&error, JournalError::Damaged { what, .. } if what.contains("staged")), "{error:?}");
}

#[tokio::test]
async fn error_names_an_unusable_folder() {
    let place = Place::new();
    std::fs::write(place.0.path().join("file"), "").unwrap();

    let error = Journal::open(&place.0.path().join("file/journal.db")).await.unwrap_err();

    assert!(error.to_string().contains("file"), "{error}");
    assert!(matches!(error, JournalError::Open(sqlite::OpenError::Folder { .. })), "{error:?}");
}

#[tokio::test]
async fn sent_decision_keeps_its_risk_and_last_known_status() {
    let place = Place::new();
    let journal = place.open().await;
    let submission = submission("a");
    let risk = submission.batches()[0].items()[0].risk.clone();
    journal.begin(&submission, 0, None).await.unwrap();
    journal.note(submission.id(), &[(key("1"), Outcome::Approved)]).await.unwrap();
    journal.followed(&key("1"), "approved", None).await.unwrap();
    journal.followed(&key("1"), "failed", Some("no\u{1b}")).await.unwrap();

    let past = journal.past(submission.id()).await.unwrap().unwrap();
    let about = journal.about(&key("1")).await.unwrap();

    let first = past.items.iter().find(|sent| sent.key == key("1")).unwrap();
    let seen = LastSeen { status: Status::Failed, error: Some("no\u{1b}".into()) };
    assert_eq!((first.risk.clone(), first.followed.clone()), (risk, Some(seen)));
    assert!(past.items.iter().all(|sent| sent.key == key("1") || sent.followed.is_none()));
    assert_eq!(about.len(), 1);
    assert_eq!(about[0].2, *first);
}

#[tokio::test]
async fn lost_decision_keeps_its_input_until_its_outcome_is_known() {
    let place = Place::new();
    let journal = place.open().await;
    let submission = submission("a");
    journal.hold(&submission, 0, None).await.unwrap();
    journal.begin(&submission, 0, None).await.unwrap();
    let lost = Outcome::Unknown { why: "no answer".into() };
    let inputs = async || {
        let past = journal.past(submission.id()).await.unwrap().unwrap();
        let input = |sent: &Sent| sent.input.as_ref().map(|input| input.as_str().to_owned());
        past.items.iter().map(input).collect::<Vec<_>>()
    };

    let kept = Some(r#"{"n":1}"#.to_owned());
    assert_eq!(inputs().await, [kept.clone(), kept.clone()], "there is no answer yet");
    journal.note(submission.id(), &[(key("1"), lost), (key("2"), Outcome::Rejected)]).await.unwrap();
    assert_eq!(inputs().await, [kept, None]);
    journal.note(submission.id(), &[(key("1"), Outcome::Approved)]).await.unwrap();
    assert_eq!(inputs().await, [None, None]);
}
