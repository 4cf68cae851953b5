//! Every source against a backend that behaves as the real one was measured, its faults among it; and the same scenarios over
//! all of them, so that none is forgotten for one.

use crate::domain::Check;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::BoxFuture;

use super::{Source, WORLDS};
use crate::domain::{ActionId, DecisionKind};

mod desk;
mod faults;
mod matrix;
mod odd_answers;
mod scenarios;

pub(crate) use faults::Fault;
pub(super) use faults::Faults;

/// A backend, and everything that can happen to it. Each kind of source has one, beside its own tests.
#[async_trait]
pub(super) trait World: Send + Sync {
    /// The kind, as the configuration has it.
    fn kind(&self) -> &'static str;

    /// A source at this backend, opened in a hurry: no request takes longer than `limit`.
    fn source(&self, limit: Duration) -> Arc<dyn Source>;

    /// What its requests meet. Every request passes through [`Faults::meet`].
    fn faults(&self) -> &Faults;

    /// An agent proposes its `n`th write. The id is the one under which the source lists it. Every proposal can be decided by
    /// itself, whatever else is proposed.
    async fn propose(&self, n: usize) -> ActionId;

    /// Something is listed that cannot be read.
    async fn propose_broken(&self);

    /// It waits to be decided, and has a field `frobnication` and, where the system knows risks, the risk `spicy`.
    async fn propose_odd(&self) -> ActionId;

    /// It stands as `simmering` from now on, a word that nobody knows. False where the system tells of none that is not pending.
    async fn turn_odd(&self, id: &ActionId) -> bool;

    /// Its time to be decided is over. False where the system knows no such thing.
    async fn expire(&self, id: &ActionId) -> bool;

    /// Another reviewer decides it, and the backend settles that.
    async fn settle_elsewhere(&self, id: &ActionId, kind: DecisionKind);

    /// Nobody knows it any more.
    async fn forget(&self, id: &ActionId);

    /// Its content changes, where the backend lets it. False where it cannot.
    async fn change(&self, id: &ActionId) -> bool;

    /// What an edit of a proposal sets, as an object over its input.
    fn edits(&self) -> &'static str {
        r#"{"note":"changed by hand"}"#
    }

    /// How the backend itself has it, whatever it answers.
    async fn stands(&self, id: &ActionId) -> Stand;

    /// What it has run, or will run, by its own books: as JSON, after edits.
    async fn runs(&self, id: &ActionId) -> String;

    /// The reason or the comment that the backend itself has kept of a decision.
    async fn said(&self, id: &ActionId) -> Option<String>;

    /// So many decisions were taken by the backend for this action, another reviewer's among them: more than one is a doubled
    /// decision.
    async fn taken(&self, id: &ActionId) -> usize;
}

/// Where an action stands in the backend's own books.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stand {
    Pending,
    Approved,
    Rejected,
    Gone,
}

/// A world to be made anew for each scenario. Kinds whose behaviour differs between versions or set-ups have several; each name begins
/// with the kind.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) name: &'static str,
    pub(super) make: fn() -> BoxFuture<'static, Arc<dyn World>>,
}

fn worlds() -> Vec<Place> {
    WORLDS.iter().flat_map(|worlds| worlds.iter().copied()).collect()
}

/// A source of this kind at a backend of its own, with something in the way of every request: for tests of other rooms.
pub(crate) async fn standing(kind: &str, fault: Option<Fault>) -> Arc<dyn Source> {
    let place = worlds().into_iter().find(|place| place.name == kind).unwrap();
    let world = (place.make)().await;
    world.faults().every_request(fault);
    world.source(Duration::from_secs(30))
}

/// Two sources of this kind at one backend where so much was proposed, with the ids.
pub(crate) async fn two_with(kind: &str, proposals: usize) -> ([Arc<dyn Source>; 2], Vec<ActionId>) {
    let place = worlds().into_iter().find(|place| place.name == kind).unwrap();
    let world = (place.make)().await;
    let mut ids = Vec::new();
    for n in 0..proposals {
        ids.push(world.propose(n).await);
    }
    ([(); 2].map(|()| world.source(Duration::from_secs(30))), ids)
}

impl dyn Source {
    /// Its health check, in a time that is long enough on any machine.
    pub(crate) async fn checked(&self) -> Vec<Check> {
        self.check(Duration::from_mins(1)).await
    }
}
