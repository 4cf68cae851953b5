//! Error answers: nothing lands, the error is reported, and the decision can be sent later.

use crate::domain::{Decision, Outcome, Verdict};
use crate::sources::SourceError;
use crate::sources::tests::desk::{Desk, cell, done};
use crate::sources::tests::{Fault, Stand, World};

pub(super) async fn unauthorized(world: &dyn World) -> String {
    met(world, 401, |error| matches!(error, SourceError::Unauthorized)).await
}

pub(super) async fn forbidden(world: &dyn World) -> String {
    met(world, 403, |error| matches!(error, SourceError::Forbidden { .. })).await
}

pub(super) async fn not_found(world: &dyn World) -> String {
    met(world, 404, |_| true).await
}

pub(super) async fn conflict(world: &dyn World) -> String {
    met(world, 409, |_| true).await
}

pub(super) async fn invalid(world: &dyn World) -> String {
    met(world, 422, |_| true).await
}

pub(super) async fn too_many(world: &dyn World) -> String {
    met(world, 429, |error| matches!(error, SourceError::RateLimited { .. })).await
}

pub(super) async fn broken(world: &dyn World) -> String {
    met(world, 500, SourceError::lost_sight).await
}

/// Returns `status` to one decision, then to every request.
async fn met(world: &dyn World, status: u16, is: fn(&SourceError) -> bool) -> String {
    let desk = Desk::at_ease(world);
    let id = world.propose(0).await;
    let action = desk.load(&id).await;
    let submission = desk.freeze(&action, Decision::APPROVE).unwrap();

    world.faults().next_decision(Fault::Status(status));
    let outcome = desk.send_one(&submission).await;
    let lost = matches!(outcome, Outcome::Unknown { .. }) && status >= 500;
    assert!(lost || matches!(outcome, Outcome::Failed { .. }), "{outcome:?}");
    assert_eq!((world.stands(&id).await, world.taken(&id).await), (Stand::Pending, 0));
    assert_eq!(world.faults().decisions(), 1, "sent once");

    world.faults().every_request(Some(Fault::Status(status)));
    let error = desk.listed().await.unwrap_err();
    assert!(is(&error), "{error:?}");
    let checks = desk.source.checked().await;
    assert!(
        checks.iter().any(|check| check.verdict == Verdict::Bad && !check.advice.is_empty()),
        "{checks:?}"
    );
    let refused = desk.send_one(&submission).await;
    assert!(matches!(refused, Outcome::Failed { .. } | Outcome::Unknown { .. }), "{refused:?}");
    assert_eq!((world.stands(&id).await, world.taken(&id).await), (Stand::Pending, 0));

    world.faults().every_request(None);
    let later = desk.decide(&id, Decision::APPROVE).await;
    assert!(done(&later), "it can be decided later: {later:?}");
    assert_eq!((world.stands(&id).await, world.taken(&id).await), (Stand::Approved, 1));
    cell(&outcome)
}
