//! The rules of writing, once for both databases: what is recorded, decided, run and swept, in which order, and what is
//! refused.

mod advance;
mod approvals;
mod audit;
mod callbacks;
mod claims;
mod decide;
pub(super) mod lapse;
mod pause;
mod prune;
mod record;
mod replies;
mod run;
mod sweep;
mod tokens;
pub(super) mod tx;

use std::fmt;

use async_trait::async_trait;
use futures_util::future::BoxFuture;

use self::tx::{Due, Tx};
use super::{
    Actor, Answered, Callback, DecidedGroup, Delivery, Dispatched, Finished, Group, Keyed, KeyedReply, Lease,
    NewAction, OpenApproval, Prunable, Recorded, Refused, Ruling, StoreError, Stored, SweptCallbacks, Writes,
};
use crate::contract::settle::SettleAs;
use crate::domain::{Claim, Timestamp};
use crate::gate::token::Token;
use crate::gate::tool::Tools;
use crate::gate::which::Which;

/// Work in a transaction. It may run again from its beginning if the database could not commit it.
pub(super) type Work<A, T> = for<'t> fn(&'t mut dyn Tx, &'t A) -> BoxFuture<'t, Result<T, StoreError>>;

/// A database with transactions. It gets all of [`Writes`] from this.
pub(super) trait Transact: fmt::Debug + Send + Sync {
    /// Runs the work and returns after its commit. An error rolls it back. `workspace` is the one it writes to, or
    /// empty if only the work can tell.
    fn transact<A, T>(
        &self,
        workspace: &str,
        given: A,
        work: Work<A, T>,
    ) -> impl Future<Output = Result<T, StoreError>> + Send
    where
        A: Send + Sync + 'static,
        T: Send + 'static;
    fn tools(&self) -> &Tools;
    fn now(&self) -> impl Future<Output = Result<Timestamp, StoreError>> + Send;
    fn due_in(&self, due: &Due) -> impl Future<Output = Result<Vec<String>, StoreError>> + Send;
}

macro_rules! work {
    ($store:ident, $workspace:expr, $given:expr, |$tx:ident, $args:pat_param| $work:expr) => {
        $store.transact($workspace, $given, |$tx, $args| Box::pin(async move { $work.await })).await
    };
}

#[async_trait]
impl<S: Transact> Writes for S {
    async fn record(
        &self,
        action: NewAction,
        limit: u64,
        key: Option<Keyed>,
    ) -> Result<Recorded, StoreError> {
        let workspace = action.workspace().to_owned();
        work!(self, &workspace, (action, limit, key), |tx, (action, limit, key)| {
            record::record(tx, action, *limit, key.as_ref())
        })
    }

    async fn decide(
        &self,
        ruling: Ruling,
        by: Actor,
        key: Option<KeyedReply<Stored>>,
    ) -> Result<Answered<Stored>, StoreError> {
        work!(self, &by.workspace.clone(), (ruling, by, key), |tx, (ruling, by, key)| decide::decide(
            tx,
            ruling,
            by,
            key.as_ref()
        ))
    }

    async fn decide_group(
        &self,
        group: Group,
        rulings: Vec<Ruling>,
        by: Actor,
        key: Option<KeyedReply<DecidedGroup>>,
    ) -> Result<Answered<DecidedGroup>, StoreError> {
        work!(self, &by.workspace.clone(), (group, rulings, by, key), |tx, (group, rulings, by, key)| {
            decide::decide_group(tx, group, rulings, by, key.as_ref())
        })
    }

    async fn take_back(&self, id: String, by: Actor) -> Result<Stored, StoreError> {
        work!(self, &by.workspace.clone(), (id, by), |tx, (id, by)| approvals::take_back(tx, id, by))
    }

    async fn withdraw(&self, id: String, by: Actor) -> Result<Stored, StoreError> {
        work!(self, &by.workspace.clone(), (id, by), |tx, (id, by)| decide::withdraw(tx, id, by))
    }

    async fn settle(
        &self,
        id: String,
        how: SettleAs,
        reason: Option<String>,
        by: Actor,
    ) -> Result<Stored, StoreError> {
        work!(self, &by.workspace.clone(), (id, how, reason, by), |tx, (id, how, reason, by)| decide::settle(
            tx,
            id,
            *how,
            reason.as_deref(),
            by
        ))
    }

    async fn dispatch(&self, id: String, lease: Lease, key: Option<Keyed>) -> Result<Dispatched, StoreError> {
        work!(self, &of(lease.by.as_ref()), (id, lease, key), |tx, (id, lease, key)| run::dispatch(
            tx,
            id,
            lease,
            key.as_ref()
        ))
    }

    async fn renew(&self, id: String, fence: u64, lease: Lease) -> Result<Timestamp, StoreError> {
        work!(self, &of(lease.by.as_ref()), (id, fence, lease), |tx, (id, fence, lease)| run::renew(
            tx, id, *fence, lease
        ))
    }

    async fn finish(
        &self,
        id: String,
        fence: u64,
        by: Option<Actor>,
        how: Finished,
    ) -> Result<Stored, StoreError> {
        work!(self, &of(by.as_ref()), (id, fence, by, how), |tx, (id, fence, by, how)| run::finish(
            tx,
            id,
            *fence,
            by.as_ref(),
            how
        ))
    }

    async fn expire(&self) -> Result<u64, StoreError> {
        sweep_all(self, Due::Expired).await
    }

