//! Who is on what.

use super::conn::Conn;
use crate::domain::{Claim, Timestamp};
use crate::gate::store::rows;
use crate::gate::store::{Actor, CLAIMS_MAX, StoreError};

const OVER: &str = "DELETE FROM claims WHERE workspace = $1 AND until <= $2";
/// Whoever was first keeps it, until it is over; the same one again is on it for longer.
const PUT: &str = "INSERT INTO claims (workspace, action, who, since, until) \
     SELECT a.workspace, a.id, $3, $4, $5 FROM actions a WHERE a.id = $2 AND a.workspace = $1 \
     AND a.status = 'pending' \
     ON CONFLICT (workspace, action) DO UPDATE SET \
     who = CASE WHEN claims.until <= $4 THEN excluded.who ELSE claims.who END, \
     since = CASE WHEN claims.until <= $4 THEN excluded.since ELSE claims.since END, \
     until = CASE WHEN claims.until <= $4 OR claims.who = excluded.who THEN excluded.until ELSE claims.until END \
     RETURNING action, who, since";
const END: &str = "DELETE FROM claims WHERE workspace = $1 AND action = $2 AND who = $3 AND until > $4";
/// Who proposed it, and who is on it.
const ABOUT: &str = "SELECT a.proposer, c.who FROM actions a LEFT JOIN claims c \
     ON c.workspace = a.workspace AND c.action = a.id AND c.until > $3 WHERE a.id = $2 AND a.workspace = $1";
/// What was decided has no claim any more: nobody has to end it.
const ALL: &str = "SELECT c.action, c.who, c.since FROM claims c JOIN actions a ON a.id = c.action \
     WHERE c.workspace = $1 AND c.until > $2 AND a.status = 'pending' ORDER BY c.since DESC, c.action LIMIT $3";

/// Whose it is, and whether that is news.
pub(super) async fn put(
    conn: &mut Conn,
    by: &Actor,
    action: &str,
    now: Timestamp,
) -> Result<Option<(Claim, bool)>, StoreError> {
    let until = now.plus_millis(Claim::QUIET);
    sqlx::query(OVER).bind(&by.workspace).bind(now.as_millis()).execute(&mut *conn).await?;
    let put = sqlx::query(PUT).bind(&by.workspace).bind(action).bind(&by.subject);
    let put = put.bind(now.as_millis()).bind(until.as_millis()).fetch_optional(conn).await?;
    let claim = put.map(|row| rows::claim(&row)).transpose()?;
    Ok(claim.map(|claim| {
        let is_new = claim.since == now && claim.by.as_raw() == by.subject;
        (claim, is_new)
    }))
}

/// Who proposed it, and who is on it, as they are spelled; `None`: there is no such action.
pub(super) async fn about(
    conn: &mut Conn,
    workspace: &str,
    action: &str,
    now: Timestamp,
) -> Result<Option<(String, Option<String>)>, StoreError> {
    let about = sqlx::query_as(ABOUT).bind(workspace).bind(action).bind(now.as_millis());
    Ok(about.fetch_optional(conn).await?)
}

pub(super) async fn end(
    conn: &mut Conn,
    by: &Actor,
    action: &str,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let end = sqlx::query(END).bind(&by.workspace).bind(action).bind(&by.subject).bind(now.as_millis());
    Ok(end.execute(conn).await?.rows_affected() > 0)
}

pub(super) async fn all(conn: &mut Conn, workspace: &str, now: Timestamp) -> Result<Vec<Claim>, StoreError> {
    let all = sqlx::query(ALL).bind(workspace).bind(now.as_millis()).bind(i64::from(CLAIMS_MAX));
    all.fetch_all(conn).await?.iter().map(|row| rows::claim(row)).collect()
}
