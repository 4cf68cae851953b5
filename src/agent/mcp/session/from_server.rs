//! Handles the server's lines: answers, progress and other messages.

use crate::agent::outcome;
use crate::domain::json::{self, JsonError, Scanner};

use super::{Effect, Session};
use crate::agent::mcp::answers::{self, INTERNAL, Outcome};
use crate::agent::mcp::calls::{Stage, Ticket};
use crate::agent::mcp::line::{self, Message, RequestId};

impl Session {
    pub(in crate::agent::mcp) fn server_said(&mut self, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        let text = text.trim_start_matches('\u{feff}');
        let passed = match Message::of_server(text) {
            Some(message) if message.method.is_none() => self.answer_of_server(&message),
            Some(message) if message.method.as_deref() == Some("notifications/progress") => {
                self.progress_of_server(&message)
            }
            Some(_) => None,
            None => self.unreadable(text),
        };
        match passed {
            None => self.effects.push(Effect::ToClient(line.to_vec())),
            Some(lines) => lines.into_iter().for_each(|line| self.tell_client(line)),
        }
    }

    /// Handles a line that is no valid JSON, such as a line of a log. If it answers a gated call, the call ends; an
    /// answer that is only nested too deeply keeps its outcome.
    fn unreadable(&mut self, text: &str) -> Option<Vec<String>> {
        let members = json::rough_members(text).unwrap_or_default();
        let ended = json::last(&members, "result").or_else(|| json::last(&members, "error"));
        let id = json::last(&members, "id").filter(|_| ended.is_some()).and_then(RequestId::read);
        let named = id.and_then(|id| self.calls.running(|own| own.as_str() == id.as_str()));
        let Some(ticket) = named else {
            let tight: String = text.split_whitespace().collect();
            ["\"result\":", "\"error\":{"].iter().find(|member| tight.contains(*member))?;
            let ticket = self.calls.running(|own| has_id(&tight, own.as_str()))?;
            self.lose(ticket, answers::UNREADABLE);
            return Some(Vec::new());
        };
        let error = Scanner::new(text).check().err().filter(|error| error.what == JsonError::TOO_DEEP);
        let result = error.and_then(|_| json::last(&members, "result")).and_then(json::rough_members);
        match result {
            Some(result) => {
                let is_error = answers::is_error(json::last(&result, "isError"));
                let said = outcome::instead(JsonError::TOO_DEEP);
                let short = format!(
                    r#"{{"result":{{"content":[{{"type":"text","text":{said}}}],"isError":{is_error}}}}}"#
                );
                self.ran(ticket, &Message::of_server(&short)?);
            }
            None => self.lose(ticket, answers::UNREADABLE),
        }
        Some(Vec::new())
    }

    /// Returns the lines that replace a server's answer, `None` to pass it unchanged.
    fn answer_of_server(&mut self, message: &Message<'_>) -> Option<Vec<String>> {
        // A line of a log may have an id, too.
        if !["result", "error", "jsonrpc"].iter().any(|key| message.has(key)) {
            return None;
        }
        let (request, _) = message.request()?;
        self.ids.answered(&request);
        // Searching the text first avoids parsing most answers.
        if message.text.contains(answers::SERVER_INFO)
            && let Some(meta) = message.raw("result").and_then(|result| line::member(result, "_meta"))
            && let Some(info) = line::member(meta, answers::SERVER_INFO).filter(|info| info.starts_with('{'))
        {
            self.tools.introduced(info);
            self.server = Some(info.to_owned());
        }
        if self.ids.is_own(&request) {
            self.own_answered(&request, message);
            return Some(Vec::new());
        }
        if self.initialize.as_ref() == Some(&request) {
            self.initialize = None;
            let info = message.raw("result").and_then(|result| line::member(result, "serverInfo"));
            self.tools.introduced(info.unwrap_or("{}"));
            return None;
        }
        let line = self.tools.listed(message, self.lists.remove(&request)?)?;
        self.warn_of_shadow();
        Some(vec![line])
    }

    /// Handles the answer to an own request. Ignores repeated and late answers.
    fn own_answered(&mut self, request: &RequestId, message: &Message<'_>) {
        // Some servers convert number ids to strings.
        let is_that = |id: Option<&RequestId>| id.is_some_and(|id| id.as_str() == request.as_str());
        if let Some(lookup) = self.lookup.as_mut().filter(|lookup| is_that(lookup.request.as_ref())) {
            lookup.answered(message);
            self.tools.listed(message, false);
            self.warn_of_shadow();
            self.look_up();
        } else if let Some(ticket) = self.calls.running(|id| is_that(Some(id))) {
            self.ran(ticket, message);
        }
    }

    fn warn_of_shadow(&mut self) {
        if self.tools.shadows && !std::mem::replace(&mut self.warned, true) {
            self.effects.push(Effect::Warn(
                "The server has a tool placet_result of its own. It cannot be called through placet.",
            ));
        }
    }

    /// Rewrites a server's progress for the requests that wait for the call. Drops progress after the answer.
    fn progress_of_server(&self, message: &Message<'_>) -> Option<Vec<String>> {
        let is_spent =
            || message.param("progressToken").and_then(RequestId::read).filter(|it| self.spent.contains(it));
        self.calls.carried(message).or_else(|| is_spent().map(|_| Vec::new()))
    }

    fn ran(&mut self, ticket: Ticket, message: &Message<'_>) {
        let Some(call) = self.calls.get(ticket) else { return };
        let Stage::Running(run) = &call.stage else { return };
        let (fence, action) = (run.fence, call.action.clone().unwrap_or_default());
        let (reported, told) = match message.raw("result") {
            Some(result) => {
                let told = Outcome::ran(result, run.ran_with.as_deref());
                match answers::unfinished(result) {
                    None => (answers::reported(result), told),
                    // The client asked for a task, so it gets the server's task.
                    Some(answers::OWN_TASK) if asks_for_task(&call.line) => {
                        (outcome::failed(answers::OWN_TASK), told.unknown())
                    }
                    Some(why) => (outcome::failed(why), Outcome::error(INTERNAL, why).unknown()),
                }
            }
            None => {
                let error = message.raw("error").unwrap_or("null");
                match line::member(error, "message").map(answers::said) {
                    Some(why) => (outcome::failed(&why), Outcome::refused(error, &why)),
                    None => {
                        let why = "The MCP server gave neither result nor error. The call may have run.";
                        let told = match error {
                            "null" => Outcome::error(INTERNAL, why),
                            error => Outcome::refused(error, why),
                        };
                        (outcome::failed(why), told.unknown())
                    }
                }
            }
        };
        self.report(action, fence, reported);
        self.tell(ticket, told);
    }
}

fn asks_for_task(call: &str) -> bool {
    Message::of_server(call).is_some_and(|message| message.param("task").is_some())
}

/// Returns whether a text without white space has this id, such as in one of several answers.
fn has_id(tight: &str, id: &str) -> bool {
    let name = format!("\"id\":{id}");
    tight.split(&name).skip(1).any(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
}
