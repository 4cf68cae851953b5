//! Reads what may be pruned, and what was.

use futures_util::TryStreamExt as _;
use sqlx::{QueryBuilder, Row as _};

use super::conn::Conn;
use crate::domain::Timestamp;
use crate::gate::store::rows::{self, SETTLED, WHOLE_SETTLED};
use crate::gate::store::{Prunable, StoreError};
use crate::gate::terms;
use crate::gate::tool::Tools;

/// Actions that may go, in the order in which they were settled, up to the first that is to stay: the rest is not read. An action is as
/// old as its newest audit row: what was approved a year ago and ran today is of today.
pub(super) async fn settled(
    conn: &mut Conn,
    workspace: &str,
    before: Timestamp,
    (limit, bytes): (u32, u64),
    tools: &Tools,
) -> Result<Vec<Prunable>, StoreError> {
    let mut query = QueryBuilder::new(WHOLE_SETTLED);
    query.push(" WHERE a.workspace = ").push_bind(workspace).push(" AND ").push(SETTLED);
    query.push(" ORDER BY a.revision LIMIT ").push_bind(i64::from(limit));
    let mut found = query.build().fetch(&mut *conn);
    let (mut settled, mut weight) = (Vec::new(), 0);
    while let Some(found) = found.try_next().await? {
        if found.try_get::<i64, _>("settled_at")? >= before.as_millis() {
            break;
        }
        // What was damaged stays: it is evidence.
        let Ok(stored) = rows::stored(&found, tools) else { continue };
        weight += stored.action.input.as_str().len() as u64;
        let record = terms::record(&stored.action, &stored.proposer);
        settled.push(Prunable { action: stored.action, proposer: stored.proposer, record });
        if weight > bytes {
            break;
        }
    }
    Ok(settled)
}

/// Was it there once? The audit of an action outlives it.
pub(super) async fn was_there(conn: &mut Conn, id: &str) -> Result<Option<String>, StoreError> {
    let found = sqlx::query_scalar("SELECT workspace FROM audit WHERE action = $1 LIMIT 1").bind(id);
    Ok(found.fetch_optional(&mut *conn).await?)
}
