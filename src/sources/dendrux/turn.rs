//! A run that waits, at one pause: what it asks, and the actions that come of it.

use std::collections::HashMap;

use super::call_id::CallId;
use crate::contract::tool;
use crate::domain::{Digest, PendingAction, RawJson, Row, Timestamp, Untrusted, json};

/// What a run waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waits {
    Approval,
    /// Somebody must say what a call came to that the server does not run.
    Result,
    /// It asked a question.
    Input,
}

/// Everything that is decided in one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) run: String,
    pub(super) waits: Waits,
    pub(super) pause: u64,
    pub(super) at: Option<Timestamp>,
    pub(super) agent: Option<Untrusted>,
    pub(super) tenant: Option<Untrusted>,
    pub(super) parent: Option<Untrusted>,
    /// What the user asked the agent for.
    pub(super) said: Option<Untrusted>,
    /// Of the agent's developer.
    pub(super) metadata: Option<RawJson>,
    pub(super) calls: Vec<Call>,
    pub(super) question: Option<Question>,
    /// As it came.
    pub(super) raw: RawJson,
}

/// Turns as they were read, by run, with what the list said of the run then.
pub(super) type TurnCache = HashMap<String, (String, Turn)>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: Untrusted,
    pub(super) params: RawJson,
    /// The server does not run it.
    pub(super) client: bool,
    /// It needs a decision.
    pub(super) gated: bool,
    /// Why, where a hook said so.
    pub(super) reason: Option<Untrusted>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Question {
    pub(super) text: Untrusted,
    /// An array, or null.
    pub(super) options: RawJson,
}

impl Waits {
    /// The word for it; anything else is nothing that a reviewer can answer (a run that an operator paused, for one).
    pub(super) fn parse(word: &str) -> Option<Self> {
        match word {
            "waiting_approval" => Some(Self::Approval),
            "waiting_client_tool" => Some(Self::Result),
            "waiting_human_input" => Some(Self::Input),
            _ => None,
        }
    }

    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Approval => "waiting_approval",
            Self::Result => "waiting_client_tool",
            Self::Input => "waiting_human_input",
        }
    }
}

impl Turn {
    /// The calls that somebody has to decide or to answer.
    pub(super) fn open(&self) -> impl Iterator<Item = &Call> {
        let all = self.waits == Waits::Result;
        self.calls.iter().filter(move |call| self.waits != Waits::Input && (all || call.gated))
    }

    /// The calls that are held with them, and need nobody.
    pub(super) fn held(&self) -> impl Iterator<Item = &Call> {
        self.calls.iter().filter(|call| self.waits == Waits::Approval && !call.gated)
    }

    /// How many actions it is.
    pub(super) fn len(&self) -> usize {
        if self.waits == Waits::Input { 1 } else { self.open().count() }
    }

    pub(super) fn place(&self, call: Option<&Call>) -> CallId {
        CallId { run: self.run.clone(), pause: self.pause, call: call.map(|call| call.id.clone()) }
    }

    /// What a decision is bound to beside the call itself: the pause, and everything else that is decided or runs with it.
    fn terms(&self) -> Digest {
        let pause = self.pause.to_string();
        let mut fields = vec![Some(self.run.as_str()), Some(&pause), Some(self.waits.word())];
        for call in &self.calls {
            let target = if call.client { "client" } else { "server" };
            let gated = if call.gated { "gated" } else { "free" };
            fields.extend([&call.id, call.name.as_raw(), call.params.as_str(), target, gated].map(Some));
        }
        fields.push(self.question.as_ref().map(|question| question.text.as_raw()));
        Digest::of_fields("dendrux", fields)
    }

    /// Its actions, as they wait.
    pub(super) fn actions(&self) -> Vec<PendingAction> {
        match self.waits {
            Waits::Input => vec![self.asked()],
            Waits::Approval | Waits::Result => self.open().map(|call| self.action(call)).collect(),
        }
    }

    /// One call of it, decided or not.
    pub(super) fn action(&self, call: &Call) -> PendingAction {
        let known = tool::definition(call.name.as_raw());
        let title = known.title(call.name.as_raw(), call.params.as_str());
        let input = match self.waits {
            // A form has a place for the result then, and what was called stands beside it.
            Waits::Result => object(&[("call", call.params.as_str()), ("result", "null")]),
            Waits::Approval | Waits::Input => call.params.clone(),
        };
        let mut action = self.sketch(&self.place(Some(call)), call.name.clone(), title.into(), input);
        action.row.risk.clone_from(&known.risk);
        action.row.effect.clone_from(&known.effect);
        action.summary.clone_from(&call.reason);
        action.tool_call = Some(Untrusted::from(call.id.as_str()));
        action
    }

    /// What it asks.
    pub(super) fn asked(&self) -> PendingAction {
        let text = self.question.as_ref().map(|question| question.text.clone());
        let encoded = text.as_ref().map_or_else(|| "null".to_owned(), |text| json::encode(text.as_raw()));
        let options = self.question.as_ref().map_or("null", |question| question.options.as_str());
        // A text: what is typed into its form needs no quotes.
        let input = object(&[("question", &encoded), ("options", options), ("answer", "\"\"")]);
        let title = text.map(|text| text.as_raw().chars().take(tool::TITLE_MAX).collect::<String>());
        let title =
            title.filter(|title| !title.trim().is_empty()).unwrap_or_else(|| "the agent asks".to_owned());
        self.sketch(&self.place(None), Untrusted::from("question"), title.into(), input)
    }

    fn sketch(&self, place: &CallId, tool: Untrusted, title: Untrusted, input: RawJson) -> PendingAction {
        let known = tool::definition(tool.as_raw());
        let row = Row {
            batch: Some(place.batch()),
            run: Some(Untrusted::from(self.run.as_str())),
            agent: self.agent.clone(),
            risk: known.risk.clone(),
            created_at: self.at.unwrap_or_default(),
            ..Row::new(place.id(), tool, title)
        };
        PendingAction { terms: Some(self.terms()), ..PendingAction::new(row, input, self.raw.clone()) }
    }
}

/// Of values that are JSON already.
fn object(members: &[(&str, &str)]) -> RawJson {
    let members: Vec<_> =
        members.iter().map(|(key, value)| format!("{}:{value}", json::encode(key))).collect();
    RawJson::parse(format!("{{{}}}", members.join(","))).unwrap_or_else(|_| RawJson::null())
}
