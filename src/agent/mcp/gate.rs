//! Performs the session's requests to the gate, each in its own task.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::agent::call::sentence;
use crate::agent::{Answer, Caller, LEASE, ToolCall};
use crate::sources::{AgentClient, RunOutcome, SourceError};

/// Time limit for reporting a result while the gate is away.
const REPORT_LIMIT: Duration = Duration::from_mins(10);

#[derive(Clone, Debug)]
pub struct Found {
    pub client: AgentClient,
    /// The workspace of the client's token.
    pub workspace: String,
}

/// Finds the gate, or returns a sentence that says why there is none.
pub type FindGate = Arc<dyn Fn() -> BoxFuture<'static, Result<Found, String>> + Send + Sync>;

/// The gate, looked up on first use and cached.
#[derive(Clone)]
pub(super) struct Gate {
    find: FindGate,
    found: Arc<Mutex<Option<Found>>>,
    mission: Option<String>,
}

#[derive(Debug)]
pub(super) struct Asked {
    pub(super) agent: String,
    pub(super) session: String,
    pub(super) call: ToolCall,
    pub(super) limit: Duration,
}

impl Gate {
    pub(super) fn new(find: FindGate, mission: Option<String>) -> Self {
        Self { find, found: Arc::default(), mission }
    }

    fn found(&self) -> Option<Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn keep(&self, found: Option<Found>) {
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = found;
    }

    async fn find(&self) -> Result<Found, String> {
        if let Some(found) = self.found() {
            return Ok(found);
        }
        let found = (self.find)().await?;
        self.keep(Some(found.clone()));
        Ok(found)
    }

    /// Looks up the gate in advance. It need not exist yet.
    pub(super) async fn look(self) {
        if let Err(why) = self.find().await {
            tracing::info!(why, "no gate yet");
        }
    }

    fn caller(&self, found: Found, agent: String, session: String) -> Caller {
        let Found { client, workspace } = found;
        Caller { client, agent, session, workspace, mission: self.mission.clone() }
    }

    /// Proposes a call, passes its action id to `queued`, and waits for the decision.
    pub(super) async fn ask(
        self,
        asked: Asked,
        stop: CancellationToken,
        queued: impl FnOnce(String),
    ) -> Result<Answer, String> {
        let found = tokio::select! {
            found = self.find() => found?,
            () = stop.cancelled() => return Err("The agent does not wait for this call.".to_owned()),
        };
        let mut caller = self.caller(found, asked.agent, asked.session);
        let recorded = match caller.propose(&asked.call, None).await {
            // The gate may have moved to another address. The equal key prevents a second proposal.
            Err(error) if error.is_away() => {
                self.keep(None);
                let found = self.find().await?;
                caller = self.caller(found, caller.agent, caller.session);
                caller.propose(&asked.call, None).await
            }
            recorded => recorded,
        };
        let action = recorded.map_err(|error| said(&error))?.pending_action_id;
        queued(action.clone());
        caller.answer(&action, asked.limit, &stop).await.map_err(|error| said(&error))
    }

    pub(super) async fn ask_again(
        self,
        action: String,
        limit: Duration,
        stop: CancellationToken,
    ) -> Result<Answer, String> {
        let caller = self.caller(self.find().await?, String::new(), String::new());
        caller.answer(&action, limit, &stop).await.map_err(|error| said(&error))
    }

    pub(super) async fn abandon(self, action: String, why: &'static str) {
        let Ok(found) = self.find().await else { return };
        let caller = self.caller(found, String::new(), String::new());
        noted("a call was not withdrawn", &action, caller.abandon(&action, why).await);
    }

    pub(super) async fn renew(self, action: String, fence: u64) {
        let Ok(found) = self.find().await else { return };
        noted("a lease was not renewed", &action, found.client.renew(&action, fence, LEASE).await);
    }

    pub(super) async fn report(self, action: String, fence: u64, outcome: RunOutcome) {
        let Ok(found) = self.find().await else { return };
        let reported = found.client.report(&action, fence, &outcome, REPORT_LIMIT).await;
        noted("a result was not reported", &action, reported);
    }
}

fn noted(what: &str, action: &str, ended: Result<(), SourceError>) {
    if let Err(error) = ended {
        tracing::warn!(action, %error, why = ?error.why(), "{what}");
    }
}

fn said(error: &SourceError) -> String {
    let why = error.why().map(|why| format!(": {}", sentence(why))).unwrap_or_default();
    format!("This call did not run. The gate {error}{why}.")
}
