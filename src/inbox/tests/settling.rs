//! Resolving unknown outcomes.

use super::*;
use crate::domain::{Edits, RawJson};
use crate::journal::Sent;
use tokio::sync::mpsc;

#[tokio::test]
async fn answer_of_the_source_is_passed_on() {
    let (house, gate) = (House::new(), Fake::new("gate"));
    let inbox = house.inbox(&[&gate]).await;
    let already = Resolved::Already { status: Some(Status::Failed), by: Some("lee".into()) };
    gate.state().settlings.extend([
        Ok(Resolved::Settled(Status::Executed)),
        Ok(already.clone()),
        Err(SourceError::Forbidden { why: "your own".into() }),
    ]);
    let settle = async || inbox.settle(&key("gate", "1"), Resolution::Landed, None).await;

    assert_eq!(settle().await, Ok(Resolved::Settled(Status::Executed)));
    assert_eq!(settle().await, Ok(already));
    let refused = settle().await.unwrap_err();
    assert_eq!(
        (refused.what.as_str(), refused.why),
        ("does not allow this with this token", Some("your own".into()))
    );
    assert_eq!(gate.state().reads, 0);
}

#[tokio::test]
async fn lost_answer_is_read_and_never_sent_again() {
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

        let settling = inbox.settle(&key("gate", "1"), Resolution::RunAgain, None).await;

        assert_eq!(settling, Ok(Resolved::Lost { status, why: why() }));
        assert_eq!(gate.state().findings, [Resolution::RunAgain]);
        assert_eq!(inbox.log(9).await.unwrap(), [], "a resolution is not a submission");
    }
}

/// Returns an inbox with an accepted decision, whose action then takes the given states in order.
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
async fn accepted_decision_is_settled_by_its_actions_end() {
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
        let told: Vec<_> = receipts
            .iter()
            .filter(|it| it.kind.word() == "followed")
            .map(|it| it.outcome.as_deref())
            .collect();
        assert_eq!(
            told,
            then.map(Some).into_iter().collect::<Vec<_>>(),
            "decisions of others are not followed"
        );
        assert!(inbox.reconcile().await.unwrap()[0].learnt.is_empty());
        assert!(inbox.reconcile().await.unwrap().is_empty(), "the decision is settled");
        assert_eq!(source.sent().len(), 1);
    }
}

