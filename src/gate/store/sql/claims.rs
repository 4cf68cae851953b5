//! Claims: a reviewer says "I'm on it".

use super::{Sql, Statement};
use crate::domain::{Claim, Timestamp};
use crate::gate::store::columns::Columns as _;
use crate::gate::store::rows;
use crate::gate::store::{Actor, CLAIMS_MAX, StoreError};

const OVER: &str = "DELETE FROM claims WHERE workspace = $1 AND until <= $2";
/// The first claim holds until it ends. Its holder may extend it.
const PUT: &str = "INSERT INTO claims (workspace, action, who, since, until) \
     SELECT a.workspace, a.id, $3, $4, $5 FROM actions a WHERE a.id = $2 AND a.workspace = $1 \
     AND a.status = 'pending' \
     ON CONFLICT (workspace, action) DO UPDATE SET \
     who = CASE WHEN claims.until <= $4 THEN excluded.who ELSE claims.who END, \
     since = CASE WHEN claims.until <= $4 THEN excluded.since ELSE claims.since END, \
     until = CASE WHEN claims.until <= $4 OR claims.who = excluded.who THEN excluded.until ELSE claims.until END \
     RETURNING action, who, since";
const END: &str = "DELETE FROM claims WHERE workspace = $1 AND action = $2 AND who = $3 AND until > $4";
const ABOUT: &str = "SELECT a.proposer, c.who FROM actions a LEFT JOIN claims c \
     ON c.workspace = a.workspace AND c.action = a.id AND c.until > $3 WHERE a.id = $2 AND a.workspace = $1";
/// Claims of pending actions. A decision ends the claim without a write.
const ALL: &str = "SELECT c.action, c.who, c.since FROM claims c JOIN actions a ON a.id = c.action \
     WHERE c.workspace = $1 AND c.until > $2 AND a.status = 'pending' ORDER BY c.since DESC, c.action LIMIT $3";

pub(super) async fn put<S: Sql>(
    conn: &mut S,
    by: &Actor,
    action: &str,
    now: Timestamp,
) -> Result<Option<(Claim, bool)>, StoreError> {
    let until = now.plus_millis(Claim::QUIET);
    conn.execute(Statement::new(OVER).bind(&by.workspace).bind(now.as_millis())).await?;
    let put = Statement::new(PUT).bind(&by.workspace).bind(action).bind(&by.subject);
    let put = conn.fetch_optional(put.bind(now.as_millis()).bind(until.as_millis())).await?;
    let claim = put.map(|row| rows::claim(&row)).transpose()?;
    Ok(claim.map(|claim| {
        let is_new = claim.since == now && claim.by.as_raw() == by.subject;
        (claim, is_new)
    }))
}

pub(super) async fn about<S: Sql>(
    conn: &mut S,
    workspace: &str,
    action: &str,
    now: Timestamp,
) -> Result<Option<(String, Option<String>)>, StoreError> {
    let about = Statement::new(ABOUT).bind(workspace).bind(action).bind(now.as_millis());
    let Some(row) = conn.fetch_optional(about).await? else { return Ok(None) };
    Ok(Some((row.text("proposer")?, row.maybe_text("who")?)))
}

pub(super) async fn end<S: Sql>(
    conn: &mut S,
    by: &Actor,
    action: &str,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let end = Statement::new(END).bind(&by.workspace).bind(action).bind(&by.subject).bind(now.as_millis());
    Ok(conn.execute(end).await? > 0)
}

pub(in crate::gate::store) async fn all<S: Sql>(
    conn: &mut S,
    workspace: &str,
    now: Timestamp,
) -> Result<Vec<Claim>, StoreError> {
    let all = Statement::new(ALL).bind(workspace).bind(now.as_millis()).bind(i64::from(CLAIMS_MAX));
    conn.fetch_all(all).await?.iter().map(|row| rows::claim(row)).collect()
}
