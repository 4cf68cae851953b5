//! Reads tokens: of each only the hash is kept, never the token.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use sqlx::pool::PoolConnection;
use sqlx::{Sqlite, SqliteConnection, SqlitePool};
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;

use crate::domain::Timestamp;
use crate::gate::store::rows::{proxied as person, token};
use crate::gate::store::{KeptToken, StoreError};
use crate::gate::token::{Scope, Token};

/// Every request asks whose its token is. Those that come while one is being answered are answered together, by what the database says after
/// all of them asked; the connection stays where it is.
#[derive(Debug, Default)]
pub(super) struct Lookups {
    asked: Mutex<Vec<Asked>>,
    conn: tokio::sync::Mutex<Option<PoolConnection<Sqlite>>>,
    is_closed: AtomicBool,
}

#[derive(Debug)]
struct Asked {
    hash: Vec<u8>,
    tell: oneshot::Sender<Option<Token>>,
}

impl Lookups {
    pub(super) async fn by_hash(
        &self,
        pool: &SqlitePool,
        hash: &[u8],
        now: Timestamp,
    ) -> Result<Option<Token>, StoreError> {
        loop {
            let (tell, mut told) = oneshot::channel();
            let asked = Asked { hash: hash.to_vec(), tell };
            self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(asked);
            let mut conn = self.conn.lock().await;
            // Whoever had the connection before has answered, or was not there yet, or could not.
            let found = match told.try_recv() {
                Ok(found) => found,
                Err(TryRecvError::Empty) => self.answer_all(&mut conn, pool, hash).await?,
                Err(TryRecvError::Closed) => continue,
            };
            return Ok(found.filter(|token| token.expires_at.is_none_or(|at| at > now)));
        }
    }

    /// Returns what is found of `hash`, which is one of those that are asked for.
    async fn answer_all(
        &self,
        kept: &mut Option<PoolConnection<Sqlite>>,
        pool: &SqlitePool,
        hash: &[u8],
    ) -> Result<Option<Token>, StoreError> {
        // Put back when all went well: one that failed, or was left in the middle of a question, is looked at by the pool.
        let mut conn = match kept.take() {
            Some(conn) => conn,
            None => pool.acquire().await?,
        };
        let asked = std::mem::take(&mut *self.asked.lock().unwrap_or_else(PoisonError::into_inner));
        let mut found: HashMap<Vec<u8>, Option<Token>> = HashMap::new();
        for Asked { hash, tell } in asked {
            let token = match found.get(&hash) {
                Some(token) => token.clone(),
                None => {
                    let live = "SELECT * FROM tokens WHERE hash = ?1 AND revoked_at IS NULL";
                    let row = sqlx::query(live).bind(hash.as_slice()).fetch_optional(&mut *conn).await?;
                    let read = row.map(|row| token(&row)).transpose()?.map(|(token, _)| token);
                    found.insert(hash, read.clone());
                    read
                }
            };
            tell.send(token).ok();
        }
        *kept = (!self.is_closed.load(Ordering::Relaxed)).then_some(conn);
        Ok(found.remove(hash).flatten())
    }

    /// Gives the connection back, for which the pool waits.
    pub(super) async fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
        self.conn.lock().await.take();
    }
}

pub(super) async fn all(pool: &SqlitePool) -> Result<Vec<Token>, StoreError> {
    let mut conn = pool.acquire().await?;
    Ok(kept(&mut conn).await?.into_iter().map(|(token, _)| token).collect())
}

/// Every token as it is written, oldest first.
pub(super) async fn kept(conn: &mut SqliteConnection) -> Result<Vec<(Token, KeptToken)>, StoreError> {
    let found = sqlx::query("SELECT * FROM tokens ORDER BY created_at, id").fetch_all(conn).await?;
    found.iter().map(|row| token(row)).collect()
}

/// People whom a proxy named.
pub(super) async fn proxied(conn: &SqlitePool, workspace: &str) -> Result<Vec<Token>, StoreError> {
    let found = sqlx::query("SELECT * FROM proxied WHERE workspace = ?1 ORDER BY subject").bind(workspace);
    found.fetch_all(conn).await?.iter().map(|row| person(row)).collect()
}

/// The newest counts, also where two gates write at once.
pub(super) async fn put_proxied(
    conn: &mut SqliteConnection,
    person: &Token,
    at: Timestamp,
) -> Result<(), StoreError> {
    let put = "INSERT INTO proxied (workspace, subject, name, groups, scopes, seen_at) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
               ON CONFLICT (workspace, subject) DO UPDATE SET name = excluded.name, groups = excluded.groups, \
               scopes = excluded.scopes, seen_at = excluded.seen_at WHERE proxied.seen_at <= excluded.seen_at";
    let put = sqlx::query(put).bind(&person.workspace).bind(&person.subject).bind(&person.name);
    let put = put.bind(person.groups.join("\n")).bind(Scope::write(&person.scopes)).bind(at.as_millis());
    put.execute(conn).await?;
    Ok(())
}
