//! Every source against a fake backend that behaves like the measured real one, faults included. All sources run the same
//! scenarios.

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

/// A fake backend and its events. Each kind of source has one next to its tests.
#[async_trait]
pub(super) trait World: Send + Sync {
    /// Returns the kind as in the configuration.
    fn kind(&self) -> &'static str;

    /// Opens a source at this backend; no request takes longer than `limit`.
    fn source(&self, limit: Duration) -> Arc<dyn Source>;

    /// Returns the faults of its requests. Every request passes through [`Faults::meet`].
    fn faults(&self) -> &Faults;

    /// Proposes an agent's `n`th write and returns its id as the source lists it. Each proposal can be decided on its own.
    async fn propose(&self, n: usize) -> ActionId;

    async fn propose_broken(&self);

    /// Proposes an action with a field `frobnication` and, if the system has risks, the risk `spicy`.
    async fn propose_odd(&self) -> ActionId;

    /// Gives it the unknown status `simmering`. Returns false if the system reports only pending actions.
    async fn turn_odd(&self, id: &ActionId) -> bool;

    /// Lets its time to be decided pass. Returns false if the system has no expiry.
    async fn expire(&self, id: &ActionId) -> bool;

    async fn settle_elsewhere(&self, id: &ActionId, kind: DecisionKind);

    async fn forget(&self, id: &ActionId);

    /// Changes its content. Returns false if the backend does not allow that.
    async fn change(&self, id: &ActionId) -> bool;

    /// Returns the edits for a proposal, as an object over its input.
    fn edits(&self) -> &'static str {
        r#"{"note":"changed by hand"}"#
    }

    /// Returns its state in the backend's records, regardless of answers.
    async fn stands(&self, id: &ActionId) -> Stand;

    /// Returns what it has run or will run after edits, as JSON from the backend's records.
    async fn runs(&self, id: &ActionId) -> String;

    /// Returns the reason or comment that the backend kept.
    async fn said(&self, id: &ActionId) -> Option<String>;

    /// Returns the number of decisions taken for this action, including those of other reviewers. More than one is a
    /// duplicate.
    async fn taken(&self, id: &ActionId) -> usize;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stand {
    Pending,
    Approved,
    Rejected,
    Gone,
}

/// A world, created for each scenario. Kinds with different versions or setups have several. The name starts with the
/// kind.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) name: &'static str,
    pub(super) make: fn() -> BoxFuture<'static, Arc<dyn World>>,
}

fn worlds() -> Vec<Place> {
    WORLDS.iter().flat_map(|worlds| worlds.iter().copied()).collect()
}

/// Opens a source of `kind` at its own backend, with `fault` on every request. For tests of other modules.
pub(crate) async fn standing(kind: &str, fault: Option<Fault>) -> Arc<dyn Source> {
    let place = worlds().into_iter().find(|place| place.name == kind).unwrap();
    let world = (place.make)().await;
    world.faults().every_request(fault);
    world.source(Duration::from_secs(30))
}

/// Opens two sources of this kind at one backend with these proposals, and returns the ids.
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
    /// Runs the health check with a generous limit.
    pub(crate) async fn checked(&self) -> Vec<Check> {
        self.check(Duration::from_mins(1)).await
    }
}
