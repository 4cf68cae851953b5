//! Claims on actions, at sources that keep them.

use super::core::Inbox;
use super::problem::Problem;
use super::timeouts::Wait;
use crate::domain::{ActionKey, Claim, SourceName, Untrusted};

const NONE: &str = "keeps no claims";

impl Inbox {
    pub async fn claim(&self, key: &ActionKey) -> Result<Claim, Problem> {
        let source = self.source(&key.source)?;
        let told = source.ask_able(Wait::Look, |able| Some(able.claims?.claim(&key.id))).await;
        let told = told.map_err(|error| Problem::of(&key.source, &error))?;
        told.ok_or_else(|| Problem::at(&key.source, NONE))
    }

    pub fn subject(&self, source: &SourceName) -> Option<Untrusted> {
        self.source(source).ok()?.subject()
    }

    pub async fn end_claim(&self, key: &ActionKey) -> Result<(), Problem> {
        let source = self.source(&key.source)?;
        let told = source.ask_able(Wait::Look, |able| Some(able.claims?.end_claim(&key.id))).await;
        let told = told.map_err(|error| Problem::of(&key.source, &error))?;
        told.ok_or_else(|| Problem::at(&key.source, NONE))
    }
}
