//! Sources that take one decision per request and run it within the request.

use super::*;

const A: Decision = Decision::APPROVE;

fn batch(id: &str) -> Submission {
    submission(id, &[("s", Some("b"), "1", A), ("s", Some("b"), "2", A), ("s", Some("b"), "3", A)])
}

/// Makes an approved action fail; only the answer to the decision reports it.
fn failed(source: &Arc<Fake>, id: &str) {
    let ended = text(id, r#""status":"failed","error":"it exploded""#);
    source.state().ended.insert(ActionId::new(id), ended);
}

#[tokio::test]
async fn each_answer_is_journaled_before_the_next_decision() {
    let (house, source) = (House::new(), Fake::new("s"));
    source.state().at_once = Some(1);
    let inbox = house.inbox(&[&source]).await;
    failed(&source, "1");

    let report = inbox.submit(batch("s-1"), 0).await.unwrap();

    assert_eq!(report.counts().approved, 3);
    assert_eq!(source.sent(), [["1"], ["2"], ["3"]]);
    let keys: Vec<_> = source.state().submits.iter().map(|(key, _)| key.clone()).collect();
    assert_eq!(keys, ["s-1:0", "s-1:0.1", "s-1:0.2"]);
    let before = source.state().receipts.clone();
    assert_eq!(before[0], ["sent 1", "sent 2", "sent 3"]);
    assert_eq!(before[1][3..], ["answered 1", "followed 1"], "a crash here keeps the answer");
    assert_eq!(before[2][3..], ["answered 1", "followed 1", "answered 2"]);
}

#[tokio::test]
async fn failure_in_an_answer_survives_a_restart() {
    let (house, source) = (House::new(), Fake::new("s"));
    let inbox = house.inbox(&[&source]).await;
    failed(&source, "1");
    let report = inbox.submit(batch("s-1"), 0).await.unwrap();
    let told = inbox.ended(&report);
    assert_eq!(
        told.iter().map(|it| (it.key.id.as_raw(), &it.status)).collect::<Vec<_>>(),
        [("1", &Status::Failed)]
    );
    end(inbox, &[&source]);

    source.state().ended.clear();
    let inbox = house.inbox(&[&source]).await;

    let receipts = inbox.journal.receipts_of(&SubmissionId::new("s-1")).await.unwrap();
    let about: Vec<_> = receipts
        .iter()
        .filter(|it| it.action == "1")
        .map(|it| (it.kind.word(), it.outcome.as_deref().unwrap_or_default()))
        .collect();
    assert_eq!(
        about,
        [
            ("sent", ""),
            ("answered", r#""approved""#),
            ("followed", r#"{"status":"failed","error":"it exploded"}"#),
        ]
    );
}

#[tokio::test]
async fn forbidden_decision_stops_its_batch() {
    let (house, source) = (House::new(), Fake::new("s"));
    source.state().at_once = Some(2);
    let inbox = house.inbox(&[&source]).await;
    source.answers(Err(SourceError::Forbidden { why: "no".into() }));

    let report = inbox.submit(batch("s-1"), 0).await.unwrap();

    assert_eq!(source.sent(), [["1", "2"]]);
    assert_eq!(report.counts().failed, 3);
}

#[tokio::test]
async fn action_missing_while_it_runs_is_read_again() {
    let (house, source) = (House::new(), Fake::new("s"));
    let inbox = house.inbox(&[&source]).await;
    source.answers(Err(lost()));
    inbox.submit(submission("s-1", &[("s", None, "1", A)]), 0).await.unwrap();
    let read = async |inbox: &Inbox| inbox.reconcile().await.unwrap().pop().map(|it| it.report.counts());

    assert_eq!(read(&inbox).await.map(|counts| counts.unknown), Some(1));
    source.stands("1", &[r#""status":"executed""#]);
    assert_eq!(read(&inbox).await.map(|counts| counts.approved), Some(1));
    assert_eq!(read(&inbox).await, None);
}

#[tokio::test]
async fn submit_waits_for_an_action_that_runs_first() {
    let (house, source) = (House::new(), Fake::new("s"));
    source.state().runs_for = Duration::from_mins(5);
    source.state().answers_after = Duration::from_millis(50);
    let inbox = house.inbox(&[&source]).await.in_a_hurry(Duration::from_millis(5));

    let report = inbox.submit(submission("s-1", &[("s", None, "1", A)]), 0).await.unwrap();

    assert_eq!(report.counts().approved, 1);
}

#[tokio::test]
async fn single_decisions_keep_the_order_of_the_submission() {
    for (at_once, want) in [(1, vec!["4", "1", "3", "2"]), (usize::MAX, vec!["4,3", "1,2"])] {
        let (house, source) = (House::new(), Fake::new("s"));
        source.state().at_once = Some(at_once);
        let inbox = house.inbox(&[&source]).await;
        let all = [("4", "old"), ("1", "new"), ("3", "old"), ("2", "new")];
        let given = all.map(|(id, batch)| ("s", Some(batch), id, Decision::APPROVE));

        inbox.submit(submission_as_given("s-1", &given), 0).await.unwrap();

        let sent: Vec<String> = source.sent().iter().map(|ids| ids.join(",")).collect();
        assert_eq!(sent, want);
        let log = inbox.log(1).await.unwrap();
        let kept: Vec<&str> = log[0].items.iter().map(|sent| sent.key.id.as_raw()).collect();
        assert_eq!(kept, ["4", "1", "3", "2"], "in the order of sending");
    }
}

#[tokio::test]
async fn batches_of_a_checkpoint_go_in_one_request() {
    for cascades in [true, false] {
        let (house, gate) = (House::new(), Fake::new("s"));
        gate.state().cascades = cascades;
        let inbox = house.inbox(&[&gate]).await;
        let (mut staged, mut loaded) = (Vec::new(), HashMap::new());
        for (id, batch, checkpoint) in [("1", "m:a", "c"), ("2", "m:b", "c"), ("3", "m:c", "d")] {
            let more = format!(r#""status":"pending","batchId":"{batch}","checkpointId":"{checkpoint}""#);
            let mut action = action::read(&text(id, &more)).unwrap();
            action.row.can = CAN;
            let batch = BatchKey::Batch(SourceName::new("s"), BatchId::new(batch));
            let (decision, at) = (A, Timestamp::default());
            staged.push((key("s", id), Staged { decision, batch, digest: None, terms: None, at }));
            loaded.insert(key("s", id), action);
        }
        let staged = staged.iter().map(|(key, staged)| (key, staged));
        let frozen = freeze(SubmissionId::new("s-1"), staged, &loaded, |_| 1, Timestamp::default()).unwrap();

        let report = inbox.submit(frozen, 0).await.unwrap();

        assert_eq!(report.counts().approved, 3);
        assert_eq!(report.by_batch().len(), 3, "told by batch all the same");
        let want: &[&[&str]] = if cascades { &[&["1", "2"], &["3"]] } else { &[&["1"], &["2"], &["3"]] };
        assert_eq!(gate.sent(), want);
    }
}
