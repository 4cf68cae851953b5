//! Saying to be on an action, where its source keeps claims.

use super::core::Inbox;
use super::problem::Problem;
use super::timeouts::Wait;
use crate::domain::{ActionKey, Claim, SourceName, Untrusted};

const NONE: &str = "keeps no claims";

impl Inbox {
    /// Says that this reviewer is on it, or still is. Returns whose claim it is then: somebody else's where they were first.
    pub async fn claim(&self, key: &ActionKey) -> Result<Claim, Problem> {
        let source = self.source(&key.source)?;
        let told = source.ask_able(Wait::Look, |able| Some(able.claims?.claim(&key.id))).await;
        let told = told.map_err(|error| Problem::of(&key.source, &error))?;
        told.ok_or_else(|| Problem::at(&key.source, NONE))
    }

    /// Who we are at a source, as far as it told.
    pub fn subject(&self, source: &SourceName) -> Option<Untrusted> {
        self.source(source).ok()?.subject()
    }

    /// Ends the claim of this reviewer, if there is one.
    pub async fn end_claim(&self, key: &ActionKey) -> Result<(), Problem> {
        let source = self.source(&key.source)?;
        let told = source.ask_able(Wait::Look, |able| Some(able.claims?.end_claim(&key.id))).await;
        let told = told.map_err(|error| Problem::of(&key.source, &error))?;
        told.ok_or_else(|| Problem::at(&key.source, NONE))
    }
}
