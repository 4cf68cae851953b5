//! Reads the engine's replies tolerantly: payloads keep their exact bytes, and an unreadable item does not hide others.

use std::ops::Range;

use super::step_id::StepId;
use crate::contract::action::Unreadable;
use crate::contract::fields::Fields;
use crate::domain::{
    ActionId, Digest, Effect, PendingAction, RawJson, Row, Status, Timestamp, Untrusted, json,
};

/// placet's code in `error_details`, and the engine's code for a rejection without one.
pub(super) const REJECTED: &str = "REVIEWER_REJECTED";
const REJECTED_BY_DEFAULT: &str = "HUMAN_REJECTED";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The output is held before it merges.
    Reason,
    /// The arguments are held before they run.
    Commit,
}

#[derive(Clone, Debug)]
pub(super) struct WaitingStep {
    pub(super) action: PendingAction,
    pub(super) place: StepId,
    pub(super) kind: Kind,
    /// Changes with every retry.
    pub(super) started: String,
    pub(super) step_id: Untrusted,
    pub(super) is_first: bool,
    envelope: Option<Envelope>,
    facts: Option<RawJson>,
}

/// The payload of a reason step: `{"data", "facts"?}`.
#[derive(Clone, Debug)]
struct Envelope {
    text: RawJson,
    /// Byte range of the value of `data`.
    data: Range<usize>,
}

/// The details of a step in any status.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) place: StepId,
    pub(super) kind: Kind,
    pub(super) status: Untrusted,
    pub(super) started_at: Option<Timestamp>,
    pub(super) ended_at: Option<Timestamp>,
    pub(super) arguments: Option<RawJson>,
    pub(super) output: Option<RawJson>,
    pub(super) failure: Failure,
    pub(super) retried: Option<Retried>,
    id: Untrusted,
    name: Untrusted,
    worker: Option<Untrusted>,
    raw: RawJson,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) code: Option<Untrusted>,
    pub(super) message: Option<Untrusted>,
    /// The documented member for a reviewer's reason.
    pub(super) reason: Option<Untrusted>,
    pub(super) tool: Option<Untrusted>,
    /// The mark of a rejection, which identifies its sender.
    pub(super) mark: Option<Untrusted>,
}

/// `_hitl_retry` among the resolved arguments, present after the first retry of a reason step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Retried {
    pub(super) attempt: Option<u64>,
    pub(super) most: Option<u64>,
    pub(super) guidance: Option<Untrusted>,
}

impl Retried {
    fn read(arguments: &RawJson) -> Option<Self> {
        let retried = Fields::of(arguments.member("_hitl_retry")?)?;
        Some(Self {
            attempt: retried.number("attempt"),
            most: retried.number("maxRetries"),
            guidance: retried.text("guidance"),
        })
    }

    pub(super) fn is_spent(&self) -> bool {
        self.attempt.zip(self.most).is_some_and(|(attempt, most)| attempt >= most)
    }
}

impl Failure {
    /// Returns whether a reviewer rejected the step. A crash, a broken schema and a policy have their own codes.
    pub(super) fn is_rejection(&self) -> bool {
        match self.code.as_ref().map(Untrusted::as_raw) {
            Some(code) => [REJECTED, REJECTED_BY_DEFAULT].contains(&code),
            None => self.reason.is_some(),
        }
    }

    fn read(fields: &Fields<'_>) -> Self {
        let Some(details) = fields.raw("errorDetails").and_then(Fields::of) else { return Self::default() };
        let message = ["message", "msg", "error", "detail"];
        Self {
            code: details.text("code"),
            message: message.into_iter().find_map(|name| details.text(name)),
            reason: details.text("reason"),
            tool: details.text("tool"),
            mark: details.text("ref"),
        }
    }
}

impl WaitingStep {
    /// Returns whether its data can be replaced: it is an object in an envelope.
    pub(super) fn can_be_edited(&self) -> bool {
        self.envelope.is_some() && self.action.input.members().is_some()
    }

    /// Returns the envelope with other data. All other bytes stay, above all the facts, because later steps read them.
    pub(super) fn with_data(&self, data: &RawJson) -> Option<String> {
        let Envelope { text, data: at } = self.envelope.as_ref()?;
        let (before, after) = (text.as_str().get(..at.start)?, text.as_str().get(at.end..)?);
        Some(format!("{before}{}{after}", data.as_str()))
    }

