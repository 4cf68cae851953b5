//! Verifies the audit of an SQLite file, and the file itself.

use std::sync::atomic::AtomicU64;

use sqlx::{SqliteConnection, SqlitePool};

use crate::gate::audit::replay::Replay;
use crate::gate::audit::{AuditHead, Verified};
use crate::gate::store::StoreError;
use crate::gate::store::sql::verify::compare;
use crate::sqlite::Words;

const FAULTS: &str = "PRAGMA integrity_check(50)";

/// Reads in one transaction: writes of a running gate would look like tampering.
pub(in crate::gate::store) async fn verify(
    pool: &SqlitePool,
    kept: &[AuditHead],
    read: &AtomicU64,
) -> Result<Verified, StoreError> {
    let mut tx = pool.begin_with("BEGIN").await?;
    let mut replay = Replay::new(kept);
    let whole = is_whole(&mut tx, &mut replay).await;
    match compare(&mut *tx, &mut replay, read).await {
        // A damaged file may not be readable to its end. Report what was found.
        Err(error) if !whole => replay.problem(format!("the rest cannot be read: {error}")),
        compared => compared?,
    }
    Ok(replay.end())
}

async fn is_whole(conn: &mut SqliteConnection, replay: &mut Replay) -> bool {
    match sqlx::query_scalar::<_, String>(FAULTS).fetch_all(conn).await {
        Ok(said) if said == ["ok"] => return true,
        Ok(faults) => faults.into_iter().for_each(|fault| replay.problem(format!("SQLite's check: {fault}"))),
        Err(error) => replay.problem(format!("SQLite's check: {}", Words(&error))),
    }
    false
}
