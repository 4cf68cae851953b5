//! Reads the audit and its heads.

use sqlx::{QueryBuilder, SqliteConnection, SqlitePool};

use crate::gate::audit::{self, AuditHead, AuditRow};
use crate::gate::store::StoreError;
use crate::gate::store::rows::{audit_row, integer, number};

/// Rows after a revision, in their order.
pub(super) async fn rows(
    pool: &SqlitePool,
    workspace: &str,
    since: u64,
    limit: u32,
) -> Result<Vec<AuditRow>, StoreError> {
    let mut query = QueryBuilder::new("SELECT * FROM audit WHERE workspace = ");
    query.push_bind(workspace).push(" AND revision > ").push_bind(integer(since));
    query.push(" ORDER BY revision LIMIT ").push_bind(i64::from(limit));
    query.build().fetch_all(pool).await?.iter().map(|row| audit_row(row)).collect()
}

/// What happened to one action.
pub(super) async fn timeline(pool: &SqlitePool, action: &str) -> Result<Vec<AuditRow>, StoreError> {
    let found = sqlx::query("SELECT * FROM audit WHERE action = ?1 ORDER BY revision").bind(action);
    found.fetch_all(pool).await?.iter().map(|row| audit_row(row)).collect()
}

/// Of every workspace, or of one.
pub(in crate::gate::store) async fn heads(
    conn: &mut SqliteConnection,
    workspace: Option<&str>,
) -> Result<Vec<AuditHead>, StoreError> {
    let found: Vec<(String, i64, Option<Vec<u8>>)> = sqlx::query_as(
        "SELECT workspace, revision, hash FROM heads WHERE ?1 IS NULL OR workspace = ?1 ORDER BY workspace",
    )
    .bind(workspace)
    .fetch_all(conn)
    .await?;
    let head = |(workspace, revision, hash): (String, i64, Option<Vec<u8>>)| AuditHead {
        workspace,
        revision: number(revision),
        hash: hash.map(|hash| audit::hex(&hash)).unwrap_or_default(),
    };
    Ok(found.into_iter().map(head).collect())
}