    pub(super) fn facts(&self) -> Option<RawJson> {
        self.facts.clone()
    }

    pub(super) fn read(text: &str) -> Result<Self, Unreadable> {
        let fields = Fields::of(text);
        let place = fields.as_ref().and_then(place);
        let id = place.as_ref().map(StepId::id);
        let bad = |what| Unreadable::under(id.clone(), what, text.into());
        let fields = fields.ok_or_else(|| bad("it is no JSON object"))?;
        let place = place.clone().ok_or_else(|| bad("it does not say which step of which run it is"))?;
        let payload = fields.json("reviewPayload").ok_or_else(|| bad("it has no review_payload"))?;
        let kind = match fields.text("stepKind").as_ref().map(Untrusted::as_raw) {
            Some("reason") => Kind::Reason,
            Some("commit") => Kind::Commit,
            _ => return Err(bad("it is neither a reason step nor a commit step")),
        };
        let envelope = match kind {
            Kind::Reason => envelope(&payload).map_err(bad)?,
            Kind::Commit => None,
        };
        let input = match &envelope {
            Some(Envelope { text, data }) => {
                let data = text.as_str().get(data.clone()).unwrap_or_default();
                RawJson::parse(data).map_err(|_| bad("its data is no valid JSON"))?
            }
            None => payload,
        };
        let facts = envelope.as_ref().and_then(|envelope| envelope.text.member("facts"));
        let facts = facts.filter(|facts| *facts != "null").and_then(|facts| RawJson::parse(facts).ok());
        let started = fields.text("startedAt").unwrap_or_default().as_raw().to_owned();
        let (step_id, name) = named(&fields);
        let is_first = fields.number("orderIndex") == Some(0);
        let terms = terms(&fields, &started, envelope.as_ref());
        let row = row(&place, kind, &name, &fields);
        let raw = RawJson::parse(text).map_err(|_| bad("it is no valid JSON"))?;
        let action = PendingAction { terms: Some(terms), ..PendingAction::new(row, input, raw) };
        Ok(Self { action, place, kind, started, step_id, is_first, envelope, facts })
    }
}

impl Step {
    /// Reads a step's details; `None` if they are not those of the given step.
    pub(super) fn read(text: &str, asked: &StepId) -> Option<Self> {
        let fields = Fields::of(text)?;
        let place = place(&fields).filter(|place| place == asked)?;
        let (id, name) = named(&fields);
        let arguments = fields.json("resolvedArguments");
        let retried = arguments.as_ref().and_then(Retried::read);
        let commit = fields.text("stepKind").is_some_and(|kind| kind.as_raw() == "commit");
        Some(Self {
            kind: if commit { Kind::Commit } else { Kind::Reason },
            status: fields.text("status")?,
            started_at: fields.time("startedAt"),
            ended_at: fields.time("endTime"),
            arguments,
            output: fields.json("outputPayload"),
            failure: Failure::read(&fields),
            retried,
            worker: worker(&fields),
            raw: RawJson::parse(text).ok()?,
            place,
            id,
            name,
        })
    }

    pub(super) fn step_id(&self) -> &Untrusted {
        &self.id
    }

    pub(super) fn prompt(&self) -> Option<Untrusted> {
        Fields::of(self.raw.as_str())?.text("promptRef")
    }

    pub(super) fn details(&self) -> Option<RawJson> {
        Fields::of(self.raw.as_str())?.json("errorDetails")
    }

    /// Returns the action of the step. `input` is what was seen of it, if known, because the engine forgets a rejected
    /// output.
    pub(super) fn action(&self, input: Option<RawJson>, status: Status) -> PendingAction {
        let output = self.output.as_ref().and_then(|output| RawJson::parse(output.member("data")?).ok());
        let given = match self.kind {
            Kind::Commit => self.arguments.clone(),
            Kind::Reason => output,
        };
        let input = input.or(given).unwrap_or_else(RawJson::null);
        let fields = Fields::of(self.raw.as_str()).unwrap_or_default();
        let row = row(&self.place, self.kind, &self.name, &fields);
        let row = Row { status, agent: self.worker.clone(), resolved_at: self.ended_at, ..row };
        let result = self.output.clone();
        PendingAction { result, ..PendingAction::new(row, input, self.raw.clone()) }
    }
}

