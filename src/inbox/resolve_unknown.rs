//! Resolves unknown outcomes by hand. A lost answer is reported as such and looked up by reading. Nothing is sent
//! twice.

use super::core::Inbox;
use super::problem::Problem;
use super::timeouts::{Wait, WithTimeouts};
use super::{lost, submit};
use crate::domain::{ActionId, ActionKey, Resolution, Resolved, Status};
use crate::sources::SourceError;

impl Inbox {
    /// Resolves an action that is `unknown` at its source, once, or a lost decision from here, which is only recorded
    /// in the journal. An error means that nothing changed.
    pub async fn settle(
        &self,
        key: &ActionKey,
        finding: Resolution,
        reason: Option<String>,
    ) -> Result<Resolved, Problem> {
        // The source takes the finding if it has the action as unknown, and the journal otherwise.
        if let Some(lost) = lost::find(self, key).await?
            && !self.is_unknown(key).await
        {
            return lost.resolve(self, finding, reason.as_deref()).await;
        }
        let source = self.source(&key.source)?;
        let told = source
            .ask_able(Wait::Actions(0), |able| Some(able.resolve_unknown?.resolve(&key.id, finding, reason)));
        let resolved = match told.await {
            Ok(Some(resolved)) => resolved,
            Ok(None) => return Err(Problem::at(&key.source, "has no way to settle an outcome by hand")),
            Err(error) if error.lost_sight() => self.look(source, &key.id, &error).await,
            Err(error) => return Err(Problem::of(&key.source, &error)),
        };
        // Updates the journal, which may have the action as unknown.
        if self.journal.newest_about(key).await?.is_some()
            && let Err(problem) = self.look_at(std::slice::from_ref(key)).await
        {
            tracing::warn!(what = problem.what, "the journal cannot keep how an action was settled");
        }
        Ok(resolved)
    }

    /// Takes back this reviewer's approval while more people must approve. After an error, it may still count.
    pub async fn take_back_approval(&self, key: &ActionKey) -> Result<(), Problem> {
        let source = self.source(&key.source)?;
        let told = source.ask_able(Wait::Actions(0), |able| Some(able.take_back?.take_back(&key.id)));
        match told.await {
            Ok(Some(())) => Ok(()),
            Ok(None) => Err(Problem::at(&key.source, "takes no approval back")),
            Err(error) => Err(Problem::of(&key.source, &error)),
        }
    }

    async fn is_unknown(&self, key: &ActionKey) -> bool {
        let Ok(source) = self.source(&key.source) else { return false };
        let Ok(actions) = source.get(std::slice::from_ref(&key.id)).await else { return false };
        let mut rows = actions.into_iter().flatten().map(|action| action.row);
        rows.any(|row| row.status == Status::Unknown && row.can.settle)
    }

    /// Reads the action a few times, because the request may still be on its way.
    async fn look(&self, source: &WithTimeouts, id: &ActionId, error: &SourceError) -> Resolved {
        let mut status = None;
        for wait in self.pace.look {
            tokio::time::sleep(wait).await;
            let Ok(actions) = source.get(std::slice::from_ref(id)).await else { continue };
            status = actions.into_iter().flatten().next().map(|action| action.row.status).or(status);
            if status.as_ref().is_some_and(|status| *status != Status::Unknown) {
                break;
            }
        }
        Resolved::Lost { status, why: submit::words(error) }
    }
}
