//! Decisions and changes by others.

use crate::domain::{ActionId, Decision, DecisionKind, Outcome, Status};
use crate::sources::agents_api::HIDDEN;
use crate::sources::tests::desk::{Desk, cell, done};
use crate::sources::tests::{Stand, World};

/// Returns the backend's state after a decision of this kind.
const fn stand(kind: DecisionKind) -> Stand {
    if kind.approves() { Stand::Approved } else { Stand::Rejected }
}

/// Two reviewers send at the same time: first opposite decisions, then equal ones.
pub(super) async fn race(world: &dyn World) -> String {
    let mut told = Vec::new();
    for (nth, opposite) in [true, false].into_iter().enumerate() {
        let id = world.propose(nth).await;
        let (one, two) = (Desk::at_ease(world), Desk::at_ease(world));
        let (first, second) = (one.load(&id).await, two.load(&id).await);
        let opposite = opposite && second.row.can.reject;
        let reject = Decision::Reject { reason: Some("no".to_owned()) };
        let second_decision = if opposite { reject } else { Decision::APPROVE };
        let kinds = [DecisionKind::Approve, second_decision.kind()];
        let first = one.freeze(&first, Decision::APPROVE).unwrap();
        let second = two.freeze(&second, second_decision).unwrap();

        let (first, second) = tokio::join!(one.send_one(&first), two.send_one(&second));

        assert_eq!(world.taken(&id).await, 1, "{first:?} {second:?}");
        let won: Vec<_> = [&first, &second].into_iter().zip(kinds).filter(|(it, _)| done(it)).collect();
        assert_eq!(won.len(), 1, "exactly one must win: {first:?} {second:?}");
        assert_eq!(world.stands(&id).await, stand(won[0].1), "{first:?} {second:?}");
        let lost = if done(&first) { second } else { first };
        assert!(matches!(lost, Outcome::Skipped { .. } | Outcome::Unknown { .. }), "{lost:?}");
        told.push(cell(&lost).split(':').next().unwrap_or_default().to_owned());
    }
    format!("one won, the other {}", told.join(" / "))
}

pub(super) async fn settled(world: &dyn World) -> String {
    let mut told = Vec::new();
    for (nth, elsewhere) in [DecisionKind::Reject, DecisionKind::Approve].into_iter().enumerate() {
        let desk = Desk::at_ease(world);
        let id = world.propose(nth).await;
        let action = desk.load(&id).await;
        let submission = desk.freeze(&action, Decision::APPROVE).unwrap();
        world.settle_elsewhere(&id, elsewhere).await;

        let outcome = desk.send_one(&submission).await;

        assert_eq!((world.stands(&id).await, world.taken(&id).await), (stand(elsewhere), 1));
        assert!(matches!(outcome, Outcome::Skipped { .. } | Outcome::Unknown { .. }), "{outcome:?}");
        assert!(!desk.lists(&id).await);
        told.push(cell(&outcome));
    }
    told.swap_remove(0)
}

pub(super) async fn gone(world: &dyn World) -> String {
    let desk = Desk::at_ease(world);
    let id = world.propose(0).await;
    let action = desk.load(&id).await;
    let submission = desk.freeze(&action, Decision::APPROVE).unwrap();
    world.forget(&id).await;

    let outcome = desk.send_one(&submission).await;

    let honest = match &outcome {
        Outcome::Failed { .. } | Outcome::Unknown { .. } | Outcome::Skipped { status: None, .. } => true,
        Outcome::Skipped { status: Some(status), .. } => *status == Status::Other(HIDDEN.into()),
        _ => false,
    };
    assert!(honest, "{outcome:?}");
    assert_eq!((world.stands(&id).await, world.taken(&id).await), (Stand::Gone, 0));
    assert!(!desk.lists(&id).await);
    let found = desk.source.get(std::slice::from_ref(&id)).await.unwrap();
    assert!(found.is_empty(), "{found:?}");
    cell(&outcome)
}

async fn undecided(world: &dyn World, id: &ActionId) {
    assert!(matches!(world.stands(id).await, Stand::Pending | Stand::Gone));
    assert_eq!(world.taken(id).await, 0);
}

/// It expires after freezing, so the decision must not land.
pub(super) async fn expired(world: &dyn World) -> String {
    let desk = Desk::at_ease(world);
    let id = world.propose(0).await;
    let action = desk.load(&id).await;
    let submission = desk.freeze(&action, Decision::APPROVE).unwrap();
    if !world.expire(&id).await {
        assert_eq!(action.row.expires_at, None, "an action without expiry has no time");
        return "knows no expiry".to_owned();
    }
    assert!(action.row.expires_at.is_some(), "the row has its expiry");

    let outcome = desk.send_one(&submission).await;

    assert!(matches!(outcome, Outcome::Failed { .. } | Outcome::Skipped { .. }), "{outcome:?}");
    undecided(world, &id).await;
    for action in desk.source.get(std::slice::from_ref(&id)).await.unwrap() {
        let refused = desk.freeze(&action.unwrap(), Decision::APPROVE);
        assert!(refused.is_err(), "expired, so freezing is refused");
    }
    cell(&outcome)
}

pub(super) async fn changed(world: &dyn World) -> String {
    let desk = Desk::at_ease(world);
    let id = world.propose(0).await;
    let action = desk.load(&id).await;
    let submission = desk.freeze(&action, Decision::APPROVE).unwrap();
    if !world.change(&id).await {
        return "nothing changes there".to_owned();
    }

    let outcome = desk.send_one(&submission).await;

    assert!(matches!(outcome, Outcome::Failed { .. } | Outcome::Skipped { .. }), "{outcome:?}");
    undecided(world, &id).await;
    cell(&outcome)
}
