//! Whether the server has room for what is written. Only a write that fails says that it has none, and what needs no room goes on: so who
//! met a full disk tries, whenever it is asked, whether there is room again.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::Mutex;

use super::conn::{Conn, code};
use super::pool::Pool;
use crate::gate::store::StoreError;

/// For so long it is believed how the last try went.
const TRIED: Duration = if cfg!(test) { Duration::ZERO } else { Duration::from_secs(5) };

/// A row of some pages, which are new ones. It is undone, so no gate ever sees it.
const TRY: &str = "INSERT INTO gates (id, name, started_at, seen_at, policies) \
     SELECT 'room', '', 0, 0, string_agg(md5(n::text), '') FROM generate_series(1, 2000) AS n";

#[derive(Debug, Default)]
pub(super) struct Room {
    is_full: AtomicBool,
    tried: Mutex<Option<Instant>>,
}

impl Room {
    /// Notes what a failed write says of it.
    pub(super) fn note(&self, error: &StoreError) {
        if is_full(error) {
            self.is_full.store(true, Ordering::Relaxed);
        }
    }

    /// Fails while there is none, as far as this gate met that.
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
