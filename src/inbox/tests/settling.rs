//! Saying what became of an action whose outcome nobody knows.

use super::*;

#[tokio::test]
async fn what_the_source_says_is_passed_on() {
    let (house, gate) = (House::new(), Fake::new("gate"));
    let inbox = house.inbox(&[&gate]).await;
    let already = Settling::Already { status: Some(Status::Failed), by: Some("lee".into()) };
    gate.state().settlings.extend([
        Ok(Settling::Settled(Status::Executed)),
        Ok(already.clone()),
        Err(SourceError::Forbidden { why: "your own".into() }),
    ]);
    let settle = async || inbox.settle(&key("gate", "1"), Finding::Landed, None).await;

    assert_eq!(settle().await, Ok(Settling::Settled(Status::Executed)));
    assert_eq!(settle().await, Ok(already));
    let refused = settle().await.unwrap_err();
    assert_eq!(
        (refused.what.as_str(), refused.why),
        ("does not allow this with this token", Some("your own".into()))
    );
    assert_eq!(gate.state().reads, 0);
}

#[tokio::test]
async fn a_lost_answer_is_told_as_lost_and_read_but_never_sent_again() {
    let why = || Untrusted::from("the source gave no usable answer: no answer in time");
    for (stands, unreadable, status) in [
        (&[r#""status":"unknown""#, r#""status":"executed""#][..], 0, Some(Status::Executed)),
        (&[r#""status":"unknown""#], 0, Some(Status::Unknown)),
        (&[r#""status":"unknown""#], 9, None),
    ] {
        let (house, gate) = (House::new(), Fake::new("gate"));
        let inbox = house.inbox(&[&gate]).await;
        gate.stands("1", stands);
        gate.state().unreadable = unreadable;
        gate.state().settlings.push_back(Err(lost()));

        let settling = inbox.settle(&key("gate", "1"), Finding::RunAgain, None).await;

        assert_eq!(settling, Ok(Settling::Lost { status, why: why() }));
        assert_eq!(gate.state().findings, [Finding::RunAgain]);
        assert_eq!(inbox.log(9).await.unwrap(), [], "it is no submission");
    }
}

/// A decision that the source accepted, and where its action stands from then on, look after look.
async fn accepted(decision: Decision, stands: &[&str]) -> (House, Arc<Fake>, Inbox) {
    let (house, source) = (House::new(), Fake::new("s"));
    let inbox = house.inbox(&[&source]).await;
    source.answers(Ok(vec![(ActionId::new("1"), Outcome::Accepted)]));
    source.stands("1", stands);
    let report = inbox.submit(submission("s-1", &[("s", None, "1", decision)]), 0).await.unwrap();
    assert_eq!(outcomes(&report), [("1", Outcome::Accepted)]);
    (house, source, inbox)
}

async fn followed(inbox: &Inbox) -> Vec<(Status, Option<Outcome>)> {
    let (changes, mut followed) = mpsc::channel(16);
    soon(inbox.follow(vec![key("s", "1")], Duration::from_secs(9), changes)).await;
    let mut steps = Vec::new();
    while let Some(step) = followed.recv().await {
        steps.push((step.status, step.outcome));
    }
    steps
}

#[tokio::test]
async fn accepted_decision_is_settled_by_what_its_action_became() {
    let executed = Outcome::Skipped { status: Some(Status::Executed), by: None };
    for (decision, ended, want, then) in [
        (Decision::REJECT, "executed", executed, None),
        (Decision::APPROVE, "executed", Outcome::Approved, Some(r#"{"status":"executed","error":null}"#)),
    ] {
        let ended = format!(r#""status":"{ended}""#);
        let (_house, source, inbox) =
            accepted(decision, &[r#""status":"pending""#, r#""status":"running""#, &ended]).await;

        let steps = followed(&inbox).await;

        assert_eq!(steps, [(Status::Running, None), (Status::Executed, Some(want.clone()))]);
        let log = inbox.log(9).await.unwrap();
        assert_eq!(log[0].items[0].outcome, Some(want));
        let receipts = inbox.journal.receipts_of(&log[0].id).await.unwrap();
        let told: Vec<_> =
            receipts.iter().filter(|it| it.kind == "followed").map(|it| it.outcome.as_deref()).collect();
        assert_eq!(
            told,
            then.map(Some).into_iter().collect::<Vec<_>>(),
            "what others decided is not ours to follow"
        );
        assert!(inbox.reconcile().await.unwrap()[0].learnt.is_empty());
        assert!(inbox.reconcile().await.unwrap().is_empty(), "nothing more can be learnt");
        assert_eq!(source.sent().len(), 1);
    }
}

#[tokio::test]
async fn accepted_decision_is_settled_after_a_restart() {
    let (house, source, inbox) = accepted(Decision::REJECT, &[r#""status":"pending""#]).await;
    assert!(inbox.reconcile().await.unwrap()[0].learnt.is_empty(), "the source may take it yet");
    end(inbox, &[&source]);

    let next = house.inbox(&[&source]).await;
    source.stands("1", &[r#""status":"executed""#]);
    let settled = next.reconcile().await.unwrap();

    let skipped = Outcome::Skipped { status: Some(Status::Executed), by: None };
    assert_eq!(outcomes(&settled[0].report), [("1", skipped)]);
    assert_eq!(settled[0].learnt, [key("s", "1")]);
    assert!(next.reconcile().await.unwrap().is_empty());
}