pub(super) fn failure(raw: &RawJson) -> Option<Failure> {
    Some(Failure::read(&Fields::of(raw.as_str())?))
}

pub(super) fn retried(raw: &RawJson) -> Option<Retried> {
    Retried::read(&Fields::of(raw.as_str())?.json("resolvedArguments")?)
}

fn place(fields: &Fields<'_>) -> Option<StepId> {
    let text = |name| fields.text(name);
    let namespace = text("namespace").unwrap_or_else(|| "default".into());
    StepId::new(namespace.as_raw(), text("sagaTraceId")?.as_raw(), text("stepSpanId")?.as_raw())
}

/// Returns the step's id in its definition, and its name.
fn named(fields: &Fields<'_>) -> (Untrusted, Untrusted) {
    let id = fields.text("stepId").or_else(|| fields.text("stepSpanId")).unwrap_or_default();
    let name = fields.text("stepName").filter(|name| !name.is_empty()).unwrap_or_else(|| id.clone());
    (id, name)
}

fn worker(fields: &Fields<'_>) -> Option<Untrusted> {
    let worker = fields.text("worker")?;
    Some(match fields.text("workerVersion") {
        Some(version) => Untrusted::from(format!("{}@{}", worker.as_raw(), version.as_raw())),
        None => worker,
    })
}

/// Returns `None` for a payload without an envelope, which is shown as it is and cannot be edited.
fn envelope(payload: &RawJson) -> Result<Option<Envelope>, &'static str> {
    let Some(members) = payload.members() else { return Ok(None) };
    let mut named = members.iter().filter(|member| member.key.text == "data");
    let Some(data) = named.next() else { return Ok(None) };
    let facts = members.iter().filter(|member| member.key.text == "facts").count();
    if named.next().is_some() || facts > 1 {
        return Err("its envelope has data or facts twice");
    }
    Ok(Some(Envelope { data: data.span.clone(), text: payload.clone() }))
}

/// Returns the digest of what a decision is bound to besides the input: the holding of the step, everything around the
/// data, and the worker that continues.
fn terms(fields: &Fields<'_>, started: &str, envelope: Option<&Envelope>) -> Digest {
    let around = envelope.and_then(|Envelope { text, data }| {
        Some((text.as_str().get(..data.start)?, text.as_str().get(data.end..)?))
    });
    let worker = worker(fields);
    Digest::of_fields(
        "warden",
        [
            Some(started),
            fields.raw("stepKind"),
            fields.raw("stepId"),
            worker.as_ref().map(Untrusted::as_raw),
            around.map(|(before, _)| before),
            around.map(|(_, after)| after),
        ],
    )
}

fn row(place: &StepId, kind: Kind, name: &Untrusted, fields: &Fields<'_>) -> Row {
    Row {
        workspace: Some(place.namespace.as_str().into()),
        run: Some(place.trace.as_str().into()),
        agent: worker(fields),
        effect: (kind == Kind::Commit).then_some(Effect::Write),
        created_at: fields.time("startedAt").unwrap_or_default(),
        ..Row::new(place.id(), name.clone(), name.clone())
    }
}

pub(super) const AWAITING: &str = "AWAITING_HUMAN";

/// The engine's maximum page size.
pub(super) const PAGE: usize = 100;
pub(super) const PAGE_WORD: &str = "100";

#[derive(Debug)]
pub(super) struct Page {
    pub(super) items: Vec<String>,
    /// Number of items on a full page.
    pub(super) limit: usize,
    /// Whether more follow; only newer engines say so.
    pub(super) more: Option<bool>,
}

pub(super) fn page(text: &str, asked: usize) -> Option<Page> {
    let json::Items { items, beside } = json::items(text, "items")?;
    let fields = Fields::new(beside);
    let limit = fields.number("limit").and_then(|limit| usize::try_from(limit).ok());
    Some(Page {
        items: items.into_iter().map(str::to_owned).collect(),
        limit: limit.filter(|limit| (1..asked).contains(limit)).unwrap_or(asked),
        more: fields.flag("hasMore"),
    })
}

/// Returns a mark that identifies one decision of one submission. A rejection carries it, and the engine uses it to run
/// a repeated retry once.
pub(super) fn mark(key: &str, id: &ActionId) -> String {
    let digest = Digest::of_fields("warden mark", [Some(key), Some(id.as_raw())]).to_string();
    format!("placet-{}", digest.get(7..39).unwrap_or_default())
}
