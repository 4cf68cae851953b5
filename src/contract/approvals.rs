//! Required and given approvals on the wire.

use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;

use super::fields::Fields;
use super::time;
use crate::domain::{Approval, Approvals, Digest, Edits, Untrusted, json};

#[derive(Debug, Serialize)]
pub struct ApprovalsBody<'a> {
    pub given: u64,
    pub needed: u64,
    pub by: Vec<&'a str>,
}

/// A valid approval, part of the whole action.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalBody<'a> {
    pub by: &'a str,
    pub at: String,
    /// Digest of the input that would run.
    pub effective_digest: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_edits: Option<&'a RawValue>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ApprovalCount {
    pub given: u64,
    pub needed: u64,
}

impl<'a> From<&'a Approvals> for ApprovalsBody<'a> {
    fn from(approvals: &'a Approvals) -> Self {
        let by = approvals.by.iter().map(Untrusted::as_raw).collect();
        Self { given: approvals.given(), needed: approvals.needed, by }
    }
}

impl<'a> ApprovalBody<'a> {
    pub(super) fn of(approval: &'a Approval) -> Result<Self, serde_json::Error> {
        let edits = approval.edits.as_ref().map(|edits| serde_json::from_str(edits.as_json().as_str()));
        Ok(Self {
            by: approval.by.as_raw(),
            at: time::write(approval.at),
            effective_digest: approval.effective.to_string(),
            user_edits: edits.transpose()?,
        })
    }
}

/// `None` if the backend does not support approvals by several people.
pub(super) fn of_row(fields: &Fields<'_>) -> Option<Arc<Approvals>> {
    let approvals = Fields::of(fields.raw("approvals")?)?;
    let names = approvals.raw("by").and_then(json::elements).unwrap_or_default();
    let by = names.into_iter().map(|name| Untrusted::from(json::decode(name).text.into_owned())).collect();
    Some(Arc::new(Approvals { needed: approvals.number("needed")?, by }))
}

/// Skips entries that cannot be read.
pub(super) fn given(fields: &Fields<'_>) -> Vec<Approval> {
    let given = fields.raw("givenApprovals").and_then(json::elements).unwrap_or_default();
    given.into_iter().filter_map(Fields::of).filter_map(|fields| one(&fields)).collect()
}

fn one(fields: &Fields<'_>) -> Option<Approval> {
    Some(Approval {
        by: fields.text("by")?,
        at: fields.time("at")?,
        effective: Digest::parse(fields.text("effectiveDigest")?.as_raw())?,
        edits: fields.json("userEdits").map(Edits::new).transpose().ok()?,
    })
}
