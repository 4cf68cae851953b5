//! What was confirmed and may still be recalled.

use super::*;

#[tokio::test]
async fn what_is_held_when_the_inbox_is_killed_is_in_the_draft_again_and_was_never_sent() {
    let place = Place::new();
    let journal = place.open().await;
    some_desk().save(&journal).await;
    journal.hold(&submission("a"), 3, Some("ada")).await.unwrap();
    crash(journal).await;

    let next = place.open().await;

    assert_eq!(next.restore().await.unwrap().draft, some_desk().draft);
    assert_eq!(ids(&next.unsettled().await.unwrap()), Vec::<&str>::new(), "there is nothing to look for");
    assert_eq!(ids(&next.log(10).await.unwrap()), Vec::<&str>::new());
    assert_eq!(next.past(&SubmissionId::new("a")).await.unwrap(), None);
    // Nothing of it is left behind, so that the same decisions can be sent.
    next.begin(&submission("a"), 3, None).await.unwrap();
}

#[tokio::test]
async fn what_was_held_is_begun_once_and_then_as_any_other() {
    let place = Place::new();
    let journal = place.open().await;
    journal.hold(&submission("a"), 3, Some("ada")).await.unwrap();

    journal.begin(&submission("a"), 3, Some("ada")).await.unwrap();

    assert!(journal.begin(&submission("a"), 3, None).await.is_err(), "once");
    journal.recall(&SubmissionId::new("a")).await.unwrap();
    assert_eq!(ids(&journal.log(10).await.unwrap()), ["a"], "too late to recall it");
    crash(journal).await;
    let taken = place.open().await.unsettled().await.unwrap();
    assert_eq!(
        (ids(&taken), taken[0].items.len(), taken[0].reviewer.as_deref()),
        (vec!["a"], 2, Some("ada"))
    );
}

#[tokio::test]
async fn what_was_recalled_is_forgotten() {
    let place = Place::new();
    let journal = place.open().await;
    journal.hold(&submission("a"), 3, None).await.unwrap();

    journal.recall(&SubmissionId::new("a")).await.unwrap();

    assert!(journal.log(10).await.unwrap().is_empty());
    journal.hold(&submission("a"), 3, None).await.unwrap();
}

#[tokio::test]
async fn what_a_living_inbox_holds_is_left_to_it() {
    let place = Place::new();
    let (one, two) = (place.open().await, place.open().await);
    one.hold(&submission("a"), 0, None).await.unwrap();

    two.recall(&SubmissionId::new("a")).await.unwrap();
    assert_eq!(ids(&two.unsettled().await.unwrap()), Vec::<&str>::new());

    assert!(two.hold(&submission("a"), 0, None).await.is_err(), "it is still there");
    assert_eq!(ids(&one.unsettled().await.unwrap()), Vec::<&str>::new(), "and no news to its own run");
}
