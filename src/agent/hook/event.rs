//! Reads the events that agents' clients write to a hook's standard input.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};

use serde_json::value::RawValue;
use uuid::Uuid;

use crate::agent::clients::{HookClient, Protocol};
use crate::agent::outcome;
use crate::domain::{Untrusted, json};
use crate::text;

/// Longest event before a call, in bytes; the gate accepts no longer body.
pub const EVENT_MAX: usize = 16 << 20;
/// The event that `placet doctor` sends. No client has an event of this name.
pub const PROBE: &str = r#"{"hook_event_name":"PlacetProbe"}"#;

impl Protocol {
    fn has(self, event: &str) -> bool {
        match self {
            Self::Claude => matches!(event, "PreToolUse" | "PostToolUse" | "PostToolUseFailure"),
            Self::Gemini => matches!(event, "BeforeTool" | "AfterTool"),
        }
    }

    fn asks(self, event: &str) -> bool {
        event == if self == Self::Claude { "PreToolUse" } else { "BeforeTool" }
    }
}

#[derive(Debug)]
pub struct HookCall {
    pub client: &'static HookClient,
    pub session: String,
    /// The client's id of the call; `None` from one without call ids.
    pub id: Option<String>,
    pub tool: String,
    /// A JSON object, byte for byte; `null` in a report without it.
    pub input: Box<RawValue>,
    pub folder: PathBuf,
    pub transcript: Option<PathBuf>,
}

#[derive(Debug)]
pub enum Event {
    Before(HookCall),
    After(HookCall, Ran),
    /// `placet doctor` asks whether the gate is reachable.
    Probe,
}

#[derive(Debug)]
pub enum Ran {
    /// The tool's response, byte for byte.
    Response(String),
    Failed(String),
}

