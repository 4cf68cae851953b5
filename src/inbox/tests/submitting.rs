//! Submitting, and settling lost decisions.

use super::*;
use crate::domain::Via;

const A: Decision = Decision::APPROVE;
const X: Decision = Decision::REJECT;

fn failed(why: &str) -> Outcome {
    Outcome::Failed { why: why.into() }
}

fn is_unknown(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Unknown { .. })
}

#[tokio::test]
async fn decisions_are_journaled_before_sending_and_reported_once() {
    let (house, one, two) = (House::new(), Fake::new("one"), Fake::new("two"));
    let inbox = house.inbox(&[&one, &two]).await;
    one.answers(Ok(vec![
        (ActionId::new("2"), Outcome::Rejected),
        (ActionId::new("1"), Outcome::Skipped { status: Some(Status::Expired), by: None }),
        (ActionId::new("not asked"), Outcome::Approved),
    ]));
    let submission = submission(
        "s-1",
        &[
            ("one", Some("b"), "1", A),
            ("one", Some("b"), "2", X),
            ("one", None, "3", A),
            ("two", None, "4", A),
        ],
    );

    let report = inbox.submit(submission, 7).await.unwrap();

    let skipped = Outcome::Skipped { status: Some(Status::Expired), by: None };
    let want = [("1", skipped), ("2", Outcome::Rejected), ("3", Outcome::Approved), ("4", Outcome::Approved)];
    assert_eq!(outcomes(&report), want);
    let counts = report.counts();
    assert_eq!((counts.approved, counts.rejected, counts.skipped, counts.left_pending), (2, 1, 1, 7));
    assert_eq!(one.state().journalled, [1, 1]);
    assert_eq!(two.state().journalled, [1]);
    let keys: Vec<_> = one.state().submits.iter().map(|(key, _)| key.clone()).collect();
    assert_eq!(keys, ["s-1:0", "s-1:1"]);
    assert_eq!(two.state().submits[0].0, "s-1:2");
    let log = inbox.log(9).await.unwrap();
    assert_eq!((log[0].report(), log[0].reviewer.as_deref()), (report, Some("Ada")));
    assert!(log[0].finished_at.is_some());
}

#[tokio::test]
async fn reviewer_defaults_to_the_tokens_subject_then_the_login() {
    let (house, source) = (House::new(), Fake::new("s"));
    let unnamed =
        |inbox: Inbox| Inbox { reviewer: None, ..inbox }.or_login(Some("login".to_owned()), Via::Shell);
    let inbox = unnamed(house.inbox(&[&source]).await);
    let mut silent = Fake::new("t");
    Arc::get_mut(&mut silent).unwrap().subject = None;
    let other = House::new();
    let elsewhere = unnamed(other.inbox(&[&silent]).await);

    inbox.submit(submission("s-1", &[("s", None, "1", A)]), 0).await.unwrap();
    elsewhere.submit(submission("s-2", &[("t", None, "1", A)]), 0).await.unwrap();

    assert_eq!(inbox.log(9).await.unwrap()[0].reviewer.as_deref(), Some("ada"));
    assert_eq!(elsewhere.log(9).await.unwrap()[0].reviewer.as_deref(), Some("login"));
    assert_eq!(inbox.sync(&SourceName::new("s"), None).await.unwrap().subject, Some("ada".into()));
}

#[tokio::test]
async fn held_submission_is_sent_only_by_submitting() {
    let (house, source) = (House::new(), Fake::new("s"));
    let inbox = house.inbox(&[&source]).await;
    let decisions = submission("s-1", &[("s", None, "1", A)]);
    inbox.hold(&decisions, 0).await.unwrap();
    assert!(inbox.log(9).await.unwrap().is_empty() && source.sent().is_empty());
    end(inbox, &[&source]);

    let next = house.inbox(&[&source]).await;
    assert!(next.reconcile().await.unwrap().is_empty(), "the held submission is forgotten");
    assert!(source.sent().is_empty());
    next.hold(&decisions, 0).await.unwrap();
    next.submit(decisions, 0).await.unwrap();

    assert_eq!((source.sent().len(), next.log(9).await.unwrap().len()), (1, 1));
}

