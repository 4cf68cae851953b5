//! Reads the package's own router: runs, pauses, events and calls, of dendrux 0.2 and 0.3, with every form of date.

use super::turn::Call;
use super::wire::{bare_call, nameless};
use crate::contract::action::Unreadable;
use crate::contract::fields::Fields;
use crate::domain::{RawJson, Timestamp, Untrusted, json};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) run: String,
    pub(super) status: String,
    pub(super) agent: Option<Untrusted>,
    pub(super) parent: Option<Untrusted>,
    pub(super) created: Option<Timestamp>,
    /// Changes whenever the run moves on. The date alone may not, because dendrux 0.2 keeps whole seconds.
    pub(super) stamp: String,
}

#[derive(Debug)]
pub(super) struct Page {
    pub(super) runs: Vec<Result<Listed, Unreadable>>,
    pub(super) total: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pause {
    pub(super) index: u64,
    pub(super) at: Option<Timestamp>,
    /// Number of the event that resumed the run.
    pub(super) resumed: Option<u64>,
    pub(super) reason: String,
    pub(super) calls: Vec<Call>,
    /// Whether all calls are readable.
    pub(super) whole: bool,
    pub(super) raw: RawJson,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Happened {
    pub(super) index: u64,
    pub(super) kind: Untrusted,
    pub(super) call: Option<String>,
    pub(super) data: RawJson,
    pub(super) at: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CallRun {
    pub(super) call: String,
    pub(super) success: bool,
    pub(super) result: Option<RawJson>,
    pub(super) error: Option<Untrusted>,
    pub(super) at: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) status: Untrusted,
    pub(super) agent: Option<Untrusted>,
    pub(super) parent: Option<Untrusted>,
    pub(super) model: Option<Untrusted>,
    pub(super) said: Option<Untrusted>,
    pub(super) answer: Option<Untrusted>,
    pub(super) error: Option<Untrusted>,
    pub(super) failure: Option<Untrusted>,
    pub(super) created: Option<Timestamp>,
    pub(super) updated: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) role: Untrusted,
    pub(super) text: Untrusted,
    pub(super) at: Option<Timestamp>,
}

pub(super) fn page(text: &str) -> Option<Page> {
    let json::Items { items, beside } = json::items(text, "items")?;
    let runs = items.into_iter().map(|item| listed(item).ok_or_else(|| nameless("it is no run", item)));
    Some(Page { runs: runs.collect(), total: Fields::new(beside).number("total") })
}

fn listed(text: &str) -> Option<Listed> {
    let fields = Fields::of(text)?;
    let word = |name| fields.text(name).map(|text| text.as_raw().to_owned());
    let run = word("run_id").filter(|run| !run.is_empty() && !run.contains('/'))?;
    let status = word("status")?;
    let moved = [word("updated_at"), word("iteration_count")].map(Option::unwrap_or_default);
    Some(Listed {
        stamp: format!("{status} {}", moved.join(" ")),
        run,
        status,
        agent: fields.text("agent_name"),
        parent: fields.text("parent_run_id"),
        created: fields.time("created_at"),
    })
}

pub(super) fn pauses(text: &str) -> Option<Vec<Pause>> {
    Some(items(text)?.into_iter().filter_map(pause).collect())
}

fn pause(text: &str) -> Option<Pause> {
    let fields = Fields::of(text)?;
    let pending = fields.raw("pending_tool_calls").and_then(json::elements).unwrap_or_default();
    let count = pending.len();
    let calls: Vec<_> = pending.into_iter().filter_map(|call| bare_call(&Fields::of(call)?)).collect();
    Some(Pause {
        index: fields.number("pause_sequence_index")?,
        at: fields.time("pause_at"),
        resumed: fields.number("resume_sequence_index"),
        reason: fields.text("reason").unwrap_or_default().as_raw().to_owned(),
        whole: calls.len() == count,
        calls,
        raw: RawJson::parse(text).ok()?,
    })
}

pub(super) fn events(text: &str) -> Option<Vec<Happened>> {
    let event = |text: &str| {
        let fields = Fields::of(text)?;
        Some(Happened {
            index: fields.number("sequence_index")?,
            kind: fields.text("event_type")?,
            call: fields.text("correlation_id").map(|call| call.as_raw().to_owned()),
            data: fields.json("data").unwrap_or_else(RawJson::null),
            at: fields.time("created_at"),
        })
    };
    Some(items(text)?.into_iter().filter_map(event).collect())
}

pub(super) fn calls(text: &str) -> Option<Vec<CallRun>> {
    let ran = |text: &str| {
        let fields = Fields::of(text)?;
        Some(CallRun {
            call: fields.text("tool_call_id")?.as_raw().to_owned(),
            success: fields.flag("success")?,
            result: fields.json("result"),
            error: fields.text("error"),
            at: fields.time("created_at"),
        })
    };
    Some(items(text)?.into_iter().filter_map(ran).collect())
}

pub(super) fn run(text: &str) -> Option<Run> {
    let fields = Fields::of(text)?;
    let input = fields.raw("input_data").and_then(Fields::of);
    Some(Run {
        status: fields.text("status")?,
        agent: fields.text("agent_name"),
        parent: fields.text("parent_run_id"),
        model: fields.text("model"),
        said: input.and_then(|input| input.text_or_json("input")),
        answer: fields.text_or_json("answer"),
        error: fields.text_or_json("error"),
        failure: fields.text("failure_reason"),
        created: fields.time("created_at"),
        updated: fields.time("updated_at"),
    })
}

pub(super) fn conversation(text: &str) -> Option<Vec<Message>> {
    let said = |text: &str| {
        let fields = Fields::of(text)?;
        let text = fields.text_or_json("content").filter(|text| !text.is_empty())?;
        Some(Message { role: fields.text("role")?, text, at: fields.time("created_at") })
    };
    Some(items(text)?.into_iter().filter_map(said).collect())
}

fn items(text: &str) -> Option<Vec<&str>> {
    json::items(text, "items").map(|items| items.items)
}

impl Run {
    pub(super) fn is_over(&self) -> bool {
        matches!(self.status.as_raw(), "success" | "error" | "cancelled" | "max_iterations")
    }

    pub(super) fn end(&self) -> Untrusted {
        let why = self.error.as_ref().or(self.failure.as_ref()).map(Untrusted::as_raw);
        match why {
            Some(why) => Untrusted::from(format!("the run ended ({}): {why}", self.status.as_raw())),
            None => Untrusted::from(format!("the run ended ({})", self.status.as_raw())),
        }
    }
}
