//! Lists and the changes feed. Items stay raw: each is read on its own, so that one bad item hides no other.

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
    /// The workspace's revision when the list was read.
    pub revision: u64,
    /// Who is on what in the whole workspace; on the first page alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claims: Option<Vec<ClaimBody>>,
}

/// `GET /api/pending-actions/changes?since=`: what changed after a revision, one entry an action.
#[derive(Debug, Serialize)]
pub struct ChangesReply {
    pub changes: Vec<Change>,
    /// Up to where this reply reaches: the next `since`.
    pub revision: u64,
    /// More changes wait: ask again at once.
    pub more: bool,
    /// False when the feed cannot tell everything since then: list again.
    pub complete: bool,
    /// Who is on what in the whole workspace: no change of theirs has a revision.
    pub claims: Vec<ClaimBody>,
}

#[derive(Debug, Serialize)]
pub struct Change {
    pub revision: u64,
    pub id: String,
    /// The row as it is now; `None` only when it was purged.
    pub row: Option<Box<RawValue>>,
}
