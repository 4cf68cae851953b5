//! What callbacks are told.

use super::conn::Conn;
use crate::domain::Timestamp;
use crate::gate::store::rows::{self, integer};
use crate::gate::store::{Callback, StoreError, SweptCallbacks};

/// So many that are over are dropped at once, so that nobody waits long for the writer.
const FORGET: i64 = 5_000;

const PUT: &str = "INSERT INTO callbacks (workspace, revision, id, name, action, status, who, at, traceparent, tries, next_at) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
/// Begins a try. What another gate takes at the same moment is passed over.
const TAKE: &str = "WITH due AS MATERIALIZED (SELECT workspace, revision FROM callbacks WHERE name = $2 AND next_at <= $3 \
     AND NOT EXISTS (SELECT 1 FROM callbacks AS held WHERE held.name = $2 AND held.held_until > $3) \
     ORDER BY next_at LIMIT $4 FOR UPDATE SKIP LOCKED) \
     UPDATE callbacks SET tries = callbacks.tries + 1, next_at = $1 FROM due \
     WHERE callbacks.workspace = due.workspace AND callbacks.revision = due.revision RETURNING callbacks.*";
/// Of this try, and of no later one. What was given up meanwhile stays so, unless it arrived.
const END: &str = "UPDATE callbacks SET next_at = $4, error = $5, ended_at = $6, held_until = $7 \
     WHERE workspace = $1 AND revision = $2 AND tries = $3 AND (next_at IS NOT NULL OR $5 IS NULL)";
const GIVE_UP: &str = "UPDATE callbacks SET next_at = NULL, ended_at = $1, error = COALESCE(error, $3) \
     WHERE next_at IS NOT NULL AND at < $2";
const OVER: &str = "DELETE FROM callbacks WHERE (workspace, revision) IN \
     (SELECT workspace, revision FROM callbacks WHERE ended_at < $1 ORDER BY ended_at LIMIT $2)";
const NEWEST: &str =
    "SELECT * FROM callbacks ORDER BY next_at IS NULL, at DESC, workspace, revision DESC LIMIT $1";

/// Said where no try ended.
const NEVER: &str = "no gate could send it";

pub(super) async fn put(conn: &mut Conn, callback: &Callback) -> Result<(), StoreError> {
    sqlx::query(PUT)
        .bind(&callback.workspace)
        .bind(integer(callback.revision))
        .bind(&callback.id)
        .bind(&callback.name)
        .bind(&callback.action)
        .bind(&callback.status)
        .bind(&callback.who)
        .bind(callback.at.as_millis())
        .bind(&callback.traceparent)
        .bind(integer(callback.tries))
        .bind(callback.next_at.map(Timestamp::as_millis))
        .execute(conn)
        .await?;
    Ok(())
}

pub(super) async fn take(
    conn: &mut Conn,
    name: &str,
    (now, until): (Timestamp, Timestamp),
    most: u32,
) -> Result<Vec<Callback>, StoreError> {
    let taken =
        sqlx::query(TAKE).bind(until.as_millis()).bind(name).bind(now.as_millis()).bind(i64::from(most));
    taken.fetch_all(conn).await?.iter().map(|row| rows::callback(row)).collect()
}

pub(super) async fn end(conn: &mut Conn, callback: &Callback) -> Result<(), StoreError> {
    sqlx::query(END)
        .bind(&callback.workspace)
        .bind(integer(callback.revision))
        .bind(integer(callback.tries))
        .bind(callback.next_at.map(Timestamp::as_millis))
        .bind(&callback.error)
        .bind(callback.ended_at.map(Timestamp::as_millis))
        .bind(callback.held_until.map(Timestamp::as_millis))
        .execute(conn)
        .await?;
    Ok(())
}

pub(super) async fn sweep(
    conn: &mut Conn,
    now: Timestamp,
    old: Timestamp,
    over: Timestamp,
) -> Result<SweptCallbacks, StoreError> {
    let ended = sqlx::query(GIVE_UP).bind(now.as_millis()).bind(old.as_millis()).bind(NEVER);
    let given_up = ended.execute(&mut *conn).await?.rows_affected();
    let over = sqlx::query(OVER).bind(over.as_millis()).bind(FORGET);
    let dropped = over.execute(conn).await?.rows_affected();
    Ok(SweptCallbacks { given_up, dropped })
}

pub(super) async fn newest(conn: &mut Conn, most: u32) -> Result<Vec<Callback>, StoreError> {
    let found = sqlx::query(NEWEST).bind(i64::from(most)).fetch_all(conn).await?;
    found.iter().map(|row| rows::callback(row)).collect()
}
