//! Decisions in the words of either road. What a reviewer filled in travels byte for byte up to the socket.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;

use super::call_id::CallId;
use super::client::Road;
use super::turn::{Turn, Waits};
use crate::domain::{Decision, Item, Untrusted, json};

/// All decisions on one turn.
pub(super) struct Parcel<'a> {
    pub(super) turn: &'a Turn,
    pub(super) items: &'a [Item],
    /// Who decides.
    pub(super) by: Option<&'a Untrusted>,
}

/// What dendrux writes for a rejection without a reason.
pub(super) const DECLINED: &str = "User declined to run this tool.";

type Wrong = &'static str;

#[derive(Serialize)]
struct Verdict<'a> {
    approved: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

/// What is sent. An owner's route knows `approved`, `rejection_reason` and `text`; the rest is for a bridge.
#[derive(Default, Serialize)]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    approved: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rejection_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pause: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decisions: Option<BTreeMap<String, Verdict<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    results: Option<Vec<CallResult<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decided_by: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// What a client's call came to. The bridge takes the value, the package's own form a text that holds it as JSON, and the name.
#[derive(Serialize)]
struct CallResult<'a> {
    call_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    payload: Box<RawValue>,
    success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

/// The body to send, or why these decisions cannot be.
pub(super) fn of(parcel: &Parcel<'_>, road: &Road) -> Result<String, Wrong> {
    match (parcel.turn.waits, road) {
        (Waits::Approval, Road::Bridge(report)) if report.decisions => parcel.each(road, report.notes),
        (Waits::Approval, _) => parcel.whole(road),
        (Waits::Result, _) => parcel.results(road),
        (Waits::Input, _) => parcel.answer(road),
    }
}

impl<'a> Parcel<'a> {
    /// What only a bridge is told: at which pause the turn is, and who decides.
    fn body(&self, road: &Road) -> Body<'a> {
        let is_bridge = matches!(road, Road::Bridge(_));
        Body {
            pause: is_bridge.then_some(self.turn.pause),
            decided_by: self.by.map(Untrusted::as_raw).filter(|_| is_bridge),
            ..Body::default()
        }
    }

    fn each(&self, road: &Road, notes: bool) -> Result<String, Wrong> {
        let mut decisions = BTreeMap::new();
        let mut comments: Vec<&str> = Vec::new();
        for item in self.items {
            let (approved, reason) = verdict(item)?;
            if let Decision::Approve { comment: Some(comment), .. } = &item.decision {
                comments.push(comment);
            }
            decisions.insert(call_of(item)?, Verdict { approved, reason });
        }
        comments.dedup();
        let note = Some(comments.join("\n")).filter(|note| notes && !note.trim().is_empty());
        text(&Body { decisions: Some(decisions), note, ..self.body(road) })
    }

    fn whole(&self, road: &Road) -> Result<String, Wrong> {
        let first = self.items.first().ok_or("nothing is decided")?;
        let (approved, reason) = verdict(first)?;
        if self.items.iter().any(|item| item.decision != first.decision) {
            return Err("one decision stands for the whole turn, and these differ");
        }
        text(&Body { approved: Some(approved), rejection_reason: reason, ..self.body(road) })
    }

    fn results(&self, road: &Road) -> Result<String, Wrong> {
        let plain = matches!(road, Road::Plain);
        let mut results = Vec::new();
        for item in self.items {
            let (payload, success, error) = if item.kind().approves() {
                (filled_in(item, "result")?, true, None)
            } else if item.kind().rejects() {
                let reason = item.decision.said().unwrap_or(DECLINED);
                (json::encode(reason), false, Some(reason))
            } else {
                return Err(UNTAKEN);
            };
            let payload = if plain { json::encode(&payload) } else { payload };
            let payload = serde_json::from_str(&payload).map_err(|_| NO_JSON)?;
            let name = plain.then(|| item.tool.as_raw());
            results.push(CallResult { call_id: call_of(item)?, name, payload, success, error });
        }
        if plain {
            return text(&results);
        }
        text(&Body { results: Some(results), ..self.body(road) })
    }

    fn answer(&self, road: &Road) -> Result<String, Wrong> {
        let [item] = self.items else { return Err("a question takes one answer") };
        let answer = filled_in(item, "answer")?;
        let decoded = json::decode(&answer);
        if decoded.lossy {
            return Err("the answer holds half a character");
        }
        text(&Body { text: Some(decoded.text.into_owned()), ..self.body(road) })
    }
}

const UNTAKEN: Wrong = "dendrux takes approvals and rejections only";
const NO_JSON: Wrong = "what was filled in is no JSON that a backend could read";

fn verdict(item: &Item) -> Result<(bool, Option<&str>), Wrong> {
    match &item.decision {
        Decision::Approve { edits: None, .. } => Ok((true, None)),
        Decision::Approve { edits: Some(_), .. } => Err("dendrux runs a call as it was proposed: no edits"),
        Decision::Reject { reason } => Ok((false, reason.as_deref())),
        _ => Err(UNTAKEN),
    }
}

/// The value of the one member that may be edited.
fn filled_in(item: &Item, name: &str) -> Result<String, Wrong> {
    let edits = item.decision.edits().ok_or("it asks for an answer, and none was filled in")?;
    if edits.keys().iter().any(|key| key != name) {
        return Err("only the answer can be filled in; nothing else of it can be changed");
    }
    let value = edits.as_json().member(name).filter(|value| *value != "null");
    value.map(str::to_owned).ok_or("it asks for an answer, and none was filled in")
}

fn call_of(item: &Item) -> Result<String, Wrong> {
    CallId::of(&item.id).and_then(|place| place.call).ok_or("it is no call")
}

fn text(body: &impl Serialize) -> Result<String, Wrong> {
    serde_json::to_string(body).map_err(|_| NO_JSON)
}
