//! Pauses: nothing is dispatched in a paused workspace. Asked inside the dispatching transaction, so a pause holds from its
//! commit on, whichever process it came from.

use sqlx::SqliteConnection;

use super::audit::{Note, bump, note};
use super::writer::Tx;
use crate::domain::Timestamp;
use crate::gate::audit::WHOLE_GATE;
use crate::gate::store::StoreError;

/// Stops or allows dispatching. False when it was so already.
pub(super) async fn set(
    tx: &mut Tx,
    workspace: &str,
    paused: bool,
    who: Option<&str>,
) -> Result<bool, StoreError> {
    let now = tx.now.as_millis();
    let statement = if paused {
        let insert =
            "INSERT INTO pauses (workspace, at, who) VALUES (?1, ?2, ?3) ON CONFLICT (workspace) DO NOTHING";
        sqlx::query(insert).bind(workspace).bind(now).bind(who)
    } else {
        sqlx::query("DELETE FROM pauses WHERE workspace = ?1").bind(workspace)
    };
    let done = statement.execute(tx.conn()).await?;
    if done.rows_affected() == 0 {
        return Ok(false);
    }
    let head = bump(tx, workspace, 0).await?;
    let kind = if paused { "paused" } else { "resumed" };
    note(tx, &head, Note { action: None, kind, who }, &serde_json::json!({})).await?;
    if !paused {
        tx.wants_run();
    }
    Ok(true)
}

/// Since when nothing is dispatched here.
pub(super) async fn since(
    conn: &mut SqliteConnection,
    workspace: &str,
) -> Result<Option<Timestamp>, StoreError> {
    let found: Option<i64> = sqlx::query_scalar("SELECT MIN(at) FROM pauses WHERE workspace IN (?1, ?2)")
        .bind(workspace)
        .bind(WHOLE_GATE)
        .fetch_one(conn)
        .await?;
    Ok(found.map(Timestamp::from_millis))
}
