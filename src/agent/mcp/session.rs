//! The proxy without its pipes: takes lines, the gate's answers and the time, and says what is to be done.

use std::collections::{HashSet, VecDeque};
use std::time::{Duration, Instant};

use serde_json::value::RawValue;

use crate::agent::{Answer, ToolCall};
use crate::domain::json;
use crate::sources::RunOutcome;

use super::answers::{self, INTERNAL, INVALID_PARAMS, INVALID_REQUEST, Outcome, RESULT_TOOL};
use super::calls::{Calls, Due, Run, Stage, Ticket, Waiter};
use super::line::{self, Line, Message, RequestId, TOOLS_CALL};
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
    client: String,
    initialize: Option<RequestId>,
    lists: HashSet<RequestId>,
    calls: Calls,
    answered: VecDeque<RequestId>,
    runs: u64,
    warned: bool,
    server_ended: bool,
    effects: Vec<Effect>,
}

impl Session {
    pub(super) fn new(tools: Tools, wait: Wait, id: String) -> Self {
        Self {
            tools,
            wait,
            id,
            client: "mcp".to_owned(),
            initialize: None,
            lists: HashSet::new(),
            calls: Calls::default(),
            answered: VecDeque::new(),
            runs: 0,
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

    /// A line of the client's that is too long to be read.
    pub(super) fn client_said_too_much(&mut self) {
        self.tell_client(answers::error("null", INVALID_REQUEST, "This line is longer than 16 MiB."));
    }

    fn message(&mut self, message: &Message<'_>, now: Instant) {
        let request = message.request();
        // Ours cannot be guessed, but a server may have told them.
        if let Some((RequestId::Text(id), raw)) = &request
            && message.method.is_some()
            && id.starts_with(self.id.as_str())
        {
            return self.tell_client(answers::error(raw, INVALID_REQUEST, "This id is placet's own."));
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
            Some("tools/list") => self.lists.extend(request.map(|(id, _)| id)),
            _ => {}
        }
        self.tell_server(message.text);
    }

    /// Messages that need none of placet pass together. A batch that holds any other is refused as a whole.
    fn batch(&mut self, line: &[u8], messages: &[Message<'_>]) {
        let passes = |message: &Message<'_>| match message.method.as_deref() {
            Some(TOOLS_CALL) => self.open_tool(message).is_some(),
            Some("tools/list" | "initialize" | "notifications/cancelled") => false,
            _ => message.request().is_none_or(|(id, _)| !id.as_str().starts_with(self.id.as_str())),
        };
        if messages.iter().all(passes) {
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
            return self.tell_server(message.text);
        }
        let Some((request, id)) = request else {
            return self.tell_client(refuse(INVALID_REQUEST, "The id of a call is a string or an integer."));
        };
        let token = message.param("_meta").and_then(|meta| line::member(meta, "progressToken"));
        let waiter = Waiter::new(request, id, token.filter(|token| *token != "null"), now);
        let limit = self.wait.limit(&self.client, token.is_some());
        let arguments = message.param("arguments").filter(|arguments| *arguments != "null").unwrap_or("{}");
        if tool == RESULT_TOOL {
            return self.outcome_asked(arguments, waiter, limit);
        }
        let input = RawValue::from_string(arguments.to_owned()).ok().filter(|it| it.get().starts_with('{'));
        let Some(input) = input else {
            return self.tell_client(refuse(INVALID_PARAMS, "The arguments of a call are a JSON object."));
        };
        self.ask(message, &tool, input, waiter, limit);
    }

    fn ask(
        &mut self,
        message: &Message<'_>,
        tool: &str,
        input: Box<RawValue>,
        waiter: Waiter,
        limit: Duration,
    ) {
        let meta = message.param("_meta").unwrap_or("{}");
        let given = |key: &str| line::member(meta, key).and_then(line::text).filter(|it| !it.is_empty());
        // Claude Code 2.1.197 and Codex 0.169.0 name the model's call; Codex its session, too.
        let call = given("claudecode/toolUseId").or_else(|| given("callId"));
        let call = call.unwrap_or_else(|| waiter.request.as_str().to_owned());
        let session = given("sessionId").unwrap_or_else(|| self.id.clone());
        let tool = self.tools.gate_name(tool);
        let ticket = self.calls.add(message.text.to_owned(), waiter);
        self.effects.push(Effect::Ask {
            ticket,
            agent: agent(&self.client).to_owned(),
            session,
            call: ToolCall { tool, id: call, input, before: None, summary: None },
            limit,
        });
    }

    /// `placet_result`: what became of a parked call, now or when it is decided.
    fn outcome_asked(&mut self, arguments: &str, waiter: Waiter, limit: Duration) {
        let action = line::member(arguments, "id").and_then(line::text).unwrap_or_default();
        let Some(ticket) = self.calls.parked_as(&action) else {
            let told = answers::words(&answers::not_known(&action), true);
            return self.answer(waiter, &Outcome::Result(told));
        };
        let Some(call) = self.calls.get(ticket) else { return };
        match &call.stage {
            Stage::Over(outcome) => {
                let outcome = outcome.clone();
                self.answer(waiter, &outcome);
            }
            Stage::Asked | Stage::Running(_) => call.waiters.push(waiter),
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
        self.remember(request.clone());
        let Some(call) = self.calls.get(ticket) else { return true };
        call.waiters.retain(|waiter| waiter.request != request);
        if !call.waiters.is_empty() {
            return true;
        }
        let parked = call.parked;
        match &mut call.stage {
            Stage::Asked if parked => self.effects.push(Effect::StopAsking(ticket)),
            Stage::Asked => self.drop_call(ticket, answers::CANCELLED),
            Stage::Running(run) if !parked => {
                run.cancelled = Some(now);
                let line = answers::cancelled(&run.upstream);
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
            (None, Ok(Answer::Denied(told))) => {
                self.tell(ticket, Outcome::Result(answers::words(&told, true)));
            }
            (None, Ok(Answer::Waiting)) => {
                call.parked = true;
                call.stage = Stage::Parked;
                let waiters = std::mem::take(&mut call.waiters);
                let told = Outcome::Result(answers::words(&answers::parked(&action), false));
                self.answer_all(waiters, &told);
            }
            (None, Err(why)) => {
                if !action.is_empty() {
                    self.effects.push(Effect::Abandon { action, why: "The gate could not be asked." });
                }
                self.tell(ticket, Outcome::Result(answers::words(&why, true)));
            }
        }
    }

    /// Sends an approved call to the server, with the approved input.
    fn run(&mut self, ticket: Ticket, fence: u64, input: &RawValue, edited: bool, now: Instant) {
        self.runs += 1;
        let upstream = json::encode(&format!("{}-{}", self.id, self.runs));
        let Some(call) = self.calls.get(ticket) else { return };
        let line = match line::judge(call.line.as_bytes()) {
            Ok(Line::One(message)) => message.with(&upstream, input.get()),
            _ => None,
        };
        let Some(line) = line.filter(|_| !self.server_ended) else {
            let action = call.action.clone().unwrap_or_default();
            self.report(action, fence, RunOutcome::Error(answers::SERVER_ENDED_BEFORE.to_owned()));
            return self.tell(ticket, Outcome::error(INTERNAL, answers::SERVER_ENDED_BEFORE));
        };
        let ran_with = edited.then(|| input.get().to_owned());
        call.stage = Stage::Running(Run::new(fence, upstream, ran_with, now));
        self.tell_server(&line);
    }

    /// A line of the server's, without its end.
    pub(super) fn server_said(&mut self, line: &[u8]) {
        let changed = match Message::of_server(line) {
            Some(message) if message.method.is_none() => match self.answer_of_server(&message) {
                Answered::Taken => return,
                Answered::Changed(line) => Some(line),
                Answered::Passes => None,
            },
            _ => None,
        };
        self.effects.push(Effect::ToClient(changed.map_or_else(|| line.to_vec(), String::into_bytes)));
    }

    fn answer_of_server(&mut self, message: &Message<'_>) -> Answered {
        let Some((request, _)) = message.request() else { return Answered::Passes };
        if request.as_str().starts_with(self.id.as_str()) {
            // An answer that comes twice, or after it was given up, has nobody who waits for it.
            if let Some(ticket) = self.calls.running_as(&json::encode(request.as_str())) {
                self.ran(ticket, message);
            }
            return Answered::Taken;
        }
        if self.initialize.as_ref() == Some(&request) {
            self.initialize = None;
            self.tools.introduced(message);
        } else if self.lists.remove(&request)
            && let Some(line) = self.tools.listed(message)
        {
            if self.tools.shadows && !self.warned {
                self.warned = true;
                self.effects.push(Effect::Warn(
                    "The server has a tool placet_result of its own. It cannot be called through placet.",
                ));
            }
            return Answered::Changed(line);
        }
        Answered::Passes
    }

    /// A gated call ran.
    fn ran(&mut self, ticket: Ticket, message: &Message<'_>) {
        let Some(call) = self.calls.get(ticket) else { return };
        let Stage::Running(run) = &call.stage else { return };
        let (fence, action) = (run.fence, call.action.clone().unwrap_or_default());
        let (reported, told) = match message.raw("result") {
            Some(result) => {
                let told = Outcome::Result(answers::readable(result, run.ran_with.as_deref()));
                (answers::reported(result), told)
            }
            None => {
                let error = message.raw("error").unwrap_or("null");
                let why = line::member(error, "message").and_then(line::text);
                let why = why.unwrap_or_else(|| "The MCP server gave neither result nor error.".to_owned());
                let told = match error {
                    "null" => Outcome::error(INTERNAL, &why),
                    error => Outcome::Error(error.to_owned()),
                };
                (RunOutcome::Error(why), told)
            }
        };
        self.report(action, fence, reported);
        self.tell(ticket, told);
    }

    /// To be called about once a second.
    pub(super) fn tick(&mut self, now: Instant) {
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
                Stage::Asked | Stage::Parked => self.drop_call(ticket, answers::CLIENT_ENDED),
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
                Stage::Asked | Stage::Parked => {
                    let waiters = std::mem::take(&mut call.waiters);
                    let told = Outcome::error(INTERNAL, answers::SERVER_ENDED_BEFORE);
                    self.answer_all(waiters, &told);
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
        self.tell(ticket, Outcome::error(INTERNAL, why));
    }

    /// Answers everybody who waits for a call that is over.
    fn tell(&mut self, ticket: Ticket, outcome: Outcome) {
        let Some(call) = self.calls.get(ticket) else { return };
        let waiters = std::mem::take(&mut call.waiters);
        self.answer_all(waiters, &outcome);
        self.calls.finish(ticket, outcome);
    }

    fn answer_all(&mut self, waiters: Vec<Waiter>, outcome: &Outcome) {
        for waiter in waiters {
            self.answer(waiter, outcome);
        }
    }

    fn answer(&mut self, waiter: Waiter, outcome: &Outcome) {
        self.tell_client(outcome.line(&waiter.id));
        self.remember(waiter.request);
    }

    fn remember(&mut self, request: RequestId) {
        self.answered.push_back(request);
        if self.answered.len() > ANSWERED {
            self.answered.pop_front();
        }
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

/// What an answer of the server's is to placet.
enum Answered {
    Passes,
    Changed(String),
    /// It is nothing to the client.
    Taken,
}

/// The agent's name without what its MCP part is called: `codex-mcp-client` is `codex`.
fn agent(client: &str) -> &str {
    client.strip_suffix("-mcp-client").filter(|name| !name.is_empty()).unwrap_or(client)
}

#[cfg(test)]
mod tests;
