//! Settling what is `unknown`, where the backend takes it.

use super::{Dialect, GET_LIMIT, PendingActions, ROOT, answer, submit, wire};
use crate::contract::error;
use crate::contract::settle::{Settle, SettleAs};
use crate::domain::{ActionId, Resolution, Resolved, Status, Untrusted};
use crate::net::url;
use crate::sources::SourceError;

impl PendingActions {
    pub(super) async fn tell(
        &self,
        id: &ActionId,
        finding: Resolution,
        reason: Option<String>,
    ) -> Result<Resolved, SourceError> {
        let refused = |why: &str| Err(SourceError::Refused { why: why.into() });
        if self.dialect == Dialect::Praxiom {
            return refused("it has no way to settle an outcome by hand");
        }
        let Some(segment) = url::segment(id.as_raw()) else {
            return refused("the action's id cannot stand in an address");
        };
        let how = match finding {
            Resolution::Landed => SettleAs::Executed,
            Resolution::NotLanded => SettleAs::Failed,
            Resolution::RunAgain => SettleAs::Retry,
        };
        let body = submit::json(&Settle { how, reason })?;
        let reply = self.post(format!("{ROOT}/{segment}/settle"), body, None).await?;
        match reply.status {
            200..=299 => match wire::standing(&reply.text) {
                Some((status, _)) => Ok(Resolved::Settled(status)),
                None => Err(answer::nonsense("the answer does not say where the action stands")),
            },
            409 => {
                let status = error::read(&reply.text).status.map(|word| Status::parse(word.as_raw()));
                Ok(Resolved::Already { status, by: self.settler(&segment).await })
            }
            404 => refused(submit::GONE),
            _ => Err(answer::refusal(&reply)),
        }
    }

    /// Who settled it, from its timeline: the action itself names who decided it.
    async fn settler(&self, segment: &str) -> Option<Untrusted> {
        let reply = self.ask(format!("{ROOT}/{segment}/events"), GET_LIMIT).await.ok()?;
        wire::settler(&reply.text).filter(|_| reply.status == 200)
    }
}
