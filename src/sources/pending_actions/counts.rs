//! What waits, where the gate counts it.

use super::{Dialect, GET_LIMIT, PendingActions, answer};
use crate::contract::briefing;
use crate::domain::Outstanding;
use crate::sources::SourceError;

impl PendingActions {
    /// What the gate counted. One from before the route takes its name for an action's id.
    pub(super) async fn counts(&self) -> Result<Outstanding, SourceError> {
        if self.dialect == Dialect::Praxiom {
            return Err(SourceError::NotOffered);
        }
        let reply = self.ask(self.path("/counts", &[]), GET_LIMIT).await?;
        match reply.status {
            200 => briefing::read_counts(&reply.text).ok_or_else(|| answer::nonsense("its counts are none")),
            404 | 405 => Err(SourceError::NotOffered),
            _ => Err(answer::refusal(&reply)),
        }
    }
}
