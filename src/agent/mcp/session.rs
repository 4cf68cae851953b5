//! The pure core of the proxy: takes lines, the gate's answers and the time, and returns effects.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use serde_json::value::RawValue;

use crate::agent::{Answer, ToolCall};
use crate::sources::RunOutcome;

use super::answers::{self, INTERNAL, INVALID_PARAMS, INVALID_REQUEST, Outcome, RESULT_TOOL};
use super::calls::{Calls, Due, Run, Stage, Ticket, Waiter};
use super::gate::Asked;
use super::ids::Ids;
use super::line::{self, Line, Message, RequestId, TOOLS_CALL};
use super::lookup::Lookup;
use super::tools::Tools;
use super::wait::Wait;

/// Maximum number of answered requests and spent tokens to remember. opencode (1.18.33) cancels requests after their
/// answer.
const ANSWERED: usize = 256;

/// An effect; effects are performed in order.
#[derive(Debug)]
pub(super) enum Effect {
    /// A line without its line feed.
    ToClient(Vec<u8>),
    ToServer(Vec<u8>),
    /// Find the gate, propose the call, wait for the decision, claim an approved call.
    Ask(Ticket, Asked),
    AskAgain {
        ticket: Ticket,
        action: String,
        limit: Duration,
    },
    /// Stop waiting. A claim already being made is finished.
    StopAsking(Ticket),
    /// Withdraw the call. If it was approved meanwhile, claim it and report it as failed.
    Abandon {
        action: String,
        why: &'static str,
    },
    Renew {
        action: String,
        fence: u64,
    },
    Report {
        action: String,
        fence: u64,
        outcome: RunOutcome,
    },
    /// Show a sentence to the user who configured the server.
    Warn(&'static str),
}

#[derive(Debug)]
pub(super) struct Session {
    tools: Tools,
    wait: Wait,
    /// A random name of this process, at the gate and in own ids.
    id: String,
    ids: Ids,
    /// The name from `initialize`. Since MCP 2026-07-28 each request names its client.
    client: String,
    initialize: Option<RequestId>,
    /// The JSON description that a server of MCP 2026-07-28 gave of itself.
    server: Option<String>,
    /// Pending `tools/list` requests, and whether each is for the first page.
    lists: HashMap<RequestId, bool>,
    lookup: Option<Lookup>,
    has_discovered: bool,
    calls: Calls,
    /// Counter for ids of calls that their client did not name.
    unnamed: u64,
    answered: VecDeque<RequestId>,
    /// Progress tokens of finished calls; their notifications are dropped.
    spent: VecDeque<RequestId>,
    warned: bool,
    server_ended: bool,
    effects: Vec<Effect>,
}

impl Session {
    /// `id` and `number` are random. Own string ids begin with `id`; own integers count from `number`.
    pub(super) fn new(tools: Tools, wait: Wait, id: String, number: u32) -> Self {
        Self {
            tools,
            wait,
            ids: Ids::new(id.clone(), number),
            id,
            client: "mcp".to_owned(),
            initialize: None,
            server: None,
            lists: HashMap::new(),
            lookup: None,
            has_discovered: false,
            calls: Calls::default(),
            unnamed: 0,
            answered: VecDeque::new(),
            spent: VecDeque::new(),
            warned: false,
            server_ended: false,
            effects: Vec::new(),
        }
    }

    pub(super) fn effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    pub(super) fn is_busy(&self) -> bool {
        self.calls.is_busy()
    }

    /// Handles a line of the client, without its line feed.
    pub(super) fn client_said(&mut self, line: &[u8], now: Instant) {
        match line::judge(line) {
            Ok(Line::Blank) => {}
            Ok(Line::One(message)) => self.message(&message, now),
            Ok(Line::Batch(messages)) => self.batch(line, &messages),
            Err(refused) => self.tell_client(answers::error(&refused.id, INVALID_REQUEST, refused.why)),
        }
    }

    /// Refuses a line of the client that is too long. `id` is JSON.
    pub(super) fn client_said_too_much(&mut self, id: &str) {
        self.tell_client(answers::error(id, INVALID_REQUEST, "This line is longer than 16 MiB."));
    }

