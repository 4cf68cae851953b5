//! Reads one line of JSON-RPC and edits it in place.
//!
//! A line that is not read as a tool call here must not be one for the server either. JSON parsers differ: they take
//! the first or the last of two equal keys, match keys in any case (Go), or end a line at a carriage return (Python) or
//! U+2028 (Node's readline). So an ambiguous line is refused.

use std::borrow::Cow;
use std::ops::Range;

use crate::domain::json::{self, JsonError, Member, Scanner};

/// Members of a message that JSON-RPC defines.
const MESSAGE: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];
/// Parameters of a call that are read.
const CALL: [&str; 5] = ["name", "arguments", "_meta", "inputResponses", "requestState"];
/// The path below `params` to a client's offer to accept tasks.
const TASKS: [&str; 4] =
    ["_meta", "io.modelcontextprotocol/clientCapabilities", "extensions", "io.modelcontextprotocol/tasks"];
pub(super) const TOOLS_CALL: &str = "tools/call";

#[derive(Debug)]
pub(super) struct Message<'a> {
    pub(super) text: &'a str,
    members: Vec<Member<'a>>,
    /// Decoded; `None` for an answer.
    pub(super) method: Option<String>,
}

#[derive(Debug)]
pub(super) enum Line<'a> {
    Blank,
    One(Message<'a>),
    /// Several messages in one line, as MCP 2025-03-26 allows.
    Batch(Vec<Message<'a>>),
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) why: &'static str,
    /// JSON; `null` if the id is unreadable.
    pub(super) id: String,
}

impl Refused {
    fn of(why: &'static str) -> Self {
        Self { why, id: "null".to_owned() }
    }
}

/// Reads a line of the client, without its line feed.
pub(super) fn judge(line: &[u8]) -> Result<Line<'_>, Refused> {
    let text = std::str::from_utf8(line).map_err(|_| Refused::of("This line is not UTF-8."))?;
    let text = text.strip_suffix('\r').unwrap_or(text);
    if text.trim().is_empty() {
        return Ok(Line::Blank);
    }
    if text.contains('\r') {
        return Err(Refused::of("A carriage return within a line is not passed on."));
    }
    match Scanner::new(text).check() {
        Err(error) if error.what == JsonError::TOO_DEEP => {
            let members = json::rough_members(text).unwrap_or_default();
            let id = json::last(&members, "id").filter(|id| RequestId::read(id).is_some());
            let why = "This line is nested more than 512 levels deep. The call did not run.";
            return Err(Refused { why, id: id.unwrap_or("null").to_owned() });
        }
        Err(_) => return Err(Refused::of("This line is not JSON.")),
        Ok(()) => {}
    }
    if let Some(elements) = json::elements(text) {
        let messages: Result<Vec<_>, _> = elements.into_iter().map(Message::read).collect();
        return messages.map(Line::Batch);
    }
    Message::read(text).map(Line::One)
}

impl<'a> Message<'a> {
    /// Reads a message, and refuses ambiguous members.
    fn read(text: &'a str) -> Result<Self, Refused> {
        let Some(members) = json::members(text) else {
            return Err(Refused::of("A message must be a JSON object."));
        };
        let mut message = Self { text, members, method: None };
        let refused = |why, message: &Self| Refused {
            why,
            id: message.request().map_or_else(|| "null".to_owned(), |(_, id)| id.to_owned()),
        };
        if !are_plain(&message.members, &MESSAGE) {
            return Err(refused("A key of this message can be read in two ways.", &message));
        }
        match only(&message.members, "method").map(|member| method(member.value)) {
            None => {}
            Some(Some(name)) => message.method = Some(name),
            Some(None) => return Err(refused("The method of this message cannot be read.", &message)),
        }
        if message.method.as_deref() == Some(TOOLS_CALL) && !message.has_plain_params() {
            return Err(refused("The parameters of this call can be read in two ways.", &message));
        }
        Ok(message)
    }

    /// Reads a server's message. It is not checked for ambiguity, because it cannot run anything.
    pub(super) fn of_server(text: &'a str) -> Option<Self> {
        let members = json::members(text)?;
        let method = only(&members, "method").and_then(|member| method(member.value));
        Some(Self { text, members, method })
    }