#[tokio::test]
async fn unjournaled_submission_is_not_sent() {
    let (house, source) = (House::new(), Fake::new("s"));
    let inbox = house.inbox(&[&source]).await;
    inbox.journal.close().await;

    let problem = inbox.submit(submission("s-1", &[("s", None, "1", A)]), 0).await.unwrap_err();

    assert!(problem.what.contains("journal"), "{problem:?}");
    assert!(source.sent().is_empty());
}

#[tokio::test]
async fn unknown_source_stops_a_submission_before_sending() {
    let (house, source) = (House::new(), Fake::new("s"));
    let inbox = house.inbox(&[&source]).await;

    let two = submission("s-1", &[("s", None, "1", A), ("gone", None, "2", A)]);
    let problem = inbox.submit(two, 0).await.unwrap_err();

    assert_eq!(problem.source, Some(SourceName::new("gone")));
    assert!(source.sent().is_empty());
    assert!(inbox.log(9).await.unwrap().is_empty());
}

#[tokio::test]
async fn refusing_source_gets_no_further_request() {
    for error in [
        SourceError::Unauthorized,
        SourceError::Forbidden { why: "not yours".into() },
        SourceError::RateLimited { retry_after: Some(Duration::from_secs(9)) },
        SourceError::NotSent { why: "refused".into() },
    ] {
        let (house, one, two) = (House::new(), Fake::new("one"), Fake::new("two"));
        let inbox = house.inbox(&[&one, &two]).await;
        one.answers(Err(error.clone()));
        let all = [("one", None, "1", A), ("one", None, "2", X), ("two", None, "3", A)];

        let report = inbox.submit(submission("s-1", &all), 0).await.unwrap();

        let outcomes = outcomes(&report);
        assert!(matches!(&outcomes[0].1, Outcome::Failed { why } if !why.as_raw().starts_with("not sent")));
        assert!(matches!(&outcomes[1].1, Outcome::Failed { why } if why.as_raw().starts_with("not sent")));
        assert_eq!(outcomes[2].1, Outcome::Approved);
        assert_eq!(one.sent(), [["1"]], "{error}");
        assert!(inbox.reconcile().await.unwrap().is_empty(), "a refusal is final");
    }
}

#[tokio::test]
async fn refused_batch_does_not_stop_the_next() {
    let (house, source) = (House::new(), Fake::new("s"));
    let inbox = house.inbox(&[&source]).await;
    source.answers(Err(SourceError::Refused { why: "HTTP 422".into() }));

    let both = submission("s-1", &[("s", None, "1", A), ("s", None, "2", A)]);
    let report = inbox.submit(both, 0).await.unwrap();

    assert_eq!(
        outcomes(&report),
        [("1", failed("the source refused the request: HTTP 422")), ("2", Outcome::Approved)]
    );
}

