//! What is kept elsewhere of an action that is pruned.

use serde::Serialize;
use serde_json::value::RawValue;

/// One line of `placet gate prune --export`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PrunedBody<'a> {
    pub version: u32,
    /// The digest under which the audit has it.
    pub record: &'a str,
    /// The subject of the token that proposed it.
    pub proposer: &'a str,
    /// As `GET /api/pending-actions/{id}` gave it.
    pub pending_action: &'a RawValue,
}