#[tokio::test]
async fn accepted_decision_is_settled_after_a_restart() {
    let (house, source, inbox) = accepted(Decision::REJECT, &[r#""status":"pending""#]).await;
    assert!(inbox.reconcile().await.unwrap()[0].learnt.is_empty(), "the source may still take it");
    end(inbox, &[&source]);

    let next = house.inbox(&[&source]).await;
    source.stands("1", &[r#""status":"executed""#]);
    let settled = next.reconcile().await.unwrap();

    let skipped = Outcome::Skipped { status: Some(Status::Executed), by: None };
    assert_eq!(outcomes(&settled[0].report), [("1", skipped)]);
    assert_eq!(settled[0].learnt, [key("s", "1")]);
    assert!(next.reconcile().await.unwrap().is_empty());
}

/// Returns an inbox with a lost decision on an action that the source hides.
async fn hidden() -> (House, Arc<Fake>, Inbox) {
    let (house, source) = (House::new(), Fake::new("s"));
    let inbox = house.inbox(&[&source]).await;
    source.answers(Err(lost()));
    let report = inbox.submit(submission("s-1", &[("s", None, "1", Decision::APPROVE)]), 0).await.unwrap();
    assert!(matches!(report.lines[0].outcome, Outcome::Unknown { .. }));
    let inbox = Inbox { pace: Pace { in_flight: Duration::ZERO, ..QUICK }, ..inbox };
    (house, source, inbox)
}

#[tokio::test]
async fn hidden_row_is_read_again_across_restarts() {
    let (house, source, inbox) = hidden().await;
    for _ in 0..3 {
        let again = inbox.reconcile().await.unwrap();
        assert!(matches!(again[0].report.lines[0].outcome, Outcome::Unknown { .. }));
        assert!(again[0].next_look.is_some());
    }
    end(inbox, &[&source]);
    let next = house.inbox(&[&source]).await;
    let next = Inbox { pace: Pace { in_flight: Duration::ZERO, ..QUICK }, ..next };
    let lost = next.lost().await.unwrap();
    assert_eq!(
        lost.iter().map(|entry| (&entry.key, &entry.row.status)).collect::<Vec<_>>(),
        [(&key("s", "1"), &Status::Unknown)]
    );
    assert!(next.reconcile().await.unwrap()[0].next_look.is_some());

    source.stands("1", &[r#""status":"executed","resolvedBy":"ada""#]);
    let told = next.reconcile().await.unwrap();

    assert_eq!(outcomes(&told[0].report), [("1", Outcome::Approved)]);
    assert_eq!((told[0].next_look, next.lost().await.unwrap()), (None, Vec::new()));
    assert!(next.reconcile().await.unwrap().is_empty());
}

#[test]
fn waits_between_reads_grow_up_to_a_limit() {
    let wait = |age: i64| {
        let now = Timestamp::from_millis(100_000_000_000);
        reconcile::next_look(now.plus_millis(-age), now).since(now)
    };
    let (minute, hour) = (60_000, 3_600_000);

    assert_eq!([0, 30_000, 2 * minute].map(wait), [10_000, 10_000, 30_000]);
    assert_eq!([hour, 4 * hour, 400 * hour].map(wait), [15 * minute, hour, hour]);
    assert_eq!(wait(-hour), 10_000, "after the clock went back");
}

#[tokio::test]
async fn command_settles_open_decisions_and_leaves_news_to_inboxes() {
    let (house, source, inbox) = hidden().await;
    let untold = submission("s-2", &[("s", None, "2", Decision::APPROVE)]);
    inbox.journal.begin(&untold, 0, None).await.unwrap();
    source.stands("1", &[r#""status":"executed","resolvedBy":"ada""#]);
    source.stands("2", &[r#""status":"pending""#]);
    end(inbox, &[&source]);

    let command = house.inbox(&[&source]).await;
    assert_eq!(command.settle_open().await.unwrap(), None);
    let log = command.log(9).await.unwrap();
    assert!(log.iter().all(|past| past.items[0].outcome.as_ref().is_some_and(|it| !it.is_open())), "{log:?}");
    // The command keeps running, like `placet watch`, while an inbox opens.
    let screen = house.inbox(&[&source]).await;
    let news = screen.reconcile().await.unwrap();

    assert_eq!(news.iter().map(|one| one.learnt.clone()).collect::<Vec<_>>(), [[key("s", "2")]]);
    assert_eq!(screen.take_back(&news[0].report.id, &news[0].learnt).await.unwrap().len(), 1);
}

#[tokio::test]
async fn manual_resolution_changes_only_the_journal() {
    for (finding, want) in [
        (Resolution::Landed, Outcome::Approved),
        (
            Resolution::NotLanded,
            Outcome::Failed { why: "a reviewer marked it as not received: I looked".into() },
        ),
    ] {
        let (_house, source, inbox) = hidden().await;
        let again = inbox.settle(&key("s", "1"), Resolution::RunAgain, None).await;
        assert!(again.unwrap_err().what.contains("not sent a second time"));

        inbox.settle(&key("s", "1"), finding, Some("I looked".to_owned())).await.unwrap();

        assert_eq!(inbox.log(9).await.unwrap()[0].items[0].outcome, Some(want));
        assert!(inbox.lost().await.unwrap().is_empty() && inbox.reconcile().await.unwrap().is_empty());
        assert!(source.state().findings.is_empty(), "no request to the source");
        assert_eq!(source.sent().len(), 1);
        let receipts = inbox.journal.receipts_of(&SubmissionId::new("s-1")).await.unwrap();
        assert!(receipts.iter().any(|it| {
            it.outcome
                .as_deref()
                .is_some_and(|it| it.contains("a reviewer marked it as") && it.contains("I looked"))
        }));
    }
}

#[tokio::test]
async fn unsent_decision_is_skipped_after_a_crash() {
    let (house, source) = (House::new(), Fake::new("s"));
    source.state().at_once = Some(1);
    let crashed = house.inbox(&[&source]).await;
    let all = ["1", "2", "3", "4", "5"].map(|id| ("s", Some("b"), id, Decision::APPROVE));
    crashed.journal.begin(&submission("s-1", &all), 0, None).await.unwrap();
    crashed.journal.note(&SubmissionId::new("s-1"), &[(key("s", "1"), Outcome::Approved)]).await.unwrap();
    end(crashed, &[&source]);
    // Another reviewer approved 3 and 4; 2 and 5 are gone.
    source.stands("3", &[r#""status":"executed""#]);
    source.stands("4", &[r#""status":"executed","resolvedBy":"lee""#]);
    let inbox = house.inbox(&[&source]).await;
    let inbox = Inbox { pace: Pace { in_flight: Duration::ZERO, ..QUICK }, ..inbox };

    let settled = inbox.reconcile().await.unwrap();

    let skipped = |status, by: Option<&str>| Outcome::Skipped { status, by: by.map(Untrusted::from) };
    let told = outcomes(&settled[0].report);
    assert_eq!(told[0].1, Outcome::Approved);
    assert!(matches!(told[1].1, Outcome::Unknown { .. }), "it may have been sent: {told:?}");
    assert_eq!(told[2].1, skipped(Some(Status::Executed), None));
    assert_eq!(told[3].1, skipped(Some(Status::Executed), Some("lee")));
    assert_eq!(told[4].1, skipped(None, None), "decisions after the first unanswered one were not sent");
}

#[tokio::test]
async fn later_end_of_an_approved_action_is_recorded_once() {
    let (house, source) = (House::new(), Fake::new("s"));
    let inbox = house.inbox(&[&source]).await;
    let approvals = ["1", "2", "3"].map(|id| ("s", None, id, Decision::APPROVE));
    source.stands("1", &[r#""status":"executed""#]);
    source.stands("2", &[r#""status":"approved""#, r#""status":"failed","error":"no""#]);
    inbox.submit(submission("s-1", &approvals), 0).await.unwrap();
    let keys = ["1", "2", "3"].map(|id| key("s", id));
    let last_seen = async || {
        let past = inbox.log(1).await.unwrap().remove(0);
        let word = |sent: &Sent| sent.followed.as_ref().map(|it| it.status.as_raw().to_owned());
        let open = past.items.iter().filter(|sent| sent.may_have_ended()).count();
        (past.items.iter().map(word).collect::<Vec<_>>(), open)
    };
    let word = |word: &str| Some(word.to_owned());

    assert_eq!(last_seen().await, (vec![None, None, None], 3));
    inbox.look_at(&keys).await.unwrap();
    assert_eq!(last_seen().await, (vec![word("executed"), None, None], 2), "the third is no longer listed");
    inbox.look_at(&keys).await.unwrap();
    inbox.look_at(&keys).await.unwrap();
    assert_eq!(last_seen().await, (vec![word("executed"), word("failed"), None], 1));
    let receipts = inbox.journal.receipts(0, 100).await.unwrap();
    assert_eq!(
        receipts.iter().filter(|it| it.kind.word() == "followed").count(),
        2,
        "one receipt per action"
    );
}

#[tokio::test]
async fn later_success_settles_an_earlier_lost_decision() {
    for disproves in [true, false] {
        let (house, shop) = (House::new(), Fake::new("s"));
        shop.state().disproves = disproves;
        let inbox = house.inbox(&[&shop]).await;
        shop.answers(Err(lost()));
        shop.stands("1", &[r#""status":"pending""#]);
        let first = inbox.submit(submission("s-1", &[("s", None, "1", Decision::REJECT)]), 0).await.unwrap();
        assert!(matches!(outcomes(&first)[0].1, Outcome::Unknown { .. }), "{first:?}");

        let later = submission("s-2", &[("s", None, "1", Decision::APPROVE)]);
        let later = inbox.submit(later, 0).await.unwrap();

        assert_eq!(outcomes(&later), [("1", Outcome::Approved)]);
        let log = inbox.log(9).await.unwrap();
        let earlier = log.iter().find(|past| past.id.as_str() == "s-1").unwrap();
        let failed = matches!(earlier.items[0].outcome, Some(Outcome::Failed { .. }));
        assert_eq!(failed, disproves, "{earlier:?}");
        assert_eq!(inbox.lost().await.unwrap().len(), usize::from(!disproves));
    }
}

#[tokio::test]
async fn lost_retry_is_unknown_everywhere_also_after_a_restart() {
    let retry = Decision::Retry { guidance: "warmer".to_owned() };
    let stuck = r#""status":"unknown","error":"it did not come back""#;
    let (house, saga, inbox) = accepted(retry, &[r#""status":"running""#]).await;
    assert!(inbox.lost().await.unwrap().is_empty());
    end(inbox, &[&saga]);

    let next = house.inbox(&[&saga]).await;
    saga.stands("1", &[stuck]);
    let settled = next.reconcile().await.unwrap();

    let unknown = Outcome::Unknown { why: "it did not come back".into() };
    assert_eq!(outcomes(&settled[0].report), [("1", unknown.clone())]);
    assert_eq!(settled[0].learnt, [key("s", "1")]);
    let lost = next.lost().await.unwrap();
    assert_eq!(lost.iter().map(|entry| &entry.key).collect::<Vec<_>>(), [&key("s", "1")]);
    assert_eq!(next.reconcile().await.unwrap()[0].report.counts().unknown, 1, "and stays so");

    let (_house, _saga, inbox) =
        accepted(Decision::Retry { guidance: "warmer".to_owned() }, &[r#""status":"running""#, stuck]).await;
    let steps = followed(&inbox).await;
    assert_eq!(steps, [(Status::Running, None), (Status::Unknown, Some(unknown))]);
}

#[tokio::test]
async fn retry_that_came_back_is_settled_as_accepted() {
    let retry = Decision::Retry { guidance: "warmer".to_owned() };
    let (_house, _saga, inbox) = accepted(retry, &[r#""status":"pending""#]).await;
    assert_eq!(inbox.reconcile().await.unwrap().len(), 1, "the source may still list it as it was");

    let pace = Pace { in_flight: Duration::ZERO, ..QUICK };
    let later = Inbox { pace, ..inbox };
    let settled = later.reconcile().await.unwrap();

    assert_eq!(outcomes(&settled[0].report), [("1", Outcome::Accepted)]);
    assert_eq!(settled[0].next_look, None);
    assert!(later.reconcile().await.unwrap().is_empty());
}

#[tokio::test]
async fn lost_decision_is_shown_from_the_journal_after_a_restart() {
    let edits = Edits::new(RawJson::parse(r#"{"a":2}"#).unwrap()).unwrap();
    let edited = Decision::Approve { edits: Some(edits), comment: None };
    let (house, source) = (House::new(), Fake::new("s"));
    let inbox = house.inbox(&[&source]).await;
    source.answers(Err(lost()));
    inbox.submit(submission("s-1", &[("s", None, "1", edited)]), 0).await.unwrap();
    end(inbox, &[&source]);
    let next = house.inbox(&[&source]).await;
    let next = Inbox { pace: Pace { in_flight: Duration::ZERO, ..QUICK }, ..next };

    let again = next.reconcile().await.unwrap();
    let (_, shown) = next.load_or_kept(&[key("s", "1")]).await.remove(0);

    let proposed = action::read(&text("1", r#""status":"pending""#)).unwrap();
    let row = &again[0].lost[0].row;
    assert_eq!(
        (&row.title, &row.tool, &row.risk),
        (&proposed.row.title, &proposed.row.tool, &proposed.row.risk)
    );
    let shown = shown.unwrap();
    assert_eq!((&shown.input, &shown.row.risk), (&proposed.input, &proposed.row.risk));
    assert_eq!(shown.effective_input.map(|input| input.as_str().to_owned()), Some(r#"{"a":2}"#.to_owned()));
    assert_eq!(shown.row.status, Status::Unknown);
    assert_eq!(
        action::read(shown.raw.as_str()).unwrap().input,
        proposed.input,
        "an action, as `show` prints it"
    );

    next.settle(&key("s", "1"), Resolution::NotLanded, None).await.unwrap();
    assert!(next.lost().await.unwrap().is_empty());
    assert!(next.load_or_kept(&[key("s", "1")]).await[0].1.is_err(), "what is settled is not kept");
}

#[tokio::test]
async fn run_settled_by_a_person_is_settled_in_the_journal() {
    let (house, source) = (House::new(), Fake::new("s"));
    let inbox = house.inbox(&[&source]).await;
    let approve = |id| ("s", None, id, Decision::APPROVE);
    inbox.submit(submission("s-1", &[approve("1"), approve("2")]), 0).await.unwrap();
    for id in ["1", "2"] {
        source.stands(id, &[r#""status":"unknown""#]);
    }
    let keys = [key("s", "1"), key("s", "2")];
    inbox.look_at(&keys).await.unwrap();
    let seen = async || {
        let past = inbox.log(1).await.unwrap().remove(0);
        let of = |sent: &Sent| (sent.followed.clone().map(|seen| seen.status), sent.may_have_ended());
        past.items.iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(seen().await, [(Some(Status::Unknown), true), (Some(Status::Unknown), true)]);

    source.state().settlings.push_back(Ok(Resolved::Settled(Status::Failed)));
    source.stands("1", &[r#""status":"failed""#]);
    inbox.settle(&keys[0], Resolution::NotLanded, None).await.unwrap();
    assert_eq!(seen().await[0], (Some(Status::Failed), false));

    source.stands("2", &[r#""status":"executed""#]);
    inbox.look_at(&keys).await.unwrap();
    assert_eq!(seen().await[1], (Some(Status::Executed), false), "somebody else settled it");
}
