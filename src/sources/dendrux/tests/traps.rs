//! Measured cases in which dendrux silently loses or does something.

use std::sync::atomic::Ordering;

use futures_util::future::join_all;

use super::house::{Kind, Verdicts, client, free, gated};
use super::world::Reached;
use super::*;
use crate::domain::Status;
use crate::sources::tests::{Fault, World as _};

const WAITS: &str = "waiting_approval";
/// Short, because these tests wait for lost answers.
const IN_A_HURRY: Duration = Duration::from_secs(1);

#[tokio::test]
async fn rejecting_a_turn_warns_that_it_rejects_ungated_calls() {
    for kind in [Kind::Plain, Kind::OldPlain, Kind::OldBridge] {
        let reached = Reached::of(kind).await;
        let source = reached.open(AT_EASE);
        let ids = reached.waits(WAITS, vec![gated("buy", "{}"), free("stock")]);
        let row = rows(&source).await.remove(0);
        assert!(told(&row).contains("reject also rejects 1 ungated call"), "{kind:?}");

        assert_eq!(decide(&source, &[(&ids[0], reject("no"))]).await, [Outcome::Rejected]);

        assert_eq!(reached.with_run(&ids[0], |run| run.ran.clone()), Some(Vec::new()), "{kind:?}");
    }
    // With separate decisions the ungated call runs anyway, and the note says so.
    let reached = Reached::of(Kind::Bridge).await;
    let source = reached.open(AT_EASE);
    let ids = reached.waits(WAITS, vec![gated("buy", "{}"), free("stock")]);
    let row = rows(&source).await.remove(0);
    let words = told(&row);
    assert!(
        !words.contains("also rejects") && words.contains("run when it is decided, whichever way"),
        "{words}"
    );
    assert_eq!(decide(&source, &[(&ids[0], reject("no"))]).await, [Outcome::Rejected]);
    assert_eq!(reached.with_run(&ids[0], |run| run.ran.len()), Some(1));
}

#[tokio::test]
async fn approving_before_0_3_warns_that_the_client_stub_runs() {
    for kind in [Kind::OldBridge, Kind::OldPlain, Kind::Plain] {
        let reached = Reached::of(kind).await;
        let source = reached.open(AT_EASE);
        reached.waits(WAITS, vec![gated("buy", "{}"), client("sign")]);
        let row = rows(&source).await.remove(0);

        let words = told(&row);

        assert!(words.contains("approve runs the client stub on the server"), "{kind:?}: {words}");
    }
    let reached = Reached::of(Kind::Bridge).await;
    let source = reached.open(AT_EASE);
    reached.waits(WAITS, vec![gated("buy", "{}"), client("sign")]);
    let row = rows(&source).await.remove(0);
    assert!(told(&row).contains("waits for its own answer afterwards"));
}

#[tokio::test]
async fn blocking_post_is_settled_by_reading() {
    let reached = Reached::of(Kind::Plain).await;
    let source = reached.open(IN_A_HURRY);
    let id = reached.propose(0).await;
    let batch = frozen(&source, 1, &[(&id, Decision::APPROVE)]).await.unwrap();
    reached.faults().next_decision(Fault::SilentAfter);

    let lost = source.submit(&batch, "s:0").await.unwrap_err();

    assert!(lost.lost_sight(), "{lost:?}");
    assert_eq!(get(&source, &id).await.row.status, Status::Executed);
    assert_eq!(reached.with_run(&id, |run| run.taken), Some(1));
}

#[tokio::test]
async fn conflict_after_our_own_lost_answer_is_a_success() {
    let reached = Reached::of(Kind::Plain).await;
    let source = reached.open(IN_A_HURRY);
    let id = reached.propose(0).await;
    let batch = frozen(&source, 1, &[(&id, Decision::APPROVE)]).await.unwrap();
    reached.faults().next_decision(Fault::SilentBefore);
    source.submit(&batch, "s:0").await.unwrap_err();

    // The lost request arrives after all, then the reviewer decides again.
    reached.with_run(&id, |run| run.decide(&Verdicts::Whole(true, None), false));
    let told = source.submit(&batch, "s:1").await.unwrap();

    assert_eq!(told, [(id, Outcome::Approved)]);
    let other = reached.propose(1).await;
    let batch = frozen(&source, 1, &[(&other, Decision::APPROVE)]).await.unwrap();
    reached.with_run(&other, |run| run.decide(&Verdicts::Whole(true, None), false));
    let told = source.submit(&batch, "s:2").await.unwrap();
    assert!(matches!(&told[..], [(_, Outcome::Skipped { status: Some(Status::Executed), .. })]), "{told:?}");
}

