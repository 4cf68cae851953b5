//! Implements [`Reads`] once for both databases.

use async_trait::async_trait;
use futures_util::future::BoxFuture;

use super::{Sql, audit, callbacks, claims, due, flows, outstanding, prune, read, tokens};
use crate::domain::{Claim, Flows, Outstanding, PendingAction, Timestamp};
use crate::gate::audit::{AuditHead, AuditRow};
use crate::gate::clock::Clock;
use crate::gate::store::ops::Transact;
use crate::gate::store::{
    AskedFlows, Batches, Briefed, Callback, Census, Changes, Checkpoint, Counts, Filter, Page, Prunable,
    Reads, StoreError, Stored, Waiting,
};
use crate::gate::token::Token;
use crate::gate::which::Which;

/// A query and its arguments. It may run more than once.
pub(in crate::gate::store) type Question<C, A, T> =
    for<'t> fn(&'t mut C, &'t A) -> BoxFuture<'t, Result<T, StoreError>>;

pub(in crate::gate::store) trait Ask: Transact {
    type Conn: Sql;

    fn ask<A: Sync, T: Send>(
        &self,
        given: &A,
        question: Question<Self::Conn, A, T>,
    ) -> impl Future<Output = Result<T, StoreError>> + Send;
    /// Runs in one transaction, so that all answers are from one snapshot.
    fn ask_of_one_moment<A: Sync, T: Send>(
        &self,
        given: &A,
        question: Question<Self::Conn, A, T>,
    ) -> impl Future<Output = Result<T, StoreError>> + Send;
    fn moment(&self, conn: &mut Self::Conn) -> impl Future<Output = Result<Timestamp, StoreError>> + Send;
    fn clock(&self) -> &Clock;
}

macro_rules! ask {
    ($store:ident, $way:ident, $given:expr, |$conn:ident, $args:pat_param| $asked:expr) => {
        $store
            .$way(&$given, |$conn, given| {
                let $args = *given;
                Box::pin($asked)
            })
            .await
    };
}

#[async_trait]
impl<S: Ask> Reads for S {
    async fn approved(
        &self,
        tools: &Which,
        full: &[String],
        after: i64,
        limit: u32,
        now: Timestamp,
    ) -> Result<Vec<Waiting>, StoreError> {
        ask!(self, ask, (tools, full, after, limit, now), |conn, (tools, full, after, limit, now)| {
            read::approved(conn, (tools, full), after, limit, now)
        })
    }

    async fn lapsing(&self, counts: &Counts) -> Result<u64, StoreError> {
        ask!(self, ask, (self, counts), |conn, (store, counts)| async move {
            let now = store.moment(conn).await?;
            due::lapsing(conn, counts, store.tools(), now).await
        })
    }

    async fn settled(
        &self,
        workspace: &str,
        before: Timestamp,
        limit: u32,
        bytes: u64,
    ) -> Result<Vec<Prunable>, StoreError> {
        let given = (self, workspace, before, (limit, bytes));
        ask!(self, ask, given, |conn, (store, workspace, before, most)| {
            prune::settled(conn, workspace, before, most, store.tools())
        })
    }

    async fn get(&self, id: &str) -> Result<Option<Stored>, StoreError> {
        ask!(self, ask, (self, id), |conn, (store, id)| read::get(conn, id, store.tools()))
    }

    async fn was_there(&self, id: &str) -> Result<Option<String>, StoreError> {
        ask!(self, ask, id, |conn, id| prune::was_there(conn, id))
    }

    async fn actions(&self, filter: &Filter) -> Result<Page<PendingAction>, StoreError> {
        ask!(self, ask, (self, filter), |conn, (store, filter)| read::actions(conn, filter, store.tools()))
    }

    async fn changes(
        &self,
        workspace: &str,
        since: u64,
        limit: u32,
        bytes: u64,
    ) -> Result<Changes, StoreError> {
        let given = (self, (workspace, since), (limit, bytes));
        ask!(self, ask, given, |conn, (store, since, most)| read::changes(conn, since, most, store.tools()))
    }

    async fn revision(&self, workspace: &str) -> Result<u64, StoreError> {
        ask!(self, ask, workspace, |conn, workspace| read::revision(conn, workspace))
    }

    async fn briefing(&self, counts: &Counts, batches: Batches) -> Result<Briefed, StoreError> {
        ask!(self, ask_of_one_moment, (self, counts, batches), |conn, (store, counts, batches)| async move {
            let now = store.moment(conn).await?;
            let lapsing = due::lapsing(conn, counts, store.tools(), now).await?;
            let ran_other = due::ran_other(conn, counts, now).await?;
            Ok(Briefed { lapsing, ran_other, ..outstanding::briefing(conn, counts, batches).await? })
        })
    }

    async fn checkpoints(
        &self,
        workspace: &str,
        mission: Option<&str>,
    ) -> Result<Vec<Checkpoint>, StoreError> {
        ask!(self, ask, (workspace, mission), |conn, (workspace, mission)| {
            outstanding::checkpoints(conn, workspace, mission)
        })
    }

    async fn beginning(&self, prefix: &str, limit: u32) -> Result<Vec<String>, StoreError> {
        ask!(self, ask, (prefix, limit), |conn, (prefix, limit)| read::beginning(conn, prefix, limit))
    }

    async fn outstanding(&self, workspace: &str) -> Result<Outstanding, StoreError> {
        ask!(self, ask_of_one_moment, workspace, |conn, workspace| outstanding::totals(conn, workspace))
    }

    async fn flows(&self, asked: &AskedFlows) -> Result<Flows, StoreError> {
        ask!(self, ask_of_one_moment, asked, |conn, asked| flows::read(conn, asked))
    }

    async fn timeline(&self, id: &str) -> Result<Vec<AuditRow>, StoreError> {
        ask!(self, ask, id, |conn, id| audit::timeline(conn, id))
    }

    async fn claims(&self, workspace: &str) -> Result<Vec<Claim>, StoreError> {
        let now = self.clock().now();
        ask!(self, ask, (workspace, now), |conn, (workspace, now)| claims::all(conn, workspace, now))
    }

    async fn callbacks(&self, most: u32) -> Result<Vec<Callback>, StoreError> {
        ask!(self, ask, most, |conn, most| callbacks::newest(conn, most))
    }

    async fn paused(&self, workspace: &str) -> Result<Option<Timestamp>, StoreError> {
        ask!(self, ask, workspace, |conn, workspace| read::paused_since(conn, workspace))
    }

    async fn audit(&self, workspace: &str, since: u64, limit: u32) -> Result<Vec<AuditRow>, StoreError> {
        ask!(self, ask, (workspace, since, limit), |conn, (workspace, since, limit)| {
            audit::rows(conn, workspace, since, limit)
        })
    }

    async fn audit_heads(&self, workspace: Option<&str>) -> Result<Vec<AuditHead>, StoreError> {
        ask!(self, ask, workspace, |conn, workspace| audit::heads(conn, workspace))
    }

    async fn census(&self, workspace: &str) -> Result<Census, StoreError> {
        ask!(self, ask, workspace, |conn, workspace| read::census(conn, workspace))
    }

    async fn tokens(&self) -> Result<Vec<Token>, StoreError> {
        ask!(self, ask, (), |conn, ()| tokens::all(conn))
    }

    async fn proxied(&self, workspace: &str) -> Result<Vec<Token>, StoreError> {
        ask!(self, ask, workspace, |conn, workspace| tokens::proxied(conn, workspace))
    }
}
