//! The audit: one row per revision, chained by hashes ([`chain`]).
//!
//! The label is `placet-audit/v1`. The fields are workspace, revision, time in milliseconds, kind, action, subject,
//! details, and the previous hash as hex digits. Keep heads elsewhere (`placet gate audit head`).

pub(crate) mod replay;

use crate::contract::audit::AuditBody;
use crate::contract::time;
use crate::domain::{Digest, RawJson, Timestamp, chain};

/// The workspace for audit rows and pauses of the gate as a whole.
pub(crate) const WHOLE_GATE: &str = "*";

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
    /// Empty until computed.
    pub(crate) hash: Vec<u8>,
}

/// The newest revision of a workspace. A copy kept elsewhere proves the rows before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditHead {
    pub workspace: String,
    pub revision: u64,
    /// 64 hex digits, or empty without rows.
    pub hash: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verified {
    pub rows: u64,
    pub actions: u64,
    /// The head of each workspace, to be kept elsewhere.
    pub heads: Vec<AuditHead>,
    /// Mismatches, as sentences. If empty, no tampering is detectable with the kept heads.
    pub problems: Vec<String>,
}

pub(crate) fn hash(row: &AuditRow, before: Option<&str>) -> [u8; 32] {
    let (revision, at) = (row.revision.to_string(), row.at.as_millis().to_string());
    let fields = [
        Some(row.workspace.as_str()),
        Some(&revision),
        Some(&at),
        Some(&row.kind),
        row.action.as_deref(),
        row.who.as_deref(),
        row.details.as_deref(),
    ];
    *chain::link("placet-audit/v1", fields, before).as_bytes()
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
            hash: hex(&row.hash),
        }
    }
}

/// Returns the digest that stands for a payload in the audit.
pub(crate) fn fingerprint(json: &RawJson) -> String {
    Digest::of_fields("placet-payload/v1", [Some(json.as_str())]).to_string()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |four: u8| char::from_digit(u32::from(four), 16).unwrap_or('0');
    let mut out = String::with_capacity(bytes.len() * 2);
    out.extend(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed independently: python3 -c "import hashlib; h=hashlib.sha256()
    /// n=lambda f: h.update(len(f).to_bytes(8,'big')+f); n(b'placet-audit/v1')
    /// [ n(b'\0' if f is None else b'\1'+f) for f in (b'w', b'2', b'7', b'paused', None, b'o', b'{}', b'00'*32) ]
    /// print(h.hexdigest())"
    const KNOWN: &str = "cd1bf6425c44afc2abc70b5c3fcb76948ea0b4c02a27fb0b55043d912e5c3ae1";

    fn paused() -> AuditRow {
        AuditRow {
            workspace: "w".to_owned(),
            revision: 2,
            action: None,
            kind: "paused".to_owned(),
            at: Timestamp::from_millis(7),
            who: Some("o".to_owned()),
            details: Some("{}".to_owned()),
            hash: Vec::new(),
        }
    }

    #[test]
    fn hash_matches_the_published_example() {
        assert_eq!(hex(&hash(&paused(), Some(&"00".repeat(32)))), KNOWN);
    }

    #[test]
    fn absent_and_empty_fields_hash_differently() {
        let with = |change: fn(&mut AuditRow, Option<String>), value: Option<&str>| {
            let mut row = paused();
            change(&mut row, value.map(str::to_owned));
            hash(&row, Some(&"00".repeat(32)))
        };
        let changes: [fn(&mut AuditRow, Option<String>); 3] =
            [|row, it| row.action = it, |row, it| row.who = it, |row, it| row.details = it];
        for change in changes {
            assert_ne!(with(change, None), with(change, Some("")));
        }
        assert_ne!(hash(&paused(), None), hash(&paused(), Some("")));
        assert_ne!(hash(&paused(), None), hash(&paused(), Some(&"00".repeat(32))));
    }
}
