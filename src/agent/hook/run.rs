//! Takes a hook's call through the gate, and reports its result.

use std::fs;
use std::io;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::event::{HookCall, Ran};
use super::notes::{Claimed, Deferred, Notes};
use super::reply::Reply;
use super::{before as file, defer};
use crate::agent::call::{Answer, Caller, ToolCall};
use crate::agent::outcome;
use crate::domain::{Status, time};
use crate::sources::{AgentClient, RunOutcome, SourceError};
use crate::text;

/// Extra time, on top of the wait, for finding the gate, proposing, claiming and withdrawing. The hook ends by itself after that.
pub const GRACE: Duration = Duration::from_mins(4);
/// Time limit for reporting a result. Clients wait longer.
pub(super) const REPORT_LIMIT: Duration = Duration::from_mins(1);
/// Claude Code writes a call into its transcript within this time.
const TRANSCRIPT_LIMIT: Duration = Duration::from_secs(3);
const TRANSCRIPT_LOOK: Duration = Duration::from_millis(50);

#[derive(Clone, Copy, Debug)]
pub struct HookWait {
    /// Limit for waiting for a decision. After it, the proposal is withdrawn and the call denied.
    pub limit: Duration,
    /// Answer `defer` if the client obeys it: the session ends and is resumed after the decision.
    pub defer: bool,
}

/// Why a call does not run, or its result did not reach the gate. A full sentence.
#[derive(Debug, thiserror::Error)]
pub enum HookError {
    #[error("The gate {}. The call did not run.", told(.0))]
    Gate(SourceError),
    #[error("The hook was stopped before anybody decided. The call did not run.")]
    Stopped,
    #[error("The claim of the call cannot be kept: {0}. The call did not run.")]
    Note(io::Error),
    #[error("The answer cannot be written: {0}. The call did not run.")]
    Answer(#[from] serde_json::Error),
    #[error("This call ran without placet: no approval of it is known here. Tell a human.")]
    NotClaimed,
    #[error(
        "Something else ran than what was approved: another hook changed the input, or allowed the call. Stop, and tell a human.{}",
        .0.as_ref().map(|error| format!(" The gate could not be told: it {}.", told(error))).unwrap_or_default()
    )]
    RanOther(Option<SourceError>),
    #[error("The gate did not take the result: it {}. The call ran.", told(.0))]
    Report(SourceError),
}

fn told(error: &SourceError) -> String {
    let why = error.why().map(|why| format!(": {}", text::line(why).plain())).unwrap_or_default();
    let told = format!("{error}{why}");
    told.trim_end_matches('.').to_owned()
}

/// Proposes the call and returns the answer to print. Withdraws the proposal if `stopped` ends first.
pub async fn before(
    call: &HookCall,
    caller: &Caller,
    notes: &Notes,
    wait: HookWait,
    stopped: impl Future<Output = ()>,
) -> Result<String, HookError> {
    let deferred = notes.deferred(call);
    let defers = wait.defer && call.client.can_defer && is_alone(call).await;
    // The proposal must expire by itself in case this process is killed.
    let limit = (!defers && deferred.is_none()).then(|| wait.limit.saturating_add(GRACE));
    let tool_call = ToolCall {
        tool: call.tool.clone(),
        id: call.id_or_random(),
        input: call.input.clone(),
        before: match &deferred {
            Some((_, deferred)) => deferred.before.clone(),
            None => file::before(call),
        },
        summary: None,
    };
    let id = caller.propose(&tool_call, limit).await.map_err(HookError::Gate)?.pending_action_id;
    let patience = if defers { Duration::ZERO } else { wait.limit };
    let answer = unless_stopped(caller, &id, patience, stopped).await?;
    let reply = match answer {
        Answer::Waiting if defers => {
            let kept = Deferred {
                session: call.session.clone(),
                folder: call.folder.clone(),
                action: id,
                tool: call.tool.clone(),
                before: tool_call.before,
            };
            notes.defer(call, &kept).map_err(HookError::Note)?;
            return Ok(Reply::Defer.json(call.client)?);
        }
        Answer::Waiting => taken_back(caller, &id, wait.limit).await?,
        decided => decided,
    };
    let json = answered(call, caller, notes, &id, reply).await?;
    if let Some((path, _)) = deferred {
        // Decided calls need no resuming. A file that cannot be deleted is swept later.
        drop(fs::remove_file(path));
    }
    Ok(json)
}

