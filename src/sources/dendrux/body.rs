//! Bodies of decisions for both routes. Values that a reviewer filled in are passed on byte for byte.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;

use super::call_id::CallId;
use super::client::Road;
use super::turn::{Turn, Waits};
use crate::domain::{Decision, Item, Untrusted, json};

pub(super) struct Parcel<'a> {
    pub(super) turn: &'a Turn,
    pub(super) items: &'a [Item],
    pub(super) by: Option<&'a Untrusted>,
}

/// dendrux's text for a rejection without a reason.
pub(super) const DECLINED: &str = "User declined to run this tool.";

type Wrong = &'static str;

#[derive(Serialize)]
struct Verdict<'a> {
    approved: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

/// A request body. An owner's route knows `approved`, `rejection_reason` and `text`; the rest is for a bridge.
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

/// The result of a client's call. A bridge takes the value and the name; the package's own route takes the value as a
/// JSON text.
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

pub(super) fn of(parcel: &Parcel<'_>, road: &Road) -> Result<String, Wrong> {
    match (parcel.turn.waits, road) {
        (Waits::Approval, Road::Bridge(report)) if report.decisions => parcel.each(road, report.notes),
        (Waits::Approval, _) => parcel.whole(road),
        (Waits::Result, _) => parcel.results(road),
        (Waits::Input, _) => parcel.answer(road),
    }
}

impl<'a> Parcel<'a> {
    /// Fills in the pause and the reviewer, which only a bridge takes.
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

/// Returns the value of the one member that may be edited.
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
