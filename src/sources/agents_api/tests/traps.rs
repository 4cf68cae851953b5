//! Where a decision, or what came of it, could be lost in silence.

use super::*;

#[tokio::test]
async fn wordpress_forgets_what_failed_after_it_was_accepted_and_the_refusal_is_the_only_notice() {
    let desk = Desk::at_data_machine().await;
    let id = desk.site.put(|kept| kept.kind = "boom".to_owned());

    assert_eq!(desk.approve(&id).await, Outcome::Approved, "it was accepted, and ran");

    assert!(desk.listed().await.unwrap().0.is_empty(), "the list has it no more");
    let told = desk.get(&id).await.unwrap();
    assert_eq!(told.row.status, Status::Failed);
    assert!(told.error.as_ref().is_some_and(|error| error.as_raw().contains("It exploded.")), "{told:?}");
    assert_eq!(told.row.resolved_by, Some("user:7".into()));
    assert_eq!(desk.source.ended(&id), Some(told), "and it is known at once, without asking");
    assert_eq!(desk.site.with(&id, |kept| kept.taken), Some(1));
}

#[tokio::test]
async fn a_run_that_may_have_landed_is_unknown_and_not_failed() {
    let desk = Desk::at_data_machine().await;
    for (kind, words, said) in [
        ("torn", "cannot tell whether it ran: check the site", "The mutation may have completed"),
        ("throws", "may have done its work before: check the site", "threw an exception: out of paper"),
    ] {
        let id = desk.site.put(|kept| kept.kind = kind.to_owned());

        let outcome = desk.approve(&id).await;

        assert!(matches!(outcome, Outcome::Unknown { .. }), "{kind}: {outcome:?}");
        assert!(why(&outcome).contains(words) && why(&outcome).contains(said), "{outcome:?}");
        assert_eq!(desk.source.ended(&id), None, "{kind}: nothing says that it ended");
    }
}

#[tokio::test]
async fn wordpress_refuses_with_one_code_and_what_it_means_is_read() {
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
async fn wordpress_hides_what_another_reviewer_is_running_and_that_is_not_taken_for_ours() {
    let desk = Desk::at_data_machine().await;
    let id = desk.site.put(|_| ());
    let batches = desk.freeze(&[&id], &Decision::APPROVE).await.unwrap();
    desk.site.with(&id, |kept| kept.claimed_for = Some(1));

    let outcomes = desk.source.submit(&batches[0], "key").await.unwrap();

    let skipped = Outcome::Skipped { status: Some(Status::Executed), by: Some("user:9".into()) };
    assert_eq!(outcomes, [(id.clone(), skipped)]);
    assert_eq!(desk.source.ended(&id), None, "nothing is told as ours");
}

#[tokio::test]
async fn what_another_reviewer_runs_for_long_is_skipped_without_a_name() {
    let desk = Desk::at_data_machine().await;
    let id = desk.site.put(|_| ());
    let batches = desk.freeze(&[&id], &Decision::APPROVE).await.unwrap();
    desk.site.with(&id, |kept| kept.claimed_for = Some(1_000));

    let outcomes = desk.source.submit(&batches[0], "key").await.unwrap();

    assert_eq!(outcomes, [(id, Outcome::Skipped { status: None, by: None })]);
}

#[tokio::test]
async fn a_host_that_keeps_the_failure_beside_accepted_tells_it_for_ever() {
    let desk = Desk::at(Setup { host: Host::OfItsOwn, ..Setup::DATA_MACHINE }).await;
    let id = desk.site.put(|kept| kept.kind = "boom".to_owned());

    assert_eq!(desk.approve(&id).await, Outcome::Approved);

    let told = desk.get(&id).await.unwrap();
    assert_eq!((told.row.status, told.error), (Status::Failed, Some("It exploded.".into())));
}

#[tokio::test]
async fn a_host_that_names_the_conflict_is_read_all_the_same() {
    let desk = Desk::at(Setup { host: Host::OfItsOwn, ..Setup::DATA_MACHINE }).await;
    let id = desk.site.put(|_| ());
    let batches = desk.freeze(&[&id], &Decision::REJECT).await.unwrap();
    desk.site.with(&id, |kept| kept.claimed_for = Some(0));

    let outcomes = desk.source.submit(&batches[0], "key").await.unwrap();

    let skipped = Outcome::Skipped { status: Some(Status::Executed), by: Some("user:9".into()) };
    assert_eq!(outcomes, [(id, skipped)]);
}