    fn message(&mut self, message: &Message<'_>, now: Instant) {
        let request = message.request();
        // Own ids cannot be guessed, but a server may have disclosed them.
        if let Some((id, raw)) = &request
            && message.method.is_some()
            && self.ids.is_own(id)
        {
            return self.tell_client(answers::error(raw, INVALID_REQUEST, "This id is placet's own."));
        }
        if let Some(token) = message.progress_token().and_then(RequestId::read) {
            self.spent.retain(|spent| *spent != token);
        }
        match message.method.as_deref() {
            Some(TOOLS_CALL) => return self.tools_call(message, now),
            Some("notifications/cancelled") if self.is_cancelled_here(message, now) => return,
            Some("initialize") => {
                let info = message.param("clientInfo");
                let name = info.and_then(|info| line::member(info, "name")).and_then(line::text);
                self.client = name.unwrap_or_else(|| self.client.clone());
                self.initialize = request.map(|(id, _)| id);
            }
            Some("tools/list") => {
                let is_first = message.param("cursor").is_none_or(|cursor| cursor == "null");
                self.lists.extend(request.map(|(id, _)| (id, is_first)));
            }
            _ => {}
        }
        self.pass(message);
    }

    fn pass(&mut self, message: &Message<'_>) {
        if let Some((id, _)) = message.request().filter(|_| message.method.is_some()) {
            self.ids.passed(&id);
        }
        self.tell_server(message.text);
    }

    /// Passes a batch of messages that placet ignores. Refuses any other batch as a whole.
    fn batch(&mut self, line: &[u8], messages: &[Message<'_>]) {
        let passes = |message: &Message<'_>| match message.method.as_deref() {
            Some(TOOLS_CALL) => self.open_tool(message).is_some(),
            Some("tools/list" | "initialize" | "notifications/cancelled") => false,
            _ => true,
        };
        let has_own_id =
            |message: &Message<'_>| message.request().is_some_and(|(id, _)| self.ids.is_own(&id));
        if messages.iter().all(|message| passes(message) && !has_own_id(message)) {
            return std::str::from_utf8(line).map_or((), |text| self.tell_server(text));
        }
        let why = "placet takes this message only on a line of its own, not in a batch.";
        let requests = messages.iter().filter(|message| message.method.is_some());
        let refused: Vec<_> = requests
            .filter_map(Message::request)
            .map(|(_, id)| answers::error(id, INVALID_REQUEST, why))
            .collect();
        self.tell_client(format!("[{}]", refused.join(",")));
    }

    /// Returns the tool if the call needs no decision.
    fn open_tool(&self, call: &Message<'_>) -> Option<String> {
        let tool = call.param("name").and_then(line::text)?;
        (tool != RESULT_TOOL && !self.tools.is_gated(&tool)).then_some(tool)
    }

    fn tools_call(&mut self, message: &Message<'_>, now: Instant) {
        let id = message.raw("id").filter(|id| RequestId::read(id).is_some()).unwrap_or("null");
        let refuse = |code, why| answers::error(id, code, why);
        let Some(tool) = message.param("name").and_then(line::text) else {
            return self.tell_client(refuse(INVALID_PARAMS, "The name of the tool cannot be read."));
        };
        let request = message.request();
        if request.as_ref().is_some_and(|(request, _)| self.calls.waited_for_by(request).is_some()) {
            return self.tell_client(refuse(INVALID_REQUEST, "A call with this id waits already."));
        }
        if self.open_tool(message).is_some() {
            return self.pass(message);
        }
        let Some((request, id)) = request else {
            return self.tell_client(refuse(INVALID_REQUEST, "The id of a call is a string or an integer."));
        };
        let waiter = Waiter::new(message, request.clone(), id, now);
        let arguments = message.param("arguments").filter(|arguments| *arguments != "null").unwrap_or("{}");
        if tool == RESULT_TOOL {
            return self.outcome_asked(arguments, waiter, self.limit(message));
        }
        if !arguments.starts_with('{') || RawValue::from_string(arguments.to_owned()).is_err() {
            let why =
                "The arguments of a call are a JSON object, without NaN and Infinity. This call did not run.";
            return self.tell_client(refuse(INVALID_PARAMS, why));
        }
        if message.param("inputResponses").or_else(|| message.param("requestState")).is_some() {
            return self.answer(waiter, &Outcome::asked_back());
        }
        let ticket = self.calls.add(message.text.to_owned(), waiter);
        if message.is_new() && (self.tools.is_unlisted(&tool) || self.needs_name()) {
            let lookup = Lookup::of(message, request, self.has_discovered, now);
            // A pending lookup covers this call, too.
            if self.lookup.is_none() {
                self.lookup = Some(lookup);
                self.look_up();
            }
            return;
        }
        self.ask(ticket, message, &tool, arguments);
    }

