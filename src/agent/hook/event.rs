//! What an agent's client tells a hook on standard input.
//!
//! The shapes are those of Claude Code 2.1.197, Codex CLI 0.169.0 and Gemini CLI 0.61.0. Codex writes Claude Code's shape and adds
//! `turn_id`. Gemini CLI has other event names and no ids of calls.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::domain::{Untrusted, json};
use crate::text;

/// Longest event that asks, in bytes; a gate takes no longer body.
pub const EVENT_MAX: usize = 16 << 20;
/// The event that `placet doctor` sends. No client has one of this name.
pub const PROBE: &str = r#"{"hook_event_name":"PlacetProbe"}"#;

/// A program that runs an agent and calls hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookClient {
    ClaudeCode,
    Codex,
    Gemini,
}

impl HookClient {
    pub const ALL: [Self; 3] = [Self::ClaudeCode, Self::Codex, Self::Gemini];

    /// As it is named on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
        }
    }

    /// The agent that reviewers see, and a part of every key: it never changes.
    pub const fn agent(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini-cli",
        }
    }

    /// As its makers write it.
    pub const fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
        }
    }

    /// Only Claude Code ends the turn on `defer`. Codex runs the tool, Gemini CLI does not know the word.
    pub const fn can_defer(self) -> bool {
        matches!(self, Self::ClaudeCode)
    }
}

/// One call of a tool, as the client tells it.
#[derive(Debug)]
pub struct HookCall {
    pub client: HookClient,
    pub session: String,
    /// The client's own id of the call; Gemini CLI gives none.
    pub id: Option<String>,
    pub tool: String,
    /// A JSON object, byte for byte.
    pub input: Box<RawValue>,
    /// The agent's working folder.
    pub folder: PathBuf,
    pub transcript: Option<PathBuf>,
}

/// What the client asks or tells.
#[derive(Debug)]
pub enum Event {
    /// May this call run?
    Before(HookCall),
    /// It ran.
    After(HookCall, Ran),
    /// `placet doctor` asks whether the gate can be reached.
    Probe,
}

/// How a call ended at the client.
#[derive(Debug)]
pub enum Ran {
    /// The tool's response, as it came.
    Response(Box<RawValue>),
    Failed(String),
}