    fn has_plain_params(&self) -> bool {
        let members = self.raw("params").and_then(json::members);
        members.is_some_and(|members| are_plain(&members, &CALL))
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.members.iter().any(|member| member.key.text == key)
    }

    /// A member's value as JSON.
    pub(super) fn raw(&self, key: &str) -> Option<&'a str> {
        only(&self.members, key).map(|member| member.value)
    }

    /// The request's id, parsed and as JSON. `None` for notifications, and for ids that are neither strings nor whole
    /// numbers.
    pub(super) fn request(&self) -> Option<(RequestId, &'a str)> {
        let raw = self.raw("id")?;
        RequestId::read(raw).map(|id| (id, raw))
    }

    pub(super) fn param(&self, key: &str) -> Option<&'a str> {
        self.raw("params").and_then(|params| member(params, key))
    }

    /// A value of `params._meta` under MCP's prefix.
    pub(super) fn meta(&self, key: &str) -> Option<&'a str> {
        member(self.param("_meta")?, &format!("io.modelcontextprotocol/{key}"))
    }

    /// Whether the request, and therefore its answer, follows MCP 2026-07-28 or later.
    pub(super) fn is_new(&self) -> bool {
        self.meta("protocolVersion").is_some_and(|version| version.starts_with('"'))
    }

    pub(super) fn progress_token(&self) -> Option<&'a str> {
        member(self.param("_meta")?, "progressToken").filter(|token| *token != "null")
    }

    /// Replaces `id` and `params.arguments`, and removes the client's offer to accept tasks.
    pub(super) fn with(&self, id: &str, arguments: &str) -> Option<String> {
        let params = only(&self.members, "params")?;
        let written = with_member(params.value, "arguments", arguments)?;
        let written = without(&written, &TASKS).unwrap_or(written);
        let changed = replaced(self.text, params.span.clone(), &written)?;
        with_member(&changed, "id", id)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum RequestId {
    Text(String),
    Number(String),
}

impl RequestId {
    pub(super) fn read(raw: &str) -> Option<Self> {
        if raw.starts_with('"') {
            let decoded = json::decode(raw);
            return (!decoded.lossy).then(|| Self::Text(decoded.text.into_owned()));
        }
        let digits = raw.strip_prefix('-').unwrap_or(raw);
        let is_whole = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
        if is_whole {
            return Some(Self::Number(raw.to_owned()));
        }
        // Some parsers turn all numbers into floats. Above 2^53 a float is ambiguous.
        let float = raw.parse::<f64>().ok().filter(|_| digits.starts_with(|c: char| c.is_ascii_digit()))?;
        (float.fract() == 0.0 && float.abs() < 9e15).then(|| Self::Number(format!("{float:.0}")))
    }

    pub(super) fn written(&self) -> String {
        match self {
            Self::Text(text) => json::encode(text),
            Self::Number(digits) => digits.clone(),
        }
    }

    /// The id's text, for reviewers and idempotency keys.
    pub(super) fn as_str(&self) -> &str {
        match self {
            Self::Text(text) | Self::Number(text) => text,
        }
    }
}

/// Returns the member `key`, `None` if it occurs more than once.
fn only<'m, 'a>(members: &'m [Member<'a>], key: &str) -> Option<&'m Member<'a>> {
    let mut found = members.iter().filter(|member| member.key.text == key);
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

pub(super) fn member<'a>(object: &'a str, key: &str) -> Option<&'a str> {
    let members = json::members(object)?;
    only(&members, key).map(|member| member.value)
}

/// Decodes a JSON string. `None` for other values and half surrogate pairs.
pub(super) fn text(raw: &str) -> Option<String> {
    let decoded = json::decode(raw);
    (raw.starts_with('"') && !decoded.lossy).then(|| decoded.text.into_owned())
}