    async fn lapse(&self) -> Result<u64, StoreError> {
        let now = self.now().await?;
        let mut lapsed = 0;
        for due in lapse::unclaimed(self.tools(), now) {
            lapsed += sweep_all(self, due).await?;
        }
        Ok(lapsed)
    }

    async fn recover(&self, safe: Which, going_on: Vec<String>) -> Result<u64, StoreError> {
        sweep_all(self, Due::LeaseOver { safe, going_on }).await
    }

    async fn prune(
        &self,
        workspace: String,
        actions: Vec<Prunable>,
        who: Option<String>,
    ) -> Result<u64, StoreError> {
        work!(self, &workspace.clone(), (workspace, actions, who), |tx, (workspace, actions, who)| {
            prune::prune(tx, workspace, actions, who.as_deref())
        })
    }

    async fn forget_replies(&self, millis: i64, tombstones: i64) -> Result<u64, StoreError> {
        let now = self.now().await?;
        let before = (now.plus_millis(-millis), now.plus_millis(-tombstones));
        work!(self, "", before, |tx, (replies, tombstones)| tx.forget_replies(*replies, *tombstones))
    }

    async fn forget_flows(&self, millis: i64) -> Result<u64, StoreError> {
        let before = self.now().await?.plus_millis(-millis);
        work!(self, "", before, |tx, before| tx.forget_flows(*before))
    }

    async fn claim(&self, id: String, by: Actor) -> Result<Claim, StoreError> {
        let given = (id, by, self.now().await?);
        work!(self, "", given, |tx, (id, by, now)| claims::claim(tx, id, by, *now))
    }

    async fn end_claim(&self, id: String, by: Actor) -> Result<bool, StoreError> {
        let given = (id, by, self.now().await?);
        work!(self, "", given, |tx, (id, by, now)| claims::end(tx, id, by, *now))
    }

    async fn take_callbacks(&self, name: String, lease: i64, most: u32) -> Result<Vec<Callback>, StoreError> {
        let now = self.now().await?;
        let given = (name, (now, now.plus_millis(lease)), most);
        work!(self, "", given, |tx, (name, from, most)| tx.take_callbacks(name, *from, *most))
    }

    async fn end_callback(&self, callback: Callback, how: Delivery) -> Result<(), StoreError> {
        let given = (callback, how, self.now().await?);
        work!(self, "", given, |tx, (callback, how, now)| callbacks::end(tx, callback, how, *now))
    }

    async fn sweep_callbacks(&self, old: i64, over: i64) -> Result<SweptCallbacks, StoreError> {
        let now = self.now().await?;
        let given = (now, now.plus_millis(-old), now.plus_millis(-over));
        work!(self, "", given, |tx, (now, old, over)| tx.sweep_callbacks(*now, *old, *over))
    }

    async fn pause(&self, workspace: String, paused: bool, who: Option<String>) -> Result<bool, StoreError> {
        work!(self, &workspace.clone(), (workspace, paused, who), |tx, (workspace, paused, who)| pause::set(
            tx,
            workspace,
            *paused,
            who.as_deref()
        ))
    }

    async fn add_token(&self, token: Token, hash: Vec<u8>) -> Result<(), StoreError> {
        work!(self, &token.workspace.clone(), (token, hash), |tx, (token, hash)| tokens::add(tx, token, hash))
    }

    async fn rotate_token(
        &self,
        old: String,
        until: Timestamp,
        new: Token,
        hash: Vec<u8>,
    ) -> Result<bool, StoreError> {
        let workspace = new.workspace.clone();
        let rotated = work!(self, &workspace, (old, until, new, hash), |tx, (old, until, new, hash)| {
            tokens::rotate(tx, old, *until, new, hash)
        });
        Ok(found(rotated)?.is_some())
    }

    async fn note_uses(&self, uses: Vec<(String, Timestamp)>) -> Result<(), StoreError> {
        work!(self, "", uses, |tx, uses| tokens::note_uses(tx, uses))
    }

    async fn note_proxied(&self, person: Token, at: Timestamp) -> Result<(), StoreError> {
        work!(self, "", (person, at), |tx, (person, at)| tx.put_proxied(person, *at))
    }

    async fn revoke_token(
        &self,
        id: String,
        void: bool,
        who: Option<String>,
    ) -> Result<Option<Vec<OpenApproval>>, StoreError> {
        found(work!(self, "", (id, void, who), |tx, (id, void, who)| tokens::revoke(
            tx,
            id,
            *void,
            who.as_deref()
        )))
    }
}

fn found<T>(changed: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
    match changed {
        Ok(changed) => Ok(Some(changed)),
        Err(StoreError::Refused(Refused::Missing)) => Ok(None),
        Err(failed) => Err(failed),
    }
}

fn of(agent: Option<&Actor>) -> String {
    agent.map(|by| by.workspace.clone()).unwrap_or_default()
}

/// Settles what is due, one transaction per workspace. Returns how many.
async fn sweep_all<S: Transact>(store: &S, due: Due) -> Result<u64, StoreError> {
    let mut swept = 0;
    for workspace in store.due_in(&due).await? {
        let given = (workspace, due.clone());
        swept +=
            work!(store, &given.0.clone(), given, |tx, (workspace, due)| sweep::sweep(tx, workspace, due))?;
    }
    Ok(swept)
}
