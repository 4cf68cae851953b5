//! Proposes an agent's tool call, waits for the decision and claims the approved call.

use std::time::{Duration, Instant};

use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use crate::contract::propose::{Propose, Queued, short_id};
use crate::contract::tool_result::ToolResult;
use crate::domain::{Digest, PendingAction, Status, Untrusted};
use crate::sources::{AgentClient, Claim, RunOutcome, SourceError, Until};

/// Lease of a claimed call. A call that runs longer must renew it.
pub const LEASE: Duration = Duration::from_hours(1);
/// Pause between attempts to claim while the gate is paused.
const PAUSED: Duration = Duration::from_secs(2);
/// Time limit for reporting an abandoned call as failed.
const ABANDONED: Duration = Duration::from_secs(30);

/// An agent in one session.
#[derive(Clone, Debug)]
pub struct Caller {
    pub client: AgentClient,
    /// The name shown to reviewers. It has no version because it is part of every idempotency key.
    pub agent: String,
    pub session: String,
    pub workspace: String,
    pub mission: Option<String>,
}

#[derive(Debug)]
pub struct ToolCall {
    pub tool: String,
    /// The agent's id of the call. Calls with equal id, tool and input in one session are one call.
    pub id: String,
    /// A JSON object, byte for byte.
    pub input: Box<RawValue>,
    /// The target's present state, under the input's keys.
    pub before: Option<Box<RawValue>>,
    pub summary: Option<String>,
}

#[derive(Debug)]
pub enum Answer {
    /// The caller must run it now, with this input.
    Run {
        fence: u64,
        input: Box<RawValue>,
        /// A reviewer changed the input.
        edited: bool,
    },
    /// `why` is a full sentence for the model, `status` the action's.
    Denied { why: String, status: Status },
    /// Undecided, or the gate is paused.
    Waiting,
}

impl Caller {
    /// Proposes the call. A repeated call returns the existing action, even after it ran. The proposal expires after
    /// `limit`, in case the waiting process is killed before it can withdraw it.
    pub async fn propose(&self, call: &ToolCall, limit: Option<Duration>) -> Result<Queued, SourceError> {
        let proposal = Propose {
            tool_name: call.tool.clone(),
            tool_input: call.input.clone(),
            before: call.before.clone(),
            summary: call.summary.clone(),
            workspace_id: Some(self.workspace.clone()),
            mission_id: self.mission.clone(),
            session_id: Some(self.session.clone()),
            tool_call_id: Some(call.id.clone()),
            agent: Some(self.agent.clone()),
            ttl_seconds: limit.map(|limit| limit.as_secs()),
            ..Propose::default()
        };
        self.client.propose_under(&proposal, self.key(call)).await
    }

    /// Waits up to `limit` for the decision and claims an approved call. May be called again after [`Answer::Waiting`],
    /// which it also returns when `stop` is cancelled. A claim already being made is finished, because a lost claim
    /// would be a lost run.
    pub async fn answer(
        &self,
        id: &str,
        limit: Duration,
        stop: &CancellationToken,
    ) -> Result<Answer, SourceError> {
        let started = Instant::now();
        let action = tokio::select! {
            action = self.client.wait_until(id, Until::Decided, limit) => action?,
            () = stop.cancelled() => return Ok(Answer::Waiting),
        };
        if action.row.status != Status::Approved {
            return Ok(without_running(&action));
        }
        loop {
            match self.client.claim(id, LEASE).await? {
                Claim::Taken(claimed) => {
                    let edited = claimed.tool_input.get() != action.input.as_str();
                    return Ok(Answer::Run { fence: claimed.fence, input: claimed.tool_input, edited });
                }
                Claim::Paused if started.elapsed() < limit && !stop.is_cancelled() => {
                    tokio::time::sleep(PAUSED).await;
                }
                Claim::Paused => return Ok(Answer::Waiting),
                Claim::Refused(why) => {
                    let why = format!("This call was not started: {}.", sentence(&why));
                    return Ok(Answer::Denied { why, status: action.row.status });
                }
            }
        }
    }

    /// Withdraws a call. If it was approved meanwhile, claims it and reports it as failed with the reason `why`. Leaves
    /// a running call alone.
    pub async fn abandon(&self, id: &str, why: &str) -> Result<(), SourceError> {
        match self.client.withdraw(id).await {
            Err(SourceError::Refused { .. }) => {}
            ended => return ended,
        }
        if let Claim::Taken(claimed) = self.client.claim(id, LEASE).await? {
            let failed = RunOutcome::Error(why.to_owned());
            self.client.report(id, claimed.fence, &failed, ABANDONED).await?;
        }
        Ok(())
    }

    fn key(&self, call: &ToolCall) -> String {
        key_of([&self.agent, &self.session, &call.id, &call.tool, call.input.get()])
    }
}

/// Hashes agent, session, call id, tool and exact input. The Python client (`placet/gate.py`) must compute the same
/// key; both use session and call id in their sent, shortened form.
fn key_of([agent, session, id, tool, input]: [&str; 5]) -> String {
    let (session, id) = (short_id(session), short_id(id));
    Digest::of_fields("placet-call/v1", [agent, &session, &id, tool, input].map(Some)).to_string()
}

fn without_running(action: &PendingAction) -> Answer {
    let denied = |why: String| Answer::Denied { why, status: action.row.status.clone() };
    match &action.row.status {
        Status::Pending => Answer::Waiting,
        Status::Executed => {
            let result = ToolResult::of(action).map(|result| result.content).unwrap_or_default();
            denied(format!("This call ran already and was not run again. Its result: {result}"))
        }
        Status::Running | Status::Approved => {
            denied("This call is being run already and was not started again.".to_owned())
        }
        Status::Unknown => denied(
            "This call was started before and nobody knows whether it ran. It was not run again. Ask a human to check it."
                .to_owned(),
        ),
        Status::Failed => {
            let error = action.error.as_ref().map_or("no reason was given", Untrusted::as_raw);
            denied(format!("This call ran already and failed: {error}"))
        }
        _ => {
            let told = ToolResult::of(action).map(|result| result.content);
            denied(told.unwrap_or_else(|| "This call did not run.".to_owned()))
        }
    }
}

pub(super) fn sentence(why: &Untrusted) -> &str {
    let why = why.as_raw().trim();
    why.strip_suffix('.').unwrap_or(why)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Case {
        agent: String,
        session: String,
        call_id: String,
        tool: String,
        input: String,
        key: String,
    }

    #[test]
    fn keys_equal_those_of_every_client() {
        let cases = include_str!("../../tests/fixtures/call_keys.json");
        let cases: Vec<Case> = serde_json::from_str(cases).unwrap();
        assert!(cases.len() > 2);
        for case in cases {
            let fields = [&case.agent, &case.session, &case.call_id, &case.tool, &case.input];
            assert_eq!(key_of(fields.map(String::as_str)), case.key);
        }
    }
}
