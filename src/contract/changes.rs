//! Lists and the changes feed. Items stay raw and are read one by one, so that a bad item does not hide others.

use serde::Serialize;
use serde_json::value::RawValue;

use super::claim::ClaimBody;

/// `GET /api/pending-actions`: newest first.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListReply<T = Box<RawValue>> {
    pub items: Vec<T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    pub revision: u64,
    /// Claims in the whole workspace; only on the first page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claims: Option<Vec<ClaimBody>>,
}

/// `GET /api/pending-actions/changes?since=`: changes after a revision, one entry per action.
#[derive(Debug, Serialize)]
pub struct ChangesReply {
    pub changes: Vec<Change>,
    /// The next `since`.
    pub revision: u64,
    pub more: bool,
    /// False if the feed cannot report all changes. The client must list again.
    pub complete: bool,
    /// All claims in the workspace, because claims have no revision.
    pub claims: Vec<ClaimBody>,
}

#[derive(Debug, Serialize)]
pub struct Change {
    pub revision: u64,
    pub id: String,
    /// The current row; `None` only if it was purged.
    pub row: Option<Box<RawValue>>,
}
