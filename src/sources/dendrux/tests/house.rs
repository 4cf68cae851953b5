//! The records of a fake application, as dendrux keeps them: runs, events, rows of calls.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::domain::Timestamp;

/// The version of dendrux, and whether it has the bridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sources) enum Kind {
    /// 0.4 with the bridge.
    Bridge,
    /// 0.2 with the bridge.
    OldBridge,
    /// 0.4 with routes written by an owner.
    Plain,
    /// 0.2 with routes written by an owner.
    OldPlain,
}

impl Kind {
    pub(super) const fn old(self) -> bool {
        matches!(self, Self::OldBridge | Self::OldPlain)
    }

    pub(super) const fn bridge(self) -> bool {
        matches!(self, Self::Bridge | Self::OldBridge)
    }
}

#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: &'static str,
    pub(super) params: String,
    pub(super) gated: bool,
    pub(super) client: bool,
    pub(super) reason: Option<&'static str>,
}

pub(super) fn gated(name: &'static str, params: &str) -> Call {
    Call { id: String::new(), name, params: params.to_owned(), gated: true, client: false, reason: None }
}

pub(super) fn free(name: &'static str) -> Call {
    Call { gated: false, ..gated(name, r#"{"part":"nut"}"#) }
}

pub(super) fn client(name: &'static str) -> Call {
    Call { client: true, ..free(name) }
}

#[derive(Debug)]
pub(super) struct Event {
    pub(super) kind: &'static str,
    pub(super) call: Option<String>,
    pub(super) data: Value,
}

#[derive(Debug)]
pub(super) struct Row {
    pub(super) call: String,
    pub(super) success: bool,
    pub(super) result: Value,
    pub(super) error: Option<String>,
}

#[derive(Debug, Default)]
pub(super) struct Run {
    pub(super) id: String,
    pub(super) status: String,
    /// The calls of the waiting turn.
    pub(super) calls: Vec<Call>,
    pub(super) question: Option<&'static str>,
    /// Event index of each pause, with its calls.
    pub(super) pauses: Vec<(usize, Vec<Call>)>,
    pub(super) events: Vec<Event>,
    pub(super) rows: Vec<Row>,
    pub(super) failure: Option<&'static str>,
    pub(super) date: Option<&'static str>,
    /// Date of its events, if not in May.
    pub(super) since: Option<Timestamp>,
    /// An unknown member, preceded by a comma.
    pub(super) odd: &'static str,
    pub(super) broken: bool,
    pub(super) taken: usize,
    pub(super) said: Option<String>,
    pub(super) ran: Vec<String>,
    pub(super) decided: Vec<Value>,
    /// Whether a claimed run waits to be continued.
    pub(super) held: bool,
    pub(super) left: Vec<Call>,
}

pub(super) enum Verdicts {
    Each(BTreeMap<String, (bool, Option<String>)>),
    Whole(bool, Option<String>),
}

impl Run {
    pub(super) fn happens(&mut self, kind: &'static str, call: Option<&str>, data: Value) {
        self.events.push(Event { kind, call: call.map(str::to_owned), data });
    }

    pub(super) fn waits(&mut self, status: &str, calls: Vec<Call>) {
        for call in calls.iter().filter(|call| call.gated && status == "waiting_approval") {
            let reason = call.reason.unwrap_or("requires_approval");
            let data = json!({"tool_name": call.name, "call_id": call.id, "reason": reason});
            self.happens("approval.requested", Some(&call.id), data);
        }
        self.pauses.push((self.events.len(), calls.clone()));
        self.happens("run.paused", None, json!({"status": status}));
        self.status = status.to_owned();
        self.calls = calls;
    }

    pub(super) fn pause(&self) -> usize {
        self.pauses.last().map_or(0, |(index, _)| *index)
    }

    fn completed(&mut self, call: &Call, success: bool, result: Value, error: Option<String>) {
        self.happens("tool.completed", Some(&call.id), json!({"tool_name": call.name, "success": success}));
        self.rows.push(Row { call: call.id.clone(), success, result, error });
    }

    fn runs(&mut self, call: &Call) {
        self.ran.push(format!("{} {}", call.name, call.params));
        if call.params.contains("out of stock") {
            self.completed(call, false, json!("out of stock"), Some("out of stock".to_owned()));
        } else {
            self.completed(call, true, json!(format!("{} done", call.name)), None);
        }
    }

    /// Applies a winning decision like this version.
    pub(super) fn decide(&mut self, verdicts: &Verdicts, old: bool) {
        self.taken += 1;
        let calls = std::mem::take(&mut self.calls);
        self.status = "running".to_owned();
        let denied = |call: &Call| match verdicts {
            Verdicts::Whole(true, _) => None,
            Verdicts::Whole(false, reason) => Some(reason.clone()),
            Verdicts::Each(each) => {
                each.get(&call.id).filter(|(yes, _)| !yes).map(|(_, reason)| reason.clone())
            }
        };
        if let Verdicts::Whole(false, _) = verdicts {
            let given = |call: &Call| json!({"call_id": call.id, "name": call.name, "success": false});
            let given: Vec<_> = calls.iter().map(given).collect();
            self.happens("run.resumed", None, json!({"submitted_results": given}));
        } else {
            self.happens("run.resumed", None, json!({}));
        }
        let mut each = Vec::new();
        for call in &calls {
            let word = match denied(call) {
                Some(reason) => {
                    let reason = reason.unwrap_or_else(|| "User declined to run this tool.".to_owned());
                    self.said = Some(reason.clone());
                    let whole = matches!(verdicts, Verdicts::Whole(..));
                    let result = if whole { json!(reason) } else { json!({"denied": reason}) };
                    self.completed(call, false, result, Some(reason));
                    "denied"
                }
                None if call.client && !old => {
                    self.left.push(call.clone());
                    "client_pending"
                }
                None => {
                    self.runs(call);
                    if call.gated { "approved" } else { "not_gated_executed" }
                }
            };
            each.push(
                json!({"call_id": call.id, "tool_name": call.name, "decision": word, "reason": self.said}),
            );
        }
        match (old, verdicts) {
            (true, Verdicts::Whole(false, _)) => {}
            (true, _) => self.happens("approval.decided", None, json!({"decision": "approved"})),
            (false, _) => {
                self.happens("approval.decided", None, json!({"decision": "mixed", "decisions": each}));
            }
        }
        if !self.held {
            self.goes_on();
        }
    }

    /// Continues a claimed run to its next pause or its end.
    pub(super) fn goes_on(&mut self) {
        let left = std::mem::take(&mut self.left);
        if left.is_empty() {
            self.happens("run.completed", None, json!({"status": "success"}));
            self.status = "success".to_owned();
        } else {
            self.waits("waiting_client_tool", left);
        }
    }

    pub(super) fn give(&mut self, results: &[(String, String, bool, Option<String>)]) {
        self.taken += 1;
        let calls = std::mem::take(&mut self.calls);
        let given: Vec<_> =
            results.iter().map(|(id, _, ok, _)| json!({"call_id": id, "success": ok})).collect();
        self.happens("run.resumed", None, json!({"submitted_results": given}));
        for (id, payload, ok, error) in results {
            let call = calls.iter().find(|call| call.id == *id).unwrap();
            self.ran.push(format!("{} = {payload}", call.name));
            self.completed(call, *ok, serde_json::from_str(payload).unwrap(), error.clone());
        }
        self.goes_on();
    }

    pub(super) fn answer(&mut self, text: &str) {
        self.taken += 1;
        self.happens("run.resumed", None, json!({"user_input": text}));
        self.ran.push(format!("answer {text}"));
        self.goes_on();
    }

    pub(super) fn ends(&mut self, status: &str, failure: Option<&'static str>) {
        let event = if failure.is_some() { "run.abandoned" } else { "run.cancelled" };
        self.happens(event, None, json!({}));
        self.status = status.to_owned();
        self.failure = failure;
    }
}
