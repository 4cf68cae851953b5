//! A turn: one pause of a run, what it asks, and its actions.

use std::collections::HashMap;

use super::call_id::CallId;
use crate::contract::tool;
use crate::domain::{Digest, PendingAction, RawJson, Row, Timestamp, Untrusted, json};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waits {
    Approval,
    /// The result of a call that the server does not run.
    Result,
    /// The answer to a question.
    Input,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) run: String,
    pub(super) waits: Waits,
    pub(super) pause: u64,
    pub(super) at: Option<Timestamp>,
    pub(super) agent: Option<Untrusted>,
    pub(super) tenant: Option<Untrusted>,
    pub(super) parent: Option<Untrusted>,
    /// The user's request to the agent.
    pub(super) said: Option<Untrusted>,
    /// Set by the agent's developer.
    pub(super) metadata: Option<RawJson>,
    pub(super) calls: Vec<Call>,
    pub(super) question: Option<Question>,
    pub(super) raw: RawJson,
}

/// Turns by run, each with the `stamp` of the run at the time.
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
    /// Why it does, if a hook gave a reason.
    pub(super) reason: Option<Untrusted>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Question {
    pub(super) text: Untrusted,
    /// An array, or null.
    pub(super) options: RawJson,
}

impl Waits {
    /// Parses a status. A reviewer cannot end any other wait, such as a pause by an operator.
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
    pub(super) fn open(&self) -> impl Iterator<Item = &Call> {
        let all = self.waits == Waits::Result;
        self.calls.iter().filter(move |call| self.waits != Waits::Input && (all || call.gated))
    }

    /// Returns the calls that are held with them without needing a decision.
    pub(super) fn held(&self) -> impl Iterator<Item = &Call> {
        self.calls.iter().filter(|call| self.waits == Waits::Approval && !call.gated)
    }

    pub(super) fn len(&self) -> usize {
        if self.waits == Waits::Input { 1 } else { self.open().count() }
    }

    pub(super) fn place(&self, call: Option<&Call>) -> CallId {
        CallId { run: self.run.clone(), pause: self.pause, call: call.map(|call| call.id.clone()) }
    }

    /// Returns the digest of what a decision is bound to besides its call: the pause, and everything that is decided or
    /// runs with it.
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

    pub(super) fn actions(&self) -> Vec<PendingAction> {
        match self.waits {
            Waits::Input => vec![self.asked()],
            Waits::Approval | Waits::Result => self.open().map(|call| self.action(call)).collect(),
        }
    }

    pub(super) fn action(&self, call: &Call) -> PendingAction {
        let known = tool::definition(call.name.as_raw());
        let title = known.title(call.name.as_raw(), call.params.as_str());
        let brief = known.brief(call.name.as_raw(), &title, call.params.as_str());
        let input = match self.waits {
            // The form needs a place for the result.
            Waits::Result => object(&[("call", call.params.as_str()), ("result", "null")]),
            Waits::Approval | Waits::Input => call.params.clone(),
        };
        let mut action = self.sketch(&self.place(Some(call)), call.name.clone(), title.into(), input);
        action.row.brief = brief;
        action.row.risk.clone_from(&known.risk);
        action.row.effect.clone_from(&known.effect);
        action.summary.clone_from(&call.reason);
        action.tool_call = Some(Untrusted::from(call.id.as_str()));
        action
    }

    pub(super) fn asked(&self) -> PendingAction {
        let text = self.question.as_ref().map(|question| question.text.clone());
        let encoded = text.as_ref().map_or_else(|| "null".to_owned(), |text| json::encode(text.as_raw()));
        let options = self.question.as_ref().map_or("null", |question| question.options.as_str());
        // A string, so that an answer can be typed without quotes.
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

fn object(members: &[(&str, &str)]) -> RawJson {
    let members: Vec<_> =
        members.iter().map(|(key, value)| format!("{}:{value}", json::encode(key))).collect();
    RawJson::parse(format!("{{{}}}", members.join(","))).unwrap_or_else(|_| RawJson::null())
}
