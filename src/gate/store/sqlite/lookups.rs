//! Looks up the tokens of requests, many at a time.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use sqlx::pool::PoolConnection;
use sqlx::{Sqlite, SqlitePool};
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;

use crate::domain::Timestamp;
use crate::gate::store::StoreError;
use crate::gate::store::sql::tokens;
use crate::gate::token::Token;

/// Lookups that wait for the connection. The one that gets it answers all that were queued by then.
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
            // An earlier holder of the connection answered, came before this lookup was queued, or failed.
            let found = match told.try_recv() {
                Ok(found) => found,
                Err(TryRecvError::Empty) => self.answer_all(&mut conn, pool, hash).await?,
                Err(TryRecvError::Closed) => continue,
            };
            return Ok(found.filter(|token| token.expires_at.is_none_or(|at| at > now)));
        }
    }

    /// Answers all queued lookups. Returns the token with this hash, which is one of them.
    async fn answer_all(
        &self,
        kept: &mut Option<PoolConnection<Sqlite>>,
        pool: &SqlitePool,
        hash: &[u8],
    ) -> Result<Option<Token>, StoreError> {
        // Put back only on success. After an error or a cancelled query the connection goes to the pool, which checks
        // it.
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
                    let read = tokens::by_hash(&mut *conn, &hash).await?;
                    found.insert(hash, read.clone());
                    read
                }
            };
            tell.send(token).ok();
        }
        *kept = (!self.is_closed.load(Ordering::Relaxed)).then_some(conn);
        Ok(found.remove(hash).flatten())
    }

    /// Releases the connection, which the pool waits for.
    pub(super) async fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
        self.conn.lock().await.take();
    }
}
