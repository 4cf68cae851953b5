//! Settling by hand. An answer that is lost is told as such, and looked for by reading; nothing is sent a second time.

use super::core::Inbox;
use super::problem::Problem;
use super::timeouts::{Wait, WithTimeouts};
use super::{lost, submit};
use crate::domain::{ActionId, ActionKey, Resolution, Resolved, Status};
use crate::sources::SourceError;

impl Inbox {
    /// Says once what became of an action that is `unknown` at its source, or of a decision from here that was lost sight of:
    /// that one is written into the journal, and the source is told nothing. An error means that nothing changed.
    pub async fn settle(
        &self,
        key: &ActionKey,
        finding: Resolution,
        reason: Option<String>,
    ) -> Result<Resolved, Problem> {
        // What its source has as unknown is said there; what only we lost sight of is said in the journal.
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
        // The journal must not say "unknown" any longer of what was approved from here.
        if self.journal.newest_about(key).await?.is_some()
            && let Err(problem) = self.look_at(std::slice::from_ref(key)).await
        {
            tracing::warn!(what = problem.what, "the journal cannot keep how an action was settled");
        }
        Ok(resolved)
    }

    /// Takes back the approval of an action that this reviewer sent, while more people must approve. An error means that the source did
    /// not say that it is taken back.
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

    /// A few times: the request may still be on its way.
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
