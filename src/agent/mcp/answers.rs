//! What the proxy says by itself, and what it puts around a server's answer.

use crate::agent::outcome;
use crate::domain::{Status, json};
use crate::sources::RunOutcome;

use super::line;

/// JSON-RPC's code for a request that is not valid.
pub(super) const INVALID_REQUEST: i32 = -32_600;
/// JSON-RPC's code for parameters that are not valid.
pub(super) const INVALID_PARAMS: i32 = -32_602;
/// JSON-RPC's code for what went wrong inside.
pub(super) const INTERNAL: i32 = -32_603;

/// MCP's code for a request of a client that lacks a capability. Such a request was not carried out.
const MISSING_CAPABILITY: &str = "-32021";

/// Keys of `_meta`.
const DISPOSITION: &str = "io.modelcontextprotocol/tool-approval-disposition";
pub(super) const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// Values of [`DISPOSITION`].
const EXECUTED: &str = "approved-executed";
const FAILED: &str = "execution-error";
const UNKNOWN: &str = "outcome-unknown";

/// The tool with which the model asks what became of a parked call.
pub(super) const RESULT_TOOL: &str = "placet_result";

/// Its entry in a list of tools.
pub(super) const RESULT_TOOL_ENTRY: &str = r#"{"name":"placet_result","title":"Outcome of a waiting call","description":"Returns the outcome of a call that waited for a human. Ask with the id that the call returned. It waits for the decision.","inputSchema":{"type":"object","properties":{"id":{"type":"string","description":"The id that the call returned"}},"required":["id"]},"annotations":{"readOnlyHint":true}}"#;

/// A line with an error. `id` is written as it stands.
pub(super) fn error(id: &str, code: i32, why: &str) -> String {
    Outcome::error(code, why).line(id)
}

/// The answer to a call. A client of MCP 2026-07-28 reads it in another form than older clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    body: Body,
    /// The sentence that new clients read in its place, as an error of the tool.
    for_new: Option<String>,
    /// Its name in SEP-2848.
    disposition: Option<&'static str>,
}

/// JSON, as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Body {
    Result(String),
    /// An error of JSON-RPC.
    Error(String),
}

impl Outcome {
    const fn new(body: Body) -> Self {
        Self { body, for_new: None, disposition: None }
    }