/// Waits for the answer. If `stopped` ends first, withdraws the call, or reports it as failed if a claim succeeded.
async fn unless_stopped(
    caller: &Caller,
    id: &str,
    patience: Duration,
    stopped: impl Future<Output = ()>,
) -> Result<Answer, HookError> {
    let stop = CancellationToken::new();
    let mut answering = std::pin::pin!(caller.answer(id, patience, &stop));
    tokio::select! {
        answer = &mut answering => return answer.map_err(HookError::Gate),
        () = stopped => stop.cancel(),
    }
    let why = HookError::Stopped.to_string();
    // Errors are ignored because proposal and lease expire anyway.
    if let Ok(Answer::Run { fence, .. }) = answering.await {
        drop(caller.client.report(id, fence, &RunOutcome::Error(why), Duration::ZERO).await);
    } else {
        drop(caller.abandon(id, &why).await);
    }
    Err(HookError::Stopped)
}

/// Returns whether Claude Code would obey a `defer` for this call.
async fn is_alone(call: &HookCall) -> bool {
    let started = Instant::now();
    loop {
        match defer::is_alone(call) {
            Some(alone) => return alone,
            None if started.elapsed() >= TRANSCRIPT_LIMIT => return false,
            None => tokio::time::sleep(TRANSCRIPT_LOOK).await,
        }
    }
}

/// Withdraws a call after its time limit, to prevent a later approval. Obeys a decision made at the same moment.
async fn taken_back(caller: &Caller, id: &str, limit: Duration) -> Result<Answer, HookError> {
    match caller.client.withdraw(id).await {
        Ok(()) => {
            let limit = time::seconds(i64::try_from(limit.as_millis()).unwrap_or(i64::MAX));
            let why = format!("Nobody decided within {limit}. The call did not run.");
            Ok(Answer::Denied { why, status: Status::Withdrawn })
        }
        Err(SourceError::Refused { .. }) => {
            let answer = caller.answer(id, Duration::ZERO, &CancellationToken::new()).await;
            match answer.map_err(HookError::Gate)? {
                Answer::Waiting => Ok(Answer::Denied {
                    why: "A human approved this call, but the gate is paused. The call did not run."
                        .to_owned(),
                    status: Status::Approved,
                }),
                decided => Ok(decided),
            }
        }
        Err(error) => Err(HookError::Gate(error)),
    }
}

/// Returns the answer to print. Stores the claim first, because the client may run the call as soon as it reads the
/// answer.
async fn answered(
    call: &HookCall,
    caller: &Caller,
    notes: &Notes,
    id: &str,
    answer: Answer,
) -> Result<String, HookError> {
    match answer {
        Answer::Run { fence, input, edited } => {
            let claimed = Claimed { action: id.to_owned(), fence, input };
            if let Err(error) = notes.claim(call, &claimed) {
                let error = HookError::Note(error);
                let outcome = RunOutcome::Error(error.to_string());
                drop(caller.client.report(id, fence, &outcome, Duration::ZERO).await);
                return Err(error);
            }
            Ok(Reply::Allow { input: &claimed.input, edited }.json(call.client)?)
        }
        Answer::Denied { why, .. } => Ok(Reply::Deny(&why).json(call.client)?),
        Answer::Waiting => Ok(Reply::Deny("Nobody decided. The call did not run.").json(call.client)?),
    }
}

pub fn denied(call: &HookCall, why: &str) -> Result<String, HookError> {
    Ok(Reply::Deny(why).json(call.client)?)
}

/// Reports the result of a call. Returns an error if another input ran than the approved one, because the model sees the error.
pub async fn after(call: &HookCall, ran: Ran, client: &AgentClient, notes: &Notes) -> Result<(), HookError> {
    let Some((path, claimed)) = notes.claimed(call) else {
        return match ran {
            Ran::Response(_) => Err(HookError::NotClaimed),
            // The call was denied or did not start.
            Ran::Failed(_) => Ok(()),
        };
    };
    let outcome = match ran {
        Ran::Response(response) => outcome::ran(&response),
        Ran::Failed(why) => outcome::failed(&why),
    };
    let other = claimed.other(call);
    let reported = client.report_ran(&claimed.action, claimed.fence, (&outcome, other), REPORT_LIMIT).await;
    if reported.is_ok() {
        drop(fs::remove_file(path));
    }
    match (other, reported) {
        (Some(_), reported) => Err(HookError::RanOther(reported.err())),
        (None, reported) => reported.map_err(HookError::Report),
    }
}
