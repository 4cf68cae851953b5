//! Claims at our gate. An older gate has no such route.

use async_trait::async_trait;

use super::client::PendingActions;
use super::wire;
use crate::contract::claim;
use crate::domain::{ActionId, Claim};
use crate::sources::SourceError;
use crate::sources::answer::{self, success};
use crate::sources::source::Claims;

const OLDER: &str = "it is of an older version, which keeps no claims";

impl PendingActions {
    async fn ask_claim(&self, id: &ActionId, end: &str) -> Result<String, SourceError> {
        let path = format!("/api/claims/{}{end}", wire::segment(id)?);
        let reply = self.post(path, String::new(), None).await?;
        // A gate says why in its own words; a route that is not there has none for this action.
        if reply.status == 404 && self.claims.lock().is_ok_and(|claims| claims.is_none()) {
            return Err(SourceError::Refused { why: OLDER.into() });
        }
        success(reply)
    }
}

#[async_trait]
impl Claims for PendingActions {
    async fn claim(&self, id: &ActionId) -> Result<Claim, SourceError> {
        let claimed = self.ask_claim(id, "").await?;
        claim::read(&claimed).ok_or_else(|| answer::nonsense("the answer to a claim is none"))
    }

    async fn end_claim(&self, id: &ActionId) -> Result<(), SourceError> {
        self.ask_claim(id, "/end").await.map(drop)
    }
}
