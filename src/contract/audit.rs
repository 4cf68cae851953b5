//! The audit on the wire, and in an exported file.

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// One row. The formula of its hash is in the gate's documentation.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditBody<'a> {
    pub workspace_id: &'a str,
    pub revision: u64,
    pub pending_action_id: Option<&'a str>,
    pub event: &'a str,
    pub at: String,
    pub by: Option<&'a str>,
    /// A JSON object; the hash covers its exact bytes.
    pub details: Option<&'a RawValue>,
    /// 64 hex digits.
    pub hash: String,
}

/// The newest row: kept elsewhere, it proves what was before it.
pub fn head(workspace: &str, revision: u64, hash: &str) -> Value {
    json!({"workspaceId": workspace, "revision": revision, "hash": hash})
}

/// A page of rows, oldest first. Ask again with `since` = the last revision until it is empty.
#[derive(Debug, Serialize)]
pub struct AuditReply<'a> {
    pub items: Vec<AuditBody<'a>>,
    pub more: bool,
}
