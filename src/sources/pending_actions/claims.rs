//! Claims at a gate.

use async_trait::async_trait;

use super::client::PendingActions;
use super::wire;
use crate::contract::claim;
use crate::domain::{ActionId, Claim};
use crate::sources::SourceError;
use crate::sources::answer::{self, success};
use crate::sources::source::Claims;

impl PendingActions {
    async fn ask_claim(&self, id: &ActionId, end: &str) -> Result<String, SourceError> {
        let path = format!("/api/claims/{}{end}", wire::segment(id)?);
        success(self.post(path, String::new(), None).await?)
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
