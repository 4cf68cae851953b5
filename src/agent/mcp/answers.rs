//! Builds the proxy's own messages, and rewrites the server's answers.

use crate::agent::outcome;
use crate::domain::{Status, json};
use crate::sources::RunOutcome;

use super::line;

/// Error codes of JSON-RPC.
pub(super) const INVALID_REQUEST: i32 = -32_600;
pub(super) const INVALID_PARAMS: i32 = -32_602;
pub(super) const INTERNAL: i32 = -32_603;

/// MCP code for a missing client capability. The server did not carry out such a request.
const MISSING_CAPABILITY: &str = "-32021";

const DISPOSITION: &str = "io.modelcontextprotocol/tool-approval-disposition";
pub(super) const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// Values of [`DISPOSITION`].
const EXECUTED: &str = "approved-executed";
const FAILED: &str = "execution-error";
const UNKNOWN: &str = "outcome-unknown";

pub(super) const RESULT_TOOL: &str = "placet_result";

pub(super) const RESULT_TOOL_ENTRY: &str = r#"{"name":"placet_result","title":"Outcome of a waiting call","description":"Returns the outcome of a call that waited for a human. Ask with the id that the call returned. It waits for the decision.","inputSchema":{"type":"object","properties":{"id":{"type":"string","description":"The id that the call returned"}},"required":["id"]},"annotations":{"readOnlyHint":true}}"#;

/// Returns a line with an error. `id` is JSON.
pub(super) fn error(id: &str, code: i32, why: &str) -> String {
    Outcome::error(code, why).line(id)
}

/// The answer to a call. Clients of MCP 2026-07-28 get it in another form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    body: Body,
    /// A tool error for clients of MCP 2026-07-28, in place of `body`.
    for_new: Option<String>,
    /// The disposition defined by SEP-2848.
    disposition: Option<&'static str>,
}

/// JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Body {
    Result(String),
    Error(String),
}

impl Outcome {
    const fn new(body: Body) -> Self {
        Self { body, for_new: None, disposition: None }
    }