    fn needs_name(&self) -> bool {
        !self.tools.has_name() && !self.has_discovered
    }

    /// Sends the next question of the lookup, or releases the held calls.
    fn look_up(&mut self) {
        let Some(mut lookup) = self.lookup.take() else { return };
        let needs_list = self.held_tools().iter().any(|(_, tool)| self.tools.is_unlisted(tool));
        let Some(rest) = lookup.next(needs_list, !self.tools.has_name()) else {
            self.has_discovered |= !self.tools.has_name();
            return self.release();
        };
        let id = self.ids.next(&lookup.like);
        self.tell_server(&format!(r#"{{"jsonrpc":"2.0","id":{},{rest}"#, id.written()));
        lookup.request = Some(id);
        self.lookup = Some(lookup);
    }

    fn held_tools(&mut self) -> Vec<(Ticket, String)> {
        let tool = |line: &str| match line::judge(line.as_bytes()) {
            Ok(Line::One(message)) => message.param("name").and_then(line::text),
            _ => None,
        };
        let held = self.calls.held().into_iter();
        held.filter_map(|ticket| Some((ticket, tool(&self.calls.get(ticket)?.line)?))).collect()
    }

    fn release(&mut self) {
        for (ticket, tool) in self.held_tools() {
            let Some(line) = self.calls.get(ticket).map(|call| call.line.clone()) else { continue };
            let Ok(Line::One(message)) = line::judge(line.as_bytes()) else { continue };
            if self.open_tool(&message).is_some() {
                self.calls.remove(ticket);
                self.pass(&message);
            } else {
                let arguments = message.param("arguments").filter(|it| *it != "null").unwrap_or("{}");
                self.ask(ticket, &message, &tool, arguments);
            }
        }
    }

    fn client_of(&self, request: &Message<'_>) -> String {
        if !request.is_new() {
            return self.client.clone();
        }
        let name = request.meta("clientInfo").and_then(|info| line::member(info, "name"));
        name.and_then(line::text).unwrap_or_else(|| "mcp".to_owned())
    }

    fn limit(&self, request: &Message<'_>) -> Duration {
        self.wait.limit(&self.client_of(request), request.progress_token().is_some())
    }

    fn ask(&mut self, ticket: Ticket, message: &Message<'_>, tool: &str, arguments: &str) {
        let limit = self.limit(message);
        let Some(call) = self.calls.get(ticket) else { return };
        let Ok(input) = RawValue::from_string(arguments.to_owned()) else { return };
        call.stage = Stage::Asked;
        let request = message.request().map(|(id, _)| id.as_str().to_owned()).unwrap_or_default();
        let meta = message.param("_meta").unwrap_or("{}");
        let given = |key: &str| line::member(meta, key).and_then(line::text).filter(|it| !it.is_empty());
        // Claude Code 2.1.197 and Codex 0.169.0 send the id of the model's call, Codex also its session.
        let id = given("claudecode/toolUseId").or_else(|| given("callId")).unwrap_or_else(|| {
            if !message.is_new() {
                return request;
            }
            // Since MCP 2026-07-28 request ids may repeat.
            self.unnamed += 1;
            format!("{request}-{}", self.unnamed)
        });
        let session = given("sessionId").unwrap_or_else(|| self.id.clone());
        let agent = agent(&self.client_of(message)).to_owned();
        let call = ToolCall { tool: self.tools.gate_name(tool), id, input, before: None, summary: None };
        self.effects.push(Effect::Ask(ticket, Asked { agent, session, call, limit }));
    }

    /// Answers `placet_result` with a parked call's outcome, at once or after the decision.
    fn outcome_asked(&mut self, arguments: &str, waiter: Waiter, limit: Duration) {
        let action = line::member(arguments, "id").and_then(line::text).unwrap_or_default();
        let Some(ticket) = self.calls.parked_as(&action) else {
            return self.answer(waiter, &Outcome::words(&answers::not_known(&action), true));
        };
        let Some(call) = self.calls.get(ticket) else { return };
        match &call.stage {
            Stage::Over(outcome) => {
                let outcome = outcome.clone();
                self.answer(waiter, &outcome);
            }
            Stage::Held | Stage::Asked | Stage::Running(_) => call.waiters.push(waiter),
            Stage::Parked => {
                call.waiters.push(waiter);
                call.stage = Stage::Asked;
                self.effects.push(Effect::AskAgain { ticket, action, limit });
            }
        }
    }

    /// Handles `cancelled` for a request that placet answers. Cancelling the call itself withdraws it; cancelling a
    /// question for its outcome does not.
    fn is_cancelled_here(&mut self, message: &Message<'_>, now: Instant) -> bool {
        let Some(request) = message.param("requestId").and_then(RequestId::read) else { return false };
        let Some(ticket) = self.calls.waited_for_by(&request) else {
            return self.answered.contains(&request);
        };
        keep(&mut self.answered, request.clone());
        let Some(call) = self.calls.get(ticket) else { return true };
        call.waiters.retain(|waiter| waiter.request != request);
        if !call.waiters.is_empty() {
            return true;
        }
        let parked = call.parked;
        match &mut call.stage {
            Stage::Asked if parked => self.effects.push(Effect::StopAsking(ticket)),
            Stage::Held | Stage::Asked => self.drop_call(ticket, answers::CANCELLED),
            Stage::Running(run) if !parked => {
                run.cancelled = Some(now);
                let line = answers::cancelled(&run.upstream.written());
                self.tell_server(&line);
            }
            _ => {}
        }
        true
    }

    /// Drops a call that must no longer run. If it is being decided, it is removed when the gate's answer comes.
    fn drop_call(&mut self, ticket: Ticket, why: &'static str) {
        let Some(call) = self.calls.get(ticket) else { return };
        if call.dropped.replace(why).is_some() {
            return;
        }
        let is_asked = matches!(call.stage, Stage::Asked);
        let action = call.action.clone();
        if is_asked {
            self.effects.push(Effect::StopAsking(ticket));
        } else {
            self.calls.remove(ticket);
        }
        self.effects.extend(action.map(|action| Effect::Abandon { action, why }));
    }

    pub(super) fn queued(&mut self, ticket: Ticket, action: String) {
        let Some(call) = self.calls.get(ticket) else { return };
        call.action = Some(action.clone());
        if let Some(why) = call.dropped {
            self.effects.push(Effect::Abandon { action, why });
        }
    }

    pub(super) fn answered(&mut self, ticket: Ticket, answer: Result<Answer, String>, now: Instant) {
        let Some(call) = self.calls.get(ticket) else { return };
        let action = call.action.clone().unwrap_or_default();
        match (call.dropped, answer) {
            (Some(why), Ok(Answer::Run { fence, .. })) => {
                self.report(action, fence, RunOutcome::Error(why.to_owned()));
                self.calls.remove(ticket);
            }
            (Some(_), _) => self.calls.remove(ticket),
            (None, Ok(Answer::Run { fence, input, edited })) => self.run(ticket, fence, &input, edited, now),
            (None, Ok(Answer::Denied { why, status })) => self.tell(ticket, Outcome::denied(&why, &status)),
            (None, Ok(Answer::Waiting)) => {
                call.parked = true;
                call.stage = Stage::Parked;
                let waiters = std::mem::take(&mut call.waiters);
                self.answer_all(waiters, &Outcome::words(&answers::parked(&action), false));
            }
            (None, Err(why)) => {
                if !action.is_empty() {
                    self.effects.push(Effect::Abandon { action, why: "The gate could not be asked." });
                }
                self.tell(ticket, Outcome::words(&why, true).not_run(&why));
            }
        }
    }

    /// Sends an approved call to the server, with the approved input.
    fn run(&mut self, ticket: Ticket, fence: u64, input: &RawValue, edited: bool, now: Instant) {
        let Some(call) = self.calls.get(ticket) else { return };
        let sent = match line::judge(call.line.as_bytes()) {
            Ok(Line::One(message)) => message.request().and_then(|(like, _)| {
                let upstream = self.ids.next(&like);
                Some((message.with(&upstream.written(), input.get())?, upstream))
            }),
            _ => None,
        };
        let Some((line, upstream)) = sent.filter(|_| !self.server_ended) else {
            let action = call.action.clone().unwrap_or_default();
            self.report(action, fence, RunOutcome::Error(answers::SERVER_ENDED_BEFORE.to_owned()));
            return self.tell(ticket, ended_before());
        };
        let ran_with = edited.then(|| input.get().to_owned());
        call.stage = Stage::Running(Run::new(fence, upstream, ran_with, now));
        self.tell_server(&line);
    }

    /// Handles time limits. Must be called about once a second.
    pub(super) fn tick(&mut self, now: Instant) {
        if self.lookup.as_ref().is_some_and(|lookup| lookup.is_late(now)) {
            self.lookup = None;
            self.has_discovered = true;
            self.release();
        }
        for due in self.calls.due(now) {
            match due {
                Due::Progress(line) => self.tell_client(line),
                Due::Renew { action, fence } => self.effects.push(Effect::Renew { action, fence }),
                Due::Lost(ticket) => self.lose(ticket, answers::CANCELLED_RUNNING),
            }
        }
    }

    /// Withdraws waiting calls after the client's end. Running calls may finish.
    pub(super) fn client_ended(&mut self) {
        for ticket in self.calls.tickets() {
            let Some(call) = self.calls.get(ticket) else { continue };
            match call.stage {
                Stage::Held | Stage::Asked | Stage::Parked => self.drop_call(ticket, answers::CLIENT_ENDED),
                Stage::Running(_) | Stage::Over(_) => {}
            }
        }
    }

    pub(super) fn give_up(&mut self) {
        for ticket in self.calls.tickets() {
            self.lose(ticket, answers::CLIENT_ENDED_RUNNING);
        }
    }

    pub(super) fn server_ended(&mut self) {
        self.server_ended = true;
        for ticket in self.calls.tickets() {
            let Some(call) = self.calls.get(ticket) else { continue };
            match call.stage {
                Stage::Running(_) => self.lose(ticket, answers::SERVER_ENDED),
                Stage::Held | Stage::Asked | Stage::Parked => {
                    let waiters = std::mem::take(&mut call.waiters);
                    self.answer_all(waiters, &ended_before());
                    self.drop_call(ticket, answers::SERVER_ENDED_BEFORE);
                }
                Stage::Over(_) => {}
            }
        }
    }

    /// Reports a running call whose end will not be known.
    fn lose(&mut self, ticket: Ticket, why: &str) {
        let Some(call) = self.calls.get(ticket) else { return };
        let Stage::Running(run) = &call.stage else { return };
        let (fence, action) = (run.fence, call.action.clone().unwrap_or_default());
        self.report(action, fence, RunOutcome::Error(why.to_owned()));
        self.tell(ticket, Outcome::error(INTERNAL, why).unknown());
    }

    fn tell(&mut self, ticket: Ticket, outcome: Outcome) {
        let Some(call) = self.calls.get(ticket) else { return };
        let waiters = std::mem::take(&mut call.waiters);
        if let Some(token) = call.token.clone() {
            keep(&mut self.spent, token);
        }
        self.answer_all(waiters, &outcome);
        self.calls.finish(ticket, outcome);
    }

    fn answer_all(&mut self, waiters: Vec<Waiter>, outcome: &Outcome) {
        for waiter in waiters {
            self.answer(waiter, outcome);
        }
    }

    fn answer(&mut self, waiter: Waiter, outcome: &Outcome) {
        self.tell_client(if waiter.is_new {
            outcome.new_line(&waiter.id, self.server.as_deref())
        } else {
            outcome.line(&waiter.id)
        });
        keep(&mut self.answered, waiter.request);
    }

    fn report(&mut self, action: String, fence: u64, outcome: RunOutcome) {
        self.effects.push(Effect::Report { action, fence, outcome });
    }

    fn tell_client(&mut self, line: String) {
        self.effects.push(Effect::ToClient(line.into_bytes()));
    }

    fn tell_server(&mut self, line: &str) {
        self.effects.push(Effect::ToServer(line::on_one_line(line).into_owned().into_bytes()));
    }
}

fn keep(ids: &mut VecDeque<RequestId>, id: RequestId) {
    ids.push_back(id);
    if ids.len() > ANSWERED {
        ids.pop_front();
    }
}

fn ended_before() -> Outcome {
    Outcome::error(INTERNAL, answers::SERVER_ENDED_BEFORE).not_run("The MCP server ended.")
}

/// The agent's name without the suffix of its MCP client: `codex-mcp-client` becomes `codex`.
fn agent(client: &str) -> &str {
    client.strip_suffix("-mcp-client").filter(|name| !name.is_empty()).unwrap_or(client)
}

mod from_server;
#[cfg(test)]
mod tests;
