//! Derives the state of a call from the run's records, always by the call's own id: a run that ends well does not prove
//! anything about its calls.

use super::log::{CallRun, Happened, Pause, Run};
use super::turn::Waits;
use crate::contract::fields::Fields;
use crate::domain::{DecisionKind, RawJson, Status, Timestamp, Untrusted, json};

/// Everything read of a run from one of its pauses on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record<'a> {
    pub(super) run: &'a Run,
    pub(super) pause: &'a Pause,
    /// Events after the pause, in order.
    pub(super) events: &'a [Happened],
    pub(super) ran: &'a [CallRun],
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CallStatus {
    pub(super) status: Status,
    pub(super) result: Option<RawJson>,
    pub(super) error: Option<Untrusted>,
    pub(super) reason: Option<Untrusted>,
    /// When the call was decided.
    pub(super) at: Option<Timestamp>,
}

enum CallDecision {
    Approved,
    Denied(Option<Untrusted>),
    Unsaid,
}

impl Record<'_> {
    /// Returns the state of a call; `None` if it was decided, but the decision is not recorded yet. `ours` is what this
    /// inbox sent, if it is known to have won the turn.
    pub(super) fn fate(&self, call: Option<&str>, ours: Option<DecisionKind>) -> Option<CallStatus> {
        let Some(resumed) = self.turn().iter().find(|event| is(event, "run.resumed")) else {
            return self.undecided(ours);
        };
        let fate = match (Waits::parse(&self.pause.reason), call) {
            (Some(Waits::Input), _) => Some(answered(resumed)),
            (Some(Waits::Result), Some(call)) => self.given(resumed, call),
            (_, Some(call)) => self.decided(resumed, call),
            (_, None) => None,
        };
        let fate = fate.or_else(|| self.untold(ours))?;
        Some(CallStatus { at: fate.at.or(resumed.at), ..fate })
    }

    pub(super) fn went_on(&self) -> Option<Timestamp> {
        let resumed = self.turn().iter().find(|event| is(event, "run.resumed"));
        resumed.and_then(|event| event.at).or(self.run.updated)
    }

    fn turn(&self) -> &[Happened] {
        let end = self.events.iter().position(|event| is(event, "run.paused"));
        self.events.get(..end.unwrap_or(self.events.len())).unwrap_or_default()
    }

    /// Returns the state of a call whose run did not continue.
    fn undecided(&self, ours: Option<DecisionKind>) -> Option<CallStatus> {
        let run = self.run;
        let end =
            |status| Some(CallStatus { error: Some(run.end()), at: run.updated, ..CallStatus::of(status) });
        let abandoned = run.failure.as_ref().is_some_and(|word| word.as_raw() == "abandoned_waiting");
        match run.status.as_raw() {
            word if Waits::parse(word).is_some() && ours.is_none() => Some(CallStatus::of(Status::Pending)),
            "cancelled" => end(Status::Withdrawn),
            _ if abandoned => end(Status::Expired),
            "running" | "paused" => self.untold(ours),
            word if Waits::parse(word).is_some() => self.untold(ours),
            // It ended, or has a status that placet does not know. Either way it no longer waits.
            _ => end(Status::Other(run.status.clone())),
        }
    }

    /// Returns the state of a call whose decision is not in the records.
    fn untold(&self, ours: Option<DecisionKind>) -> Option<CallStatus> {
        match ours {
            Some(DecisionKind::Reject) => Some(CallStatus::of(Status::Rejected)),
            _ if self.run.is_over() => {
                Some(CallStatus { error: Some(self.run.end()), ..CallStatus::of(Status::Unknown) })
            }
            Some(_) => Some(CallStatus::of(Status::Running)),
            None => None,
        }
    }

    fn decided(&self, resumed: &Happened, call: &str) -> Option<CallStatus> {
        let row = self.row(call);
        let refused = |reason: Option<Untrusted>| {
            let reason = reason.or_else(|| row.and_then(|row| row.error.clone()));
            Some(CallStatus { reason, ..CallStatus::of(Status::Rejected) })
        };
        match self.word(call) {
            CallDecision::Denied(reason) => refused(reason),
            CallDecision::Approved => Some(self.completed(call).unwrap_or_else(|| self.not_yet())),
            // dendrux before 0.3 records a rejection only by the results that it makes up.
            CallDecision::Unsaid if submitted(resumed, call) == Some(false) => refused(None),
            CallDecision::Unsaid if row.is_some_and(denied) => refused(None),
            // A failed result may be that of a denied call until the event is there.
            CallDecision::Unsaid => {
                self.completed(call).filter(|fate| fate.status == Status::Executed || self.has_gone_on())
            }
        }
    }

    /// Returns whether the turn's results and decision are recorded completely.
    fn has_gone_on(&self) -> bool {
        let later = |event: &Happened| is(event, "llm.completed") || is(event, "run.paused");
        self.run.is_over() || self.events.iter().any(later)
    }

    fn given(&self, resumed: &Happened, call: &str) -> Option<CallStatus> {
        let row = self.row(call);
        let success = submitted(resumed, call).or_else(|| self.success(call))?;
        Some(if success {
            CallStatus { result: row.and_then(|row| row.result.clone()), ..CallStatus::of(Status::Executed) }
        } else {
            CallStatus { reason: row.and_then(|row| row.error.clone()), ..CallStatus::of(Status::Rejected) }
        })
    }

    /// Reads the decision from `approval.decided`, which is written once all calls of the turn have run.
    fn word(&self, call: &str) -> CallDecision {
        let Some(event) = self.turn().iter().find(|event| is(event, "approval.decided")) else {
            return CallDecision::Unsaid;
        };
        let Some(fields) = Fields::of(event.data.as_str()) else { return CallDecision::Unsaid };
        let each = fields.raw("decisions").and_then(json::elements).unwrap_or_default();
        let mut each = each.into_iter().filter_map(Fields::of);
        let own = each.find(|one| one.text("call_id").is_some_and(|id| id.as_raw() == call));
        // Before 0.3 there is one decision for all calls.
        let said = own.as_ref().unwrap_or(&fields);
        match said.text("decision").as_ref().map_or("", Untrusted::as_raw) {
            "approved" | "not_gated_executed" | "client_pending" => CallDecision::Approved,
            "denied" | "rejected" => CallDecision::Denied(said.text("reason")),
            _ => CallDecision::Unsaid,
        }
    }

    /// Returns the result of a call; `None` if it has not run. A client's call runs in a later turn.
    fn completed(&self, call: &str) -> Option<CallStatus> {
        let (success, row) = (self.success(call)?, self.row(call));
        let at = row.and_then(|row| row.at);
        Some(if success {
            CallStatus {
                result: row.and_then(|row| row.result.clone()),
                at,
                ..CallStatus::of(Status::Executed)
            }
        } else {
            let error = row.and_then(|row| row.error.clone());
            CallStatus {
                error: Some(error.unwrap_or_else(|| "it failed".into())),
                at,
                ..CallStatus::of(Status::Failed)
            }
        })
    }

    /// Returns the state of an approved call that has not run according to the records.
    fn not_yet(&self) -> CallStatus {
        if !self.run.is_over() {
            return CallStatus::of(Status::Running);
        }
        let why = format!("it was approved, but nothing says that it ran: {}", self.run.end().as_raw());
        CallStatus { error: Some(why.into()), ..CallStatus::of(Status::Failed) }
    }

    fn success(&self, call: &str) -> Option<bool> {
        let mine = |event: &&Happened| is(event, "tool.completed") && event.call.as_deref() == Some(call);
        let event = self.events.iter().find(mine)?;
        Fields::of(event.data.as_str())?.flag("success")
    }

    fn row(&self, call: &str) -> Option<&CallRun> {
        self.ran.iter().find(|ran| ran.call == call)
    }
}