    pub(super) fn error(code: i32, why: &str) -> Self {
        Self::new(Body::Error(format!(r#"{{"code":{code},"message":{}}}"#, json::encode(why))))
    }

    pub(super) fn words(said: &str, is_error: bool) -> Self {
        Self::new(Body::Result(words(said, is_error)))
    }

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

    pub(super) fn not_run(self, why: &str) -> Self {
        Self { for_new: Some(did_not_run(why)), ..self }
    }

    pub(super) fn unknown(self) -> Self {
        Self { for_new: Some(NOBODY_KNOWS.to_owned()), disposition: Some(UNKNOWN), ..self }
    }

    /// Returns the outcome of a repeated call that answers a question of the server.
    pub(super) fn asked_back() -> Self {
        Self { disposition: Some(UNKNOWN), ..Self::words(ASKED_BACK, true) }
    }

    pub(super) fn ran(result: &str, ran_with: Option<&str>) -> Self {
        let disposition = if is_error(line::member(result, "isError")) { FAILED } else { EXECUTED };
        Self { disposition: Some(disposition), ..Self::new(Body::Result(readable(result, ran_with))) }
    }

    /// Returns the outcome for a server's error. `why` is its message.
    pub(super) fn refused(error: &str, why: &str) -> Self {
        let new = match line::member(error, "code") {
            Some(MISSING_CAPABILITY) => did_not_run(&format!("The server refused it: {why}")),
            _ => format!("The server refused this call: {why}"),
        };
        let body = Body::Error(error.to_owned());
        Self { for_new: Some(new), disposition: Some(FAILED), ..Self::new(body) }
    }

    /// Returns the line that answers the request `id`, which is JSON.
    pub(super) fn line(&self, id: &str) -> String {
        match &self.body {
            Body::Result(result) => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
            Body::Error(error) => format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#),
        }
    }

    /// Like [`Self::line`], for a client of MCP 2026-07-28. `server` is the server's JSON description of itself.
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

    /// Replaces a result that is too long to keep by a sentence.
    pub(super) fn shortened(self, most: usize) -> Self {
        match &self.body {
            Body::Result(text) | Body::Error(text) if text.len() > most => {
                Self { disposition: self.disposition, ..Self::words(NOT_KEPT, false) }
            }
            _ => self,
        }
    }
}

/// Returns why a server's result does not finish its call, `None` if it does.
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

fn did_not_run(why: &str) -> String {
    match why.strip_prefix("A human rejected this call") {
        Some(rest) => format!("This call did not run. A human rejected it{rest}"),
        None if why.starts_with("This call did not run.") => why.to_owned(),
        None => format!("This call did not run. {why}"),
    }
}

fn words(said: &str, is_error: bool) -> String {
    format!(r#"{{"content":[{}],"isError":{is_error}}}"#, block(said))
}

/// Returns a progress notification. `progress` must grow.
pub(super) fn progress(token: &str, progress: u64, said: &str) -> String {
    let said = json::encode(said);
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":{progress},"message":{said}}}}}"#
    )
}

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

/// Rewrites a server's result for the client. Removes `structuredContent`, because Claude Code (2.1.197) would show the
/// model nothing else; without other content it becomes text. `ran_with` is a reviewer's input, mentioned in a note at
/// the front.
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

/// Returns the report of a tool's result. The text of a failed one is its error.
pub(super) fn reported(result: &str) -> RunOutcome {
    match failure(result) {
        Some(words) => outcome::failed(&words),
        None => outcome::ran(result),
    }
}

/// Reads a result's `isError`. Some servers write it as a string or a number.
pub(super) fn is_error(raw: Option<&str>) -> bool {
    matches!(raw, Some("true" | "1" | "\"true\"" | "\"True\"" | "\"1\""))
}

fn failure(result: &str) -> Option<String> {
    if !is_error(line::member(result, "isError")) {
        return None;
    }
    let blocks = line::member(result, "content").and_then(json::elements).unwrap_or_default();
    let texts: Vec<_> =
        blocks.into_iter().filter_map(|block| line::member(block, "text")).map(said).collect();
    Some(if texts.is_empty() { result.to_owned() } else { texts.join("\n") })
}

/// Decodes a string for display; half surrogate pairs become U+FFFD.
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
    fn edit_is_noted_and_structured_content_removed() {
        let result = r#"{"content":[{"type":"text","text":"ok"}],"structuredContent":{"a":1.0},"x":1}"#;

        let want = r#"{"content":[{"type":"text","text":"A human changed this call before it ran. It ran with: {\"a\":2}"},{"type":"text","text":"ok"}],"x":1}"#;
        assert_eq!(readable(result, Some("{ \"a\": 2 }")), want);
        assert_eq!(readable(result, None), r#"{"content":[{"type":"text","text":"ok"}],"x":1}"#);
    }

    #[test]
    fn structured_content_alone_is_shown_as_text() {
        let want = r#"{"content":[{"type":"text","text":"{\"a\":1.0}"}]}"#;

        assert_eq!(readable(r#"{"structuredContent":{"a":1.0}}"#, None), want);
        assert_eq!(readable(r#"{"content":[],"structuredContent":{"a":1.0}}"#, None), want);
        assert_eq!(readable("{}", None), r#"{"content":[]}"#);
        assert_eq!(readable("7", None), "7");
    }

    #[test]
    fn failure_is_reported_with_its_text() {
        let failed = r#"{"content":[{"type":"text","text":"no"},{"type":"image"},{"type":"text","text":"room"}],"isError":true}"#;

        assert_eq!(failure(failed).as_deref(), Some("no\nroom"));
        assert_eq!(failure(r#"{"isError":true}"#).as_deref(), Some(r#"{"isError":true}"#));
        for not in ["false", "null", "0", "\"false\"", "\"\""] {
            assert_eq!(failure(&format!(r#"{{"content":[],"isError":{not}}}"#)), None, "{not}");
        }
        for is in ["\"true\"", "1", "\"True\""] {
            assert!(failure(&format!(r#"{{"content":[],"isError":{is}}}"#)).is_some(), "{is}");
        }
    }

    #[test]
    fn own_messages_are_json() {
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