/// Why an event is refused.
#[derive(Debug, thiserror::Error)]
pub enum EventError {
    #[error("The event is no JSON that placet reads: {0}.")]
    Json(#[from] serde_json::Error),
    #[error("placet does not know the event {}.", text::line(.0).plain())]
    Unknown(Untrusted),
    #[error("The event names no {0}.")]
    Lacks(&'static str),
    #[error("This is no event of {}. Install the hook again.", .0.title())]
    OtherClient(HookClient),
}

#[derive(Deserialize)]
struct Wire {
    hook_event_name: String,
    session_id: Option<String>,
    turn_id: Option<String>,
    transcript_path: Option<PathBuf>,
    cwd: Option<PathBuf>,
    tool_name: Option<String>,
    tool_input: Option<Box<RawValue>>,
    tool_use_id: Option<String>,
    tool_response: Option<Box<RawValue>>,
    error: Option<Box<RawValue>>,
}

/// Reads an event. `installed` is the client that the hook was installed for; without it the event tells.
pub fn read(text: &str, installed: Option<HookClient>) -> Result<Event, EventError> {
    let wire: Wire = serde_json::from_str(text)?;
    let claude_like = match wire.hook_event_name.as_str() {
        "PreToolUse" | "PostToolUse" | "PostToolUseFailure" => true,
        "BeforeTool" | "AfterTool" => false,
        "PlacetProbe" => return Ok(Event::Probe),
        other => return Err(EventError::Unknown(other.into())),
    };
    let told = match (claude_like, wire.turn_id.is_some()) {
        (false, _) => HookClient::Gemini,
        (true, true) => HookClient::Codex,
        (true, false) => HookClient::ClaudeCode,
    };
    let client = installed.unwrap_or(told);
    if claude_like == (client == HookClient::Gemini) {
        return Err(EventError::OtherClient(client));
    }
    let some = |text: Option<String>| text.filter(|text| !text.is_empty());
    let call = HookCall {
        client,
        session: some(wire.session_id).ok_or(EventError::Lacks("session_id"))?,
        id: some(wire.tool_use_id),
        tool: some(wire.tool_name).ok_or(EventError::Lacks("tool_name"))?,
        input: wire.tool_input.ok_or(EventError::Lacks("tool_input"))?,
        folder: wire.cwd.filter(|folder| folder.is_absolute()).ok_or(EventError::Lacks("cwd"))?,
        transcript: wire.transcript_path,
    };
    if call.id.is_none() && client != HookClient::Gemini {
        return Err(EventError::Lacks("tool_use_id"));
    }
    Ok(match wire.hook_event_name.as_str() {
        "PreToolUse" | "BeforeTool" => Event::Before(call),
        "PostToolUseFailure" => {
            let why = wire
                .error
                .map_or_else(|| "The client gave no reason.".to_owned(), |error| reason(error.get()));
            Event::After(call, Ran::Failed(why))
        }
        _ => Event::After(call, ran(client, wire.tool_response, wire.error)),
    })
}

/// How a call ended that the client counts as run. Gemini CLI tells an error of the tool inside its response.
fn ran(client: HookClient, response: Option<Box<RawValue>>, error: Option<Box<RawValue>>) -> Ran {
    let within = response.as_ref().filter(|_| client == HookClient::Gemini);
    let within = within
        .and_then(|response| json::members(response.get())?.into_iter().rfind(|it| it.key.text == "error"));
    match (within.filter(|error| error.value != "null"), response.as_ref(), error) {
        (Some(error), ..) => Ran::Failed(reason(error.value)),
        (None, None, Some(error)) => Ran::Failed(reason(error.get())),
        (None, ..) => Ran::Response(response.unwrap_or_else(|| RawValue::NULL.to_owned())),
    }
}

/// Words from an error: a string, the message of an object, else its JSON.
fn reason(error: &str) -> String {
    let message =
        json::members(error).and_then(|members| members.into_iter().rfind(|it| it.key.text == "message"));
    json::decode(message.map_or(error, |message| message.value)).text.into_owned()
}

impl HookCall {
    /// The client's id of the call, else a random one.
    pub fn id_or_random(&self) -> String {
        self.id.clone().unwrap_or_else(|| Uuid::new_v4().to_string())
    }

    /// A path of the input, as the tool takes it.
    pub fn path(&self, given: &str) -> PathBuf {
        self.folder.join(Path::new(given))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn claude(event: &str, more: &str) -> String {
        format!(
            r#"{{"session_id":"s1","transcript_path":"/t.jsonl","cwd":"/work","hook_event_name":"{event}","tool_name":"Bash",
               "tool_input":{{ "command": "echo 1",  "n": 1.10 }},"tool_use_id":"toolu_1"{more}}}"#
        )
    }

    #[test]
    fn call_is_read_byte_for_byte() {
        let Event::Before(call) = read(&claude("PreToolUse", ""), None).unwrap() else { panic!() };

        assert_eq!(call.input.get(), r#"{ "command": "echo 1",  "n": 1.10 }"#);
        assert_eq!((call.client, call.tool.as_str()), (HookClient::ClaudeCode, "Bash"));
        assert_eq!((call.session.as_str(), call.id.as_deref()), ("s1", Some("toolu_1")));
    }

    #[test]
    fn event_tells_its_client() {
        let client = |text: &str, installed| match read(text, installed) {
            Ok(Event::Before(call) | Event::After(call, _)) => Ok(call.client),
            Ok(Event::Probe) => panic!(),
            Err(error) => Err(error.to_string()),
        };
        let codex = claude("PreToolUse", r#","turn_id":"t""#);
        let gemini = claude("BeforeTool", "").replace(r#","tool_use_id":"toolu_1""#, "");

        assert_eq!(client(&codex, None), Ok(HookClient::Codex));
        assert_eq!(client(&codex, Some(HookClient::ClaudeCode)), Ok(HookClient::ClaudeCode));
        assert_eq!(client(&gemini, None), Ok(HookClient::Gemini));
        assert!(client(&gemini, Some(HookClient::Codex)).unwrap_err().contains("no event of Codex"));
        assert!(client(&codex, Some(HookClient::Gemini)).is_err());
    }

    #[test]
    fn response_is_kept_as_it_came_and_errors_are_told_apart() {
        let after = |event: &str, more: &str| match read(&claude(event, more), None).unwrap() {
            Event::After(_, ran) => ran,
            other => panic!("{other:?}"),
        };

        let response = after("PostToolUse", r#","tool_response":{"stdout": "x" }"#);
        assert!(matches!(response, Ran::Response(raw) if raw.get() == r#"{"stdout": "x" }"#));
        let failed = after("PostToolUseFailure", r#","error":"Exit code 3""#);
        assert!(matches!(failed, Ran::Failed(why) if why == "Exit code 3"));
    }

    #[test]
    fn every_form_of_an_end_keeps_its_outcome() {
        let after = |event: &str, more: &str| match read(&claude(event, more), None).unwrap() {
            Event::After(_, Ran::Response(raw)) => format!("ran {raw}"),
            Event::After(_, Ran::Failed(why)) => format!("failed {why}"),
            other => panic!("{other:?}"),
        };

        for (event, more, expected) in [
            ("PostToolUse", "", "ran null"),
            ("PostToolUse", r#","tool_response":null"#, "ran null"),
            ("PostToolUse", r#","tool_response":"ok""#, r#"ran "ok""#),
            (
                "PostToolUse",
                r#","tool_response":{"error":{"message":"in data"}}"#,
                r#"ran {"error":{"message":"in data"}}"#,
            ),
            ("PostToolUse", r#","tool_response":{"a":1},"error":null"#, r#"ran {"a":1}"#),
            ("PostToolUse", r#","error":{"message":"boom"}"#, "failed boom"),
            ("PostToolUse", r#","tool_response":"\ud83d half""#, r#"ran "\ud83d half""#),
            ("PostToolUseFailure", "", "failed The client gave no reason."),
            ("PostToolUseFailure", r#","error":null"#, "failed The client gave no reason."),
            ("PostToolUseFailure", r#","error":{"message":"boom"}"#, "failed boom"),
            ("PostToolUseFailure", r#","error":{"code":7}"#, r#"failed {"code":7}"#),
            ("PostToolUseFailure", r#","error":"\ud83d""#, "failed \u{fffd}"),
            ("AfterTool", "", "ran null"),
            ("AfterTool", r#","tool_response":{"llmContent":"x","error":{"message":"no"}}"#, "failed no"),
            ("AfterTool", r#","tool_response":{"error":"no"}"#, "failed no"),
            ("AfterTool", r#","tool_response":{"error":{"type":"t"}}"#, r#"failed {"type":"t"}"#),
            (
                "AfterTool",
                r#","tool_response":{"llmContent":"x","error":null}"#,
                r#"ran {"llmContent":"x","error":null}"#,
            ),
        ] {
            assert_eq!(after(event, more), expected, "{event} {more}");
        }
    }

    #[test]
    fn what_is_missing_or_unknown_is_refused() {
        let refused = |text: &str| read(text, None).unwrap_err().to_string();

        assert!(refused("").contains("no JSON"));
        assert!(refused(&claude("Stop", "")).contains("does not know the event"));
        assert!(refused(r#"{"hook_event_name":"PreToolUse"}"#).contains("session_id"));
        for member in [r#""tool_use_id":"toolu_1""#, r#""session_id":"s1""#, r#""tool_name":"Bash""#] {
            assert!(refused(&claude("PreToolUse", "").replace(member, r#""other":1"#)).contains("names no"));
        }
        // A second member of one name could tell another input than the one that runs.
        assert!(refused(&claude("PreToolUse", r#","tool_input":{}"#)).contains("no JSON"));
    }
}
