//! Lists are complete.

use std::collections::BTreeSet;

use crate::domain::{ActionId, Decision, Verdict};
use crate::rounds::rounds;
use crate::sources::tests::World;
use crate::sources::tests::desk::{Desk, cell, done};

pub(super) async fn listed(world: &dyn World) -> String {
    let desk = Desk::at_ease(world);
    let mut ids = BTreeSet::new();
    for n in 0..3 {
        ids.insert(world.propose(n).await);
    }

    let (rows, unreadable) = desk.listed().await.unwrap();

    assert_eq!(rows.iter().map(|row| row.id.clone()).collect::<BTreeSet<_>>(), ids);
    assert!(unreadable.is_empty(), "{unreadable:?}");
    for id in &ids {
        let action = desk.load(id).await;
        assert!(action.row.can.can_decide(), "{:?}", action.row.can);
        assert!(!action.input.as_str().is_empty());
        if let Some(source) = desk.source.abilities().context {
            source.context(id, &rows).await.unwrap();
        }
    }
    let checks = desk.source.checked().await;
    assert!(!checks.is_empty());
    let bad: Vec<_> = checks.iter().filter(|check| check.verdict == Verdict::Bad).collect();
    assert!(bad.is_empty(), "{bad:?}");
    assert_eq!(world.faults().decisions(), 0, "listing sent a decision");
    format!("{} rows, {} checks", rows.len(), checks.len())
}

pub(super) async fn malformed(world: &dyn World) -> String {
    let desk = Desk::at_ease(world);
    let mut ids = vec![world.propose(0).await, world.propose(1).await];
    world.propose_broken().await;
    ids.push(world.propose(2).await);

    let (rows, unreadable) = desk.listed().await.unwrap();

    let missing: Vec<_> = ids.iter().filter(|id| !rows.iter().any(|row| row.id == **id)).collect();
    assert!(missing.is_empty(), "one bad row hid {missing:?}");
    assert_eq!((rows.len(), unreadable.len()), (3, 1), "the bad row is reported: {unreadable:?}");
    let outcome = desk.decide(&ids[2], Decision::APPROVE).await;
    assert!(done(&outcome), "{outcome:?}");
    format!("3 rows, told: {}", unreadable[0].what)
}

pub(super) async fn unknown_words(world: &dyn World) -> String {
    let desk = Desk::at_ease(world);
    let (odd, other) = (world.propose_odd().await, world.propose_odd().await);

    let action = desk.load(&odd).await;
    assert!(action.raw.as_str().contains("frobnication"), "{}", action.raw.as_str());
    let risk = action.row.risk.as_raw().to_owned();
    assert!(risk != "spicy" || action.row.risk.is_high(), "an unknown risk ranks high");
    let outcome = desk.decide(&odd, Decision::APPROVE).await;
    assert!(done(&outcome), "{outcome:?}");

    if !world.turn_odd(&other).await {
        return format!("risk {risk}; knows no other status");
    }
    assert!(!desk.lists(&other).await, "it is no longer pending");
    let found = desk.source.get(std::slice::from_ref(&other)).await.unwrap();
    let status = match found.as_slice() {
        [] => "not told of".to_owned(),
        [Ok(action)] => {
            assert_eq!(action.row.status.as_raw(), "simmering");
            assert!(desk.freeze(action, Decision::APPROVE).is_err());
            "shown as it is".to_owned()
        }
        more => panic!("{more:?}"),
    };
    assert_eq!(world.taken(&other).await, 0);
    format!("risk {risk}; status {status}")
}

pub(super) async fn a_thousand(world: &dyn World) -> String {
    let desk = Desk::at_ease(world);
    let mut ids: Vec<ActionId> = Vec::new();
    for n in 0..1_000 {
        ids.push(world.propose(n).await);
    }

    let (rows, unreadable) = desk.listed().await.unwrap();
    assert_eq!((rows.len(), unreadable.len()), (1_000, 0));
    let actions = desk.source.get(&ids).await.unwrap();
    let actions: Vec<_> = actions.into_iter().map(Result::unwrap).collect();
    assert_eq!(actions.len(), 1_000, "all of them can be read");

    // Without batches, each decision reads the rest of the list.
    let approved = rounds(5, 40) as usize;
    let some: BTreeSet<_> = ids.iter().step_by(1_000 / approved).collect();
    let decided = actions.into_iter().filter(|action| some.contains(&action.row.id));
    let decided: Vec<_> = decided.map(|action| (action, Decision::APPROVE)).collect();
    let submission = desk.freeze_all(&decided).unwrap();
    let outcomes = desk.send(&submission).await;

    assert_eq!(outcomes.len(), approved);
    for (id, outcome) in &outcomes {
        assert!(done(outcome), "{id:?}: {}", cell(outcome));
        assert_eq!(world.taken(id).await, 1, "{id:?}");
    }
    let left = desk.listed().await.unwrap().0.len();
    assert_eq!(left, 1_000 - approved, "the rest stays pending");
    format!("1,000 read, {approved} approved, {left} left")
}