#[tokio::test]
async fn conflict_counts_as_foreign_even_if_unreadable() {
    for kind in [Kind::Bridge, Kind::Plain] {
        let reached = Reached::of(kind).await;
        let source = reached.open(AT_EASE);
        let id = reached.propose(0).await;
        let batch = frozen(&source, 1, &[(&id, Decision::APPROVE)]).await.unwrap();
        reached.faults().next_decision(Fault::Status(409));
        reached.house.blinding.store(true, Ordering::SeqCst);

        let told = source.submit(&batch, "s:0").await.unwrap();

        assert_eq!(told, [(id.clone(), Outcome::Skipped { status: None, by: None })], "{kind:?}");
        reached.faults().every_request(None);
        reached.approved_by(&id, None);
        let told = source.submit(&batch, "s:1").await.unwrap();
        assert!(matches!(&told[..], [(_, Outcome::Skipped { status: Some(_), .. })]), "{kind:?}: {told:?}");
    }
}

#[tokio::test]
async fn unreadable_conflict_after_our_lost_answer_stays_open() {
    let reached = Reached::of(Kind::Bridge).await;
    let source = reached.open(IN_A_HURRY);
    let id = reached.propose(0).await;
    let batch = frozen(&source, 1, &[(&id, Decision::APPROVE)]).await.unwrap();
    reached.faults().next_decision(Fault::SilentBefore);
    source.submit(&batch, "s:0").await.unwrap_err();
    reached.faults().next_decision(Fault::Status(409));
    reached.house.blinding.store(true, Ordering::SeqCst);

    let error = source.submit(&batch, "s:1").await.unwrap_err();

    assert!(error.lost_sight(), "{error:?}");
}

#[tokio::test]
async fn lost_answer_claims_no_decision_of_another_reviewer() {
    // In parallel, because each waits for a lost answer.
    join_all([(Some("bob"), false), (Some("kim"), true), (None, true)].map(async |(by, ours)| {
        let reached = Reached::of(Kind::Bridge).await;
        let source = reached.open(IN_A_HURRY);
        let id = reached.propose(0).await;
        let batch = frozen(&source, 1, &[(&id, Decision::APPROVE)]).await.unwrap();
        reached.faults().next_decision(Fault::SilentBefore);
        source.submit(&batch, "s:0").await.unwrap_err();
        reached.approved_by(&id, by);

        let told = source.submit(&batch, "s:1").await.unwrap();

        let others = Outcome::Skipped { status: Some(Status::Executed), by: by.map(Into::into) };
        assert_eq!(told, [(id, if ours { Outcome::Approved } else { others })], "{by:?}");
    }))
    .await;
}

#[tokio::test]
async fn lost_decision_is_given_up_after_its_time_in_flight() {
    for (seconds, ours) in [(60, true), (121, false)] {
        let reached = Reached::of(Kind::Plain).await;
        let source = reached.open(IN_A_HURRY);
        let id = reached.propose(0).await;
        let batch = frozen(&source, 1, &[(&id, Decision::APPROVE)]).await.unwrap();
        reached.faults().next_decision(Fault::SilentBefore);
        source.submit(&batch, "s:0").await.unwrap_err();
        tokio::time::pause();
        tokio::time::advance(Duration::from_secs(seconds)).await;
        tokio::time::resume();
        reached.faults().next_decision(Fault::Status(409));
        let told = source.submit(&batch, "s:1").await.unwrap();
        assert!(matches!(&told[..], [(_, Outcome::Failed { .. })]), "still pending: {told:?}");
        reached.approved_by(&id, None);

        let told = source.submit(&batch, "s:2").await.unwrap();

        let others = Outcome::Skipped { status: Some(Status::Executed), by: None };
        assert_eq!(told, [(id, if ours { Outcome::Approved } else { others })], "{seconds} s");
    }
}

#[tokio::test]
async fn decision_under_another_name_is_not_ours() {
    for (reviewer, by, proof) in [
        (Some("kim"), Some("bob"), Some(false)),
        (None, Some("bob"), Some(false)),
        (Some("kim"), Some("kim"), None),
        (Some("kim"), None, None),
        (None, None, None),
    ] {
        let reached = Reached::of(Kind::Bridge).await;
        let source = reached.open_as(reviewer, AT_EASE);
        let id = reached.propose(0).await;
        reached.approved_by(&id, by);

        let action = get(&source, &id).await;

        assert_eq!(source.ours(&action, &Decision::APPROVE, "s:0"), proof, "{reviewer:?} {by:?}");
    }
}

