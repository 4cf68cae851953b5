//! The gate's memory in SQLite: one group-committing writer, readers beside it.

mod advance;
mod decide;
mod read;
mod record;
mod row;
mod run;
#[cfg(test)]
mod tests;
mod tokens;
mod writer;

use std::path::Path;

use async_trait::async_trait;
use sqlx::SqlitePool;

use self::writer::Writer;
use super::{
    Actor, Changes, Dispatched, Filter, Finished, Keyed, Lease, NewAction, Page, Refused, Reply, Ruling,
    Store, StoreError, Stored, TimelineEvent, Waiting,
};
use crate::contract::briefing::BriefingBody;
use crate::domain::{PendingAction, Row, Timestamp};
use crate::gate::auth::{Token, TokenInfo};
use crate::gate::clock::Clock;
use crate::gate::events::Events;
use crate::sqlite::{self, Database, OpenError};

const MIGRATIONS: [&str; 1] = [include_str!("../../../../assets/migrations/gate/0001_actions.sql")];

/// One database file.
#[derive(Debug)]
pub(crate) struct SqliteStore {
    database: Database,
    writer: Writer,
}

impl SqliteStore {
    /// Opens the file, brings it up to date and starts the writer, which wakes `events` after each commit.
    pub(crate) async fn open(path: &Path, events: Events, clock: Clock) -> Result<Self, OpenError> {
        let database = sqlite::open(path, &MIGRATIONS).await?;
        let writer = Writer::start(database.write.clone(), events, clock);
        Ok(Self { database, writer })
    }

    fn reader(&self) -> &SqlitePool {
        &self.database.read
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn record(
        &self,
        action: NewAction,
        limit: u64,
        body: String,
        key: Option<Keyed>,
    ) -> Result<Reply, StoreError> {
        self.writer.run(move |tx| Box::pin(record::record(tx, action, limit, body, key))).await
    }

    async fn decide(&self, ruling: Ruling, by: Actor) -> Result<Stored, StoreError> {
        self.writer.run(move |tx| Box::pin(async move { decide::decide(tx, &ruling, &by).await })).await
    }

    async fn decide_batch(
        &self,
        batch: String,
        rulings: Vec<Ruling>,
        by: Actor,
        key: Option<Keyed>,
    ) -> Result<Reply, StoreError> {
        self.writer
            .run(move |tx| {
                Box::pin(async move { decide::decide_batch(tx, batch, &rulings, &by, key.as_ref()).await })
            })
            .await
    }

    async fn withdraw(&self, id: String, by: Actor) -> Result<Stored, StoreError> {
        self.writer.run(move |tx| Box::pin(async move { decide::withdraw(tx, &id, &by).await })).await
    }

    async fn approved(
        &self,
        tools: &[String],
        after: i64,
        limit: u32,
        now: Timestamp,
    ) -> Result<Vec<Waiting>, StoreError> {
        read::approved(self.reader(), tools, after, limit, now).await
    }

    async fn dispatch(&self, id: String, lease: Lease) -> Result<Dispatched, StoreError> {
        self.writer.run(move |tx| Box::pin(async move { run::dispatch(tx, &id, &lease).await })).await
    }

    async fn finish(
        &self,
        id: String,
        fence: u64,
        by: Option<Actor>,
        how: Finished,
    ) -> Result<Stored, StoreError> {
        self.writer
            .run(move |tx| Box::pin(async move { run::finish(tx, &id, fence, by.as_ref(), &how).await }))
            .await
    }

    async fn expire(&self) -> Result<u64, StoreError> {
        self.writer.run(|tx| Box::pin(run::expire(tx))).await
    }

    async fn recover(&self, safe: Vec<String>) -> Result<u64, StoreError> {
        self.writer.run(move |tx| Box::pin(async move { run::recover(tx, &safe).await })).await
    }

    async fn forget_replies(&self, millis: i64) -> Result<u64, StoreError> {
        self.writer.run(move |tx| Box::pin(run::forget_replies(tx, millis))).await
    }

    async fn get(&self, id: &str) -> Result<Option<Stored>, StoreError> {
        read::get(self.reader(), id).await
    }

    async fn rows(&self, filter: &Filter) -> Result<Page<Row>, StoreError> {
        read::rows(self.reader(), filter).await
    }

    async fn actions(&self, filter: &Filter) -> Result<Page<PendingAction>, StoreError> {
        read::actions(self.reader(), filter).await
    }

    async fn changes(
        &self,
        workspace: &str,
        since: u64,
        limit: u32,
        bytes: u64,
    ) -> Result<Changes, StoreError> {
        read::changes(self.reader(), workspace, since, limit, bytes).await
    }

    async fn briefing(&self, workspace: &str, session: Option<&str>) -> Result<BriefingBody, StoreError> {
        read::briefing(self.reader(), workspace, session).await
    }

    async fn timeline(&self, id: &str) -> Result<Vec<TimelineEvent>, StoreError> {
        read::timeline(self.reader(), id).await
    }

    async fn ping(&self) -> Result<(), StoreError> {
        sqlx::query("SELECT 1").execute(self.reader()).await?;
        Ok(())
    }

    async fn add_token(&self, token: Token, hash: Vec<u8>) -> Result<(), StoreError> {
        self.writer.run(move |tx| Box::pin(async move { tokens::add(tx, &token, &hash).await })).await
    }

    async fn token(&self, hash: &[u8]) -> Result<Option<Token>, StoreError> {
        tokens::by_hash(self.reader(), hash).await
    }

    async fn tokens(&self) -> Result<Vec<TokenInfo>, StoreError> {
        tokens::all(self.reader()).await
    }

    async fn revoke_token(&self, id: String) -> Result<bool, StoreError> {
        let revoked = self.writer.run(move |tx| Box::pin(async move { tokens::revoke(tx, &id).await })).await;
        match revoked {
            Ok(()) => Ok(true),
            Err(StoreError::Refused(Refused::Missing)) => Ok(false),
            Err(failed) => Err(failed),
        }
    }

    async fn close(&self) {
        self.writer.stop().await;
        self.database.close().await;
    }
}
