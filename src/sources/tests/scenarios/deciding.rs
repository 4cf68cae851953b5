//! Decisions that succeed, or are refused before sending.

use crate::domain::{ActionId, Decision, Edits, Outcome, RawJson, ReasonRule, Refusal};
use crate::sources::tests::desk::{Desk, cell, done};
use crate::sources::tests::{Stand, World};

async fn untouched(world: &dyn World, id: &ActionId) {
    assert_eq!((world.stands(id).await, world.taken(id).await), (Stand::Pending, 0));
    assert_eq!(world.faults().decisions(), 0, "refused before anything was sent");
}

pub(super) async fn approved(world: &dyn World) -> String {
    let desk = Desk::at_ease(world);
    let (id, other) = (world.propose(0).await, world.propose(1).await);

    let outcome = desk.decide(&id, Decision::APPROVE).await;

    assert!(matches!(outcome, Outcome::Approved | Outcome::Accepted), "{outcome:?}");
    assert_eq!((world.stands(&id).await, world.taken(&id).await), (Stand::Approved, 1));
    assert_eq!((world.stands(&other).await, world.taken(&other).await), (Stand::Pending, 0));
    assert!(!desk.lists(&id).await && desk.lists(&other).await, "the other action stays listed");
    cell(&outcome)
}

pub(super) async fn edited(world: &dyn World) -> String {
    let desk = Desk::at_ease(world);
    let id = world.propose(0).await;
    let action = desk.load(&id).await;
    let edits = Edits::new(RawJson::parse(world.edits()).unwrap()).unwrap();
    let decision = Decision::Approve { edits: Some(edits), comment: None };

    if !action.row.can.edit {
        let refusal = desk.freeze(&action, decision).unwrap_err();
        assert!(matches!(refusal, Refusal::EditsUnsupported(_)), "{refusal}");
        untouched(world, &id).await;
        return "no edits; refused here".to_owned();
    }
    let before = world.runs(&id).await;
    assert!(!before.contains("changed by hand"), "{before}");
    let outcome = desk.send_one(&desk.freeze(&action, decision).unwrap()).await;

    assert!(matches!(outcome, Outcome::Approved | Outcome::Accepted), "{outcome:?}");
    assert_eq!((world.stands(&id).await, world.taken(&id).await), (Stand::Approved, 1));
    let runs = world.runs(&id).await;
    assert!(runs.contains("changed by hand"), "{runs}");
    format!("{}, as edited", cell(&outcome))
}

pub(super) async fn commented(world: &dyn World) -> String {
    let desk = Desk::at_ease(world);
    let id = world.propose(0).await;
    let action = desk.load(&id).await;
    let decision = Decision::Approve { edits: None, comment: Some("go ahead".to_owned()) };

    let outcome = desk.send_one(&desk.freeze(&action, decision).unwrap()).await;

    assert!(matches!(outcome, Outcome::Approved | Outcome::Accepted), "{outcome:?}");
    assert_eq!((world.stands(&id).await, world.taken(&id).await), (Stand::Approved, 1));
    let said = world.said(&id).await;
    if action.row.can.comment {
        assert_eq!(said.as_deref(), Some("go ahead"));
        format!("{}, comment kept there", cell(&outcome))
    } else {
        assert_eq!(said, None, "an unsupported comment is not sent");
        format!("{}, comment kept here only", cell(&outcome))
    }
}

pub(super) async fn rejected(world: &dyn World) -> String {
    let desk = Desk::at_ease(world);
    let (id, other) = (world.propose(0).await, world.propose(1).await);
    let action = desk.load(&id).await;
    let can = action.row.can;

    if !can.reject {
        let refusal = desk.freeze(&action, Decision::REJECT).unwrap_err();
        assert!(matches!(refusal, Refusal::RejectUnsupported(_)), "{refusal}");
        untouched(world, &id).await;
        return "cannot be rejected; refused here".to_owned();
    }
    if can.reason == ReasonRule::Required {
        assert!(desk.freeze(&action, Decision::REJECT).is_err());
        untouched(world, &id).await;
        return "needs a reason; refused here without".to_owned();
    }
    let outcome = desk.send_one(&desk.freeze(&action, Decision::REJECT).unwrap()).await;

    assert!(matches!(outcome, Outcome::Rejected | Outcome::Accepted), "{outcome:?}");
    assert_eq!((world.stands(&id).await, world.taken(&id).await), (Stand::Rejected, 1));
    assert_eq!(world.stands(&other).await, Stand::Pending);
    assert!(!desk.lists(&id).await && desk.lists(&other).await);
    cell(&outcome)
}

pub(super) async fn reasoned(world: &dyn World) -> String {
    let desk = Desk::at_ease(world);
    let id = world.propose(0).await;
    let action = desk.load(&id).await;
    let can = action.row.can;
    let decision = Decision::Reject { reason: Some("the wrong customer".to_owned()) };
    if !can.reject {
        assert!(desk.freeze(&action, decision).is_err());
        untouched(world, &id).await;
        return "cannot be rejected; refused here".to_owned();
    }

    let outcome = desk.send_one(&desk.freeze(&action, decision).unwrap()).await;

    assert!(matches!(outcome, Outcome::Rejected | Outcome::Accepted), "{outcome:?}");
    assert_eq!((world.stands(&id).await, world.taken(&id).await), (Stand::Rejected, 1));
    let said = world.said(&id).await;
    if can.reason == ReasonRule::NotKept {
        assert_eq!(said, None, "an unsupported reason is not sent");
        return format!("{}, reason kept here only", cell(&outcome));
    }
    assert_eq!(said.as_deref(), Some("the wrong customer"));
    format!("{}, reason kept there", cell(&outcome))
}

pub(super) async fn retried(world: &dyn World) -> String {
    let desk = Desk::at_ease(world);
    let id = world.propose(0).await;
    let action = desk.load(&id).await;
    let decision = Decision::Retry { guidance: "say it in one sentence".to_owned() };

    if !action.row.can.retry {
        let refusal = desk.freeze(&action, decision).unwrap_err();
        assert!(matches!(refusal, Refusal::Unsupported(..)), "{refusal}");
        untouched(world, &id).await;
        return "no retry; refused here".to_owned();
    }
    let outcome = desk.send_one(&desk.freeze(&action, decision).unwrap()).await;

    assert_eq!(outcome, Outcome::Accepted);
    let stands = world.stands(&id).await;
    assert!(
        !matches!(stands, Stand::Approved | Stand::Rejected),
        "neither approved nor rejected: {stands:?}"
    );
    format!("{}, asked to try again", cell(&outcome))
}

/// The same submission twice, as after a crash between sending and journaling.
pub(super) async fn again(world: &dyn World) -> String {
    let desk = Desk::at_ease(world);
    let id = world.propose(0).await;
    let action = desk.load(&id).await;
    let submission = desk.freeze(&action, Decision::APPROVE).unwrap();

    let first = desk.send_one(&submission).await;
    let second = desk.send_one(&submission).await;

    assert!(done(&first), "{first:?}");
    assert_eq!((world.stands(&id).await, world.taken(&id).await), (Stand::Approved, 1), "taken once");
    format!("taken once; then {}", cell(&second))
}
