//! Tracks gated calls from request to report, and the client requests that wait for them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::agent::LEASE;

use super::answers::{self, Outcome};
use super::line::{self, Message, RequestId};

/// Interval of progress notifications. opencode (1.18.33) gives up after 60 s without one.
const PROGRESS: Duration = Duration::from_secs(5);
const RENEW: Duration = Duration::from_secs(LEASE.as_secs() / 4);
/// Time for a server to answer a cancelled call; most never do.
const CANCEL_GRACE: Duration = Duration::from_secs(30);
const KEPT: usize = 64;
/// Longest outcome to keep, in bytes.
const KEPT_MAX: usize = 1 << 20;

/// Identifies a call within this process.
pub(super) type Ticket = u64;

#[derive(Debug)]
pub(super) struct Call {
    /// The client's request, as JSON.
    pub(super) line: String,
    /// Token of the server's progress notifications.
    pub(super) token: Option<RequestId>,
    pub(super) action: Option<String>,
    pub(super) stage: Stage,
    pub(super) waiters: Vec<Waiter>,
    /// Why it must no longer run.
    pub(super) dropped: Option<&'static str>,
    /// The client knows the action id and must ask for the outcome.
    pub(super) parked: bool,
}

#[derive(Debug)]
pub(super) enum Stage {
    /// Waits until the server has been asked for its name and tools.
    Held,
    /// Being proposed, awaited or claimed.
    Asked,
    /// Idle until the client asks for the outcome.
    Parked,
    Running(Run),
    Over(Outcome),
}

#[derive(Debug)]
pub(super) struct Run {
    pub(super) fence: u64,
    pub(super) upstream: RequestId,
    /// The input if a reviewer changed it.
    pub(super) ran_with: Option<String>,
    pub(super) cancelled: Option<Instant>,
    renewed: Instant,
}

/// A client request without an answer yet.
#[derive(Debug)]
pub(super) struct Waiter {
    pub(super) request: RequestId,
    /// The request's id as JSON.
    pub(super) id: String,
    /// The request follows MCP 2026-07-28 or later.
    pub(super) is_new: bool,
    token: Option<String>,
    since: Instant,
    /// The last progress number that placet sent.
    told: u64,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Due {
    Progress(String),
    Renew {
        action: String,
        fence: u64,
    },
    /// Cancelled, and the server did not report its end.
    Lost(Ticket),
}

impl Run {
    pub(super) fn new(fence: u64, upstream: RequestId, ran_with: Option<String>, now: Instant) -> Self {
        Self { fence, upstream, ran_with, cancelled: None, renewed: now }
    }
}

impl Waiter {
    pub(super) fn new(message: &Message<'_>, request: RequestId, id: &str, now: Instant) -> Self {
        let token = message.progress_token().map(str::to_owned);
        Self { request, id: id.to_owned(), is_new: message.is_new(), token, since: now, told: 0 }
    }

    /// Rewrites the server's progress for this client. Adds the count that placet already sent, so that progress never decreases.
    fn carried(&self, progress: &Message<'_>) -> Option<String> {
        let mut params = progress.raw("params")?.to_owned();
        params = line::with_member(&params, "progressToken", self.token.as_ref()?)?;
        for key in ["progress", "total"].into_iter().filter(|_| self.told > 0) {
            if let Some(sum) = progress.param(key).and_then(|number| added(number, self.told)) {
                params = line::with_member(&params, key, &sum)?;
            }
        }
        line::with_member(progress.text, "params", &params)
    }

    fn progress(&mut self, action: Option<&str>, now: Instant) -> Option<Due> {
        let rounds = now.saturating_duration_since(self.since).as_secs() / PROGRESS.as_secs();
        let token = self.token.as_ref().filter(|_| rounds > self.told)?;
        self.told = rounds;
        let said = action.map_or_else(|| "Looking for the gate.".to_owned(), answers::waiting);
        Some(Due::Progress(answers::progress(token, rounds, &said)))
    }
}

fn added(number: &str, told: u64) -> Option<String> {
    if let Ok(whole) = number.parse::<u64>() {
        return Some(whole.saturating_add(told).to_string());
    }
    #[expect(clippy::cast_precision_loss, reason = "it counts steps of five seconds")]
    let sum = number.parse::<f64>().ok()? + told as f64;
    sum.is_finite().then(|| sum.to_string())
}

#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: BTreeMap<Ticket, Call>,
    next: Ticket,
}

