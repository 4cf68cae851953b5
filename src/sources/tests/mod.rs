//! Every source against a backend that behaves as the real one was measured, its faults among it; and the same scenarios over
//! all of them, so that none is forgotten for one.

use std::sync::Arc;

use async_trait::async_trait;

use super::Source;
use crate::domain::{ActionId, DecisionKind};

/// A backend, and everything that can happen to it. Each kind of source has one, beside its own tests.
#[async_trait]
pub(super) trait World: Send + Sync {
    /// The kind, as the configuration has it.
    fn kind(&self) -> &'static str;

    /// A source at this backend, opened in a hurry: no request takes longer than a second.
    fn source(&self) -> Arc<dyn Source>;

    /// An agent proposes its `n`th write. The id is the one under which the source lists it. Every proposal can be decided by
    /// itself, whatever else is proposed.
    async fn propose(&self, n: usize) -> ActionId;

    /// Something is listed that cannot be read.
    async fn propose_broken(&self);

    /// An action with fields and words that this version does not know.
    async fn propose_odd(&self) -> ActionId;

    /// Its time to be decided is over. False where the system knows no such thing.
    async fn expire(&self, id: &ActionId) -> bool;

    /// Another reviewer decides it, and the backend settles that.
    async fn settle_elsewhere(&self, id: &ActionId, kind: DecisionKind);

    /// Nobody knows it any more.
    async fn forget(&self, id: &ActionId);

    /// Its content changes, where the backend lets it. False where it cannot.
    async fn change(&self, id: &ActionId) -> bool;

    /// What the next request that decides meets.
    fn next_decision(&self, fault: Fault);

    /// What every request meets from now on; `None` ends it.
    fn every_request(&self, fault: Option<Fault>);

    /// How the backend itself has it, whatever it answers.
    async fn stands(&self, id: &ActionId) -> Stand;

    /// So many decisions were taken by the backend for this action: more than one is a doubled decision.
    async fn taken(&self, id: &ActionId) -> usize;
}

/// What goes wrong with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// Answered with this status, in the form in which this backend says such things; nothing is done.
    Status(u16),
    /// Done, and never answered.
    SilentAfter,
    /// Not done, and never answered.
    SilentBefore,
}

/// Where an action stands in the backend's own books.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stand {
    Pending,
    Approved,
    Rejected,
    Gone,
}