    pub(super) fn error(code: i32, why: &str) -> Self {
        Self::new(Body::Error(format!(r#"{{"code":{code},"message":{}}}"#, json::encode(why))))
    }

    /// A result of one sentence.
    pub(super) fn words(said: &str, is_error: bool) -> Self {
        Self::new(Body::Result(words(said, is_error)))
    }

    /// The outcome of a call that the gate does not let run.
    pub(super) fn denied(why: &str, status: &Status) -> Self {
        let (new, disposition) = match status {
            Status::Executed => (why.to_owned(), Some(EXECUTED)),
            Status::Failed => (why.to_owned(), Some(FAILED)),
            Status::Unknown => (NOBODY_KNOWS.to_owned(), Some(UNKNOWN)),
            Status::Rejected | Status::Expired | Status::Withdrawn | Status::Superseded => {
                (did_not_run(why), Some("denied-not-executed"))
            }
            _ => (why.to_owned(), None),
        };
        Self { for_new: Some(new), disposition, ..Self::words(why, true) }
    }

    /// The outcome of a call that failed before it ran.
    pub(super) fn not_run(self, why: &str) -> Self {
        Self { for_new: Some(did_not_run(why)), ..self }
    }

    /// The outcome of a call that may have run.
    pub(super) fn unknown(self) -> Self {
        Self { for_new: Some(NOBODY_KNOWS.to_owned()), disposition: Some(UNKNOWN), ..self }
    }

    /// The outcome of a repeated call that answers a question of the tool.
    pub(super) fn asked_back() -> Self {
        Self { disposition: Some(UNKNOWN), ..Self::words(ASKED_BACK, true) }
    }

    /// A result of the server's.
    pub(super) fn ran(result: &str, ran_with: Option<&str>) -> Self {
        let disposition = if line::member(result, "isError") == Some("true") { FAILED } else { EXECUTED };
        Self { disposition: Some(disposition), ..Self::new(Body::Result(readable(result, ran_with))) }
    }

    /// An error of the server's. `why` is its message.
    pub(super) fn refused(error: &str, why: &str) -> Self {
        let new = match line::member(error, "code") {
            Some(MISSING_CAPABILITY) => did_not_run(&format!("The server refused it: {why}")),
            _ => format!("The server refused this call: {why}"),
        };
        let body = Body::Error(error.to_owned());
        Self { for_new: Some(new), disposition: Some(FAILED), ..Self::new(body) }
    }

    /// The line that answers the request `id`, which is written as it stands.
    pub(super) fn line(&self, id: &str) -> String {
        match &self.body {
            Body::Result(result) => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
            Body::Error(error) => format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#),
        }
    }

    /// Returns the line for a client of MCP 2026-07-28. `server` is the server's description of itself, as JSON.
    pub(super) fn new_line(&self, id: &str, server: Option<&str>) -> String {
        let result = match (&self.for_new, &self.body) {
            (Some(said), _) => words(said, true),
            (None, Body::Result(result)) => result.clone(),
            (None, Body::Error(_)) => return self.line(id),
        };
        let result = self.completed(&result, server).unwrap_or(result);
        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
    }

    fn completed(&self, result: &str, server: Option<&str>) -> Option<String> {
        let mut meta =
            line::member(result, "_meta").filter(|meta| meta.starts_with('{')).unwrap_or("{}").to_owned();
        if let Some(disposition) = self.disposition {
            meta = line::with_member(&meta, DISPOSITION, &json::encode(disposition))?;
        }
        if let Some(server) = server.filter(|_| line::member(&meta, SERVER_INFO).is_none()) {
            meta = line::with_member(&meta, SERVER_INFO, server)?;
        }
        let result =
            if meta == "{}" { result.to_owned() } else { line::with_member(result, "_meta", &meta)? };
        if line::member(&result, "resultType").is_some() {
            return Some(result);
        }
        let rest = result.trim_start().strip_prefix('{')?;
        Some(format!(r#"{{"resultType":"complete",{rest}"#))
    }

    /// A sentence in place of a result that is too long to keep.
    pub(super) fn shortened(self, most: usize) -> Self {
        match &self.body {
            Body::Result(text) | Body::Error(text) if text.len() > most => {
                Self { disposition: self.disposition, ..Self::words(NOT_KEPT, false) }
            }
            _ => self,
        }
    }
}

/// Why a server's result is not the end of its call; `None` if it is the end.
pub(super) fn unfinished(result: &str) -> Option<&'static str> {
    let Some(members) = json::members(result) else {
        return Some("The MCP server's answer is not a result. The call may have run.");
    };
    let mut kinds = members
        .iter()
        .filter(|member| member.key.text == "resultType")
        .map(|member| line::text(member.value));
    match (kinds.next(), kinds.next()) {
        (None, _) if line::member(result, "task").is_some() && line::member(result, "content").is_none() => {
            Some(OWN_TASK)
        }
        (None, _) => None,
        (Some(Some(kind)), None) if kind == "complete" => None,
        (Some(Some(kind)), None) if kind == "task" => Some(OWN_TASK),
        (Some(Some(kind)), None) if kind == "input_required" => {
            Some("The MCP server asked back, which placet does not pass on. The call may have run.")
        }
        _ => Some("The MCP server's result has a type that placet does not know. The call may have run."),
    }
}

/// The sentence, beginning with the words that nothing ran.
fn did_not_run(why: &str) -> String {
    match why.strip_prefix("A human rejected this call") {
        Some(rest) => format!("This call did not run. A human rejected it{rest}"),
        None if why.starts_with("This call did not run.") => why.to_owned(),
        None => format!("This call did not run. {why}"),
    }
}

/// A tool's result of one sentence.
fn words(said: &str, is_error: bool) -> String {
    format!(r#"{{"content":[{}],"isError":{is_error}}}"#, block(said))
}

/// A line that says that the call is still waited for. `progress` grows.
pub(super) fn progress(token: &str, progress: u64, said: &str) -> String {
    let said = json::encode(said);
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":{progress},"message":{said}}}}}"#
    )
}

/// A line that takes a request back at the server.
pub(super) fn cancelled(id: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id},"reason":"The client cancelled this call."}}}}"#
    )
}

pub(super) fn waiting(action: &str) -> String {
    format!("Waits for a human as {action}.")
}

pub(super) fn parked(action: &str) -> String {
    format!(
        "This call did not run. It waits for a human as {action}. Ask {RESULT_TOOL} with this id for the outcome."
    )
}

pub(super) fn not_known(action: &str) -> String {
    format!("No call of this session waits as {action}.")
}

pub(super) const CANCELLED: &str = "The agent cancelled this call before it ran.";
pub(super) const CANCELLED_RUNNING: &str = "The agent cancelled this call while it ran, and the MCP server did not say how it ended. It may have run.";
pub(super) const CLIENT_ENDED: &str = "The agent ended before this call ran.";
pub(super) const CLIENT_ENDED_RUNNING: &str =
    "The agent ended while this call ran, and the MCP server did not say how it ended. It may have run.";
pub(super) const SERVER_ENDED: &str = "The MCP server ended before it answered. The call may have run.";
pub(super) const SERVER_ENDED_BEFORE: &str = "The MCP server ended before this call ran.";
const NOBODY_KNOWS: &str =
    "This call was started and nobody knows whether it ran. It is not run again. Ask a human to check it.";