impl Calls {
    pub(super) fn add(&mut self, line: String, waiter: Waiter) -> Ticket {
        let ticket = self.next;
        self.next += 1;
        let token = waiter.token.as_deref().and_then(RequestId::read);
        let (stage, waiters) = (Stage::Held, vec![waiter]);
        let call = Call { line, token, action: None, stage, waiters, dropped: None, parked: false };
        self.calls.insert(ticket, call);
        ticket
    }

    pub(super) fn get(&mut self, ticket: Ticket) -> Option<&mut Call> {
        self.calls.get_mut(&ticket)
    }

    pub(super) fn remove(&mut self, ticket: Ticket) {
        self.calls.remove(&ticket);
    }

    pub(super) fn tickets(&self) -> Vec<Ticket> {
        self.calls.keys().copied().collect()
    }

    pub(super) fn parked_as(&self, action: &str) -> Option<Ticket> {
        let mut parked = self.calls.iter().filter(|(_, call)| call.parked);
        parked.find(|(_, call)| call.action.as_deref() == Some(action)).map(|(ticket, _)| *ticket)
    }

    pub(super) fn waited_for_by(&self, request: &RequestId) -> Option<Ticket> {
        let waits = |call: &Call| call.waiters.iter().any(|waiter| waiter.request == *request);
        self.calls.iter().find(|(_, call)| waits(call)).map(|(ticket, _)| *ticket)
    }

    pub(super) fn held(&self) -> Vec<Ticket> {
        let held = self.calls.iter().filter(|(_, call)| matches!(call.stage, Stage::Held));
        held.map(|(ticket, _)| *ticket).collect()
    }

    pub(super) fn running(&self, is: impl Fn(&RequestId) -> bool) -> Option<Ticket> {
        let runs = |call: &Call| matches!(&call.stage, Stage::Running(run) if is(&run.upstream));
        self.calls.iter().find(|(_, call)| runs(call)).map(|(ticket, _)| *ticket)
    }

    /// Returns the server's progress notification for each waiting client request. `None` if it belongs to no running
    /// call.
    pub(super) fn carried(&self, progress: &Message<'_>) -> Option<Vec<String>> {
        let token = progress.param("progressToken").and_then(RequestId::read)?;
        let runs =
            |call: &&Call| matches!(call.stage, Stage::Running(_)) && call.token.as_ref() == Some(&token);
        let call = self.calls.values().find(runs)?;
        Some(call.waiters.iter().filter_map(|waiter| waiter.carried(progress)).collect())
    }

    /// Finishes a call. A parked call keeps its outcome for later questions; above the limit the oldest is dropped.
    pub(super) fn finish(&mut self, ticket: Ticket, outcome: Outcome) {
        let Some(call) = self.calls.get_mut(&ticket) else { return };
        if !call.parked {
            self.calls.remove(&ticket);
            return;
        }
        call.stage = Stage::Over(outcome.shortened(KEPT_MAX));
        let over = |call: &Call| matches!(call.stage, Stage::Over(_));
        let kept: Vec<_> = self.calls.iter().filter(|(_, call)| over(call)).map(|(at, _)| *at).collect();
        for oldest in kept.iter().take(kept.len().saturating_sub(KEPT)) {
            self.calls.remove(oldest);
        }
    }

    pub(super) fn is_busy(&self) -> bool {
        self.calls.values().any(|call| matches!(call.stage, Stage::Asked | Stage::Running(_)))
    }

    pub(super) fn due(&mut self, now: Instant) -> Vec<Due> {
        let mut due = Vec::new();
        for (ticket, call) in &mut self.calls {
            let action = call.action.as_deref();
            match &mut call.stage {
                Stage::Asked => {
                    due.extend(call.waiters.iter_mut().filter_map(|waiter| waiter.progress(action, now)));
                }
                Stage::Running(run) => {
                    let lost = |at| now.saturating_duration_since(at) >= CANCEL_GRACE;
                    if run.cancelled.is_some_and(lost) {
                        due.push(Due::Lost(*ticket));
                    } else if now.saturating_duration_since(run.renewed) >= RENEW {
                        run.renewed = now;
                        let action = action.unwrap_or_default().to_owned();
                        due.push(Due::Renew { action, fence: run.fence });
                    }
                }
                Stage::Held | Stage::Parked | Stage::Over(_) => {}
            }
        }
        due
    }
}