#[tokio::test]
async fn any_date_format_is_accepted() {
    let moment = Timestamp::from_millis(1_777_712_404_000);
    for (date, want) in [
        ("2026-05-02T09:00:04Z", moment),
        ("2026-05-02T09:00:04", moment),
        ("2026-05-02T09:00:04+00:00Z", moment),
        ("2026-05-02 09:00:04.000000", moment),
        ("in May", Timestamp::default()),
    ] {
        for kind in [Kind::Bridge, Kind::Plain] {
            let reached = Reached::of(kind).await;
            let id = reached.propose(0).await;
            reached.with_run(&id, |run| run.date = Some(date));

            let row = rows(&reached.open(AT_EASE)).await.remove(0);

            let created = Timestamp::from_millis(row.created_at.as_millis() / 1_000 * 1_000);
            // A pause without a date gets the start of its run.
            let began = Timestamp::from_millis(1_777_712_400_000);
            assert!(
                created == want || (date == "in May" && created == began),
                "{kind:?} {date}: {created:?}"
            );
        }
    }
}

#[tokio::test]
async fn rejection_before_0_3_is_read_from_its_calls() {
    let reached = Reached::of(Kind::OldPlain).await;
    let source = reached.open(AT_EASE);
    let ids = reached.waits(WAITS, vec![gated("buy", "{}")]);

    assert_eq!(decide(&source, &[(&ids[0], reject("too dear"))]).await, [Outcome::Rejected]);

    let kinds =
        reached.with_run(&ids[0], |run| run.events.iter().any(|event| event.kind == "approval.decided"));
    assert_eq!(kinds, Some(false), "no decision event");
    let rejected = get(&source, &ids[0]).await;
    assert_eq!((rejected.row.status, rejected.reason), (Status::Rejected, Some("too dear".into())));
}

#[tokio::test]
async fn loser_of_a_race_learns_the_winners_decision() {
    for kind in [Kind::Bridge, Kind::OldBridge, Kind::Plain, Kind::OldPlain] {
        let reached = Reached::of(kind).await;
        let (one, two) = (reached.open(AT_EASE), reached.open(AT_EASE));
        let ids = reached.waits(WAITS, vec![gated("buy", "{}")]);
        let late = frozen(&two, 1, &[(&ids[0], Decision::APPROVE)]).await.unwrap();
        assert_eq!(decide(&one, &[(&ids[0], reject("no"))]).await, [Outcome::Rejected]);

        let told = two.submit(&late, "s:0").await.unwrap();

        assert!(
            matches!(&told[..], [(_, Outcome::Skipped { status: Some(Status::Rejected), .. })]),
            "{kind:?} {told:?}"
        );
        assert_eq!(reached.with_run(&ids[0], |run| run.taken), Some(1));
    }
}

#[tokio::test]
async fn rejection_with_another_reason_is_not_ours() {
    for (ours, written, proof) in [
        (Some("no"), Some("too dear"), Some(false)),
        (None, Some("too dear"), Some(false)),
        (Some("no"), None, Some(false)),
        (Some("no"), Some("no"), None),
        (None, None, None),
    ] {
        let reached = Reached::of(Kind::Plain).await;
        let source = reached.open(IN_A_HURRY);
        let id = reached.propose(0).await;
        let reason = ours.map(str::to_owned);
        let batch = frozen(&source, 1, &[(&id, Decision::Reject { reason })]).await.unwrap();
        reached.faults().next_decision(Fault::SilentBefore);
        source.submit(&batch, "s:0").await.unwrap_err();
        reached.with_run(&id, |run| run.decide(&Verdicts::Whole(false, written.map(str::to_owned)), false));

        let action = get(&source, &id).await;
        let told = source.submit(&batch, "s:1").await.unwrap();

        let decision = &batch.items()[0].decision;
        assert_eq!(source.ours(&action, decision, "s:0"), proof, "{ours:?} {written:?}");
        let others = Outcome::Skipped { status: Some(Status::Rejected), by: None };
        assert_eq!(
            told[0].1,
            if proof.is_some() { others } else { Outcome::Rejected },
            "{ours:?} {written:?}"
        );
    }
}
