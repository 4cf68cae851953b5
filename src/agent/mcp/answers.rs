//! What the proxy says by itself, and what it puts around a server's answer.

use serde_json::value::RawValue;

use crate::domain::json;
use crate::sources::RunOutcome;

use super::line;

/// JSON-RPC's code for a request that is not valid.
pub(super) const INVALID_REQUEST: i32 = -32_600;
/// JSON-RPC's code for parameters that are not valid.
pub(super) const INVALID_PARAMS: i32 = -32_602;
/// JSON-RPC's code for what went wrong inside.
pub(super) const INTERNAL: i32 = -32_603;

/// The tool with which the model asks what became of a parked call.
pub(super) const RESULT_TOOL: &str = "placet_result";

/// Its entry in a list of tools.
pub(super) const RESULT_TOOL_ENTRY: &str = r#"{"name":"placet_result","title":"Outcome of a waiting call","description":"Returns the outcome of a call that waited for a human. Ask with the id that the call returned. It waits for the decision.","inputSchema":{"type":"object","properties":{"id":{"type":"string","description":"The id that the call returned"}},"required":["id"]},"annotations":{"readOnlyHint":true}}"#;

/// A line with an error. `id` is written as it stands.
pub(super) fn error(id: &str, code: i32, why: &str) -> String {
    Outcome::error(code, why).line(id)
}

/// What a call is answered with: JSON, as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Result(String),
    /// An error of JSON-RPC.
    Error(String),
}

impl Outcome {
    pub(super) fn error(code: i32, why: &str) -> Self {
        Self::Error(format!(r#"{{"code":{code},"message":{}}}"#, json::encode(why)))
    }

    /// The line that answers the request `id`, which is written as it stands.
    pub(super) fn line(&self, id: &str) -> String {
        match self {
            Self::Result(result) => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
            Self::Error(error) => format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#),
        }
    }

    /// In bytes.
    pub(super) const fn len(&self) -> usize {
        match self {
            Self::Result(text) | Self::Error(text) => text.len(),
        }
    }
}

/// A tool's result of one sentence.
pub(super) fn words(said: &str, is_error: bool) -> String {
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
pub(super) const SERVER_ENDED: &str = "The MCP server ended.";
pub(super) const SERVER_ENDED_BEFORE: &str = "The MCP server ended before this call ran.";
pub(super) const NOT_KEPT: &str = "This call ran. Its result was read before and is not kept any more.";

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

/// What the gate is told of a tool's result: the words of one that says that it failed, any other as a whole.
pub(super) fn reported(result: &str) -> RunOutcome {
    match (failure(result), RawValue::from_string(result.to_owned())) {
        (Some(words), _) => RunOutcome::Error(words),
        (None, Ok(result)) => RunOutcome::Result(result),
        (None, Err(_)) => RunOutcome::Error("The result is no JSON that can be kept.".to_owned()),
    }
}

/// `None` for a result that does not say that it failed.
fn failure(result: &str) -> Option<String> {
    if line::member(result, "isError") != Some("true") {
        return None;
    }
    let blocks = line::member(result, "content").and_then(json::elements).unwrap_or_default();
    let texts: Vec<_> =
        blocks.into_iter().filter_map(|block| line::member(block, "text").and_then(line::text)).collect();
    Some(if texts.is_empty() { result.to_owned() } else { texts.join("\n") })
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
            Outcome::Result(words("é", true)).line("\"x\""),
            progress("7", 1, &waiting("a")),
            cancelled("\"x\""),
            RESULT_TOOL_ENTRY.to_owned(),
        ] {
            assert!(RawJson::parse(said.as_str()).is_ok(), "{said}");
        }
        assert!(RESULT_TOOL_ENTRY.contains(&format!("\"name\":\"{RESULT_TOOL}\"")));
    }
}
