//! Claims on the wire: who said to be on a pending action.

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

/// `GET /api/claims`: the newest first, at most 1,000.
#[derive(Debug, Serialize)]
pub struct ClaimsReply {
    pub claims: Vec<ClaimBody>,
}

/// `POST /api/claims/{id}/end`.
#[derive(Debug, Serialize)]
pub struct ClaimEnded {
    /// False when there was no claim of the caller's.
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

/// As they are written.
pub fn write(claims: &[Claim]) -> Vec<ClaimBody> {
    claims.iter().map(ClaimBody::from).collect()
}

/// One claim: the answer to a claim.
pub fn read(text: &str) -> Option<Claim> {
    let fields = Fields::of(text)?;
    let id = fields.text("pendingActionId")?;
    let (by, since) = (fields.text("claimedBy")?, fields.time("claimedAt")?);
    Some(Claim { id: ActionId::new(id.as_raw()), by, since })
}

/// Those that stand beside something else. `None` where it has no `claims`. What cannot be read is left out.
pub fn beside(fields: &Fields<'_>) -> Option<Vec<Claim>> {
    let claims = json::elements(fields.raw("claims")?)?;
    Some(claims.into_iter().filter_map(read).collect())
}