#[derive(Debug, thiserror::Error)]
pub enum EventError {
    #[error("The event is no JSON that placet reads: {0}.")]
    Json(String),
    #[error("placet does not know the event {}.", text::line(.0).plain())]
    Unknown(Untrusted),
    #[error("The event names no {0}.")]
    Lacks(&'static str),
    #[error("This is no event of {}. Install the hook again.", .0.title())]
    OtherClient(&'static HookClient),
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads the first JSON value of `input` and stops, because a client may keep its end open.
pub fn first(input: impl BufRead) -> io::Result<Vec<u8>> {
    let (mut event, mut nesting) = (Vec::new(), json::Nesting::default());
    for byte in input.bytes() {
        let byte = byte?;
        event.push(byte);
        let is_mark = BYTE_ORDER_MARK.starts_with(&event);
        if nesting.take(byte) && nesting.depth() == 0 && !byte.is_ascii_whitespace() && !is_mark {
            break;
        }
    }
    Ok(event)
}

/// Reads an event. `installed` is the client named by the installed hook; without it, the event's shape decides. An
/// event before a call must be valid JSON without duplicate members. A report may be broken, so that its outcome is not lost.
pub fn read(event: &[u8], installed: Option<&'static HookClient>) -> Result<Event, EventError> {
    let text = String::from_utf8_lossy(event.strip_prefix(BYTE_ORDER_MARK).unwrap_or(event));
    let is_utf8 = matches!(text, Cow::Borrowed(_));
    let members =
        json::rough_members(&text).ok_or_else(|| EventError::Json("it does not begin with {".to_owned()))?;
    let raw = |key: &'static str| json::last(&members, key).filter(|value| *value != "null");
    let string = |key: &'static str| {
        let decoded = raw(key).filter(|value| value.starts_with('"')).map(json::decode);
        decoded.filter(|it| !it.lossy && !it.text.is_empty()).map(|it| it.text.into_owned())
    };
    let needed = |key: &'static str| string(key).ok_or(EventError::Lacks(key));
    let event = needed("hook_event_name")?;
    if event == "PlacetProbe" {
        return Ok(Event::Probe);
    }
    let is_marked = |client: &&HookClient| client.marker.is_none_or(|name| raw(name).is_some());
    let writers = HookClient::all().filter(|client| client.protocol.has(&event)).filter(is_marked);
    let Some(writer) = writers.max_by_key(|client| client.marker.is_some()) else {
        return Err(EventError::Unknown(event.into()));
    };
    let client = installed.unwrap_or(writer);
    let protocol = client.protocol;
    if !protocol.has(&event) {
        return Err(EventError::OtherClient(client));
    }
    let asks = protocol.asks(&event);
    if asks {
        json::Scanner::new(&text).check().map_err(|error| EventError::Json(error.to_string()))?;
        let mut keys = HashSet::new();
        let doubt = [
            ("it is not UTF-8", is_utf8),
            ("it has a member twice", members.iter().all(|(key, _)| keys.insert(key))),
        ];
        if let Some((why, _)) = doubt.into_iter().find(|(_, is_fine)| !is_fine) {
            return Err(EventError::Json(why.to_owned()));
        }
    }
    let folder = string("cwd").map(PathBuf::from).filter(|folder| folder.is_absolute() || !asks);
    let call = HookCall {
        client,
        session: needed("session_id")?,
        id: string("tool_use_id"),
        tool: needed("tool_name")?,
        input: input(raw("tool_input"), asks)?,
        folder: folder.or_else(|| (!asks).then(PathBuf::new)).ok_or(EventError::Lacks("cwd"))?,
        transcript: string("transcript_path").map(PathBuf::from),
    };
    if call.id.is_none() && protocol == Protocol::Claude {
        return Err(EventError::Lacks("tool_use_id"));
    }
    if asks {
        return Ok(Event::Before(call));
    }
    let ran = if event == "PostToolUseFailure" {
        Ran::Failed(raw("error").map_or_else(|| "The client gave no reason.".to_owned(), reason))
    } else {
        ran(protocol, json::last(&members, "tool_response"), raw("error"))
    };
    Ok(Event::After(call, ran))
}

fn input(raw: Option<&str>, asks: bool) -> Result<Box<RawValue>, EventError> {
    let Some(raw) = raw.or((!asks).then_some("null")) else { return Err(EventError::Lacks("tool_input")) };
    RawValue::from_string(raw.to_owned()).or_else(|error| match outcome::plain(raw) {
        _ if asks => Err(EventError::Json(error.to_string())),
        // Encoded as a string it differs from the approved input, so the difference is reported.
        plain => {
            let plain = plain.unwrap_or_else(|_| json::encode(raw));
            Ok(RawValue::from_string(plain).unwrap_or_default())
        }
    })
}

/// Returns the result of a call that the client counts as run.
fn ran(protocol: Protocol, response: Option<&str>, error: Option<&str>) -> Ran {
    let parts = response.filter(|_| protocol == Protocol::Gemini).and_then(json::rough_members);
    let within = parts.as_ref().and_then(|parts| json::last(parts, "error")).filter(|error| *error != "null");
    match (within, response.filter(|response| *response != "null"), error) {
        (Some(error), ..) | (None, None, Some(error)) => Ran::Failed(reason(error)),
        (None, ..) => Ran::Response(response.unwrap_or("null").to_owned()),
    }
}

/// Extracts the message of an error: a string, an object's `message`, or its JSON.
fn reason(error: &str) -> String {
    let parts = json::rough_members(error);
    let message = parts.as_ref().and_then(|parts| json::last(parts, "message"));
    json::decode(message.unwrap_or(error)).text.into_owned()
}

impl HookCall {
    pub fn id_or_random(&self) -> String {
        self.id.clone().unwrap_or_else(|| Uuid::new_v4().to_string())
    }

    pub fn path(&self, given: &str) -> PathBuf {
        self.folder.join(Path::new(given))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::clients::{CLAUDE_CODE_HOOK, CODEX_HOOK, GEMINI_HOOK};

    pub(crate) fn claude(event: &str, more: &str) -> String {
        format!(
            r#"{{"session_id":"s1","transcript_path":"/t.jsonl","cwd":"/work","hook_event_name":"{event}","tool_name":"Bash",
               "tool_input":{{ "command": "echo 1",  "n": 1.10 }},"tool_use_id":"toolu_1"{more}}}"#
        )
    }

    #[test]
    fn call_is_read_byte_for_byte() {
        let Event::Before(call) = read(claude("PreToolUse", "").as_bytes(), None).unwrap() else { panic!() };

        assert_eq!(call.input.get(), r#"{ "command": "echo 1",  "n": 1.10 }"#);
        assert_eq!((call.client.word(), call.tool.as_str()), ("claude-code", "Bash"));
        assert_eq!((call.session.as_str(), call.id.as_deref()), ("s1", Some("toolu_1")));
    }

    #[test]
    fn client_is_derived_from_the_event() {
        let client = |text: &str, installed| match read(text.as_bytes(), installed) {
            Ok(Event::Before(call) | Event::After(call, _)) => Ok(call.client.word()),
            Ok(Event::Probe) => panic!(),
            Err(error) => Err(error.to_string()),
        };
        let codex = claude("PreToolUse", r#","turn_id":"t""#);
        let gemini = claude("BeforeTool", "").replace(r#","tool_use_id":"toolu_1""#, "");

        assert_eq!(client(&codex, None), Ok("codex"));
        assert_eq!(client(&codex, Some(&CLAUDE_CODE_HOOK)), Ok("claude-code"));
        assert_eq!(client(&gemini, None), Ok("gemini"));
        assert!(client(&gemini, Some(&CODEX_HOOK)).unwrap_err().contains("no event of Codex"));
        assert!(client(&codex, Some(&GEMINI_HOOK)).is_err());
    }

    #[test]
    fn response_is_kept_byte_for_byte_and_errors_recognized() {
        let after = |event: &str, more: &str| match read(claude(event, more).as_bytes(), None).unwrap() {
            Event::After(_, ran) => ran,
            other => panic!("{other:?}"),
        };

        let response = after("PostToolUse", r#","tool_response":{"stdout": "x" }"#);
        assert!(matches!(response, Ran::Response(raw) if raw == r#"{"stdout": "x" }"#));
        let failed = after("PostToolUseFailure", r#","error":"Exit code 3""#);
        assert!(matches!(failed, Ran::Failed(why) if why == "Exit code 3"));
    }

    #[test]
    fn every_form_of_report_keeps_its_outcome() {
        let after = |event: &str, more: &str| match read(claude(event, more).as_bytes(), None).unwrap() {
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
            ("PostToolUse", r#","tool_response":{"a":[NaN,-Infinity]}"#, r#"ran {"a":[NaN,-Infinity]}"#),
            ("PostToolUse", r#","tool_response":1,"tool_response":2"#, "ran 2"),
            ("PostToolUse", r#","tool_response":{"a":tru} "#, r#"ran {"a":tru}"#),
            ("PostToolUse", r#","cwd":null,"tool_response":1"#, "ran 1"),
            ("PostToolUse", r#","tool_response":"a:}\\\"","x":1"#, r#"ran "a:}\\\"""#),
            ("PostToolUseFailure", r#","error":NaN"#, "failed NaN"),
            ("PostToolUseFailure", r#","error":"a","error":"b""#, "failed b"),
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
    fn reported_event_needs_neither_utf8_nor_shallow_values() {
        let after = |more: &[u8]| {
            let event = claude("PostToolUse", "").replace(r#","tool_use_id":"toolu_1"}"#, "");
            match read(&[event.as_bytes(), more, br#","tool_use_id":"toolu_1"}"#].concat(), None) {
                Ok(Event::After(call, Ran::Response(raw))) => (call.id.unwrap(), raw),
                other => panic!("{other:?}"),
            }
        };
        let id = "toolu_1".to_owned();
        assert_eq!(after(b",\"tool_response\":\"a\xff\""), (id.clone(), "\"a\u{fffd}\"".to_owned()));
        let deep = ["[".repeat(600), "]".repeat(600)].concat();
        assert_eq!(after(format!(r#","tool_response":{deep}"#).as_bytes()), (id, deep));
        let cut = claude("PostToolUse", r#","tool_response":{"a":"lon"#);
        assert!(matches!(read(cut.as_bytes(), None), Ok(Event::After(_, Ran::Response(_)))));
        let odd = claude("PostToolUse", "").replace("1.10", "NaN");
        assert!(matches!(read(odd.as_bytes(), None), Ok(Event::After(..))));
    }

    #[test]
    fn report_without_its_input_keeps_its_outcome() {
        for (from, to) in [(r#"{ "command": "echo 1",  "n": 1.10 }"#, "null"), ("tool_input", "other")] {
            let lacking = |event| claude(event, r#","tool_response":"ok""#).replacen(from, to, 1);
            match read(lacking("PostToolUse").as_bytes(), None) {
                Ok(Event::After(call, Ran::Response(raw))) => {
                    assert_eq!(
                        (call.id.as_deref(), call.input.get(), raw.as_str()),
                        (Some("toolu_1"), "null", r#""ok""#)
                    );
                }
                other => panic!("{other:?}"),
            }
            let asks = read(lacking("PreToolUse").as_bytes(), None);
            assert!(matches!(asks, Err(EventError::Lacks("tool_input"))), "{asks:?}");
        }
    }

    #[test]
    fn byte_order_mark_before_an_event_is_skipped() {
        for name in ["PreToolUse", "PostToolUse"] {
            let marked = format!("\u{feff}{}", claude(name, ""));
            let event = first(marked.as_bytes()).unwrap();

            assert_eq!(event, marked.as_bytes());
            assert!(matches!(read(&event, None), Ok(Event::Before(_) | Event::After(..))), "{name}");
        }
    }

    #[test]
    fn ambiguous_event_before_a_call_is_refused() {
        let asks = |from: &str, to: &[u8]| {
            let event = claude("PreToolUse", "");
            let (before, after) = event.split_once(from).unwrap();
            read(&[before.as_bytes(), to, after.as_bytes()].concat(), None).unwrap_err().to_string()
        };
        for (from, to, why) in [
            ("1.10", b"NaN".as_slice(), "no JSON"),
            ("echo 1", b"\xff", "not UTF-8"),
            ("1.10", b"1.10,}", "no JSON"),
            (r#""cwd":"/work""#, br#""cwd":"work""#, "names no cwd"),
            (r#""cwd":"/work""#, br#""cwd":"/work","cwd":"/etc""#, "twice"),
            (r#""tool_use_id""#, br#""tool_input":{},"tool_use_id""#, "twice"),
        ] {
            let said = asks(from, to);
            assert!(said.contains(why), "{said}");
        }
        assert!(
            std::error::Error::source(&read(b"[", None).unwrap_err()).is_none(),
            "a source would repeat the text"
        );
    }

    #[test]
    fn reading_stops_at_the_end_of_the_first_value() {
        for (text, event) in [
            (r#" {"a":"}\\"}{"b":1}"#, r#" {"a":"}\\"}"#),
            (r#"{"a":[{}]} x"#, r#"{"a":[{}]}"#),
            ("nonsense", "n"),
            ("{\"a\"", "{\"a\""),
        ] {
            assert_eq!(first(text.as_bytes()).unwrap(), event.as_bytes(), "{text}");
        }
    }

    #[test]
    fn missing_members_and_unknown_events_are_refused() {
        let refused = |text: &str| read(text.as_bytes(), None).unwrap_err().to_string();

        assert!(refused("").contains("no JSON"));
        assert!(refused(&claude("Stop", "")).contains("does not know the event"));
        assert!(refused(r#"{"hook_event_name":"PreToolUse"}"#).contains("session_id"));
        for member in [r#""tool_use_id":"toolu_1""#, r#""session_id":"s1""#, r#""tool_name":"Bash""#] {
            assert!(refused(&claude("PreToolUse", "").replace(member, r#""other":1"#)).contains("names no"));
        }
        // Readers that take the first or the last duplicate would see different inputs.
        assert!(refused(&claude("PreToolUse", r#","tool_input":{}"#)).contains("no JSON"));
    }
}
