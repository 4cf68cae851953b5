//! Verifies the audit of a database on a server.

use std::sync::atomic::AtomicU64;

use super::conn::Conn;
use super::pool::Pool;
use super::server::Server;
use crate::config::PostgresConfig;
use crate::gate::audit::replay::Replay;
use crate::gate::audit::{AuditHead, Verified};
use crate::gate::store::StoreError;
use crate::gate::store::sql::verify::compare;

/// Verifies the audit of a database that is being moved into, which no gate may open.
pub(in crate::gate::store) async fn verify_at(
    server: &Server,
    kept: &[AuditHead],
    read: &AtomicU64,
) -> Result<Verified, StoreError> {
    let alone = PostgresConfig { connections: 1, ..PostgresConfig::default() };
    let pool = Pool::connect(server.options(false), &alone).await?;
    let given = (kept, read);
    let read_everything =
        pool.read_everything(&given, |conn, (kept, read)| Box::pin(verify(conn, kept, read)));
    let verified = read_everything.await;
    pool.close().await;
    verified
}

/// Verifies the audit. The caller begins a transaction: writes of a running gate would look like tampering.
pub(super) async fn verify(
    conn: &mut Conn,
    kept: &[AuditHead],
    read: &AtomicU64,
) -> Result<Verified, StoreError> {
    let mut replay = Replay::new(kept);
    match compare(conn, &mut replay, read).await {
        // A row that was changed by hand may be unreadable. Report what was found before it.
        Err(StoreError::Database(error)) if error.as_database_error().is_some() => {
            replay.problem(format!("the rest cannot be read: {error}"));
        }
        compared => compared?,
    }
    Ok(replay.end())
}