#[tokio::test]
async fn lost_decisions_are_settled_by_reading() {
    let (house, source) = (House::new(), Fake::new("s"));
    let inbox = house.inbox(&[&source]).await;
    source.answers(Err(lost()));
    source.stands("1", &[r#""status":"pending""#, r#""status":"executed","resolvedBy":"ada""#]);
    source.stands("2", &[r#""status":"approved","resolvedBy":"bob""#]);
    source.stands("3", &[r#""status":"rejected""#]);
    let all = ["1", "2", "3"].map(|id| ("s", Some("b"), id, A));

    let report = inbox.submit(submission("s-1", &all), 0).await.unwrap();

    let skipped =
        |status, by: Option<&str>| Outcome::Skipped { status: Some(status), by: by.map(Untrusted::from) };
    let want = [
        ("1", Outcome::Approved),
        ("2", skipped(Status::Approved, Some("bob"))),
        ("3", skipped(Status::Rejected, None)),
    ];
    assert_eq!(outcomes(&report), want);
    assert_eq!(source.sent().len(), 1, "not sent again");
}

#[tokio::test]
async fn unreadable_action_stays_unknown_until_readable() {
    let (house, source) = (House::new(), Fake::new("s"));
    let inbox = house.inbox(&[&source]).await;
    source.answers(Err(lost()));
    source.state().unreadable = usize::MAX;
    let both = [("s", None, "1", A), ("s", None, "2", A)];

    let report = inbox.submit(submission("s-1", &both), 0).await.unwrap();

    let first = outcomes(&report);
    assert!(is_unknown(&first[0].1), "{first:?}");
    assert_eq!(first[1].1, failed("not sent: the source was lost sight of before"));
    assert!(is_unknown(&inbox.reconcile().await.unwrap()[0].report.lines[0].outcome));
    source.state().unreadable = 0;
    source.stands("1", &[r#""status":"executed""#]);
    let reports = inbox.reconcile().await.unwrap();
    assert_eq!(reports[0].report.lines[0].outcome, Outcome::Approved);
    assert!(inbox.reconcile().await.unwrap().is_empty());
    assert_eq!(source.sent(), [["1"]]);
}

#[tokio::test]
async fn request_without_an_answer_is_not_reported_as_unsent() {
    let (house, source) = (House::new(), Fake::new("s"));
    let inbox = house.inbox(&[&source]).await;
    source.answers(Err(lost()));
    source.stands("1", &[r#""status":"pending""#]);

    let report = inbox.submit(submission("s-1", &[("s", None, "1", A)]), 0).await.unwrap();

    assert!(is_unknown(&report.lines[0].outcome));
    assert!(is_unknown(&inbox.reconcile().await.unwrap()[0].report.lines[0].outcome));
    let later = Inbox { pace: Pace { in_flight: Duration::ZERO, ..QUICK }, ..inbox };
    let reports = later.reconcile().await.unwrap();
    assert!(matches!(reports[0].report.lines[0].outcome, Outcome::Failed { .. }));
}

#[tokio::test]
async fn crash_is_settled_by_reading_and_the_rest_restaged() {
    let (house, source) = (House::new(), Fake::new("s"));
    let reject = Decision::Reject { reason: Some("no".to_owned()) };
    let all = [("s", Some("b"), "1", A), ("s", Some("b"), "2", reject.clone()), ("s", Some("b"), "3", A)];
    let crashed = house.inbox(&[&source]).await;
    crashed.journal.begin(&submission("s-1", &all), 2, None).await.unwrap();
    end(crashed, &[&source]);
    source.stands("1", &[r#""status":"approved","resolvedBy":"ada""#]);
    source.stands("2", &[r#""status":"pending""#]);
    let inbox = house.inbox(&[&source]).await;

    let reports = inbox.reconcile().await.unwrap();

    let settled = outcomes(&reports[0].report);
    assert_eq!((settled[0].1.clone(), reports[0].report.left_pending), (Outcome::Approved, 2));
    assert_eq!(
        reports[0].learnt,
        [key("s", "1"), key("s", "2")],
        "3 stays open, because sources may hide running actions"
    );
    assert!(matches!(settled[1].1, Outcome::Failed { .. }));
    let back = inbox.take_back(&reports[0].report.id, &reports[0].learnt).await.unwrap();
    assert_eq!(back[0].1.terms, Some(terms()), "the terms survive a crash");
    let back: Vec<_> = back.into_iter().map(|(key, staged)| (key, staged.decision, staged.batch)).collect();
    let batch = BatchKey::Batch(SourceName::new("s"), BatchId::new("b"));
    assert_eq!(back, [(key("s", "2"), reject, batch)]);
    let later = Inbox { pace: Pace { in_flight: Duration::ZERO, ..QUICK }, ..inbox };
    let reports = later.reconcile().await.unwrap();
    assert_eq!(reports[0].learnt, [key("s", "3")]);
    assert!(is_unknown(&outcomes(&reports[0].report)[2].1), "the source no longer knows it");
    assert!(later.reconcile().await.unwrap()[0].next_look.is_some(), "it may come back");
    assert!(source.sent().is_empty(), "nothing was sent again");
}

#[tokio::test]
async fn slow_backend_is_waited_for_after_a_crash() {
    let (house, source) = (House::new(), Fake::new("s"));
    source.state().settles_later = true;
    let crashed = house.inbox(&[&source]).await;
    crashed.journal.begin(&submission("s-1", &[("s", None, "1", A)]), 0, None).await.unwrap();
    end(crashed, &[&source]);
    source.stands("1", &[r#""status":"pending""#, r#""status":"executed","resolvedBy":"ada""#]);
    let inbox = house.inbox(&[&source]).await;

    let first = inbox.reconcile().await.unwrap();
    let second = inbox.reconcile().await.unwrap();

    assert!(first[0].learnt.is_empty(), "the backend may have taken it: {first:?}");
    assert_eq!(outcomes(&second[0].report)[0].1, Outcome::Approved);
}

#[tokio::test]
async fn submission_of_a_running_inbox_is_not_reconciled() {
    let (house, source) = (House::new(), Fake::new("s"));
    let living = house.inbox(&[&source]).await;
    living.journal.begin(&submission("s-1", &[("s", None, "1", A)]), 0, None).await.unwrap();
    let other = house.inbox(&[&source]).await;

    assert!(other.reconcile().await.unwrap().is_empty());
    assert_eq!(source.state().reads, 0);
}

#[tokio::test]
async fn submission_continues_without_its_caller() {
    let (house, source) = (House::new(), Fake::new("s"));
    let inbox = house.inbox(&[&source]).await;
    let all = ["1", "2", "3"].map(|id| ("s", None, id, A));

    let mut submitting = Box::pin(inbox.submit(submission("s-1", &all), 0));
    assert!(futures_util::poll!(&mut submitting).is_pending());
    drop(submitting);

    soon(async {
        while inbox.log(1).await.unwrap().first().is_none_or(|past| past.finished_at.is_none()) {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(source.sent().len(), 3);
}

#[tokio::test]
async fn reconciling_reports_only_new_outcomes() {
    let (house, source) = (House::new(), Fake::new("s"));
    let inbox = house.inbox(&[&source]).await;
    source.answers(Ok(vec![
        (ActionId::new("1"), Outcome::Approved),
        (ActionId::new("2"), failed("no")),
        (ActionId::new("3"), Outcome::Unknown { why: "?".into() }),
    ]));
    source.stands("3", &[r#""status":"pending""#]);
    let all = ["1", "2", "3"].map(|id| ("s", Some("b"), id, A));
    inbox.submit(submission("s-1", &all), 0).await.unwrap();

    assert_eq!(inbox.reconcile().await.unwrap()[0].learnt, []);
    source.stands("3", &[r#""status":"approved""#]);
    let reports = inbox.reconcile().await.unwrap();

    assert_eq!(reports[0].learnt, [key("s", "3")]);
    assert_eq!(reports[0].report.lines.len(), 3, "the report is complete");
    let id = &reports[0].report.id;
    assert_eq!(inbox.take_back(id, &reports[0].learnt).await.unwrap(), [], "2 was reported before");
}

#[tokio::test]
async fn panic_while_sending_is_settled_by_reading() {
    let (house, source) = (House::new(), Fake::new("s"));
    let inbox = house.inbox(&[&source]).await;
    source.state().panics = true;
    source.stands("1", &[r#""status":"approved","resolvedBy":"ada""#]);

    let report = inbox.submit(submission("s-1", &[("s", None, "1", A)]), 0).await.unwrap();

    assert!(is_unknown(&report.lines[0].outcome));
    let reports = inbox.reconcile().await.unwrap();
    assert_eq!(reports[0].report.lines[0].outcome, Outcome::Approved);
}
