//! Messages to callbacks.

use super::{Sql, Statement};
use crate::domain::Timestamp;
use crate::gate::store::rows::{self, integer};
use crate::gate::store::{Callback, StoreError, SweptCallbacks};

/// At most this many finished messages are deleted at once: other writes wait.
const FORGET: i64 = 5_000;

const PUT: &str = "INSERT INTO callbacks (workspace, revision, id, name, action, status, who, at, traceparent, tries, next_at) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
/// Ends an attempt, unless a later one began. A message that was given up stays so, unless it arrived.
const END: &str = "UPDATE callbacks SET next_at = $4, error = $5, ended_at = $6, held_until = $7 \
     WHERE workspace = $1 AND revision = $2 AND tries = $3 AND (next_at IS NOT NULL OR $5 IS NULL)";
const GIVE_UP: &str = "UPDATE callbacks SET next_at = NULL, ended_at = $1, error = COALESCE(error, $3) \
     WHERE next_at IS NOT NULL AND at < $2";
const OVER: &str = "DELETE FROM callbacks WHERE (workspace, revision) IN \
     (SELECT workspace, revision FROM callbacks WHERE ended_at < $1 ORDER BY ended_at LIMIT $2)";
const NEWEST: &str =
    "SELECT * FROM callbacks ORDER BY next_at IS NULL, at DESC, workspace, revision DESC LIMIT $1";

const NEVER: &str = "no gate could send it";

pub(super) async fn put<S: Sql>(conn: &mut S, callback: &Callback) -> Result<(), StoreError> {
    let put = Statement::new(PUT)
        .bind(&callback.workspace)
        .bind(integer(callback.revision))
        .bind(&callback.id)
        .bind(&callback.name)
        .bind(&callback.action)
        .bind(&callback.status)
        .bind(callback.who.as_deref())
        .bind(callback.at.as_millis())
        .bind(callback.traceparent.as_deref())
        .bind(integer(callback.tries))
        .bind(callback.next_at.map(Timestamp::as_millis));
    conn.execute(put).await?;
    Ok(())
}

pub(super) async fn take<S: Sql>(
    conn: &mut S,
    name: &str,
    (now, until): (Timestamp, Timestamp),
    most: u32,
) -> Result<Vec<Callback>, StoreError> {
    let take = Statement::new(S::TAKE_CALLBACKS).bind(until.as_millis()).bind(name).bind(now.as_millis());
    conn.fetch_all(take.bind(i64::from(most))).await?.iter().map(|row| rows::callback(row)).collect()
}

pub(super) async fn end<S: Sql>(conn: &mut S, callback: &Callback) -> Result<(), StoreError> {
    let end = Statement::new(END)
        .bind(&callback.workspace)
        .bind(integer(callback.revision))
        .bind(integer(callback.tries))
        .bind(callback.next_at.map(Timestamp::as_millis))
        .bind(callback.error.as_deref())
        .bind(callback.ended_at.map(Timestamp::as_millis))
        .bind(callback.held_until.map(Timestamp::as_millis));
    conn.execute(end).await?;
    Ok(())
}

pub(super) async fn sweep<S: Sql>(
    conn: &mut S,
    now: Timestamp,
    old: Timestamp,
    over: Timestamp,
) -> Result<SweptCallbacks, StoreError> {
    let late = Statement::new(GIVE_UP).bind(now.as_millis()).bind(old.as_millis()).bind(NEVER);
    let given_up = conn.execute(late).await?;
    let dropped = conn.execute(Statement::new(OVER).bind(over.as_millis()).bind(FORGET)).await?;
    Ok(SweptCallbacks { given_up, dropped })
}

pub(in crate::gate::store) async fn newest<S: Sql>(
    conn: &mut S,
    most: u32,
) -> Result<Vec<Callback>, StoreError> {
    let newest = Statement::new(NEWEST).bind(i64::from(most));
    conn.fetch_all(newest).await?.iter().map(|row| rows::callback(row)).collect()
}
