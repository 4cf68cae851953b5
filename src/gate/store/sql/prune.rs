//! Reads actions that may be pruned, and finds pruned ones.

use futures_util::TryStreamExt as _;

use super::{Sql, Statement};
use crate::domain::Timestamp;
use crate::gate::store::action_fields::{self, SETTLED};
use crate::gate::store::columns::Columns as _;
use crate::gate::store::{Prunable, StoreError};
use crate::gate::tool::Tools;

/// Returns prunable actions in the order they were settled, up to the first that must stay. An action is as old as its
/// newest audit row: one approved a year ago that ran today is from today.
pub(in crate::gate::store) async fn settled<S: Sql>(
    conn: &mut S,
    workspace: &str,
    before: Timestamp,
    (limit, bytes): (u32, u64),
    tools: &Tools,
) -> Result<Vec<Prunable>, StoreError> {
    let mut query = Statement::new(action_fields::whole_with("h.at AS settled_at, "));
    query
        .push(" JOIN audit h ON h.workspace = a.workspace AND h.revision = a.revision WHERE a.workspace = ")
        .push_bind(workspace)
        .push(" AND ")
        .push(SETTLED);
    query.push(" ORDER BY a.revision LIMIT ").push_bind(i64::from(limit));
    let mut found = conn.fetch(query);
    let (mut settled, mut weight) = (Vec::new(), 0);
    while let Some(found) = found.try_next().await? {
        if found.int("settled_at")? >= before.as_millis() {
            break;
        }
        // A damaged action stays, as evidence.
        let Ok(stored) = action_fields::stored(&found, tools) else { continue };
        weight += stored.action.input.as_str().len() as u64;
        let record = action_fields::record(stored.proposed());
        settled.push(Prunable { action: stored.action, proposer: stored.proposer, record });
        if weight > bytes {
            break;
        }
    }
    Ok(settled)
}

pub(in crate::gate::store) async fn was_there<S: Sql>(
    conn: &mut S,
    id: &str,
) -> Result<Option<String>, StoreError> {
    let found = Statement::new("SELECT workspace FROM audit WHERE action = $1 LIMIT 1").bind(id);
    Ok(conn.fetch_optional(found).await?.map(|row| row.text("workspace")).transpose()?)
}
