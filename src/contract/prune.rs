use serde::Serialize;
use serde_json::value::RawValue;

/// A line of `placet gate prune --export`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PrunedBody<'a> {
    pub version: u32,
    pub record: &'a str,
    pub proposer: &'a str,
    /// As returned by `GET /api/pending-actions/{id}`.
    pub pending_action: &'a RawValue,
}
