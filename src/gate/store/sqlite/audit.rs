//! The head row that numbers every change, and the audit row that goes with each number.

use serde_json::Value;
use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Row as _, SqliteConnection, SqlitePool};

use super::row::{integer, number};
use super::writer::Tx;
use crate::domain::Timestamp;
use crate::fault;
use crate::gate::audit::{self, AuditHead, AuditRow};
use crate::gate::store::StoreError;

/// A workspace's head after a bump. Every bump is followed by one [`note`] under its revision.
#[derive(Debug, Clone)]
#[must_use = "a revision without its audit row breaks the chain"]
pub(super) struct Head {
    workspace: String,
    pub(super) revision: u64,
    pub(super) pending: u64,
    /// The hash of the row before; `None`: none is chained yet.
    before: Option<Vec<u8>>,
}

/// What is written down under a revision.
#[derive(Debug, Clone, Copy)]
pub(super) struct Note<'a> {
    pub(super) action: Option<&'a str>,
    pub(super) kind: &'static str,
    pub(super) who: Option<&'a str>,
}

/// Takes the workspace's next revision.
pub(super) async fn bump(tx: &mut Tx, workspace: &str, pending: i64) -> Result<Head, StoreError> {
    let (revision, pending, before): (i64, i64, Option<Vec<u8>>) = sqlx::query_as(
        "INSERT INTO heads (workspace, revision, pending) VALUES (?1, 1, ?2) ON CONFLICT (workspace) DO UPDATE \
         SET revision = revision + 1, pending = pending + excluded.pending RETURNING revision, pending, hash",
    )
    .bind(workspace)
    .bind(pending)
    .fetch_one(tx.conn())
    .await?;
    tx.touch(workspace, number(revision));
    Ok(Head { workspace: workspace.to_owned(), revision: number(revision), pending: number(pending), before })
}

/// Writes the audit row of a revision; `details` become its JSON.
pub(super) async fn note(
    tx: &mut Tx,
    head: &Head,
    note: Note<'_>,
    details: &Value,
) -> Result<(), StoreError> {
    let row = AuditRow {
        workspace: head.workspace.clone(),
        revision: head.revision,
        action: note.action.map(str::to_owned),
        kind: note.kind.to_owned(),
        at: tx.now,
        who: note.who.map(str::to_owned),
        details: Some(details.to_string()),
        hash: None,
    };
    tx.happened(note.kind);
    let hash = audit::hash(&row, head.before.as_deref().map(audit::hex).as_deref());
    sqlx::query(
        "INSERT INTO audit (workspace, revision, action, kind, at, who, details, hash) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )
    .bind(&row.workspace)
    .bind(integer(row.revision))
    .bind(&row.action)
    .bind(&row.kind)
    .bind(row.at.as_millis())
    .bind(&row.who)
    .bind(&row.details)
    .bind(hash.as_slice())
    .execute(tx.conn())
    .await?;
    sqlx::query("UPDATE heads SET hash = ?1 WHERE workspace = ?2")
        .bind(hash.as_slice())
        .bind(&head.workspace)
        .execute(tx.conn())
        .await?;
    fault::point("audit.written");
    Ok(())
}

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
    query.build().fetch_all(pool).await?.iter().map(row).collect()
}

/// What happened to one action.
pub(super) async fn timeline(pool: &SqlitePool, action: &str) -> Result<Vec<AuditRow>, StoreError> {
    let found = sqlx::query("SELECT * FROM audit WHERE action = ?1 ORDER BY revision").bind(action);
    found.fetch_all(pool).await?.iter().map(row).collect()
}

pub(super) fn row(found: &SqliteRow) -> Result<AuditRow, StoreError> {
    Ok(AuditRow {
        workspace: found.try_get("workspace")?,
        revision: number(found.try_get("revision")?),
        action: found.try_get("action")?,
        kind: found.try_get("kind")?,
        at: Timestamp::from_millis(found.try_get("at")?),
        who: found.try_get("who")?,
        details: found.try_get("details")?,
        hash: found.try_get("hash")?,
    })
}

/// Of every workspace, or of one.
pub(super) async fn heads(
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
