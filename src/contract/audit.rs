//! The audit on the wire and in exported files.

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// An audit row. The gate's documentation has the formula of its hash.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditBody<'a> {
    pub workspace_id: &'a str,
    pub revision: u64,
    pub pending_action_id: Option<&'a str>,
    pub event: &'a str,
    pub at: String,
    pub by: Option<&'a str>,
    /// A JSON object. The hash covers its exact bytes.
    pub details: Option<&'a RawValue>,
    pub hash: String,
}

/// The newest row. A copy kept elsewhere proves all rows before it.
pub fn head(workspace: &str, revision: u64, hash: &str) -> Value {
    json!({"workspaceId": workspace, "revision": revision, "hash": hash})
}

/// A page of rows, oldest first. Clients repeat with `since` = the last revision until it is empty.
#[derive(Debug, Serialize)]
pub struct AuditReply<'a> {
    pub items: Vec<AuditBody<'a>>,
    pub more: bool,
}
