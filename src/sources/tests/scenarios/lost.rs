//! Lost answers: the outcome is read, never guessed, and nothing is sent again.

use crate::domain::{Decision, Outcome};
use crate::sources::tests::desk::{Desk, cell, done};
use crate::sources::tests::{Fault, Stand, World};

pub(super) async fn after(world: &dyn World) -> String {
    let (desk, hurried) = (Desk::at_ease(world), Desk::in_a_hurry(world).await);
    let id = world.propose(0).await;
    let action = desk.load(&id).await;
    let submission = desk.freeze(&action, Decision::APPROVE).unwrap();
    world.faults().next_decision(Fault::SilentAfter);

    let outcome = hurried.send_one(&submission).await;

    assert_eq!((world.stands(&id).await, world.taken(&id).await), (Stand::Approved, 1));
    assert_eq!(world.faults().decisions(), 1, "sent once");
    assert!(matches!(outcome, Outcome::Approved | Outcome::Unknown { .. }), "{outcome:?}");
    assert!(!desk.lists(&id).await, "it cannot be decided again");
    cell(&outcome)
}

pub(super) async fn before(world: &dyn World) -> String {
    let (desk, hurried) = (Desk::at_ease(world), Desk::in_a_hurry(world).await);
    let id = world.propose(0).await;
    let action = desk.load(&id).await;
    let submission = desk.freeze(&action, Decision::APPROVE).unwrap();
    world.faults().next_decision(Fault::SilentBefore);

    let outcome = hurried.send_one(&submission).await;

    assert_eq!((world.stands(&id).await, world.taken(&id).await), (Stand::Pending, 0));
    assert_eq!(world.faults().decisions(), 1, "sent once");
    assert!(matches!(outcome, Outcome::Unknown { .. } | Outcome::Failed { .. }), "{outcome:?}");
    assert!(desk.lists(&id).await, "it is still pending");
    let later = desk.decide(&id, Decision::APPROVE).await;
    assert!(done(&later), "{later:?}");
    assert_eq!(world.taken(&id).await, 1);
    cell(&outcome)
}

/// The backend accepts connections without answering; every request ends in time.
pub(super) async fn silence(world: &dyn World) -> String {
    let (desk, hurried) = (Desk::at_ease(world), Desk::in_a_hurry(world).await);
    let id = world.propose(0).await;
    let action = desk.load(&id).await;
    let submission = desk.freeze(&action, Decision::APPROVE).unwrap();
    world.faults().every_request(Some(Fault::SilentBefore));

    let error = hurried.listed().await.unwrap_err();
    assert!(error.lost_sight(), "{error:?}");
    let outcome = hurried.send_one(&submission).await;

    assert!(matches!(outcome, Outcome::Unknown { .. } | Outcome::Failed { .. }), "{outcome:?}");
    assert_eq!((world.stands(&id).await, world.taken(&id).await), (Stand::Pending, 0));
    world.faults().every_request(None);
    assert!(desk.lists(&id).await);
    cell(&outcome)
}
