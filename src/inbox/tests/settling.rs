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
