//! Submissions that were confirmed but can still be recalled.

use super::*;

#[tokio::test]
async fn held_decisions_return_to_the_draft_after_a_crash() {
    let place = Place::new();
    let journal = place.open().await;
    some_desk().save(&journal).await;
    journal.hold(&submission("a"), 3, Some("ada")).await.unwrap();
    crash(journal).await;

    let next = place.open().await;

    assert_eq!(next.restore().await.unwrap().draft, some_desk().draft);
    assert_eq!(
        ids(&next.unsettled().await.unwrap()),
        Vec::<&str>::new(),
        "held submissions are never unsettled"
    );
    assert_eq!(ids(&next.log(10).await.unwrap()), Vec::<&str>::new());
    assert_eq!(next.past(&SubmissionId::new("a")).await.unwrap(), None);
    next.begin(&submission("a"), 3, None).await.unwrap();
}

#[tokio::test]
async fn held_submission_is_begun_once() {
    let place = Place::new();
    let journal = place.open().await;
    journal.hold(&submission("a"), 3, Some("ada")).await.unwrap();

    journal.begin(&submission("a"), 3, Some("ada")).await.unwrap();

    assert!(journal.begin(&submission("a"), 3, None).await.is_err(), "it was begun already");
    journal.recall(&SubmissionId::new("a")).await.unwrap();
    assert_eq!(ids(&journal.log(10).await.unwrap()), ["a"], "a begun submission cannot be recalled");
    crash(journal).await;
    let taken = place.open().await.unsettled().await.unwrap();
    assert_eq!(
        (ids(&taken), taken[0].items.len(), taken[0].reviewer.as_deref()),
        (vec!["a"], 2, Some("ada"))
    );
}

#[tokio::test]
async fn recalled_submission_is_deleted() {
    let place = Place::new();
    let journal = place.open().await;
    journal.hold(&submission("a"), 3, None).await.unwrap();

    journal.recall(&SubmissionId::new("a")).await.unwrap();

    assert!(journal.log(10).await.unwrap().is_empty());
    journal.hold(&submission("a"), 3, None).await.unwrap();
}

#[tokio::test]
async fn submission_held_by_a_living_inbox_is_left_alone() {
    let place = Place::new();
    let (one, two) = (place.open().await, place.open().await);
    one.hold(&submission("a"), 0, None).await.unwrap();

    two.recall(&SubmissionId::new("a")).await.unwrap();
    assert_eq!(ids(&two.unsettled().await.unwrap()), Vec::<&str>::new());

    assert!(two.hold(&submission("a"), 0, None).await.is_err(), "the other run cannot recall it");
    assert_eq!(
        ids(&one.unsettled().await.unwrap()),
        Vec::<&str>::new(),
        "held submissions are never unsettled"
    );
}