impl CallStatus {
    pub(super) fn of(status: Status) -> Self {
        Self { status, result: None, error: None, reason: None, at: None }
    }
}

fn is(event: &Happened, kind: &str) -> bool {
    event.kind.as_raw() == kind
}

/// Returns the success of the result with which the run resumed; `None` if there is none for this call.
fn submitted(resumed: &Happened, call: &str) -> Option<bool> {
    let results = json::elements(Fields::of(resumed.data.as_str())?.raw("submitted_results")?)?;
    let mut results = results.into_iter().filter_map(Fields::of);
    results.find(|one| one.text("call_id").is_some_and(|id| id.as_raw() == call))?.flag("success")
}

/// Returns whether the row holds the result that dendrux makes up for a denied call.
fn denied(row: &CallRun) -> bool {
    let denied = |result: &RawJson| Fields::of(result.as_str()).is_some_and(|it| it.raw("denied").is_some());
    !row.success && row.result.as_ref().is_some_and(denied)
}

fn answered(resumed: &Happened) -> CallStatus {
    let result = Fields::of(resumed.data.as_str()).and_then(|data| data.json("user_input"));
    CallStatus { result, ..CallStatus::of(Status::Executed) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::dendrux::log;

    /// A run of two gated calls, C1 and C2, paused by event 4. `events` follow the pause; `ran` holds the rows of its
    /// calls.
    fn fate(status: &str, call: &str, events: &[String], ran: &str) -> Option<CallStatus> {
        told(r#""status":"#, status, call, events, ran, None)
    }

    fn told(
        head: &str,
        status: &str,
        call: &str,
        events: &[String],
        ran: &str,
        ours: Option<DecisionKind>,
    ) -> Option<CallStatus> {
        let pause =
            r#"{"items":[{"pause_sequence_index":4,"reason":"waiting_approval","pending_tool_calls":[]}]}"#;
        let pause = log::pauses(pause).unwrap().remove(0);
        let events = log::events(&format!(r#"{{"items":[{}]}}"#, events.join(","))).unwrap();
        let ran = log::calls(&format!(r#"{{"items":[{ran}]}}"#)).unwrap();
        let run = log::run(&format!(r#"{{{head}"{status}"}}"#)).unwrap();
        Record { run: &run, pause: &pause, events: &events, ran: &ran }.fate(Some(call), ours)
    }

    fn event(index: u64, kind: &str, call: Option<&str>, data: &str) -> String {
        let call = call.map_or("null".to_owned(), |call| format!("\"{call}\""));
        format!(r#"{{"sequence_index":{index},"event_type":"{kind}","correlation_id":{call},"data":{data}}}"#)
    }

    fn resumed(data: &str) -> String {
        event(5, "run.resumed", None, data)
    }

    fn completed(index: u64, call: &str, success: bool) -> String {
        event(index, "tool.completed", Some(call), &format!(r#"{{"success":{success}}}"#))
    }

    const DENIED: &str =
        r#"{"tool_call_id":"C2","success":false,"result":{"denied":"too dear"},"error":"too dear"}"#;

    #[test]
    fn successful_run_does_not_prove_an_approval() {
        let mixed = r#"{"decision":"mixed","decisions":[{"call_id":"C1","decision":"approved"},
            {"call_id":"C2","decision":"denied","reason":"too dear"}]}"#;
        let events = [
            resumed("{}"),
            completed(6, "C1", true),
            completed(7, "C2", false),
            event(8, "approval.decided", None, mixed),
            event(9, "run.completed", None, "{}"),
        ];
        let one =
            fate("success", "C1", &events, r#"{"tool_call_id":"C1","success":true,"result":"7 bolts"}"#);
        let two = fate("success", "C2", &events, DENIED).unwrap();

        let one = one.unwrap();
        assert_eq!(
            (one.status, one.result.map(|it| it.as_str().to_owned())),
            (Status::Executed, Some("\"7 bolts\"".into()))
        );
        assert_eq!((two.status, two.reason), (Status::Rejected, Some("too dear".into())));
        assert_eq!(
            fate("success", "C3", &events, "").unwrap().status,
            Status::Unknown,
            "nothing is written of it"
        );
    }

    #[test]
    fn dendrux_0_2_rejection_is_recognised_by_made_up_results() {
        let made_up =
            r#"{"submitted_results":[{"call_id":"C1","success":false},{"call_id":"C2","success":false}]}"#;
        let events = [resumed(made_up), completed(6, "C1", false), event(9, "run.completed", None, "{}")];
        let row = r#"{"tool_call_id":"C1","success":false,"result":"\"no\"","error":"no"}"#;

        let rejected = fate("success", "C1", &events, row).unwrap();

        assert_eq!((rejected.status, rejected.reason), (Status::Rejected, Some("no".into())));
        assert_eq!(fate("running", "C2", &events[..1], "").unwrap().status, Status::Rejected);
    }

    #[test]
    fn a_call_that_failed_is_approved_and_failed() {
        let row =
            r#"{"tool_call_id":"C1","success":false,"result":"\"out of bolts\"","error":"out of bolts"}"#;
        let approved = event(7, "approval.decided", None, r#"{"decision":"approved"}"#);
        let went_on = event(7, "llm.completed", None, "{}");
        let events = [resumed("{}"), completed(6, "C1", false)];

        for last in [approved, went_on] {
            let failed = fate("running", "C1", &[&events[..], &[last]].concat(), row).unwrap();
            assert_eq!((failed.status, failed.error), (Status::Failed, Some("out of bolts".into())));
        }
        // The row exists before any event names the decision.
        let denied = fate("running", "C2", &[resumed("{}"), completed(6, "C2", false)], DENIED).unwrap();
        assert_eq!(denied.status, Status::Rejected);
    }

    #[test]
    fn failed_result_before_the_decision_event_is_undecided() {
        let denied =
            event(7, "approval.decided", None, r#"{"decisions":[{"call_id":"C1","decision":"denied"}]}"#);
        let events = [resumed("{}"), completed(6, "C1", false), denied];

        // The row may have been read too early to be there.
        assert_eq!(fate("running", "C1", &events[..2], ""), None);
        assert_eq!(fate("running", "C1", &events, "").unwrap().status, Status::Rejected);
    }

    #[test]
    fn unrecorded_decision_is_known_only_if_ours() {
        use DecisionKind as D;
        let status = |word, events: &[String], ours| {
            told(r#""status":"#, word, "C1", events, "", ours).map(|fate| fate.status)
        };
        for events in [&[][..], &[resumed("{}")]] {
            assert_eq!(status("running", events, None), None);
            assert_eq!(status("running", events, Some(D::Approve)), Some(Status::Running));
            assert_eq!(status("running", events, Some(D::Reject)), Some(Status::Rejected));
        }
        assert_eq!(status("success", &[resumed("{}")], None), Some(Status::Unknown));
        assert_eq!(status("waiting_approval", &[], None), Some(Status::Pending));
    }

    #[test]
    fn a_run_that_ended_while_it_waited_was_never_decided() {
        let cancelled = event(5, "run.cancelled", None, "{}");
        assert_eq!(fate("cancelled", "C1", &[cancelled], "").unwrap().status, Status::Withdrawn);
        let abandoned = r#""failure_reason":"abandoned_waiting","status":"#;
        let events = [event(5, "run.abandoned", None, "{}")];
        assert_eq!(told(abandoned, "error", "C1", &events, "", None).unwrap().status, Status::Expired);
        assert_eq!(fate("error", "C1", &[], "").unwrap().status, Status::Other("error".into()));
    }

    #[test]
    fn a_clients_call_that_was_approved_runs_turns_later() {
        let decided = r#"{"decisions":[{"call_id":"C1","decision":"client_pending"}]}"#;
        let mut events = vec![
            resumed("{}"),
            event(6, "approval.decided", None, decided),
            event(7, "run.paused", None, "{}"),
            event(8, "run.resumed", None, r#"{"submitted_results":[{"call_id":"C1","success":true}]}"#),
        ];
        assert_eq!(fate("waiting_client_tool", "C1", &events, "").unwrap().status, Status::Running);
        events.push(completed(9, "C1", true));
        assert_eq!(fate("success", "C1", &events, "").unwrap().status, Status::Executed);
    }
}