const ASKED_BACK: &str =
    "This call asked back before, and its question is not open any more. It was not run again.";
pub(super) const OWN_TASK: &str =
    "The MCP server answered with a task of its own, which placet does not follow. The call may have run.";
pub(super) const UNREADABLE: &str = "The MCP server's answer cannot be read. The call may have run.";
const NOT_KEPT: &str = "This call ran. Its result was read before and is not kept any more.";

/// A server's result as the client gets it. `structuredContent` goes: where it stands, Claude Code (2.1.197) shows the model nothing else.
/// A result that holds nothing else is shown as text. `ran_with` is the input of a human, for a note in front.
pub(super) fn readable(result: &str, ran_with: Option<&str>) -> String {
    let structured = line::member(result, "structuredContent");
    let blocks = line::member(result, "content").and_then(json::elements).unwrap_or_default();
    let note = ran_with.map(|input| {
        block(&format!("A human changed this call before it ran. It ran with: {}", json::compact(input)))
    });
    let shown = structured.filter(|_| blocks.is_empty()).map(block);
    let all: Vec<&str> = note.iter().map(String::as_str).chain(blocks).chain(shown.as_deref()).collect();
    let content = format!("[{}]", all.join(","));
    line::without_member(result, "structuredContent")
        .and_then(|plain| line::with_member(&plain, "content", &content))
        .unwrap_or_else(|| result.to_owned())
}

/// The report on a tool's result. The words of one that says that it failed are its error.
pub(super) fn reported(result: &str) -> RunOutcome {
    match failure(result) {
        Some(words) => outcome::failed(&words),
        None => outcome::ran(result),
    }
}

/// `None` for a result that does not say that it failed.
fn failure(result: &str) -> Option<String> {
    if line::member(result, "isError") != Some("true") {
        return None;
    }
    let blocks = line::member(result, "content").and_then(json::elements).unwrap_or_default();
    let texts: Vec<_> =
        blocks.into_iter().filter_map(|block| line::member(block, "text")).map(said).collect();
    Some(if texts.is_empty() { result.to_owned() } else { texts.join("\n") })
}

/// A string's meaning, with U+FFFD for half surrogate pairs: words for people are never dropped.
pub(super) fn said(raw: &str) -> String {
    json::decode(raw).text.into_owned()
}

fn block(text: &str) -> String {
    format!(r#"{{"type":"text","text":{}}}"#, json::encode(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::RawJson;

    #[test]
    fn a_note_stands_in_front_and_structured_content_goes() {
        let result = r#"{"content":[{"type":"text","text":"ok"}],"structuredContent":{"a":1.0},"x":1}"#;

        let want = r#"{"content":[{"type":"text","text":"A human changed this call before it ran. It ran with: {\"a\":2}"},{"type":"text","text":"ok"}],"x":1}"#;
        assert_eq!(readable(result, Some("{ \"a\": 2 }")), want);
        assert_eq!(readable(result, None), r#"{"content":[{"type":"text","text":"ok"}],"x":1}"#);
    }

    #[test]
    fn a_result_of_structured_content_alone_is_shown_as_text() {
        let want = r#"{"content":[{"type":"text","text":"{\"a\":1.0}"}]}"#;

        assert_eq!(readable(r#"{"structuredContent":{"a":1.0}}"#, None), want);
        assert_eq!(readable(r#"{"content":[],"structuredContent":{"a":1.0}}"#, None), want);
        assert_eq!(readable("{}", None), r#"{"content":[]}"#);
        assert_eq!(readable("7", None), "7");
    }

    #[test]
    fn a_failure_is_told_in_its_own_words() {
        let failed = r#"{"content":[{"type":"text","text":"no"},{"type":"image"},{"type":"text","text":"room"}],"isError":true}"#;

        assert_eq!(failure(failed).as_deref(), Some("no\nroom"));
        assert_eq!(failure(r#"{"isError":true}"#).as_deref(), Some(r#"{"isError":true}"#));
        assert_eq!(failure(r#"{"content":[],"isError":false}"#), None);
    }

    #[test]
    fn everything_said_is_json() {
        for said in [
            error("null", INTERNAL, "a \"quote\"\n"),
            Outcome::words("é", true).line("\"x\""),
            progress("7", 1, &waiting("a")),
            cancelled("\"x\""),
            RESULT_TOOL_ENTRY.to_owned(),
        ] {
            assert!(RawJson::parse(said.as_str()).is_ok(), "{said}");
        }
        assert!(RESULT_TOOL_ENTRY.contains(&format!("\"name\":\"{RESULT_TOOL}\"")));
    }
}