/// Returns whether all keys are plain ASCII and each of `words` occurs at most once and in no other spelling.
fn are_plain(members: &[Member<'_>], words: &[&str]) -> bool {
    let mut found = Vec::new();
    members.iter().all(|member| {
        let key = member.key.text.as_ref();
        if member.key.lossy || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return false;
        }
        // Go's parsers ignore case and separators.
        let folded = |key: &str| key.chars().filter(|c| !matches!(c, '_' | '-')).collect::<String>();
        match words.iter().find(|word| folded(word).eq_ignore_ascii_case(&folded(key))) {
            Some(word) if *word == key && !found.contains(word) => {
                found.push(*word);
                true
            }
            Some(_) => false,
            None => true,
        }
    })
}

/// Decodes a method's name. `None` if it has unusual characters, or is `tools/call` in another case.
fn method(raw: &str) -> Option<String> {
    let name = text(raw)?;
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-/.$:".contains(&byte));
    let is_other = name == TOOLS_CALL || !name.eq_ignore_ascii_case(TOOLS_CALL);
    (is_plain && is_other && !name.is_empty()).then_some(name)
}

/// The outline of a line that is too long to keep: its top-level members with empty nested values.
#[derive(Debug, Default)]
pub(super) struct Outline {
    text: Vec<u8>,
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl Outline {
    const MAX: usize = 16 << 10;

    pub(super) fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            let was_inside = self.depth > 1;
            match byte {
                b'"' if !self.escaped => self.in_string = !self.in_string,
                b'{' | b'[' if !self.in_string => self.depth += 1,
                b'}' | b']' if !self.in_string => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            self.escaped = *byte == b'\\' && self.in_string && !self.escaped;
            if !(was_inside && self.depth > 1) && self.text.len() < Self::MAX {
                self.text.push(*byte);
            }
        }
    }

    /// Returns the request's id as JSON, `null` if it is unreadable.
    pub(super) fn request(&self) -> String {
        match judge(&self.text) {
            Ok(Line::One(message)) if message.method.is_some() => {
                message.request().map(|(_, id)| id.to_owned())
            }
            Err(refused) => Some(refused.id),
            Ok(_) => None,
        }
        .unwrap_or_else(|| "null".to_owned())
    }
}

/// Sets the member `key`, at the end of `object` if it is new.
pub(super) fn with_member(object: &str, key: &str, value: &str) -> Option<String> {
    let members = json::members(object)?;
    if let Some(member) = only(&members, key) {
        return replaced(object, member.span.clone(), value);
    }
    let end = object.rfind('}')?;
    let comma = if members.is_empty() { "" } else { "," };
    replaced(object, end..end, &format!("{comma}{}:{value}", json::encode(key)))
}

/// Removes the members `key`. Drops white space between the other members if there were any.
pub(super) fn without_member(object: &str, key: &str) -> Option<String> {
    let members = json::members(object)?;
    if members.iter().all(|member| member.key.text != key) {
        return Some(object.to_owned());
    }
    let kept = members.iter().filter(|member| member.key.text != key);
    let kept: Vec<_> = kept.map(|member| format!("{}:{}", member.raw_key, member.value)).collect();
    Some(format!("{{{}}}", kept.join(",")))
}

/// Removes the member at the end of `path`. `None` if the path does not exist.
fn without(object: &str, path: &[&str]) -> Option<String> {
    match path {
        [] => None,
        [key] => without_member(object, key),
        [key, rest @ ..] => with_member(object, key, &without(member(object, key)?, rest)?),
    }
}

fn replaced(text: &str, span: Range<usize>, with: &str) -> Option<String> {
    Some([text.get(..span.start)?, with, text.get(span.end..)?].concat())
}

