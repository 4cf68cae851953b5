//! Submitting, and settling what was lost sight of.

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
async fn every_decision_is_in_the_journal_before_it_is_sent_and_has_one_line() {
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
async fn who_decides_is_the_tokens_owner_where_nobody_is_configured_and_else_the_login() {
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
async fn what_is_held_is_sent_once_when_it_is_submitted_and_never_by_itself() {
    let (house, source) = (House::new(), Fake::new("s"));
    let inbox = house.inbox(&[&source]).await;
    let decisions = submission("s-1", &[("s", None, "1", A)]);
    inbox.hold(&decisions, 0).await.unwrap();
    assert!(inbox.log(9).await.unwrap().is_empty() && source.sent().is_empty());
    end(inbox, &[&source]);

    let next = house.inbox(&[&source]).await;
    assert!(next.reconcile().await.unwrap().is_empty(), "nothing is known of it any more");
    assert!(source.sent().is_empty());
    next.hold(&decisions, 0).await.unwrap();
    next.submit(decisions, 0).await.unwrap();

    assert_eq!((source.sent().len(), next.log(9).await.unwrap().len()), (1, 1));
}

#[tokio::test]
async fn what_cannot_be_journalled_is_not_sent() {
    let (house, source) = (House::new(), Fake::new("s"));
    let inbox = house.inbox(&[&source]).await;
    inbox.journal.close().await;

    let problem = inbox.submit(submission("s-1", &[("s", None, "1", A)]), 0).await.unwrap_err();

    assert!(problem.what.contains("journal"), "{problem:?}");
    assert!(source.sent().is_empty());
}

#[tokio::test]
async fn a_source_that_is_not_there_stops_it_before_anything_is_sent() {
    let (house, source) = (House::new(), Fake::new("s"));
    let inbox = house.inbox(&[&source]).await;

    let two = submission("s-1", &[("s", None, "1", A), ("gone", None, "2", A)]);
    let problem = inbox.submit(two, 0).await.unwrap_err();

    assert_eq!(problem.source, Some(SourceName::new("gone")));
    assert!(source.sent().is_empty());
    assert!(inbox.log(9).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_source_that_refuses_us_gets_nothing_more() {
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
        assert!(inbox.reconcile().await.unwrap().is_empty(), "a refusal is no open question");
    }
}

#[tokio::test]
async fn one_refused_batch_does_not_stop_the_next() {
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
async fn what_was_lost_sight_of_is_settled_by_reading() {
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
    assert_eq!(source.sent().len(), 1, "it is never sent again");
}

#[tokio::test]
async fn what_cannot_be_read_stays_unknown_until_it_can() {
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
async fn a_silent_request_that_may_be_on_its_way_is_not_called_unsent() {
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
async fn a_crash_is_settled_by_reading_and_the_rest_goes_back_to_the_draft() {
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
        "what some sources hide while it runs may come back"
    );
    assert!(matches!(settled[1].1, Outcome::Failed { .. }));
    let back = inbox.take_back(&reports[0].report.id, &reports[0].learnt).await.unwrap();
    assert_eq!(back[0].1.terms, Some(terms()), "bound to what was on screen, also after a crash");
    let back: Vec<_> = back.into_iter().map(|(key, staged)| (key, staged.decision, staged.batch)).collect();
    let batch = BatchKey::Batch(SourceName::new("s"), BatchId::new("b"));
    assert_eq!(back, [(key("s", "2"), reject, batch)]);
    let later = Inbox { pace: Pace { in_flight: Duration::ZERO, ..QUICK }, ..inbox };
    let reports = later.reconcile().await.unwrap();
    assert_eq!(reports[0].learnt, [key("s", "3")]);
    assert!(is_unknown(&outcomes(&reports[0].report)[2].1), "the source does not know it any more");
    assert!(later.reconcile().await.unwrap()[0].next_look.is_some(), "it may come back");
    assert!(source.sent().is_empty(), "nothing is ever sent again");
}

#[tokio::test]
async fn what_a_backend_may_settle_later_is_not_given_back_right_after_a_crash() {
    let (house, source) = (House::new(), Fake::new("s"));
    source.state().settles_later = true;
    let crashed = house.inbox(&[&source]).await;
    crashed.journal.begin(&submission("s-1", &[("s", None, "1", A)]), 0, None).await.unwrap();
    end(crashed, &[&source]);
    source.stands("1", &[r#""status":"pending""#, r#""status":"executed","resolvedBy":"ada""#]);
    let inbox = house.inbox(&[&source]).await;

    let first = inbox.reconcile().await.unwrap();
    let second = inbox.reconcile().await.unwrap();

    assert!(first[0].learnt.is_empty(), "taken, and in an outbox: {first:?}");
    assert_eq!(outcomes(&second[0].report)[0].1, Outcome::Approved);
}

#[tokio::test]
async fn a_submission_of_a_living_inbox_is_left_to_it() {
    let (house, source) = (House::new(), Fake::new("s"));
    let living = house.inbox(&[&source]).await;
    living.journal.begin(&submission("s-1", &[("s", None, "1", A)]), 0, None).await.unwrap();
    let other = house.inbox(&[&source]).await;

    assert!(other.reconcile().await.unwrap().is_empty());
    assert_eq!(source.state().reads, 0);
}

#[tokio::test]
async fn nobody_waiting_does_not_stop_a_submission() {
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
async fn another_look_teaches_only_what_nobody_was_told_before() {
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
    assert_eq!(reports[0].report.lines.len(), 3, "the report is still all of it");
    let id = &reports[0].report.id;
    assert_eq!(inbox.take_back(id, &reports[0].learnt).await.unwrap(), [], "2 was told before");
}

#[tokio::test]
async fn a_bug_while_sending_leaves_it_to_reading() {
    let (house, source) = (House::new(), Fake::new("s"));
    let inbox = house.inbox(&[&source]).await;
    source.state().panics = true;
    source.stands("1", &[r#""status":"approved","resolvedBy":"ada""#]);

    let report = inbox.submit(submission("s-1", &[("s", None, "1", A)]), 0).await.unwrap();

    assert!(is_unknown(&report.lines[0].outcome));
    let reports = inbox.reconcile().await.unwrap();
    assert_eq!(reports[0].report.lines[0].outcome, Outcome::Approved);
}
