//! The proxy without its pipes: takes lines, the gate's answers and the time, and says what is to be done.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use serde_json::value::RawValue;

use crate::agent::{Answer, ToolCall};
use crate::sources::RunOutcome;

use super::answers::{self, INTERNAL, INVALID_PARAMS, INVALID_REQUEST, Outcome, RESULT_TOOL};
use super::calls::{Calls, Due, Run, Stage, Ticket, Waiter};
use super::ids::Ids;
use super::line::{self, Line, Message, RequestId, TOOLS_CALL};
use super::lookup::Lookup;
use super::tools::Tools;
use super::wait::Wait;

/// Answered requests that a late `cancelled` may name: opencode (1.18.33) sends one after a good answer.
const ANSWERED: usize = 256;

/// What is to be done, in this order.
#[derive(Debug)]
pub(super) enum Effect {
    /// A line without its end.
    ToClient(Vec<u8>),
    ToServer(Vec<u8>),
    /// Find the gate, propose the call, wait for the decision up to `limit`, claim what was approved.
    Ask {
        ticket: Ticket,
        agent: String,
        session: String,
        call: ToolCall,
        limit: Duration,
    },
    /// Wait once more, and claim.
    AskAgain {
        ticket: Ticket,
        action: String,
        limit: Duration,
    },
    /// Nobody waits for this call now. A claim that has begun is finished.
    StopAsking(Ticket),
    /// The call must not run any more: it is withdrawn. One that was approved meanwhile is claimed and reported as failed.
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
    /// For the person who set this up.
    Warn(&'static str),
}

/// One client with one server.
#[derive(Debug)]
pub(super) struct Session {
    tools: Tools,
    wait: Wait,
    /// Random: names this process at the gate and in ids of its own.
    id: String,
    ids: Ids,
    /// The name from `initialize`. Since MCP 2026-07-28 each request names its client.
    client: String,
    initialize: Option<RequestId>,
    /// The description that a server of MCP 2026-07-28 gave of itself, as JSON.
    server: Option<String>,
    /// Requests for tools, and whether for their first page.
    lists: HashMap<RequestId, bool>,
    lookup: Option<Lookup>,
    has_discovered: bool,
    calls: Calls,
    /// Calls of clients of MCP 2026-07-28 that had no id but that of their request.
    unnamed: u64,
    answered: VecDeque<RequestId>,
    /// The tokens of calls that ended. Nothing of their progress passes.
    spent: VecDeque<RequestId>,
    warned: bool,
    server_ended: bool,
    effects: Vec<Effect>,
}

impl Session {
    /// `id` and `number` are random. Ids of placet's own begin with the one, or count from the other.
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

    /// What has come up since it was last asked.
    pub(super) fn effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// Somebody is asked, or something runs.
    pub(super) fn is_busy(&self) -> bool {
        self.calls.is_busy()
    }

    /// A line of the client's, without its end.
    pub(super) fn client_said(&mut self, line: &[u8], now: Instant) {
        match line::judge(line) {
            Ok(Line::Blank) => {}
            Ok(Line::One(message)) => self.message(&message, now),
            Ok(Line::Batch(messages)) => self.batch(line, &messages),
            Err(refused) => self.tell_client(answers::error(&refused.id, INVALID_REQUEST, refused.why)),
        }
    }

    /// A line of the client's that is too long to be read. `id` is that of its request, as it is written.
    pub(super) fn client_said_too_much(&mut self, id: &str) {
        self.tell_client(answers::error(id, INVALID_REQUEST, "This line is longer than 16 MiB."));
    }

    fn message(&mut self, message: &Message<'_>, now: Instant) {
        let request = message.request();
        // Ours cannot be guessed, but a server may have told them.
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

    /// Messages that need none of placet pass together. A batch that holds any other is refused as a whole.
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

    /// The tool of a call that nobody is asked about.
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
            // An open one is for this call, too.
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

    /// Sends the next question of the lookup, or lets the held calls go on.
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

    /// Everything is known that can be: held calls are passed on or asked about.
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

    /// The name of the client that sent this request.
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
        // Claude Code 2.1.197 and Codex 0.169.0 name the model's call; Codex its session, too.
        let id = given("claudecode/toolUseId").or_else(|| given("callId")).unwrap_or_else(|| {
            if !message.is_new() {
                return request;
            }
            // Since MCP 2026-07-28 an id may be used again.
            self.unnamed += 1;
            format!("{request}-{}", self.unnamed)
        });
        let session = given("sessionId").unwrap_or_else(|| self.id.clone());
        let agent = agent(&self.client_of(message)).to_owned();
        let call = ToolCall { tool: self.tools.gate_name(tool), id, input, before: None, summary: None };
        self.effects.push(Effect::Ask { ticket, agent, session, call, limit });
    }

    /// `placet_result`: what became of a parked call, now or when it is decided.
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

    /// A `cancelled` of a request that placet answers. Only the call itself is taken back; whoever asks for an outcome just stops.
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

    /// The call must not run any more. What it waits for is given up when its answer comes.
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

    /// The gate has recorded a call.
    pub(super) fn queued(&mut self, ticket: Ticket, action: String) {
        let Some(call) = self.calls.get(ticket) else { return };
        call.action = Some(action.clone());
        if let Some(why) = call.dropped {
            self.effects.push(Effect::Abandon { action, why });
        }
    }

    /// What came of asking: an answer, or a sentence that says why there is none.
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

    /// To be called about once a second.
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

    /// The client sends nothing any more. What waits is withdrawn; what runs may finish.
    pub(super) fn client_ended(&mut self) {
        for ticket in self.calls.tickets() {
            let Some(call) = self.calls.get(ticket) else { continue };
            match call.stage {
                Stage::Held | Stage::Asked | Stage::Parked => self.drop_call(ticket, answers::CLIENT_ENDED),
                Stage::Running(_) | Stage::Over(_) => {}
            }
        }
    }

    /// Nobody waits any longer for what still runs.
    pub(super) fn give_up(&mut self) {
        for ticket in self.calls.tickets() {
            self.lose(ticket, answers::CLIENT_ENDED_RUNNING);
        }
    }

    /// The server is gone, and with it whatever it ran.
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

    /// How a running call ended will never be known.
    fn lose(&mut self, ticket: Ticket, why: &str) {
        let Some(call) = self.calls.get(ticket) else { return };
        let Stage::Running(run) = &call.stage else { return };
        let (fence, action) = (run.fence, call.action.clone().unwrap_or_default());
        self.report(action, fence, RunOutcome::Error(why.to_owned()));
        self.tell(ticket, Outcome::error(INTERNAL, why).unknown());
    }

    /// Answers everybody who waits for a call that is over.
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

/// Remembers the last few.
fn keep(ids: &mut VecDeque<RequestId>, id: RequestId) {
    ids.push_back(id);
    if ids.len() > ANSWERED {
        ids.pop_front();
    }
}

/// The server ended before a call ran.
fn ended_before() -> Outcome {
    Outcome::error(INTERNAL, answers::SERVER_ENDED_BEFORE).not_run("The MCP server ended.")
}

/// The agent's name without what its MCP part is called: `codex-mcp-client` is `codex`.
fn agent(client: &str) -> &str {
    client.strip_suffix("-mcp-client").filter(|name| !name.is_empty()).unwrap_or(client)
}

mod from_server;
#[cfg(test)]
mod tests;
