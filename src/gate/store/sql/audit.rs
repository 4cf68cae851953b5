//! Reads the audit and its heads.

use super::{Sql, Statement};
use crate::gate::audit::{self, AuditHead, AuditRow};
use crate::gate::store::StoreError;
use crate::gate::store::columns::Columns as _;
use crate::gate::store::rows::{audit_row, integer, number};

const ROWS: &str = "SELECT * FROM audit WHERE workspace = $1 AND revision > $2 ORDER BY revision LIMIT $3";
const TIMELINE: &str = "SELECT * FROM audit WHERE action = $1 ORDER BY revision";
/// A head with revision 0 exists only to be locked.
const HEADS: &str = "SELECT workspace, revision, hash FROM heads \
     WHERE revision > 0 AND (CAST($1 AS TEXT) IS NULL OR workspace = $1) ORDER BY workspace";

pub(in crate::gate::store) async fn rows<S: Sql>(
    conn: &mut S,
    workspace: &str,
    since: u64,
    limit: u32,
) -> Result<Vec<AuditRow>, StoreError> {
    let rows = Statement::new(ROWS).bind(workspace).bind(integer(since)).bind(i64::from(limit));
    conn.fetch_all(rows).await?.iter().map(|row| audit_row(row)).collect()
}

pub(in crate::gate::store) async fn timeline<S: Sql>(
    conn: &mut S,
    action: &str,
) -> Result<Vec<AuditRow>, StoreError> {
    let rows = conn.fetch_all(Statement::new(TIMELINE).bind(action)).await?;
    rows.iter().map(|row| audit_row(row)).collect()
}

pub(in crate::gate::store) async fn heads<S: Sql>(
    conn: &mut S,
    workspace: Option<&str>,
) -> Result<Vec<AuditHead>, StoreError> {
    let found = conn.fetch_all(Statement::new(HEADS).bind(workspace)).await?;
    let head = |row: &S::Row| {
        Ok(AuditHead {
            workspace: row.text("workspace")?,
            revision: number(row.int("revision")?),
            hash: row.maybe_bytes("hash")?.map(|hash| audit::hex(&hash)).unwrap_or_default(),
        })
    };
    found.iter().map(head).collect()
}
