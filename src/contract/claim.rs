//! Claims on the wire: who reviews a pending action.

use serde::Serialize;

use super::fields::Fields;
use super::time;
use crate::domain::{ActionId, Claim, json};

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClaimBody {
    pub pending_action_id: String,
    pub claimed_by: String,
    pub claimed_at: String,
}

/// `GET /api/claims`: newest first, at most 1,000.
#[derive(Debug, Serialize)]
pub struct ClaimsReply {
    pub claims: Vec<ClaimBody>,
}

#[derive(Debug, Serialize)]
pub struct ClaimEnded {
    /// False if the caller had no claim.
    pub ended: bool,
}

impl From<&Claim> for ClaimBody {
    fn from(claim: &Claim) -> Self {
        Self {
            pending_action_id: claim.id.as_raw().to_owned(),
            claimed_by: claim.by.as_raw().to_owned(),
            claimed_at: time::write(claim.since),
        }
    }
}

pub fn write(claims: &[Claim]) -> Vec<ClaimBody> {
    claims.iter().map(ClaimBody::from).collect()
}

pub fn read(text: &str) -> Option<Claim> {
    let fields = Fields::of(text)?;
    let id = fields.text("pendingActionId")?;
    let (by, since) = (fields.text("claimedBy")?, fields.time("claimedAt")?);
    Some(Claim { id: ActionId::new(id.as_raw()), by, since })
}

/// Reads the `claims` member of another body; `None` if there is none. Skips claims that cannot be read.
pub fn beside(fields: &Fields<'_>) -> Option<Vec<Claim>> {
    let claims = json::elements(fields.raw("claims")?)?;
    Some(claims.into_iter().filter_map(read).collect())
}