/// Removes every character that some reader takes for a line end. Valid JSON has line feeds and carriage returns only
/// between values, and the other line ends only in strings.
pub(super) fn on_one_line(text: &str) -> Cow<'_, str> {
    const ENDS: [(char, &str); 5] =
        [('\n', " "), ('\r', " "), ('\u{85}', "\\u0085"), ('\u{2028}', "\\u2028"), ('\u{2029}', "\\u2029")];
    let is_end = |c: char| ENDS.iter().any(|(end, _)| *end == c);
    if !text.contains(is_end) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match ENDS.iter().find(|(end, _)| *end == c) {
            Some((_, instead)) => out.push_str(instead),
            None => out.push(c),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(line: &str) -> Result<Message<'_>, Refused> {
        match judge(line.as_bytes()) {
            Ok(Line::One(message)) => Ok(message),
            Ok(other) => panic!("{other:?}"),
            Err(refused) => Err(refused),
        }
    }

    #[test]
    fn ambiguous_call_is_refused() {
        for line in [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools\/call","params":{"name":"w"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"m\u0065thod":"tools/c\u0061ll","params":{"n\u0061me":"w"}}"#,
            " {\"id\" :1 , \"method\"\t: \"tools/call\" ,\"params\" : {\"name\":\"w\"} } ",
        ] {
            let message = one(line).unwrap();
            assert_eq!(message.method.as_deref(), Some(TOOLS_CALL), "{line}");
            assert_eq!(message.param("name"), Some("\"w\""), "{line}");
        }
        for line in [
            r#"{"id":1,"method":"ping","method":"tools/call","params":{"name":"w"}}"#,
            r#"{"id":1,"method":"ping","m\u0065thod":"tools/call","params":{"name":"w"}}"#,
            r#"{"id":1,"method":"ping","Method":"tools/call","params":{"name":"w"}}"#,
            r#"{"id":1,"METHOD":"tools/call","params":{"name":"w"}}"#,
            r#"{"id":1,"met_hod":"tools/call","params":{"name":"w"}}"#,
            "{\"id\":1,\"method\u{0131}\":\"tools/call\",\"params\":{\"name\":\"w\"}}",
            r#"{"id":1,"method\u0000":"tools/call","params":{"name":"w"}}"#,
            r#"{"id":1,"method":"tools/call\u0000","params":{"name":"w"}}"#,
            r#"{"id":1,"method":" tools/call","params":{"name":"w"}}"#,
            r#"{"id":1,"method":"Tools/Call","params":{"name":"w"}}"#,
            r#"{"id":1,"method":["tools/call"],"params":{"name":"w"}}"#,
            r#"{"id":1,"method":"tools/call","params":{"name":"r"},"params":{"name":"w"}}"#,
            r#"{"id":1,"method":"tools/call","params":{"name":"r"},"Params":{"name":"w"}}"#,
            r#"{"id":1,"method":"tools/call","params":{"name":"r","name":"w"}}"#,
            r#"{"id":1,"method":"tools/call","params":{"name":"r","n\u0061me":"w"}}"#,
            r#"{"id":1,"method":"tools/call","params":{"name":"r","Name":"w"}}"#,
            r#"{"id":1,"method":"tools/call","params":{"name":"r","arguments":{},"Arguments":{}}}"#,
            r#"{"id":1,"method":"tools/call","params":["w"]}"#,
            r#"{"id":1,"method":"tools/call"}"#,
            "{\"method\":\"x\",\"params\":\r{\"method\":\"tools/call\",\"params\":{\"name\":\"w\"}}\r}",
            r#"{"id":1,"method":"tools/call","params":{"name":"w"}}{}"#,
            r#"{"id":1,"method":"tools/call","params":{"name":"w"},}"#,
            r#"{"id":1,'method':"tools/call"}"#,
            "\u{feff}{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"w\"}}",
            r#""tools/call""#,
            "not json",
        ] {
            assert!(one(line).is_err(), "{line}");
        }
        assert!(judge(b"{\"method\":\"\xff\"}").is_err());
        assert!(matches!(judge(b" \t\r"), Ok(Line::Blank)));
    }

    #[test]
    fn refusal_has_the_id_of_its_request() {
        let id = |line: &str| one(line).unwrap_err().id;

        assert_eq!(id(r#"{"id":"a","method":"x","Method":"y"}"#), "\"a\"");
        assert_eq!(id(r#"{"id":7,"id":8,"method":"x"}"#), "null");
        assert_eq!(id(r#"{"id":1.5,"method":7}"#), "null");
    }

    #[test]
    fn unknown_fields_and_answers_are_accepted() {
        assert_eq!(one(r#"{"id":1,"result":{"id":2,"id":3},"x-note":1,"x-note":2}"#).unwrap().method, None);
        assert_eq!(one(r#"{"method":"a/b","params":[1]}"#).unwrap().method.as_deref(), Some("a/b"));
    }

    #[test]
    fn call_changes_in_id_and_arguments_only() {
        let line = r#"{ "id": 7, "x":1.10, "method":"tools/call","params":{"name":"w", "arguments": {"a":1} ,"_meta":{"p":1}} }"#;

        let changed = one(line).unwrap().with("\"p-1\"", "{\"a\":2}").unwrap();

        let want = r#"{ "id": "p-1", "x":1.10, "method":"tools/call","params":{"name":"w", "arguments": {"a":2} ,"_meta":{"p":1}} }"#;
        assert_eq!(changed, want);
        let bare = r#"{"id":7,"method":"tools/call","params":{"name":"w"}}"#;
        let want = r#"{"id":1,"method":"tools/call","params":{"name":"w","arguments":{}}}"#;
        assert_eq!(one(bare).unwrap().with("1", "{}").unwrap(), want);
    }

    #[test]
    fn members_are_removed_and_the_rest_stays() {
        let object = r#"{"a": 1.0, "b":{"a":2},"a":3}"#;

        assert_eq!(without_member(object, "a").unwrap(), r#"{"b":{"a":2}}"#);
        assert_eq!(without_member(object, "c").unwrap(), object);
        assert_eq!(with_member("{}", "a", "1").unwrap(), r#"{"a":1}"#);
    }

    #[test]
    fn every_line_end_is_removed() {
        let edited = "{\r\n \"a\": \"x\u{2028}y\u{85}\"\n}";

        assert_eq!(on_one_line(edited), "{   \"a\": \"x\\u2028y\\u0085\" }");
        assert!(matches!(on_one_line("{}"), Cow::Borrowed(_)));
    }

    #[test]
    fn deep_call_is_refused_under_its_id() {
        let deep = "[".repeat(600) + &"]".repeat(600);

        let call = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{deep}}}"#);
        let refused = judge(call.as_bytes()).unwrap_err();

        assert_eq!(refused.id, "7");
        assert!(refused.why.contains("512 levels deep. The call did not run"), "{}", refused.why);
        assert_eq!(judge(deep.as_bytes()).unwrap_err().id, "null");
    }

    #[test]
    fn id_of_a_long_request_is_read_at_either_end() {
        let long = format!(r#"{{"a":["}}\\\"",{{"id":9}}],"b":"{}"}}"#, "x".repeat(20 << 10));
        let id = |line: &str| {
            let mut outline = Outline::default();
            // Feeds it in parts, like a pipe.
            line.as_bytes().chunks(1_000).for_each(|part| outline.add(part));
            outline.request()
        };

        assert_eq!(id(&format!(r#"{{"id":7,"method":"tools/call","params":{long}}}"#)), "7");
        assert_eq!(id(&format!(r#"{{"method":"tools/call","params":{long},"id":"a\\\"b"}}"#)), r#""a\\\"b""#);
        for unknown in [
            format!(r#"{{"method":"tools/call","params":{long}}}"#),
            format!(r#"{{"id":7,"result":{long}}}"#),
            format!(r#"[{{"id":7,"method":"ping","params":{long}}}]"#),
            format!(r#"{{"id":7,"method":"x","id":8,"params":{long}}}"#),
            "x".repeat(1 << 20),
        ] {
            assert_eq!(id(&unknown), "null");
        }
    }

    #[test]
    fn ids_are_compared_by_value() {
        let id = |raw| RequestId::read(raw);

        assert_eq!(id(r#""a""#), id(r#""\u0061""#));
        assert_ne!(id("1"), id(r#""1""#));
        assert_eq!((id("2114643499.0"), id("2.114643499E9")), (id("2114643499"), id("2114643499")));
        assert_eq!((id("1.5"), id("1e16"), id("null"), id("{}"), id("-")), (None, None, None, None, None));
    }
}
