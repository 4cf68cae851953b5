//! Cases in which a decision or its outcome could be lost silently.

use super::*;

#[tokio::test]
async fn failure_after_acceptance_is_reported_only_by_the_refusal() {
    let desk = Desk::at_data_machine().await;
    let id = desk.site.put(|kept| kept.kind = "boom".to_owned());

    assert_eq!(desk.approve(&id).await, Outcome::Approved, "it was accepted and ran");

    assert!(desk.listed().await.unwrap().0.is_empty(), "it is no longer listed");
    let told = desk.get(&id).await.unwrap();
    assert_eq!(told.row.status, Status::Failed);
    assert!(told.error.as_ref().is_some_and(|error| error.as_raw().contains("It exploded.")), "{told:?}");
    assert_eq!(told.row.resolved_by, Some("user:7".into()));
    assert_eq!(desk.source.ended(&id), Some(told), "the end is known without another request");
    assert_eq!(desk.site.with(&id, |kept| kept.taken), Some(1));
}

#[tokio::test]
async fn run_that_may_have_landed_is_unknown() {
    let desk = Desk::at_data_machine().await;
    for (kind, words, said) in [
        ("torn", "cannot tell whether it ran: check the site", "The mutation may have completed"),
        ("throws", "may have done its work before: check the site", "threw an exception: out of paper"),
    ] {
        let id = desk.site.put(|kept| kept.kind = kind.to_owned());

        let outcome = desk.approve(&id).await;

        assert!(matches!(outcome, Outcome::Unknown { .. }), "{kind}: {outcome:?}");
        assert!(why(&outcome).contains(words) && why(&outcome).contains(said), "{outcome:?}");
        assert_eq!(desk.source.ended(&id), None, "{kind}: its end is not known");
    }
}

#[tokio::test]
async fn refusals_with_one_code_are_told_by_their_message() {
    let desk = Desk::at_data_machine().await;
    let foreign = desk.site.put(|kept| kept.creator = 1);
    let orphan = desk.site.put(|kept| kept.kind = "orphan".to_owned());

    for (id, said) in [(&foreign, "You do not have permission"), (&orphan, "No handler registered")] {
        let outcome = desk.approve(id).await;

        assert!(matches!(outcome, Outcome::Failed { .. }), "nothing landed: {outcome:?}");
        assert!(why(&outcome).contains(said), "{outcome:?}");
        assert_eq!(desk.site.with(id, |kept| kept.status.clone()).as_deref(), Some("pending"));
    }
}

#[tokio::test]
async fn run_of_another_reviewer_is_not_taken_for_ours() {
    let desk = Desk::at_data_machine().await;
    let id = desk.site.put(|_| ());
    let batches = desk.freeze(&[&id], &Decision::APPROVE).await.unwrap();
    desk.site.with(&id, |kept| kept.claimed_for = Some(1));

    let outcomes = desk.source.submit(&batches[0], "key").await.unwrap();

    let skipped = Outcome::Skipped { status: Some(Status::Executed), by: Some("user:9".into()) };
    assert_eq!(outcomes, [(id.clone(), skipped)]);
    assert_eq!(desk.source.ended(&id), None, "it is not reported as ours");
}

#[tokio::test]
async fn long_run_of_another_reviewer_is_skipped_without_a_name() {
    let desk = Desk::at_data_machine().await;
    let id = desk.site.put(|_| ());
    let batches = desk.freeze(&[&id], &Decision::APPROVE).await.unwrap();
    desk.site.with(&id, |kept| kept.claimed_for = Some(1_000));

    let outcomes = desk.source.submit(&batches[0], "key").await.unwrap();

    assert_eq!(
        outcomes,
        [(
            id,
            Outcome::Skipped {
                status: Some(Status::Other(crate::sources::agents_api::submit::HIDDEN.into())),
                by: None
            }
        )]
    );
}

#[tokio::test]
async fn host_that_keeps_failures_reports_them_later() {
    let desk = Desk::at(Setup { host: Host::OfItsOwn, ..Setup::DATA_MACHINE }).await;
    let id = desk.site.put(|kept| kept.kind = "boom".to_owned());

    assert_eq!(desk.approve(&id).await, Outcome::Approved);

    let told = desk.get(&id).await.unwrap();
    assert_eq!((told.row.status, told.error), (Status::Failed, Some("It exploded.".into())));
}

#[tokio::test]
async fn host_that_names_the_conflict_is_read_too() {
    let desk = Desk::at(Setup { host: Host::OfItsOwn, ..Setup::DATA_MACHINE }).await;
    let id = desk.site.put(|_| ());
    let batches = desk.freeze(&[&id], &Decision::REJECT).await.unwrap();
    desk.site.with(&id, |kept| kept.claimed_for = Some(0));

    let outcomes = desk.source.submit(&batches[0], "key").await.unwrap();

    let skipped = Outcome::Skipped { status: Some(Status::Executed), by: Some("user:9".into()) };
    assert_eq!(outcomes, [(id, skipped)]);
}
