//! The audit: one row a revision, chained by hashes, so that what is changed afterwards is found.
//!
//! A row's hash is SHA-256 over, each with its length in front (unsigned 64-bit, big-endian): `placet-audit/v1`, the
//! workspace, the revision, the moment in milliseconds, the kind, the action, who, the details, and the hash of the row
//! before (32 zero bytes before the first). Numbers are decimal; what is absent is empty. The chain shows what somebody
//! changed who could not also change a head that was exported before: keep heads elsewhere (`placet gate audit head`).

pub(crate) mod replay;

use sha2::{Digest as _, Sha256};

use crate::contract::audit::AuditBody;
use crate::contract::time;
use crate::domain::{Digest, RawJson, Timestamp};

/// The workspace under which the gate itself is audited, and paused as a whole.
pub(crate) const WHOLE_GATE: &str = "*";

/// What stands before the first row.
pub(crate) const GENESIS: [u8; 32] = [0; 32];

/// A hash in the chain.
pub(crate) type Hash = [u8; 32];

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AuditRow {
    pub(crate) workspace: String,
    pub(crate) revision: u64,
    pub(crate) action: Option<String>,
    pub(crate) kind: String,
    pub(crate) at: Timestamp,
    pub(crate) who: Option<String>,
    /// A JSON object.
    pub(crate) details: Option<String>,
    /// `None`: from before the chain.
    pub(crate) hash: Option<Vec<u8>>,
}

/// The newest revision of a workspace and its hash: whoever keeps it can prove what was before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditHead {
    pub workspace: String,
    pub revision: u64,
    /// 64 hex digits; empty where nothing is chained yet.
    pub hash: String,
}

/// What a look at everything came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verified {
    /// Audit rows that were read.
    pub rows: u64,
    /// Actions that were compared with them.
    pub actions: u64,
    /// Rows from before the chain, which prove nothing.
    pub unchained: u64,
    /// The newest of each workspace, to be kept elsewhere.
    pub heads: Vec<AuditHead>,
    /// What does not fit together, for people. Empty: nothing was tampered with, as far as the kept heads reach.
    pub problems: Vec<String>,
}

/// The hash of a row that follows `before`.
pub(crate) fn hash(row: &AuditRow, before: &[u8]) -> Hash {
    let (revision, at) = (row.revision.to_string(), row.at.as_millis().to_string());
    let text = |field: &Option<String>| field.clone().unwrap_or_default();
    let (action, who, details) = (text(&row.action), text(&row.who), text(&row.details));
    let fields: [&[u8]; 9] = [
        b"placet-audit/v1",
        row.workspace.as_bytes(),
        revision.as_bytes(),
        at.as_bytes(),
        row.kind.as_bytes(),
        action.as_bytes(),
        who.as_bytes(),
        details.as_bytes(),
        before,
    ];
    let mut hash = Sha256::new();
    for field in fields {
        hash.update((field.len() as u64).to_be_bytes());
        hash.update(field);
    }
    hash.finalize().into()
}

impl<'a> From<&'a AuditRow> for AuditBody<'a> {
    fn from(row: &'a AuditRow) -> Self {
        Self {
            workspace_id: &row.workspace,
            revision: row.revision,
            pending_action_id: row.action.as_deref(),
            event: &row.kind,
            at: time::write(row.at),
            by: row.who.as_deref(),
            details: row.details.as_deref().and_then(|details| serde_json::from_str(details).ok()),
            hash: row.hash.as_deref().map(hex),
        }
    }
}

/// Of a payload: the audit names it and does not repeat it.
pub(crate) fn fingerprint(json: &RawJson) -> String {
    Digest::of_fields("placet-payload/v1", [Some(json.as_str())]).to_string()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        // Writing to a string cannot fail.
        write!(out, "{byte:02x}").ok();
        out
    })
}
