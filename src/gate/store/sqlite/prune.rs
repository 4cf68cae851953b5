//! Retention: what was settled long ago goes, and the audit keeps that it was there.

use futures_util::TryStreamExt as _;
use serde_json::json;
use sqlx::{QueryBuilder, Row as _, SqlitePool};

use super::audit::{Note, bump, note};
use super::replies;
use super::row::{self, integer};
use super::writer::Tx;
use crate::domain::Timestamp;
use crate::gate::store::{Prunable, StoreError};
use crate::gate::terms;
use crate::gate::tool::Tools;

/// Final, and never `unknown`: of that a human still has to find out what became of it. In the words of an index, which is used for
/// nothing else.
const SETTLED: &str = "a.status IN ('rejected', 'executed', 'failed', 'expired', 'withdrawn', 'superseded')";

/// As [`row::WHOLE`], with the moment of the newest audit row.
const WHOLE: &str = "SELECT a.*, p.input, p.preview, p.before, p.user_edits, p.effective_input, p.result, h.at AS settled_at \
     FROM actions a JOIN payloads p ON p.seq = a.seq JOIN audit h ON h.workspace = a.workspace AND h.revision = a.revision";

/// Actions that may go, in the order in which they were settled, up to the first that is to stay: the rest is not read. An action is as
/// old as its newest audit row: what was approved a year ago and ran today is of today.
pub(super) async fn settled(
    pool: &SqlitePool,
    workspace: &str,
    before: Timestamp,
    (limit, bytes): (u32, u64),
    tools: &Tools,
) -> Result<Vec<Prunable>, StoreError> {
    let mut query = QueryBuilder::new(WHOLE);
    query.push(" WHERE a.workspace = ").push_bind(workspace).push(" AND ").push(SETTLED);
    query.push(" ORDER BY a.revision LIMIT ").push_bind(i64::from(limit));
    let mut found = query.build().fetch(pool);
    let (mut settled, mut weight) = (Vec::new(), 0);
    while let Some(found) = found.try_next().await? {
        if found.try_get::<i64, _>("settled_at")? >= before.as_millis() {
            break;
        }
        // What was damaged stays: it is evidence.
        let Ok(stored) = row::stored(&found, tools) else { continue };
        weight += stored.action.input.as_str().len() as u64;
        let record = terms::record(&stored.action, &stored.proposer);
        settled.push(Prunable { action: stored.action, proposer: stored.proposer, record });
        if weight > bytes {
            break;
        }
    }
    Ok(settled)
}

/// Removes them where they still stand as they were read, under one audit row. Their keys and calls leave tombstones: without them
/// a request that is sent again would be recorded, and run, a second time.
pub(super) async fn prune(
    tx: &mut Tx,
    workspace: &str,
    actions: &[Prunable],
    who: Option<&str>,
) -> Result<u64, StoreError> {
    let mut gone = Vec::with_capacity(actions.len());
    for Prunable { action, record, .. } in actions {
        let (id, revision) = (action.row.id.as_raw(), integer(action.row.revision.0));
        let mut find = QueryBuilder::new("SELECT a.seq FROM actions a WHERE a.id = ");
        find.push_bind(id).push(" AND a.workspace = ").push_bind(workspace);
        find.push(" AND a.revision = ").push_bind(revision).push(" AND ").push(SETTLED);
        let seq: Option<i64> = find.build_query_scalar().fetch_optional(tx.conn()).await?;
        let Some(seq) = seq else { continue };
        replies::leave_behind(tx, seq).await?;
        for delete in ["DELETE FROM payloads WHERE seq = ?1", "DELETE FROM actions WHERE seq = ?1"] {
            sqlx::query(delete).bind(seq).execute(tx.conn()).await?;
        }
        gone.push(json!({"id": id, "record": record.to_string()}));
    }
    let pruned = gone.len() as u64;
    if pruned > 0 {
        let head = bump(tx, workspace, 0).await?;
        let line = Note { action: None, kind: "pruned", who };
        note(tx, &head, line, &json!({"actions": gone})).await?;
        sqlx::query("UPDATE heads SET pruned = ?1 WHERE workspace = ?2")
            .bind(integer(head.revision))
            .bind(workspace)
            .execute(tx.conn())
            .await?;
    }
    Ok(pruned)
}

/// Was it there once? The audit of an action outlives it.
pub(super) async fn was_there(pool: &SqlitePool, id: &str) -> Result<Option<String>, StoreError> {
    let found = sqlx::query_scalar("SELECT workspace FROM audit WHERE action = ?1 LIMIT 1").bind(id);
    Ok(found.fetch_optional(pool).await?)
}
