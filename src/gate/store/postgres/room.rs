//! Whether the server's disk is full. Only a failed write shows that, and small writes may still succeed. After one,
//! each readiness check writes a test row until it fits.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::Mutex;

use super::conn::{Conn, code};
use super::pool::Pool;
use crate::gate::store::StoreError;

/// Time for which the result of a test is reused.
const TRIED: Duration = if cfg!(test) { Duration::ZERO } else { Duration::from_secs(5) };

/// A row that needs new pages. It is rolled back, so no gate ever sees it.
const TRY: &str = "INSERT INTO gates (id, name, started_at, seen_at, policies) \
     SELECT 'room', '', 0, 0, string_agg(md5(n::text), '') FROM generate_series(1, 2000) AS n";

#[derive(Debug, Default)]
pub(super) struct Room {
    is_full: AtomicBool,
    tried: Mutex<Option<Instant>>,
}

impl Room {
    pub(super) fn note(&self, error: &StoreError) {
        if is_full(error) {
            self.is_full.store(true, Ordering::Relaxed);
        }
    }

    pub(super) async fn check(&self, pool: &Pool) -> Result<(), StoreError> {
        if !self.is_full.load(Ordering::Relaxed) {
            return Ok(());
        }
        let mut tried = self.tried.lock().await;
        if tried.is_none_or(|tried| tried.elapsed() >= TRIED) {
            let room = pool.undone(&(), |conn, ()| Box::pin(try_to_write(conn))).await;
            if !room.as_ref().is_err_and(is_full) {
                self.is_full.store(room.is_err(), Ordering::Relaxed);
                return room;
            }
            *tried = Some(Instant::now());
        }
        Err(StoreError::Commit("the disk of the database server is full; make room there".to_owned()))
    }
}

fn is_full(error: &StoreError) -> bool {
    matches!(error, StoreError::Database(error) if code(error).as_deref() == Some("53100"))
}

async fn try_to_write(conn: &mut Conn) -> Result<(), StoreError> {
    sqlx::query(TRY).execute(conn).await?;
    Ok(())
}
